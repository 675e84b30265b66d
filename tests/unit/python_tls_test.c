// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VADDR 0x1000

/* Machine code as gcc and clang make it of `return variable;` with the variable thread-local. */
static const struct {
	const char *code;
	size_t len;
	struct python_tls tls;
} cases[] = {
	/* a program: mov %fs:-0x18, %rax; ret */
	{ "\x64\x48\x8b\x04\x25\xe8\xff\xff\xff\xc3", 10, { PYTHON_TLS_STATIC, -0x18, 0 } },
	/* endbr64 before it */
	{ "\xf3\x0f\x1e\xfa\x64\x48\x8b\x04\x25\xe0\xff\xff\xff\xc3",
	  14,
	  { PYTHON_TLS_STATIC, -0x20, 0 } },
	/* mov $-8, %rax; mov %fs:(%rax), %rax */
	{ "\x48\xc7\xc0\xf8\xff\xff\xff\x64\x48\x8b\x00\xc3", 12, { PYTHON_TLS_STATIC, -8, 0 } },
	/* a library: sub $8, %rsp; data16 lea 0x100(%rip), %rdi; call __tls_get_addr; mov (%rax),
	   %rax */
	{ "\x48\x83\xec\x08\x66\x48\x8d\x3d\x00\x01\x00\x00\x66\x66\x48\xe8\x00\x00\x00\x00\x48\x8b"
	  "\x00\xc3",
	  24,
	  { PYTHON_TLS_MODULE, 0, VADDR + 12 + 0x100 } },
	/* the same for a variable that is not its module's first: mov 0x28(%rax), %rax; lea
	   -0x10(%rip) */
	{ "\x50\x48\x8d\x3d\xf0\xff\xff\xff\xe8\x00\x00\x00\x00\x48\x8b\x40\x28\x5a\xc3",
	  19,
	  { PYTHON_TLS_MODULE, 0x28, VADDR + 8 - 0x10 } },
	/* mov 0x208(%rax), %rax */
	{ "\x50\x48\x8d\x3d\x00\x00\x00\x00\xe8\x00\x00\x00\x00\x48\x8b\x80\x08\x02\x00\x00\x5a"
	  "\xc3",
	  22,
	  { PYTHON_TLS_MODULE, 0x208, VADDR + 8 } },
	/* something else: a global variable */
	{ "\x48\x8b\x05\xe9\x6b\x25\x00\xc3", 8, { PYTHON_TLS_NONE, 0, 0 } },
	{ "", 0, { PYTHON_TLS_NONE, 0, 0 } },
};

#define N_CASES (sizeof(cases) / sizeof(*cases))

static void the_variable_is_where_the_code_looks(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		struct python_tls tls =
			python_tls_find((const uint8_t *)cases[i].code, cases[i].len, VADDR);

		assert_int_equal(tls.kind, cases[i].tls.kind);
		assert_int_equal(tls.offset, cases[i].tls.offset);
		assert_int_equal(tls.pair, cases[i].tls.pair);
	}
}

static void survives_mutation(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		for (size_t len = 0; len <= cases[i].len; len++) {
			uint8_t *code = malloc(len ? len : 1);

			memcpy(code, cases[i].code, len);
			python_tls_find(code, len, VADDR);
			for (size_t bit = 0; bit < len * 8; bit++) {
				code[bit / 8] ^= (uint8_t)(1 << bit % 8);
				python_tls_find(code, len, VADDR);
				code[bit / 8] ^= (uint8_t)(1 << bit % 8);
			}
			free(code);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_variable_is_where_the_code_looks),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
