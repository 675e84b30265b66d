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

# follow JDK VERSION
follow() {
	local jdk=$1 version=$2 jvm weft_pid events=cpu,alloc,lock,park,sleep,gc,exception,compile
	mkdir -p "$version/repository" "$version/classes" && cd "$version" || return
	"$jdk/bin/javac" -nowarn -encoding UTF-8 -d classes "$sources"/*.java >"$work/out" 2>"$work/err" || return
	"$weft" jfr repository --watch -o events --ledger ledger --events $events --metrics 1s 2>watch.err & weft_pid=$!
	# Two recordings: the second one ends in the middle, which begins another chunk.
	"$jdk/bin/java" -Xmx64m -XX:FlightRecorderOptions=repository=repository \
		-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=whole.jfr \
		-XX:StartFlightRecording=settings=profile,duration=5s,filename=part.jfr \
		-cp classes Load 10 all >java.out 2>&1 & jvm=$!
	wait $jvm
	sleep 4
	kill -TERM $weft_pid
	wait $weft_pid
	claim "JDK $version: it ends well" $?
	"$weft" jfr whole.jfr --events $events -o whole.json >"$work/out" 2>"$work/err"
	claim "JDK $version: the finished file is whole" $?
	python3 "$python" same events whole.json >"$work/out" 2>"$work/err"
	claim "JDK $version: what was followed is what the finished file has" $?
	grep '^#' "$work/out"
	python3 "$python" lag events >lag
	cp lag "$work/out"
	python3 -c 'import sys; sys.exit(float(open("lag").read().split()[-1]) > 2)'
	claim "JDK $version: its events are there within 2 s of their time" $?
	sed 's/^/# /' lag
	[ -z "$(ls repository)" ] && tail -n 1 watch.err >"$work/err" && says err "growing=0 open=0 "
	claim "JDK $version: of the repository, which is gone, nothing is held" $?
	cd "$work" || exit 1
}

n=0
for version in 17 25; do
	jdk=$(jdk_of $version)
	[ -n "$jdk" ] || continue
	follow "$jdk" $version
	n=$((n + 1))
done
[ $n != 0 ] || {
	echo "1..0 # SKIP no JDK 17 or 25 here"
	exit 77
}
finish
