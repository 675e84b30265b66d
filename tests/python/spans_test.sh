#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The labels trace_id and span_id against a program that names its functions after its spans, with every CPython
# and OpenTelemetry that there is for it.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/packages.sh
needs_profiling

# has_ids TEXT PYTHON SCENE [VARIABLES]
has_ids() {
	local status
	tests/python/spans_check.py "$weft" "$2" "$3" ${4:+"$4"} >"$work/out" 2>"$work/err"
	status=$?
	claim "$1: $(tail -n 1 "$work/out")" $status
}

found=
for minor in $PYTHON_FEW; do
	[ "$minor" != 6 ] || continue
	python=$(python_of "$minor")
	folder=
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: spans" "no python3.$minor here"
		continue
	fi
	folder=$(package_of "$python" "$minor" opentelemetry-sdk opentelemetry.sdk.trace)
	if [ -z "$folder" ]; then
		skip "CPython 3.$minor: spans" "no OpenTelemetry for it"
		continue
	fi
	found="$found $minor"
	export PYTHONPATH=$folder
	for n in 0 5 41 500; do
		has_ids "CPython 3.$minor, two threads, $n context variables" "$python" threads $n
	done
	has_ids "CPython 3.$minor, asyncio tasks" "$python" tasks 5
	has_ids "CPython 3.$minor, suspended asyncio tasks" "$python" asleep 5
	has_ids "CPython 3.$minor without an SDK" "$python" api
	has_ids "CPython 3.$minor, imported while it is sampled" "$python" late
	unset PYTHONPATH
done
if [ -n "${CI:-}" ]; then
	# shellcheck disable=SC2086
	pythons_are_enough $found
	claim "3.8 or older, 3.11, 3.13 and 3.14 or newer are tested" $?
fi
finish
