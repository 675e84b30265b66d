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
usage 2 "is a directory" record -a -o .
usage 2 "is a directory" record -a -o "$work"
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
usage 6 "standard input is empty" report -
usage 6 "standard input is empty" symbolize - -o "$work/none.pb.gz"
[ ! -e "$work/none.pb.gz" ]
claim "nothing is made of nothing" $?
head -c 300M /dev/zero | gzip -1 >"$work/bomb.pb.gz"
usage 6 "unpacks to more than 256 MiB, which is refused" report "$work/bomb.pb.gz"
truncate -s 300M "$work/large.pb.gz"
printf '\x1f\x8b\x08' | dd of="$work/large.pb.gz" conv=notrunc status=none
usage 6 "has 256 MiB or more, which is refused" report "$work/large.pb.gz"
rm "$work/bomb.pb.gz" "$work/large.pb.gz"

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
offers weft jfr --format = ht
[ "$(cat "$work/out")" = html ]
claim "bash completes a format behind an equals sign, which is a word for readline" $?
offers weft jfr --events cpu,al
[ "$(cat "$work/out")" = $'cpu,alloc\ncpu,all' ]
claim "bash completes the last of a list" $?
offers weft help sym
[ "$(cat "$work/out")" = symbolize ]
claim "bash completes the verb that help is asked for" $?

# Names of files are text: nothing in them is run, and a name is one argument.
"$weft" completion bash >"$work/weft.bash"
mkdir "$work/names" "$work/names/g h"
names=('a $(touch run)' 'b `touch run`' 'c *' "d '\"" $'e\nf')
for name in "${names[@]}"; do : >"$work/names/$name"; done
for name in "${names[@]}" 'g h/'; do
	printf '%s\0' report "$name" >"$work/err"
	[[ $name == g* ]] && printf '%s\0' symbolize --debug-dir "$name" >"$work/err"
	line="weft $(tr '\0' ' ' <"$work/err")"
	(cd "$work/names" && "$OLDPWD/tests/cli/type_line.py" "$work/weft.bash" "${line%"$name"*}${name:0:1}") \
		>"$work/out"
	cmp -s "$work/out" "$work/err" && [ ! -e "$work/names/run" ]
	claim "bash completes the name ${name@Q}" $?
done
(cd "$work/names" && offers weft report ''; [ ! -e run ])
claim "bash runs nothing that stands in the names it offers" $?
offers weft record -- tou
grep -qx touch "$work/out"
claim "bash completes the command to record" $?

if command -v fish >/dev/null; then
	"$weft" completion fish >"$work/weft.fish"
	HOME=$work fish -c "source $work/weft.fish; complete -C 'weft record --output $work/wef'
		complete -C 'weft record --debug-dir $work/na'; complete -C 'weft report --format ht'
		complete -C 'weft jfr --events cpu,al'" >"$work/out" 2>"$work/err"
	[ ! -s "$work/err" ] && says out "$work/weft.fish" && says out "$work/names/" && grep -q ^html "$work/out" && says out cpu,alloc
	claim "fish loads its completion without an error, and completes files, directories, words and lists" $?
else
	skip "fish completes files" "no fish here"
fi

# zsh_offers LINE
zsh_offers() {
	timeout 60 tests/cli/zsh_offers.zsh "$work/zsh" "$1" >"$work/out" 2>"$work/err"
}
if command -v zsh >/dev/null; then
	mkdir "$work/zsh" && "$weft" completion zsh >"$work/zsh/_weft"
	zsh_offers "weft help "
	says out symbolize && ! says out Makefile
	claim "zsh completes the verb that help is asked for" $?
	zsh_offers "weft record --fr"
	says out "samples per second"
	claim "zsh completes an option" $?
	zsh_offers "weft jfr --events cpu,al"
	says out alloc && says out all
	claim "zsh completes the last of a list" $?
	zsh_offers "weft record -- gzip -"
	says out ENDMARK && ! says out --freq
	claim "zsh offers no options of weft for the command to record" $?
	zsh -fc "autoload -U compinit; compinit -u -D; . <(\"$weft\" completion zsh); print \$_comps[weft]" >"$work/out" 2>"$work/err"
	[ "$(cat "$work/out")" = _weft ]
	claim "zsh takes its completion from a pipe too" $?
else
	skip "zsh completes" "no zsh here"
fi

"$weft" help >/dev/full 2>"$work/err"
status=$?
[ $status = 1 ] && says err "cannot write to stdout"
claim "output that cannot be written is a failure" $?
finish
