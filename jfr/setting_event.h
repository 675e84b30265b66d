/* SPDX-License-Identifier: Apache-2.0 */
/* Events that say what a recording was made with. */
#ifndef JFR_SETTING_EVENT_H
#define JFR_SETTING_EVENT_H

struct moment;
struct settings;

/* jdk.ActiveSetting */
void setting_event_take(struct settings *s, const struct moment *m);
/* datadog.DatadogProfilerConfig and datadog.ProfilerSetting */
void setting_event_take_datadog(struct settings *s, const struct moment *m);

#endif
