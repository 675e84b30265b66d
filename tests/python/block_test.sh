#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --block-ms: a program that blocks its event loop for times that it knows, under every CPython.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/packages.sh
needs_profiling
limit=100

# blocks TEXT PYTHON [KIND]: what was recorded is what the program saw. Times of the machine's other work are in
# both, but not to the millisecond: what fails is tried once more.
blocks() {
	local try failed
	for try in 1 2; do
		"$weft" record --block-ms $limit -F 499 -o "$work/p.pb.gz" -- "$2" tests/python/block_program.py $limit ${3:+"$3"} \
			>"$work/said" 2>"$work/err"
		tests/python/block_check.py "$work/p.pb.gz" "$work/said" "$work/err" >"$work/out" 2>&1
		failed=$?
		[ $failed = 0 ] && break
	done
	claim "$1: $(tail -n 1 "$work/out")" $failed
}

found=
for minor in $PYTHON_FEW; do
	[ "$minor" != 6 ] || continue
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor" "no python3.$minor here"
		continue
	fi
	found="$found $minor"
	blocks "CPython 3.$minor" "$python"
	folder=$(package_of "$python" "$minor" uvloop uvloop)
	if [ -n "$folder" ]; then
		PYTHONPATH=$folder blocks "CPython 3.$minor with uvloop" "$python" uvloop
	else
		skip "CPython 3.$minor with uvloop" "no uvloop for it"
	fi
	newest=$python
done
if [ -n "$found" ]; then
	run record --block-ms 100000 -F 499 -o "$work/p.pb.gz" -- "$newest" tests/python/block_program.py $limit
	[ $status = 0 ] && says err "no event loop was blocked for more than 100000 ms"
	claim "that no loop was blocked is said" $?
else
	skip "that no loop was blocked is said" "no CPython here"
fi
run record --block-ms 0 -- true
[ $status = 2 ]
claim "--block-ms 0 is a usage error" $?
if [ -n "${CI:-}" ]; then
	# shellcheck disable=SC2086
	pythons_are_enough $found
	claim "3.8 or older, 3.11, 3.13 and 3.14 or newer are tested" $?
fi
finish
