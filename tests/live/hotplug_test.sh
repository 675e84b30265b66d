#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPUs that come online and go while they are sampled. Needs root, BPF and two CPUs.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
make --no-print-directory -s "$build/tests/live/hotplug" || exit 1
exec "$build/tests/live/hotplug"
