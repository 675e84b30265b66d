// SPDX-License-Identifier: Apache-2.0
/* A file of chunks: a profile, lines and sums are made of it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/profile.h"
#include "jfr/event_line.h"
#include "jfr/recording.h"
#include "jfr/samples.h"
#include "jfr/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct interpreter in = { .groups = UINT32_MAX, .is_ordered = true };
	struct event_visitor visitor = interpreter_visitor(&in);
	struct recording_report report = { 0 };
	struct seen_chunks seen = { 0 };
	struct event_lines lines = { 0 };
	struct profile *p = profile_new();
	struct samples *s = samples_new(p);
	struct summary sums;
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char *text = NULL;
	size_t len;

	lines.out = open_memstream(&text, &len);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || !lines.out ||
	    summary_init(&sums, &in.facts))
		abort();
	in.sinks[in.n_sinks++] = summary_sink(&sums);
	in.sinks[in.n_sinks++] = samples_sink(s);
	in.sinks[in.n_sinks++] = event_lines_sink(&lines);
	recording_read(fd, &visitor, &seen, &report);
	samples_finish(s, report.start_ns, report.end_ns);
	fclose(lines.out);
	free(text);
	event_lines_deinit(&lines);
	samples_free(s);
	profile_free(p);
	summary_deinit(&sums);
	interpreter_deinit(&in);
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	close(fd);
	return 0;
}
