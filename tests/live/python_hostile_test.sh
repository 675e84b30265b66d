#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that pretend to be CPython and lie, beside an honest one: weft lives, says what it gave up, keeps
# its bounds (which are counted, not timed) and is right about the honest one. Needs root and BPF.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
needs_profiling
python=
for minor in 12 11 13 10 9 14; do
	[ -n "$python" ] || python=$(python_of $minor)
done
if [ -z "$python" ]; then
	echo "1..0 # SKIP no python3.12 here"
	exit 77
fi
MAX_S=30	# what hangs, hangs until it is killed
MAX_FRAMES=1024

cat >"$work/honest.py" <<'PYTHON'
def honest_inner(n):
    total = 0
    for i in range(n):
        total += i
    return total


def honest_outer():
    while True:
        honest_inner(1000)


honest_outer()
PYTHON
${CC:-cc} -O1 -D_GNU_SOURCE -rdynamic -pthread -o "$work/lying" tests/live/lying_python.c || exit 1
chmod 755 "$work"
honest= liar= server=
trap 'kill -9 $honest $liar $server 2>/dev/null; umount -l "$work/mnt" 2>/dev/null; rm -rf "$work"' EXIT
"$python" "$work/honest.py" & honest=$!

# count NAME: what weft counted
count() {
	awk -v n="$1" '$1 == n { print $2; ok = 1 } END { if (!ok) print 0 }' "$work/err"
}

# judge_honest: nearly all of its samples have its frames, in order, and nobody else's
judge_honest() {
	python3 - "$work/x.json" $honest <<'PYTHON'
import json, sys
right = wrong = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    if event["pid"] != int(sys.argv[2]):
        continue
    names = [f["function"] for f in event["stackFrames"] if f["function"] in ("honest_inner", "honest_outer", "<module>")]
    if names in (["honest_inner", "honest_outer", "<module>"], ["honest_outer", "<module>"]):
        right += 1
    else:
        wrong += 1
print("# honest:", right, "right,", wrong, "wrong")
sys.exit(right < 20 or wrong > (right + wrong) / 50)
PYTHON
}

# record LIE: it and the honest one
record() {
	"$work/lying" "$1" >"$work/said" 2>/dev/null & liar=$!
	until [ -s "$work/said" ]; do sleep 0.02; done
	rm -f "$work/err"
	timeout -k 1 $MAX_S "$weft" record -p $liar -p $honest -F 499 -d 4 -v -o "$work/x.json" >"$work/out" 2>"$work/err" & recorder=$!
	await_recording
	sleep 1	# while it is honest
	kill -USR1 $liar
	wait $recorder
	status=$?
	{ kill -9 $liar; wait $liar; } 2>/dev/null
	[ $status = 0 ] && judge_honest >"$work/out" 2>&1
	claim "$1: weft lives, and is right about an honest Python" $?
	sed -n '/^# honest/p' "$work/out"
}

record none
grep -q '"function":"innocent"' "$work/x.json" && [ "$(count python.unknown)" = 0 ]
claim "  what does not lie is walked" $?
record circle
deepest=$(python3 -c '
import json, sys
print(max(sum(f["function"] == "innocent" for f in json.loads(l)["stackFrames"]) for l in open(sys.argv[1])))' "$work/x.json")
[ "$(count python.truncated)" -gt 0 ] && [ "$deepest" -gt 500 ] && [ "$deepest" -le $MAX_FRAMES ]
claim "  a circle of frames ends at the cap, which is counted ($deepest frames)" $?
record deep
[ "$(count python.truncated)" -gt 0 ]
claim "  and so do 4,096 frames" $?
record nowhere
[ "$(count python.broken)" -gt 0 ] && [ "$(count python.truncated)" = 0 ]
claim "  code objects that are nowhere end the walk long before" $?
record codes
[ "$(count python.no_steps)" -gt 0 ] && says err "ask for more work than their share"
claim "  code objects that are others all the time use up their share of work, which is said" $?
record lines
[ "$(count python.no_steps)" -gt 0 ] || [ "$(count python.over_budget)" -gt 0 ]
claim "  and so do long line tables" $?
record long_name
[ "$(count memory.over_budget)" = 0 ]
claim "  a name of 1 GB takes no memory" $?
record traced
says err "not laid out as weft knows it" && [ "$(grep -c 'runs Python' "$work/err")" = 1 ] &&
	[ "$(count python.unknown)" = 1 ] && ! grep -q innocent "$work/x.json"
claim "  objects with another head: native frames only, said in one line" $?

if ! grep -qw fuse /proc/filesystems; then
	skip "names on a file system that never answers do not keep weft" "there is no FUSE"
	finish
fi
# The page that its names are in is far behind what is ever read of the file.
cp "$work/lying" "$work/file" && head -c 8000000 /dev/zero >>"$work/file"
${CC:-cc} -O1 -D_GNU_SOURCE -o "$work/fuse" tests/live/fuse.c || exit 1
mknod -m 666 "$work/device" c 10 229
mkdir -p "$work/mnt"
chmod 777 "$work/mnt"
"$work/fuse" "$work/device" "$work/mnt" "$work/file" >"$work/served" 2>"$work/fuse.err" & server=$!
for _ in $(seq 100); do
	grep -q begins "$work/served" && break
	sleep 0.05
done
if ! grep -q begins "$work/served"; then
	skip "names on a file system that never answers do not keep weft" "it cannot be mounted: $(tail -n 1 "$work/fuse.err")"
	finish
fi
setpriv --reuid 65534 --regid 65534 --clear-groups "$work/lying" far "$work/mnt/program" >"$work/said" & liar=$!
sleep 0.5	# until it has mapped the file
kill -STOP $server
timeout -k 1 $MAX_S "$weft" record -p $liar -p $honest -F 499 -d 3 -v -o "$work/x.json" >"$work/out" 2>"$work/err"
status=$?
left=$(pgrep -x -P 1 weft-reader | tr '\n' ' ')
[ $status = 0 ] && judge_honest >"$work/out" 2>&1
claim "names on a file system that never answers do not keep weft, nor its end" $?
sed -n '/^# honest/p' "$work/out"
[ "$(count memory.stuck)" = 1 ] && says err "keeps whoever reads its memory waiting"
claim "  which is counted and said" $?
grep -q "_PyEval_EvalFrameDefault.*\"pid\":$liar,\|\"pid\":$liar,.*_PyEval_EvalFrameDefault" "$work/x.json"
claim "  and the program has its native frames" $?
timeout -k 1 $MAX_S "$weft" dump $liar >"$work/out" 2>"$work/err"
[ $? = 1 ] && says err "process $liar keeps whoever reads its memory waiting"
claim "  and weft dump says so too" $?
echo "# readers left behind while it does not answer: $left"
{ kill -9 $server $liar; wait $server $liar; } 2>/dev/null
sleep 0.5
# shellcheck disable=SC2086
[ -z "$left" ] || ! kill -0 $left 2>/dev/null
claim "  and its readers end when the file system does" $?
finish
