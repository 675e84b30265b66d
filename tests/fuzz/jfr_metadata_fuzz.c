// SPDX-License-Identifier: Apache-2.0
/* A chunk's header, and behind it a metadata event: types, and layouts of all of them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "jfr/chunk_header.h"
#include "jfr/layout.h"
#include "jfr/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t head = size < CHUNK_HEADER_LEN ? size : CHUNK_HEADER_LEN;
	struct chunk_header h;
	struct metadata *m;
	const char *what;
	uint64_t where;
	int err;

	if (!chunk_header_parse(data, head, &h, &what)) {
		chunk_header_is_whole(&h, size);
		chunk_header_time_ns(&h, (int64_t)h.size);
		chunk_header_duration_ns(&h, h.start_ticks);
	}
	m = metadata_parse(data + head, size - head, &err, &what, &where);
	if (!m) {
		if (err >= 0 || where > size - head)
			abort();
		return 0;
	}
	for (size_t i = 0; i < metadata_n_types(m); i++) {
		const struct jfr_type *t = metadata_type(m, i);

		if (metadata_by_id(m, t->id) != t || !metadata_by_name(m, t->name))
			abort();
		layout_free(layout_new(t, &err));
	}
	metadata_unref(m);
	return 0;
}
