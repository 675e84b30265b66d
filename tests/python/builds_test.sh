#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# However CPython comes to run: sub-interpreters, embedded and loaded late, under another name, in a venv, a
# chroot, forked and spawned, while it ends, and with names for its threads. QUICK=1 takes every third version.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
needs_profiling
needs_tool python3
program=$PWD/tests/python/builds_program.py
cc=${CC:-cc}

# stacks TEXT PATTERN LABEL COMMAND...: the samples of a command have these stacks (builds_check.py)
stacks() {
	local text=$1 pattern=$2 label=$3
	shift 3
	run record -q -F 199 -o "$work/weft.pb.gz" -- "$@"
	check "$text" "$pattern" "$label"
}

check() {
	python3 tests/python/builds_check.py "$work/weft.pb.gz" "$minor" "$2" ${3:+"$3"} >"$work/out" 2>>"$work/err"
	status=$?
	claim "CPython 3.$minor$1: $(head -n 1 "$work/out")" $status
}

# Waits for a word in a file; not for ever.
await_word() {
	local try
	for try in $(seq 100); do
		grep -qs "$2" "$1" && return
		sleep 0.05
	done
}

# Loads a library while it runs, and what is in it then runs a program.
cat >"$work/late.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void (*start)(int), *lib;
	int (*run)(const char *);
	usleep(300000);
	lib = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (argc < 3 || !lib)
		return puts("no library"), 77;
	*(void **)&start = dlsym(lib, "Py_InitializeEx");
	*(void **)&run = dlsym(lib, "PyRun_SimpleString");
	start(0);
	return run(argv[2]);
}
C
"$cc" -o "$work/host" "$work/late.c" -ldl || rm -f "$work/host"

# library_of PYTHON: its shared library; nothing where it has none
library_of() {
	"$1" -c 'import os, sysconfig
v = sysconfig.get_config_vars()
path = os.path.join(v["LIBDIR"], v["INSTSONAME"])
print(path if v.get("Py_ENABLE_SHARED") and os.path.exists(path) else "")'
}

subs() {
	stacks ", a sub-interpreter" '<module>;(~;)?sub;inside;~;<module>;inner;spin(;~)?$' '' "$1" "$program" sub
	stacks ", one inside another" \
		'<module>;(~;)?nested;inside;~;<module>;middle;inside;~;<module>;inner;spin(;~)?$' '' "$1" "$program" nested
	stacks ", one in a thread" '(^|;)sub;inside;~;<module>;inner;spin(;~)?$' '' "$1" "$program" thread_sub
}

embedded() {
	local library=
	[ ! -x "$work/host" ] || library=$(library_of "$1")
	if [ -z "$library" ]; then
		skip "CPython 3.$minor, loaded late by another program" "no shared library, or no compiler"
		return
	fi
	stacks ", loaded late by another program" '(^|;)<module>;(~;)?plain;spin(;~)?$' '' \
		env PYTHONHOME="$("$1" -c 'import sys; print(sys.prefix)')" "$work/host" "$library" \
		"import sys; sys.argv = ['', 'plain']; exec(compile(open('$program').read(), '$program', 'exec'))"
}

others() {
	if ! "$("$1" -c 'import sys; print(sys.executable)')" -c '' 2>/dev/null; then
		skip "CPython 3.$minor, multiprocessing and a venv" "it is unpacked, and runs with another one's help"
		return
	fi
	stacks ", workers that were forked" '<module>;(~;)?prefork;work;spin(;~)?$' '' "$1" "$program" prefork
	for method in fork spawn forkserver; do
		stacks ", multiprocessing by $method" '(^|;)(BaseProcess[.])?run;(~;)?work;spin(;~)?$' '' \
			"$1" "$program" processes $method
	done
	rm -rf "$work/venv"
	if "$1" -m venv --without-pip "$work/venv" >"$work/out" 2>&1; then
		stacks ", a venv" '<module>;(~;)?plain;spin(;~)?$' '' "$work/venv/bin/python" "$program" plain
	else
		skip "CPython 3.$minor, a venv" "it makes none"
	fi
}

# Attached to when asyncio has been there for long.
attached() {
	"$1" "$program" tasks >"$work/ready" & target=$!
	await_word "$work/ready" ready
	run record -q -F 199 -o "$work/weft.pb.gz" -p $target -d 1
	check ", asyncio before weft" '^(Task-[0-9]+|tasks[.]<locals>[.]burn): .*burn;spin(;~)?$' task
	kill $target
	wait $target 2>/dev/null
}

n=0
for minor in $PYTHON_FEW; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor" "no python3.$minor here"
		continue
	fi
	n=$((n + 1))
	[ -z "${QUICK:-}" ] || [ $((n % 3)) = 0 ] || continue
	if [ "$minor" != 6 ] && [ "$minor" != 7 ]; then
		subs "$python"
	fi
	stacks ", while it ends" '^(~;)?at_exit;spin(;~)?$|(^|;)(Last[.])?__del__;spin(;~)?$' '' "$python" "$program" final
	if [ "$minor" != 6 ]; then
		name="MainThread: .*;named_threads|(short|a name that is longer than the kernel's): (?!.*named_threads).*"
		stacks ", names of threads" "^($name);work_in_thread;spin(;~)?\$" thread "$python" "$program" named_threads
		attached "$python"
	fi
	embedded "$python"
	# What depends on the system more than on the version.
	case $minor in
	8 | 11 | 13 | 14t) others "$python" ;;
	esac
done

# Under any name, with no way to tell by the path.
minor=$(python3 -c 'import sys; print(sys.version_info[1])')
cp "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$work/whatever"
stacks ", under another name" '<module>;(~;)?plain;spin(;~)?$' '' \
	env PYTHONHOME="$(python3 -c 'import sys; print(sys.base_prefix)')" "$work/whatever" "$program" plain

# What .ci/pythons.sh unpacks is a whole root, though without /proc.
minor=14 root=$(readlink -f "${XDG_CACHE_HOME:-$HOME/.cache}/weft/pythons/3.14")
if [ "$(id -u)" = 0 ] && [ -x "$root/usr/bin/python3.14" ] && mkdir -p "$root/tmp"; then
	cp "$program" "$root/tmp/"
	stacks ", in a chroot" '<module>;(~;)?plain;spin(;~)?$' '' \
		chroot "$root" /usr/bin/python3.14 /tmp/builds_program.py plain
	rm -f "$root/tmp/builds_program.py"
else
	skip "CPython 3.14, in a chroot" "needs root and a python3.14 of .ci/pythons.sh"
fi
finish
