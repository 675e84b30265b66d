// SPDX-License-Identifier: Apache-2.0
/* The library plt.c calls into. */
int tiny_one(int x);
int tiny_two(int x);

int tiny_one(int x)
{
	return x + 1;
}

int tiny_two(int x)
{
	return x ^ 2;
}
