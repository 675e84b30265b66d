// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayDeque;
import java.util.Deque;

/** Objects of known classes that live for a while, and exceptions. */
final class Garbage {
    static final class Node {
        final long[] payload = new long[20];
        Node next;
    }

    private static final Deque<Object> kept = new ArrayDeque<>();

    private static void keep(Object object, int most) {
        kept.addLast(object);
        while (kept.size() > most) {
            kept.removeFirst();
        }
    }

    static void nodes(int n) {
        Node head = null;
        for (int i = 0; i < n; i++) {
            Node node = new Node();
            node.next = head;
            head = node;
        }
        keep(head, 40);
    }

    static void bytes(int n) {
        keep(new byte[n], 40);
    }

    static void tables() {
        keep(new int[30][100], 40);
        keep(new String[100], 40);
    }

    /** A few collections a second in a small heap. */
    static void some() throws InterruptedException {
        nodes(500);
        bytes(300_000);
        tables();
        Thread.sleep(3);
    }

    /** Many more. */
    static void much() throws InterruptedException {
        for (int i = 0; i < 6; i++) {
            nodes(1000);
            bytes(100_000);
            tables();
        }
        Thread.sleep(1);
    }

    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    private static void refuse(int n) throws Refused {
        throw new Refused("refused \"" + n + "\"\twith control characters \u0001 and \uD83D\uDE00");
    }

    private static int n_refused;

    static void exceptions() throws InterruptedException {
        try {
            refuse(++n_refused);
        } catch (Refused expected) {
            Thread.sleep(40);
        }
        if (n_refused % 16 == 0) {
            try {
                throw new AssertionError("an error");
            } catch (AssertionError expected) {
                Thread.sleep(1);
            }
        }
    }

    private Garbage() {
    }
}
