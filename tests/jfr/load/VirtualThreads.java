// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;

/** Virtual threads where the JDK has them: one with a name, some without, one that pins its carrier. */
final class VirtualThreads {
    private static Object builder(String name) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        return name == null ? builder : type.getMethod("name", String.class).invoke(builder, name);
    }

    private static void start(String name, Load.Step step) throws ReflectiveOperationException {
        Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
        start.invoke(builder(name), Load.loop(step));
    }

    static void virtualWork() throws InterruptedException {
        Burn.forMs(4);
        Thread.sleep(25);
    }

    private static void pin() throws InterruptedException {
        Object held = new Object();
        synchronized (held) {
            Thread.sleep(30);
        }
    }

    static void start(Waits waits) {
        try {
            start("virtual-named", VirtualThreads::virtualWork);
            start(null, VirtualThreads::virtualWork);
            start(null, waits::queueForLock);
            start("virtual-pinned", VirtualThreads::pin);
        } catch (ReflectiveOperationException | UnsupportedOperationException none) {
            System.err.println("no virtual threads here");
        }
    }

    private VirtualThreads() {
    }
}
