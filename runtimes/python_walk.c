// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_walk.h"

#include "runtimes/python_layout.h"

/* So many bytes of a thread state hold what a walk begins with. */
static uint16_t tstate_len(const struct python_process *p)
{
	const uint16_t fields[] = { p->tstate_thread_id, p->tstate_frame,  p->tstate_cframe,
				    p->tstate_base,	 p->tstate_interp, p->tstate_next };
	uint16_t last = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		last = fields[i] > last ? fields[i] : last;
	return last + sizeof(uint64_t);
}

void python_walk_set(const struct python_layout *l, struct python_process *out)
{
	static const uint8_t anchors[] = {
		[PYTHON_FRAME_OBJECTS] = PYTHON_ANCHOR_NONE,
		[PYTHON_CFRAMES] = PYTHON_ANCHOR_FRAME,
		[PYTHON_ENTRIES] = PYTHON_ANCHOR_ENTRY,
		[PYTHON_SHIMS] = PYTHON_ANCHOR_SHIM,
	};

	*out = (struct python_process){
		.tstate_thread_id = l->thread.thread_id,
		.tstate_frame = l->thread.frame ? l->thread.frame : l->thread.current_frame,
		.tstate_cframe = l->thread.cframe,
		.tstate_base = l->thread.base_frame,
		.tstate_interp = l->thread.interp,
		.tstate_next = l->thread.next,
		.interp_next = l->interp.next,
		.interp_threads = l->interp.threads_head,
		.interp_freed = l->interp.freed_codes,
		.cframe_frame = l->cframe.current_frame,
		.cframe_previous = l->cframe.previous,
		.frame_len = l->frame.size,
		.frame_code = l->frame.code,
		.frame_previous = l->frame.previous,
		.frame_instr = l->frame.instr,
		.frame_owner = l->frame.owner,
		.frame_is_entry = l->frame.is_entry,
		.code_id = l->code.id_off,
		.code_id_len = l->code.id_len,
		.code_name = l->code.id_needs_name ? l->code.name : 0,
		.str_hash = l->str.hash,
		.code_len = l->code.size,
		.code_shown_name = l->code.qualname ? l->code.qualname : l->code.name,
		.code_file = l->code.filename,
		.code_lines = l->code.linetable,
		.anchor = anchors[l->chain],
		.is_lasti = l->instr != PYTHON_INSTR_POINTER,
		.has_gil = !l->is_free_threaded,
	};
	out->tstate_len = tstate_len(out);
}
