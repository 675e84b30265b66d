#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The accuracy cells in their short form: every one must reach its goal. Builds as whoever runs it; only
# sampling asks for root.
set -u
cd "$(dirname "$0")/../.."
sudo=
[ "$(id -u)" = 0 ] || sudo=${SUDO:-}
$sudo "${BUILD:-build}/weft" doctor >/dev/null
if [ $? = 3 ]; then
	echo "skip: sampling needs root and BPF"
	exit 77
fi
out=$(QUICK=1 GROUP=native make --no-print-directory accuracy 2>&1)
status=$?
echo "$out"
[ $status = 0 ] && echo "ok 1 - accuracy reaches its goals" || echo "not ok 1 - accuracy reaches its goals"
exit $status
