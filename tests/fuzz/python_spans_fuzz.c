// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry in the memory of a CPython from its _PyRuntime on, behind a byte that is its minor
   version and eight that are the address of a context. */
#include <stddef.h>
#include <stdint.h>

#include "core/reader.h"
#include "runtimes/python_spans.h"
#include "tests/unit/python_otel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct otel otel;
	static struct world w;
	struct python_spans spans;
	struct python_span_ids ids;
	struct python_heap h;
	bool is_half = false;
	struct reader r;
	uint64_t context, name;

	if (size < 9)
		return 0;
	otel_init(&otel, &w, 7 + *data % 9);
	w.bytes = data + 9;
	w.len = size - 9;
	reader_init(&r, data + 1, 8);
	context = reader_u64(&r, "context");
	if (python_heap_init(&h, &w.m, &w.l) < 0)
		return 0;
	h.n_left = 1 << 20;
	python_spans_find(&h, python_word(&h, w.interp + w.l.interp.modules), &spans, &is_half);
	python_span_of(&w.m, &spans, context, &ids, &name);
	python_heap_deinit(&h);
	return 0;
}
