#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Options that reach into the kernel half: children left out, the cap of a copied stack, and tasks
# that weft cannot walk. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
out=$work/out.pb.gz

cat >"$work/spin.h" <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double cpu_s(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}
static void spin(double seconds)
{
	for (double end = cpu_s() + seconds; cpu_s() < end;)
		for (volatile int i = 0; i < 100000; i++)
			;
}
C

cat >"$work/family.c" <<'C'
#include "spin.h"
__attribute__((noinline)) void child_work(void) { spin(1); }
__attribute__((noinline)) void parent_work(void) { spin(1); }
int main(void)
{
	if (!fork()) {
		child_work();
		_exit(0);
	}
	parent_work();
	wait(NULL);
	return 0;
}
C

# A deep stack: 40 frames of 1 KiB, and above them one that only user space can walk, so that every
# sample is a snapshot. Its CFA is rbp + 8 + 4 * 2, which no compiler would say like that.
cat >"$work/deep.c" <<'C'
#include "spin.h"
void work_above(void) { spin(0.1); }
void odd_frame(void);
__asm__("	.text\n	.type odd_frame, @function\n"
	"odd_frame:	.cfi_startproc\n	push %rbp\n	mov %rsp, %rbp\n"
	"	.cfi_escape 0x0f, 6, 0x76, 8, 0x34, 0x32, 0x1e, 0x22\n	.cfi_offset 6, -16\n"
	"	call work_above\n	pop %rbp\n	.cfi_def_cfa 7, 8\n	ret\n	.cfi_endproc\n");
__attribute__((noinline)) int dig(int left)
{
	volatile char room[1024];
	memset((char *)room, left, sizeof(room));
	if (left)
		return dig(left - 1) + room[5];
	odd_frame();
	return room[7];
}
int main(void) { return dig(40) > 1 << 30; }
C

for name in family deep; do
	${CC:-cc} -O1 -g -o "$work/$name" "$work/$name.c" || exit 1
done

# counter NAME: of the profile that was just written; those of 0 are not there
counter() {
	gzip -dc "$out" | grep -aoE "weft.count: .*" | grep -aoE "$1 [0-9]+" | cut -d' ' -f2 | grep . || echo 0
}

run record -F 199 -o "$out" -- "$work/family"
"$weft" report "$out" | grep -q child_work && "$weft" report "$out" | grep -q parent_work
claim "the children of a command are sampled" $?
run record --no-children -F 199 -o "$out" -- "$work/family"
! "$weft" report "$out" | grep -q child_work && "$weft" report "$out" | grep -q parent_work
claim "with --no-children they are not" $?

run record -F 1997 -o "$out" -- "$work/deep"
[ "$(counter snapshots.taken)" -gt 5 ] && [ "$(counter end.root)" -gt 5 ] && [ "$(counter end.snapshot_truncated)" = 0 ]
claim "a stack of 40 KiB fits its snapshots" $?
run record -F 1997 --snapshot-size 4K -o "$out" -- "$work/deep"
[ "$(counter end.snapshot_truncated)" -gt 5 ]
claim "with --snapshot-size 4K it is cut, and that is counted" $?

echo 'void _start(void) { for (;;) ; }' >"$work/narrow.c"
if ${CC:-cc} -m32 -O1 -ffreestanding -fno-pic -no-pie -nostdlib -static -o "$work/narrow" "$work/narrow.c" 2>/dev/null &&
	timeout 0.1 "$work/narrow"; [ $? = 124 ]; then
	# It ends after a second of CPU time, however long that takes here: some 200 ticks.
	run record -F 199 -d 120 -o "$out" -- sh -c "ulimit -S -t 1; exec '$work/narrow'"
	[ $status = $((128 + $(kill -l XCPU))) ] && [ "$(counter ticks.unsupported)" -gt 100 ] &&
		{ ! says err "0 samples:" || says err "a 32-bit program"; }
	claim "the ticks of a 32-bit task are counted as unsupported" $?
else
	skip "the ticks of a 32-bit task are counted as unsupported" "no 32-bit programs here"
fi
finish
