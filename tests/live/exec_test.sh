#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that exec has just started: no stack of theirs is walked with what was known of the program
# before, and none begins in a function that never ran. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
N_ROUNDS=${N_ROUNDS:-150}

# One for each way to be started; `innocent` stands right before the first instruction of the static one.
cat >"$work/burst.c" <<'C'
#include <time.h>
__attribute__((noinline)) void burst_leaf(void)
{
	struct timespec t;
	do {
		for (volatile int i = 0; i < 20000; i++) ;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_nsec < 8000000);
}
__attribute__((noinline)) void burst_run(void) { burst_leaf(); __asm__ volatile(""); }
int main(void) { burst_run(); return 0; }
C
cat >"$work/first.S" <<'S'
	.text
	.globl innocent
	.type innocent, @function
innocent:
	.cfi_startproc
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call innocent
	.cfi_endproc
	.size innocent, . - innocent
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	mov $60, %eax
	xor %edi, %edi
	syscall
	.cfi_endproc
	.size _start, . - _start
	.section .note.GNU-stack,"",@progbits
S
cat >"$work/spawn.c" <<'C'
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *args[] = { argv[2], 0 };
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid;
		if (posix_spawn(&pid, argv[2], 0, 0, args, environ) || waitpid(pid, 0, 0) != pid)
			return 1;
	}
	return 0;
}
C
${CC:-cc} -O1 -o "$work/burst" "$work/burst.c" && ${CC:-cc} -o "$work/spawn" "$work/spawn.c" || exit 1
${CC:-cc} -nostdlib -static -o "$work/first" "$work/first.S" || exit 1

cat >"$work/judge.py" <<'PYTHON'
import json, sys
seen = wrong = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    names = [f["function"] for f in event["stackFrames"]]	# leaf first
    if sys.argv[2] == "burst":
        # On the way from main to the leaf nobody is left out.
        bad = "burst_leaf" in names and names[names.index("burst_leaf") + 1:][:2] != ["burst_run", "main"]
        seen += event["sampleWeight"] * ("burst_leaf" in names)
    else:
        bad = "innocent" in names
        seen += event["sampleWeight"] * (event["comm"] == "first")
    if bad:
        wrong += event["sampleWeight"]
        print(line[:600])
print(f"{seen} samples, {wrong} of them wrong")
sys.exit(wrong > 0 or seen < int(sys.argv[3]))
PYTHON

# record NAME LEAST COMMAND...
judged() {
	name=$1 least=$2
	shift 2
	(cd "$work" && exec "$weft" record -F 1997 -o x.json -- "$@" >out 2>err) &&
		python3 "$work/judge.py" "$work/x.json" "$name" "$least" >"$work/out" 2>"$work/err"
}
judged burst $((N_ROUNDS * 4)) ./spawn "$N_ROUNDS" ./burst
claim "a program that was just started has whole stacks" $?
tail -n 1 "$work/out" | sed 's/^/# /'
judged burst $((N_ROUNDS * 4)) setarch -R ./spawn "$N_ROUNDS" ./burst
claim "so has one whose addresses are those of the program before" $?
tail -n 1 "$work/out" | sed 's/^/# /'
judged first $((N_ROUNDS / 10)) ./spawn $((N_ROUNDS * 10)) ./first
claim "what stands before the first instruction is not named" $?
tail -n 1 "$work/out" | sed 's/^/# /'
finish
