#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lines of every instruction of the standard library, weft's decoders against the interpreters, each
# for its own version. QUICK=1 takes a twentieth of the library, TESTS=1 its own tests as well.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
set -o pipefail
check=${BUILD:-build}/tests/python/lines_check
make --no-print-directory -s BUILD="${BUILD:-build}" "$check" >&2 || exit 1

every=1 found=
[ -z "${QUICK:-}" ] || every=20
for minor in $PYTHON_MINORS; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: lines" "no python3.$minor here"
		continue
	fi
	found="$found $minor"
	"$python" tests/python/lines_dump.py "$every" ${TESTS:+tests} 2>"$work/err" |
		"$check" "$minor" >"$work/out" 2>>"$work/err"
	status=$?
	claim "CPython 3.$minor: lines of $(cat "$work/out")" $status
done
if [ -n "${CI:-}" ]; then
	# shellcheck disable=SC2086
	pythons_are_enough $found
	claim "3.8 or older, 3.11, 3.13 and 3.14 or newer are tested" $?
fi
finish
