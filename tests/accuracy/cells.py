# SPDX-License-Identifier: Apache-2.0
"""The table of what is measured: a row a program and way to build it, with the goal it is held to."""
from collections import namedtuple

import build

# complete and exact: goals in percent. wrong: most wrong names in percent. outside: most samples in percent
# that no legal stack covers: start, loader, measuring. arguments: after the seconds.
Cell = namedtuple("Cell", "group name sources recipe flags complete exact wrong outside quick arguments")

C = (99.5, 99.0)
ASM = (95.0, 0.0)
NATIVE = (99.9, 99.9)


def cell(group, name, source, flags=("-O2",), recipe=build.compile_c, goal=C, wrong=100.0, outside=2.0, quick=False,
         arguments=None):
    sources = source.split()
    return Cell(group, name, sources, recipe, tuple(flags), *goal, wrong, outside, quick, arguments)


def basics():
    """Every way to compile the plain C program."""
    kinds = (("pie", build.compile_c, ("-pie", "-fPIE")), ("static", build.compile_c, ("-static",)),
             ("musl", build.compile_musl, ()))
    for level in ("-O0", "-O2", "-O3", "-Os"):
        for pointer in ("fp", "nofp"):
            keep = "-fno-omit-frame-pointer" if pointer == "fp" else "-fomit-frame-pointer"
            for kind, recipe, flags in kinds:
                yield cell("C basic", "%s %s %s" % (level[1:], pointer, kind), "basic.c", (level, keep, *flags),
                           recipe, quick=(level, pointer, kind) in (("-O2", "nofp", "pie"), ("-Os", "fp", "musl")))


CELLS = [
    *basics(),
    cell("C basic", "static-pie", "basic.c", ("-O2", "-static-pie", "-fPIE")),
    cell("C basic", "clang", "basic.c", recipe=build.compile_clang),
    cell("C basic", "endbr (CET)", "basic.c", ("-O2", "-fcf-protection=full")),
    cell("C basic", "LTO", "basic.c", ("-O2", "-flto")),
    cell("C symbols", "stripped + debuglink", "basic.c", recipe=build.debuglink, quick=True),
    cell("C symbols", "MiniDebugInfo", "basic.c", recipe=build.minidebuginfo, quick=True),
    cell("C symbols", "dynsym only", "basic.c", recipe=build.dynsym_only),
    cell("C symbols", "stripped, no names", "basic.c", recipe=build.stripped, goal=(99.5, 0.0)),
    cell("C symbols", "LTO + ICF", "twins.c", ("-O2", "-flto"), build.folded),
    cell("C frames", "inlined 3 deep", "inlines.c", quick=True),
    cell("C frames", "tail calls", "tail.c"),
    cell("C frames", "alloca, 100 kB, DRAP", "frames.c", quick=True),
    cell("C frames", "same, O0", "frames.c", ("-O0",)),
    cell("C frames", "same, stack-clash", "frames.c", ("-O2", "-fstack-clash-protection")),
    cell("C frames", "recursion 200", "recursion.c", ("-O2", "-DDEPTH=200", "-fno-optimize-sibling-calls")),
    cell("C frames", "recursion 1000", "recursion.c", ("-O2", "-DDEPTH=1000"), quick=True),
    cell("C control", "signals, alternate stack", "signal.c", quick=True),
    cell("C control", "longjmp", "jump.c"),
    cell("C control", "coroutines", "coroutine.c"),
    cell("C control", "64 threads", "threads.c", quick=True),
    cell("C control", "vfork + exec", "exec.c", outside=6.0, quick=True),
    cell("C control", "fork without exec", "fork.c", outside=8.0),
    cell("C control", "memfd", "memfd.c", ("-O2", "-D_GNU_SOURCE")),
    cell("C libraries", "dlopen/dlclose reuse", "dlcycle.c dlpart.c", recipe=build.compile_dlcycle, wrong=0.1,
         outside=4.0, quick=True, arguments=build.dlcycle_arguments),
    cell("C libraries", "PLT + IFUNC, lazy", "plt.c", ("-O2", "-Wl,-z,lazy"), build.compile_plt, quick=True),
    cell("C libraries", "PLT + IFUNC, now, CET", "plt.c", ("-O2", "-fcf-protection=full", "-Wl,-z,now"),
         build.compile_plt),
    cell("C libraries", "qsort callback", "callback.c"),
    cell("C libraries", "vdso", "vdso.c", quick=True),
    cell("no unwind data", "assembly", "asm.c nocfi.S", goal=ASM, quick=True),
    cell("no unwind data", "JIT, frame pointers", "jit.c", goal=(99.0, 99.0), quick=True),
    cell("no unwind data", "JIT, frameless", "jit.c", ("-O2", "-DFRAMELESS"), goal=(99.0, 99.0)),
    cell("C++", "language, O2", "language.cc", recipe=build.compile_cc, goal=NATIVE, quick=True),
    cell("C++", "language, O3 LTO", "language.cc", ("-O3", "-flto"), build.compile_cc, goal=NATIVE),
    cell("C++", "language, static-pie", "language.cc", ("-O2", "-static-pie", "-fPIE"), build.compile_cc, goal=NATIVE),
    cell("C++", "exceptions", "exceptions.cc", recipe=build.compile_cc, goal=NATIVE, quick=True),
    cell("C++", "exceptions, O0", "exceptions.cc", ("-O0",), build.compile_cc, goal=NATIVE),
    cell("Rust", "legacy names", "rusty.rs", ("-O", "-Zunstable-options", "-Csymbol-mangling-version=legacy"), build.compile_rust, NATIVE),
    cell("Rust", "v0 names", "rusty.rs", ("-O", "-Csymbol-mangling-version=v0"), build.compile_rust, NATIVE, quick=True),
    cell("Rust", "panic=abort", "rusty.rs", ("-O", "-Cpanic=abort"), build.compile_rust, NATIVE),
]
