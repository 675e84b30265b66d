// SPDX-License-Identifier: Apache-2.0
/*
 * Code without unwind data, between and below C frames, one instruction at a time, on a stack full
 * of return addresses of earlier calls. What a search takes for the caller is then sometimes one of
 * those; the shares asked for are what is reached.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "tests/unit/sweep.h"

#define NOINLINE __attribute__((noinline, noclone))

/* ---- assembly as in codecs and crypto libraries: no CFI directives ---- */

void asm_spin(long n);
void asm_pushes(long n);
void asm_calls(void (*fn)(void));
void asm_calls_deep(void (*fn)(void));
void asm_framed(void (*fn)(void));
void asm_aligned(void (*fn)(void));
void asm_big(void (*fn)(void));
void asm_clobbers_fp(void (*fn)(void));
void asm_tail(void (*fn)(void));

#define FUNCTION(name) ".type " #name ",@function\n.balign 16\n" #name ":\n"
#define END(name) ".size " #name ", . - " #name "\n"

__asm__(".text\n" FUNCTION(asm_spin) "1: dec %rdi\n jnz 1b\n ret\n" END(asm_spin) FUNCTION(
	asm_pushes) "push %rbx\n push %rbp\n push %r12\n sub $72, %rsp\n mov %rdi, %rbp\n"
		    "1: dec %rbp\n jnz 1b\n add $72, %rsp\n pop %r12\n pop %rbp\n pop %rbx\n "
		    "ret\n" END(asm_pushes) FUNCTION(
			    asm_calls) "push %rbx\n sub $32, %rsp\n movq $0, 8(%rsp)\n call "
				       "*%rdi\n add $32, %rsp\n pop %rbx\n ret\n" END(asm_calls) FUNCTION(
					       asm_calls_deep) "sub $104, %rsp\n movq $0, "
							       "(%rsp)\n call asm_inner\n "
							       "add $104, %rsp\n "
							       "ret\n" END(asm_calls_deep) FUNCTION(
								       asm_inner) "push "
										  "%r15\n "
										  "call "
										  "*%"
										  "rdi\n "
										  "pop "
										  "%r15\n "
										  "ret"
										  "\n" END(
											  asm_inner)
											  FUNCTION(asm_framed) "push %rbp\n mov %rsp, %rbp\n sub $48, %rsp\n call *%rdi\n leave\n ret\n" END(
												  asm_framed)
	/* a stack realigned as x264 and dav1d do it, the old pointer kept in the frame */
	FUNCTION(
		asm_aligned) "push %rbx\n mov %rsp, %rax\n sub $168, %rsp\n and $-32, %rsp\n mov "
			     "%rax, 160(%rsp)\n"
			     "call *%rdi\n mov 160(%rsp), %rsp\n pop %rbx\n ret\n" END(asm_aligned) FUNCTION(
				     asm_big) "push %r12\n push %r13\n sub $6144, %rsp\n call "
					      "*%rdi\n add $6144, %rsp\n pop %r13\n"
					      "pop %r12\n ret\n" END(asm_big) FUNCTION(
						      asm_clobbers_fp) "push %rbp\n push %rbx\n "
								       "sub $24, %rsp\n mov "
								       "$12345, %ebp\n call "
								       "*%rdi\n add $24, %rsp\n"
								       "pop %rbx\n pop %rbp\n "
								       "ret\n" END(asm_clobbers_fp) FUNCTION(
									       asm_tail) "sub $8, "
											 "%rsp\n "
											 "add $8, "
											 "%rsp\n "
											 "jmp "
											 "asm_"
											 "calls"
											 "\n" END(
												 asm_tail));

static volatile int sink;

static void NOINLINE leaf(void)
{
	volatile char buf[100];

	for (int i = 0; i < 5; i++)
		buf[i] = (char)i;
	sink += buf[2];
}

/* Leaves return addresses behind on the stack, for the search to find. */
static void NOINLINE dirty_stack(int n)
{
	volatile char buf[200];

	buf[n] = 1;
	if (n > 0)
		dirty_stack(n - 1);
	sink += buf[n];
}

/* The caller's CFA comes from rbp. */
static void NOINLINE with_frame(void (*fn)(void (*)(void)), int n)
{
	char *p = __builtin_alloca((size_t)n);

	memset(p, 1, (size_t)n);
	fn(leaf);
	sink += p[n / 2];
}

static void NOINLINE without_frame(void (*fn)(void (*)(void)))
{
	fn(leaf);
	sink++;
}

static void NOINLINE assembly(void)
{
	static void (*const all[])(void (*)(void)) = { asm_calls,   asm_calls_deep, asm_framed,
						       asm_aligned, asm_big,	    asm_clobbers_fp,
						       asm_tail };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		dirty_stack(6);
		without_frame(all[i]);
		dirty_stack(6);
		with_frame(all[i], 40);
	}
	dirty_stack(6);
	asm_spin(20);
	asm_pushes(20);
	sink++;
}

static void NOINLINE run_assembly(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	__asm__ volatile("int3");
	assembly();
	__asm__ volatile("int3");
	_exit(0);
}

/* ---- code made at run time ---- */

static const uint8_t jit_framed[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
static const uint8_t jit_frameless[] = { 0x48, 0x83, 0xec, 0x28, 0xff, 0xd7,
					 0x48, 0x83, 0xc4, 0x28, 0xc3 };

static void NOINLINE jit_calls(uint8_t *code)
{
	void (*fn)(void (*)(void));

	memcpy(&fn, &code, sizeof(fn));
	dirty_stack(6);
	without_frame(fn);
	dirty_stack(6);
	with_frame(fn, 40);
}

/* call the function 64 bytes before, with a frame of the same kind */
static size_t put_nested(uint8_t *at, const uint8_t *like, size_t len)
{
	const size_t call = 4; /* behind what sets up the frame */
	int offset = -64 - (int)call - 5;

	memcpy(at, like, call);
	at[call] = 0xe8;
	memcpy(at + call + 1, &offset, 4);
	memcpy(at + call + 5, like + call + 2, len - call - 2);
	return len + 3;
}

static uint8_t *code_page;

static void NOINLINE run_jit(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	__asm__ volatile("int3");
	for (int i = 0; i < 4; i++)
		jit_calls(code_page + 64 * i);
	__asm__ volatile("int3");
	_exit(0);
}

static void make_code(void)
{
	code_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code_page, MAP_FAILED);
	memcpy(code_page, jit_framed, sizeof(jit_framed));
	put_nested(code_page + 64, jit_framed, sizeof(jit_framed));
	memcpy(code_page + 128, jit_frameless, sizeof(jit_frameless));
	put_nested(code_page + 192, jit_frameless, sizeof(jit_frameless));
	mprotect(code_page, 4096, PROT_READ | PROT_EXEC);
}

static void hide_functions(struct target *t)
{
	t->hides_functions = true;
}

/* As a perf map names them. */
static void name_code(struct target *t)
{
	for (size_t i = 0; i < t->n_files; i++) {
		struct target_file *f = &t->files[i];

		if (f->start != (uintptr_t)code_page)
			continue;
		f->symbols = calloc(4, sizeof(*f->symbols));
		for (size_t j = 0; j < 4; j++)
			f->symbols[f->n_symbols++] =
				(struct target_symbol){ f->start + 64 * j, 64 };
	}
}

static void NOINLINE expect(void (*child)(void), void (*set_up)(struct target *), const char *what,
			    double least)
{
	struct sweep *sw = sweep_child(child, set_up, least < 100);
	double share = 100.0 * (1 - (double)sw->n_wrong / (double)sw->n_steps);

	print_message("%s: %zu instructions, %.2f %% right\n", what, sw->n_steps, share);
	assert_true(share >= least);
	free(sw);
}

static void assembly_with_known_functions(void **state)
{
	(void)state;
	expect(run_assembly, NULL, "assembly, symbols", 99.9);
}

static void assembly_with_unknown_functions(void **state)
{
	(void)state;
	expect(run_assembly, hide_functions, "assembly, stripped", 99.9);
}

static void jit_code_with_known_functions(void **state)
{
	(void)state;
	make_code();
	expect(run_jit, name_code, "JIT code, perf map", 100);
}

static void jit_code_with_unknown_functions(void **state)
{
	(void)state;
	make_code();
	expect(run_jit, hide_functions, "JIT code, no map", 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assembly_with_known_functions),
		cmocka_unit_test(assembly_with_unknown_functions),
		cmocka_unit_test(jit_code_with_known_functions),
		cmocka_unit_test(jit_code_with_unknown_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
