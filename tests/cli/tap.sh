# SPDX-License-Identifier: Apache-2.0
# For the tests of the command line: sourced, prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
weft=$PWD/${BUILD:-build}/weft
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_tests=0 n_failed=0

# claim TEXT STATUS: one test, passed when STATUS is 0
claim() {
	n_tests=$((n_tests + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n_tests - $1"
	else
		echo "not ok $n_tests - $1"
		n_failed=$((n_failed + 1))
		sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null | head -n 80
	fi
}

# checks N PROGRAM ARGS...: the N claims of a program, lines "ok TEXT" or "not ok TEXT" behind others that say why
checks() {
	local line n=0 n_wanted=$1
	"${@:2}" >"$work/checks" 2>"$work/err"
	: >"$work/out"
	while IFS= read -r line; do
		case $line in
		'ok '*) claim "${line#ok }" 0 ;;
		'not ok '*) claim "${line#not ok }" 1 ;;
		*) echo "$line" >>"$work/out"; continue ;;
		esac
		: >"$work/out"
		n=$((n + 1))
	done <"$work/checks"
	[ $n = "$n_wanted" ] || claim "$(basename "$2"): $n of $n_wanted claims were made" 1
}

skip() {
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

# For tests that sample: skips all of them where that is not possible.
needs_profiling() {
	"$weft" doctor >"$work/out" 2>&1
	[ $? = 3 ] || return
	grep '^NO' "$work/out"
	echo "1..0 # SKIP weft cannot profile here"
	exit 77
}

needs_tool() {
	command -v "$1" >/dev/null && return
	echo "1..0 # SKIP no $1 here"
	exit 77
}

# run ARGS...: weft with its output in $work/out and $work/err, its status in $status
run() {
	"$weft" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# record_behind ARGS...: weft record as $recorder, once it samples (or has ended)
record_behind() {
	rm -f "$work/err"
	"$weft" record "$@" >"$work/out" 2>"$work/err" & recorder=$!
	until says err recording || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
}

# Waits for a weft record that was started by run, or is about to be; not for ever.
await_recording() {
	local try
	for try in $(seq 300); do
		says err recording && return
		sleep 0.05
	done
}

# await_exec PID NAME: until the process that the shell forked is the program NAME; not for ever
await_exec() {
	local try
	for try in $(seq 300); do
		[ "$(cat /proc/$1/comm 2>/dev/null)" = "${2:0:15}" ] && return
		sleep 0.05
	done
}

# says FILE TEXT: the text is a part of the file
says() {
	grep -qsF -- "$2" "$work/$1"
}

finish() {
	echo "1..$n_tests"
	[ $n_failed = 0 ]
	exit
}
