#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft jfr of files that were cut, damaged or never finished: what can be read comes out, what is lost is said, nothing
# is invented.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
needs_tool python3
check=tests/jfr/damage_check.py

# More of them: N_FILES=200
for name in small17 small25; do
	recorded $name || continue
	claims $check "$weft" cuts "$path" "${N_FILES:-20}"
	claims $check "$weft" events "$path" "${N_FILES:-12}"
	claims $check "$weft" constants "$path" "${N_FILES:-10}"
done
recorded small17 && claims $check "$weft" headers "$path" && claims $check "$weft" files "$path"
recorded chunks17 && claims $check "$weft" chunks "$path"
finish
