// SPDX-License-Identifier: Apache-2.0
package one.profiler;

/** What its agent offers to programs in which it runs: a span, of the calling thread, with a tag. */
public final class Recording {
    public static native void emitSpan(long startNs, long endNs, String tag);

    private Recording() {
    }
}
