#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Targets do not notice that they are sampled: looked at before, during and after. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling

cat >"$work/target.c" <<'C'
/* Works in two threads; says on SIGUSR1 which signals and interrupted calls there were before. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int n_signals, n_interrupted, is_asked;
static void count(int s) { if (s == SIGUSR1) is_asked = 1; else n_signals++; }
static void *work(void *arg) { for (volatile long i = 0;; i++) ; return arg; }
int main(void)
{
	pthread_t t;
	struct sigaction a = { .sa_handler = count };
	for (int s = 1; s < 65; s++)
		sigaction(s, &a, 0);
	pthread_create(&t, 0, work, 0);
	while (!is_asked)
		if (pause() < 0 && errno == EINTR && !is_asked)
			n_interrupted++;
	printf("signals %d interrupted %d\n", n_signals, n_interrupted);
	return 0;
}
C
${CC:-cc} -O1 -pthread -o "$work/target" "$work/target.c" || exit 1
"$work/target" >"$work/said" & target=$!
trap 'kill -9 $target 2>/dev/null; rm -rf "$work"' EXIT
until [ "$(ls /proc/$target/task | wc -l)" = 2 ]; do sleep 0.05; done

# what anybody can see of a process that somebody tampers with
look() {
	grep -E '^(TracerPid|Threads|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|Seccomp|NoNewPrivs|CapEff)' /proc/$target/status
	ls /proc/$target/task /proc/$target/fd
	cat /proc/$target/maps
	sha256sum <(dd if=/proc/$target/mem bs=4096 count=1 iflag=skip_bytes status=none \
		skip=$((0x$(awk -F- '/r-xp/ { print $1; exit }' /proc/$target/maps))))  | cut -d' ' -f1
}

look >"$work/before"
record_behind -p $target -F 997 -o "$work/x.pb.gz"
n_looks=0 n_differ=0
while [ $n_looks -lt 10 ] && kill -0 $recorder 2>/dev/null; do
	look >"$work/during"
	cmp -s "$work/before" "$work/during" || { n_differ=$((n_differ + 1)); diff "$work/before" "$work/during" >"$work/out"; }
	n_looks=$((n_looks + 1))
	sleep 0.1
done
kill -INT $recorder
wait $recorder
[ $? = 0 ] && [ $n_looks = 10 ] && [ $n_differ = 0 ]
claim "no tracer, and the same mappings, threads, files, signals and code while it is recorded" $?
look >"$work/after"
diff "$work/before" "$work/after" >"$work/out"
claim "and afterwards" $?
[ "$("$weft" report "$work/x.pb.gz" | sed -nE 's/.* · ([0-9]+) samples.*/\1/p')" -gt 100 ]
claim "though it was sampled" $?
kill -USR1 $target
wait $target
[ "$(cat "$work/said")" = "signals 0 interrupted 0" ]
claim "it got no signal, and no system call was interrupted" $?

# the kernel shares what it writes about a new mapping between all who listen
claim="a perf record beside it can be read"
if perf record -o "$work/alone" -- true >"$work/out" 2>&1 && perf script -i "$work/alone" >"$work/out" 2>&1; then
	record_behind -a -o "$work/x.pb.gz"
	perf record -F 99 -g -o "$work/beside" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls / | cat; done' \
		>"$work/out" 2>&1 && perf script -i "$work/beside" >"$work/out" 2>&1
	claim "$claim" $?
	kill -INT $recorder
	wait $recorder
else
	skip "$claim" "no perf works here"
fi
finish
