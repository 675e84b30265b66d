# SPDX-License-Identifier: Apache-2.0
"""
Legal stacks. A program prints them root first, frames separated by semicolons:

    main;run;parse;scan         these frames under the start of a process
    @thread;worker;leaf         ... under the start of a thread
    ^entry;leaf                 ... under nothing
    down*200 down*1-199         the same frame 200 times, 1 to 199 times
    a(;b)?   (a|b)              optional, either
    `pipeline<int, 3>`          a name with characters that mean something here
    {libc} {vdso} {runtime}     one or more frames of that file, whatever their names
    {std}                       one or more frames of a language's standard library, by name
    {panic}                     one or more of {std} or {runtime}
    {plt}                       a stub, named as one or not at all
"""
import re
from collections import namedtuple

NAME, FILE, END = "\x01", "\x02", "\x03"
UNKNOWN = NAME + r"\?" + FILE + "[^\x03]*" + END


def in_file(pattern):
    return NAME + "[^\x02]*" + FILE + "(?:" + pattern + ")[^\x03]*" + END


def named(pattern):
    return NAME + "(?:" + pattern + ")" + FILE + "[^\x03]*" + END


LIBC = r"libc\.so|libc-2|\(inlined\)"	# perf does not say in which file an inlined call is
LOADER = r"ld-linux|ld-2"
RUNTIME = r"libstdc\+\+|libgcc_s|" + LIBC + "|" + LOADER
STD = (r"(?:std|core|alloc|__rustc)::[^\x02]*|_?_?rust_[^\x02]*|_Unwind[^\x02]*|[^\x02]*::_M_invoke|"
       r"<[^\x02]* as (?:core|std|alloc)::[^\x02]*|<(?:[*&]|core|std|alloc)[^\x02]*")
CLASSES = {
    "libc": "(?:" + in_file(LIBC) + ")+",
    "vdso": "(?:" + in_file(r"\[vdso\]|linux-vdso|vdso") + ")+",
    "runtime": "(?:" + in_file(RUNTIME) + ")+",
    "std": "(?:" + named(STD) + ")+",
    "panic": "(?:" + named(STD) + "|" + in_file(RUNTIME) + ")+",
    "plt": "(?:" + named(r"[^\x02]*@plt|\?") + ")",
}
START_NAMES = (r"_start_c|_*libc_start_main\w*|__libc_start_call_main|generic_start_main|"
               r"__libc_start_main_stage2")
LIBC_UNKNOWN = NAME + r"\?" + FILE + "(?:" + LIBC + ")[^\x03]*" + END
MAIN_START = named("_start") + "(?:" + named(START_NAMES) + "|" + LIBC_UNKNOWN + ")*"
CLONE = r"_*(?:GI_)?_*clone3?"
THREAD_START = ("(?:" + named(CLONE) + "|" + LIBC_UNKNOWN + ")+(?:" + named("start_thread|start") +
                "|" + LIBC_UNKNOWN + ")")
ROOT = re.compile(named("_start|_dl_start_user|" + CLONE + "|__start_context|ret_from_fork\\w*") +
                  "|" + LIBC_UNKNOWN + "(?:" + LIBC_UNKNOWN + "|" + named("start_thread") + ")" +
                  "|" + UNKNOWN + named(START_NAMES))	# _start of a stripped program
# What runs before main and after it, in a static program by name only; and what does the measuring.
AROUND_MAIN = (r"_init|_fini|frame_dummy|\w*register_tm_clones|__do_global_\w+|_?_?exit|__run_exit_handlers|_GLOBAL__\w+|"
               r"_*libc_\w+|_*(?:GI_)?_*IO_\w+|_*init_c\w+|\w*cacheinfo\w*|\w*cpu_features\w*|intel_\w+|handle_\w+|"
               r"apply_irel|_*tunable\w*")
LOADING = "(?:" + in_file(LOADER) + "|" + named(r"_dl_\w+|__tls_\w+") + ")"
MEASURING = named(r"(?:\w+::)*truth_\w+")
LIBRARY = "(?:" + in_file(RUNTIME + r"|\[vdso\]|linux-vdso|vdso") + "|" + named(STD) + ")"
# The tool itself, until the program takes its place.
STARTER = NAME + "[^\x02]*" + FILE + "(?:weft|perf)" + END
START_FRAME = "(?:%s|%s|%s|%s|%s)" % (STARTER, named("_start|start_thread|start|" + CLONE + "|" + START_NAMES), LIBRARY, LOADING,
                                   named(AROUND_MAIN))
START_ONLY = re.compile(START_FRAME + "+")
HARNESS = {"main", "run", "truth_clock", "truth_add"}
# The loader's or the harness's frames, with what they call: no stack of the program, which has a legal name.
HOUSEKEEPING = re.compile("(?:%s|%s)" % (LOADING, MEASURING))
TOKEN = re.compile(r"`([^`]+)`|\{(\w+)\}|\*(\d+(?:-\d+)?)|([;()|?])|([^;()|?*{}`]+)")

ANY_START = "(?:%s|%s)*" % (named("_start|start_thread|start|" + CLONE + "|" + START_NAMES), in_file(LIBC))

Legal = namedtuple("Legal", "text strict lenient names seconds")


def encode_frame(frame):
    return NAME + (frame.name or "?") + FILE + frame.file + END


def encode(stack):
    return "".join(map(encode_frame, stack.frames))


def pattern(text, lenient):
    """The regular expression of a legal stack; in a lenient one every frame may be missing."""
    out = []
    for quoted, cls, times, mark, plain in TOKEN.findall(text):
        if mark:
            out.append({";": "", "(": "(?:"}.get(mark, mark))
        elif times:
            out[-1] = out[-1].rstrip("?")
            out.append("{0,%s}" % times.split("-")[-1] if lenient else "{%s}" % times.replace("-", ","))
        else:
            frame = CLASSES[cls] if cls else named(re.escape(quoted or plain))
            out.append("(?:%s)%s" % (frame, "?" if lenient else ""))
    return "".join(out)


def legal(text, seconds):
    body, start = text, MAIN_START
    if text.startswith("^"):
        body, start = text[1:], ""
    elif text.startswith("@thread;"):
        body, start = text[len("@thread;"):], THREAD_START
    names = frozenset(quoted or plain for quoted, _, _, _, plain in TOKEN.findall(body))
    return Legal(text, re.compile(start + pattern(body, False)),
                 re.compile(ANY_START + pattern(body, True)), names, seconds)


def read_truth(text):
    """The `legal` lines a program printed, added up over its processes."""
    seconds = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "legal":
            cpu, _, stack = rest.partition(" ")
            seconds[stack] = seconds.get(stack, 0) + float(cpu)
    return [legal(stack, cpu) for stack, cpu in seconds.items()]


def judge(stack, legals):
    """
    (verdict, legal stack). Exact: equal to a legal stack. Outside: only the start or end of a process, the
    loader or the harness's own code. Wrong: a name that has no place there. Cut: the root is missing.
    Unknown: whole but for a name. Gap: a frame inside is missing.
    """
    text = encode(stack)
    if not stack.mark:
        for l in legals:
            if l.strict.fullmatch(text):
                return "exact", l
    rooted = not stack.mark and ROOT.match(text) is not None
    if rooted and (START_ONLY.fullmatch(text) or is_housekeeping(stack, legals)):
        return "outside", None
    known = encode(stack._replace(frames=[f for f in stack.frames if f.name]))
    for l in legals:
        if l.lenient.fullmatch(known):
            return (("unknown" if None in {f.name for f in stack.frames} else "gap") if rooted else "cut"), l
    return "wrong", None


def is_housekeeping(stack, legals):
    """Whether named frames of a legal stack, in its order, end in the loader or the harness, which end in no leaf of the program."""
    at = next((i for i, f in enumerate(stack.frames) if HOUSEKEEPING.fullmatch(encode_frame(f))), None)
    if at is None:
        return False
    before, after = stack.frames[:at], stack.frames[at:]
    nameless = [f for f in stack.frames if not f.name and not re.fullmatch(LIBRARY + "|" + LOADING, encode_frame(f))]
    if {f.name for f in after[1:]} & (names_of(legals) - HARNESS) or len(nameless) > (stack.frames[-1] in nameless):
        return False
    text = encode(stack._replace(frames=before))
    return START_ONLY.fullmatch(text) is not None or any(l.lenient.fullmatch(text) for l in legals)


def names_of(legals):
    return frozenset().union(*(l.names for l in legals))


def is_complete(stack, verdict):
    return verdict == "exact" or (not stack.mark and ROOT.match(encode(stack)) is not None)
