#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# record -e gil against what the threads of real interpreters know of their time, and against programs that
# have no GIL or lie about it. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
needs_profiling
needs_tool python3

# the_same TEXT PYTHON KIND
the_same() {
	timeout 120 tests/python/gil_check.py "$weft" "$2" "$3" >"$work/out" 2>"$work/err"
	status=$?
	claim "$1: $(grep -v '^#' "$work/out" | tail -n 1)" $status
}

found=
for minor in $PYTHON_FEW; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: waits for the GIL" "no python3.$minor here"
		continue
	fi
	found="$found $minor"
	the_same "CPython 3.$minor, four threads that compute" "$python" contend
	the_same "CPython 3.$minor, threads that wait for other things" "$python" calm
	[ "$minor" -lt 12 ] || the_same "CPython 3.$minor, an interpreter with a GIL of its own" "$python" own
	newest=$python
done

if [ -n "$found" ]; then
	the_same "a program that runs already" "$newest" endless
	the_same "every program there is" "$newest" everything
	run record -e gil -o "$work/gil.pb.gz" -- "$newest" -c 'pass'
	[ $status = 0 ] && says err "0 samples of $newest" && says err "no thread waited for the GIL"
	claim "that nobody waited is said" $?
	run record -e gil -o "$work/gil.pb.gz" -- "$newest" tests/python/gil_program.py contend 1
	[ $status = 0 ] && says err " spin_" && ! says err futex
	claim "the table at the end says which Python functions waited" $?
	run record -e gil --kernel-only -a -d 1
	[ $status = 2 ] && says err "no kernel frames"
	claim "with --kernel-only there would be nothing: exit 2" $?
fi
free=
for python in "$(command -v python3.14t)" "${XDG_CACHE_HOME:-$HOME/.cache}"/weft/pythons/3.*t/python3.*t; do
	[ -x "$python" ] || continue
	free=$python
	PYTHON_GIL=0 run record -e gil -o "$work/gil.pb.gz" -- "$python" tests/python/gil_program.py contend 0.5
	[ $status = 0 ] && says err "its CPython is free-threaded"
	status=$?
	claim "$(basename "$python"): that it has no GIL is said" $status
done
[ -z "$free" ] || PYTHON_GIL=1 the_same "$(basename "$free") with its GIL switched on" "$free" contend
[ -n "$free" ] || skip "a free-threaded CPython" "none here"
run record -e gil -o "$work/gil.pb.gz" -- true
[ $status = 0 ] && says err "there is no CPython in it"
claim "that there is no CPython is said" $?

# Symbols of an interpreter, whatever bytes behind them, and threads that wait on words of them.
cat >"$work/fake.c" <<'C'
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
const unsigned int Py_Version = VERSION;
union { unsigned char bytes[65536]; void *words[8192]; } _PyRuntime;
static void *waiter(void *seed)
{
	unsigned int state = (unsigned int)(size_t)seed;
	for (;;) {
		struct timespec ms = { 0, 1000000 };
		unsigned char *word = _PyRuntime.bytes + (rand_r(&state) % 65536 & ~3);
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, *(unsigned int *)word, &ms, NULL, 0);
		_PyRuntime.words[rand_r(&state) % 8192] = _PyRuntime.bytes + (rand_r(&state) % 65536 & ~7);
	}
}
int main(int argc, char **argv)
{
	pthread_t thread;
	srand((unsigned int)atoi(argv[argc - 1]));
	for (int i = 0; i < 8192; i++)
		_PyRuntime.words[i] = _PyRuntime.bytes + (rand() % 65536 & ~7);
	for (size_t i = 1; i <= 8; i++)
		pthread_create(&thread, NULL, waiter, (void *)i);
	sleep(1000);
}
C
for version in 0x030807f0 0x030b07f0 0x030c01f0; do
	"${CC:-cc}" -rdynamic -pthread -DVERSION=$version -o "$work/fake" "$work/fake.c" || continue
	bad=0
	for seed in 1 2 3; do
		"$work/fake" $seed & fake=$!
		timeout 60 "$weft" record -e gil -F 997 -p $fake -d 0.5 --stats -v -o "$work/fake.json" >"$work/out" 2>"$work/err" || bad=1
		grep -E 'gil\.|gil_switch' "$work/err" | sed 's/^/# /'
		kill $fake
		wait $fake 2>/dev/null
	done
	claim "a program that only looks like CPython ($version) does no harm" $bad
done
if [ -n "${CI:-}" ]; then
	# shellcheck disable=SC2086
	pythons_are_enough $found
	claim "3.8 or older, 3.11, 3.13 and 3.14 or newer are tested" $?
fi
finish
