#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One of Debian's kernels, from where this system has its packages: FOLDER/vmlinuz. Nothing is installed.
#
#	tests/kernels/fetch.sh SUITE FOLDER	does nothing when it is there already
set -eu
suite=$1 folder=$2
[ ! -s "$folder/vmlinuz" ] || exit 0
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive=debian
case $suite in *-security) archive=debian-security ;; esac
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^ *#' |
	grep -oE "[a-z+]+://[^ ]*/$archive/?( |\$)" | head -n 1 || :)
if [ -z "$mirror" ] || [ ! -f $keyring ]; then
	echo "this system has no packages of $archive"
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/none"
: >"$work/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources"
cat >"$work/apt.conf" <<-CONF
	Dir::State "$work"; Dir::State::Lists "$work/lists"; Dir::State::status "$work/status";
	Dir::Cache "$work"; Dir::Cache::Archives "$work/archives";
	Dir::Etc::sourcelist "$work/sources"; Dir::Etc::sourceparts "$work/none";
	Dir::Etc::preferencesparts "$work/none"; Acquire::Languages "none";
	Acquire::Check-Valid-Until "false"; APT::Sandbox::User "root"; APT::Architecture "amd64";
CONF
export APT_CONFIG="$work/apt.conf"
cd "$work"
if ! apt-get update -qq >"$work/log" 2>&1; then
	echo "cannot be fetched: $(tail -n 1 "$work/log")"
	exit 1
fi

# The newest dependency of a package of this name, without its version.
needed_by() {
	apt-cache depends "$1" | sed -nE "s/.*Depends: ($2-[0-9][^ ]*).*/\1/p" | head -n 1
}

# Newer packages have the kernel itself in another one.
image=$(needed_by linux-image-cloud-amd64 linux-image)
for package in "$image" $(needed_by "$image" linux-binary); do
	apt-get download -qq "$package" >"$work/log" 2>&1
	dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x --wildcards -f - '*/vmlinuz*' 2>/dev/null || :
	rm -f "$package"_*.deb
done
found=$(find . -type f -name 'vmlinuz*' | head -n 1)
if [ -z "$found" ]; then
	echo "there is no kernel in ${image:-linux-image-cloud-amd64} of $suite"
	exit 1
fi
mkdir -p "$folder"
cp "$found" "$folder/vmlinuz.new"
mv "$folder/vmlinuz.new" "$folder/vmlinuz"
