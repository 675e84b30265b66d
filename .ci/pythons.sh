#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPython 3.14 and 3.15 for the tests: Debian's newer packages, with the libraries they were built for,
# unpacked into a folder of their own; nothing of the system is touched and no root is needed. Does
# nothing for a version that the tests find already.
#
#	.ci/pythons.sh [FOLDER]	the default is where tests/python/pythons.sh looks
set -eu
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/weft/pythons}
. "$(dirname "$0")/branch.sh"
if ! has_branches; then
	echo "pythons: not Debian: install python3.14 and python3.15 yourself, or test without them" >&2
	exit 0
fi

# unpack VERSION PACKAGE...
unpack() {
	version=$1
	final=$folder/$version
	shift
	if [ -x "$final/python$version" ] || command -v "python$version" >/dev/null; then
		return 0
	fi
	[ -n "$work" ] || open_branch sid
	unpack_packages "$final.new" "$@"
	cat >"$final.new/python$version" <<-SH
		#!/bin/sh
		root=\$(dirname "\$(readlink -f "\$0")")
		PYTHONHOME=\$root/usr exec "\$root"/usr/lib*/ld-linux-*.so.* --library-path "\$(echo "\$root"/usr/lib/*-linux-gnu)" \\
			"\$root/usr/bin/python$version" "\$@"
	SH
	chmod +x "$final.new/python$version"
	"$final.new/python$version" -c ''
	rm -rf "$final"
	mv "$final.new" "$final"
	echo "pythons: CPython $version is in $final"
}

unpack 3.14 python3.14 libpython3.14 python3-uvloop
unpack 3.15 python3.15 libpython3.15
