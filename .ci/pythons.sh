#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPython 3.14 and 3.15 for the tests: Debian's newer packages, with the libraries they were built for,
# unpacked into a folder of their own; nothing of the system is touched and no root is needed. Does
# nothing for a version that the tests find already.
#
#	.ci/pythons.sh [FOLDER]	the default is where tests/python/pythons.sh looks
set -eu
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/weft/pythons}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# Where this system has its packages from.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^ *#' |
	grep -oE '[a-z+]+://[^ ]*/debian/?( |$)' | head -n 1 || :)
if [ -z "$mirror" ] || [ ! -f $keyring ]; then
	echo "pythons: not Debian: install python3.14 and python3.15 yourself, or test without them" >&2
	exit 0
fi

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

# Lists and packages of Debian's development branch, for no system: nothing is installed there.
open_branch() {
	[ -z "$work" ] || return 0
	work=$(mktemp -d)
	mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/none"
	: >"$work/status"
	echo "deb [signed-by=$keyring] $mirror sid main" >"$work/sources"
	cat >"$work/apt.conf" <<-CONF
		Dir::State "$work"; Dir::State::Lists "$work/lists"; Dir::State::status "$work/status";
		Dir::Cache "$work"; Dir::Cache::Archives "$work/archives";
		Dir::Etc::sourcelist "$work/sources"; Dir::Etc::sourceparts "$work/none";
		Dir::Etc::preferencesparts "$work/none"; Acquire::Languages "none";
		APT::Sandbox::User "root";
	CONF
	APT_CONFIG=$work/apt.conf apt-get update -qq
}

# unpack VERSION PACKAGE...
unpack() {
	version=$1
	root=$folder/$version
	shift
	if [ -x "$root/python$version" ] || command -v "python$version" >/dev/null; then
		return 0
	fi
	open_branch
	rm -f "$work"/archives/*.deb
	APT_CONFIG=$work/apt.conf apt-get install -d -y -qq --no-install-recommends "$@" >/dev/null
	rm -rf "$root.new"
	mkdir -p "$root.new/usr/lib" "$root.new/usr/lib64" "$root.new/usr/bin" "$root.new/usr/sbin"
	for name in lib lib64 bin sbin; do
		ln -s "usr/$name" "$root.new/$name"
	done
	for package in "$work"/archives/*.deb; do
		dpkg -x "$package" "$root.new"
	done
	cat >"$root.new/python$version" <<-SH
		#!/bin/sh
		root=\$(dirname "\$(readlink -f "\$0")")
		PYTHONHOME=\$root/usr exec "\$root"/usr/lib*/ld-linux-*.so.* --library-path "\$(echo "\$root"/usr/lib/*-linux-gnu)" \\
			"\$root/usr/bin/python$version" "\$@"
	SH
	chmod +x "$root.new/python$version"
	"$root.new/python$version" -c ''
	rm -rf "$root"
	mv "$root.new" "$root"
	echo "pythons: CPython $version is in $root"
}

unpack 3.14 python3.14 libpython3.14 python3-uvloop
unpack 3.15 python3.15 libpython3.15
