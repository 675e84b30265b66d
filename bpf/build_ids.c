// SPDX-License-Identifier: Apache-2.0
#include "bpf/build_ids.h"

#include <linux/bpf.h>

#include "bpf/weft.h"
#include "runtimes/process.h"

/* The kernel fills up with zeros what is shorter than SHA-1. No id is known by any other length,
   and one in four billion really ends like that. */
static size_t id_len(const uint8_t id[WIRE_BUILD_ID_LEN])
{
	static const size_t shorter[] = { 0, 8, 16 }; /* none, lld's fast one, MD5 and UUID */

	for (size_t i = 0; i < sizeof(shorter) / sizeof(*shorter); i++) {
		size_t at = shorter[i];

		while (at < WIRE_BUILD_ID_LEN && !id[at])
			at++;
		if (at == WIRE_BUILD_ID_LEN)
			return shorter[i];
	}
	return WIRE_BUILD_ID_LEN;
}

void build_ids_learn(struct processes *ps, struct process *proc, const struct wire_build_ids *ids)
{
	for (size_t i = 0; ids && i < ids->n && i < WIRE_MAX_BUILD_IDS; i++) {
		const struct wire_build_id *file = &ids->files[i];

		if (file->status == BPF_STACK_BUILD_ID_VALID)
			process_learn_build_id(ps, proc, ids->pcs[i], file->offset, file->id,
					       id_len(file->id));
	}
}
