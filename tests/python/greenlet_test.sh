#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The stacks of greenlets, as gevent and SQLAlchemy's asyncio run their programs in.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
. tests/python/packages.sh
needs_profiling

for minor in $PYTHON_FEW; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: greenlets" "no python3.$minor here"
		continue
	fi
	folder=$(package_of "$python" "$minor" greenlet greenlet)
	if [ -z "$folder" ]; then
		skip "CPython 3.$minor: greenlets" "no greenlet for it"
		continue
	fi
	PYTHONPATH=$folder tests/python/greenlet_check.py "$weft" "$python" "$minor" >"$work/out" 2>"$work/err"
	status=$?
	claim "CPython 3.$minor: $(tail -n 1 "$work/out")" $status
done
finish
