// SPDX-License-Identifier: Apache-2.0
/* A file of chunks, whatever state it is in, with all names that its events ask for. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/reader.h"
#include "jfr/layout.h"
#include "jfr/names.h"
#include "jfr/recording.h"

#define MAX_VALUES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *bind_type(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	(void)ctx;
	(void)m;
	return (void *)type;
}

static void name(struct chunk *c, uint64_t type, int64_t key)
{
	struct java_stack *stack = names_stack(c, type, key);
	struct java_method *method = names_method(c, type, key);
	struct java_class *class = names_class(c, type, key);
	struct java_thread *thread = names_thread(c, type, key);
	volatile size_t n = strlen(names_text(c, type, key));

	for (size_t i = 0; stack && i < stack->n; i++)
		n += strlen(stack->frames[i]->method->name) +
		     strlen(stack->frames[i]->method->class->name);
	if (method)
		n += strlen(method->name) + strlen(method->descriptor) +
		     strlen(method->class->name);
	if (class)
		n += strlen(class->name);
	if (thread)
		n += strlen(thread->name) + strlen(thread->group);
}

static int visit(void *ctx, struct chunk *c, const struct event *e)
{
	static struct jfr_value values[MAX_VALUES];
	const struct layout *l = event_type_layout(e->type);
	struct text_room *room = ctx;
	struct reader r;

	reader_init(&r, e->fields, e->fields_len);
	if (!l || layout_read(l, &r, values))
		return -EBADMSG;
	for (size_t i = 0; i < layout_n_leaves(l); i++) {
		const struct jfr_leaf *leaf = layout_leaf(l, i);

		if (leaf->kind == VALUE_CONSTANT)
			name(c, leaf->field->type_id, values[i].n);
		else if (leaf->kind == VALUE_STRING)
			names_string(c, &values[i].string, room);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_room room = { 0 };
	struct event_visitor visitor = { .ctx = &room, .bind = bind_type, .event = visit };
	struct recording_report report = { 0 };
	struct seen_chunks seen = { 0 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (write(fd, data, size) == (ssize_t)size) {
		int err = recording_read(fd, &visitor, &seen, &report);

		if (err && err != -ENOMEM)
			abort();
	}
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	free(room.text);
	close(fd);
	return 0;
}
