#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The layout of every CPython there is, against its debug information where it has some.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
check=${BUILD:-build}/tests/python/layout_check
make --no-print-directory -s BUILD="${BUILD:-build}" "$check" >&2 || exit 1

# image_of PYTHON: its version and the file that it is in
image_of() {
	"$1" - <<'PYTHON'
import ctypes, sys
addr = ctypes.cast(ctypes.pythonapi.Py_Initialize, ctypes.c_void_p).value
for line in open("/proc/self/maps"):
    words = line.split()
    start, end = (int(x, 16) for x in words[0].split("-"))
    if start <= addr < end:
        print("%#x" % sys.hexversion, words[-1])
PYTHON
}

# debug_of FILE: the file with its debug information
debug_of() {
	local id root=${1%/usr/*}
	id=$(readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p')
	for debug in "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" \
		"/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"; do
		[ -f "$debug" ] && echo "$debug" && return
	done
	echo "$1"
}

for minor in $PYTHON_MINORS; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor: layout" "no python3.$minor here"
		continue
	fi
	read -r version image <<<"$(image_of "$python")"
	"$check" "$version" "$image" "$(debug_of "$image")" >"$work/out" 2>"$work/err"
	status=$?
	if [ $status = 77 ]; then
		skip "CPython 3.$minor: layout" "no debug information for $(basename "$image")"
	else
		claim "CPython 3.$minor ($version): $(cat "$work/out")" $status
	fi
done
finish
