#!/usr/bin/env zsh
# SPDX-License-Identifier: Apache-2.0
# zsh_offers.zsh FOLDER LINE: what zsh shows as ways to go on with LINE, by the functions in FOLDER.
zmodload zsh/zpty
TERM=xterm zpty shell zsh -f -i
zpty -w shell "PS1= COLUMNS=200 LINES=200; fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D"
zpty -w shell "mark() { print -n END''MARK }; zle -N mark; bindkey '^Xm' mark '^Xl' list-choices; print RE''ADY"
zpty -r -m shell shown '*READY*'
zpty -n -w shell "$2"$'\C-Xl\C-Xm'
zpty -r -m shell shown '*ENDMARK*'
print -r -- ${shown#*READY}
zpty -d shell
