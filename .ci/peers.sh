#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The profilers that make bench shows beside weft: py-spy and austin, from Python's package index into a
# folder of their own, and the JFR tools of .ci/jfr_peers.sh. Nothing of the system is touched and no root
# is needed. What cannot be had, or does not run here, is named, and the measures go without it.
#
#	.ci/peers.sh FOLDER
set -u
cd "$(dirname "$0")/.."
folder=$1

# fetch PROGRAM PACKAGE...: the first that runs
fetch() {
	program=$1
	shift
	"$folder/$program/bin/$program" --version >/dev/null 2>&1 && return 0
	for package in "$@"; do
		echo "peers: fetching $package"
		rm -rf "${folder:?}/$program"
		python3 -m pip install -q --disable-pip-version-check --no-deps --target "$folder/$program" "$package" \
			>/dev/null 2>&1 && "$folder/$program/bin/$program" --version >/dev/null 2>&1 && return 0
	done
	rm -rf "${folder:?}/$program"
	echo "peers: no $program here; the measures go without it"
}

fetch py-spy py-spy
# The newest austin wants a newer C library than some systems have.
fetch austin austin-dist 'austin-dist<4'

exec .ci/jfr_peers.sh "$folder"
