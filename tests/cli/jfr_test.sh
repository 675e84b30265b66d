#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What weft jfr takes, what it shows of a recording, and how it ends.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
needs_tool python3

# usage TEXT ARGS...: refused with status 2, and nothing on stdout
usage() {
	local text=$1
	shift
	run jfr "$@"
	[ $status = 2 ] && says err "$text" && [ ! -s "$work/out" ]
	claim "refused: weft jfr $*" $?
}

# fails STATUS TEXT ARGS...
fails() {
	local expected=$1 text=$2
	shift 2
	run jfr "$@"
	[ $status = "$expected" ] && says err "$text"
	claim "exit $expected: weft jfr ${*##*/}" $?
}

# python TEXT PROGRAM FILE: whether a program in Python is content with a file
python() {
	python3 -c "$2" "$3" >"$work/python" 2>"$work/err"
	claim "$1" $?
}

printf 'FLR\0' >"$work/short.jfr"
usage "an argument is missing"
usage "called aloc" --events aloc x.jfr
usage "groups: cpu, wall, native, alloc, " --events aloc x.jfr
usage "called aloc" --watch --events aloc "$work" -o "$work/watched"
usage "called " --events cpu, x.jfr
usage "--from is no time" --from yesterday x.jfr
usage "--to is no time" --to 12:61:99 x.jfr
usage "only one at a time" --json x.jfr -o "$work/x.json"
usage "not after --from" --from 4s --to 2s x.jfr
usage "not after --from" --from 2026-11-21T10:00:05Z --to 2026-11-21T10:00:05Z x.jfr
usage "not read from stdin" -
usage "no format has this extension" "$work/short.jfr" -o "$work/x.xyz"
usage "no format nosuch" --format nosuch "$work/short.jfr"
usage "is a directory" "$work/short.jfr" -o "$work"
usage "unknown option" --nosuch x.jfr
fails 1 "No such file or directory" "$work/nosuch.jfr"
fails 6 "short.jfr" "$work/short.jfr"
run jfr --check "$work/short.jfr"
[ $status = 6 ] && says out "4 bytes lost" && [ ! -s "$work/err" ]
claim "--check says on stdout what is damaged" $?
echo "no recording" >"$work/text.jfr"
fails 6 "text.jfr" "$work/text.jfr"
mkfifo "$work/fifo.jfr"
run jfr "$work/fifo.jfr"
[ $status = 6 ] && [ "$(sed "s|$work/||" "$work/err")" = "weft: fifo.jfr: is a FIFO" ] && [ ! -s "$work/out" ]
claim "a FIFO is refused, and not waited for" $?
run jfr /dev/zero
[ $status = 6 ] && [ "$(cat "$work/err")" = "weft: /dev/zero: is a device" ] && [ ! -s "$work/out" ]
claim "a device is refused" $?
: >"$work/empty.jfr"
run jfr "$work/empty.jfr"
[ $status = 0 ] && says err "empty.jfr is empty" && [ ! -s "$work/out" ]
claim "of an empty file it is said why it is" $?
run jfr "$work/short.jfr" "$work/nosuch.jfr" -o "$work/kept.json"
[ ! -e "$work/kept.json" ]
claim "nothing is written when a path is not there" $?

if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups "$weft" version >"$work/out" 2>"$work/err"; then
	chmod 711 "$work" && chmod 600 "$work/short.jfr"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$weft" jfr "$work/short.jfr" >"$work/out" 2>"$work/err"
	[ $? != 0 ] && says err "Permission denied"
	claim "a file that may not be read is said" $?
else
	skip "a file that may not be read is said" "nobody else can run weft here"
fi

recorded small17 || finish
small=$path
run jfr "$small"
[ $status = 0 ] && says out "Burn.work" && says out "Garbage collections" && says out "Operations at safepoints" && [ ! -s "$work/err" ]
claim "the summary of a recording has functions, collections and safepoints" $?
! says out not-to-be-told && ! says out LambdaForm
claim "and neither arguments nor hidden frames" $?
run jfr -v "$small"
[ $status = 0 ] && says out "[redacted]" && ! says out not-to-be-told
claim "--verbose says that there are arguments" $?
run jfr --show-secrets "$small"
[ $status = 0 ] && says out "-Dsecret.token=not-to-be-told"
claim "--show-secrets shows them" $?

run jfr "$small" -o "$work/x.json"
[ $status = 0 ] && [ ! -s "$work/out" ] && ! grep -q not-to-be-told "$work/x.json"
claim "no secret is in the lines" $?
python "every line is JSON, and so is stackTrace" '
import json, sys
n = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    assert event["eventType"] and event["timestamp"].endswith("Z") and event["recordId"] and "threadName" in event
    if "stackTrace" in event:
        frames = json.loads(event["stackTrace"])
        assert [f["method"] for f in frames] == [f["method"] for f in event["stackFrames"]]
        n += 1
assert n > 1000, n' "$work/x.json"
python "no two events have the same id" '
import json, sys
ids = [json.loads(line)["recordId"] for line in open(sys.argv[1])]
assert len(set(ids)) == len(ids)' "$work/x.json"
python "they come in the order of their time" '
import json, sys
times = [json.loads(line)["timestamp"] for line in open(sys.argv[1])]
assert times == sorted(times)' "$work/x.json"
python "samples in a span have its ids" '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
scopes = {(e["traceId"], e["spanId"]) for e in events if e["eventType"].endswith(".Scope")}
inside = [e for e in events if e["profileType"] == "cpu" and "spanId" in e]
assert len(scopes) >= 40 and len(inside) > 20 and all((e["traceId"], e["spanId"]) in scopes for e in inside), (len(scopes), len(inside))
assert {e["topMethod"] for e in inside if e["topClass"] == "Burn"}' "$work/x.json"
run jfr --show-secrets "$small" -o "$work/secrets.json"
[ $status = 0 ] && grep -q not-to-be-told "$work/secrets.json"
claim "but with --show-secrets they are" $?

run jfr --events jdk.CPULoad,GCPhasePause "$small" --format json
[ $status = 0 ] && [ "$(sed 's/,.*//' "$work/out" | sort -u | tr -d '\n')" = '{"eventType":"jdk.CPULoad"{"eventType":"jdk.GCPhasePause"' ]
claim "--events takes single types" $?
run jfr --events jdk.CPULoads "$small" --format json
[ $status = 0 ] && [ ! -s "$work/out" ] && says err "no events of type jdk.CPULoads there"
claim "and says of which there are none" $?
run jfr --thread nosuch "$small"
[ $status = 0 ] && says err "no events of a thread nosuch there"
claim "so it is of a thread that is not there" $?
run jfr --thread burn --from 1h "$small" -o "$work/none.pb.gz"
[ $status = 0 ] && ! says err "no events of a thread" && says err "none.pb.gz has none"
claim "and not of one that is there at another time" $?
run jfr --thread burn --check "$small"
[ $status = 0 ] && ! says err "no events of a thread"
claim "nor where nobody looks for it" $?
run jfr --from 1h "$small" -o "$work/none.pb.gz"
[ $status = 0 ] && says err "none.pb.gz has none" && [ -s "$work/none.pb.gz" ]
claim "and of a profile without samples" $?
"$weft" jfr "$small" --format json >/dev/full 2>"$work/err"
[ $? = 1 ] && says err "cannot write stdout: No space left"
claim "a full stdout is said" $?
run jfr --events load,jdk.ThreadCPULoad "$small"
[ $status = 0 ] && says out "Threads, as the JVM measured them"
claim "without CPU samples threads are as busy as the JVM says" $?

run jfr "$small" -o "$work/all.pb.gz"
"$weft" report -v "$work/all.pb.gz" >"$work/report" 2>&1
[ $status = 0 ] && says report "% complete" && says report "jfr.end.complete" && ! says report 'LambdaForm$'
claim "a profile says how complete its samples are" $?
run jfr --hidden-frames "$small" -o "$work/hidden.folded"
shown=$(grep -c 'Lambda.run' "$work/hidden.folded")
"$weft" jfr "$small" -o "$work/plain.folded" && [ "$shown" -gt 0 ] && ! grep -q 'Lambda.run' "$work/plain.folded"
claim "--hidden-frames keeps what the JVM hides ($shown stacks)" $?
run jfr --thread burn --events cpu "$small" --format folded
[ $status = 0 ] && [ -s "$work/out" ] && ! grep -v 'Burn' "$work/out"
claim "--thread and --events leave one thread's CPU time" $?
run jfr --from 1s --to 2s --events cpu "$small" --format json
[ $status = 0 ] && python3 - "$work/out" "$work/x.json" <<'PROGRAM'
import json, sys
cut, all_of_it = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
cpu = [e for e in all_of_it if e["profileType"] == "cpu"]
assert 0 < len(cut) < len(cpu) and cut[-1]["timestamp"] < "%s" % cpu[-1]["timestamp"]
assert [e["recordId"] for e in cut] == [e["recordId"] for e in cpu if cut[0]["timestamp"] <= e["timestamp"] <= cut[-1]["timestamp"]]
PROGRAM
claim "--from and --to cut a piece of time" $?
mkdir "$work/later" && cp "$small" "$work/later/b.jfr" && python3 tests/jfr/chunks.py --repeat 2 "$small" "$work/twice.jfr" &&
	python3 tests/jfr/chunks.py --split "$work/twice.jfr" "$work/split" && mv "$work/split.2.jfr" "$work/later/a.jfr"
run jfr --from 0s --to 1s --events cpu "$work/later" --format json
cp "$work/out" "$work/several"
run jfr --from 0s --to 1s --events cpu "$small" --format json
[ -s "$work/out" ] && cmp -s "$work/out" "$work/several"
claim "of several recordings they count from where the earliest begins" $?
run jfr --json "$small"
[ $status = 0 ] && ! says out not-to-be-told
claim "--json has no secrets" $?
python "and is one document with sums" '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["gcs"] and sum(p["totalNs"] for p in d["gcPauses"]) == sum(g["pauseNs"] for g in d["gcs"]), (d["gcs"], d["gcPauses"])
assert all(0 <= t["meanLoad"] < 64 for t in d["threadLoads"]) and d["types"] and not d["files"][0]["damage"]' "$work/out"
mkdir "$work/many" && cp "$small" "$work/many/a.jfr" && cp "$small" "$work/many/b.jfr" && echo "read me" >"$work/many/README" && echo 1 >"$work/many/pid" && printf '\211PNG\r\n\032\n\0' >"$work/many/logo.png"
run jfr --json "$work/many"
[ $status = 0 ]
claim "a directory is read, and what is no recording left alone" $?
python "a chunk that is there twice counts once" '
import json, sys
files = json.load(open(sys.argv[1]))["files"]
assert sum(f["chunks"] for f in files) == 1 and sum(f["duplicates"] for f in files) == 1, files' "$work/out"
mkdir -p "$work/of/basket" "$work/of/stock" && cp "$small" "$work/of/basket"
if other=$(tests/jfr/recordings.sh jmc 2>/dev/null); then
	cp "$other" "$work/of/stock/a.jfr"
	run jfr --path-template "$work/of/{service}" "$work/of"
	[ $status = 0 ] && says out "2 services: orders, stock · host orders-"
	claim "of several recordings it is said whose they are" $?
	run jfr --path-template "$work/of/{service}" "$work/of" --json
	python "also of each" '
import json, sys
assert [f["service"] for f in json.load(open(sys.argv[1]))["files"]] == ["orders", "stock"]' "$work/out"
else
	skip "of several recordings it is said whose they are" "no JMC: its library is not here"
fi
run jfr "$work/many"
[ $status = 0 ] && says out "service orders · host orders-"
claim "also when they are of one service" $?
if killed=$(tests/jfr/recordings.sh killed17 2>/dev/null); then
	run jfr "$killed"
	[ $status = 0 ] && says out "2 chunks, 1 not finished by its JVM" && says out "OpenJDK 64-Bit Server VM 17."
	claim "of the repository of a JVM that was killed it is said which, and that it did not finish" $?
	cp -r "$killed" "$work/killed"
	last=$(find "$work/killed" -name '*.jfr' | sort | tail -n 1)
	head -c 5000 /dev/zero >>"$last"
	run jfr --check "$last"
	behind=$(grep -o '[0-9]* bytes behind the last flush' "$work/out")
	run jfr "$work/killed"
	[ "${behind%% *}" -ge 5000 ] && says out "not finished by its JVM, $behind"
	claim "and how much it had not committed" $?
	run jfr "$killed" "$small"
	[ $status = 0 ] && says out "service orders · host orders-" && ! says out "OpenJDK 64-Bit"
	claim "and of two JVMs not" $?
fi
mkdir "$work/linked" && ln -s "$small" "$work/linked/a.jfr" && cp "$small" "$work/linked/b.jfr.old" && mkfifo "$work/linked/c.jfr"
run jfr --json "$work/linked"
[ $status = 0 ] && [ "$(grep -c '"chunks":' "$work/out")" = 1 ] && says out b.jfr.old
claim "below a directory links and FIFOs are left alone, and names do not matter" $?
run jfr --check "$small"
[ $status = 0 ] && says out "not damaged"
claim "--check says that nothing is damaged" $?
# As a JVM has begun it: 68 bytes of header are all that was flushed.
{ printf 'FLR\0\0\2\0\1\0\0\0\0\0\0\0D' && head -c 16 /dev/zero && tail -c +33 "$small" | head -c 32 &&
	printf '\1\0\0\1' && tail -c +69 "$small" | head -c 5000; } >"$work/young.jfr"
run jfr "$work/young.jfr"
[ $status = 0 ] && says err "nothing that can be read yet" && ! says err "lost"
claim "of a recording that was not flushed yet it says so" $?
run jfr --check "$work/young.jfr"
[ $status = 0 ] && says out "0 bytes lost, 1 not finished by their JVM, 5000 bytes behind the last flush: not damaged"
claim "--check too" $?
run jfr "$small" "$work/young.jfr"
[ $status = 0 ] && says out "OpenJDK 64-Bit"
claim "and behind another one it does not hide whose that is" $?
head -c 300000 "$small" >"$work/cut.jfr"
run jfr "$work/cut.jfr" -o "$work/cut.json"
[ $status = 6 ] && says err "are lost" && [ "$(wc -l <"$work/cut.json")" -gt 100 ]
claim "of a recording that is cut off the rest is written, and the status is 6" $?
run jfr "$work/cut.jfr" -o "$work/cut.pb.gz"
run jfr "$work/cut.jfr"
says out "0 lost, and " && says out " bytes of the recordings" && run report "$work/cut.pb.gz" && says out " bytes of the recordings"
claim "what is lost of a recording stands where it says what is complete" $?
cp "$work/cut.jfr" "$work/again.jfr"
"$weft" jfr "$work/cut.jfr" --no-pager 2>/dev/null | sed -n '/ in total/,/^Stacks/p' >"$work/once"
run jfr "$work/cut.jfr" "$work/again.jfr" --no-pager
[ $status = 6 ] && [ "$(grep -c 'are lost' "$work/err")" = 2 ] && sed -n '/ in total/,/^Stacks/p' "$work/out" | cmp -s - "$work/once"
claim "with a copy of it nothing counts twice, and nothing is lost twice" $?
"$weft" jfr "$small" --no-pager | grep '^In all: samples' >"$work/once"
run jfr "$work/cut.jfr" "$small" --no-pager
[ $status = 0 ] && [ ! -s "$work/err" ] && grep '^In all:' "$work/out" | cmp -s - "$work/once"
claim "with the whole of it there is as much as in that, and nothing is lost" $?
run jfr --check "$small" "$work/cut.jfr" "$work/again.jfr"
[ $status = 6 ] && [ "$(grep -c 'the file ends before' "$work/out")" = 2 ]
claim "--check says of each copy whether it is damaged" $?
run jfr "$small" -o "$work/nosuch/x.json"
[ $status = 1 ] && says err "cannot write"
claim "a place that is not there is said" $?
"$weft" jfr "$small" --format json 2>"$work/err" | head -n 1 >"$work/out"
[ "${PIPESTATUS[1]}" = 0 ] && [ -s "$work/out" ]
claim "a reader that goes away ends it" $?

# sum FILE TYPE: what its samples of a type are worth together
sum() {
	"$weft" jfr "$1" -o "$work/sum.pb.gz" 2>/dev/null &&
		"$weft" report "$work/sum.pb.gz" --sample-type "$2" --no-pager | sed -n 's/ in total.*//p'
}
if both=$(tests/jfr/recordings.sh cpu25 2>/dev/null); then
	cat "$both" "$small" >"$work/both.jfr"
	{ sum "$both" cpu; sum "$small" cpu; sum "$work/both.jfr" cpu; sum "$both" cpu_exec; sum "$work/both.jfr" cpu_exec; } >"$work/out"
	python3 -c 'import sys
a, b, both, exec_a, exec_both = (float(line.strip().rstrip("s")) for line in open(sys.argv[1]))
sys.exit(not (abs(a + b - both) < 0.02 and exec_a == exec_both))' "$work/out" 2>"$work/err"
	claim "settings of one JVM are not those of another behind it in the file" $?
else
	skip "settings of one JVM are not those of another behind it in the file" "no JDK 25 here"
fi
finish
