// SPDX-License-Identifier: Apache-2.0
#include "jfr/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/chunk_header.h"
#include "jfr/interpreter.h"
#include "jfr/late_scopes.h"
#include "jfr/recording.h"
#include "jfr/samples.h"
#include "jfr/scope_search.h"

struct jfr_source {
	int fd;
};

static int jfr_open(struct source *src, const struct options *opt)
{
	struct jfr_source *s = src->priv;
	char name[256];

	(void)opt;
	s->fd = open(src->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd >= 0)
		return 0;
	log_error("cannot read %s: %s", text_safe(src->path, name, sizeof(name)), strerror(errno));
	return -errno;
}

/* What cannot be read ahead cannot be read, which is said then. */
static int read_samples(const struct jfr_source *s, struct samples *samples,
			struct recording_report *report)
{
	struct late_scopes late = { 0 };
	struct interpreter in = { .groups = UINT32_MAX, .n_sinks = 1, .late = &late };
	struct event_visitor visitor = interpreter_visitor(&in);
	struct seen_chunks seen = { 0 };
	int err = scope_search(s->fd, in.file, true, 1, &late, &in.known);

	if (err != -ENOMEM && err != -EINTR) {
		in.sinks[0] = samples_sink(samples);
		err = recording_read(s->fd, &visitor, &seen, report);
		samples_finish(samples, report->start_ns, report->end_ns);
	}
	seen_chunks_deinit(&seen);
	interpreter_deinit(&in);
	late_scopes_deinit(&late);
	return err;
}

static int jfr_pump(struct source *src, struct profile *p, int timeout_ms)
{
	const struct jfr_source *s = src->priv;
	struct samples *samples = samples_new(p);
	struct recording_report report = { 0 };
	char name[256];
	int err = samples ? 0 : -ENOMEM;

	(void)timeout_ms;
	text_safe(src->path, name, sizeof(name));
	if (!err)
		err = read_samples(s, samples, &report);
	if (err)
		log_error("cannot read %s: %s", name, strerror(-err));
	else if (report.n_damages)
		log_error("%s is damaged: %" PRIu64 " bytes are lost\n  where: weft jfr --check %s",
			  name, report.n_lost, name);
	if (!err && report.n_damages)
		err = -EBADMSG;
	recording_report_deinit(&report);
	samples_free(samples);
	return err;
}

static void jfr_close(struct source *src)
{
	const struct jfr_source *s = src->priv;

	if (s->fd >= 0)
		close(s->fd);
}

const struct source_ops source_jfr = {
	.name = "jfr",
	.help = "a JFR recording (.jfr; packed ones: weft jfr)",
	.priv_size = sizeof(struct jfr_source),
	.sniff = chunk_header_sniff,
	.open = jfr_open,
	.pump = jfr_pump,
	.close = jfr_close,
};
