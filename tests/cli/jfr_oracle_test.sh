#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft jfr says of recordings of every JDK what the JDK's own tools say of them.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
. tests/jfr/jdks.sh
needs_tool python3

# A newer one reads what is older; the tools of JDK 8 and 11 say less.
newest=
for version in $JDK_VERSIONS; do
	jdk=$(jdk_of "$version")
	[ -z "$jdk" ] || newest=$jdk
done
if [ -z "$newest" ]; then
	echo "1..0 # SKIP no JDK 17 here"
	exit 77
fi
for name in small8 small11 small17 small21 small25 small26 every17 cpu25 chunks17 scrub25 crash17; do
	recorded $name && claims tests/jfr/oracle.py "$weft" "$newest" "$path"
done
if recorded small17; then
	tests/jfr/chunks.py --clock "$path" "$work/clock.jfr"
	claims tests/jfr/oracle.py "$weft" "$newest" "$work/clock.jfr"
fi
for name in ap-cpu ap-wall ap-alloc ap-nativemem ap-sync jmc; do
	recorded $name && claims tests/jfr/oracle.py "$weft" - "$path"
done
for name in ap-few ap-lock grafana; do
	recorded $name && claims tests/jfr/oracle.py "$weft" "$newest" "$path"
done
# It has chunks of two writers, whose clocks the JDK takes for one.
if recorded datadog; then
	tests/jfr/chunks.py --split "$(find "$path" -name '*.jfr' -size -900k | sort | tail -n 1)" "$work/datadog"
	for path in "$work"/datadog.*; do
		claims tests/jfr/oracle.py "$weft" "$newest" "$path"
	done
fi
# Newer ones do not read what was never finished.
older=$(jdk_of 17)
for name in live17 killed17 killed25; do
	if [ -z "$older" ]; then
		skip $name "no JDK 17 here"
	elif recorded $name; then
		[ -f "$path" ] || path=$(find "$path" -name '*.jfr' | sort | tail -n 1)
		claims tests/jfr/oracle.py "$weft" "$older" "$path"
	fi
done
finish
