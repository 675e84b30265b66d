// SPDX-License-Identifier: Apache-2.0
/* Built without unwind data: a walk gets past it only with a copy of the stack. */
int bare(int (*leaf)(int), int n)
{
	int sum = leaf(n) + 1;

	__asm__ volatile("");
	return sum;
}
