// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Event;
import jdk.jfr.Name;

/**
 * A little of everything, in a second: recordings of it are small enough to be kept beside the tests, with all that is made
 * of them for a person to read. Each thread does one kind of thing; methods say what they do.
 */
public final class Few {
    @Name("io.opentelemetry.context.Scope")
    static final class ScopeEvent extends Event {
        String traceId;
        String spanId;
    }

    /** What a service of the name that the environment gives would do. */
    static final class Order extends RuntimeException {
        private static final long serialVersionUID = 1;

        Order(String message) {
            super(message);
        }
    }

    private static final Object LOCK = new Object();
    static volatile long sink;
    static volatile Object kept;

    private static boolean isBefore(long end) {
        return System.nanoTime() < end;
    }

    static void burn(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L, n = 0;

        while (isBefore(end)) {
            for (int i = 0; i < 10_000; i++) {
                n += i * n + i;
            }
        }
        sink = n;
    }

    static void inSpan() {
        ScopeEvent scope = new ScopeEvent();
        scope.traceId = "0af7651916cd43dd8448eb211c80319c";
        scope.spanId = "b7ad6b7169203331";
        scope.begin();
        burn(200);
        scope.commit();
    }

    static void allocate() {
        for (int i = 0; i < 300; i++) {
            kept = new byte[100_000];
        }
    }

    static void hold(int ms) throws InterruptedException {
        synchronized (LOCK) {
            Thread.sleep(ms);
        }
    }

    static void contend() {
        synchronized (LOCK) {
            sink++;
        }
    }

    static void park() {
        LockSupport.parkNanos(Few.class, 40_000_000L);
    }

    static void fail() {
        try {
            throw new Order("password=not-to-be-told");
        } catch (Order e) {
            sink++;
        }
    }

    interface Step {
        void run() throws Exception;
    }

    private static Thread start(String name, Step step) {
        Thread thread = new Thread(null, () -> {
            try {
                step.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        Thread.sleep(300);
        Thread[] threads = {start("burn", () -> burn(200)), start("span", Few::inSpan), start("hold", () -> hold(60)),
            start("größe", Few::park), start("allocate", Few::allocate), start("fail", Few::fail)};
        Thread.sleep(20);
        contend();
        for (Thread thread : threads) {
            thread.join();
        }
        System.gc();
        Thread.sleep(100);
    }

    private Few() {
    }
}
