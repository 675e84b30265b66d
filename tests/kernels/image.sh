#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What runs in the kernels, as their first file system: weft as it was built, the test and its programs,
# and what they need, at the paths it has here.
#
#	tests/kernels/image.sh FILE
set -eu
cd "$(dirname "$0")/../.."
. tests/python/pythons.sh
here=tests/kernels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{bin,etc,proc,sys,dev,tmp,test}

# Copies the files whose names are read, with what links lead to.
add_files() {
	tar -chPf - -T - | tar -xf - -C "$root" --skip-old-files --transform 's|^/||'
}

# What the loader finds for the files whose names are read.
libraries_of() {
	while read -r file; do
		ldd "$file" 2>/dev/null | grep -oE '/[^ )]+' || :
	done | sort -u
}

# All that the test program imports, and nothing else of the standard library.
add_python() {
	local python
	python=$(python_of "$1")
	[ -n "$python" ] || return 0
	"$python" - >"$work/files" <<-PY
		import asyncio, encodings.idna, glob, hashlib, json, os, queue, sys, sysconfig, threading, time
		print(sys.executable)
		for module in list(sys.modules.values()):
		    files = [getattr(module, "__file__", None), getattr(module, "__cached__", None)]
		    for folder in getattr(module, "__path__", []):
		        files += glob.glob(folder + "/*.py")
		    for file in files:
		        if file and file.startswith(sys.prefix) and os.path.exists(file):
		            print(file)
	PY
	add_files <"$work/files"
	grep -vE '\.pyc?$' "$work/files" | libraries_of | add_files
	echo "$1 $(head -n 1 "$work/files")" >>"$root/test/pythons"
}

cp "$(command -v busybox)" "$root/bin/busybox"
cp "${BUILD:-build}/weft" "$root/bin/weft"
cp "$(PATH=$PATH:/usr/sbin:/sbin command -v setcap)" "$root/bin/setcap"
cp $here/init "$root/init"
printf '%s\n' root:x:0:0::/:/bin/sh nobody:x:65534:65534::/:/bin/sh >"$root/etc/passwd"
cp $here/guest.sh $here/programs/frames.py tests/python/gil_program.py "$root/test"
: >"$root/test/pythons"
for minor in ${PYTHONS:-11 13}; do
	add_python "$minor"
done

cc=${CC:-cc}
$cc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -c -o "$work/bare.o" $here/programs/bare.c
$cc -O2 -g -fomit-frame-pointer -Wall -D_GNU_SOURCE -o "$root/test/stacks" $here/programs/stacks.c "$work/bare.o"
cp "${BUILD:-build}"/tests/live/kernel_stack{,.bpf.o} "$root/test"
printf '%s\n' "$root"/bin/{busybox,setcap,weft} "$root"/test/{stacks,kernel_stack} | libraries_of | add_files
for i in 0 1 2 3; do
	$cc -O1 -static -D_GNU_SOURCE -Wl,--build-id=0x"$(printf "a$i%.0s" $(seq 20))" -o "$root/test/gone$i" \
		tests/live/gone.c
done
(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$1.new"
mv "$1.new" "$1"
