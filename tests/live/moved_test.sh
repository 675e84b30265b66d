#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Code that is moved over other code by mremap(), for which the kernel has no record, many times a second:
# it does not go by the name of what was there before. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
N_ROUNDS=${N_ROUNDS:-50}
MAX_WRONG=1	# percent

# Two libraries, each with a function of its own name at the same address.
for name in alpha beta; do
	echo "void work_of_$name(void) { for (volatile int i = 0; i < 100000; i++) ; }" >"$work/$name.c"
	${CC:-cc} -O1 -fPIC -shared -nostdlib -o "$work/$name.so" "$work/$name.c" || exit 1
done
# Maps the first one's code somewhere and runs it for 20 ms, then moves the second one's over it and runs
# that. The thread's name is the truth.
cat >"$work/mover.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#define LEN 4096
static void run(void (*work)(void), const char *name)
{
	struct timespec from, t;
	prctl(PR_SET_NAME, name);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	do {
		work();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((t.tv_sec - from.tv_sec) * 1000000000LL + t.tv_nsec - from.tv_nsec < 20000000);
	prctl(PR_SET_NAME, "mover");
}
int main(int argc, char **argv)
{
	long offset = strtol(argv[4], 0, 0);
	int alpha = open(argv[1], O_RDONLY), beta = open(argv[2], O_RDONLY);
	long page = offset & ~4095L;
	for (int i = 0; i < atoi(argv[3]); i++) {
		char *at = mmap(0, LEN, PROT_READ | PROT_EXEC, MAP_PRIVATE, alpha, page);
		char *other = mmap(0, LEN, PROT_READ | PROT_EXEC, MAP_PRIVATE, beta, page);
		run((void (*)(void))(at + (offset - page)), "alpha");
		if (mremap(other, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
			return 1;
		run((void (*)(void))(at + (offset - page)), "beta");
		munmap(at, LEN);
	}
	return argc != 5;
}
C
${CC:-cc} -O1 -o "$work/mover" "$work/mover.c" || exit 1
offset=0x$(nm "$work/alpha.so" | awk '$3 == "work_of_alpha" { print $1 }')
[ "$offset" = "0x$(nm "$work/beta.so" | awk '$3 == "work_of_beta" { print $1 }')" ]
claim "both functions are at the same place in their files" $?

(cd "$work" && exec "$weft" record -F 1997 -o "$work/x.json" -- ./mover ./alpha.so ./beta.so "$N_ROUNDS" "$offset" \
	>"$work/out" 2>"$work/err")
claim "a program moves code over code $N_ROUNDS times" $?
python3 - "$work/x.json" "$MAX_WRONG" >"$work/out" 2>"$work/err" <<'PYTHON'
import json, sys
seen = wrong = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    functions = {f["function"][8:] for f in event["stackFrames"] if f["function"].startswith("work_of_")}
    if event["comm"] not in ("alpha", "beta") or not functions:
        continue
    seen += event["sampleWeight"]
    if functions != {event["comm"]}:
        wrong += event["sampleWeight"]
        print(line[:600])
share = 100 * wrong / max(seen, 1)
print(f"{seen} samples, {wrong} of them ({share:.2f} %) by the name of what was there before")
sys.exit(share > float(sys.argv[2]) or seen < 500)
PYTHON
claim "no more than $MAX_WRONG % of its samples go by the name of what was there before" $?
tail -n 1 "$work/out" | sed 's/^/# /'
finish
