#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft record -e async, and --async on CPU samples, against programs that know what is so: the logical stack of
# every task, the seconds that tasks spend in each place, ten thousand tasks.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/uvloop.sh
needs_profiling

# check TEXT WHAT PYTHON [KIND]
check() {
	tests/python/async_check.py "$2" "$weft" "${@:3}" >"$work/out" 2>"$work/err"
	claim "$1: $(tail -n 1 "$work/out")" $?
}

newest=
for minor in $PYTHON_MINORS; do
	[ "$minor" != 6 ] || continue
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: tasks over time" "no python3.$minor here"
		continue
	fi
	newest=$python
	check "CPython 3.$minor, logical stacks" stacks "$python"
	check "CPython 3.$minor, seconds in each place" times "$python"
	check "CPython 3.$minor, logical stacks of CPU samples" cpu "$python"
	folder=$(uvloop_of "$python" "$minor")
	if [ -n "$folder" ]; then
		PYTHONPATH=$folder check "CPython 3.$minor with uvloop, logical stacks" stacks "$python" uvloop
		PYTHONPATH=$folder check "CPython 3.$minor with uvloop, seconds in each place" times "$python" uvloop
	else
		skip "CPython 3.$minor with uvloop" "no uvloop for it"
	fi
done
if [ -n "$newest" ]; then
	check "tasks without asyncio's C half" stacks "$newest" pure
	check "ten thousand tasks" many "$newest" 10000
else
	skip "ten thousand tasks" "no CPython here"
fi
run record -e async --tid $$ -d 1
[ $status = 2 ] && says err "--tid"
claim "tasks are a process's: --tid is refused" $?
sleep 100 & other=$!
run record -e async -p $other -d 0.3 -o "$work/none.pb.gz"
[ $status = 0 ] && says err "no asyncio task"
claim "a process without Python has no samples, which is said" $?
kill $other
finish
