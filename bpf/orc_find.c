// SPDX-License-Identifier: Apache-2.0
#include "bpf/orc_find.h"

#include <stdbool.h>
#include <string.h>

#include "symbolizer/kallsyms.h"

#define ENTRY_LEN 6 /* struct orc_entry, since 4.14 */
#define MAX_ENTRIES (1U << 24)
#define MAX_TEXT (1ULL << 31)

_Static_assert(ORC_TRAPS == N_LANDMARKS - LANDMARK_TRAP, "the last landmarks are the traps");

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
		.text = kallsyms_landmark(k, LANDMARK_TEXT),
		.text_end = kallsyms_landmark(k, LANDMARK_TEXT_END),
		.addresses = kallsyms_landmark(k, LANDMARK_ORC_ADDRESSES),
		.entries = kallsyms_landmark(k, LANDMARK_ORC_ENTRIES),
		.called = kallsyms_landmark(k, LANDMARK_SYSCALL),
	};
	uint64_t addresses_end = kallsyms_landmark(k, LANDMARK_ORC_ADDRESSES_END);

	memset(out, 0, sizeof(*out));
	if (!is_consistent(&t, addresses_end, kallsyms_landmark(k, LANDMARK_ORC_ENTRIES_END)))
		return;
	for (int i = 0; i < ORC_TRAPS; i++)
		t.traps[i] = kallsyms_landmark(k, LANDMARK_TRAP + i);
	t.n = (uint32_t)((addresses_end - t.addresses) / 4);
	*out = t;
}
