#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our walk of the kernel's own stacks beside the kernel's, at the same ticks. Needs root and BPF.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
make --no-print-directory -s "$build/tests/live/kernel_stack" "$build/tests/live/kernel_stack.bpf.o" || exit 1
said=$("$build/tests/live/kernel_stack" "$build/tests/live/kernel_stack.bpf.o" 6)
status=$?
[ $status = 77 ] && { echo "1..0 # SKIP no BPF, or a kernel without ORC"; exit 77; }
[ $status = 0 ] || { echo "not ok 1 - kernel_stack ended with $status"; echo "1..1"; exit 1; }
value() { sed -n "s/^$1 //p" <<<"$said" | cut -d' ' -f1; }
same=$(value same) other=$(value other) left=$(value left)
result() { [ "$1" = 1 ] && echo "ok $2" || { echo "not ok $2"; sed 's/^/# /' <<<"$said"; failed=1; }; }
failed=0
echo "# ours $(value ours_ns) ns, the kernel's $(value kernels_ns) ns a stack"
result $((same > 500 && other == 0)) "1 - $same kernel stacks of our own walk are the kernel's, $other are not"
result $((left * 2 <= same)) "2 - it leaves few to the kernel, whatever interrupts it has: $left"
said=$("$build/tests/live/kernel_stack" "$build/tests/live/kernel_stack.bpf.o" 2 lie)
same=$(value same) other=$(value other) left=$(value left)
result $((same > 500 && other == 0 && left * 10 > same * 9)) "3 - tables that lie are found out: $same stacks are right, $other are not"
echo "1..3"
exit $failed
