#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pids that are used again and again by different programs, many times a second: no sample goes by
# the name of another program. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
N_ROUNDS=${N_ROUNDS:-50}

# Four programs, each with a function of its own name at the same address, that run for 20 ms.
cat >"$work/burn.c" <<'C'
#include <time.h>
__attribute__((noinline)) static void work_of_NAME(void) { for (volatile int i = 0; i < 100000; i++) ; }
int main(void)
{
	struct timespec t;
	do {
		work_of_NAME();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_nsec < 20000000);
	return 0;
}
C
names="alpha beta gamma delta"
for name in $names; do
	sed "s/NAME/$name/" "$work/burn.c" >"$work/$name.c"
	${CC:-cc} -O1 -no-pie -o "$work/$name" "$work/$name.c" || exit 1
done
# Starts them one after the other, all with the same pid, which clone3() lets one choose.
cat >"$work/spawn.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), n_reused = 0;
	pid_t chosen = 31000 + getpid() % 1000;
	while (kill(chosen, 0) == 0 || errno != ESRCH)
		chosen++;
	for (int i = 0; i < rounds; i++) {
		for (int p = 2; p < argc; p++) {
			struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&chosen,
						   .set_tid_size = 1 };
			pid_t pid = syscall(SYS_clone3, &args, sizeof(args));
			if (!pid) {
				execl(argv[p], argv[p], (char *)0);
				_exit(1);
			}
			waitpid(pid, 0, 0);
			n_reused += pid == chosen;
		}
	}
	fprintf(stderr, "reused %d\n", n_reused);
	return 0;
}
C
${CC:-cc} -o "$work/spawn" "$work/spawn.c" || exit 1

# shellcheck disable=SC2086
(cd "$work" && exec "$weft" record -F 1997 -o "$work/x.json" -- ./spawn "$N_ROUNDS" $names >"$work/out" 2>"$work/err")
[ $? = 0 ] && says err "reused $((N_ROUNDS * 4))"
claim "one pid is used by $((N_ROUNDS * 4)) programs" $?
python3 - "$work/x.json" >"$work/out" 2>"$work/err" <<'PYTHON'
import json, sys
names = {"alpha", "beta", "gamma", "delta"}
seen = wrong = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    frames = event["stackFrames"]
    # The program as its code, its file and the kernel's label have it.
    functions = {f["function"][8:] for f in frames if f["function"].startswith("work_of_")}
    files = {f.get("module", "").rsplit("/", 1)[-1] for f in frames} & names
    told = functions | files | ({event["comm"], event["serviceName"]} & names)
    if not functions:
        continue
    seen += event["sampleWeight"]
    if len(told) != 1 or event["comm"] not in names:
        wrong += event["sampleWeight"]
        print(line[:600])
print(f"{seen} samples, {wrong} of them wrong")
sys.exit(wrong > 0 or seen < 1000)
PYTHON
claim "no sample goes by another program's name" $?
tail -n 1 "$work/out" | sed 's/^/# /'
finish
