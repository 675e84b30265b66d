// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Every way to wait, each longer than the 20 ms from which on recordings have it by default. */
final class Waits {
    private static final int LONG_ENOUGH = 26;

    /** What is fought for: its class is the monitor's. */
    static final class Monitor {
    }

    private final Monitor monitor = new Monitor();
    private final Object notice = new Object();
    private final ReentrantLock lock = new ReentrantLock();

    void contend() throws InterruptedException {
        synchronized (monitor) {
            Thread.sleep(LONG_ENOUGH);
        }
        Thread.sleep(1);
    }

    void queueForLock() throws InterruptedException {
        lock.lock();
        try {
            Thread.sleep(LONG_ENOUGH);
        } finally {
            lock.unlock();
        }
        Thread.sleep(1);
    }

    void park() {
        LockSupport.parkNanos(this, LONG_ENOUGH * 1_000_000L);
    }

    void sleep() throws InterruptedException {
        Thread.sleep(LONG_ENOUGH);
    }

    void awaitNotice() throws InterruptedException {
        synchronized (notice) {
            notice.wait(10L * LONG_ENOUGH);
        }
    }

    void giveNotice() throws InterruptedException {
        Thread.sleep(2 * LONG_ENOUGH);
        synchronized (notice) {
            notice.notifyAll();
        }
    }
}
