// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * What test recordings are made of: every thread does one kind of thing, in methods whose names say which. Runs under
 * every JDK from 8 on; what only newer ones have is found by name.
 *
 * Load SECONDS [busy|crash]: busy allocates so much that details of garbage collections are most of the recording; crash
 * ends by a fault of the JVM.
 */
public final class Load {
    static volatile boolean ended;

    interface Step {
        void run() throws Exception;
    }

    /** The step again and again, until the end. */
    static Runnable loop(Step step) {
        return () -> {
            try {
                while (!ended) {
                    step.run();
                }
            } catch (Exception e) {
                if (!ended) {
                    e.printStackTrace();
                }
            }
        };
    }

    private static final List<Thread> threads = new ArrayList<>();

    private static void start(String name, Step step) {
        Thread thread = new Thread(null, loop(step), name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    public static void main(String[] arguments) throws Exception {
        double seconds = Double.parseDouble(arguments[0]);
        boolean busy = arguments.length > 1 && arguments[1].equals("busy");
        Waits waits = new Waits();

        start("burn", Burn::threeToOne);
        start("burn-lambda", Burn::inLambdas);
        start("burn-deep", Burn::deep);
        start("zähler-名前-\uD83D\uDE00", Größe::zähle名);
        start("", Burn::nameless);
        start("lock-a", waits::contend);
        start("lock-b", waits::contend);
        start("guarded", waits::queueForLock);
        start("guarded-too", waits::queueForLock);
        start("park", waits::park);
        start("sleep", waits::sleep);
        start("wait", waits::awaitNotice);
        start("notify", waits::giveNotice);
        start("files", new Files()::step);
        Sockets sockets = new Sockets();
        start("server", sockets::serve);
        start("client", sockets::ask);
        start("allocate", busy ? Garbage::much : Garbage::some);
        start("throw", Garbage::exceptions);
        start("spans", Spans::step);
        if (!busy) {
            start("custom", Spans::everyField);
        }
        VirtualThreads.start(waits);
        Thread.sleep((long) (seconds * 1000));
        if (arguments.length > 1 && arguments[1].equals("crash")) {
            crash();
        }
        ended = true;
        sockets.close();
    }

    /** Writes where nobody may. */
    private static void crash() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        type.getMethod("putAddress", long.class, long.class).invoke(field.get(null), 8L, 8L);
    }
}
