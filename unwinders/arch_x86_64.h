/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything the walk knows about x86-64. arch_aarch64.h will stand beside it. */
#ifndef UNWINDERS_ARCH_X86_64_H
#define UNWINDERS_ARCH_X86_64_H

/* DWARF register numbers (System V psABI x86-64, figure 3.36). */
#define REG_FP 6  /* rbp */
#define REG_SP 7  /* rsp */
#define REG_PC 16 /* rip, the return address column */
#define N_DWARF_REGS 17

/* Registers a function leaves as they were, by DWARF number: rbx, rbp, r12 to r15 (psABI 3.2.1). */
#define CALLEE_SAVED_REGS (1U << 3 | 1U << 6 | 0xfU << 12)

/* Bytes below rsp that are the function's; an epilogue's rules still read there. */
#define RED_ZONE 128

/* Offset of the ucontext's general registers from rsp in the rt_sigreturn trampoline: the kernel's
   struct rt_sigframe is { pretcode, ucontext }, the trampoline has popped pretcode; uc_mcontext is
   40 bytes into ucontext. Order there: r8..r15 rdi rsi rbp rbx rdx rax rcx rsp rip. */
#define SIGNAL_GREGS 40
#define SIGNAL_GREG_SP 15
#define SIGNAL_GREG_PC 16
#define SIGNAL_N_GREGS 17
/* The same order as DWARF numbers. */
#define SIGNAL_RESTORE(regs, g)                                                                   \
	do {                                                                                      \
		(regs)[8] = (g)[0], (regs)[9] = (g)[1], (regs)[10] = (g)[2], (regs)[11] = (g)[3]; \
		(regs)[12] = (g)[4], (regs)[13] = (g)[5], (regs)[14] = (g)[6],                    \
		(regs)[15] = (g)[7];                                                              \
		(regs)[5] = (g)[8], (regs)[4] = (g)[9], (regs)[6] = (g)[10], (regs)[3] = (g)[11]; \
		(regs)[1] = (g)[12], (regs)[0] = (g)[13], (regs)[2] = (g)[14];                    \
		(regs)[REG_SP] = (g)[SIGNAL_GREG_SP], (regs)[REG_PC] = (g)[SIGNAL_GREG_PC];       \
	} while (0)

/* The kernel's struct pt_regs (its uapi names) by DWARF numbers. */
#define PT_REGS_RESTORE(regs, pt)                                                       \
	do {                                                                            \
		(regs)[0] = (pt)->rax, (regs)[1] = (pt)->rdx, (regs)[2] = (pt)->rcx,    \
		(regs)[3] = (pt)->rbx;                                                  \
		(regs)[4] = (pt)->rsi, (regs)[5] = (pt)->rdi, (regs)[6] = (pt)->rbp,    \
		(regs)[7] = (pt)->rsp;                                                  \
		(regs)[8] = (pt)->r8, (regs)[9] = (pt)->r9, (regs)[10] = (pt)->r10,     \
		(regs)[11] = (pt)->r11;                                                 \
		(regs)[12] = (pt)->r12, (regs)[13] = (pt)->r13, (regs)[14] = (pt)->r14; \
		(regs)[15] = (pt)->r15, (regs)[REG_PC] = (pt)->rip;                     \
	} while (0)
#define PT_REGS_PC(pt) ((pt)->rip)
#define PT_REGS_SP(pt) ((pt)->rsp)
#define PT_REGS_FP(pt) ((pt)->rbp)
#define PT_REGS_IS_USER(pt) (((pt)->cs & 3) == 3)
#define PT_REGS_IS_64BIT(pt) ((pt)->cs == 0x33) /* __USER_CS; __USER32_CS is 0x23 */
/* -1 unless a system call is what brought the thread into the kernel. */
#define PT_REGS_SYSCALL(pt) ((__s64)(pt)->orig_rax)
/* Was the kernel interrupted, by an NMI, while it entered or left: are its user registers being
   saved, so that those of the entry before may be found instead? It runs on the user's stack then,
   on the entry stack of the CPU (Documentation/arch/x86/x86_64/mm.rst: cpu_entry_area), or where
   the registers go, the topmost bytes of the task's stack, which is aligned to its size. */
#define PT_REGS_IS_ENTERING(pt)                                              \
	((__s64)(pt)->rsp >= 0 || (pt)->rsp >> 39 == CPU_ENTRY_AREA >> 39 || \
	 (((pt)->rsp - 1) & (KERNEL_STACK_SIZE - 1)) >= KERNEL_STACK_SIZE - sizeof(*(pt)))
#define CPU_ENTRY_AREA 0xfffffe0000000000ULL
/* By exec, which leaves no argument. Before, one of these was the program's name. */
#define PT_REGS_IS_CLEARED(pt) (!(pt)->rdi && !(pt)->rsi)
#define PT_REGS_LEN 168			  /* bytes of it */
#define PT_REGS_CS 136			  /* where in it cs is */
#define PT_REGS_FIRST_ARG(pt) ((pt)->rdi) /* of a system call */
#define PT_REGS_SECOND_ARG(pt) ((pt)->rsi)
#define SYSCALL_FUTEX 202
#define SYSCALL_EXECVE 59
/* What event loops wait in: poll, select, epoll_wait, pselect6, ppoll, epoll_pwait, io_uring_enter,
   epoll_pwait2. */
#define SYSCALL_IS_SELECTOR(nr)                                                                 \
	((nr) == 7 || (nr) == 23 || (nr) == 232 || (nr) == 270 || (nr) == 271 || (nr) == 281 || \
	 (nr) == 426 || (nr) == 441)
#define SYSCALL_EXECVEAT 322
#define KERNEL_STACK_SIZE 16384 /* THREAD_SIZE, but for kernels with KASAN */

/* glibc's struct pthread begins at the thread pointer: blocks of 32 thread-specific values of 16
   bytes, the value in the second half. The same in 2.17 to 2.43. */
#define TASK_THREAD_POINTER(task) ((task)->thread.fsbase)
#define PTHREAD_FIRST_BLOCK 0x310
#define PTHREAD_BLOCKS 0x510
#define PTHREAD_BLOCK_KEYS 32
#define PTHREAD_KEYS_MAX 1024
#define PTHREAD_TID 0x2d0 /* int; from 2.4 on */
#define TLS_VECTOR 8	  /* its dtv */
#define TLS_VECTOR_ENTRY 16
/* musl's: all values in one array, a pointer each; the same for modules. 1.1.10 to 1.2.5. */
#define MUSL_TID 0x30
#define MUSL_SPECIFIC 0x80
#define MUSL_KEYS_MAX 128
#define MUSL_TLS_VECTOR_ENTRY 8

/* What a signal handler returns to: mov $15 (rt_sigreturn), %rax; syscall. */
#define TRAMPOLINE_LEN 9
#define TRAMPOLINE_CODE                                              \
	{                                                            \
		0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 \
	}

/* What musl's threads return to, which has no unwind data: mov %eax, %edi; xor %eax, %eax;
   mov $60 (exit), %al; syscall. */
#define THREAD_EXIT_CODE                                       \
	{                                                      \
		0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 \
	}

/* libuv 1.x: in its uv_loop_t, whose first half is pointers and glibc's locks. */
#define UV_LOOP_TIME 544

#endif
