#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Interpreters that are not what weft has tables for: debug builds, versions that nobody knows yet, programs
# that only look like one. They have right Python frames, or native ones and one line that says so.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
needs_profiling
needs_tool python3
cat >"$work/spin.py" <<'PYTHON'
import time


def inner(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def outer(until):
    while time.time() < until:
        inner(300)


outer(time.time() + 3)
PYTHON

# record COMMAND...: it runs spin.py
record() {
	timeout 30 "$weft" record -F 199 -v -o "$work/x.folded" -- "$@" "$work/spin.py" >"$work/out" 2>"$work/err"
}

# has_frames: the program's functions are there, always in their order
has_frames() {
	awk '/;(outer|inner)[; ]/ { if (/;<module>;outer(;inner)?[; ]/) right += $NF; else wrong += $NF }
		END { exit !(right >= 20 && !wrong) }' "$work/x.folded" &&
		! grep -qE 'broken: Python|unknown Python' "$work/x.folded"
}

# has_no_frames: native frames only, said in one line
has_no_frames() {
	! grep -qE '(<module>|outer|inner)[; ]|broken: Python|unknown Python' "$work/x.folded" &&
		[ "$(grep -c 'runs Python' "$work/err")" = 1 ] && says err "native only"
}

# root_of PYTHON: the folder that .ci/pythons.sh unpacked it to
root_of() {
	sed -n 's/^root=\(\/.*\)$/\1/p' "$1" 2>/dev/null | head -n 1 | grep . || dirname "$(readlink -f "$1")"
}

# run_in ROOT BINARY: records a binary with the libraries and modules that are in a folder
run_in() {
	PYTHONHOME=$1/usr record "$(echo "$1"/usr/lib*/ld-linux-*.so.* | cut -d' ' -f1)" \
		--library-path "$(echo "$1"/usr/lib/*-linux-gnu)" "$2"
}

# change MINOR VERSION [COOKIE]: runs spin.py with a copy of 3.MINOR that says to be something else
change() {
	local root
	root=$(root_of "$(python_of "$1")")
	[ -x "$root/usr/bin/python3.$1" ] || return 77
	python3 tests/python/future.py "$root/usr/bin/python3.$1" "$work/changed" "$2" ${3:+"$3"} || return 1
	run_in "$root" "$work/changed"
}

# Debug builds, as Debian's python3.N-dbg has them.
n_debug=0
for minor in 14 15; do
	root=$(root_of "$(python_of $minor)")
	[ -x "$root/usr/bin/python3.${minor}d" ] || continue
	n_debug=$((n_debug + 1))
	run_in "$root" "$root/usr/bin/python3.${minor}d" && has_frames
	claim "python3.${minor}d, a debug build: right Python frames" $?
done
for python in /usr/bin/python3.*d ${WEFT_DEBUG_PYTHONS:-}; do
	[ -x "$python" ] || continue
	n_debug=$((n_debug + 1))
	record "$python" && has_frames
	status=$?
	claim "$(basename "$python"), a debug build: right Python frames" $status
done
[ $n_debug != 0 ] || skip "debug builds have right Python frames" "no debug build of CPython here"

change 15 031000f0
case $? in
77) skip "a newer version that describes itself is walked" "no python3.15 here" ;;
*)
	has_frames && says err "is newer than weft"
	claim "a newer version that describes itself as the newest known does is walked by that, which is said" $?
	change 15 031000f0 notdebug
	has_no_frames
	claim "one that describes itself otherwise has native frames only, said in one line" $?
	;;
esac
change 14 031000f0
case $? in
77) skip "a newer version whose description makes no sense has native frames only" "no python3.14 here" ;;
*)
	has_no_frames
	claim "a newer version whose description makes no sense has native frames only, said in one line" $?
	;;
esac

# A program with the names of an interpreter and noise behind them.
cat >"$work/fake.c" <<'C'
#include <stdint.h>
#include <stdlib.h>
const uint32_t Py_Version = VERSION;
uint64_t _PyRuntime[65536];
__attribute__((noinline)) void work(void) { for (volatile int i = 0; i < 100000; i++) ; }
int main(int argc, char **argv)
{
	srand(argc + (int)(intptr_t)argv);
	for (int i = 0; i < 65536; i++)
		_PyRuntime[i] = (uintptr_t)&_PyRuntime[rand() % 60000];
	for (int i = 0; i < 10000; i++)
		work();
}
C
for version in 0x030b07f0 0x030c01f0; do
	"${CC:-cc}" -O1 -rdynamic -DVERSION=$version -o "$work/fake" "$work/fake.c" || continue
	record "$work/fake" && grep -q ';main;work' "$work/x.folded" &&
		! grep -qE 'broken: Python|unknown Python|truncated Python' "$work/x.folded"
	claim "a program that only looks like CPython ($version) has its native frames" $?
done
finish
