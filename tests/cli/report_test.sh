#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft report on files of others and of weft: agrees with pprof, converts, pages, says what is damaged.
. "$(dirname "$0")/tap.sh"
cpu=tests/golden/go-cpu.pb.gz
heap=tests/golden/go-heap.pb.gz

# flat, cum and name of every function, from either program's top table of plain counts
weft_rows() {
	"$weft" report --sample-type "$1" "$2" | awk 't { print $1, $4, $6, $7, $8 } /Flat%/ { t = 1 }' | sort
}
pprof_rows() {
	go tool pprof -symbolize=none -sample_index="$1" -unit=count -top -nodecount=100000 -nodefraction=0 \
		-edgefraction=0 "$2" 2>/dev/null | awk 't { print $1, $4, $6, $7, $8 } /flat%/ { t = 1 }' |
		sed 's/ (inline) *$//; s/ (partial-inline) *$//' | sort
}
# awk leaves spaces where a name has fewer words
tidy() {
	sed 's/ *$//; s/ (partial-inline)//; s/ (inline)//'
}

for file in $cpu $heap; do
	type=samples
	[ $file = $heap ] && type=inuse_objects
	if ! command -v go >/dev/null; then
		skip "report agrees with pprof -top on $file" "no go here"
		continue
	fi
	weft_rows $type $file | tidy >"$work/ours"
	pprof_rows $type $file | tidy >"$work/theirs"
	[ -s "$work/ours" ] && diff "$work/ours" "$work/theirs" >"$work/out"
	agrees=$?
	claim "report agrees with pprof -top on $file ($(wc -l <"$work/ours") functions)" $agrees
	"$weft" report --sample-type $type --focus 'runtime\.main' "$file" | awk 't { print $1, $4, $6, $7, $8 } /Flat%/ { t = 1 }' | sort | tidy >"$work/ours"
	go tool pprof -symbolize=none -sample_index=$type -unit=count -top -focus='runtime\.main' -nodecount=100000 -nodefraction=0 -edgefraction=0 $file 2>/dev/null |
		awk 't { print $1, $4, $6, $7, $8 } /flat%/ { t = 1 }' | sort | tidy >"$work/theirs"
	diff "$work/ours" "$work/theirs" >"$work/out"
	claim "--focus agrees with pprof -focus on $file" $?
done

run report $cpu --tree
[ $status = 0 ] && says out "Total Total%"
claim "the tree is shown" $?
run report --peek 'no such function' $cpu
[ $status = 1 ] && says err "no function matches"
claim "what matches nothing is said" $?
run report --sample-type wall --peek main $cpu
[ $status = 2 ] && ! says err "no function matches" && says err "it has: samples cpu"
claim "a sample type that is not there is said, with those that are" $?

"$weft" report - <$cpu >"$work/out" 2>"$work/err" && [ "$(sed 1d "$work/out")" = "$("$weft" report $cpu | sed 1d)" ]
claim "a profile is read from stdin" $?

run report $cpu -o "$work/again.pb.gz"
[ $status = 0 ] && [ "$("$weft" report "$work/again.pb.gz" | sed 1,3d)" = "$("$weft" report $cpu | sed 1,3d)" ]
claim "a profile is converted and says the same" $?
run report $cpu --format folded
[ $status = 0 ] && grep -q ';main\.main' "$work/out"
claim "--format without -o writes to stdout" $?
run report --sample-type samples --focus 'runtime\.main' $cpu
kept=$(sed -nE 's/.* · ([0-9]+) \(.*after the filter.*/\1/p' "$work/out")
run report $cpu --focus 'runtime\.main' -o "$work/part.pb.gz"
[ $status = 0 ] && run report --sample-type samples "$work/part.pb.gz" && grep -q "^$kept in total" "$work/out" && [ "$kept" -gt 0 ]
claim "-o writes what the filter keeps ($kept samples)" $?
run report $heap --by bytes --format folded
[ $status = 0 ] && [ "$(grep -vcE '^\[bytes: [0-9]+\];' "$work/out")" = 0 ] && [ -s "$work/out" ]
claim "--by begins every stack with what the label says" $?
run report $heap --by bytes --sample-type alloc_objects
shares=$(awk '/^ +Flat/ { exit } $3 == "[bytes:" { n++; sum += $2; if (n > 1 && $2 + 0 > last) bad = 1; last = $2 + 0 } END { print n, sum, bad + 0 }' "$work/out")
[ $status = 0 ] && awk '{ exit !($1 > 1 && $2 > 50 && $2 <= 100.5 && !$3) }' <<<"$shares"
claim "--by says what share each value has, largest first, before the functions ($shares)" $?
total=$("$weft" report --sample-type alloc_objects $heap | sed -nE '2s/ .*//p')
run report $heap --sample-type alloc_objects --format folded
[ $status = 0 ] && [ "$(awk '{ n += $NF } END { print n }' "$work/out")" = "$total" ]
claim "-o shows the sample type that is asked for ($total objects)" $?
run report $heap --sample-type wall -o "$work/wall.html"
[ $status = 2 ] && says err "it has: " && [ ! -e "$work/wall.html" ]
claim "-o with a sample type that is not there writes nothing" $?
run report $heap --by colour --tree
[ $status = 0 ] && grep -q '100.0%.*\[no colour\]' "$work/out" && says err "no sample has a label colour" && says err "there are: bytes"
claim "samples without the label have a root of their own" $?
run report $cpu --only go
[ $status = 0 ] && says out "main.main" && run report $cpu --only perl && [ $status = 2 ] && says err "not a language weft knows"
claim "--only takes languages that there are" $?
run report $cpu -o /dev/full --format folded
[ $status = 1 ] && says err "No space left"
claim "a full disk is said" $?

size=$(stat -c %s $cpu)
head -c $((size / 2)) $cpu >"$work/half.pb.gz"
run report "$work/half.pb.gz"
[ $status = 6 ] && says err "damaged"
claim "half a file is damaged input" $?
printf 'FLR\0\0\2\0\1' | gzip >"$work/rec.jfr.gz"
run report "$work/rec.jfr.gz"
[ $status = 1 ] && says err "packed JFR recording" && says err "weft jfr" && ! says err "damaged"
claim "of a packed recording it says who reads it" $?

# On a terminal: a pager, colours, and the width.
on_terminal() {
	script -qec "$*" /dev/null </dev/null 2>"$work/err" | tr -d '\r' >"$work/out"
}
if command -v script >/dev/null; then
	PAGER="sed s/^/paged:/" on_terminal "$weft report $cpu"
	says out "paged:"
	claim "the report goes through PAGER on a terminal" $?
	PAGER="sed s/^/paged:/" on_terminal "$weft report --no-pager $cpu"
	! says out "paged:"
	claim "--no-pager does without" $?
	PAGER=cat TERM=xterm on_terminal "$weft report $cpu"
	grep -q $'\033\[1m' "$work/out"
	claim "a terminal gets colours" $?
	PAGER=cat TERM=xterm NO_COLOR=1 on_terminal "$weft report $cpu"
	! grep -q $'\033\[' "$work/out"
	claim "NO_COLOR is honoured" $?
	PAGER=true on_terminal "$weft report $cpu; echo status \$?"
	says out "status 0"
	claim "a pager that is left early is no failure" $?
else
	skip "terminals" "no script(1) here"
fi
finish
