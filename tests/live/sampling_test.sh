#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kernel half against itself: what it counts, what it samples, what it loses.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
make --no-print-directory -s "$build/tests/live/sampling" || exit 1
exec "$build/tests/live/sampling"
