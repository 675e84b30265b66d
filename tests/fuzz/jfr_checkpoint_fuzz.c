// SPDX-License-Identifier: Apache-2.0
/* A checkpoint behind a metadata event: every constant is found and read again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/reader.h"
#include "jfr/constants.h"
#include "jfr/layout.h"
#include "jfr/wire.h"

#define MAX_VALUES 4096
#define MAX_KEY 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct constants *c, struct metadata *m)
{
	static struct jfr_value values[MAX_VALUES];

	for (size_t i = 0; i < metadata_n_types(m); i++) {
		struct pool *pool = constants_pool(c, metadata_type(m, i)->id);

		for (int64_t key = -2; pool && key < MAX_KEY; key++) {
			struct constant *constant = pool_find(pool, key);
			struct reader r;

			if (!constant)
				continue;
			reader_init(&r, constant->bytes, constant->len);
			if (layout_read(pool_layout(pool), &r, values) || !reader_at_end(&r))
				abort(); /* it was read when it was added */
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct constants *c;
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
	c = m ? constants_new(m) : NULL;
	if (c) {
		reader_init(&r, data + len, size - (size_t)len);
		wire_skip_varint(&r, "size");
		wire_skip_varint(&r, "type");
		constants_add(c, &r);
		read_all(c, m);
		constants_update(c, m);
		read_all(c, m);
		constants_free(c);
	}
	metadata_unref(m);
	return 0;
}
