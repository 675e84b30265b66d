#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program on a file system in user space, which any user may mount: it lets nobody else in and answers
# when it likes. weft never waits for it. Needs root, BPF and FUSE.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
if ! grep -qw fuse /proc/filesystems; then
	echo "1..0 # SKIP there is no FUSE"
	exit 77
fi
MAX_S=20	# what hangs, hangs until it is killed

# Its stack is full of addresses of code that never ran, in pages that are not in memory: a search for
# return addresses would have to wait for them.
cat >"$work/far.c" <<'C'
#define N 500
#define FAR_LEN (8 << 20)
__asm__(".section .text.far,\"ax\",@progbits\nfar_code: .fill 8 << 20, 1, 0x90\n.previous");
extern char far_code[];
__attribute__((noinline)) static void work(const volatile char **words)
{
	for (;;)
		for (int i = 0; i < N; i++) {
			words[i] = far_code + FAR_LEN / N * i + 2048;
			for (volatile int j = 0; j < 1000; j++) ;
		}
}
int main(void) { const volatile char *words[N]; work(words); return 0; }
C
${CC:-cc} -O1 -static -Wl,--build-id -o "$work/far" "$work/far.c" &&
	${CC:-cc} -O1 -D_GNU_SOURCE -o "$work/fuse" tests/live/fuse.c || exit 1
id=$(readelf -n "$work/far" | awk '/Build ID/ { print $3 }')
chmod 755 "$work"
mknod -m 666 "$work/device" c 10 229
server= program=
trap 'kill -9 $server $program 2>/dev/null; umount -l "$work/mnt" 2>/dev/null; rm -rf "$work"' EXIT

start() {	# [root]
	mkdir -p "$work/mnt"
	chmod 777 "$work/mnt"
	: >"$work/said"	# of the one before
	"$work/fuse" "$work/device" "$work/mnt" "$work/far" "$@" >>"$work/said" 2>"$work/err" &
	server=$!
	for _ in $(seq 200); do
		program=$(awk '$1 == "program" { print $2 }' "$work/said")
		[ -n "$program" ] && [ "$(cat "/proc/$program/comm" 2>/dev/null)" = program ] && return 0
		sleep 0.05
	done
	return 1
}

stop() {
	# shellcheck disable=SC2086
	{ kill -9 $server $program; wait "$server"; } 2>/dev/null
	umount -l "$work/mnt" 2>/dev/null
}

samples() {
	grep -c "$1" "$work/x.json"
}

# judge WHAT MODE ARGS...: records it while nobody answers
judge() {
	local what=$1 mode=$2
	shift 2
	# shellcheck disable=SC2086
	if ! start $mode; then
		skip "$what that never answers does not keep weft" "it cannot be mounted: $(tail -n 1 "$work/err")"
		stop
		return
	fi
	sleep 0.3	# until it runs in its own code
	kill -STOP "$server"
	timeout -k 1 $MAX_S "$weft" record "$@" -F 199 -d 2 -o "$work/x.json" >"$work/out" 2>"$work/err"
	[ $? = 0 ] && [ "$(samples '"comm":"program"')" -gt 0 ]
	claim "$what that never answers does not keep weft from sampling" $?
	[ "$(samples "\"comm\":\"program\".*\"buildId\":\"$id\"")" -gt 0 ]
	claim "  and the program keeps its build id" $?
	timeout -k 1 $MAX_S "$weft" doctor --pid "$program" >"$work/out" 2>"$work/err"
	[ $? -lt 100 ]
	claim "  and weft doctor ends" $?
	stop
}

judge "a program's file system" "" -a
judge "a root file system" root -a
start && kill -STOP "$server" &&
	timeout -k 1 $MAX_S "$weft" record -p "$program" -F 199 -d 1 -o "$work/x.json" >"$work/out" 2>"$work/err"
claim "nor when it is the only target" $?
stop
finish
