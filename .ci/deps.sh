#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The one place that knows package names. Installs what is missing and says so; with everything there
# it does nothing and needs no network.
#
#	.ci/deps.sh build|test|demo|bench
set -eu
PATH=$PATH:/usr/sbin:/sbin

what=${1:-build}

# name of the need: apt, dnf, apk, pacman
apt_build="gcc make clang llvm bpftool libbpf-dev libelf-dev libdw-dev libdebuginfod-dev
	libiberty-dev zlib1g-dev libzstd-dev liblzma-dev libcap-dev libjansson-dev"
apt_test="g++ dwz libcmocka-dev libclang-rt-dev clang-format python3 chromium elfutils binutils xz-utils
	musl-tools lld zsh fish groff-base rustc"
apt_demo="python3"
apt_bench="linux-perf redis-server redis-tools sqlite3 zstd ffmpeg openssl"

dnf_build="gcc make clang llvm bpftool libbpf-devel elfutils-libelf-devel elfutils-devel
	elfutils-debuginfod-client-devel binutils-devel zlib-devel libzstd-devel xz-devel libcap-devel jansson-devel"
dnf_test="gcc-c++ libcmocka-devel compiler-rt clang-tools-extra python3 chromium elfutils binutils xz musl-gcc lld
	zsh fish groff-base rust"
dnf_demo="python3"
dnf_bench="perf redis sqlite zstd ffmpeg-free openssl"

apk_build="gcc make clang llvm bpftool libbpf-dev elfutils-dev binutils-dev zlib-dev zstd-dev xz-dev
	libcap-dev jansson-dev musl-dev linux-headers"
apk_test="g++ cmocka-dev compiler-rt clang-extra-tools python3 chromium elfutils binutils xz lld
	zsh fish groff rust"
apk_demo="python3"
apk_bench="perf redis sqlite zstd ffmpeg openssl"

pacman_build="gcc make clang llvm bpf libbpf libelf binutils zlib zstd xz libcap jansson"
pacman_test="cmocka compiler-rt python chromium elfutils musl lld zsh fish groff rust"
pacman_demo="python"
pacman_bench="perf valkey sqlite zstd ffmpeg openssl"

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "deps: cannot install packages: not root and no sudo; install them by hand: $missing" >&2
		exit 1
	fi
}

# The compiler's runtime carries the compiler's version in its name on Debian.
clang_runtime() {
	version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\).*/\1/p' | head -n 1)
	echo "libclang-rt-${version:-14}-dev"
}

# Debian has packages for bpftool and perf; on Ubuntu they come with the tools of its kernels. Asked after
# the lists are there.
apt_names() {
	for name in "$@"; do
		case $name in
		bpftool | linux-perf)
			apt-cache policy "$name" | grep -q 'Candidate: [^(]' || name="linux-tools-common linux-tools-generic" ;;
		esac
		echo "$name"
	done
}

if command -v apt-get >/dev/null; then
	manager=apt
	has() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
	add() { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $(apt_names "$@") >/dev/null; }
elif command -v dnf >/dev/null; then
	manager=dnf
	has() { rpm -q "$1" >/dev/null 2>&1; }
	add() { as_root dnf install -y -q "$@"; }
elif command -v apk >/dev/null; then
	manager=apk
	has() { apk info -e "$1" >/dev/null 2>&1; }
	add() { as_root apk add -q "$@"; }
elif command -v pacman >/dev/null; then
	manager=pacman
	has() { pacman -Qq "$1" >/dev/null 2>&1; }
	add() { as_root pacman -S --noconfirm --needed -q "$@"; }
else
	echo "deps: no apt, dnf, apk or pacman here; weft needs: $apt_build" >&2
	exit 1
fi

case $what in
build) sets=build ;;
test) sets="build test" ;;
demo) sets="build demo" ;;
bench) sets="build test bench" ;;
*) echo "deps: build, test, demo or bench, not '$what'" >&2; exit 2 ;;
esac

missing=
for set in $sets; do
	for package in $(eval echo "\$${manager}_$set"); do
		# What is there by other means (rustup, a kernel's own tools) is not installed again.
		case $package in
		bpftool) command -v bpftool >/dev/null && continue ;;
		linux-perf | perf) command -v perf >/dev/null && continue ;;
		rustc | rust) command -v rustc >/dev/null && continue ;;
		libclang-rt-dev) has "$(clang_runtime)" && continue; [ "$manager" = apt ] && package=$(clang_runtime) ;;
		python3) command -v python3 >/dev/null && continue ;;
		esac
		has "$package" || missing="$missing $package"
	done
done

[ -z "$missing" ] && exit 0
echo "deps: installing with $manager:$missing"
# shellcheck disable=SC2086
add $missing
