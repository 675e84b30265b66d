// SPDX-License-Identifier: Apache-2.0
#include "runtimes/thread_context.h"

#include <errno.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "runtimes/libc.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"
#include "symbolizer/tls_symbol.h"

#define RETRY_NS (100 * UINT64_C(1000000))
#define MAX_MODULE 65535
#define MAX_OFFSET (INT64_C(1) << 30) /* no thread has more variables */

SCOPED_DEFINE(struct mem, mem_free)

static bool read_pair(struct mem *m, uint64_t addr, uint64_t pair[2])
{
	uint8_t bytes[16];
	struct reader r;

	if (mem_read(m, addr, bytes, sizeof(bytes)))
		return false;
	reader_init(&r, bytes, sizeof(bytes));
	pair[0] = reader_u64(&r, "first");
	pair[1] = reader_u64(&r, "second");
	return true;
}

static int in_module(const uint64_t pair[2], struct python_slot_at *out)
{
	if (!pair[0] || pair[0] > MAX_MODULE || pair[1] >= MAX_OFFSET)
		return -EAGAIN;
	*out = (struct python_slot_at){ pair[1], PYTHON_SLOT_MODULE, (uint32_t)pair[0] };
	return 0;
}

/* Threads' variables are below the thread pointer on x86-64, above it elsewhere. */
static bool is_offset(uint64_t word)
{
#ifdef __x86_64__
	return (int64_t)word < 0 && (int64_t)word > -MAX_OFFSET;
#else
	return word && (int64_t)word > 0 && (int64_t)word < MAX_OFFSET;
#endif
}

static int at_offset(uint64_t offset, struct python_slot_at *out)
{
	if (!is_offset(offset))
		return -EAGAIN;
	*out = (struct python_slot_at){ offset, PYTHON_SLOT_STATIC, 0 };
	return 0;
}

int thread_context_resolve(const struct tls_symbol *symbol, uint64_t bias, struct mem *m,
			   struct python_slot_at *out)
{
	uint64_t words[2];

	if (symbol->model == TLS_AT_OFFSET)
		return at_offset((uint64_t)symbol->offset, out);
	if (!read_pair(m, symbol->got + bias, words))
		return -EAGAIN;
	switch (symbol->model) {
	case TLS_OFFSET_AT:
		return at_offset(words[0], out);
	case TLS_PAIR_AT:
		return in_module(words, out);
	case TLS_DESCRIPTOR_AT:
		if (!words[0] || is_offset(words[1]))
			return words[0] ? at_offset(words[1], out) : -EAGAIN;
		return read_pair(m, words[1], words) ? in_module(words, out) : -EAGAIN;
	default:
		return -EAGAIN;
	}
}

/* The first file that exports it. */
static const struct mapping *find_mapping(const struct process *proc)
{
	for (size_t i = 0; i < proc->n_mappings; i++) {
		const struct mapping *m = &proc->mappings[i];

		if (m->object && object_otel_context(m->object)->model != TLS_NONE)
			return m;
	}
	return NULL;
}

bool thread_context_attach(struct process *proc, struct python_slot_at *out)
{
	const struct mapping *found = find_mapping(proc);
	SCOPED(mem_free) struct mem *m = found ? mem_live(proc->pid, &proc->patience) : NULL;

	proc->context_look_ns = 0;
	if (!m)
		return false;
	if (thread_context_resolve(object_otel_context(found->object), found->bias, m, out) < 0) {
		proc->context_look_ns = clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
		return false;
	}
	if (out->kind == PYTHON_SLOT_MODULE && libc_is_musl(proc))
		out->kind = PYTHON_SLOT_MUSL_MODULE;
	return true;
}

bool thread_context_settles(struct processes *ps, struct process *proc)
{
	struct python_slot_at slot;

	if (!proc->context_look_ns || proc->exit_time_ns ||
	    clock_ns(CLOCK_MONOTONIC) < proc->context_look_ns ||
	    !thread_context_attach(proc, &slot))
		return false;
	proc->generation = processes_unique(ps);
	return true;
}
