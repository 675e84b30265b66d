#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chunks of a JVM say the same in files of their own, as a repository has them, as in one file:
# what an event needs that began in the chunk before is found there.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
needs_tool python3

same_lines() { cmp -s <(sort "$1") <(sort "$2"); }

# What is exported as it comes cannot know of scopes that end later: tests/live/jfr_watch_compare.py has these.
without_spans() { sed -E 's/,"(traceId|spanId|spanName)":"[^"]*"//g' "$1"; }

# watch_all DIRECTORY N: until there are N lines, or for a minute
watch_all() {
	local try
	rm -rf "$work/watched"
	"$weft" jfr --watch "$1" -o "$work/watched" --ledger "$1.ledger" --history all 2>"$work/err" &
	for try in {1..300}; do
		sleep 0.2
		[ "$(cat "$work"/watched/*.json 2>/dev/null | wc -l)" -lt "$2" ] || break
	done
	kill -INT $!
	wait $!
	cat "$work"/watched/*.json >"$work/watched.json"
}

for name in chunks8 chunks11 chunks17 chunks25; do
	recorded $name || continue
	mkdir "$work/$name"
	tests/jfr/chunks.py --split "$path" "$work/$name/part"
	run jfr "$path" -o "$work/whole.json" && run jfr "$work/$name" -o "$work/apart.json"
	[ -s "$work/whole.json" ] && same_lines "$work/whole.json" "$work/apart.json"
	claim "the chunks of $name in a directory say what the file says" $?
	mkdir "$work/$name.one" && cp "$path" "$work/$name.one/x.jfr"
	watch_all "$work/$name.one" "$(wc -l <"$work/whole.json")"
	[ -s "$work/watched.json" ] && same_lines "$work/whole.json" "$work/watched.json"
	claim "and so does the file when it is watched, spans that go over to the next chunk included" $?
	watch_all "$work/$name" "$(wc -l <"$work/whole.json")"
	[ -s "$work/watched.json" ] && same_lines <(without_spans "$work/whole.json") <(without_spans "$work/watched.json")
	claim "and so they do when it is watched, but for spans that go over to the next one" $?
done
finish
