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
. .ci/branch.sh
if ! has_branches; then
	echo "jdks: not Debian: install other JDKs yourself, or test without them" >&2
	exit 0
fi

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
	unpack_packages "$root" "$package"
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
