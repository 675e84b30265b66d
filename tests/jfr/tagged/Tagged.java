// SPDX-License-Identifier: Apache-2.0
import one.profiler.Recording;

/** Burns in spans of async-profiler: each method in spans of one tag only, or in none. */
public final class Tagged {
    static volatile long sink;

    private static void burn(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L, n = 0;

        while (System.nanoTime() < end) {
            for (int i = 0; i < 10_000; i++) {
                n += i * n + i;
            }
        }
        sink = n;
    }

    static void outer() {
        burn(20);
    }

    static void inner() {
        burn(10);
    }

    static void untagged() {
        burn(10);
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < 30; i++) {
            long start = System.nanoTime(), inside;

            outer();
            inside = System.nanoTime();
            inner();
            Recording.emitSpan(inside, System.nanoTime(), "query");
            Recording.emitSpan(start, System.nanoTime(), "GET /größe/{id}");
            untagged();
        }
    }

    private Tagged() {
    }
}
