#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program whose every name is hostile, from the kernel to the file: its file, its process, its
# threads, its functions, its perf map. Nothing of it may act in any output. Needs root and BPF.
. "$(dirname "$0")/tap.sh"
needs_profiling
needs_tool python3

cat >"$work/hostile.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile int is_started;

__attribute__((noinline)) void plain_work(void (*inner)(void)) { for (;;) { is_started = 1; inner(); } }
__attribute__((noinline)) void marked_a(void) { for (volatile int i = 0; i < 100000; i++) ; }

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, arg);
	plain_work(marked_a);
	return 0;
}

int main(void)
{
	/* mov $1000000, %ecx; 1: dec %ecx; jnz 1b; ret */
	static const unsigned char code[] = { 0xb9, 0x40, 0x42, 0x0f, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	char path[64];
	void *jit = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t;
	FILE *f;

	memcpy(jit, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx 1000 \033]0;jit\007;<b>\"'&\xff\xe2\x80\xae" "function\n", (long)jit);
	fclose(f);
	prctl(PR_SET_NAME, "\033[2Jp;\n\"<i>\xff");
	pthread_create(&t, 0, thread, "\033]0;t\007;\n'\"</\xff");
	plain_work((void (*)(void))jit);
	return 0;
}
C
name=$(printf 'evil;\n\033[31m"<script>'\''\377')
mkdir "$work/$name"
binary="$work/$name/$name"
${CC:-cc} -O1 -g0 -pthread -o "$work/plain" "$work/hostile.c" &&
	objcopy --redefine-sym marked_a="$(printf '\033]0;owned\007;a\nb "</script><img onerror=x> \377\342\200\256')" \
		"$work/plain" "$binary" || exit 1
"$binary" & evil=$!
trap 'kill $evil 2>/dev/null; rm -rf "$work" /tmp/perf-$evil.map' EXIT

# clean FILE...: nothing that a terminal or a reader would act on
clean() {
	python3 - "$@" <<'PYTHON'
import re, sys, unicodedata
bad = 0
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        bad = print(f"{path}: {e}") or 1
        continue
    for c in sorted(set(text)):
        if (unicodedata.category(c) in ("Cc", "Cs") and c != "\n") or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
            bad = print(f"{path}: has {c!r}") or 1
sys.exit(bad)
PYTHON
}

for format in pb.gz folded json speedscope.json html; do
	out=$work/out.$format
	run record -p $evil -d 1 -F 199 -o "$out"
	[ $status = 0 ] && [ -s "$out" ] && says out plain_work && says out 'x1b]0;owned' && says out 'x1b]0;jit' && clean "$work/out" "$work/err"
	claim "$format: weft record says the names, made safe" $?
done
for view in --top --tree "--callers plain_work" "--peek plain_work"; do
	# shellcheck disable=SC2086
	run report $view "$work/out.pb.gz"
	[ $status = 0 ] && says out plain_work && clean "$work/out" "$work/err"
	claim "report $view writes no control characters" $?
done
run doctor -p $evil
[ $status != 4 ] && [ -s "$work/out" ] && clean "$work/out" "$work/err"
claim "doctor writes no control characters" $?
run record --comm "$(printf '\033[2Jp;\n"<i>\377')" -d 0.3 -o "$work/by-comm.pb.gz"
[ $status = 0 ] && clean "$work/out" "$work/err"
claim "--comm finds such a name and shows it safely" $?
run record -o "$work/x.pb.gz" -- "$work/$name/none"
[ $status = 127 ] && clean "$work/out" "$work/err"
claim "an error about such a path is safe" $?
(cd "$work" && "$weft" record -p $evil -d 0.3 -q -o '%c.pb.gz') && ls -N "$work"/*'[2Jp'* 2>/dev/null | grep -q . &&
	! ls -N "$work"/*'[2Jp'* | grep -q "$(printf '\033')"
claim "%c in a file name has no control characters" $?
if command -v script >/dev/null; then
	script -qec "'$weft' record -p $evil -d 2.2 -o '$work/out.pb.gz'" /dev/null </dev/null >"$work/out" 2>"$work/err"
	# Its own: clearing the status line, and colours.
	sed -E 's/\r//g; s/\x1b\[(K|[0-9;]*m)//g' "$work/out" >"$work/typed"
	grep -q 'rec [1-9]' "$work/typed" && says out plain_work && clean "$work/typed"
	claim "a terminal gets only weft's own escapes" $?
else
	skip "a terminal gets only weft's own escapes" "no script(1) here"
fi

awk '!/^[^\n]+ [0-9]+$/ { exit 1 }' "$work/out.folded" && clean "$work/out.folded" &&
	awk -F';' '/plain_work/ && /owned/ { for (i = 1; i <= NF; i++) if ($i ~ /plain_work/ && $(i + 1) ~ /owned/) ok = 1 }
		END { exit !ok }' "$work/out.folded"
claim "folded: a line a stack, a field a frame" $?
python3 - "$work" <<'PYTHON' >"$work/out" 2>"$work/err"
import json, sys
work = sys.argv[1]
lines = [json.loads(line) for line in open(work + "/out.json", encoding="utf-8")]
assert any("owned" in json.dumps(line) for line in lines)
doc = json.load(open(work + "/out.speedscope.json", encoding="utf-8"))
assert any("owned" in f["name"] for f in doc["shared"]["frames"])
PYTHON
claim "JSON: every line and document parses" $?
python3 - "$work/out.html" <<'PYTHON' >"$work/out" 2>"$work/err"
import sys
from html.parser import HTMLParser
class Page(HTMLParser):
    n = {}
    def handle_starttag(self, tag, attrs):
        self.n[tag] = self.n.get(tag, 0) + 1
        assert not any(k.startswith("on") for k, _ in attrs), attrs
text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
assert "owned" in text and not page.n.get("img") and not page.n.get("i"), page.n
PYTHON
claim "HTML: no name becomes an element" $?
if command -v go >/dev/null; then
	go tool pprof -symbolize=none -raw "$work/out.pb.gz" >"$work/out" 2>"$work/err" && says out owned
	claim "pprof: go tool pprof reads it" $?
else
	skip "pprof: go tool pprof reads it" "no go here"
fi
finish
