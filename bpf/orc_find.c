// SPDX-License-Identifier: Apache-2.0
#include "bpf/orc_find.h"

#include <stdbool.h>
#include <string.h>

#include "symbolizer/kallsyms.h"

#define ENTRY_LEN 6 /* struct orc_entry, since 4.14 */
#define MAX_ENTRIES (1U << 24)
#define MAX_TEXT (1ULL << 31)

/* What tracers put in the place of a return address: function graph tracing and kretprobes, by the
   names of 5.10 to 7.x. */
static const char *const traps[ORC_TRAPS] = {
	"return_to_handler",
	"arch_rethook_trampoline",
	"__kretprobe_trampoline",
	"kretprobe_trampoline",
};

static bool is_consistent(const struct orc_tables *t, uint64_t addresses_end, uint64_t entries_end)
{
	uint64_t n = (addresses_end - t->addresses) / 4;

	return t->text && t->text_end > t->text && t->text_end - t->text < MAX_TEXT &&
	       t->addresses && t->entries && n > 1 && n < MAX_ENTRIES &&
	       t->addresses + 4 * n == addresses_end && t->entries + ENTRY_LEN * n == entries_end;
}

void orc_find(const struct kallsyms *k, struct orc_tables *out)
{
	struct orc_tables t = {
		.text = kallsyms_address(k, "_stext"),
		.text_end = kallsyms_address(k, "_etext"),
		.addresses = kallsyms_address(k, "__start_orc_unwind_ip"),
		.entries = kallsyms_address(k, "__start_orc_unwind"),
		.called = kallsyms_address(k, "do_syscall_64"),
	};
	uint64_t addresses_end = kallsyms_address(k, "__stop_orc_unwind_ip");

	memset(out, 0, sizeof(*out));
	if (!is_consistent(&t, addresses_end, kallsyms_address(k, "__stop_orc_unwind")))
		return;
	for (int i = 0; i < ORC_TRAPS; i++)
		t.traps[i] = kallsyms_address(k, traps[i]);
	t.n = (uint32_t)((addresses_end - t.addresses) / 4);
	*out = t;
}
