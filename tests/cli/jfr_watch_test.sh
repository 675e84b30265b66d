#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft jfr --watch: what it says, refuses and keeps, and a thousand recordings under twenty kills.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
here=$PWD
needs_tool python3
recording=$(tests/jfr/recordings.sh small17 2>"$work/err") || {
	echo "1..0 # SKIP no JDK 17 here"
	exit 77
}
cd "$work" || exit 1
export XDG_STATE_HOME=$work/state
mkdir in

# watch_until CONDITION ARGS...: until the condition holds, which is a command; not for ever
watch_until() {
	local condition=$1 try
	shift
	: >"$work/err"	# what the one before said is not what this one says
	"$weft" jfr "$@" --watch --metrics 100ms >"$work/out" 2>"$work/err" </dev/null & watcher=$!
	for try in $(seq 300); do
		eval "$condition" && break
		kill -0 $watcher 2>/dev/null || break
		sleep 0.1
	done
	kill -TERM $watcher 2>/dev/null
	wait $watcher
	status=$?
}

# What a metrics line says when everything was read.
read_all="says err 'growing=0 '"

# n_lines FILES...
n_lines() {
	cat "$@" 2>/dev/null | wc -l
}

# refused TEXT ARGS...: a usage error that says so, and nothing is made
refused() {
	local text=$1
	shift
	run jfr "$@"
	[ $status = 2 ] && says err "$text" && [ ! -e dest ] && [ ! -e state ]
	claim "refused: weft jfr $*" $?
}

refused "needs a place to write to" in --watch
refused "stdout takes json only" in --watch -o - --format pprof
refused "--history is all, none or a time" in --watch -o dest --history yesterday
refused "--workers is not for --watch" in --watch -o dest --workers 2
refused "--sample-type is not for --watch" in --watch -o dest --sample-type cpu
refused "begins with a slash" in --watch -o dest --path-template '{pod}'
for option in "-d 1s" "--ledger x" "--history all" "--stale 1s" "--rotate-age 1s" "--rotate-size 1M" "--keep-size 1M" "--keep-age 1h" "--metrics 1s"; do
	# shellcheck disable=SC2086
	refused "is for --watch only" "$recording" $option
done
for name in x.json x.pb.gz x.folded; do
	refused "a file's name" in --watch -o $name
	[ ! -e $name ]
	claim "and there is no directory $name" $?
done
: >plain
refused "a file's name" in --watch -o plain
run jfr nowhere --watch -o dest
claim "a directory that is not there is no target" $((status != 4))

cp "$recording" in/a.jfr
"$weft" jfr in/a.jfr -o whole.json >/dev/null 2>&1
mkdir -p dest
n=$(n_lines whole.json)
has_all="says err 'events=$n '"
watch_until "$has_all" in --history all -o dest --format json,pprof
claim "it ends well" $status
[ "$n" -gt 1000 ] && [ "$(n_lines dest/*.json)" = "$n" ]
claim "a finished recording is exported whole" $?
says err "events=$n "
claim "its last line says how many events there were" $?
"$weft" report dest/*.pb.gz >"$work/report" 2>&1
claim "its profile can be read" $?
[ "$(stat -c %a dest/*.json)" = 640 ]
claim "what it writes is not for everybody" $?
[ "$(stat -c %a state/weft/*.ledger)" = 600 ]
claim "its ledger is for its owner only" $?

watch_until "$read_all" in --history all -o dest
says err "events=0 "
claim "a second run exports nothing again" $?
mv in/a.jfr in/b.jfr
cp in/b.jfr in/copy.jfr
gzip -c in/b.jfr >in/packed.jfr
watch_until "$read_all" in --history all -o dest
says err "sources=3 " && says err "events=0 "
claim "renamed, copied or packed, it is the same recording" $?

gzip -c "$recording" >packed && rm -f in/* && mkdir -p in2/elsewhere/web && cp packed in2/elsewhere/web/x
watch_until "$has_all" in2 --history all -o out2 --path-template "$work/in2/{ns}/{container}"
[ "$(n_lines out2/*.json)" = "$n" ]
claim "what is packed is known by its content" $?
[ "$(grep -c '"k8s_namespace":"shop".*"k8s_container_name":"web"' out2/*.json)" = "$n" ]
claim "what it does not say its path says, by a template" $?
(cd in2/elsewhere && "$weft" jfr web --path-template "$work/in2/{ns}/{container}" -o "$work/web.json" 2>"$work/err")
[ "$(grep -c '"k8s_namespace":"shop".*"k8s_container_name":"web"' web.json)" = "$n" ]
claim "without --watch too" $?

watch_until "$has_all" in2 -o - --ledger other --history all
[ "$(n_lines "$work/out")" = "$n" ]
claim "stdout gets the same lines" $?
cp "$recording" in/late.jfr
"$weft" jfr in --watch --history all -o - --ledger third >pipe.out 2>/dev/null & first=$!
for try in $(seq 100); do [ -s pipe.out ] && break; sleep 0.1; done
run jfr in --watch -d 1s -o - --ledger third
says err "another weft watches with it"
claim "two on one ledger: the second is refused" $?
kill -TERM $first
wait $first

echo "not a ledger" >bad
run jfr in --watch -d 1s -o - --ledger bad
says err "no ledger of weft" && [ "$(cat bad)" = "not a ledger" ]
claim "what is no ledger stays as it is" $?

mkdir in3 && touch -d '3 hours ago' in3
cp -p "$recording" in3/old.jfr
watch_until "$read_all" in3 -o out3 --history none
[ -z "$(ls out3)" ] && says err "historic_chunks=1" && says err "--history all"
claim "of --history none there is nothing" $?

mkfifo in3/fifo.jfr; ln -s "$recording" in3/link.jfr; yes | head -c 100000 >in3/log.txt; : >in3/empty.jfr
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("in3/socket.jfr")'
head -c 300000 "$recording" >in3/cut.jfr
watch_until "says err 'growing=1 '" in3 -o out4 --stale 1s
[ $status = 0 ] && [ "$(n_lines out4/*.json)" -gt 100 ]
claim "beside a FIFO, a socket, a link and a log, what is cut off is read as far as it goes" $?
lost_at_last() {
	grep -o 'lost_damaged_bytes=[0-9]*' "$work/err" | tail -n 1
}
lost=$(lost_at_last)
cp in3/cut.jfr in3/again.jfr
watch_until "says err 'again.jfr is damaged: cut off'" in3 -o out4 --stale 1s
[ "$lost" != lost_damaged_bytes=0 ] && [ "$(lost_at_last)" = lost_damaged_bytes=0 ] && says err "quarantined=2 "
claim "a copy that is cut at the same place loses nothing more" $?
cp packed in3/whole.jfr
watch_until '[ "$(n_lines out4/*.json)" = "$n" ]' in3 -o out4 --stale 1s
[ "$(n_lines out4/*.json)" = "$n" ]
claim "and the rest of it from a packed copy" $?

mkdir full in5 && cp "$recording" in5
if mount -t tmpfs -o size=1m tmpfs full 2>/dev/null; then
	mkdir full/out
	"$weft" jfr in5 --watch --history all -o full/out --ledger five --metrics 100ms >"$work/out" 2>"$work/err" & first=$!
	for try in $(seq 100); do says err "output_failures=2" && break; sleep 0.1; done
	rm in5/*
	[ -z "$(ls full/out)" ] && [ "$(grep -c 'cannot write to full/out: No space left on device' "$work/err")" = 1 ] && says err "make room there"
	claim "on a full disk nothing is left half written, and what to do is said once" $?
	mount -o remount,size=200m full
	for try in $(seq 100); do says err "it can be written again" && says err "growing=0 " && break; sleep 0.1; done
	[ "$(n_lines full/out/*.json)" = "$n" ]
	claim "and with room again everything is written, also what was deleted meanwhile" $?
	kill -TERM $first
	wait $first
	claim "and it ends well" $?
	umount full
	mount -t tmpfs -o size=1m tmpfs full
	cp "$recording" in5
	"$weft" jfr in5 --watch --history all -o out5 --ledger full/ledger --metrics 100ms >"$work/out" 2>"$work/err" & first=$!
	for try in $(seq 100); do says err "growing=0 " && break; sleep 0.1; done
	yes >full/filler 2>/dev/null
	"$here/tests/jfr/chunks.py" --repeat 3 "$recording" more.jfr && mv more.jfr in5
	for try in $(seq 100); do says err "output_failures=2" && break; sleep 0.1; done
	says err "cannot write to the ledger: No space left on device"
	claim "so it is of the ledger's disk" $?
	rm full/filler
	for try in $(seq 100); do says err "it can be written again" && [ "$(n_lines out5/*.json)" = $((n * 3)) ] && break; sleep 0.1; done
	kill -TERM $first
	wait $first
	cat out5/*.json | grep -o '"recordId":"[^"]*"' | sort | uniq -d >"$work/twice"
	[ ! -s "$work/twice" ] && [ "$(n_lines out5/*.json)" -ge $((n * 3)) ]
	claim "and nothing is missing or there twice" $?
	umount full
else
	skip "on a full disk nothing is left half written" "no tmpfs can be mounted here"
fi

rm -rf in5/* && cp "$recording" in5
watch_until "$has_all" in5 --history all -o kept --ledger six --rotate-size 1M
[ "$(ls kept | wc -l)" -gt 3 ] && [ "$(n_lines kept/*.json)" = "$n" ]
claim "--rotate-size makes several files of one chunk" $?
cp "$recording" kept/mine.json
run jfr in5 --watch --history all -d 1s -o kept --ledger six --keep-size 3M
[ "$(ls kept | wc -l)" -le 4 ] && [ -e kept/mine.json ]
claim "--keep-size deletes the oldest of its own files, and no others" $?

(
	"$weft" jfr in5 --watch --history all -o - --ledger seven 2>seven.err &
	echo $! >pid
	wait
) | { until [ -s pid ]; do sleep 0.1; done; sleep 1; kill -TERM "$(cat pid)"; sleep 1; kill -0 "$(cat pid)" 2>/dev/null; echo $? >ended; cat >/dev/null; }
[ "$(cat ended)" = 1 ]
claim "SIGTERM ends it while nobody reads its stdout" $?

# Another process's files, as it sees them.
sleep 300 & other=$!
watch_until "$has_all" "/proc/$other/root$work/in5" --history all -o out8 --ledger eight
[ "$(n_lines out8/*.json)" = "$n" ]
claim "the directories of a process's own root can be watched" $?
kill $other

# Both at a time: they wait for most of it.
many() {
	mkdir "$work/$1" && cd "$work/$1" || exit 1
	python3 "$here/tests/cli/jfr_watch_files.py" "$weft" "$recording" "$2" "$3" "$1" >said 2>&1
	echo $? >status
}
many stdout 200 8 &
many dir 1000 20
wait
for kind in dir stdout; do
	cp "$work/$kind/said" "$work/out"
	: >"$work/err"
	claim "recordings and kills ($kind): every event is there, or counted" "$(cat "$work/$kind/status")"
	grep '^#' "$work/out"
done
finish
