#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What weft doctor says of a process: what it saw of it, and why where it could not see.
. "$(dirname "$0")/tap.sh"

# lines TEXT: how many lines of stdout begin so, behind their mark
lines() {
	grep -c "^\(ok  \|part\|NO  \)  $1\b" "$work/out"
}

# A program that maps a file twice, and eleven others, as code.
for n in $(seq 11); do cp "$weft" "$work/copy$n"; done
python3 - "$work" <<'PYTHON' & mapper=$!
import mmap, sys, time
def map_code(path):
    with open(path, "rb") as f:
        return mmap.mmap(f.fileno(), 1 << 16, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
kept = [map_code(f"{sys.argv[1]}/copy{1 + n % 11}") for n in range(12)]
open(sys.argv[1] + "/ready", "w").close()
time.sleep(600)
PYTHON
trap 'kill $mapper; rm -rf "$work"' EXIT
for _ in $(seq 300); do
	[ -e "$work/ready" ] && break
	sleep 0.1
done

run doctor --pid $mapper -v
[ "$(lines "binary  *.*/copy1 cannot")" = 1 ] && [ "$(lines "binary  *.*/copy11 cannot")" = 1 ]
claim "a file has one line, however often it is mapped" $?
all=$(lines binary)
! says out "smaller ones" && [ "$all" -ge 12 ]
claim "-v: every binary has one" $?
run doctor --pid $mapper
[ "$(lines binary)" = 8 ] && says out "$((all - 8)) smaller ones"
claim "without -v the largest eight, and how many there are besides" $?

if grep -q '^Kthread:.*1\|^Name:.*kthreadd' /proc/2/status 2>/dev/null; then
	run doctor --pid 2
	says out "a kernel thread: it has kernel frames only" && [ "$(lines mappings)$(lines runtime)" = 00 ]
	claim "a kernel thread is called that, and has no mappings and no runtime" $?
else
	skip "a kernel thread is called that" "no kernel thread is seen here"
fi

# unseen COMMAND...: what weft says of a process when COMMAND starts it
unseen() {
	"$@" "$work/copy1" doctor --pid $mapper >"$work/out" 2>"$work/err" </dev/null
	[ "$(lines runtime)" = 0 ] && grep -q "^part  mappings .*cannot be read" "$work/out" &&
		grep -q "^part  program .*cannot be seen" "$work/out"
}
chmod 755 "$work"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	unseen setpriv --reuid=65533 --regid=65533 --clear-groups --inh-caps=-all --bounding-set=-all &&
		says out "(CAP_SYS_PTRACE is missing)"
	claim "what may not be read is no fact, and the capability is named" $?
else
	skip "what may not be read is no fact" "needs root and setpriv"
fi
if [ "$(id -u)" = 0 ] && unshare -Ur true 2>/dev/null; then
	unseen unshare -Ur && says out "weft has CAP_SYS_PTRACE, but" && ! says out "(CAP_SYS_PTRACE"
	claim "what is refused in spite of the capability has another reason" $?
else
	skip "what is refused in spite of the capability has another reason" "no user namespaces here"
fi
finish
