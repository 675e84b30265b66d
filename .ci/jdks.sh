#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# More JDKs for the tests of JFR: Debian's packages of other branches, unpacked into a folder of their own with
# the libraries they were built for; nothing of the system is touched and no root is needed. Does nothing
# for a version that the tests find already.
#
#	.ci/jdks.sh [VERSION...]	the default is all that tests/jfr/jdks.sh knows and some branch has
set -eu
cd "$(dirname "$0")/.."
. tests/jfr/jdks.sh
folder=${XDG_CACHE_HOME:-$HOME/.cache}/weft/jdks
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# Where this system has its packages from.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^ *#' |
	grep -oE '[a-z+]+://[^ ]*/debian/?( |$)' | head -n 1 || :)
if [ -z "$mirror" ] || [ ! -f $keyring ]; then
	echo "jdks: not Debian: install other JDKs yourself, or test without them" >&2
	exit 0
fi

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

# Lists and packages of one branch, for no system: nothing is installed there.
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
	CONF
	export APT_CONFIG="$work/apt.conf"
	apt-get update -qq
}

# What the package links to below /etc is beside it.
point_inside() {
	find "$1" -type l -lname '/etc/*' | while read -r link; do
		ln -sfn "$1$(readlink "$link")" "$link"
	done
}

# Its programs run with the C library of its branch.
adapt() {
	loader=$(find "$1" -name 'ld-linux-*.so.*' | head -n 1)
	libraries=$(dirname "$(find "$1" -name libc.so.6 | head -n 1)")
	for program in "$2"/bin/* "$2"/jre/bin/* "$2"/lib/jspawnhelper; do
		if [ -f "$program" ] && [ ! -L "$program" ]; then
			"$work/patchelf/usr/bin/patchelf" --set-interpreter "$loader" --force-rpath \
				--set-rpath "\$ORIGIN/../lib:\$ORIGIN/../lib/jli:\$ORIGIN/../lib/amd64/jli:$libraries" "$program" 2>/dev/null || :
		fi
	done
}

# unpack VERSION
unpack() {
	version=$1
	root=$folder/$version
	package=openjdk-$version-jdk-headless
	apt-cache show "$package" >/dev/null 2>&1 || return 1
	rm -f "$work"/archives/*.deb
	apt-get install -d -y -qq --no-install-recommends "$package" >/dev/null
	rm -rf "$root"
	mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin" "$root/usr/sbin"
	for name in lib lib64 bin sbin; do
		ln -s "usr/$name" "$root/$name"
	done
	for archive in "$work"/archives/*.deb; do
		dpkg -x "$archive" "$root"
	done
	point_inside "$root"
	home=$(find "$root/usr/lib/jvm" -maxdepth 1 -type d -name "java-*-openjdk-*" | head -n 1)
	if ! "$home/bin/java" -version >/dev/null 2>&1; then
		(cd "$work" && rm -rf patchelf && env -u APT_CONFIG apt-get -o APT::Sandbox::User=root download -qq patchelf && dpkg -x patchelf_*.deb patchelf)
		adapt "$root" "$home"
	fi
	"$home/bin/java" -version >/dev/null 2>&1 || { rm -rf "$root"; return 1; }
	ln -sfn "$home" "$root/jdk"
	echo "jdks: JDK $version is in $root"
}

wanted=
for version in ${*:-$JDK_VERSIONS}; do
	[ -n "$(jdk_of "$version")" ] || wanted="$wanted $version"
done
for branch in bullseye trixie sid; do
	[ -n "$wanted" ] || break
	open_branch $branch || continue
	left=
	for version in $wanted; do
		unpack "$version" || left="$left $version"
	done
	wanted=$left
done
[ -z "$wanted" ] || echo "jdks: no branch of Debian has$wanted, or it does not run here"
