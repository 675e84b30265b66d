// SPDX-License-Identifier: Apache-2.0
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;
import jdk.jfr.Unsigned;

/** Events of an application: the ones that OpenTelemetry's recorder writes, and one with a field of every type. */
final class Spans {
    @Name("io.opentelemetry.context.Scope")
    @Label("Scope")
    @Category("Open Telemetry Tracing")
    static final class ScopeEvent extends Event {
        String traceId;
        String spanId;
    }

    @Name("io.opentelemetry.trace.Span")
    @Label("Span")
    static final class SpanEvent extends Event {
        String operationName;
        String traceId;
        String spanId;
        String parentId;
    }

    private static long n_spans;

    private static ScopeEvent enter(String trace, String span) {
        ScopeEvent scope = new ScopeEvent();
        scope.traceId = trace;
        scope.spanId = span;
        scope.begin();
        return scope;
    }

    static void outerWork() {
        Burn.forMs(8);
    }

    static void innerWork() {
        Burn.forMs(16);
    }

    /** A span that burns before and after a span within it. */
    static void step() throws InterruptedException {
        String trace = String.format("%032x", 0xABCDEF0000000000L + ++n_spans);
        String outer = String.format("%016x", 2 * n_spans);
        String inner = String.format("%016x", 2 * n_spans + 1);
        SpanEvent span = new SpanEvent();
        span.operationName = "GET /größe/{id}";
        span.traceId = trace;
        span.spanId = outer;
        span.parentId = "0000000000000000";
        span.begin();
        ScopeEvent outerScope = enter(trace, outer);
        outerWork();
        ScopeEvent innerScope = enter(trace, inner);
        innerWork();
        innerScope.commit();
        outerWork();
        outerScope.commit();
        span.commit();
        Thread.sleep(30);
    }

    @Name("weft.EveryField")
    @Label("Every \"Field\"")
    @Category({"weft", "test"})
    static final class EveryField extends Event {
        boolean aBoolean;
        byte aByte;
        char aChar;
        short aShort;
        int anInt;
        long aLong;
        float aFloat;
        double aDouble;
        String aString;
        Class<?> aClass;
        Thread aThread;
        @Unsigned
        int unsigned;
        @Timespan(Timespan.MILLISECONDS)
        long milliseconds;
        @Timespan(Timespan.SECONDS)
        long seconds;
        @Timespan(Timespan.TICKS)
        long ticks;
        @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
        long at;
        @DataAmount
        long bytes;
        @DataAmount(DataAmount.BITS)
        long bits;
        @Percentage
        float share;
    }

    private static final String[] STRINGS = {null, "", "ascii", "größe", "名前", "\uD83D\uDE00 and \uD83D alone", "nul \u0000 and \n",
        "long enough to be kept in the pool of strings, for it is repeated", String.format("%09000d", 7)};
    private static final long[] LONGS = {0, 1, -1, 127, 128, 16384, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 56, Long.MAX_VALUE,
        Long.MIN_VALUE};
    private static final double[] DOUBLES = {0, -0.0, 1.5, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, 1e300};
    private static int n_fields;

    static void everyField() throws InterruptedException {
        EveryField event = new EveryField();
        long value = LONGS[n_fields % LONGS.length];
        double real = DOUBLES[n_fields % DOUBLES.length];
        event.begin();
        event.aBoolean = n_fields % 2 == 1;
        event.aByte = (byte) value;
        event.aChar = (char) value;
        event.aShort = (short) value;
        event.anInt = (int) value;
        event.aLong = value;
        event.aFloat = (float) real;
        event.aDouble = real;
        event.aString = STRINGS[n_fields % STRINGS.length];
        event.aClass = n_fields % 3 == 0 ? null : Größe.class;
        event.aThread = n_fields % 4 == 0 ? null : Thread.currentThread();
        event.unsigned = (int) value;
        event.milliseconds = event.seconds = event.ticks = event.at = event.bytes = event.bits = value;
        event.share = (float) real;
        n_fields++;
        Thread.sleep(20);
        event.commit();
    }

    private Spans() {
    }
}
