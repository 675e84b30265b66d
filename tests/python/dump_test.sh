#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft dump against the interpreters: a program with every way in which tasks wait for one another, with
# asyncio's C half, with its Python half and with uvloop; ten thousand tasks; what is no target.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/packages.sh

# the_same TEXT PYTHON [KIND]
the_same() {
	tests/python/dump_check.py "$weft" "$2" ${3:+"$3"} >"$work/out" 2>"$work/err"
	status=$? # of the check, not of what the text is made by
	claim "$1: $(tail -n 1 "$work/out")" $status
}

# user_ms COMMAND...: user CPU time of a command in ms
user_ms() {
	local TIMEFORMAT=%U seconds
	seconds=$({ time "$@" >"$work/out" 2>"$work/err"; } 2>&1)
	awk -v s="$seconds" 'BEGIN { printf "%d", s * 1000 }'
}

found=
for minor in $PYTHON_FEW; do
	[ "$minor" != 6 ] || continue
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: tasks" "no python3.$minor here"
		continue
	fi
	found="$found $minor"
	the_same "CPython 3.$minor" "$python"
	the_same "CPython 3.$minor, tasks that never stay where they are" "$python" churn
	the_same "CPython 3.$minor without asyncio's C half" "$python" pure
	folder=$(package_of "$python" "$minor" uvloop uvloop)
	if [ -n "$folder" ]; then
		PYTHONPATH=$folder the_same "CPython 3.$minor with uvloop" "$python" uvloop
	else
		skip "CPython 3.$minor with uvloop" "no uvloop for it"
	fi
	folder=$(package_of "$python" "$minor" anyio anyio)
	if [ -n "$folder" ]; then
		PYTHONPATH=$folder tests/python/anyio_check.py "$weft" "$python" >"$work/out" 2>"$work/err"
		status=$?
		claim "CPython 3.$minor: $(tail -n 1 "$work/out")" $status
	else
		skip "CPython 3.$minor with anyio" "no anyio for it"
	fi
	newest=$python
done

if [ -n "$found" ]; then
	"$newest" tests/python/tasks_program.py many 10000 >"$work/many" & program=$!
	until [ -s "$work/many" ] || ! kill -0 $program 2>/dev/null; do sleep 0.1; done
	ms=$(user_ms "$weft" dump --json $program)
	n=$(grep -c '"state":"waiting"' "$work/out")
	[ "$n" = 10001 ]
	claim "10,000 tasks are all there" $?
	# The goal is 100 ms; a sanitizer or a busy machine is no failure of it.
	[ "$ms" -le 400 ]
	claim "10,000 tasks take $ms ms of user CPU" $?
	run dump $program
	says out ", and 9999 more like it"
	claim "tasks that wait in the same place are shown once" $?
	run dump -v $program
	[ "$(grep -c ': waiting, sleep' "$work/out")" = 10001 ]
	claim "-v shows each of them" $?
	kill $program
	wait $program 2>/dev/null
	run dump $program
	[ $status = 4 ] && says err "no process"
	claim "a process that is gone: exit 4" $?
else
	skip "10,000 tasks" "no CPython here"
fi

python=$(python_of 6)
if [ -n "$python" ]; then
	"$python" -c 'print("ready", flush=True); import time; time.sleep(100)' >"$work/ready" & old=$!
	until [ -s "$work/ready" ]; do sleep 0.05; done
	run dump $old
	[ $status = 1 ] && says err "CPython 3.6" && says err "3.7 to 3.15"
	claim "a version that is not known is an error that says so" $?
	kill $old
else
	skip "a version that is not known is an error that says so" "no python3.6 here"
fi
sleep 100 & other=$!
run dump $other
[ $status = 1 ] && says err "runs no CPython"
claim "a process without an interpreter is an error that says so" $?
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	setpriv --reuid 65534 --clear-groups "$weft" dump $other >"$work/out" 2>"$work/err"
	[ $? = 3 ] && says err CAP_SYS_PTRACE
	claim "memory that may not be read: exit 3" $?
else
	skip "memory that may not be read: exit 3" "needs root and setpriv"
fi
run dump --pid $other
[ $status = 1 ] && says err "process $other runs no CPython"
claim "--pid PID is the same as PID" $?
kill $other
run dump -p 1 -p 2
[ $status = 2 ] && says err "one process, please"
claim "two processes: exit 2" $?

# Symbols of an interpreter, and whatever bytes behind them.
cat >"$work/fake.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
const unsigned int Py_Version = VERSION;
union { unsigned char bytes[65536]; void *words[8192]; } _PyRuntime;
int main(int argc, char **argv)
{
	srand((unsigned int)atoi(argv[argc - 1]));
	for (int i = 0; i < 8192; i++)
		_PyRuntime.words[i] = _PyRuntime.bytes + (rand() % 65536 & ~7);
	puts("ready");
	fflush(stdout);
	sleep(1000);
}
C
for version in 0x030b07f0 0x030c01f0; do
	"${CC:-cc}" -rdynamic -DVERSION=$version -o "$work/fake" "$work/fake.c" || continue
	bad=0
	for seed in 1 2 3 4 5 6 7 8; do
		"$work/fake" $seed >"$work/ready" & fake=$!
		until [ -s "$work/ready" ]; do sleep 0.02; done
		timeout 60 "$weft" dump $fake >"$work/out" 2>"$work/err"
		case $? in
		0) says out "process $fake: CPython" || bad=1 ;;
		1) says err "process $fake" || bad=1 ;;
		*) bad=1 ;;
		esac
		kill $fake
		wait $fake 2>/dev/null
		: >"$work/ready"
	done
	claim "a program that only looks like CPython ($version) does no harm" $bad
done
run dump
[ $status = 2 ]
claim "a pid is needed: exit 2" $?
if [ -n "${CI:-}" ]; then
	# shellcheck disable=SC2086
	pythons_are_enough $found
	claim "3.8 or older, 3.11, 3.13 and 3.14 or newer are tested" $?
fi
finish
