#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One of Debian's kernels, from where this system has its packages: FOLDER/vmlinuz. Nothing is installed.
#
#	tests/kernels/fetch.sh SUITE FOLDER	does nothing when it is there already
set -eu
suite=$1 folder=$2
[ ! -s "$folder/vmlinuz" ] || exit 0
. "$(dirname "$0")/../../.ci/branch.sh"
archive=debian
case $suite in *-security) archive=debian-security ;; esac
if ! has_branches $archive; then
	echo "this system has no packages of $archive"
	exit 1
fi
log=$(mktemp)
open_branch "$suite" amd64 >"$log" 2>&1 || failed=$(tail -n 1 "$log")
rm -f "$log"
if [ -n "${failed:-}" ]; then
	echo "cannot be fetched: $failed"
	exit 1
fi
cd "$work"

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
