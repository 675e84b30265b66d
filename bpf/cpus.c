// SPDX-License-Identifier: Apache-2.0
#include "bpf/cpus.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"

#define LIST_MAX 4096 /* bytes: a page is what sysfs gives */

int cpus_possible(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 ? n : 1;
}

/* The number *s begins with, behind which it is moved; -1: none, or one too large. */
static int parse_cpu(const char **s)
{
	size_t len = strspn(*s, "0123456789");
	int cpu = 0;

	if (!len || len > 5)
		return -1;
	for (size_t i = 0; i < len; i++)
		cpu = 10 * cpu + (*s)[i] - '0';
	*s += len;
	return cpu < CPUS_MAX ? cpu : -1;
}

int cpus_parse(const char *list, bool *is_on, int n)
{
	int count = 0, last = -1; /* lists are sorted */

	do {
		int from = parse_cpu(&list), to = from;

		if (*list == '-') {
			list++;
			to = parse_cpu(&list);
		}
		if (from <= last || to < from)
			return -EBADMSG;
		for (int cpu = from; is_on && cpu <= to && cpu < n; cpu++)
			is_on[cpu] = true;
		count += to - from + 1;
		last = to;
	} while (*list++ == ',');
	return !list[-1] || list[-1] == '\n' ? count : -EBADMSG;
}

static int read_list(const char *path, bool *is_on, int n)
{
	SCOPED(fclose) FILE *f = fopen(path, "re");
	char list[LIST_MAX];

	return f && fgets(list, sizeof(list), f) ? cpus_parse(list, is_on, n) : -ENOENT;
}

int cpus_load(struct cpus *c, const char *online)
{
	int n = cpus_possible(), n_online;
	bool *is_online = calloc((size_t)n, sizeof(*is_online));

	if (!is_online)
		return -ENOMEM;
	n_online = read_list(online ? online : "/sys/devices/system/cpu/online", is_online, n);
	if (n_online < 1 || n_online > n) {
		memset(is_online, true, (size_t)n);
		n_online = n;
	}
	*c = (struct cpus){ .n_possible = n, .n_online = n_online, .is_online = is_online };
	return 0;
}

void cpus_deinit(struct cpus *c)
{
	free(c->is_online);
	*c = (struct cpus){ 0 };
}
