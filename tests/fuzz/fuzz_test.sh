#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for FUZZ_S seconds over its committed corpus, JOBS at a time; prints the seeds. An
# input that breaks one is kept in build/fuzz/artifacts; what a run of more than KEEP_S seconds found
# new is kept in build/fuzz/corpus and is where the next one begins.
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}/fuzz
seconds=${FUZZ_S:-30}
artifacts=$build/artifacts
KEEP_S=300
JOBS=7	# also on two CPUs: what a run finds is found by the thousandth input or by hours of them
work=$(mktemp -d)
corpus=$work
[ "$seconds" -le $KEEP_S ] || corpus=$build/corpus
mkdir -p "$artifacts"
trap 'rm -rf "$work"' EXIT

# libFuzzer's timeout is wall time, and the machine may be shared: an input that takes a second
# alone stays below a minute, and one that does not end is found all the same, for the run waits for it.
input_timeout=60

fuzz_one() {
	local name=$1 seed=$2
	mkdir -p "$corpus/$name"
	"$build/${name}_fuzz" -seed="$seed" -max_total_time="$seconds" -timeout="$input_timeout" \
		-rss_limit_mb=2048 -malloc_limit_mb=1024 -artifact_prefix="$artifacts/$name-" \
		-print_final_stats=1 "$corpus/$name" "tests/fuzz/corpus/$name" \
		>"$work/$name.log" 2>&1
	echo $? >"$work/$name.rc"
}

n=0
for target in tests/fuzz/*_fuzz.c; do
	name=$(basename "$target" _fuzz.c)
	seed=$((RANDOM * 32768 + RANDOM))
	echo "# $name: seed $seed"
	mkdir -p "tests/fuzz/corpus/$name"
	fuzz_one "$name" "$seed" &
	n=$((n + 1))
	[ $((n % JOBS)) = 0 ] && wait
done
wait

i=0 bad=0
for rc in "$work"/*.rc; do
	i=$((i + 1))
	name=$(basename "$rc" .rc)
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
	if [ "$(cat "$rc")" = 0 ]; then
		echo "ok $i - $name survives ${runs:-?} inputs in $seconds s"
	else
		echo "not ok $i - $name"
		tail -n 40 "$work/$name.log"
		sed -n 's/.*Test unit written to /# the input: /p' "$work/$name.log"
		bad=1
	fi
done
exit $bad
