#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that lie about themselves in every way known to us, beside an honest one: weft lives, stays
# small, ends, and is right about the honest one. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
needs_tool python3
SEED=${SEED:-$$}
echo "# SEED=$SEED"
CPU_S=20	# of weft for each batch; what hangs is killed by the kernel then
# Anonymous and BPF memory at the default budget of 48 MiB: the goal for a whole machine that
# is honest. What the hostile ones force is in it: a perf map its share of 6 MiB, unwind data its table
# of 12 MB, which is there twice while it is loaded.
MEMORY_MB=50

cat >"$work/file.c" <<'C'
static __attribute__((noinline)) long inner(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++) {
		s += i;
		__asm__ volatile("" : "+r"(s));
	}
	return s;
}
long work_in_file(void) { return inner(1000000) + 1; }
C
# An alias of it whose name is 1 MB long, which only the second library has.
long=$(head -c 1000000 /dev/zero | tr '\0' a)
printf '.globl %s\n.set %s, work_in_file\n' "$long" "$long" >"$work/alias.s"
cat >"$work/honest.c" <<'C'
__attribute__((noinline)) void honest_inner(void) { for (volatile int i = 0; i < 100000; i++) ; }
__attribute__((noinline)) void honest_outer(void) { for (;;) honest_inner(); }
int main(void) { honest_outer(); return 0; }
C
cc=${CC:-cc}
flags="-O1 -g -gdwarf-4 -fPIC -shared -nostdlib -Wl,--build-id"
mkdir "$work/lib"
# shellcheck disable=SC2086
$cc $flags -o "$work/file.so" "$work/file.c" &&
	$cc -S -O1 -g -gdwarf-4 -fPIC -o "$work/long.s" "$work/file.c" && cat "$work/alias.s" >>"$work/long.s" &&
	$cc $flags -o "$work/lib/long.so" "$work/long.s" &&
	$cc -O1 -g -o "$work/honest" "$work/honest.c" &&
	$cc -O1 -pthread -o "$work/hostile" tests/live/hostile.c &&
	python3 tests/live/hostile_elf.py "$work/file.so" "$work/lib" "$SEED" >"$work/list" || exit 1
echo "long $((0x$(nm "$work/lib/long.so" | awk '$3 == "work_in_file" { print $1 }')))" >>"$work/list"

pids= perf_maps=
trap 'kill -9 $pids 2>/dev/null; rm -rf "$work" $perf_maps' EXIT
start() {	# NAME ARGS...
	local name=$1
	shift
	"$@" >>"$work/said" 2>&1 &
	pids="$pids $!"
	perf_maps="$perf_maps /tmp/perf-$!.map"
	echo "$name $!" >>"$work/started"
}

# batch NAME...: samples them and the honest one together
batch() {
	: >"$work/started"
	: >"$work/said"
	start honest "$work/honest"
	for name in "$@"; do
		if offset=$(awk -v n="$name" '$1 == n { print $2; ok = 1 } END { exit !ok }' "$work/list"); then
			start "$name" "$work/hostile" "$name" "$work/lib/$name.so" "$offset"
		else
			start "$name" "$work/hostile" "$name"
		fi
	done
	for try in $(seq 200); do
		[ "$(grep -c begins "$work/said")" -ge $# ] && break
		sleep 0.1
	done
	# shellcheck disable=SC2046,SC2086
	(ulimit -t $CPU_S && exec "$weft" record $(printf -- '-p %s ' $pids) -F 499 -d 2 --stats -v -o "$work/x.json") \
		>"$work/out" 2>"$work/err" &
	weft_pid=$! anonymous=0
	while now=$(awk '/^RssAnon/ { print $2 }' /proc/$weft_pid/status 2>"$work/null") && [ -n "$now" ]; do
		anonymous=$((now > anonymous ? now : anonymous))
		sleep 0.05
	done
	wait $weft_pid
	status=$?
	# shellcheck disable=SC2086
	{ kill -9 $pids; wait $pids; } 2>/dev/null
	pids=
	[ $status = 0 ]
	claim "weft lives through $*" $?
	cp "$work/err" "$work/said_by_weft"
	grep -E 'user CPU|samples in' "$work/err" | sed 's/^/# /; s/ · wrote.*//'
	maps=$(sed -nE 's/.*BPF maps ([0-9.]+) MiB.*/\1/p' "$work/err")
	memory=$(awk -v kb=$anonymous -v mib="${maps:-999}" 'BEGIN { printf "%.1f", kb * 1024 / 1e6 + mib * 1048576 / 1e6 }')
	awk -v m="$memory" -v max=$MEMORY_MB 'BEGIN { exit !(m <= max) }'
	claim "  in no more than $MEMORY_MB MB ($memory)" $?
	! grep -q opened "$work/said"
	claim "  and opens no FIFO or device" $?
	python3 - "$work" >"$work/out" 2>"$work/err" <<'PYTHON'
import json, sys
work = sys.argv[1]
names = {int(pid): name for name, pid in (line.split() for line in open(work + "/started"))}
total, named, wrong, behind = {}, {}, 0, 0
for line in open(work + "/x.json", encoding="utf-8"):
    event = json.loads(line)
    weight, name = event["sampleWeight"], names[event["pid"]]
    functions = [f["function"] for f in event["stackFrames"]]
    total[name] = total.get(name, 0) + weight
    if name == "honest":
        at = [f for f in functions if f.startswith("honest_") or f == "main"]
        if "user space was behind" in functions[-1]:
            behind += weight	# said so: a table of many rows was made, or the others asked for too much
        elif "main" in functions and at not in (["honest_inner", "honest_outer", "main"], ["honest_outer", "main"], ["main"]):
            wrong += weight
            print("honest:", functions)
        elif functions[-1] not in ("_start", "_dl_start_user") and "[unknown]" not in functions:
            wrong += weight
            print("honest:", functions)
    elif "work_in_file" in functions or any(f.startswith("aaaaaaaa") for f in functions):
        named[name] = named.get(name, 0) + weight
unsampled = [n for n in names.values() if n not in total]
unnamed = [n for n in names.values() if n in ("good", "fifo", "device", "sections", "debuglink", "dwarf", "long", "names", "notes",
                                     "rela", "bomb", "functions")
           and named.get(n, 0) < 0.9 * total.get(n, 0)]
print("samples:", total, "in work_in_file:", named)
print("not sampled:", unsampled, "without names:", unnamed, "honest ones wrong:", wrong, "without a copy:", behind)
sys.exit(bool(unsampled or unnamed or wrong or behind > total.get("honest", 0) / 4))
PYTHON
	claim "  and has the right names for what is honest" $?
	tail -n 2 "$work/out" | sed 's/^/# /'
}

batch mappings cyclic wild_stack changing
batch perf_map threads good fifo device
grep -q 'jit.over_budget' "$work/said_by_weft" && grep -q 'names more generated code than its share' "$work/said_by_weft"
claim "  and says that the names of generated code went over their share" $?
! grep -q 'memory.over_budget' "$work/said_by_weft"
claim "  while no stack is given up" $?
batch sections overlap sparse rows
batch debuglink cut eh_frame symbols dwarf long
batch names notes rela bomb functions
grep -q 'symbols.refused' "$work/said_by_weft"
claim "  and says that symbols were refused" $?
! grep -q 'memory.over_budget' "$work/said_by_weft"
claim "  while no stack is given up" $?
batch noise0 noise1 noise2 noise3 noise4 noise5
finish
