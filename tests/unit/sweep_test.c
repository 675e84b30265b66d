// SPDX-License-Identifier: Apache-2.0
/*
 * A single-step sweep: a child runs a small workload one instruction at a time, calls and returns
 * are followed as they happen, and at every instruction the walk must find exactly that stack.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <cmocka.h>

#include "tests/unit/sweep.h"

#define NOINLINE __attribute__((noinline, noclone))

/* ---- the workload ---- */

static volatile int sink;
static char text[256];
static uint8_t alternate[65536];

static int NOINLINE compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void NOINLINE with_alloca(int n)
{
	char *p = alloca((size_t)n);

	memset(p, n, (size_t)n);
	sink += p[n / 2];
}

__attribute__((force_align_arg_pointer)) static void NOINLINE realigned(int n)
{
	_Alignas(64) volatile char buf[128];

	buf[n & 127] = (char)n;
	sink += snprintf(text, sizeof(text), "%d %s", buf[n & 127], "x");
	with_alloca(n + 40);
}

static void handler(int sig)
{
	sink += snprintf(text, sizeof(text), "signal %d", sig);
}

static void NOINLINE libc_calls(void)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2 };
	struct timeval tv;

	qsort(numbers, 6, sizeof(*numbers), compare);
	sink += snprintf(text, sizeof(text), "%g %s %d", 3.25, "text", numbers[2]);
	sink += (int)strtod("12.5", NULL) + (int)strlen(text);
	free(malloc(100));
	gettimeofday(&tv, NULL);
	sink += (int)sin((double)sink) + (int)pow(1.5, (double)(sink & 7));
}

typedef int set_key(const uint8_t *key, int bits, void *schedule);
typedef void encrypt(const uint8_t *in, uint8_t *out, const void *schedule);
typedef int digest_init(void *ctx);
typedef int digest_update(void *ctx, const void *data, size_t len);

/* Assembly with unwind data of its own, where libcrypto is installed. */
static void NOINLINE crypto_calls(void *crypto)
{
	static _Alignas(16) uint8_t ctx[1024], block[64];

	if (!crypto)
		return;
	((set_key *)dlsym(crypto, "AES_set_encrypt_key"))(block, 128, ctx);
	((encrypt *)dlsym(crypto, "AES_encrypt"))(block, block, ctx);
	((digest_init *)dlsym(crypto, "SHA256_Init"))(ctx);
	((digest_update *)dlsym(crypto, "SHA256_Update"))(ctx, block, sizeof(block));
	((digest_init *)dlsym(crypto, "SHA512_Init"))(ctx);
	((digest_update *)dlsym(crypto, "SHA512_Update"))(ctx, block, sizeof(block));
}

/*
 * Frames that a table's rule cannot say: the CFA in rbx, and by an expression over r12, both below
 * C frames that save those registers.
 */
void cfa_in_rbx(void (*fn)(void));
void cfa_by_expression(void (*fn)(void));

__asm__(".text\n.type cfa_in_rbx,@function\n.balign 16\ncfa_in_rbx:\n"
	".cfi_startproc\n push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset rbx, -16\n"
	"mov %rsp, %rbx\n.cfi_def_cfa_register rbx\n and $-64, %rsp\n sub $128, %rsp\n call *%rdi\n"
	"mov %rbx, %rsp\n.cfi_def_cfa_register rsp\n pop %rbx\n.cfi_def_cfa_offset 8\n"
	".cfi_restore rbx\n ret\n.cfi_endproc\n.size cfa_in_rbx, . - cfa_in_rbx\n"
	".type cfa_by_expression,@function\n.balign 16\ncfa_by_expression:\n"
	".cfi_startproc\n push %r12\n.cfi_def_cfa_offset 16\n.cfi_offset r12, -16\n"
	"mov %rsp, %rax\n.cfi_def_cfa_register rax\n sub $64, %rsp\n mov $3, %r12d\n"
	"mov %rax, (%rsp,%r12,8)\n"
	/* [rsp + r12 * 8] + 16 */
	".cfi_escape 0x0f, 10, 0x77, 0, 0x7c, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 16\n"
	"call *%rdi\n mov (%rsp,%r12,8), %rsp\n.cfi_def_cfa rsp, 16\n pop %r12\n"
	".cfi_def_cfa_offset 8\n.cfi_restore r12\n ret\n.cfi_endproc\n"
	".size cfa_by_expression, . - cfa_by_expression\n");

static void NOINLINE below_both(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(*numbers), compare);
	sink += numbers[0];
}

static void NOINLINE below_no_data(void)
{
	cfa_by_expression(below_both);
	sink++;
}

/* Between the two, code without any unwind data that saves the registers in question. */
void without_data(void (*fn)(void));

__asm__(".text\n.type without_data,@function\n.balign 16\nwithout_data:\n"
	"push %rbx\n push %r12\n sub $40, %rsp\n xor %ebx, %ebx\n xor %r12, %r12\n call *%rdi\n"
	"add $40, %rsp\n pop %r12\n pop %rbx\n ret\n"
	".size without_data, . - without_data\n");

static void NOINLINE below_rbx(void)
{
	without_data(below_no_data);
	sink++;
}

static void NOINLINE workload(void *crypto)
{
	libc_calls();
	realigned(17);
	cfa_in_rbx(below_rbx);
	raise(SIGUSR1);
	raise(SIGUSR2);
	crypto_calls(crypto);
}

static void NOINLINE run_child(void)
{
	struct sigaction sa = { .sa_handler = handler };
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	void *crypto = dlopen("libcrypto.so.3", RTLD_LAZY);

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &sa, NULL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	__asm__ volatile("int3");
	workload(crypto);
	__asm__ volatile("int3");
	_exit(0);
}

static void NOINLINE every_instruction_has_its_stack(void **state)
{
	struct sweep *sw = sweep_child(run_child, NULL, false);

	(void)state;
	print_message("%zu instructions, %zu with a wrong stack\n", sw->n_steps, sw->n_wrong);
	assert_true(sw->n_steps > 10000);
	assert_int_equal(sw->n_wrong, 0);
	free(sw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_has_its_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
