#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft record -e async, and --async on CPU samples, against programs that know what is so: the logical stack of
# every task, the seconds that tasks spend in each place, ten thousand tasks.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/packages.sh
needs_profiling

# check SCENE: what the programs in $programs show of it, all at the same time
check() {
	[ ${#programs[@]} = 0 ] || checks ${#programs[@]} tests/python/async_check.py "$1" "$weft" "${programs[@]}"
}

# What takes no longer for all of them.
every=() briefs=()
for minor in $PYTHON_MINORS; do
	python=$(python_of "$minor")
	[ "$minor" != 6 ] && [ -n "$python" ] || continue
	every+=("CPython 3.$minor, WHAT|$python")
	# Groups of this one are for user space, which needs its time.
	[ "$minor" = 13t ] || briefs+=("CPython 3.$minor, logical stacks of brief tasks|$python|brief")
done
pythons=() uvloops=() anyios=() newest=
for minor in $PYTHON_FEW; do
	[ "$minor" != 6 ] || continue
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: tasks over time" "no python3.$minor here"
		continue
	fi
	newest=$python
	pythons+=("CPython 3.$minor, WHAT|$python")
	folder=$(package_of "$python" "$minor" uvloop uvloop)
	if [ -n "$folder" ]; then
		uvloops+=("CPython 3.$minor with uvloop, WHAT|$python|uvloop|$folder")
	else
		skip "CPython 3.$minor with uvloop" "no uvloop for it"
	fi
	folder=$(package_of "$python" "$minor" anyio anyio)
	[ -z "$folder" ] || anyios+=("CPython 3.$minor, threads of anyio's pool|$python|anyio|$folder")
done
programs=("${every[@]/WHAT/logical stacks}" "${uvloops[@]/WHAT/logical stacks}")
[ -z "$newest" ] || programs+=("tasks without asyncio's C half|$newest|pure")
check stacks
programs=("${pythons[@]/WHAT/seconds in each place}" "${uvloops[@]/WHAT/seconds in each place}")
# uvloop's tasks are asyncio's: without it is enough, unless all are asked for.
[ -n "${ALL_PYTHONS:-}" ] || programs=("${programs[@]:0:${#pythons[@]}}")
check times
programs=("${pythons[@]/WHAT/tasks that never stay where they are}")
check churn
programs=("${every[@]/WHAT/logical stacks of CPU samples}")
check cpu
programs=("${briefs[@]}")
check cpu
programs=("${pythons[@]/WHAT/threads of a pool}" "${uvloops[@]/WHAT/threads of a pool}" "${anyios[@]}")
check pool
programs=("${pythons[@]/WHAT/forked children}" "${uvloops[@]/WHAT/forked children}")
check forked
programs=()
if [ -n "$newest" ]; then
	programs=("ten thousand tasks|$newest")
	check many
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

# All interpreters of a name, and what is started later; two of them, to tell them apart.
if [ -n "$newest" ]; then
	"$newest" tests/python/tasks_program.py many 100 >"$work/many" & first=$!
	until [ -s "$work/many" ] || ! kill -0 $first 2>/dev/null; do sleep 0.1; done
	record_behind -e async --comm "$(cat /proc/$first/comm)" -d 2.5 -o "$work/all.json"
	"$newest" tests/python/tasks_program.py many 50 >"$work/more" & second=$!
	wait $recorder
	grep -q "\"pid\":$first," "$work/all.json" && grep -q "\"pid\":$second," "$work/all.json"
	claim "--comm finds all that have the name, also those that start later" $?
	run record -e async -a -d 0.5 -o "$work/machine.json"
	[ $status = 0 ] && grep -q "\"pid\":$first," "$work/machine.json" &&
		grep -q "\"pid\":$second," "$work/machine.json"
	claim "-a finds every CPython" $?
	run record -e async -p $first,$second -d 0.5 -o "$work/two.json"
	grep -q "\"pid\":$first," "$work/two.json" && grep -q "\"pid\":$second," "$work/two.json"
	claim "-p takes several" $?
	group=$work/cgroup/weft-test
	mkdir "$work/cgroup"
	if mount -t cgroup2 none "$work/cgroup" 2>/dev/null && mkdir -p "$group/below"; then
		echo $first >"$group/below/cgroup.procs"
		run record -e async --cgroup "$group" -d 0.5 -o "$work/group.json"
		[ $status = 0 ] && grep -q "\"pid\":$first," "$work/group.json" &&
			! grep -q "\"pid\":$second," "$work/group.json"
		claim "--cgroup takes who is in it or below, and nobody else" $?
		echo $first >"$work/cgroup/cgroup.procs"
		rmdir "$group/below" "$group"
		umount "$work/cgroup"
	else
		skip "--cgroup takes who is in it or below, and nobody else" "no cgroup2 can be mounted"
	fi
	kill $first $second
	wait $first $second 2>/dev/null
	run record -e async -d 5 -o "$work/command.json" -- "$newest" -c \
		'import asyncio, time; asyncio.run(asyncio.sleep(1.5))'
	[ $status = 0 ] && grep -q '"state":"waiting"' "$work/command.json"
	claim "a command is looked at from its start to its end" $?
fi
finish
