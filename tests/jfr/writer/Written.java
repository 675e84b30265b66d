// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Paths;
import org.openjdk.jmc.flightrecorder.writer.api.Recording;
import org.openjdk.jmc.flightrecorder.writer.api.Recordings;
import org.openjdk.jmc.flightrecorder.writer.api.Type;
import org.openjdk.jmc.flightrecorder.writer.api.TypedValue;
import org.openjdk.jmc.flightrecorder.writer.api.Types;

/**
 * A recording that no JVM made: written by the writer library of JDK Mission Control, as converters and other profilers use
 * it. The same bytes each time: its clock is made up. Frames of stacks are constants of their own here, which the JDK's own
 * reader cannot read; fields that an event does not set are null.
 *
 * Written FILE
 */
public final class Written {
    private static final long START_NS = 1_760_000_000_000_000_000L;
    private static final long START_TICKS = 5_000_000_000L;
    private static final long SECOND = 1_000_000_000L;
    private static final int N_SAMPLES = 40;
    private static final String[] TEXTS = {null, "", "ascii", "größe", "名前", "\uD83D\uDE00", "two\nlines"};

    private final Recording recording;
    private final Types types;
    private final Type state;
    private final Type point;

    private Written(Recording recording) {
        this.recording = recording;
        types = recording.getTypes();
        state = recording.registerType("jdk.types.ThreadState", t -> t.addField("name", Types.Builtin.STRING));
        point = recording.registerType("weft.Point", t -> t.addField("x", Types.Builtin.INT).addField("y", Types.Builtin.INT));
    }

    private TypedValue symbol(String text) {
        return types.getType(Types.JDK.SYMBOL).asValue(v -> v.putField("string", text));
    }

    private TypedValue aClass(String name) {
        return types.getType(Types.JDK.CLASS).asValue(v -> v.putField("name", symbol(name)).putField("modifiers", 1));
    }

    private TypedValue frame(String owner, String name, int line, String kind) {
        TypedValue method = types.getType(Types.JDK.METHOD).asValue(v -> v.putField("type", aClass(owner))
            .putField("name", symbol(name)).putField("descriptor", symbol("()V")).putField("modifiers", 9));
        TypedValue type = types.getType(Types.JDK.FRAME_TYPE).asValue(v -> v.putField("description", kind));
        return types.getType(Types.JDK.STACK_FRAME).asValue(v -> v.putField("method", method).putField("lineNumber", line)
            .putField("bytecodeIndex", line / 2).putField("type", type));
    }

    private TypedValue stack(boolean isTruncated, TypedValue... frames) {
        return types.getType(Types.JDK.STACK_TRACE).asValue(v -> v.putField("truncated", isTruncated)
            .putField("frames", frames));
    }

    private TypedValue thread(String name, long number) {
        TypedValue group = types.getType(Types.JDK.THREAD_GROUP).asValue(v -> v.putField("name", "main"));
        return types.getType(Types.JDK.THREAD).asValue(v -> v.putField("osName", "os-" + name).putField("osThreadId", number)
            .putField("javaName", name).putField("group", group));
    }

    /** What the weight of samples depends on. */
    private void setting(Type of, String name, String value) {
        Type setting = recording.registerEventType("jdk.ActiveSetting", t -> t.addField("id", Types.Builtin.LONG)
            .addField("name", Types.Builtin.STRING).addField("value", Types.Builtin.STRING));
        recording.writeEvent(setting.asValue(v -> v.putField("startTime", START_TICKS).putField("id", of.getId())
            .putField("name", name).putField("value", value)));
    }

    private void samples(long at) {
        Type sample = recording.registerEventType("jdk.ExecutionSample", t -> t.addField("sampledThread", Types.JDK.THREAD)
            .addField("state", state));
        TypedValue running = state.asValue(v -> v.putField("name", "STATE_RUNNABLE"));
        TypedValue root = frame("shop/Server", "main", 10, "Interpreted");
        TypedValue work = frame("shop/Server", "work", 42, "JIT compiled");
        TypedValue[] stacks = {stack(false, frame("shop/Price", "of", 7, "Inlined"), work, root), stack(false, work, root),
            stack(true, frame("shop/Tree", "walk", 300, "JIT compiled"))};

        setting(sample, "period", "20 ms");
        for (int i = 0; i < N_SAMPLES; i++) {
            int index = i;
            recording.writeEvent(sample.asValue(v -> v.putField("startTime", START_TICKS + at + index * SECOND / 50)
                .putField("sampledThread", thread(index % 4 == 0 ? "größe" : "main", 100 + index % 4 / 3))
                .putField("stackTrace", stacks[index % stacks.length]).putField("state", running)));
        }
    }

    /** A field of each type there is, values of all lengths, and a span's ids. */
    private void everything(long at) {
        Type every = recording.registerEventType("weft.Written", t -> t.addField("aByte", Types.Builtin.BYTE)
            .addField("aChar", Types.Builtin.CHAR).addField("aShort", Types.Builtin.SHORT).addField("anInt", Types.Builtin.INT)
            .addField("aLong", Types.Builtin.LONG).addField("aFloat", Types.Builtin.FLOAT)
            .addField("aDouble", Types.Builtin.DOUBLE).addField("aBoolean", Types.Builtin.BOOLEAN)
            .addField("aString", Types.Builtin.STRING).addField("aClass", Types.JDK.CLASS).addField("aPoint", point)
            .addField("traceId", Types.Builtin.STRING).addField("spanId", Types.Builtin.STRING));
        long[] numbers = {0, 1, -1, 127, 128, 1L << 56, Long.MAX_VALUE, Long.MIN_VALUE};

        for (int i = 0; i < numbers.length; i++) {
            int index = i;
            long n = numbers[i];
            recording.writeEvent(every.asValue(v -> v.putField("startTime", START_TICKS + at + index * SECOND / 10)
                .putField("eventThread", thread("main", 100)).putField("aByte", (byte) n).putField("aChar", (char) n)
                .putField("aShort", (short) n).putField("anInt", (int) n).putField("aLong", n).putField("aFloat", (float) n)
                .putField("aDouble", (double) n).putField("aBoolean", index % 2 == 1)
                .putField("aString", TEXTS[index % TEXTS.length]).putField("aClass", aClass("[Ljava/lang/String;"))
                .putField("aPoint", p -> p.putField("x", index).putField("y", -index))
                .putField("traceId", String.format("%032x", 0xABCDEF00L + index)).putField("spanId", String.format("%016x", 1 + index))));
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (Recording recording = Recordings.newRecording(Paths.get(arguments[0]),
            s -> s.withTimestamp(START_NS).withStartTicks(START_TICKS).withDuration(2 * SECOND).withJdkTypeInitialization())) {
            Written written = new Written(recording);
            written.samples(0);
            written.everything(SECOND);
        }
    }
}
