// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_slots.h"

#include "core/mem.h"
#include "runtimes/process.h"
#include "runtimes/python_image.h"
#include "unwinders/python_walk.h"

/* False: it depends on what the dynamic linker has not written yet. */
static bool set_tls(struct process *proc, const struct python_tls *tls, uint64_t bias, bool is_musl,
		    struct python_slot_at *out)
{
	uint64_t pair[2] = { 0 };
	struct mem *mem;

	if (tls->kind == PYTHON_TLS_STATIC)
		*out = (struct python_slot_at){ (uint64_t)tls->offset, PYTHON_SLOT_STATIC, 0 };
	if (tls->kind != PYTHON_TLS_MODULE)
		return true;
	mem = mem_live(proc->pid, &proc->patience);
	if (mem && mem_read(mem, tls->pair + bias, pair, sizeof(pair)))
		pair[0] = 0;
	mem_free(mem);
	if (!pair[0] || pair[0] > UINT32_MAX)
		return false;
	*out = (struct python_slot_at){ pair[1] + (uint64_t)tls->offset,
					is_musl ? PYTHON_SLOT_MUSL_MODULE : PYTHON_SLOT_MODULE,
					(uint32_t)pair[0] };
	return true;
}

/* 3.6 keeps its state in variables of their own. */
bool python_slots_set(struct process *proc, const struct python_image *image, uint64_t bias,
		      bool is_musl, struct python_process *out)
{
	const struct python_layout *l = &image->layout;
	bool is_old = PYTHON_MINOR(l->version) == 6;
	uint64_t runtime = image->runtime + bias;
	uint64_t key = is_old ? image->key + bias : runtime + l->runtime.tss_key;

	if (is_old || l->runtime.tstate_current)
		out->attached = (struct python_slot_at){ runtime + l->runtime.tstate_current,
							 PYTHON_SLOT_HOLDER, 0 };
	if (is_old ? image->key != 0 : l->runtime.tss_key != 0)
		out->sticky = (struct python_slot_at){
			key, is_musl ? PYTHON_SLOT_MUSL_KEY : PYTHON_SLOT_KEY, 0
		};
	if (!is_old)
		out->interpreters = runtime + l->runtime.interpreters_head;
	return set_tls(proc, &image->attached, bias, is_musl, &out->attached) &&
	       set_tls(proc, &image->sticky, bias, is_musl, &out->sticky);
}
