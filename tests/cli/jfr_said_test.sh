#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What weft jfr says where there is nothing to show.
. "$(dirname "$0")/tap.sh"
. tests/jfr/claims.sh

run jfr "$work/nosuch.jfr"
[ $status = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && says err "No such file or directory" && [ ! -s "$work/out" ]
claim "a path that is not there is said once" $?
: >"$work/empty.jfr"
run jfr "$work/empty.jfr"
[ $status = 0 ] && says err "is empty: a JVM fills it when it dumps or ends"
claim "of an empty file it is said where the recording is" $?
run jfr "$work/empty.jfr" -o "$work/empty.pb.gz"
[ $status = 1 ] && says err "nothing to write" && [ ! -e "$work/empty.pb.gz" ]
claim "where nothing is written that is an error" $?
run jfr -q "$work/empty.jfr"
[ $status = 0 ] && [ ! -s "$work/err" ]
claim "with --quiet it is not" $?
mkdir "$work/directory"
run jfr "$work/directory"
[ $status = 1 ] && says err "no recording there" && [ ! -s "$work/out" ]
claim "a directory without recordings shows no empty tables" $?

run jfr --watch "$work/later" -o "$work/lines" -d 1
[ $status = 4 ] && says err "No such file or directory (create it first"
claim "a folder to watch that is not there is to be created" $?
run jfr --watch "$work/directory" -o "$work/lines" --ledger "$work/nowhere/ledger" -d 1
[ $status = 1 ] && says err "no such directory" && says err "choose another: --ledger FILE"
claim "a ledger that cannot be made says how to choose another" $?
echo 'no recording at all' >"$work/text.jfr"
run jfr "$work/text.jfr"
[ $status = 6 ] && grep -q "^weft: $work/text.jfr: " "$work/err"
claim "damage is a message of weft" $?
run jfr tests/golden/go-cpu.pb.gz
[ $status = 6 ] && says err "is a profile, which weft report shows"
claim "of a profile it is said what shows it" $?

if recorded small17; then
	run jfr --thread 'no such thread' "$path"
	[ $status = 0 ] && says out "No samples of what was asked for" && says out "Events of the whole recording"
	claim "that a filter keeps nothing is said, and what it does not filter" $?
	run jfr "$path"
	[ $status = 0 ] && ! says out "of the whole recording"
	claim "without a filter it is not" $?
	run jfr --sample-type alloc_objects "$path" -o "$work/objects.folded"
	total=$("$weft" jfr "$path" -q | sed -nE 's/.* alloc_objects ([0-9]+) .*/\1/p')
	[ $status = 0 ] && [ "$(awk '{ n += $NF } END { print n }' "$work/objects.folded")" = "$total" ]
	claim "-o shows the samples of the type that is asked for, and no others ($total)" $?
fi
finish
