#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where weft cannot sample or write, it says why and leaves nothing behind. Needs root and BPF.
. "$(dirname "$0")/tap.sh"
needs_profiling

# An idle machine has no samples, and an empty profile fits a full disk.
while :; do :; done &
busy=$!
trap 'kill $busy; rm -rf "$work"' EXIT

# within COMMAND...: runs it with its output where claims look for it
within() {
	"$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

within unshare --pid --fork --mount-proc "$weft" record -a -d 0.3 -o "$work/x.pb.gz"
[ $status = 3 ] && says err "pid namespace" && [ ! -e "$work/x.pb.gz" ]
claim "record in a pid namespace: exit 3, and why" $?
within unshare --pid --fork --mount-proc "$weft" doctor
[ $status = 3 ] && says out "NO    pid namespace"
claim "doctor says so too" $?

if ! "$weft" doctor | grep -q '^ok    hardware cycles *there'; then
	run record -a -e cycles -d 0.3 -o "$work/x.pb.gz"
	[ $status = 3 ] && says err "need a hardware counter" && says err "use -e cpu" && [ ! -e "$work/x.pb.gz" ]
	claim "cycles where no counter is: exit 3, and what to use" $?
else
	skip "cycles where no counter is" "this machine has one"
fi

if command -v setpriv >/dev/null; then
	for cap in bpf perfmon; do
		within setpriv --bounding-set=-$cap,-sys_admin --inh-caps=-$cap,-sys_admin "$weft" record -a -d 0.3 -o "$work/x.pb.gz"
		[ $status = 3 ] && says err "CAP_${cap^^} is missing" && [ ! -e "$work/x.pb.gz" ]
		claim "record without CAP_${cap^^}: exit 3, and its name" $?
		within setpriv --bounding-set=-$cap,-sys_admin --inh-caps=-$cap,-sys_admin "$weft" doctor
		[ $status = 3 ] && grep -q "^NO .*CAP_${cap^^}" "$work/out"
		claim "doctor names CAP_${cap^^}" $?
	done
	if "$weft" doctor | grep -q "all six that weft uses"; then
		run record -a -d 0.3 -o "$work/x.pb.gz"
		[ $status = 0 ] && ! says err CAP_
		claim "record with all of them says nothing of capabilities" $?
	else
		skip "record with all of them says nothing of capabilities" "they are not all there"
	fi
	for cap in sys_ptrace dac_read_search checkpoint_restore syslog; do
		within setpriv --bounding-set=-$cap,-sys_admin --inh-caps=-$cap,-sys_admin "$weft" doctor
		[ $status = 1 ] && grep -q "^part .*CAP_${cap^^}" "$work/out"
		claim "doctor names CAP_${cap^^}, without which it can in part" $?
		within setpriv --bounding-set=-$cap,-sys_admin --inh-caps=-$cap,-sys_admin "$weft" record -a -d 0.3 -o "$work/x.pb.gz"
		[ $status = 0 ] && grep -qE "^weft: CAP_${cap^^} is missing: [a-z]" "$work/err" &&
			[ "$(grep -c 'is missing:' "$work/err")" = 1 ]
		claim "record without CAP_${cap^^} says what that costs, and samples" $?
	done
	if [ "$(cat /proc/sys/kernel/kptr_restrict)" = 1 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ]; then
		says err "kernel functions have no names: CAP_SYSLOG is missing"
		claim "without names of kernel functions CAP_SYSLOG is named" $?
	else
		skip "without names of kernel functions CAP_SYSLOG is named" "this kernel shows its addresses to everybody"
	fi
else
	skip "missing capabilities are named" "no setpriv here"
fi

mkdir "$work/fixed"
echo old >"$work/fixed/x.pb.gz"
if mount --bind "$work/fixed" "$work/fixed" 2>/dev/null && mount -o remount,bind,ro "$work/fixed"; then
	for file in x new; do
		run record -a -d 0.3 -o "$work/fixed/$file.pb.gz"
		[ $status = 1 ] && says err "cannot write" && ! says err recording && [ "$(ls -A "$work/fixed")" = x.pb.gz ]
		claim "a read-only file system ($file.pb.gz): exit 1 before recording" $?
	done
	umount "$work/fixed"
else
	skip "a read-only file system" "nothing can be mounted"
fi
mkdir "$work/small"
if mount -t tmpfs -o size=16k tmpfs "$work/small" 2>/dev/null; then
	for format in pb.gz folded json speedscope.json html; do
		head -c 100M /dev/zero >"$work/small/filler" 2>/dev/null
		run record -a -d 0.3 -o "$work/small/x.$format"
		[ $status = 1 ] && says err "cannot write" && [ "$(ls -A "$work/small")" = filler ]
		claim "a full disk: no part of a $format stays" $?
	done
	umount "$work/small"
else
	skip "a full disk" "no tmpfs can be mounted"
fi
for path in /dev/full /; do
	run record -a -d 0.3 --format folded -o $path
	[ $status = 1 ] && says err "cannot write"
	claim "-o $path: exit 1" $?
done
"$weft" record -a -d 0.3 --format folded -o - >/dev/full 2>"$work/err"
[ $? = 1 ] && says err "cannot write to stdout"
claim "a stdout that is full: exit 1" $?

rm -f "$work/x.pb.gz"
run record -p 2147483000 -d 0.3 -o "$work/x.pb.gz"
[ $status = 4 ] && says err 2147483000 && [ ! -e "$work/x.pb.gz" ]
claim "no such pid: exit 4" $?
run doctor -p 2147483000
[ $status = 4 ]
claim "also for doctor" $?
finish
