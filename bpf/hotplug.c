// SPDX-License-Identifier: Apache-2.0
#include "bpf/hotplug.h"

#include "bpf/sideband.h"
#include "bpf/ticker.h"
#include "core/log.h"

int hotplug_init(struct hotplug *h, const char *list)
{
	*h = (struct hotplug){ .list = list };
	return cpus_load(&h->cpus, list);
}

void hotplug_deinit(struct hotplug *h)
{
	cpus_deinit(&h->cpus);
}

void hotplug_look(struct hotplug *h, struct ticker *t, struct sideband *sb)
{
	struct cpus now;
	size_t n;

	if (cpus_load(&now, h->list))
		return;
	cpus_deinit(&h->cpus);
	h->cpus = now;
	sideband_follow(sb, &now);
	n = ticker_follow(t, &now);
	h->n_changes += n;
	if (n)
		log_info("%zu CPU%s came online or went: %d are sampled from here on", n,
			 n == 1 ? "" : "s", now.n_online);
}
