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

# watch SECONDS ARGS...: over what is there, and so long
watch() {
	run jfr in --watch --history all -d "$@"
}

# n_lines FILES...
n_lines() {
	cat "$@" 2>/dev/null | wc -l
}

run jfr in --watch
claim "without a place to write to it does not begin" $((status != 2))
run jfr in --watch -o - --format pprof
claim "a profile on stdout for ever is refused" $((status != 2))
run jfr in --watch -o dest --history yesterday
claim "a history that is no time is refused" $((status != 2))
run jfr nowhere --watch -o dest
claim "a directory that is not there is no target" $((status != 4))

cp "$recording" in/a.jfr
"$weft" jfr in/a.jfr -o whole.json >/dev/null 2>&1
watch 2s -o dest --format json,pprof
claim "it ends well after --duration" $status
n=$(n_lines whole.json)
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

watch 1s -o dest
says err "events=0 "
claim "a second run exports nothing again" $?
mv in/a.jfr in/b.jfr
cp in/b.jfr in/copy.jfr
gzip -c in/b.jfr >in/packed.jfr
watch 6s -o dest
says err "events=0 "
claim "renamed, copied or packed, it is the same recording" $?

gzip -c "$recording" >packed && rm -f in/* && mkdir in2 && cp packed in2/x
run jfr in2 --watch --history all -d 5s -o out2
[ "$(n_lines out2/*.json)" = "$n" ]
claim "what is packed is known by its content" $?

run jfr in2 --watch -d 5s -o - --ledger other --history all
[ "$(n_lines "$work/out")" = "$n" ]
claim "stdout gets the same lines" $?
cp "$recording" in/late.jfr
"$weft" jfr in --watch -d 3s -o - --ledger third >pipe.out 2>/dev/null & first=$!
sleep 1
run jfr in --watch -d 1s -o - --ledger third
says err "another weft watches with it"
claim "two on one ledger: the second is refused" $?
wait $first

echo "not a ledger" >bad
run jfr in --watch -d 1s -o - --ledger bad
says err "no ledger of weft" && [ "$(cat bad)" = "not a ledger" ]
claim "what is no ledger stays as it is" $?

mkdir in3 && touch -d '3 hours ago' in3
cp -p "$recording" in3/old.jfr
run jfr in3 --watch -d 2s -o out3 --history none
[ -z "$(ls out3)" ] && says err "historic_chunks=1" && says err "--history all"
claim "of --history none there is nothing" $?

mkfifo in3/fifo.jfr; ln -s "$recording" in3/link.jfr; yes | head -c 100000 >in3/log.txt; : >in3/empty.jfr
head -c 300000 "$recording" >in3/cut.jfr
run jfr in3 --watch -d 6s -o out4 --stale 1s
[ $status = 0 ] && [ "$(n_lines out4/*.json)" -gt 100 ]
claim "beside a FIFO, a link and a log, what is cut off is read as far as it goes" $?
cp packed in3/whole.jfr
run jfr in3 --watch -d 6s -o out4 --stale 1s
[ "$(n_lines out4/*.json)" = "$n" ]
claim "and the rest of it from a packed copy" $?

mkdir full in5 && cp "$recording" in5
if mount -t tmpfs -o size=1m tmpfs full 2>/dev/null; then
	"$weft" jfr in5 --watch --history all -d 8s -o full --ledger five >/dev/null 2>full.err & first=$!
	sleep 2
	[ -z "$(ls full)" ]
	claim "on a full disk nothing is left half written" $?
	mount -o remount,size=200m full
	wait $first
	[ "$(n_lines full/*.json)" = "$n" ]
	claim "and with room again everything is written" $?
	umount full
else
	skip "on a full disk nothing is left half written" "no tmpfs can be mounted here"
fi

run jfr in5 --watch --history all -d 3s -o kept --ledger six --rotate-size 1M
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
) | { sleep 2; kill -TERM "$(cat pid)"; sleep 1; kill -0 "$(cat pid)" 2>/dev/null; echo $? >ended; cat >/dev/null; }
[ "$(cat ended)" = 1 ]
claim "SIGTERM ends it while nobody reads its stdout" $?

for kind in dir stdout; do
	mkdir "$work/many" && cd "$work/many" || exit 1
	[ $kind = dir ] && n="1000 20" || n="200 8"
	# shellcheck disable=SC2086
	python3 "$here/tests/cli/jfr_watch_files.py" "$weft" "$recording" $n $kind >"$work/out" 2>"$work/err"
	claim "recordings and kills ($n, $kind): every event is there, or counted" $?
	grep '^#' "$work/out"
	cd "$work" && rm -rf many
done
finish
