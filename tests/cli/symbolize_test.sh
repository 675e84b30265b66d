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


# Servers of debuginfod: one that has the file, one that takes its time for it, one that never answers.
cat >"$work/server.py" <<'PY'
import http.server, sys, time
kind, build_id, path = sys.argv[1:]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if kind == "silent":
            time.sleep(30)
            return
        if self.path != "/buildid/%s/debuginfo" % build_id:
            return self.send_error(404)
        with open(path, "rb") as f:
            body = f.read()
        body += bytes(2000000)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 100000):
            self.wfile.write(body[at:at + 100000])
            time.sleep(0.2 if kind == "slow" else 0)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY

# serve KIND: a server, and weft's environment for it
serve() {
	[ -z "${server:-}" ] || { kill "$server"; wait "$server"; } 2>/dev/null
	coproc SERVER { exec python3 "$work/server.py" "$1" "$id" "$debug/${id:2}.debug"; }
	server=$SERVER_PID
	read -r port <&"${SERVER[0]}"
	rm -rf "$work/cache"
	export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$work/cache DEBUGINFOD_TIMEOUT=2
}

if command -v python3 >/dev/null; then
	serve honest
	run symbolize "$work/raw.pb.gz" -o "$work/fetched.pb.gz" --debuginfod
	[ $status = 0 ] && "$weft" report "$work/fetched.pb.gz" | grep -q hidden_work
	claim "a debuginfod server has the names" $?
	run symbolize "$work/raw.pb.gz" -o "$work/unasked.pb.gz"
	[ $status = 0 ] && says err "named 0 of"
	claim "no server is asked without --debuginfod" $?
	serve slow
	run symbolize "$work/raw.pb.gz" -o "$work/fetched.pb.gz" --debuginfod
	[ $status = 0 ] && says err "fetching the debug file of" && "$weft" report "$work/fetched.pb.gz" | grep -q hidden_work
	claim "a file that takes longer than the patience for a silent server comes, and it is said" $?
	serve silent
	run symbolize "$work/raw.pb.gz" -o "$work/silent.pb.gz" --debuginfod
	[ $status = 0 ] && says err "it took too long" && says err "named 0 of"
	claim "a server that never answers is given up once, and that is said" $?
	kill "$server"
	unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH DEBUGINFOD_TIMEOUT
else
	skip "servers of debuginfod" "no python3 here"
fi

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
