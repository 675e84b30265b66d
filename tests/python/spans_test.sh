#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The labels trace_id, span_id and span_name against a program that names its functions after its spans, with every
# CPython and OpenTelemetry that there is for it.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/packages.sh
needs_profiling

found='' programs=()
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
	programs+=("CPython 3.$minor|$python|$folder")
done
[ -z "$found" ] || checks $((9 * ${#programs[@]})) tests/python/spans_check.py "$weft" "${programs[@]}"
if [ -n "${CI:-}" ]; then
	# shellcheck disable=SC2086
	pythons_are_enough $found
	claim "3.8 or older, 3.11, 3.13 and 3.14 or newer are tested" $?
fi
finish
