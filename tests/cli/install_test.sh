#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make install and make uninstall, into an empty directory.
. "$(dirname "$0")/tap.sh"
root=$work/root

# The weft that was just tested is what is installed; nothing is built here.
make --no-print-directory install DESTDIR="$root" PREFIX=/usr >"$work/out" 2>"$work/err"
claim "make install succeeds" $?
[ -x "$root/usr/bin/weft" ] && [ "$("$root/usr/bin/weft" version)" = "$("$weft" version)" ]
claim "the installed program runs" $?
missing=
for verb in $("$weft" help --verbs); do
	gzip -t "$root/usr/share/man/man1/weft-$verb.1.gz" 2>/dev/null || missing="$missing $verb"
done
[ -z "$missing" ] && zcat "$root/usr/share/man/man1/weft.1.gz" | grep -q '^\.TH WEFT 1'
claim "every verb has a manual page$missing" $?
bash -n "$root/usr/share/bash-completion/completions/weft" &&
	[ -s "$root/usr/share/zsh/site-functions/_weft" ] &&
	[ -s "$root/usr/share/fish/vendor_completions.d/weft.fish" ]
claim "completion is installed for three shells" $?
outside=$(find "$root" -type f ! -path "$root/usr/*")
[ -z "$outside" ]
claim "nothing is installed outside of the prefix" $?

make --no-print-directory uninstall DESTDIR="$root" PREFIX=/usr >"$work/out" 2>"$work/err"
claim "make uninstall succeeds" $?
left=$(find "$root" -type f)
[ -z "$left" ]
claim "make uninstall leaves no file" $?

make --no-print-directory install DESTDIR="$work/local" >"$work/out" 2>"$work/err" && [ -x "$work/local/usr/local/bin/weft" ]
claim "the default prefix is /usr/local" $?
finish
