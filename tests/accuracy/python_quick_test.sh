#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The accuracy of Python stacks in its short form, on every CPython there is.
set -u
cd "$(dirname "$0")/../.."
if [ "$(id -u)" != 0 ] || ! "${BUILD:-build}/weft" doctor >/dev/null; then
	echo "skip: sampling needs root and BPF"
	exit 77
fi
out=$(QUICK=1 GROUP=python make --no-print-directory accuracy 2>&1)
status=$?
echo "$out"
[ $status = 0 ] && echo "ok 1 - Python stacks reach their goals" || echo "not ok 1 - Python stacks reach their goals"
exit $status
