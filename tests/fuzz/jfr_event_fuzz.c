// SPDX-License-Identifier: Apache-2.0
/* Values behind a metadata event, read by the layout of each of its types; skipping them goes as
   far as reading them does. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/reader.h"
#include "jfr/layout.h"
#include "jfr/metadata.h"
#include "jfr/wire.h"

#define MAX_VALUES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_text(const struct layout *l, const struct jfr_value *values)
{
	for (size_t i = 0; i < layout_n_leaves(l); i++) {
		const struct wire_string *s = &values[i].string;
		char *text;

		if (layout_leaf(l, i)->kind != VALUE_STRING)
			continue;
		text = malloc(wire_string_room(s) + 1);
		if (text && wire_string_text(s, text) > wire_string_room(s))
			abort();
		free(text);
	}
}

static void read_type(const struct jfr_type *type, const uint8_t *data, size_t size)
{
	static struct jfr_value values[MAX_VALUES];
	struct reader r, s;
	struct layout *l;
	int err;

	l = layout_new(type, &err);
	if (!l)
		return;
	reader_init(&r, data, size);
	reader_init(&s, data, size);
	err = layout_read(l, &r, values);
	if (layout_skip(l, &s) != err || (!err && s.pos != r.pos))
		abort();
	if (!err)
		read_text(l, values);
	layout_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metadata *m;
	const char *what;
	uint64_t where, len;
	struct reader r;
	int err;

	reader_init(&r, data, size);
	len = wire_varint(&r, "size");
	if (len > size)
		return 0;
	m = metadata_parse(data, (size_t)len, &err, &what, &where);
	for (size_t i = 0; m && i < metadata_n_types(m); i++)
		read_type(metadata_type(m, i), data + len, size - (size_t)len);
	metadata_unref(m);
	return 0;
}
