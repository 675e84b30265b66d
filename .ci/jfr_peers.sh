#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who else writes and reads JFR recordings, from their languages' package registries into a folder of their
# own: async-profiler and its converter, JMC's reader and writer, grafana's parser and agent, Datadog's agent. What cannot be had is named,
# and tests and measures go without it. Nothing is fetched twice.
#
#	.ci/jfr_peers.sh FOLDER [writers]	writers: only what recordings are made with
set -u
cd "$(dirname "$0")/.."
folder=$1 what=${2:-all}
ASYNC_PROFILER=tools.profiler:async-profiler:4.6
CONVERTER=tools.profiler:jfr-converter:4.5
JMC=9.1.2
LZ4=org.lz4:lz4-java:1.8.0
ENCODER=org.owasp.encoder:encoder:1.3.1
GRAFANA_AGENT=io.pyroscope:agent:2.9.2
DATADOG_AGENT=com.datadoghq:dd-java-agent:1.68.1
GRAFANA=github.com/grafana/jfr-parser@v0.17.1
COPY=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy

without() { echo "jfr peers: no $1 here; tests and measures go without it"; }

# jars NAME ARTIFACT...: FOLDER/NAME/*.jar, all or none
jars() {
	name=$1
	shift
	[ ! -d "$folder/$name" ] || return 0
	rm -rf "$folder/$name.new"
	for artifact in "$@"; do
		if ! mvn -q -B "$COPY" -Dartifact="$artifact" -DoutputDirectory="$folder/$name.new" >/dev/null 2>&1; then
			rm -rf "$folder/$name.new"
			without "$name"
			return 1
		fi
	done
	echo "$*" >"$folder/$name.new/version"
}

# keep NAME: what was fetched is whole
keep() { mv "$folder/$1.new" "$folder/$1"; }

async_profiler() {
	jars async-profiler $ASYNC_PROFILER || return 0
	[ -d "$folder/async-profiler.new" ] || return 0
	case $(uname -m) in aarch64) platform=linux-arm64 ;; *) platform=linux-x64 ;; esac
	(cd "$folder/async-profiler.new" && python3 -m zipfile -e ./*.jar unpacked &&
		mv "unpacked/$platform/libasyncProfiler.so" . && rm -rf unpacked ./*.jar) && keep async-profiler
}

# whole NAME ARTIFACT...: as jars, and nothing else has to be done with them
whole() { jars "$@" && [ -d "$folder/$1.new" ] && keep "$1"; }

# A program of ours that uses the library.
grafana() {
	! cmp -s tests/bench/peers/grafana_jfr.go "$folder/grafana-jfr/main.go" || return 0
	command -v go >/dev/null || { without "grafana's parser (there is no go)"; return 0; }
	rm -rf "$folder/grafana-jfr.new"
	mkdir -p "$folder/grafana-jfr.new"
	cp tests/bench/peers/grafana_jfr.go "$folder/grafana-jfr.new/main.go"
	if (cd "$folder/grafana-jfr.new" && export GOFLAGS=-mod=mod && go mod init grafana_jfr && go get $GRAFANA &&
		go build -o grafana_jfr .) >"$folder/grafana-jfr.log" 2>&1; then
		echo $GRAFANA >"$folder/grafana-jfr.new/version"
		rm -rf "$folder/grafana-jfr"
		keep grafana-jfr
	else
		tail -n 3 "$folder/grafana-jfr.log" >&2
		rm -rf "$folder/grafana-jfr.new"
		without "grafana's parser"
	fi
}

mkdir -p "$folder"
if command -v mvn >/dev/null; then
	async_profiler
	whole jmc-writer org.openjdk.jmc:flightrecorder.writer:$JMC org.openjdk.jmc:common:$JMC
	whole grafana-agent $GRAFANA_AGENT
	whole datadog-agent $DATADOG_AGENT
	if [ "$what" = all ]; then
		whole jfrconv $CONVERTER
		whole jmc org.openjdk.jmc:flightrecorder:$JMC org.openjdk.jmc:common:$JMC $LZ4 $ENCODER
	fi
else
	without "async-profiler, jfrconv and JMC (there is no mvn)"
fi
[ "$what" != all ] || grafana
exit 0
