// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/types.h>
#include <stdbool.h>

/* The C library's struct pt_regs is not the kernel's. */
struct regs {
	__u64 rsp;
	__u64 others[20];
};

#include "unwinders/arch.h"

static void registers_that_are_being_saved_are_known_by_the_stack(void **state)
{
	static const __u64 stack = 0xffffc90000a74000;
	static const struct {
		__u64 rsp;
		bool is_entering;
	} cases[] = {
		{ 0x00007ffc12345678, true }, /* the system call's first instructions */
		{ 0, true },
		{ 0xfffffe0000002fd8, true },		     /* entry stack of the first CPU */
		{ 0xfffffe7fffffff00, true },		     /* of the last there may be */
		{ stack + KERNEL_STACK_SIZE, true },	     /* nothing saved yet */
		{ stack + KERNEL_STACK_SIZE - 8, true },     /* one of them */
		{ stack + KERNEL_STACK_SIZE - 160, true },   /* all but one */
		{ stack + KERNEL_STACK_SIZE - 168, false },  /* all */
		{ stack + KERNEL_STACK_SIZE - 4096, false }, /* a system call at work */
		{ stack + 8, false },
		{ 0xffffffff82e03e20, false }, /* the first task's stack */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct regs regs = { .rsp = cases[i].rsp };

		if (PT_REGS_IS_ENTERING(&regs) != cases[i].is_entering)
			fail_msg("rsp %llx", (unsigned long long)cases[i].rsp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_that_are_being_saved_are_known_by_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
