#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the capabilities of weft's file, or root, may be used for, and who may read what was seen with
# them. Needs root and BPF.
. "$(dirname "$0")/tap.sh"
needs_profiling
needs_tool setpriv
needs_tool setcap
user=65533
umask 022
unset SUDO_UID SUDO_GID # of who runs the tests

# as_user COMMAND...: its output where claims look for it
as_user() {
	setpriv --reuid=$user --regid=$user --clear-groups "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# is_for OWNER MODE FILE
is_for() {
	[ "$(stat -c '%u %a' "$3")" = "$1 $2" ]
}

while :; do :; done & busy=$!
trap 'kill $busy; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/theirs"
chown $user "$work/theirs"

run record -p $busy -d 0.5 -o "$work/x.pb.gz"
[ $status = 0 ] && is_for 0 600 "$work/x.pb.gz"
claim "what root records is root's alone" $?
SUDO_UID=$user SUDO_GID=$user run record -p $busy -d 0.5 -o "$work/theirs/sudo.pb.gz"
[ $status = 0 ] && is_for $user 600 "$work/theirs/sudo.pb.gz"
claim "through sudo it is the user's who asked" $?
run report "$work/x.pb.gz" -o "$work/x.html" && run symbolize "$work/x.pb.gz" -o "$work/y.pb.gz" &&
	is_for 0 600 "$work/x.html" && is_for 0 600 "$work/y.pb.gz"
claim "what is made of a private profile is private" $?
cp "$work/x.pb.gz" "$work/public.pb.gz"
chmod 644 "$work/public.pb.gz"
run report "$work/public.pb.gz" -o "$work/public.html" && is_for 0 644 "$work/public.html"
claim "and what is made of a public one is not" $?

cp "$weft" "$work/weft"
caps=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore,cap_syslog
if setcap $caps=ep "$work/weft" && as_user "$work/weft" doctor && says out "all six that weft uses"; then
	as_user "$work/weft" record -p $busy -d 0.5 -o "$work/theirs/caps.pb.gz"
	[ $status = 0 ] && is_for $user 600 "$work/theirs/caps.pb.gz"
	claim "capabilities of weft's file let everybody record" $?
	as_user "$work/weft" report "$work/theirs/caps.pb.gz"
	claim "and report what they recorded" $status
	for verb in "report" "symbolize -o $work/theirs/z.pb.gz" "report -o $work/theirs/z.html"; do
		# shellcheck disable=SC2086
		as_user "$work/weft" $verb "$work/x.pb.gz"
		[ $status = 1 ] && says err "Permission denied"
		claim "but not what they may not read: weft ${verb//$work\/theirs\//} root.pb.gz" $?
	done
else
	skip "capabilities of weft's file" "they have no effect here"
fi
finish
