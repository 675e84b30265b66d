#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `make demo` does once everything is built: start the example programs, record the whole
# machine for ten seconds, show the top table, write demo.pb.gz and demo.html.
set -eu
build=${BUILD:-build}
sudo=${SUDO:-}

"$build/examples/ingest" 12 &
ingest=$!
"$build/examples/batch" 12 &
batch=$!
trap 'kill $ingest $batch 2>/dev/null || :' EXIT

echo "demo: recording the whole machine for 10 s (example programs: ingest, batch)"
$sudo "$build/weft" record -a -d 10 -o demo.pb.gz
if [ -n "$sudo" ]; then
	$sudo chown "$(id -u):$(id -g)" demo.pb.gz
fi
"$build/weft" report demo.pb.gz -o demo.html
echo "demo: wrote demo.html (open it in a browser) and demo.pb.gz (go tool pprof -http : demo.pb.gz)"
