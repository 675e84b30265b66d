#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exit status and words of what weft does not understand; help, version, completion.
. "$(dirname "$0")/tap.sh"

# what is wrong: status, a part of stderr, the arguments
usage() {
	local expected=$1 text=$2
	shift 2
	run "$@"
	[ $status = "$expected" ] && says err "$text" && [ ! -s "$work/out" ] &&
		[ "$(wc -l <"$work/err")" -le 3 ]
	claim "weft $*: exit $expected, \"$text\", at most three lines" $?
}

usage 2 "usage: weft VERB"
usage 2 "no verb frobnicate" frobnicate
usage 2 "did you mean: weft record" recrod
usage 2 "weft record -- CMD" -- true
usage 2 "the verb comes first" -F 99
usage 2 "did you mean --focus" report --fokus x x.pb.gz
usage 2 "unknown option -Z" report -Z x.pb.gz
usage 2 "an argument is missing" report
usage 2 "one argument too many" report a b
usage 2 "needs an argument" report -n
usage 2 "not a number from 1" report -n 0 x.pb.gz
usage 2 "a report has one view" report --top --tree x.pb.gz
usage 2 "a report has one view" report --callers main --peek main x.pb.gz
usage 2 "Unmatched" report --focus '(' x.pb.gz
usage 2 "no completion for the shell csh" completion csh
usage 2 "no verb nonsense" help nonsense
usage 2 "where to?" symbolize x.pb.gz
usage 2 "what? -p PID" record
usage 2 "a command goes after --" record sleep 1
usage 2 "no command after --" record --
usage 2 "not a duration" record -a -d soon
usage 2 "everything" record -a -p 1
usage 2 "not a number from 1" record -p -1
usage 2 "not a number from 1" record -p -F 99
usage 2 "not a number from 1" doctor -p -1
usage 2 "not both" record -p 1 -- true
usage 2 "leave nothing" record -a --user-only --kernel-only
usage 2 "there is: cpu" record -a -e branches
usage 2 "no format has this extension" record -a -o "$work/x.unknown"
usage 2 "no format nonsense" record -a --format nonsense -o "$work/x"
usage 1 "cannot read" report "$work/nothing.pb.gz"
usage 4 "there is no process 2147483647" record -p 2147483647
usage 4 "there is no thread 2147483647" record --tid 2147483647
usage 4 "no process is named no-such-name" record -p no-such-name
usage 4 "there is no process" doctor --pid 2147483647

echo "this is no profile" >"$work/text.pb.gz"
usage 6 "no profile that weft reads" report "$work/text.pb.gz"
: >"$work/empty.pb.gz"
usage 6 "is empty" report "$work/empty.pb.gz"

for form in help --help -h; do
	run "$form"
	[ $status = 0 ] && says out "usage: weft VERB"
	claim "weft $form lists the verbs" $?
done
for form in version --version -V; do
	run "$form"
	[ $status = 0 ] && grep -qE '^weft [0-9]+\.[0-9]+\.[0-9]+$' "$work/out"
	claim "weft $form prints the version" $?
done
for verb in $("$weft" help --verbs); do
	run "$verb" --help
	[ $status = 0 ] && says out "usage: weft $verb"
	claim "weft $verb --help explains it" $?
	run help --man "$verb"
	[ $status = 0 ] && { ! command -v groff >/dev/null || [ -z "$(groff -man -Tutf8 -ww "$work/out" 2>&1 >/dev/null)" ]; }
	claim "the manual page of $verb has no warnings" $?
done

# It works for those who know it, but has never run on a real counter.
{ "$weft" help record; "$weft" help report; "$weft" help --man record; "$weft" help --man report
	for shell in bash zsh fish; do "$weft" completion $shell; done; } >"$work/out" 2>"$work/err"
[ -s "$work/out" ] && ! says out cycles
claim "the event cycles is not proposed" $?

for shell in bash zsh fish; do
	run completion $shell
	cp "$work/out" "$work/completion"
	if command -v $shell >/dev/null; then
		$shell -n "$work/completion"
		claim "$shell understands its completion" $?
	else
		skip "$shell understands its completion" "no $shell here"
	fi
done

# What bash would offer for a line of words.
offers() {
	bash -c '. <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf "%s\n" "${COMPREPLY[@]}"' \
		"$weft" "$@" >"$work/out" 2>"$work/err"
}
offers weft rep
[ "$(cat "$work/out")" = report ]
claim "bash completes a verb" $?
offers weft report --foc
[ "$(cat "$work/out")" = --focus ]
claim "bash completes an option" $?
offers weft record --format ht
[ "$(cat "$work/out")" = html ]
claim "bash completes a format" $?
offers weft help sym
[ "$(cat "$work/out")" = symbolize ]
claim "bash completes the verb that help is asked for" $?

"$weft" help >/dev/full 2>"$work/err"
status=$?
[ $status = 1 ] && says err "cannot write to stdout"
claim "output that cannot be written is a failure" $?
finish
