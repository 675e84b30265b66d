# SPDX-License-Identifier: Apache-2.0
# Recordings that other libraries and agents than a JVM write: sourced by tests/jfr/recordings.sh.

# writer_of KIND: the folder of its jars
writer_of() {
	case $1 in
	jmc) echo jmc-writer ;;
	*) echo "$1-agent" ;;
	esac
}

has_writer() { [ -d "$peers/$(writer_of "$1")" ]; }

make_jmc() {
	local jars="$peers/jmc-writer/*"
	compile_with "$jars" tests/jfr/writer/Written.java &&
		"$jdk/bin/java" -cp "$work/classes:$jars" Written "$work/made" >"$work/log" 2>&1
}

make_grafana() {
	local jars="$peers/grafana-agent/*"
	compile_with "$jars" tests/jfr/few/Few.java tests/jfr/writer/Grafana.java &&
		"$jdk/bin/java" -Xmx64m -cp "$work/classes:$jars" Grafana "$work/made.jfr" >"$work/log" 2>&1 && mv "$work/made.jfr" "$work/made"
}

# Its agent keeps a copy of what it would upload; there is nobody to upload it to.
make_datadog() {
	local option options=
	for option in profiling.enabled=true profiling.ddprof.enabled=true profiling.start-delay=0 profiling.start-force-first=true \
		profiling.upload.period=3 "profiling.debug.dump_path=$work/made" profiling.ddprof.alloc.enabled=true profiling.ddprof.liveheap.enabled=true \
		profiling.queueing.time.enabled=true "trace.methods=Spans[step,outerWork,innerWork]" service=orders env=test trace.agent.port=1 \
		instrumentation.telemetry.enabled=false remote_config.enabled=false; do
		options="$options -Ddd.$option"
	done
	mkdir "$work/made"
	load 12 some "-javaagent:$(echo "$peers"/datadog-agent/*.jar)" $options
}
