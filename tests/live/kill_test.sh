#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL of weft at random times: nothing stays in the kernel, no partial file appears, and targets
# do not notice. Only what the killed process itself held is looked for: other profilers may run.
. "$(dirname "$0")/../cli/tap.sh"
needs_profiling
N_KILLS=${N_KILLS:-12}
RANDOM=${SEED:-$$}
echo "# SEED=${SEED:-$$}"

cat >"$work/ids.c" <<'C'
/* ids prog|map|link ID...: those ids that are still there */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int cmd = !strcmp(argv[1], "prog") ? BPF_PROG_GET_FD_BY_ID :
		  !strcmp(argv[1], "map") ? BPF_MAP_GET_FD_BY_ID : BPF_LINK_GET_FD_BY_ID;
	for (int i = 2; i < argc; i++) {
		union bpf_attr attr;
		memset(&attr, 0, sizeof(attr));
		attr.prog_id = (unsigned int)atoi(argv[i]);
		if (syscall(SYS_bpf, cmd, &attr, sizeof(attr)) >= 0)
			puts(argv[i]);
	}
	return 0;
}
C
cat >"$work/stop_writing.c" <<'C'
/* stop_writing PID DIR: sends ^C, then stops it once a low descriptor is of a file in DIR, under whatever name */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char path[64], link[4096];
	int pid = atoi(argv[1]);
	time_t end = time(NULL) + 3;
	kill(pid, SIGINT);
	for (unsigned int fd = 3; argc == 3 && (fd != 3 || time(NULL) < end); fd = fd < 8 ? fd + 1 : 3) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, fd);
		ssize_t len = readlink(path, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = 0;
		if (!strncmp(link, argv[2], strlen(argv[2])))
			return kill(pid, SIGSTOP) != 0;
		if (fd == 8)
			usleep(50);	/* it may need this CPU */
	}
	return 1;
}
C
for program in ids stop_writing; do
	${CC:-cc} -o "$work/$program" "$work/$program.c" || exit 1
done
sh -c 'while :; do :; done' & target=$!
trap 'kill -9 $target $recorder 2>/dev/null; rm -rf "$work"' EXIT
recorder=
results=$work/results
mkdir "$results"

# held KIND PID: the ids of that kind which the process holds
held() {
	cat /proc/"$2"/fdinfo/* 2>/dev/null | sed -n "s/^$1_id:[ \t]*//p" | sort -u
}

# left KIND IDS: which of them are still in the kernel, once it had the time to free them
left() {
	local try
	for try in $(seq 100); do
		# shellcheck disable=SC2086
		[ -z "$("$work/ids" "$1" $2)" ] && return
		sleep 0.1
	done
	# shellcheck disable=SC2086
	"$work/ids" "$1" $2
}

# Is the profile whole, or not there?
is_whole() {
	[ ! -e "$output" ] && return
	case $output in
	*.html) tail -n 1 "$output" | grep -q '</html>' ;;
	*) "$weft" report "$output" >/dev/null 2>&1 ;;
	esac
}

n_writing=0 n_left=0 n_held=0 n_files=0 n_links=0 n_beside=0
for i in $(seq "$N_KILLS"); do
	# What takes longest to write where it is to be killed while it writes.
	output=$results/x.pb.gz
	[ $((i % 4)) != 1 ] || output=$results/x.html
	if [ $((i % 4)) = 0 ]; then	# while it starts
		"$weft" record -p $target -F 997 -o "$output" >"$work/out" 2>"$work/err" & recorder=$!
		sleep "0.0$((RANDOM % 10))"
	else
		record_behind -p $target -F 997 -o "$output"
		sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
	fi
	if [ $((i % 4)) = 1 ]; then	# while it writes
		nice -n -20 "$work/stop_writing" $recorder "$results" && n_writing=$((n_writing + 1))
	fi
	kill -STOP $recorder 2>/dev/null # so that what it holds is what it dies with
	progs=$(held prog $recorder) maps=$(held map $recorder) links=$(held link $recorder)
	kill -9 $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	n_held=$((n_held + $(echo $progs $maps | wc -w)))
	n_links=$((n_links + $(echo $links | wc -w)))
	stays="$(left prog "$progs")$(left map "$maps")$(left link "$links")"
	[ -z "$stays" ] || { n_left=$((n_left + 1)); echo "# left after kill $i: $stays"; }
	# A whole profile or none, and nothing beside it.
	beside=$(ls -A -I "${output##*/}" "$results")
	[ -z "$beside" ] || { n_beside=$((n_beside + 1)); echo "# beside the profile after kill $i: $beside"; }
	rm -f "$results"/.weft-*
	is_whole || n_files=$((n_files + 1))
	rm -f "$output"
done
echo "# $N_KILLS kills, $n_held programs and maps and $n_links links held by then, $n_writing of them while it wrote"
[ $n_held -gt $N_KILLS ] && [ $n_left = 0 ]
claim "SIGKILL at any time leaves no program, map or link in the kernel" $?
[ $n_files = 0 ]
claim "a profile is whole or not there" $?
[ $n_beside = 0 ]
claim "no temporary file stays" $?
kill -0 $target && [ "$(awk '/TracerPid/ { print $2 }' /proc/$target/status)" = 0 ] &&
	grep -q '^State:[[:space:]]*R' /proc/$target/status
claim "the target runs on" $?
run record -p $target -d 0.3 -o "$results/x.pb.gz"
[ $status = 0 ]
claim "weft starts again at once" $?
finish
