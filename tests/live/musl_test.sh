#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# musl has no unwind data: stacks of its threads are whole to where they begin all the same.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
needs_tool musl-gcc

cat >"$work/threads.c" <<'C'
#include <pthread.h>
static volatile unsigned long sum;
static __attribute__((noinline)) void burn(void)
{
	for (unsigned long i = 0; i < 200000000; i++)
		sum += i;
}
static __attribute__((noinline)) void *work(void *arg)
{
	burn();
	sum++;
	return arg;
}
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, work, 0);
	return pthread_join(thread, 0);
}
C

# whole KIND OPTIONS...
whole() {
	local kind=$1 n n_broken
	shift
	musl-gcc -O2 "$@" -o "$work/threads" "$work/threads.c" || return
	run record -q -F 499 -o "$work/threads.folded" -- "$work/threads"
	n=$(grep 'work;burn' "$work/threads.folded" | awk '{ n += $NF } END { print n + 0 }')
	n_broken=$(grep 'work;burn' "$work/threads.folded" | grep -F '[broken' | awk '{ n += $NF } END { print n + 0 }')
	[ $status = 0 ] && [ "$n" -gt 0 ] && [ "$n_broken" = 0 ]
	claim "$kind: of what a thread took, $n in all, $n_broken was of broken stacks" $?
}

whole "a program that loads musl"
whole "a program with musl in it, whose functions are known" -static -g
finish
