/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything the walk knows about x86-64. arch_aarch64.h will stand beside it. */
#ifndef UNWINDERS_ARCH_X86_64_H
#define UNWINDERS_ARCH_X86_64_H

/* DWARF register numbers (System V psABI x86-64, figure 3.36). */
#define REG_FP 6	/* rbp */
#define REG_SP 7	/* rsp */
#define REG_PC 16	/* rip, the return address column */
#define N_DWARF_REGS 17

/* Offset of the ucontext's general registers from rsp in the rt_sigreturn trampoline: the kernel's
   struct rt_sigframe is { pretcode, ucontext }, the trampoline has popped pretcode; uc_mcontext is
   40 bytes into ucontext. Order there: r8..r15 rdi rsi rbp rbx rdx rax rcx rsp rip. */
#define SIGNAL_GREGS 40
#define SIGNAL_GREG_FP 10
#define SIGNAL_GREG_SP 15
#define SIGNAL_GREG_PC 16

#endif
