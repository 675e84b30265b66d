// SPDX-License-Identifier: Apache-2.0
import jdk.jfr.Recording;

/** Scopes that lie over the end of a chunk: other recordings begin and end in them. */
public final class Rotate {
    private static int n_spans;

    interface Step {
        void run();
    }

    /** One event before the chunk ends and one behind that, both in the same scope. */
    private static void around(Step rotation) throws InterruptedException {
        Spans.ScopeEvent scope = new Spans.ScopeEvent();
        scope.traceId = String.format("%032x", 0xFEDCBA0000000000L + ++n_spans);
        scope.spanId = String.format("%016x", 0x1000L + n_spans);
        scope.begin();
        Thread.sleep(25);
        rotation.run();
        Thread.sleep(25);
        scope.commit();
    }

    public static void main(String[] args) throws InterruptedException {
        // So that the type is known before the first of them.
        around(() -> { });
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            Recording other = new Recording();
            // Each time at another distance from the last flush.
            Thread.sleep(1100 + 130 * i);
            around(other::start);
            Thread.sleep(1200);
            around(other::close);
        }
        Thread.sleep(1100);
    }

    private Rotate() {
    }
}
