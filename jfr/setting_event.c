// SPDX-License-Identifier: Apache-2.0
#include "jfr/setting_event.h"

#include <stdlib.h>

#include "core/saturated.h"
#include "jfr/chunk.h"
#include "jfr/metadata.h"
#include "jfr/moment.h"
#include "jfr/moment_field.h"
#include "jfr/place.h"
#include "jfr/settings.h"

void setting_event_take(struct settings *s, const struct moment *m)
{
	struct text_room name = { 0 }, value = { 0 };
	const struct jfr_type *of =
		metadata_by_id(m->chunk->metadata, (uint64_t)moment_number(m, "id", 0));
	const char *event = of ? of->name : "";

	if (!settings_depend_on(s, event))
		return;
	settings_note(s, event, moment_text(m, "name", &name), moment_text(m, "value", &value));
	free(name.text);
	free(value.text);
}

/* In milliseconds, where the metadata does not say otherwise. */
static int64_t interval_of(const struct moment *m, const char *path)
{
	struct place p = place_find(m->layout, path);
	int64_t number = place_ns(&p, m->fields, m->chunk, 0);

	return p.leaf >= 0 && p.unit == JFR_NO_UNIT ? mul_saturated(number, 1000000) : number;
}

void setting_event_take_datadog(struct settings *s, const struct moment *m)
{
	int64_t cpu_ns = interval_of(m, "cpuInterval"), wall_ns = interval_of(m, "wallInterval");

	if (cpu_ns > 0)
		s->datadog_cpu_ns = cpu_ns;
	if (wall_ns > 0)
		s->datadog_wall_ns = wall_ns;
}
