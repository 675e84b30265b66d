#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft jfr --watch over the repository of a JVM that runs, rotates, dumps, ends and takes its directory with it:
# what was followed are the events of the finished file, and soon.
. "$(dirname "$0")/../cli/tap.sh"
. tests/jfr/jdks.sh
needs_tool python3
python=$PWD/tests/live/jfr_watch_compare.py
sources=$PWD/tests/jfr/load
cd "$work" || exit 1
EVENTS=cpu,alloc,lock,park,sleep,gc,exception,compile
SECONDS_OF_LOAD=7

# begin JDK: in a directory of its own, with the load program and a weft that watches
begin() {
	mkdir -p "$version/repository" "$version/classes" && cd "$version" || return
	"$1/bin/javac" -nowarn -encoding UTF-8 -d classes "$sources"/*.java >"$work/out" 2>"$work/err" || return
	"$weft" jfr repository --watch -o events --ledger ledger --events $EVENTS --metrics 200ms 2>watch.err & weft_pid=$!
}

# load JDK OPTIONS...: the program to its end
load() {
	local jdk=$1
	shift
	"$jdk/bin/java" -Xmx64m -XX:FlightRecorderOptions=repository=repository "$@" -cp classes Load $SECONDS_OF_LOAD all >java.out 2>&1
}

# finish_watch: once nothing is held any more
finish_watch() {
	local try
	for try in $(seq 100); do
		[ -z "$(ls repository)" ] && tail -n 1 watch.err | grep -q "growing=0 open=0 " && break
		sleep 0.2
	done
	kill -TERM $weft_pid
	wait $weft_pid
	claim "JDK $version: it ends well" $?
	[ -z "$(ls repository)" ] && tail -n 1 watch.err >"$work/err" && says err "growing=0 open=0 "
	claim "JDK $version: of the repository, which is gone, nothing is held" $?
}

# compare_with FILE: what was followed with the finished file
compare_with() {
	"$weft" jfr "$1" --events $EVENTS,span -o whole.json >"$work/out" 2>"$work/err"
	claim "JDK $version: the finished file is whole" $?
	python3 "$python" same events whole.json >"$work/out" 2>"$work/err"
	claim "JDK $version: what was followed is what the finished file has" $?
	grep '^#' "$work/out"
}

follow() {
	# Two recordings: the second one ends in the middle, which begins another chunk.
	load "$1" -XX:StartFlightRecording=settings=profile,dumponexit=true,filename=whole.jfr \
		-XX:StartFlightRecording=settings=profile,duration=3s,filename=part.jfr
	finish_watch
	compare_with whole.jfr
	python3 "$python" lag events whole.jfr >"$work/out" 2>"$work/err"
	claim "JDK $version: its events are there within 2 s of their time, or half a second of their flush" $?
	sed 's/^/# /' "$work/out"
	have_spans
}

have_spans() {
	python3 "$python" spans events whole.json whole.jfr >"$work/out" 2>"$work/err"
	claim "JDK $version: and have the spans they were in" $?
	sed 's/^/# /' "$work/out"
}

# Chunks that end while a scope is open, at several distances from the last flush.
rotate() {
	rm -rf events ledger repository whole.*
	mkdir repository
	"$weft" jfr repository --watch -o events --ledger ledger --events $EVENTS --metrics 200ms 2>watch.err & weft_pid=$!
	"$1/bin/java" -Xmx64m -XX:FlightRecorderOptions=repository=repository \
		-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=whole.jfr -cp classes Rotate 3 >java.out 2>&1
	finish_watch
	compare_with whole.jfr
	have_spans
	grep -qE ', [1-9][0-9]* of them in scopes over the end of a chunk' "$work/out"
	claim "JDK $version: some of these scopes were over the end of a chunk" $?
}

# Before JDK 14 nothing of a chunk can be read before it ends.
await() {
	load "$1" -XX:StartFlightRecording=settings=profile,dumponexit=true,filename=whole.jfr \
		-XX:StartFlightRecording=settings=profile,duration=3s,filename=part.jfr
	finish_watch
	cp watch.err "$work/err"
	says err "its JVM is older than 14" && ! tail -n 1 watch.err | grep -qE 'lost_[a-z]*_bytes=[1-9]'
	claim "JDK $version: it says what it waits for, and loses nothing" $?
	compare_with whole.jfr
}

n=0
for version in 17 25 11; do
	jdk=$(jdk_of $version)
	[ -n "$jdk" ] && begin "$jdk" || continue
	if [ $version = 11 ]; then await "$jdk"; else follow "$jdk"; rotate "$jdk"; fi
	cd "$work" || exit 1
	n=$((n + 1))
done
[ $n != 0 ] || {
	echo "1..0 # SKIP no JDK 17 or 25 here"
	exit 77
}
finish
