#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What several threads read of a recording is what one reads of it, byte for byte.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh
needs_tool python3

recordings=("$work/rec.jfr")

# read_by N OPTIONS...: all that is said of the recordings, in $work/by-N
read_by() {
	local n=$1
	shift
	rm -f "$work/of.pb.gz"
	{
		"$weft" jfr "${recordings[@]}" --workers "$n" --no-pager "$@"
		echo "status $?"
		"$weft" jfr "${recordings[@]}" --workers "$n" --check "$@"
		"$weft" jfr "${recordings[@]}" --workers "$n" --json "$@"
		"$weft" jfr "${recordings[@]}" --workers "$n" -o "$work/of.pb.gz" "$@"
		zcat "$work/of.pb.gz"
	} >"$work/by-$n" 2>&1
}

# same_by_all CLAIM OPTIONS...
same_by_all() {
	local n status=0 text=$1
	shift
	read_by 1 "$@"
	[ "$(wc -c <"$work/by-1")" -gt 1000 ] || status=1
	for n in 2 3 4; do
		read_by $n "$@"
		cmp "$work/by-1" "$work/by-$n" >"$work/out" 2>&1 || status=1
	done
	claim "$text" $status
}

# zero AT LEN: bytes of it are lost
zero() {
	dd if=/dev/zero of="$work/rec.jfr" bs=1 seek="$1" count="$2" conv=notrunc status=none
}

if recorded chunks17; then
	python3 tests/jfr/chunks.py --repeat 6 "$path" "$work/rec.jfr"
	size=$(stat -c %s "$work/rec.jfr")
	same_by_all "a file of HotSpot"
	same_by_all "its CPU samples, allocations and locks" --events cpu,alloc,lock
	same_by_all "what lies between two times" --from 2s --to 5s
	same_by_all "one thread" --thread main
	for part in 2 11 17; do
		zero $((size * part / 20)) 3000
		same_by_all "damage in the ${part}th twentieth of it"
	done
	truncate -s -1000 "$work/rec.jfr"
	same_by_all "one that is cut off"
fi

# What the chunk before a worker's own is missing is found by who reads that, and by nobody else.
if recorded chunks17; then
	for n in 5 7; do # so that some worker begins in the middle of a copy
		python3 tests/jfr/chunks.py --repeat $n "$path" "$work/made.jfr"
		python3 tests/jfr/chunks.py --unchain "$work/made.jfr" "$work/rec.jfr"
		same_by_all "$n copies whose constants are only found where they are missed"
	done
fi

# What one file's last chunks lend to the next file's first one, a large file takes and gives as well.
if recorded chunks17; then
	python3 tests/jfr/chunks.py --repeat 6 "$path" "$work/rec.jfr"
	mkdir "$work/apart"
	python3 tests/jfr/chunks.py --split "$work/rec.jfr" "$work/apart/part"
	mapfile -t parts < <(ls -v "$work"/apart/part.*)
	cat "${parts[@]:1:10}" >"$work/rec.jfr"
	recordings=("${parts[0]}" "$work/rec.jfr" "${parts[@]:11}")
	same_by_all "files of one JVM, of which one is large"
	recordings=("$work/rec.jfr")
fi

# Each chunk looks like another program's: what a worker expects of those before its own is wrong.
mapfile -t mixed < <(tests/jfr/recordings.sh ap-all small17 every17 small25 cpu25 scrub25 chunks17 chunks25 2>"$work/err")
if [ ${#mixed[@]} -lt 4 ]; then
	skip "recordings of several programs" "no JDK 25 here"
else
	cat "${mixed[@]}" >"$work/rec.jfr"
	same_by_all "recordings of several programs, one behind the other"
	cat "${mixed[@]}" "${mixed[1]}" >"$work/rec.jfr"
	same_by_all "one in which a chunk is there twice"
fi
# CPUTimeSample is on from the second chunk on, which no chunk behind it says: nobody but the first worker knows.
mapfile -t mixed < <(tests/jfr/recordings.sh small17 cpu25 chunks17 2>"$work/err")
if [ ${#mixed[@]} = 3 ]; then
	python3 tests/jfr/chunks.py --repeat 6 "${mixed[2]}" "$work/many.jfr"
	cat "${mixed[0]}" "${mixed[1]}" "$work/many.jfr" >"$work/rec.jfr"
	same_by_all "a setting that was made long before"
else
	skip "a setting that was made long before" "no JDK 25 here"
fi
if recorded ap-all; then
	python3 tests/jfr/chunks.py --repeat 4 "$path" "$work/rec.jfr"
	same_by_all "a file of async-profiler, whose settings are in the first chunk only"
fi
finish
