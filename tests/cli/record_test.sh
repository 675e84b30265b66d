#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft record against live processes: targets, ends, exit statuses, what it says. Needs root and BPF.
. "$(dirname "$0")/tap.sh"
needs_profiling
out=$work/out.pb.gz
pids=
trap 'kill $pids 2>/dev/null; rm -rf "$work"' EXIT

name=busybee-$$	# nobody else's
cat >"$work/busy.c" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void burn_cpu(void) { for (volatile long i = 0; i < 2000000; i++) ; }
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	struct timespec start, now;
	if (argc > 3)
		signal(SIGTERM, SIG_IGN);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		burn_cpu();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
	return argc > 2 ? atoi(argv[2]) : 0;
}
C
${CC:-cc} -O1 -g -o "$work/$name" "$work/busy.c" || exit 1

# samples of the profile that was just written
samples() {
	"$weft" report "$1" | sed -nE 's/.* · ([0-9]+) samples.*/\1/p'
}

# Records a process that is killed when it has been recorded for a while.
ends_while_recorded() {
	record_behind -p "$1" -d 60 -o "$out"
	sleep 1
	kill "$1"
	wait $recorder
	status=$?
}

run record -d 1 -o "$out" -- "$work/$name" 5
[ $status = 0 ] && [ "$(samples "$out")" -ge 5 ] && "$weft" report -n 1 "$out" | grep -q burn_cpu
claim "a command is sampled until --duration, under its names" $?
! pgrep -x $name >/dev/null
claim "and ended then" $?
says err "Cum%  Name" && ! says out "Cum%  Name"
claim "the table of -- CMD goes to stderr: stdout is CMD's" $?
if command -v go >/dev/null; then
	rows='t { print $1, $4, $6 } /[Ff]lat%/ { t = 1 }'
	"$weft" report --sample-type samples "$out" | awk "$rows" | grep -v unknown | sort >"$work/ours"
	go tool pprof -symbolize=none -sample_index=samples -unit=count -top -nodecount=100000 -nodefraction=0 \
		-edgefraction=0 "$out" 2>/dev/null | awk "$rows" | grep -v unknown | sort >"$work/theirs"
	[ -s "$work/ours" ] && diff "$work/ours" "$work/theirs" >"$work/out"
	claim "go tool pprof agrees with weft report" $?
else
	skip "go tool pprof agrees with weft report" "no go here"
fi

for expected in 0 3; do
	run record -o "$out" -- "$work/$name" 0.2 $expected
	[ $status = $expected ]
	claim "CMD's exit status $expected is weft's" $?
done
run record -o "$out" -- sh -c 'kill -9 $$'
[ $status = 137 ]
claim "CMD that died of signal 9 is 137" $?
rm -f "$out"
run record -o "$out" -- "$work/no-such-program"
[ $status = 127 ] && says err "cannot run" && [ ! -e "$out" ]
claim "CMD that is not there is 127, and nothing is written" $?
run record -o "$out" -- /etc/passwd
[ $status = 126 ]
claim "CMD that cannot be run is 126" $?

"$work/$name" 600 & bee=$!
pids="$pids $bee"
await_exec $bee $name
run record -p $bee -d 0.5 -o "$out"
[ $status = 0 ] && says out burn_cpu && says err "wrote $out"
claim "a running process is sampled; the table goes to stdout" $?
[ "$(awk '/TracerPid/ { print $2 }' /proc/$bee/status)" = 0 ] && kill -0 $bee
claim "it lives on, untraced" $?
run record -p $name -d 0.5 -o "$work/%c-%p.pb.gz"
[ $status = 0 ] && [ -s "$work/$name-$bee.pb.gz" ]
claim "a name finds it, and patterns name the file" $?
"$work/$name" 60 & other=$!
pids="$pids $other"
await_exec $other $name
run record -p $name -d 0.5 -o "$out"
[ $status = 4 ] && says err "2 processes are named $name" && says err " $bee " && says err " $other "
claim "a name of two processes lists both" $?
run record --comm $name -d 0.5 -o "$out"
[ $status = 0 ] && [ "$("$weft" report --label pid=$bee "$out" | grep -c burn_cpu)" = 1 ] &&
	[ "$("$weft" report --label pid=$other "$out" | grep -c burn_cpu)" = 1 ]
claim "--comm samples both" $?
mkdir "$work/cgroup"
if mount -t cgroup2 none "$work/cgroup" 2>/dev/null && mkdir "$work/cgroup/weft-test"; then
	echo $bee >"$work/cgroup/weft-test/cgroup.procs"
	run record --cgroup "$work/cgroup/weft-test" -d 0.5 -o "$out"
	[ $status = 0 ] && says out burn_cpu && [ -z "$("$weft" report --label pid=$other "$out" | grep burn_cpu)" ]
	claim "--cgroup samples one of them" $?
	echo $bee >"$work/cgroup/cgroup.procs"
	rm -f "$work/err"
	(
		await_recording
		mkdir "$work/cgroup/weft-test/below"
		echo $bee >"$work/cgroup/weft-test/below/cgroup.procs"
	) &
	later=$!
	run record --cgroup "$work/cgroup/weft-test" -d 2 -o "$out"
	wait $later
	[ $status = 0 ] && says out burn_cpu
	claim "--cgroup samples who joins a group below that is made later" $?
	echo $bee >"$work/cgroup/cgroup.procs"
	rmdir "$work/cgroup/weft-test/below" "$work/cgroup/weft-test"
else
	skip "--cgroup samples one of them" "no cgroup2 can be mounted"
fi
v1=/sys/fs/cgroup/pids
if [ "$(stat -fc %T $v1 2>/dev/null)" = cgroupfs ] && mkdir $v1/weft-test 2>/dev/null; then
	before=$(awk -F: '$2 == "pids" { print $3 }' /proc/$bee/cgroup)
	rm -f "$work/err"
	(
		await_recording
		mkdir $v1/weft-test/below
		echo $bee >$v1/weft-test/below/cgroup.procs
	) &
	later=$!
	run record --cgroup $v1/weft-test -d 3 -o "$out"
	wait $later
	[ $status = 0 ] && says out burn_cpu
	claim "--cgroup of version 1 samples who joins later" $?
	echo $bee >"$v1$before/cgroup.procs"
	rmdir $v1/weft-test/below $v1/weft-test
else
	skip "--cgroup of version 1 samples who joins later" "no such hierarchy"
fi
mountpoint -q "$work/cgroup" && umount "$work/cgroup"
kill $other
run record --tid $bee -d 0.5 -o "$out"
[ $status = 0 ] && says out burn_cpu
claim "--tid samples a thread" $?
run record -a -d 0.5 -o "$out"
[ $status = 0 ] && run report --focus burn_cpu "$out" && says out burn_cpu
claim "-a samples it too" $?
run record -p $bee -d 0.5 --kernel-only -o "$out"
[ $status = 0 ] && ! grep -q burn_cpu "$work/out" && { [ -s "$work/out" ] || says err "outside of the kernel"; }
claim "--kernel-only leaves its functions out" $?
run record -a -F 1 -o "$out" -- true
[ $status = 0 ] && ! says err "no target" && { says err "try a higher --freq" || ! says err "0 samples"; }
claim "-a with a command too short for a tick: what to do instead" $?
run record -p $bee -d 0.5 -q -o "$out"
[ $status = 0 ] && [ ! -s "$work/out" ] && [ ! -s "$work/err" ]
claim "-q says nothing" $?
"$weft" record -p $bee -d 0.5 -o - 2>"$work/err" | "$weft" report - >"$work/out"
says out burn_cpu && says err "wrote to stdout" && says err "Cum%  Name"
claim "-o - writes the profile to stdout and the table to stderr" $?
"$weft" record -o - -F 997 -- sh -c "echo said; $work/$name 0.5" 2>"$work/err" >"$out"
[ $? = 0 ] && says err said && [ "$(samples "$out")" -ge 5 ] && ! gzip -dc "$out" | grep -aq '^said$'
claim "with -o - CMD's stdout goes to stderr, and the profile is whole" $?
run record -p $bee -d 0.5 --stats -o "$out"
[ $status = 0 ] && says err "program cpu_tick: " && says err "ns a sample" && says err "s per million samples" && says err "peak memory" &&
	says err "written: $(stat -c %s "$out") bytes" && says err "the first sample came after"
claim "--stats says what weft cost" $?
run record -p $bee -d 0.5 --min-complete 100 --max-loss 0 -o "$out"
[ $status = 0 ] || { [ $status = 5 ] && says err "% of the"; }
claim "--min-complete and --max-loss judge the result" $?

for signal in INT TERM HUP; do
	rm -f "$out"
	record_behind -p $bee -o "$out"
	sleep 1
	kill -$signal $recorder
	wait $recorder
	[ $? = 0 ] && [ -s "$out" ] && says out burn_cpu
	claim "SIG$signal stops, writes and exits with 0" $?
done
rm -f "$out"
trap '' HUP
record_behind -p $bee -d 2 -o "$out"
trap - HUP
sleep 0.5
kill -HUP $recorder
wait $recorder
[ $? = 0 ] && grep -qE 'samples in 2\.[0-9] s' "$work/err"
claim "under nohup a hang-up does not end it" $?
(trap '' HUP; exec "$weft" record -o "$out" -- sh -c 'kill -HUP $$; exit 7') >"$work/out" 2>"$work/err"
[ $? = 7 ]
claim "and CMD inherits that" $?
# Two at once may arrive as one.
for try in 1 2 3 4 5 6 7 8 9; do
	record_behind -p $bee -o "$out"
	sleep 1
	kill -INT $recorder
	sleep 0.00$try
	kill -INT $recorder 2>/dev/null
	wait $recorder
	status=$?
	says err "without a name yet" && break
done
[ $status = 0 ] && says err "without a name yet" && [ -s "$out" ]
claim "the second ^C ends the search for names" $?
"$weft" symbolize "$out" -o "$work/named.pb.gz" 2>"$work/err" && "$weft" report "$work/named.pb.gz" >"$work/out"
says out burn_cpu
claim "which weft symbolize goes on with" $?
record_behind -o "$out" -- sleep 50.$$
kill -TERM $recorder
wait $recorder
[ $? = 0 ] && ! pgrep -P $recorder sleep >/dev/null && ! pgrep -f "^sleep 50.$$\$" >/dev/null
claim "SIGTERM to weft ends the command that it started" $?

sleep 60 & sleeper=$!
pids="$pids $sleeper"
await_exec $sleeper sleep
run record -p $sleeper -d 0.5 -o "$out"
[ $status = 0 ] && grep -qE "0 samples: pid $sleeper \(sleep\) used 0\.00 s CPU in [0-9.]+ s \(it was asleep\)" "$work/err"
claim "a target that slept is said to have slept" $?
while :; do :; done & spinner=$!
pids="$pids $spinner"
for _ in $(seq 20); do # about every other one sees it
	run record -p $spinner -F 1 -d .3 -o "$out"
	says err "0 samples" && break
done
kill $spinner
[ $status = 0 ] && says err "(too little for a sample at 1 Hz; try a higher --freq)"
claim "a target that was busy for less than a sample's time is not" $?
ends_while_recorded $sleeper
[ $status = 4 ] && says err "it is gone"
claim "a target that goes before its first sample is exit 4" $?
ends_while_recorded $bee
[ $status = 0 ] && [ "$(samples "$out")" -ge 3 ]
claim "a recording ends with its target" $?
run record --comm no-such-name -d 0.3 -o "$out"
[ $status = 4 ] && says err "no process has that name now"
claim "a command name that nobody has is exit 4" $?

echo old >"$work/kept.pb.gz"
run record -a -d 0.3 -o "$work/no/such/dir.pb.gz"
[ $status = 1 ] && says err "cannot write" && ! says err recording
claim "an output that cannot be written is found out before recording" $?
mkdir "$work/small" && mount -t tmpfs -o size=4k tmpfs "$work/small" 2>/dev/null
if mountpoint -q "$work/small"; then
	cp "$work/kept.pb.gz" "$work/small/full.pb.gz"
	run record -a -d 0.5 -o "$work/small/full.pb.gz"
	[ $status = 1 ] && [ "$(cat "$work/small/full.pb.gz")" = old ] && [ "$(ls -A "$work/small")" = full.pb.gz ]
	claim "a full disk leaves the older file as it was" $?
	umount "$work/small"
else
	skip "a full disk leaves the older file as it was" "no tmpfs can be mounted"
fi
if command -v setpriv >/dev/null; then
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$weft" record -a -d 0.3 -o /dev/null \
		--format pprof >"$work/out" 2>"$work/err"
	[ $? = 3 ] && says err CAP_ && [ "$(wc -l <"$work/err")" -le 3 ]
	claim "without privilege: exit 3, and which capability is missing" $?
else
	skip "without privilege" "no setpriv here"
fi
if command -v python3 >/dev/null; then
	# ^C typed on a terminal reaches both weft and its command.
	python3 - "$weft" "$out" >"$work/out" 2>"$work/err" <<'PYTHON'
import os, pty, sys, time
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], ["weft", "record", "-o", sys.argv[2], "--", "sleep", "30"])
text = b""
is_typed = False
try:
    while chunk := os.read(fd, 4096):
        text += chunk
        if b"recording" in text and not is_typed:
            is_typed = os.write(fd, b"\x03")
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), b"wrote" in text)
PYTHON
	[ "$(cat "$work/out")" = "130 True" ]
	claim "^C on a terminal ends command and recording: written, and 130 as in a shell" $?
else
	skip "^C on a terminal" "no python3 here"
fi
cat >"$work/stacks.c" <<'C'
/* Two functions call each other by the bits of a counter: every stack is another one. */
#include <stdlib.h>
#include <time.h>
#define WALK(name) __attribute__((noinline)) long name(unsigned long bits, int depth) \
{ \
	long n = 0; \
	if (!depth) \
		for (volatile int i = 0; i < 3000; i++) ; \
	else \
		n = bits & 1 ? go_left(bits >> 1, depth - 1) : go_right(bits >> 1, depth - 1); \
	__asm__ volatile("" : "+r"(n)); \
	return n + __COUNTER__; \
}
long go_left(unsigned long bits, int depth), go_right(unsigned long bits, int depth);
WALK(go_left)
WALK(go_right)
int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atoi(argv[1]) : 1) * CLOCKS_PER_SEC;
	for (unsigned long i = 1; clock() < end; i += 0x9e3779b97f4a7c15)
		go_left(i, 60);
	return 0;
}
C
${CC:-cc} -O1 -g -o "$work/stacks" "$work/stacks.c" || exit 1
least=$("$weft" doctor | sed -nE 's/^ok +memory budget .* ([0-9]+) MiB at least.*/\1/p')
run record --memory $((least - 1))M -d 0.3 -o "$out" -- "$work/stacks" 1
[ $status = 2 ] && says err "at least $least"M
claim "a memory budget in which weft does not run is refused, and the least is said" $?
run record --memory ${least}M -F 9999 -o "$out" --stats -- "$work/stacks" 3
sampled=$(gzip -dc "$out" | grep -ao 'ticks.sampled [0-9]*,' | tr -dc 0-9)
over=$("$weft" report --sample-type samples "$out" | awk '/over memory budget/ { print $1; exit }')
echo "# $over of $sampled samples over the budget; $(grep -o 'peak memory: [0-9.]* MiB' "$work/err")"
[ $status = 0 ] && [ "${over:-0}" -gt 100 ] && says err "[over memory budget]" && [ "$(samples "$out")" = "$sampled" ]
claim "past the memory budget new stacks become one, and no sample is lost" $?
for format in folded json speedscope.json; do
	run record --memory ${least}M -F 9999 -o "$work/large.$format" --stats -- "$work/stacks" 2
	peak=$(sed -nE 's/.*peak memory: ([0-9]+).*/\1/p' "$work/err")
	[ $status = 0 ] && [ "${peak:-999}" -le "$least" ] || break
	rm "$work/large.$format"
done
[ "$format" = speedscope.json ] && [ ! -e "$work/large.$format" ]
claim "writing a large profile stays in the memory budget, too" $?
java=$(for java in "$(command -v java)" /usr/lib/jvm/*/bin/java; do [ -x "$java" ] && echo "$java" && break; done)
if [ -n "$java" ]; then
	run record -F 999 -o "$out" -- "$java" -version
	[ $status = 0 ] && says err "of JVMs the stacks lack Java frames"
	claim "that Java frames are missing is said where the stacks count as complete" $?
else
	skip "that Java frames are missing is said" "no java here"
fi
if command -v script >/dev/null; then
	script -qec "$weft record -d 2.5 -o $out -- $work/$name 9" /dev/null </dev/null >"$work/out" 2>"$work/err"
	grep -qE 'rec [1-9][0-9]*s · [0-9]+ samples · [0-9]+ lost' "$work/out"
	claim "a terminal gets a status line" $?
else
	skip "a terminal gets a status line" "no script(1) here"
fi
finish
