#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft symbolize: a stripped program's profile gets its names once there are debug files.
. "$(dirname "$0")/tap.sh"
needs_profiling
needs_tool objcopy

cat >"$work/quiet.c" <<'C'
#include <stdlib.h>
static __attribute__((noinline)) long hidden_work(long n) { volatile long x = 0; for (long i = 0; i < n; i++) x += i; return x; }
int main(void) { for (int i = 0; i < 400; i++) hidden_work(1000000); return 0; }
C
${CC:-cc} -O1 -g -Wl,--build-id -o "$work/quiet" "$work/quiet.c" || exit 1
id=$(readelf -n "$work/quiet" | awk '/Build ID/ { print $3 }')
debug=$work/debug/.build-id/${id:0:2}
mkdir -p "$debug"
objcopy --only-keep-debug "$work/quiet" "$debug/${id:2}.debug"
strip "$work/quiet"
run record -o "$work/raw.pb.gz" -- "$work/quiet"
run report "$work/raw.pb.gz"
[ $status = 0 ] && ! says out hidden_work && says out 'quiet+0x'
claim "functions of a stripped program go by where they begin" $?

run symbolize "$work/raw.pb.gz" -o "$work/none.pb.gz" --debug-dir "$work/nowhere"
[ $status = 0 ] && says err "named 0 of" && "$weft" report "$work/none.pb.gz" | grep -qF 'quiet+0x'
claim "without debug files nothing is named and nothing is lost" $?
run symbolize "$work/raw.pb.gz" -o "$work/named.pb.gz" --debug-dir "$work/debug"
[ $status = 0 ] && "$weft" report "$work/named.pb.gz" >"$work/out" && says out hidden_work && ! says out 'quiet+0x'
claim "with debug files its functions are named" $?
[ "$("$weft" report "$work/raw.pb.gz" | sed -n 2p)" = "$(sed -n 2p "$work/out")" ]
claim "samples and accounting stay the same" $?

rm "$work/quiet"
run symbolize "$work/raw.pb.gz" -o "$work/later.pb.gz" --debug-dir "$work/debug"
[ $status = 0 ] && "$weft" report "$work/later.pb.gz" | grep -q hidden_work
claim "the debug file is enough when the program is gone" $?
cp /bin/true "$work/quiet"
run symbolize "$work/raw.pb.gz" -o "$work/wrong.pb.gz"
[ $status = 0 ] && says err "its build id is another one" && "$weft" report "$work/wrong.pb.gz" | grep -qF 'quiet+0x'
claim "another program at the same path gives no wrong names" $?
rm "$work/quiet"
mkfifo "$work/quiet"
# Who opens the other end lets this one go on.
(echo >"$work/quiet"; echo opened >"$work/opened") & writer=$!
run symbolize "$work/raw.pb.gz" -o "$work/fifo.pb.gz"
[ $status = 0 ] && says err "no regular file" && [ ! -e "$work/opened" ]
claim "a FIFO at the path is not opened" $?
kill $writer
wait $writer 2>/dev/null
run symbolize "$work/raw.pb.gz" -o "$work/no/such/dir.pb.gz"
[ $status = 1 ] && says err "cannot write"
claim "an output that cannot be written is said" $?
finish
