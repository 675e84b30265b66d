#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What weft must do on any kernel; runs inside it: all scenes, or those that scenes=A,B on the kernel's
# command line names. A line "ok - CLAIM" or "not ok - CLAIM" each; what
# it saw is in lines that begin with "#".
cd /tmp || exit 1
failed=0

# claim TEXT STATUS
claim() {
	if [ "$2" = 0 ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		sed 's/^/# /' out err 2>/dev/null | tail -n 40
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

doctor() {
	weft doctor >out 2>err
	status=$?
	sed 's/^/# /' out
	[ $status != 3 ] && grep -q 'BPF features' out
	claim "doctor says that weft can" $?
}

native() {
	record -F 397 -v -o x.folded -- /test/stacks calls 2
	is_good 600 999 && exact x.folded ';main;' "$native" 995
	claim "records native stacks, unwind data or not: $says" $?
	record -F 397 -o x.folded -- /test/stacks reads 1
	is_good 300 999 && exact x.folded ';main;' "$native" 995 &&
		[ "$(grep -cE 'reads.*;[a-z_]+_[[]k[]] [0-9]+$' x.folded)" -ge 3 ]
	claim "records kernel frames with their names: $says" $?
}

targets() {
	/test/stacks calls 1000 & busy=$!
	dd if=/dev/zero of=/dev/null bs=64k 2>/dev/null & reader=$!
	record -a -v -F 397 -d 2 -o x.folded
	is_good 500 980 && exact x.folded ';main;work' "$native" 995 && grep -q ';read_zero_[[]k[]]' x.folded
	claim "records the whole machine: $says" $?
	record -p $busy -F 397 -d 1 -o x.folded
	is_good 100 999 && exact x.folded ';main;' "$native" 995 && ! grep -q read_zero x.folded
	claim "records a process that runs already: $says" $?
	record --comm stacks -F 397 -d 1 -o x.folded
	is_good 100 999 && exact x.folded ';main;' "$native" 995 && ! grep -q read_zero x.folded
	claim "records by command name: $says" $?
	cgroups $busy
	kill $busy $reader
	wait $busy $reader 2>/dev/null
}

# cgroups BUSY: a group, one below it and one that is made there later
cgroups() {
	group=/sys/fs/cgroup/test
	mkdir $group $group/below
	echo "$1" >$group/below/cgroup.procs
	rm -f err
	weft record --cgroup $group -F 397 -d 4 -o x.json >out 2>err & recorder=$!
	until_recording
	mkdir $group/later
	sh -c "echo \$\$ >$group/later/cgroup.procs; exec /test/stacks fork 0.5 2"
	wait $recorder
	status=$?
	figures
	pids=$(grep -o '"pid":[0-9]*' x.json | sort -u | wc -l)
	is_good 300 995 && ! grep -q read_zero x.json && [ "$pids" -ge 3 ]
	claim "records a cgroup and those made below it: $says" $?
}

children() {
	record -v -F 397 -o x.json -- /test/stacks fork 0.1 15
	pids=$(grep -o '"pid":[0-9]*' x.json | sort -u | wc -l)
	is_good 500 995 && [ "$pids" -ge 15 ]
	claim "follows forked children, $pids processes: $says" $?
	record -F 397 -o x.folded -- /test/stacks exec 0.05 40
	is_good 300 995 && exact x.folded ';main;' "$native" 995
	claim "40 programs of 50 ms have their names from the first sample: $says" $?
}

# Every kind of event that weft has loads.
events() {
	weft record -e nonsense -a 2>err
	/test/stacks calls 1000 & busy=$!
	for event in $(sed -nE 's/,//g; s/.*there is: //p' err); do
		weft record -v -e "$event" -p $busy -d 0.5 -o x.folded >out 2>err
		[ $? != 3 ]
		claim "has -e $event" $?
	done
	kill $busy
	wait $busy 2>/dev/null
}

# Without root, by what its file may do; kernels before 5.11 limit the memory of maps as locked memory.
capabilities() {
	cp /bin/weft /tmp/weft
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore,cap_syslog=ep /tmp/weft
	mkdir -m 777 theirs
	ulimit -l unlimited
	# Debian's 5.10 means root by its 3.
	[ ! -e /proc/sys/kernel/perf_event_paranoid ] || echo 2 >/proc/sys/kernel/perf_event_paranoid
	su nobody -s /bin/sh -c '/tmp/weft record -F 397 -o theirs/x.folded -- /test/stacks calls 0.5' >out 2>err
	status=$?
	figures
	is_good 100 995 && exact theirs/x.folded ';main;' "$native" 990
	claim "records without root, by six capabilities: $says" $?
}

# snakes MINOR COMMAND
snakes() {
	record -F 397 -o x.folded -- "$2" /test/frames.py 2
	is_good 500 990 && exact x.folded 'Walker.walk' "$snake" 990
	claim "records CPython 3.$1: $says" $?
	[ "$(awk '/;spin_one |;key;spin_two |;hashed;/ { n += $NF } END { print n + 0 }' x.folded)" -ge 200 ]
	claim "records CPython 3.$1: to the leaf, through C and back" $?
	record -e gil -F 397 -o x.json -- "$2" /test/gil_program.py contend 2
	# Of four threads that compute three wait for the GIL, or are about to and wait for the CPU: ms in all.
	waited=$(sed -nE '/"spin_[a-d]"/s/.*"durationNs":([0-9]+).*/\1/p' x.json | awk '{ n += $1 } END { printf "%d", n / 1000000 }')
	[ "$status" = 0 ] && [ "$waited" -ge 4000 ] && [ "$waited" -le 6600 ]
	claim "measures waits for the GIL of CPython 3.$1: $says, $waited ms" $?
	: >ready
	"$2" /test/frames.py tasks >ready & program=$!
	for try in $(seq 200); do [ -s ready ] && break; sleep 0.1; done
	weft dump $program >out 2>err && grep -q 'waiting, gather' out && grep -q 'waiting, sleep' out
	claim "dump shows the tasks of CPython 3.$1" $?
	kill $program
	wait $program 2>/dev/null
}

python() {
	while read -r minor command; do
		snakes "$minor" "$command"
	done </test/pythons
}

# gone_by HOW: programs that are gone before weft, which is stopped meanwhile, hears of them
gone_by() {
	mkfifo go said
	DIR=/tmp WAIT=1 /test/gone0 "$1" 4 /test/gone0 /test/gone1 /test/gone2 /test/gone3 <go >said & launcher=$!
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
	all=$(grep -E '"comm":"ida[0-9]"' x.json | grep -cE '"module":"(memfd:)?copy')
	right=0
	for i in 0 1 2 3; do
		right=$((right + $(grep "\"comm\":\"ida$i\"" x.json | grep -cE "\"buildId\":\"(a$i){20}\"")))
	done
	[ "$all" -ge 48 ] && [ $((right * 100)) -ge $((all * 99)) ]
	claim "programs that are gone ($1) have their build ids: $right of $all samples" $?
	rm -f go said
}

gone() {
	gone_by unlink
	gone_by memfd
}

# A kernel without ORC walks its stacks itself.
kernel_stack() {
	/test/kernel_stack /test/kernel_stack.bpf.o 10 >out 2>err
	status=$?
	same=$(sed -n 's/^same //p' out)
	sed 's/^/# /' out
	[ $status = 77 ] || { [ "${same:-0}" -ge 100 ] && grep -q '^other 0 ' out; }
	claim "kernel stacks of our own walk are the kernel's: ${same:-none} compared" $?
}

scenes=$(sed -nE 's/.*scenes=([a-z_,]+).*/\1/p' /proc/cmdline | tr , ' ')
for scene in ${scenes:-doctor native kernel_stack targets children events capabilities python gone}; do
	$scene
done
exit $failed
