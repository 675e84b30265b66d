// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "runtimes/python_heap.h"
#include "runtimes/python_str.h"

#define MAX_COPIED 256
#define PAGE_LEN 4096

_Static_assert(WIRE_TASK_NAME_MAX <= MAX_COPIED && WIRE_SPAN_NAME_MAX <= MAX_COPIED,
	       "names fit in here");

/* The copied name as target memory. */
struct copied_name {
	struct mem mem;
	uint64_t addr;
	size_t len;
	uint8_t bytes[MAX_COPIED];
};

static int name_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	const struct copied_name *name = (const struct copied_name *)m;
	uint64_t at = addr - name->addr;

	if (at > name->len || len > name->len - at)
		return -EFAULT;
	memcpy(buf, name->bytes + at, len);
	return 0;
}

static void name_free(struct mem *m)
{
	(void)m;
}

/* Makes a str that is longer than its copy as long as that. True: it was. */
static bool shorten(struct copied_name *name, struct python_heap *h)
{
	const struct python_layout *l = h->layout;
	uint32_t state = python_int(h, name->addr + l->str.state) >> l->str.kind_bit;
	size_t header = state & 16 ? l->str.ascii_header : l->str.compact_header;
	uint64_t n = python_word(h, name->addr + l->str.length), most;

	if (!(state & 7) || name->len < header)
		return false;
	most = (name->len - header) / (state & 7);
	if (n <= most)
		return false;
	memcpy(name->bytes + l->str.length, &most, sizeof(most));
	return true;
}

static bool str_label(struct copied_name *name, struct python_heap *h, char *out)
{
	SCOPED(free) char *text = NULL;
	bool is_cut = shorten(name, h);
	size_t len;

	if (python_str_read(h->mem, h->layout, name->addr, MAX_COPIED, &text, &len) < 0)
		return false;
	/* A label is a text: it ends where there is a NUL in the name. */
	snprintf(out, PYTHON_LABEL_MAX, "%s%s", text, is_cut ? "…" : "");
	return *out;
}

/* integer: as in struct python_name_format, where the name may be one. */
static bool name_label(uint64_t addr, const uint8_t *bytes, size_t len,
		       const struct python_name_format *format, uint64_t integer,
		       char out[PYTHON_LABEL_MAX])
{
	static const struct mem_ops ops = { .read = name_read, .free = name_free };
	const struct python_layout *l = format->layout;
	struct copied_name name = { .mem = { &ops }, .addr = addr, .len = len };
	struct python_heap h = { .mem = &name.mem, .layout = l, .n_left = MAX_COPIED };
	uint64_t type, number;

	if (len > sizeof(name.bytes) || l->str.length > sizeof(name.bytes) - 8)
		return false;
	memcpy(name.bytes, bytes, len);
	type = python_word(&h, name.addr + l->object.type);
	if (type && type == format->str)
		return str_label(&name, &h, out);
	if (!type || type != integer || !python_int_value(&h, name.addr, &number))
		return false;
	snprintf(out, PYTHON_LABEL_MAX, "Task-%" PRIu64, number);
	return true;
}

bool python_task_label(const struct wire_python_task *task, const struct python_name_format *format,
		       char out[PYTHON_LABEL_MAX])
{
	return name_label(task->addr, task->name, task->len, format, format->integer, out);
}

bool python_span_label(const struct wire_span *span, const struct python_name_format *format,
		       char out[PYTHON_LABEL_MAX])
{
	return span->name_len &&
	       name_label(span->name_addr, span->name, span->name_len, format, 0, out);
}

char *python_span_name(struct python_heap *h, uint64_t name)
{
	size_t left = PAGE_LEN - (name & (PAGE_LEN - 1)), len = WIRE_SPAN_NAME_MAX;
	struct python_name_format format = { h->layout, 0, 0 };
	uint8_t bytes[WIRE_SPAN_NAME_MAX];
	char label[PYTHON_LABEL_MAX];

	if (python_kind(h, name) != PYTHON_STR)
		return NULL;
	if (left < len && mem_read(h->mem, name, bytes, len) < 0)
		len = left;
	format.str = python_word(h, name + h->layout->object.type);
	if (mem_read(h->mem, name, bytes, len) < 0 ||
	    !name_label(name, bytes, len, &format, 0, label))
		return NULL;
	return strdup(label);
}
