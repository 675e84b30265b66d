#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs test programs and counts what they say. A program that speaks TAP counts by its lines, any
# other is one test; exit 77 is a skip (in CI a failure: there everything must run).
#
#	tests/run.sh PROGRAM...
# Ends with the line "N passed, N failed, N skipped"; exit 1 when something failed.
set -u
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

run_one() {
	local program=$1 status ok bad skip start=$SECONDS
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
	if [ $status = 77 ]; then
		if [ -n "${CI:-}" ]; then
			bad=$((bad + 1))
		else
			skip=$((skip + 1))
		fi
	elif [ $status != 0 ] && [ "$bad" = 0 ]; then
		bad=1
	elif [ $status = 0 ] && [ $((ok + bad + skip)) = 0 ]; then
		ok=1
	fi
	passed=$((passed + ok)); failed=$((failed + bad)); skipped=$((skipped + skip))
	printf '%-4s %-52s %3d ok %2d failed %2d skipped %4ds\n' "$([ "$bad" = 0 ] && echo ok || echo FAIL)" \
		"$(basename "$program")" "$ok" "$bad" "$skip" $((SECONDS - start))
	if [ "$bad" != 0 ]; then
		sed 's/^/    | /' "$log" | grep -vE '^ +\| ok ' | tail -n 60
	elif [ "$skip" != 0 ]; then
		grep -iE 'skip' "$log" | head -n 3 | sed 's/^/    | /'
	fi
}

for program in "$@"; do
	run_one "$program"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
