#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# JFR recordings for tests and measures: each is made once, by our own load program (tests/jfr/load), and kept in
# ~/.cache/weft/jfr from run to run. Beside each is NAME.origin: which JVM, with which settings.
#
#	tests/jfr/recordings.sh NAME...		prints the path of each, one a line, and makes what is not there yet
#	tests/jfr/recordings.sh --list		names and what they are; a V is one of 8 11 17 21 25 26
#
# Exit 77 when one needs a JDK or an async-profiler that is not here: it is named on stderr and the others are
# printed all the same. So `small=$(tests/jfr/recordings.sh small17) || skip "..." "no JDK 17 here"`.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/jfr/jdks.sh
export LC_ALL=C.UTF-8 TZ=UTC

LIST='smallV	a file, profile settings, 4 s
defaultV	a file, default settings, 4 s
gcV	a file, profile settings, 4 s, most of it details of garbage collections
chunksV	a file of three chunks
liveV	a chunk that its JVM was still writing
killedV	a repository directory, its JVM killed: one finished chunk, one unfinished
crashV	a file that the JVM wrote while it died of a signal
everyV	a file with events that are off by default (17 and later)
cpuV	a file with CPUTimeSample and MethodTrace (25, 26)
pinnedV	a file with CPUTimeSample at a rate, of a JVM that is kept on one CPU (25, 26)
scrubV	a file rewritten by `jfr scrub`: metadata after the checkpoints (21, 25, 26)
bigV	a file of some 10 MB, profile settings, 70 s
largeV	40 times bigV, each copy with another start, so that no chunk is there twice
ap-cpu ap-wall ap-alloc ap-lock ap-nativemem	files of async-profiler, one kind each, 4 s, on JDK 17
ap-all	a file of async-profiler of four chunks with all kinds, 16 s
ap-big	the same, 60 s and more of malloc and free, for measures
ap-span	a file of async-profiler of a program that tells it of spans (tests/jfr/tagged)
ap-sync	a file of async-profiler with chunks of HotSpot between its own
fewV ap-few	files of a second with a few events of most kinds, small enough to keep in tests/jfr/kept (17, 25, 26)
jmc	a file that the writer library of JDK Mission Control made (tests/jfr/writer), the same each time
grafana	a file of the fork by Grafana of async-profiler, with the ids of spans, on JDK 17
datadog	a directory of files of the agent by Datadog, with spans, on JDK 17
ap-live ap-killed	files of async-profiler that were not finished'

checksum() { cat "$@" | cksum | cut -d' ' -f1; }
sources=$(checksum tests/jfr/load/*.java)
few_sources=$(checksum tests/jfr/few/* tests/jfr/writer/*)
span_sources=$(checksum tests/jfr/tagged/*)
caches=${XDG_CACHE_HOME:-$HOME/.cache}/weft/jfr
cache=$caches/$sources
peers=${XDG_CACHE_HOME:-$HOME/.cache}/weft/peers
profiler=$peers/async-profiler/libasyncProfiler.so
SECONDS_SMALL=4
SECONDS_BIG=70
N_COPIES=40
MISSING=77

say() { echo "recordings: $*" >&2; }

# What is to be made is made here first.
work=
jvm=
clean() {
	[ -z "$jvm" ] || kill -9 "$jvm" 2>/dev/null
	[ -z "$work" ] || rm -rf "$work"
}

# compile VERSION: its classes are in $cache/classes-VERSION
compile() {
	[ -d "$cache/classes-$1" ] && return
	mkdir "$work/classes"
	"$jdk/bin/javac" -nowarn -encoding UTF-8 -d "$work/classes" tests/jfr/load/*.java >"$work/log" 2>&1 || {
		say "JDK $1 cannot compile the load"
		cat "$work/log" >&2
		return 1
	}
	mv "$work/classes" "$cache/classes-$1"
}

# compile_with JARS SOURCES...: a program that needs them, in $work/classes
compile_with() {
	local jars=$1
	shift
	mkdir "$work/classes" && "$jdk/bin/javac" -nowarn -encoding UTF-8 -cp "$jars" -d "$work/classes" "$@" >"$work/log" 2>&1
}

# All that the JVM sees of an environment, which is in a recording whole: who it is, and what must not get out.
ENVIRONMENT=(LC_ALL=C.UTF-8 TZ=UTC PATH=/usr/bin:/bin HOME=/nowhere HOSTNAME=orders-7b5f8d4c9b-x2kpq POD_NAME=orders-7b5f8d4c9b-x2kpq
	OTEL_SERVICE_NAME=orders OTEL_RESOURCE_ATTRIBUTES=service.version=1.2.3,k8s.namespace.name=shop DB_PASSWORD=not-to-be-told)

RUNNER=()	# what starts the JVM

# load_behind SECONDS KIND OPTIONS...: starts the load program in a JVM with these options; $jvm is its process
load_behind() {
	local seconds=$1 kind=$2
	shift 2
	mkdir -p "$work/cwd"
	(cd "$work/cwd" && exec env -i "${ENVIRONMENT[@]}" "${RUNNER[@]}" "$jdk/bin/java" -Xmx64m -XX:+UseG1GC \
		-XX:FlightRecorderOptions=repository="$work/repository" -Dsecret.token=not-to-be-told "$@" -cp "$cache/classes-$version" Load "$seconds" "$kind") \
		>"$work/log" 2>&1 &
	jvm=$!
}

# The same to its end.
load() {
	load_behind "$@"
	wait "$jvm" 2>/dev/null
	jvm=
}

# Longer than what is to be seen of it.
endless() { load_behind 60 some "$@"; }

stop_jvm() {
	kill "-$1" "$jvm" 2>/dev/null
	wait "$jvm" 2>/dev/null
	jvm=
}

# Ends the chunk that is being written: the JVM begins another.
rotate() {
	"$jdk/bin/jcmd" "$jvm" JFR.dump name=weft filename="$work/dump.jfr" >"$work/jcmd" 2>&1
}

RECORD=-XX:StartFlightRecording=name=weft,settings

file_with() {
	local kind=$1 settings=$2
	load $SECONDS_SMALL "$kind" "$RECORD=$settings,filename=$work/made"
}

make_small() { file_with some profile; }
make_default() { file_with some default; }
make_gc() { file_with busy profile; }

make_every() {
	local event settings=profile
	for event in JavaExceptionThrow ObjectAllocationInNewTLAB ObjectAllocationOutsideTLAB ClassLoad ClassDefine FinalizerStatistics; do
		settings=$settings,jdk.$event#enabled=true
	done
	for event in FileRead FileWrite FileForce SocketWrite Compilation VirtualThreadPinned; do
		settings=$settings,jdk.$event#enabled=true,jdk.$event#threshold=0ms
	done
	file_with some "$settings"
}

# few OPTIONS...: the small program to its end
few() {
	compile_with "$work" tests/jfr/few/Few.java && (cd "$work" && env -i "${ENVIRONMENT[@]}" "$jdk/bin/java" -Xmx32m -XX:+UseSerialGC \
		-Dsecret.token=not-to-be-told "$@" -Xbootclasspath/a:classes Few >"$work/log" 2>&1)
}

make_few() {
	local event settings=settings=none
	for event in ExecutionSample ObjectAllocationSample JavaMonitorEnter ThreadSleep ThreadPark JavaExceptionThrow GarbageCollection \
		GCPhasePause GCHeapSummary CPULoad ThreadCPULoad JVMInformation OSInformation CPUInformation InitialEnvironmentVariable \
		ActiveSetting Shutdown; do
		settings=$settings,+jdk.$event#enabled=true
	done
	for event in JavaMonitorEnter ThreadSleep ThreadPark; do
		settings=$settings,+jdk.$event#threshold=10ms
	done
	settings=$settings,+jdk.ExecutionSample#period=20ms,+jdk.ObjectAllocationSample#throttle=10/s,+jdk.CPULoad#period=500ms
	[ "$version" -lt 25 ] || settings=$settings,+jdk.CPUTimeSample#enabled=true,+jdk.CPUTimeSample#throttle=20ms,+jdk.MethodTiming#enabled=true,+jdk.MethodTiming#filter=Few::burn
	few "-XX:StartFlightRecording:$settings,filename=made"
}

make_big() { load $SECONDS_BIG busy "$RECORD=profile,filename=$work/made"; }

make_large() {
	tests/jfr/chunks.py --repeat $N_COPIES "$(tests/jfr/recordings.sh "big$version")" "$work/made"
}

make_cpu() {
	file_with some "profile,jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=10ms,jdk.MethodTrace#enabled=true,jdk.MethodTrace#filter=Burn::deep;Burn::threeQuarters,jdk.MethodTiming#enabled=true,jdk.MethodTiming#filter=Burn::oneQuarter"
}

make_pinned() {
	RUNNER=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')")
	file_with some "profile,jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=500/s"
}

make_scrub() {
	"$jdk/bin/jfr" scrub --exclude-events jdk.SystemProcess,jdk.InitialSystemProperty \
		"$(tests/jfr/recordings.sh "small$version")" "$work/made.jfr" >"$work/log" 2>&1 && mv "$work/made.jfr" "$work/made"
}

make_chunks() {
	endless "$RECORD=profile,filename=$work/made"
	sleep 2
	rotate && sleep 2 && rotate && sleep 2
	stop_jvm TERM
}

make_live() {
	endless "$RECORD=profile"
	sleep 4
	cp "$work"/repository/*/*.jfr "$work/made"
	stop_jvm KILL
}

make_killed() {
	endless "$RECORD=profile"
	sleep 3
	rotate && sleep 3
	stop_jvm KILL
	mv "$work/repository" "$work/made"
}

make_crash() {
	local try
	# Not every dying JVM gets that far.
	for try in 1 2 3; do
		load 4 crash "$RECORD=profile" -XX:-CreateCoredumpOnCrash -XX:ErrorLogTimeout=15
		mv "$work"/cwd/hs_err_pid*.jfr "$work/made" 2>/dev/null && return
	done
}

# profiled SECONDS ARGUMENTS: a load under async-profiler
profiled() {
	load "$1" some "-agentpath:$profiler=start,jfr,file=$work/made.jfr,$2" && mv "$work/made.jfr" "$work/made"
}

make_ap() {
	case $1 in
	cpu) profiled $SECONDS_SMALL event=cpu,interval=5ms ;;
	wall) profiled $SECONDS_SMALL event=wall,interval=20ms ;;
	alloc) profiled $SECONDS_SMALL alloc=64k,live ;;
	lock) profiled $SECONDS_SMALL lock=1ms ;;
	nativemem) profiled $SECONDS_SMALL nativemem=4k ;;
	all) profiled 16 event=cpu,interval=5ms,wall=20ms,alloc=64k,lock=1ms,nativemem=1k,chunktime=4s ;;
	big) profiled 60 event=cpu,interval=5ms,wall=20ms,alloc=64k,lock=1ms,nativemem=256,chunktime=15s ;;
	sync) profiled 8 event=cpu,interval=5ms,jfrsync=profile ;;
	few)
		# Its path is in the recording, as all the JVM's properties are.
		cp "$profiler" /tmp/weft-profiler.so
		few -Duser.name=nobody -Duser.home=/nowhere -Duser.dir=/ \
			-agentpath:/tmp/weft-profiler.so=start,jfr,file=made.jfr,event=itimer,interval=20ms,alloc=8m,lock=10ms && mv "$work/made.jfr" "$work/made"
		rm -f /tmp/weft-profiler.so ;;
	span)
		compile_with "$work" tests/jfr/tagged/*.java && (cd "$work" && env -i "${ENVIRONMENT[@]}" "$jdk/bin/java" \
			"-agentpath:$profiler=start,jfr,file=made.jfr,event=cpu,interval=2ms,clock=monotonic" -cp classes Tagged >"$work/log" 2>&1) &&
			mv "$work/made.jfr" "$work/made" ;;
	live | killed)
		endless "-agentpath:$profiler=start,jfr,file=$work/made.jfr,event=cpu,interval=5ms"
		sleep 4
		[ "$1" = killed ] || cp "$work/made.jfr" "$work/made"
		stop_jvm KILL
		[ "$1" = live ] || mv "$work/made.jfr" "$work/made" ;;
	*) return 2 ;;
	esac
}

. tests/jfr/writer/make.sh

# Whether the JDK can make it at all.
is_for() {
	case $1$2 in
	jmc* | grafana* | datadog*)
		has_writer "$1" && return
		say "$1: its library is not here (.ci/jfr_peers.sh)" ;;
	few8 | few11) say "$1$2: settings of single events are there from JDK 17 on" ;;
	cpu8 | cpu11 | cpu17 | cpu21 | pinned8 | pinned11 | pinned17 | pinned21) say "$1$2: CPUTimeSample is there from JDK 25 on" ;;
	every8 | every11) say "$1$2: settings of single events are there from JDK 17 on" ;;
	scrub8 | scrub11 | scrub17) say "$1$2: jfr scrub is there from JDK 19 on" ;;
	*) return 0 ;;
	esac
	return 1
}

write_origin() {
	{
		echo "$1: $("$jdk/bin/java" -version 2>&1 | tr "\n" " ")"
		case $1 in ap-*) echo "async-profiler: $(cat "$(dirname "$profiler")/version" 2>/dev/null)" ;; esac
		case $2 in jmc | grafana | datadog) echo "written by: $(cat "$peers/$(writer_of "$2")/version")" ;; esac
		echo "load: tests/jfr, checksum ${cache##*/}"
		declare -f "make_$2" | sed 's/^/    /'
	} >"$work/origin"
}

# make NAME KIND VERSION: the path, once it is there
make() {
	local name=$1 kind=$2 path=$cache/$1.jfr
	version=$3
	case $kind in killed | datadog) path=$cache/$name ;; esac
	[ "$kind" != ap ] || [ -f "$profiler" ] || { say "$name: no async-profiler here"; return $MISSING; }
	is_for "$kind" "$version" || return $MISSING
	if [ ! -e "$path" ]; then
		jdk=$(jdk_of "$version")
		[ -n "$jdk" ] || { say "$name: no JDK $version here"; return $MISSING; }
		work=$(mktemp -d "$cache/making.XXXXXX")
		case $name in
		few* | ap-few | ap-span | jmc | grafana) "make_$kind" "${name#ap-}" ;;
		*) compile "$version" && "make_$kind" "${name#ap-}" ;;
		esac
		if [ ! -s "$work/made" ]; then
			say "$name could not be made:"
			tail -n 5 "$work/log" >&2
			return 1
		fi
		write_origin "$name" "$kind"
		mv "$work/origin" "$cache/$name.origin"
		mv "$work/made" "$path"
		rm -rf "$work"
	fi
	echo "$path"
}

# What two tests ask for at the same time is made once.
make_alone() {
	(
		trap clean EXIT
		flock 9
		make "$@" 9>&-
	) 9>"$cache/$1.lock"
}

if [ "${1:---list}" = --list ]; then
	echo "$LIST"
	exit
fi
worst=0
for name in "$@"; do
	case $name in
	few* | ap-few | jmc | grafana) cache=$caches/$few_sources ;;
	ap-span) cache=$caches/$span_sources ;;
	*) cache=$caches/$sources ;;
	esac
	mkdir -p "$cache"
	case $name in
	ap-*) make_alone "$name" ap 17 ;;
	jmc | grafana | datadog) make_alone "$name" "$name" 17 ;;
	few* | small* | default* | every* | gc* | chunks* | live* | killed* | crash* | cpu* | pinned* | scrub* | big* | large*)
		make_alone "$name" "${name%%[0-9]*}" "${name##*[a-z]}" ;;
	*) say "no recording is called $name; see --list"; exit 2 ;;
	esac
	status=$?
	[ $status -le $worst ] || [ $worst = 1 ] || worst=$status
done
exit $worst
