#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What samples of real JVMs and profilers are worth, and in which span they were taken.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
needs_tool python3

for name in pinned25 pinned26; do
	recorded $name && claims tests/jfr/meaning.py "$weft" lost "$path"
done
for name in chunks8 chunks17 chunks25; do
	recorded $name && claims tests/jfr/meaning.py "$weft" spans "$path"
done
recorded ap-span && claims tests/jfr/meaning.py "$weft" tags "$path"
finish
