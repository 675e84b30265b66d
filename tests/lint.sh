#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the design promises about the shape of the code: who may include whom, licences, sizes, layout.
set -u
cd "$(dirname "$0")/.."
bad=0
say() { echo "lint: $*"; bad=1; }

# folder: what it may include of ours (besides itself)
allowed() {
	case $1 in
	core) echo "" ;;
	unwinders) echo "core bpf/weft.h bpf/counters.h" ;;
	symbolizer) echo "core" ;;
	runtimes) echo "core symbolizer unwinders bpf/weft.h bpf/counters.h" ;;
	bpf) echo "core symbolizer unwinders runtimes weft.skel.h" ;;
	jfr) echo "core" ;;
	exporter) echo "core flamegraph_page.h" ;;
	cmd) echo "core bpf symbolizer unwinders runtimes jfr exporter" ;;
	esac
}

for folder in core unwinders symbolizer runtimes bpf jfr exporter cmd; do
	for file in "$folder"/*.[ch]; do
		[ -e "$file" ] || continue
		grep -oE '^#include "[^"]+"' "$file" | cut -d'"' -f2 | while read -r inc; do
			ok=
			for a in $folder $(allowed "$folder"); do
				case $inc in "$a" | "$a"/*) ok=1 ;; esac
			done
			# The kernel half sees only what is made for it.
			case $file in
			*.bpf.[ch]) case $inc in bpf/* | unwinders/*.bpf.h | unwinders/python_identity.h | unwinders/python_walk.h | unwinders/python_task.h | unwinders/python_await.h | unwinders/python_span.h | unwinders/orc.h | unwinders/table.h | unwinders/unwind.h | unwinders/compiler.h | unwinders/arch*) ok=1 ;; *) ok= ;; esac ;;
			esac
			[ -n "$ok" ] || echo "$file includes $inc"
		done
	done
done >"${TMPDIR:-/tmp}/weft-lint.$$"
while read -r line; do say "$line"; done <"${TMPDIR:-/tmp}/weft-lint.$$"
rm -f "${TMPDIR:-/tmp}/weft-lint.$$"

sources=$(find core bpf unwinders symbolizer runtimes jfr exporter cmd tests -name '*.[ch]' | sort)
for file in $sources; do
	head -n 1 "$file" | grep -q 'SPDX-License-Identifier: ' || say "$file has no SPDX line"
	case $file in
	bpf/*.bpf.[ch] | bpf/weft.h | bpf/counters.h | unwinders/*.bpf.h)
		head -n 1 "$file" | grep -q 'GPL-2.0-only OR BSD-2-Clause' || say "$file has another licence than the kernel half" ;;
	esac
	lines=$(wc -l <"$file")
	[ "$lines" -le 500 ] || say "$file has $lines lines: look for its second noun"
done

for licence in GPL-2.0-only BSD-2-Clause; do
	[ -s LICENSES/$licence.txt ] || say "the text of the licence $licence is not in LICENSES"
done

for file in tests/*/*_test.sh tests/*/*_test.py; do
	[ -x "$file" ] || say "$file cannot be run: chmod +x"
done
# A command in the text is expanded first, and $? is then its status.
for file in $(grep -lE 'claim .*\$\([^(].*" \$\?$' tests/*/*.sh); do
	say "$file claims the status of its text: keep \$? in a variable"
done

# shellcheck disable=SC2086
awk '
	FNR == 1 { start = 0 }
	/^\{/ { start = FNR }
	/^\}/ { if (start && FNR - start > (FILENAME ~ /\.bpf\./ ? 120 : 80))
			printf "%s:%d a function of %d lines\n", FILENAME, start, FNR - start; start = 0 }
' $sources | { fail=0; while read -r line; do echo "lint: $line"; fail=1; done; exit $fail; } || bad=1

if command -v clang-format >/dev/null; then
	# shellcheck disable=SC2086
	clang-format --dry-run --Werror $sources >/dev/null 2>&1 || say "clang-format would change something: run make format"
fi
exit $bad
