/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of asm.c: no CFI directives at all, as in much hand-written assembly. x86-64, System V. */
	.text

	.macro func name
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.endm

	.macro end_func name
	.size \name, . - \name
	.endm

/* A leaf without a frame. */
func nocfi_spin
1:	dec %rdi
	jnz 1b
	ret
end_func nocfi_spin

/* A leaf that saved registers, the frame pointer among them, and uses it for something else. */
func nocfi_pushes
	push %rbx
	push %rbp
	push %r12
	sub $72, %rsp
	mov %rdi, %rbp
1:	dec %rbp
	jnz 1b
	add $72, %rsp
	pop %r12
	pop %rbp
	pop %rbx
	ret
end_func nocfi_pushes

/* Between C frames, without a frame pointer. */
func nocfi_calls
	push %rbx
	sub $32, %rsp
	movq $0, 8(%rsp)
	call *%rdi
	add $32, %rsp
	pop %rbx
	ret
end_func nocfi_calls

/* Two of them in a row. */
func nocfi_calls_deep
	sub $104, %rsp
	movq $0, (%rsp)
	call nocfi_inner
	add $104, %rsp
	ret
end_func nocfi_calls_deep

func nocfi_inner
	push %r15
	call *%rdi
	pop %r15
	ret
end_func nocfi_inner

/* Keeps a frame pointer, but says so to nobody. */
func nocfi_framed
	push %rbp
	mov %rsp, %rbp
	sub $48, %rsp
	call *%rdi
	leave
	ret
end_func nocfi_framed

	.section .note.GNU-stack, "", @progbits
