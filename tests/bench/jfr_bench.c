// SPDX-License-Identifier: Apache-2.0
/*
 * How long a recording takes to be read, in one process again and again.
 *	jfr_bench PASSES FILE all|TYPE,TYPE...
 * All fields of the events of these types are read and their stacks looked up, names and all; every
 * other event is passed over. Prints CPU seconds and such events of each pass.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jfr/chunk.h"
#include "jfr/event_types.h"
#include "jfr/layout.h"
#include "jfr/names.h"
#include "jfr/recording.h"

#define MAX_LEAVES 256

struct bench {
	const char *wanted; /* names between commas, or "all" */
	uint64_t n_events, n_frames;
	struct jfr_value values[MAX_LEAVES];
};

struct binding {
	const struct layout *layout;
	int stack; /* its leaf, or -1 */
	uint64_t stack_type;
};

static double cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static bool is_wanted(const char *wanted, const char *name)
{
	size_t len = strlen(name);

	if (!strcmp(wanted, "all"))
		return true;
	for (const char *at = wanted; (at = strstr(at, name)); at += len)
		if ((at == wanted || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

static void *bind(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	struct bench *b = ctx;
	int err, field = jfr_type_field(type, "stackTrace");
	struct binding *binding;

	(void)m;
	if (!is_wanted(b->wanted, type->name))
		return NULL;
	binding = calloc(1, sizeof(*binding));
	if (!binding)
		return NULL;
	binding->layout = layout_new(type, &err);
	if (!binding->layout || layout_n_leaves(binding->layout) > MAX_LEAVES) {
		free(binding);
		return NULL;
	}
	binding->stack = layout_find(binding->layout, "stackTrace");
	binding->stack_type = field < 0 ? 0 : type->fields[field].type_id;
	return binding;
}

static void unbind(void *ctx, void *binding)
{
	(void)ctx;
	if (binding)
		layout_free((struct layout *)((struct binding *)binding)->layout);
	free(binding);
}

static int event(void *ctx, struct chunk *chunk, const struct event *e)
{
	struct bench *b = ctx;
	const struct binding *binding = e->type->binding;
	struct java_stack *stack;
	struct reader r;

	reader_init(&r, e->fields, e->fields_len);
	if (layout_read(binding->layout, &r, b->values))
		return -EBADMSG;
	b->n_events++;
	if (binding->stack < 0)
		return 0;
	stack = names_stack(chunk, binding->stack_type, b->values[binding->stack].n);
	b->n_frames += stack ? stack->n : 0;
	return 0;
}

static int read_once(const char *path, struct bench *b)
{
	const struct event_visitor visitor = {
		.ctx = b, .bind = bind, .unbind = unbind, .event = event
	};
	struct recording_report report = { 0 };
	struct seen_chunks seen = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = recording_read(fd, &visitor, &seen, &report);
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	static struct bench b;

	if (argc != 4)
		return 2;
	for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
		double began = cpu_now();
		int err;

		b = (struct bench){ .wanted = argv[3] };
		err = read_once(argv[2], &b);
		if (err) {
			fprintf(stderr, "%s: %s\n", argv[2], strerror(-err));
			return 1;
		}
		printf("%.6f %lu events %lu frames\n", cpu_now() - began, (unsigned long)b.n_events,
		       (unsigned long)b.n_frames);
	}
	return 0;
}
