#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The one place that knows package names. Installs what is missing and says so; with everything there
# it does nothing and needs no network. What only some tests or measures need ends nothing when it
# cannot be had: it is named, and they say themselves what they skip.
#
#	.ci/deps.sh build|test|demo|bench|kernels
set -eu
PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/.."

what=${1:-build}

# Lists of apt, dnf, apk and pacman. build: weft itself; test: without which no test is built; some: for
# some of the tests; bench: for some of the measures.
apt_build="gcc make clang llvm bpftool libbpf-dev libelf-dev libdw-dev libdebuginfod-dev
	libiberty-dev zlib1g-dev libzstd-dev liblz4-dev liblzma-dev libcap-dev libjansson-dev libsqlite3-dev"
apt_test="libcmocka-dev libclang-rt-dev"
apt_some="python3 g++ dwz clang-format chromium elfutils binutils xz-utils musl-tools lld zsh fish groff-base rustc
	openjdk-17-jdk-headless"
apt_demo="python3"
apt_bench="linux-perf redis-server redis-tools sqlite3 zstd ffmpeg openssl"
apt_kernels="qemu-system-x86 busybox-static cpio libcap2-bin"

dnf_build="gcc make clang llvm bpftool libbpf-devel elfutils-libelf-devel elfutils-devel
	elfutils-debuginfod-client-devel binutils-devel zlib-devel libzstd-devel lz4-devel xz-devel libcap-devel jansson-devel sqlite-devel"
dnf_test="libcmocka-devel compiler-rt"
dnf_some="python3 gcc-c++ clang-tools-extra chromium elfutils binutils xz musl-gcc lld zsh fish groff-base rust
	java-17-openjdk-devel"
dnf_demo="python3"
dnf_bench="perf redis sqlite zstd ffmpeg-free openssl"
dnf_kernels="qemu-system-x86-core busybox cpio"

apk_build="gcc make clang llvm bpftool libbpf-dev elfutils-dev binutils-dev zlib-dev zstd-dev lz4-dev xz-dev
	libcap-dev jansson-dev sqlite-dev musl-dev linux-headers"
apk_test="cmocka-dev compiler-rt"
apk_some="python3 g++ clang-extra-tools chromium elfutils binutils xz lld zsh fish groff rust openjdk17-jdk"
apk_demo="python3"
apk_bench="perf redis sqlite zstd ffmpeg openssl"
apk_kernels="qemu-system-x86_64 busybox-static cpio"

pacman_build="gcc make clang llvm bpf libbpf libelf binutils zlib zstd lz4 xz libcap jansson sqlite"
pacman_test="cmocka compiler-rt"
pacman_some="python chromium elfutils musl lld zsh fish groff rust jdk17-openjdk"
pacman_demo="python"
pacman_bench="perf valkey sqlite zstd ffmpeg openssl"
pacman_kernels="qemu-system-x86 busybox cpio"

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "deps: cannot install packages: neither root nor sudo here" >&2
		return 1
	fi
}

# The compiler's runtime carries the compiler's version in its name on Debian.
clang_runtime() {
	version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\).*/\1/p' | head -n 1)
	echo "libclang-rt-${version:-14}-dev"
}

# Whether the archive has it. Ubuntu's chromium is a stub that wants snapd, and a snap sees no file of ours.
apt_has() {
	apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]' &&
		! apt-cache show "$1" | grep -qE '^(Pre-)?Depends:.*\bsnapd\b'
}

# Debian has packages for bpftool and perf; on Ubuntu they come with the tools of its kernels. Where clang's
# runtime has no package of its own, clang brings it. Asked after the lists are there.
apt_names() {
	for name in "$@"; do
		case $name in
		bpftool | linux-perf) apt_has "$name" || name="linux-tools-common linux-tools-generic" ;;
		libclang-rt-dev) name=$(clang_runtime); apt_has "$name" || name=clang ;;
		esac
		echo "$name"
	done
}

# An archive that cannot be asked matters only to what is not there.
apt_lists() {
	for name in "$@"; do
		if apt_has "$name" || ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
			as_root apt-get update -qq || :
			return
		fi
	done
}

if command -v apt-get >/dev/null; then
	manager=apt
	has() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
	update() { apt_lists $(apt_names "$@"); }
	offers() { for name in $(apt_names "$1"); do apt_has "$name" || return 1; done; }
	add() { as_root env DEBIAN_FRONTEND=noninteractive \
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
if [ "$manager" != apt ]; then
	update() { :; }
	offers() { :; }
fi

# Whether one of the programs runs: on Ubuntu the one in PATH starts what was made for the running kernel.
runs() {
	for program in "$@"; do
		"$program" version >/dev/null 2>&1 && return
	done
	return 1
}

# Also when it is there by other means: rustup, a kernel's own tools, another browser.
is_there() {
	case $1 in
	bpftool) runs bpftool /usr/lib/linux-tools/*/bpftool && return ;;
	linux-perf | perf) runs perf /usr/lib/linux-tools/*/perf && return ;;
	rustc | rust) command -v rustc >/dev/null && return ;;
	python3 | python) command -v python3 >/dev/null && return ;;
	*openjdk*) (. tests/jfr/jdks.sh; [ -n "$(jdk_of 17)" ]) && return ;;
	chromium) python3 tests/page/browser.py >/dev/null 2>&1 && return ;;
	libclang-rt-dev)
		[ -e "$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a" 2>/dev/null)" ] && return
		has "$(clang_runtime)" && return ;;
	esac
	has "$1"
}

# list NAMES...: the missing ones
list() {
	for set in "$@"; do
		for package in $(eval echo "\$${manager}_$set"); do
			is_there "$package" || printf ' %s' "$package"
		done
	done
}

case $what in
build) needed=$(list build) some= ;;
test) needed=$(list build test) some=$(list some) ;;
demo) needed=$(list build demo) some= ;;
bench) needed=$(list build) some=$(list some bench) ;;
kernels) needed=$(list build) some=$(list kernels) ;;
*) echo "deps: build, test, demo, bench or kernels, not '$what'" >&2; exit 2 ;;
esac
[ -z "$needed$some" ] && exit 0

# shellcheck disable=SC2086
update $needed $some
offered= lacking=
for package in $some; do
	if offers "$package"; then
		offered="$offered $package"
	else
		lacking="$lacking $package"
	fi
done
[ -z "$needed$offered" ] || echo "deps: installing with $manager:$needed$offered"
# shellcheck disable=SC2086
if [ -n "$needed" ] && ! add $needed; then
	echo "deps: weft cannot be built without:$needed" >&2
	exit 1
fi
# shellcheck disable=SC2086
if [ -n "$offered" ] && ! add $offered; then
	for package in $offered; do
		add "$package" || lacking="$lacking $package"
	done
fi
case " $lacking " in
*" chromium "*) echo "deps: the page tests are skipped for want of a browser (chromium or google-chrome, no snap)" ;;
esac
[ -z "$lacking" ] || echo "deps: cannot be installed here:$lacking; what needs them says so and is skipped"
