#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What weft finds in the memory of a running CPython, against what that CPython says of itself.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
check=${BUILD:-build}/tests/python/state_check
make --no-print-directory -s BUILD="${BUILD:-build}" "$check" >&2 || exit 1

for minor in $PYTHON_MINORS; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: state" "no python3.$minor here"
		continue
	fi
	timeout 60 "$check" "$python" tests/python/state_target.py >"$work/out" 2>"$work/err"
	status=$?
	claim "CPython 3.$minor: $(cat "$work/out")" $status
done
finish
