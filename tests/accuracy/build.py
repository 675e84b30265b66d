# SPDX-License-Identifier: Apache-2.0
"""Builds the programs. A recipe gets (output path, source path, flags) and returns the arguments after it."""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
HEADERS = ("spin.h", "truth.h", "main_loop.h")
ICF = {"gold": "-Wl,--icf=all", "lld": "-Wl,--icf=all"}


def sh(*command, **kwargs):
    subprocess.run(command, check=True, **kwargs)


def source(name):
    return os.path.join(PROGRAMS, name)


def is_fresh(out, sources):
    """Whether the program is newer than its source, the headers and this file."""
    inputs = [source(s) for s in sources] + [source(h) for h in HEADERS] + [__file__]
    return os.path.exists(out) and all(os.path.getmtime(out) > os.path.getmtime(i) for i in inputs)


def compile_c(out, sources, flags, compiler="gcc"):
    sh(compiler, "-g", *flags, *(source(s) for s in sources), "-o", out, "-lpthread", "-ldl")


def compile_cc(out, sources, flags):
    compile_c(out, sources, flags, "g++")


def compile_clang(out, sources, flags):
    compile_c(out, sources, flags, "clang")


def compile_musl(out, sources, flags):
    sh("musl-gcc", "-g", "-static", *flags, *(source(s) for s in sources), "-o", out)


def compile_rust(out, sources, flags):
    # Legacy names need a switch that a release compiler only takes with this variable.
    env = dict(os.environ, RUSTC_BOOTSTRAP="1")
    sh("rustc", "--edition", "2021", "-g", "--crate-name", "rusty", *flags, source(sources[0]), "-o", out,
       env=env)


def compile_plt(out, sources, flags):
    library = out + ".lib.so"
    sh("gcc", "-O2", "-g", "-shared", "-fPIC", source("pltlib.c"), "-o", library)
    sh("gcc", "-g", *flags, source(sources[0]), library, "-o", out)


def compile_dlcycle(out, sources, flags):
    compile_c(out, sources[:1], flags)
    for part in ("ant", "bee", "cat", "dog"):
        sh("gcc", "-g", *flags, "-shared", "-fPIC", "-DPART=" + part, source("dlpart.c"), "-o",
           "%s.%s.so" % (out, part))


def dlcycle_arguments(out):
    return ["%s.%s.so" % (out, part) for part in ("ant", "bee", "cat", "dog")]


def debuglink(out, sources, flags):
    """Stripped, with its symbols in a file beside it that only .gnu_debuglink names."""
    compile_c(out, sources, [*flags, "-Wl,--build-id=none"])
    debug = out + ".debug"
    sh("objcopy", "--only-keep-debug", out, debug)
    sh("objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, out)


def minidebuginfo(out, sources, flags):
    """Stripped, with the function symbols in .gnu_debugdata, compressed, as Fedora ships programs."""
    compile_c(out, sources, flags)
    keep, mini = out + ".keep", out + ".mini"
    symbols = subprocess.run(["nm", "--defined-only", out], check=True, capture_output=True, text=True).stdout
    with open(keep, "w", encoding="ascii") as f:
        f.writelines(line.split()[2] + "\n" for line in symbols.splitlines() if line.split()[1] in "tTwW")
    sh("objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment",
       "--keep-symbols=" + keep, out, mini)
    sh("xz", "-f", mini)
    sh("objcopy", "--strip-all", "--add-section", ".gnu_debugdata=" + mini + ".xz", out)


def dynsym_only(out, sources, flags):
    compile_c(out, sources, [*flags, "-rdynamic"])
    sh("strip", "--strip-all", out)


def stripped(out, sources, flags):
    compile_c(out, sources, flags)
    sh("strip", "--strip-all", out)


def folded(out, sources, flags):
    """Link time optimisation, then folding of identical code."""
    linker = next((l for l in ("gold", "lld") if shutil.which("ld." + l)), None)
    if not linker:
        raise FileNotFoundError("ld.gold or ld.lld")
    compile_c(out, sources, [*flags, "-ffunction-sections", "-fuse-ld=" + linker, ICF[linker]])
