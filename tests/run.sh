#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs test programs and counts what they say. A program that speaks TAP counts by its lines, any
# other is one test; exit 77 is a skip. In CI a skip is a failure unless may_skip has it.
#
#	tests/run.sh PROGRAM...
# Ends with the line "N passed, N failed, N skipped"; exit 1 when something failed.
set -u
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a machine of the CI may lack, by the reason that the test gives for its skip.
may_skip='# SKIP (none'
may_skip+='|no go here'			# go tool pprof as a second opinion; Debian has it, but it is no need of weft
may_skip+='|no browser here'		# Ubuntu has its browsers as snaps only
may_skip+='|no (zsh|fish) here'		# no archive has to have every shell
may_skip+='|there is no FUSE|it cannot be mounted'	# a kernel without it, a container
may_skip+='|no tmpfs can be mounted'	# a container
may_skip+='|no cgroup2 can be mounted|no such hierarchy'	# a machine has version 1 or 2, few have both
may_skip+='|no 32-bit programs here'	# a kernel without them
may_skip+='|this machine has one'	# a hardware counter: the refusal for want of one cannot be seen
may_skip+='|no python3\.[0-9]+t? here'	# which there must be, lines_test.sh says
may_skip+='|places were not used again'	# code objects of a free-threaded interpreter
may_skip+='|no shared library, or no compiler'	# an interpreter that is one program
may_skip+='|no (uvloop|greenlet|anyio) for it|no debug information for|no debug build of CPython here'	# packages that are there for some versions only
may_skip+='|no JDK (8|11|21|25|26) here|no async-profiler here|its library is not here'	# JDK 17 there must be
may_skip+=')'
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

# run_one PROGRAM NAME: what it says, in $work/NAME.said, and how many of it passed, failed and were skipped.
run_one() {
	local program=$1 log=$work/$2.log status ok bad skip unexcused start=$SECONDS
	timeout "${TEST_TIMEOUT:-600}" "$program" >"$log" 2>&1 </dev/null
	status=$?
	# What may not run as a user, whole or in part, runs as root, when the user lets us.
	if [ -n "${SUDO:-}" ] && { [ $status = 77 ] || grep -qE '^(not )?ok .*# SKIP' "$log"; }; then
		$SUDO env BUILD="${BUILD:-build}" CMOCKA_MESSAGE_OUTPUT=TAP PYTHONDONTWRITEBYTECODE=1 \
			ASAN_OPTIONS="$ASAN_OPTIONS" UBSAN_OPTIONS="$UBSAN_OPTIONS" \
			timeout "${TEST_TIMEOUT:-600}" "$program" >"$log" 2>&1 </dev/null
		status=$?
	fi
	skip=$(grep -cE '^(not )?ok .*# SKIP' "$log")	# cmocka writes "not ok" before a skip
	ok=$(grep -E '^ok ' "$log" | grep -vc '# SKIP'); bad=$(grep -E '^not ok ' "$log" | grep -vc '# SKIP')
	if [ -n "${CI:-}" ]; then
		unexcused=$(grep -E '^(not )?ok .*# SKIP' "$log" | grep -vcE "$may_skip")
		skip=$((skip - unexcused)) bad=$((bad + unexcused))
	fi
	if [ $status = 77 ]; then
		if [ -n "${CI:-}" ] && ! grep -qE "^1\.\.0 $may_skip" "$log"; then
			bad=$((bad + 1))
		else
			skip=$((skip + 1))
		fi
	elif [ $status != 0 ] && [ "$bad" = 0 ]; then
		bad=1
	elif [ $status = 0 ] && [ $((ok + bad + skip)) = 0 ]; then
		ok=1
	fi
	echo "$ok $bad $skip" >"$work/$2.counts"
	printf '%-4s %-52s %3d ok %2d failed %2d skipped %4ds\n' "$([ "$bad" = 0 ] && echo ok || echo FAIL)" \
		"$(basename "$program")" "$ok" "$bad" "$skip" $((SECONDS - start))
	if [ "$bad" != 0 ]; then
		sed -E '/^ok /{/# SKIP/!d}; s/^/    | /' "$log" | tail -n 60
	elif [ "$skip" != 0 ]; then
		grep -iE 'skip' "$log" | head -n 3 | sed 's/^/    | /'
	fi
}

# take NAME: adds up what a program did.
take() {
	local ok bad skip
	cat "$work/$1.said"
	read -r ok bad skip <"$work/$1.counts" || ok=0 bad=1 skip=0
	passed=$((passed + ok)); failed=$((failed + bad)); skipped=$((skipped + skip))
	rm -f "$work/$1".*
}

# Programs that only compute run first, two at a time, those that sample or look at the machine alone.
only_computes() {
	case $1 in
	*/tests/unit/* | tests/lint.sh | tests/cli/jfr_* | tests/python/lines_test.sh |\
	tests/python/layout_test.sh | tests/python/state_test.sh | tests/live/stack_depth_test.py)
		return 0 ;;
	esac
	return 1
}

# take_ended: what has ended of those that run, in the order in which they began.
running=
take_ended() {
	local name still=
	for name in $running; do
		if [ -e "$work/$name.ended" ]; then take "$name"; else still="$still $name"; fi
	done
	running=$still
}

n=0
for program in "$@"; do
	n=$((n + 1))
	only_computes "$program" || continue
	(run_one "$program" $n >"$work/$n.said"; : >"$work/$n.ended") &
	running="$running $n"
	while [ "$(wc -w <<<"$running")" -ge 2 ]; do
		wait -n
		take_ended
	done
done
wait
take_ended

n=0
for program in "$@"; do
	n=$((n + 1))
	! only_computes "$program" || continue
	run_one "$program" $n >"$work/$n.said"
	take $n
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
