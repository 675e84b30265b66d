// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_tls.h"

#include <string.h>

#include "core/reader.h"

#define CALL_LEN 8 /* of call __tls_get_addr, padded as the ABI wants it for the linker */

/* Does the code at this place begin so? */
static bool is_at(struct reader code, size_t at, const char *bytes, size_t n)
{
	const void *p;

	reader_seek(&code, at, "code");
	p = reader_bytes(&code, n, "code");
	return p && !memcmp(p, bytes, n);
}

static int32_t immediate(struct reader code, size_t at)
{
	reader_seek(&code, at, "code");
	return (int32_t)reader_u32(&code, "displacement");
}

static int8_t short_immediate(struct reader code, size_t at)
{
	reader_seek(&code, at, "code");
	return (int8_t)reader_u8(&code, "displacement");
}

/* mov %fs:disp32, %rax; or mov $disp32, %rax and mov %fs:(%rax), %rax */
static bool is_static(struct reader code, size_t at, struct python_tls *out)
{
	if (is_at(code, at, "\x64\x48\x8b\x04\x25", 5))
		out->offset = immediate(code, at + 5);
	else if (is_at(code, at, "\x48\xc7\xc0", 3) && is_at(code, at + 7, "\x64\x48\x8b\x00", 4))
		out->offset = immediate(code, at + 3);
	else
		return false;
	out->kind = PYTHON_TLS_STATIC;
	return true;
}

/* lea pair(%rip), %rdi; call __tls_get_addr; mov disp(%rax), %rax */
static bool is_module(struct reader code, size_t at, uint64_t vaddr, struct python_tls *out)
{
	bool is_padded = is_at(code, at, "\x66\x48\x8d\x3d", 4);
	size_t lea_len = is_padded ? 8 : 7, load;

	if (!is_padded && !is_at(code, at, "\x48\x8d\x3d", 3))
		return false;
	load = at + lea_len + (is_padded ? CALL_LEN : 5);
	if (is_at(code, load, "\x48\x8b\x00", 3))
		out->offset = 0;
	else if (is_at(code, load, "\x48\x8b\x40", 3))
		out->offset = short_immediate(code, load + 3);
	else if (is_at(code, load, "\x48\x8b\x80", 3))
		out->offset = immediate(code, load + 3);
	else
		return false;
	out->pair = vaddr + at + lea_len + (uint64_t)(int64_t)immediate(code, at + lea_len - 4);
	out->kind = PYTHON_TLS_MODULE;
	return true;
}

struct python_tls python_tls_find(const uint8_t *code, size_t len, uint64_t vaddr)
{
	struct python_tls out = { PYTHON_TLS_NONE, 0, 0 };
	struct reader r;

	reader_init(&r, code, len);
	for (size_t at = 0; at < len; at++)
		if (is_static(r, at, &out) || is_module(r, at, vaddr, &out))
			return out;
	return (struct python_tls){ PYTHON_TLS_NONE, 0, 0 };
}
