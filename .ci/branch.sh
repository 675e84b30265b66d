#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages of another branch of Debian, for no system: their lists and archives are in a folder of their
# own, nothing is installed and no root is needed. To be sourced.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

# has_branches [ARCHIVE]: whether this system has its packages from a mirror of Debian; where is in $mirror.
has_branches() {
	mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^ *#' |
		grep -oE "[a-z+]+://[^ ]*/${1:-debian}/?( |\$)" | head -n 1 || :)
	[ -n "$mirror" ] && [ -f $keyring ]
}

# open_branch BRANCH [ARCHITECTURE]: apt-get and apt-cache are about it from here on, in $work.
open_branch() {
	[ -z "$work" ] || rm -rf "$work"
	work=$(mktemp -d)
	mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/none"
	: >"$work/status"
	echo "deb [signed-by=$keyring] $mirror $1 main" >"$work/sources"
	cat >"$work/apt.conf" <<-CONF
		Dir::State "$work"; Dir::State::Lists "$work/lists"; Dir::State::status "$work/status";
		Dir::Cache "$work"; Dir::Cache::Archives "$work/archives";
		Dir::Etc::sourcelist "$work/sources"; Dir::Etc::sourceparts "$work/none";
		Dir::Etc::preferencesparts "$work/none"; Acquire::Languages "none";
		Acquire::Check-Valid-Until "false"; APT::Sandbox::User "root";
		${2:+APT::Architecture "$2";}
	CONF
	export APT_CONFIG="$work/apt.conf"
	apt-get update -qq
}

# unpack_packages ROOT PACKAGE...: they and what they need, in a folder that looks like a system's root.
unpack_packages() {
	root=$1
	shift
	rm -f "$work"/archives/*.deb
	apt-get install -d -y -qq --no-install-recommends "$@" >/dev/null
	rm -rf "$root"
	mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin" "$root/usr/sbin"
	for name in lib lib64 bin sbin; do
		ln -s "usr/$name" "$root/$name"
	done
	for archive in "$work"/archives/*.deb; do
		dpkg -x "$archive" "$root"
	done
}
