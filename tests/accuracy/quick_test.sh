#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The accuracy cells in their short form, native ones and those of a few CPythons (ALL_PYTHONS=1: of every one):
# each must reach its goal. Builds as whoever runs it; only sampling asks for root.
set -u
cd "$(dirname "$0")/../.."
sudo=
[ "$(id -u)" = 0 ] || sudo=${SUDO:-}
$sudo "${BUILD:-build}/weft" doctor >/dev/null
if [ $? = 3 ]; then
	echo "skip: sampling needs root and BPF"
	exit 77
fi
n=0 failed=0
for group in native python; do
	n=$((n + 1))
	if QUICK=1 GROUP=$group make --no-print-directory accuracy 2>&1; then
		echo "ok $n - accuracy, $group: its goals are reached"
	else
		echo "not ok $n - accuracy, $group: its goals are reached"
		failed=1
	fi
done
exit $failed
