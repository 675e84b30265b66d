#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft in the kernels of Debian's releases, from the oldest that the design promises to the newest, one
# after the other in QEMU without help of the hardware. Kernels are fetched once; prints TAP.
#
#	[KERNELS="5.10 6.12"] [SCENES=native,gone] [V=1] tests/kernels/kernels.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weft/kernels
limit_s=${LIMIT_S:-400}
out=${BUILD:-build}/kernels
n=0 n_failed=0

for tool in qemu-system-x86_64 busybox cpio apt-get; do
	command -v $tool >/dev/null && continue
	echo "1..0 # SKIP no $tool here"
	exit 77
done

# say ok|"not ok" TEXT
say() {
	n=$((n + 1))
	echo "$1 $n - $2"
	[ "$1" = ok ] || n_failed=$((n_failed + 1))
}

# An instruction takes 8 ns of its time, whatever else this machine does: a run is like any other. Without
# cmpxchg16b, after which QEMU 7.2 goes on with wrong registers now and then: Linux 6.12 panicked of it.
boot() {
	timeout "$limit_s" nice -n 10 qemu-system-x86_64 -accel tcg -icount shift=3,sleep=off -cpu qemu64,-cx16 \
		-m 1024 -nodefaults -no-user-config -no-reboot -display none -serial stdio \
		-kernel "$1" -initrd "$out/image" \
		-append "console=ttyS0 quiet panic=-1 ${SCENES:+scenes=$SCENES}" </dev/null 2>&1 | tr -d '\r' >"$2"
}

# run_kernel NAME SUITE
run_kernel() {
	local name=$1 log=$out/$1.log kernel=$cache/$1/vmlinuz why line
	if ! why=$(tests/kernels/fetch.sh "$2" "$cache/$1"); then
		say ok "$1 # SKIP ${why:-no kernel}"
		return
	fi
	boot "$kernel" "$log"
	# One that did not get as far as the test is no news about weft.
	grep -q '^kernel ' "$log" || boot "$kernel" "$log"
	line=$(sed -nE 's/^kernel ([0-9]+\.[0-9]+).*/\1/p' "$log")
	name=${line:-$name}
	while read -r line; do
		case $line in
		"ok - "*) say ok "$name: ${line#ok - }" ;;
		"not ok - "*) say "not ok" "$name: ${line#not ok - }" ;;
		"#"*) [ "${V:-0}" = 0 ] || echo "$line" ;;
		esac
	done <"$log"
	if ! grep -q '^status 0' "$log"; then
		grep -q '^status' "$log" || say "not ok" "$name: the test comes to its end in $limit_s s"
		tail -n 40 "$log" | sed 's/^/# /'
	fi
}

mkdir -p "$out"
tests/kernels/image.sh "$out/image" || exit 1
while read -r name suite; do
	case " ${KERNELS:-$name} " in *" $name "*) run_kernel "$name" "$suite" ;; esac
done <<-LIST
	5.10 bullseye-security
	6.1 bookworm
	6.12 trixie
	newest sid
LIST
echo "1..$n"
[ $n_failed = 0 ]
