// SPDX-License-Identifier: Apache-2.0
import java.util.function.LongUnaryOperator;

/** CPU time in methods of known shares. Each round rests, so that many of them fit on a small machine. */
final class Burn {
    private static final int ROUND = 400_000;
    static volatile long sink;

    private static long work(long n) {
        long x = 88172645463325252L;
        for (long i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static void rest() throws InterruptedException {
        Thread.sleep(5);
    }

    static void threeQuarters() {
        sink = work(3 * ROUND);
    }

    static void oneQuarter() {
        sink = work(ROUND);
    }

    static void threeToOne() throws InterruptedException {
        threeQuarters();
        oneQuarter();
        rest();
    }

    static void inLambdas() throws InterruptedException {
        LongUnaryOperator twice = n -> work(2 * n);
        LongUnaryOperator once = Burn::work;
        sink = twice.andThen(x -> once.applyAsLong(ROUND) ^ x).applyAsLong(ROUND / 2);
        rest();
    }

    /** Deeper than what a recording keeps of a stack by default, which is 64 frames. */
    private static long descend(int depth) {
        return depth == 0 ? work(ROUND) : descend(depth - 1) + 1;
    }

    static void deep() throws InterruptedException {
        sink = descend(100);
        rest();
    }

    /** In a thread that has no name. */
    static void nameless() throws InterruptedException {
        sink = work(ROUND);
        rest();
        rest();
    }

    static void forMs(long milliseconds) {
        long end = System.nanoTime() + milliseconds * 1_000_000;
        while (System.nanoTime() < end) {
            sink = work(1000);
        }
    }

    private Burn() {
    }
}

/** A class and a method whose names are not ASCII. */
final class Größe {
    static void zähle名() throws InterruptedException {
        Burn.forMs(5);
        Thread.sleep(10);
    }

    private Größe() {
    }
}
