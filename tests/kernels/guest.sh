#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What weft must do on any kernel; runs inside it. A line "ok - CLAIM" or "not ok - CLAIM" each; what
# it saw is in lines that begin with "#".
cd /tmp || exit 1
failed=0

# claim TEXT STATUS
claim() {
	if [ "$2" = 0 ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		sed 's/^/# /' out err 2>/dev/null | head -n 40
		failed=1
	fi
}

# record ARGS...: its end line's figures in $samples, $complete (in tenths of a percent) and $lost
record() {
	weft record "$@" >out 2>err
	status=$?
	figures
}

figures() {
	line=$(grep ' samples in ' err)
	samples=$(echo "$line" | sed -nE 's/^weft: ([0-9]+) samples.*/\1/p')
	complete=$(echo "$line" | sed -nE 's/.* ([0-9]+)\.([0-9])% complete.*/\1\2/p')
	lost=$(echo "$line" | sed -nE 's/.* ([0-9]+) lost.*/\1/p')
	says="${samples:-no} samples, $((${complete:-0} / 10)).$((${complete:-0} % 10)) % complete"
}

# is_good SAMPLES COMPLETE: at least so many, and so many tenths of a percent
is_good() {
	[ "$status" = 0 ] && [ "${samples:-0}" -ge "$1" ] && [ "${complete:-0}" -ge "$2" ] && [ "$lost" = 0 ]
}

# Frames of the C library, which has few names, and of the kernel.
L=';[^;]*(libc|ld-linux|sort|read|mem|clock|vdso|[fF]ork|wait|exec)[^;]*'
K=';[^;]*_[[]k[]]'
native="calls|calls;outer(;one|;two|$L)?|calls;bare(;one)?|calls(;deep){1,101}|calls(;deep){101};two"
native="$native|sorts($L)*|sorts($L)+;compare(;one)?|reads($L)?|now(_.i.)?($L)*"
native=";main((;forks)?;work(;($native)|($L)*)|(;atof_.i.|;execs_.i.|;forks)?($L)*)"
walk='(;Walker[.]walk)'
snake="$walk{6};(spin_one|hashed)(;[^;]+)*|$walk{6};by_key(;[^;]+)*;key(;spin_two)?(;[^;]+)*"
snake=";<module>($snake|$walk{6};by_key(;[^;]+){0,5}|$walk{0,6}(;[^;]+){0,4})"

# exact FILE MARK LEGAL GOAL: the share of its samples with MARK in their stack whose stack is legal;
# both in parts of 1,000
exact() {
	parts=$(awk -v mark="$2" -v legal="$3($K)* [0-9]+\$" '
		index($0, mark) { all += $NF; if ($0 ~ legal) right += $NF; else print "# " $0 >"wrong" }
		END { printf "%d", all ? right * 1000 / all : 0 }' "$1")
	says="$says, $((parts / 10)).$((parts % 10)) % exact"
	[ "$parts" -ge "$4" ] && return
	head -n 20 wrong
	return 1
}

# until_recording: until the weft record behind says that it does
until_recording() {
	for try in $(seq 200); do
		grep -qs recording err && return
		sleep 0.1
	done
}

weft doctor >out 2>err
status=$?
sed 's/^/# /' out
[ $status != 3 ] && grep -q 'BPF features' out
claim "doctor says that weft can" $?

record -F 397 -v -o x.folded -- /test/stacks calls 2
is_good 600 999 && exact x.folded ';main;' "$native" 995
claim "records native stacks, unwind data or not: $says" $?

record -F 397 -o x.folded -- /test/stacks reads 1
is_good 300 999 && exact x.folded ';main;' "$native" 995 &&
	[ "$(grep -cE "reads.*;[a-z_]+_[[]k[]] [0-9]+$" x.folded)" -ge 3 ]
claim "records kernel frames with their names: $says" $?

/test/stacks calls 1000 & busy=$!
dd if=/dev/zero of=/dev/null bs=64k & reader=$!
record -a -F 397 -d 2 -o x.folded
is_good 500 995 && exact x.folded ';main;work' "$native" 995 && grep -q ';read_zero_[[]k[]]' x.folded
claim "records the whole machine: $says" $?
record -p $busy -F 397 -d 1 -o x.folded
is_good 100 999 && exact x.folded ';main;' "$native" 995 && ! grep -q '^dd' x.folded
claim "records a process that runs already: $says" $?
record --comm stacks -F 397 -d 1 -o x.folded
is_good 100 999 && exact x.folded ';main;' "$native" 995 && ! grep -q '^dd' x.folded
claim "records by command name: $says" $?

cgroup=/sys/fs/cgroup/test
mkdir $cgroup $cgroup/below
echo $busy >$cgroup/below/cgroup.procs
weft record --cgroup $cgroup -F 397 -d 4 -o x.json >out 2>err & recorder=$!
until_recording
mkdir $cgroup/later
sh -c "echo \$\$ >$cgroup/later/cgroup.procs; exec /test/stacks fork 0.5 2"
wait $recorder
status=$?
figures
is_good 300 999 && ! grep -q '"comm":"dd"' x.json && [ "$(grep -o '"pid":[0-9]*' x.json | sort -u | wc -l)" -ge 3 ]
claim "records a cgroup and those made below it: $says" $?
kill $busy $reader
wait $busy $reader 2>/dev/null

record -F 397 -o x.json -- /test/stacks fork 0.1 15
pids=$(grep -o '"pid":[0-9]*' x.json | sort -u | wc -l)
is_good 500 999 && [ "$pids" -ge 15 ]
claim "follows forked children, $pids processes: $says" $?

record -F 397 -o x.folded -- /test/stacks exec 0.05 40
is_good 300 995 && exact x.folded ';main;' "$native" 995
claim "40 programs of 50 ms have their names from the first sample: $says" $?

while read -r minor python; do
	record -F 397 -o x.folded -- "$python" /test/frames.py 2
	is_good 600 990 && exact x.folded ';Walker.walk' "$snake" 990
	claim "records CPython 3.$minor: $says" $?
	[ "$(awk '/;spin_one |;key;spin_two |;hashed;/ { n += $NF } END { print n + 0 }' x.folded)" -ge 200 ]
	claim "records CPython 3.$minor: to the leaf, through C and back" $?
	record -e gil -F 397 -o x.folded -- "$python" /test/gil_program.py contend 2
	# Of four threads that compute three wait: ms in all.
	waited=$(awk '/;spin_[a-d];/ { n += $NF } END { printf "%d", n / 1000000 }' x.folded)
	[ $status = 0 ] && [ "$waited" -ge 5400 ] && [ "$waited" -le 6600 ]
	claim "measures waits for the GIL of CPython 3.$minor: $says, $waited ms" $?
	"$python" /test/frames.py tasks >ready & program=$!
	for try in $(seq 200); do [ -s ready ] && break; sleep 0.1; done
	weft dump $program >out 2>err && grep -q 'waiting, gather' out && grep -q 'waiting, sleep, and 1 more like it' out
	claim "dump shows the tasks of CPython 3.$minor" $?
	kill $program
	wait $program 2>/dev/null
	: >ready
done </test/pythons

# Programs that are gone before weft, which is stopped meanwhile, hears of them.
for how in unlink memfd; do
	mkfifo go said
	DIR=/tmp WAIT=1 /test/gone0 $how 4 /test/gone0 /test/gone1 /test/gone2 /test/gone3 <go >said & launcher=$!
	exec 3>go 4<said
	rm -f err
	weft record -F 397 -p $launcher -o x.json >out 2>err & recorder=$!
	until_recording
	for round in 1 2 3 4; do
		read -r line <&4
		kill -STOP $recorder
		echo >&3
		read -r line <&4
		kill -CONT $recorder
		sleep 0.3
		echo >&3
	done
	wait $launcher
	exec 3>&- 4<&-
	wait $recorder
	status=$?
	figures
	all=$(grep -E '"comm":"ida[0-9]"' x.json | grep -cE '"module":"(memfd:)?copy')
	right=0
	for i in 0 1 2 3; do
		right=$((right + $(grep "\"comm\":\"ida$i\"" x.json | grep -cE "\"buildId\":\"(a$i){20}\"")))
	done
	[ "$all" -ge 64 ] && [ $((right * 100)) -ge $((all * 99)) ]
	claim "programs that are gone ($how) have their build ids: $right of $all samples" $?
	rm -f go said
done
exit $failed
