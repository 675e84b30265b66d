// SPDX-License-Identifier: Apache-2.0
import io.pyroscope.PyroscopeAsyncProfiler;
import io.pyroscope.vendor.one.profiler.AsyncProfiler;

/**
 * A recording of Grafana's fork of async-profiler, driven as their agent drives it: its events have the ids of spans.
 *
 * Grafana FILE
 */
public final class Grafana {
    public static void main(String[] arguments) throws Exception {
        AsyncProfiler profiler = PyroscopeAsyncProfiler.getAsyncProfiler();

        profiler.execute("start,jfr,event=itimer,interval=5ms,alloc=64k,lock=1ms,file=" + arguments[0]);
        profiler.setTracingContext(0x4bf92f3577b34da6L, 7);
        Few.main(arguments);
        Few.burn(300);
        profiler.setTracingContext(0, 0);
        Few.burn(100);
        profiler.execute("stop,file=" + arguments[0]);
    }

    private Grafana() {
    }
}
