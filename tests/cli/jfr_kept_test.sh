#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What weft jfr makes of the recordings in tests/jfr/kept, byte for byte: files in tests/golden/jfr for a person to read.
# GOLDEN=update writes them anew. No JDK is needed.
. "$(dirname "$0")/tap.sh"
needs_tool python3

# golden NAME CLAIM: $work/out is as it was
golden() {
	local file=tests/golden/jfr/$1 same
	[ "${GOLDEN:-}" != update ] || cp "$work/out" "$file"
	diff -u "$file" "$work/out" >"$work/diff" && [ "$status" = 0 ] && [ ! -s "$work/err" ]
	same=$?
	mv "$work/diff" "$work/out"
	claim "$2: $file" $same
}

# ProfileEvents for people: the keys that all lines have only once, a frame a line.
readable() {
	python3 -c '
import json, sys
whose = None
for line in sys.stdin:
    event = json.loads(line)
    frames, trace = event.pop("stackFrames", []), json.loads(event.pop("stackTrace", "[]"))
    assert [(f["class"], f["method"], f["line"]) for f in trace] == [(f.get("class", ""), f["method"], f.get("line", 0)) for f in frames], line
    us = {k: event.pop(k) for k in list(event) if k.startswith(("service", "process.", "k8s_", "app", "host")) or k in ("pid", "language", "profileSource")}
    if us != whose:
        print(json.dumps(us, ensure_ascii=False))
    whose = us
    print(json.dumps(event, ensure_ascii=False))
    for f in frames:
        print("    %s%s line %s bci %s %s%s" % (f["function"], f.get("descriptor", ""), f.get("line"), f.get("bci"), f["type"],
                                               " hidden" if "hidden" in f else ""))'
}

for path in tests/jfr/kept/*.jfr.gz; do
	name=$(basename "$path" .jfr.gz)
	events=cpu,alloc,lock,sleep,park,exception,gc,load,span to=2s
	case $name in jmc-writer) events=all ;; async-profiler) to=600ms ;; esac
	run jfr --no-pager "$path"
	golden "$name.txt" "the summary is the same"
	run jfr --json "$path"
	golden "$name.json" "the document is the same"
	run jfr --events $events --to $to "$path" --format json
	readable <"$work/out" >"$work/lines" && mv "$work/lines" "$work/out"
	golden "$name.events.txt" "the ProfileEvents are the same"
	run jfr --events cpu,alloc "$path" --format folded
	golden "$name.folded" "the folded stacks are the same"
done
finish
