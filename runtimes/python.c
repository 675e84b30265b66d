// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/profile.h"
#include "runtimes/process.h"
#include "runtimes/process_table.h"
#include "runtimes/python_asyncio.h"
#include "runtimes/python_code.h"
#include "runtimes/python_copy.h"
#include "runtimes/python_image.h"
#include "runtimes/python_lines.h"
#include "runtimes/python_merge.h"
#include "runtimes/python_qualnames.h"
#include "runtimes/runtime.h"
#include "symbolizer/object.h"

#define MAX_CODES (1u << 16)   /* code objects of one process that have names */
#define MAX_MEMORY (4u << 20)  /* bytes of names and lines, from which on no more are read */
#define MAX_LINES (256u << 10) /* of one of them: larger tables are of machine-made modules */
#define MAX_TRIES 4 /* to read one: it may not have been in memory, or changed meanwhile */

/* Frames that stand for something else than a code object: their "address". */
enum { NOTE_BROKEN, NOTE_TRUNCATED, N_NOTES };

struct known_code {
	uint64_t addr;
	uint32_t id;
	bool is_read;
	uint8_t n_tries;
	struct python_code code; /* when it is read */
};

/* Of a process (process.python). */
struct python {
	const struct python_image *image; /* NULL: none was found in these mappings */
	uint64_t bias;
	uint32_t generation; /* of the mappings that were searched */
	bool is_settled;     /* the kernel half knows all that there is to know */
	struct python_asyncio asyncio;
	struct mem *mem;		/* while a stack is explained */
	struct python_qualnames *names; /* NULL until one is looked for */
	struct known_code *codes;
	uint32_t n_codes, cap_codes;
	uint32_t *slots; /* code's number + 1, by address and id; open addressing */
	uint32_t n_slots;
};

static void python_free(void *priv)
{
	struct python *py = priv;

	for (uint32_t i = 0; i < py->n_codes; i++)
		python_code_deinit(&py->codes[i].code);
	free(py->codes);
	free(py->slots);
	python_qualnames_free(py->names);
	free(py);
}

static struct python *python_of(struct process *proc)
{
	if (!proc->python) {
		proc->python = calloc(1, sizeof(struct python));
		proc->python_free = python_free;
	}
	return proc->python;
}

static void find_image(struct processes *ps, struct process *proc, struct python *py)
{
	if (py->image || py->generation == proc->generation)
		return;
	py->generation = proc->generation;
	for (size_t i = 0; i < proc->n_mappings && !py->image; i++) {
		const struct mapping *m = &proc->mappings[i];

		if (!m->object)
			continue;
		py->image = python_images_get(ps->pythons, m->object);
		py->bias = m->bias;
	}
	if (py->image && py->image->err)
		log_info("pid %d runs Python %u.%u, which is not known: its stacks are native only",
			 (int)proc->pid, py->image->layout.version >> 24,
			 py->image->layout.version >> 16 & 255);
}

/* What of the layout the kernel half needs. */
static void set_walk(const struct python_layout *l, struct python_process *out)
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
	};
}

/* False: it depends on what the dynamic linker has not written yet. */
static bool set_tls(struct process *proc, const struct python *py, const struct python_tls *tls,
		    struct python_slot_at *out)
{
	uint64_t pair[2] = { 0 };
	struct mem *mem;

	if (tls->kind == PYTHON_TLS_STATIC)
		*out = (struct python_slot_at){ (uint64_t)tls->offset, PYTHON_SLOT_STATIC, 0 };
	if (tls->kind != PYTHON_TLS_MODULE)
		return true;
	mem = mem_live(proc->pid);
	if (mem && mem_read(mem, tls->pair + py->bias, pair, sizeof(pair)))
		pair[0] = 0;
	mem_free(mem);
	if (!pair[0] || pair[0] > UINT32_MAX)
		return false;
	*out = (struct python_slot_at){ pair[1] + (uint64_t)tls->offset, PYTHON_SLOT_MODULE,
					(uint32_t)pair[0] };
	return true;
}

/* 3.6 keeps its state in variables of their own. */
static bool set_slots(struct process *proc, const struct python *py, struct python_process *out)
{
	const struct python_image *image = py->image;
	const struct python_layout *l = &image->layout;
	bool is_old = PYTHON_MINOR(l->version) == 6;
	uint64_t runtime = image->runtime + py->bias;
	uint64_t key = is_old ? image->key + py->bias : runtime + l->runtime.tss_key;

	if (is_old || l->runtime.tstate_current)
		out->attached = (struct python_slot_at){ runtime + l->runtime.tstate_current,
							 PYTHON_SLOT_HOLDER, 0 };
	if (is_old ? image->key != 0 : l->runtime.tss_key != 0)
		out->sticky = (struct python_slot_at){ key, PYTHON_SLOT_KEY, 0 };
	return set_tls(proc, py, &image->attached, &out->attached) &&
	       set_tls(proc, py, &image->sticky, &out->sticky);
}

/* True: something else is known of asyncio than before. */
static bool look_for_asyncio(struct process *proc, struct python *py)
{
	const struct python_layout *l = &py->image->layout;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct mem *mem;
	bool is_new;

	if (proc->exit_time_ns || !python_asyncio_is_due(&py->asyncio, l, now_ns))
		return false;
	mem = mem_live(proc->pid);
	is_new = mem &&
		 python_asyncio_look(&py->asyncio, mem, l, py->image->runtime + py->bias, now_ns);
	mem_free(mem);
	return is_new;
}

static void set_asyncio(struct process *proc, struct python *py, struct python_process *out)
{
	const void *section;
	uint64_t vaddr;
	size_t len;

	for (size_t i = 0; i < proc->n_mappings && !py->asyncio.is_in_thread; i++)
		if (proc->mappings[i].object &&
		    object_section(proc->mappings[i].object, ".AsyncioDebug", &section, &len,
				   &vaddr))
			python_asyncio_learn(&py->asyncio, &py->image->layout, section, len);
	look_for_asyncio(proc, py);
	python_asyncio_set(&py->asyncio, out);
}

bool python_attach(struct processes *ps, struct process *proc, struct python_process *out)
{
	struct python *py = python_of(proc);

	if (!py || !ps->pythons)
		return false;
	find_image(ps, proc, py);
	if (!py->image || py->image->err)
		return false;
	set_walk(&py->image->layout, out);
	py->is_settled = set_slots(proc, py, out);
	set_asyncio(proc, py, out);
	return true;
}

uint32_t python_version_of(struct processes *ps, struct process *proc, bool *is_known)
{
	struct python *py = python_of(proc);

	if (!py || !ps->pythons)
		return 0;
	find_image(ps, proc, py);
	if (!py->image)
		return 0;
	*is_known = !py->image->err;
	return py->image->layout.version;
}

bool python_settles(struct processes *ps, struct process *proc)
{
	struct python *py = proc->python;
	struct python_process walk;

	if (!py || !py->image || py->image->err || proc->exit_time_ns)
		return false;
	if ((py->is_settled || !set_slots(proc, py, &walk)) && !look_for_asyncio(proc, py))
		return false;
	proc->generation = processes_unique(ps);
	return true;
}

bool python_task_of(const struct process *proc, const struct wire_python_task *task,
		    char out[PYTHON_TASK_LABEL_MAX])
{
	const struct python *py = proc->python;
	struct python_name_types types;

	if (!py || !py->image || py->image->err || !py->image->str || !py->image->integer)
		return false;
	types.str = py->image->str + py->bias;
	types.integer = py->image->integer + py->bias;
	return python_task_label(task, &py->image->layout, &types, out);
}

static uint32_t *slot_of(const struct python *py, uint64_t addr, uint32_t id)
{
	uint64_t h = (addr ^ (uint64_t)id << 32) * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = (size_t)(h >> 32);; i++) {
		uint32_t *slot = &py->slots[i & (py->n_slots - 1)];

		if (!*slot || (py->codes[*slot - 1].addr == addr && py->codes[*slot - 1].id == id))
			return slot;
	}
}

static int grow(struct process *proc, struct python *py)
{
	uint32_t cap = py->cap_codes ? py->cap_codes * 2 : 128;
	struct known_code *codes;
	uint32_t *slots;

	if (py->n_codes < py->cap_codes)
		return 0;
	if (cap > MAX_CODES)
		return -E2BIG;
	codes = realloc(py->codes, cap * sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	py->codes = codes;
	slots = calloc(cap * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(py->slots);
	py->slots = slots;
	py->n_slots = cap * 2;
	for (uint32_t i = 0; i < py->n_codes; i++)
		*slot_of(py, codes[i].addr, codes[i].id) = i + 1;
	proc->python_memory += (cap - py->cap_codes) * (sizeof(*codes) + 2 * sizeof(*slots));
	py->cap_codes = cap;
	return 0;
}

/* What code objects do not say themselves to 3.10. */
static void qualify(struct process *proc, struct python *py, struct known_code *known)
{
	size_t before;

	if (py->image->layout.code.qualname)
		return;
	if (!py->names)
		py->names = python_qualnames_new();
	if (!py->names)
		return;
	before = python_qualnames_memory(py->names);
	python_qualnames_apply(py->names, py->mem, &py->image->layout,
			       py->image->runtime + py->bias, known->addr, &known->code);
	proc->python_memory += python_qualnames_memory(py->names) - before;
}

/* From the process, if the code object is still the one that the kernel half saw. */
static bool read_live(struct process *proc, struct python *py, struct known_code *known)
{
	if (proc->exit_time_ns)
		return false;
	if (!py->mem)
		py->mem = mem_live(proc->pid);
	if (!py->mem || python_code_read(py->mem, &py->image->layout, known->addr, 0, &known->code))
		return false;
	if (known->code.identity == known->id) {
		qualify(proc, py, known);
		return true;
	}
	python_code_deinit(&known->code);
	return false;
}

/* From what the kernel half copied, when it is gone by now. */
static bool read_copy(const struct python *py, const struct walked *stack, struct known_code *known)
{
	struct python_layout layout = py->image->layout;

	layout.code.id_needs_name =
		false; /* that name was not copied; the record has the identity */
	for (size_t i = 0; i < stack->n_codes; i++) {
		const struct wire_python_code *c = stack->codes[i];
		struct python_copy copy;

		if (c->addr != known->addr || c->id != known->id)
			continue;
		python_copy_init(&copy, c);
		return !python_code_read(&copy.mem, &layout, known->addr, 0, &known->code);
	}
	return false;
}

/* The stack that is being explained. */
struct explained {
	struct process *proc;
	struct python *py;
	const struct walked *stack;
};

/* As long as there is room for it, and not again and again. */
static void read_code(const struct explained *e, struct known_code *known)
{
	struct python_code *code = &known->code;
	struct process *proc = e->proc;

	if (known->is_read || known->n_tries == MAX_TRIES || proc->python_memory > MAX_MEMORY)
		return;
	known->n_tries++;
	known->is_read = read_live(proc, e->py, known) || read_copy(e->py, e->stack, known);
	if (!known->is_read)
		return;
	if (code->lines_len > MAX_LINES) {
		free(code->lines);
		code->lines = NULL;
		code->lines_len = 0;
	}
	/* A name was read into four bytes a character. */
	proc->python_memory += 4 * (code->name_len + code->file_len) + code->lines_len;
}

/* The number of a code object, from 1; 0: it could not be read in the first place, or there are too
   many. */
static uint32_t code_number(const struct explained *e, uint64_t addr, uint32_t id)
{
	struct python *py = e->py;
	uint32_t *slot = id && py->n_slots ? slot_of(py, addr, id) : NULL;

	if (!slot || !*slot) {
		if (!id || grow(e->proc, py))
			return 0;
		slot = slot_of(py, addr, id);
		py->codes[py->n_codes++] = (struct known_code){ .addr = addr, .id = id };
		*slot = py->n_codes;
	}
	read_code(e, &py->codes[*slot - 1]);
	return *slot;
}

static bool is_eval(void *ctx, const struct wire_frame *f)
{
	const struct python *py = ((struct explained *)ctx)->py;
	uint64_t pc = f->addr - !(f->flags & WIRE_FRAME_EXACT) - py->bias;

	return pc - py->image->eval < py->image->eval_len;
}

static struct wire_frame note(int which)
{
	return (struct wire_frame){ .addr = (uint64_t)which, .kind = WIRE_FRAME_PYTHON };
}

static struct wire_frame python_frame(void *ctx, const struct wire_python_frame *f)
{
	const struct explained *e = ctx;
	uint32_t number = code_number(e, f->addr, f->id);

	return (struct wire_frame){ .addr = number + N_NOTES,
				    .extra = f->position,
				    .kind = WIRE_FRAME_PYTHON };
}

size_t python_explain(const struct runtime_env *env, struct process *proc,
		      const struct walked *stack, struct wire_frame *out, size_t max)
{
	const struct wire_python *python = stack->python;
	struct explained e = { proc, python_of(proc), stack };
	struct python_merge m = {
		.native = stack->frames,
		.n_native = stack->n,
		.python = python->frames,
		.n_python = python->n,
		.is_whole = stack->end == END_ROOT && python->end == PYTHON_STACKS,
		.is_eval_shown = env->is_eval_shown,
		.ctx = &e,
		.is_eval = is_eval,
		.frame = python_frame,
	};
	size_t n_out;

	if (e.py)
		find_image(env->processes, proc,
			   e.py); /* a fork is walked before anybody has heard of it */
	if (!e.py || !e.py->image || e.py->image->err)
		return 0;
	m.has_anchors = e.py->image->layout.chain != PYTHON_FRAME_OBJECTS;
	n_out = python_merge(&m, out, max ? max - 1 : 0);
	if (python->end != PYTHON_STACKS && n_out < max)
		out[n_out++] = note(python->end == PYTHON_TRUNCATED ? NOTE_TRUNCATED : NOTE_BROKEN);
	mem_free(e.py->mem);
	e.py->mem = NULL;
	return n_out;
}

static uint32_t locate_note(const struct runtime_env *env, uint64_t which)
{
	return runtime_named_location(env, FRAME_MARK, 0,
				      which == NOTE_TRUNCATED ? "[truncated Python frames]"
							      : "[broken: Python frames]");
}

static uint32_t locate_python(struct runtime *rt, const struct frame_at *at, enum keep *keep)
{
	const struct python *py = at->proc ? at->proc->python : NULL;
	struct profile *p = rt->env->profile;
	struct location location = { .kind = FRAME_PYTHON };
	struct function function = { 0 };
	const struct known_code *known;
	struct line line = { 0 };
	int64_t position;
	int number = 0;

	*keep = KEEP_WITH_MAPPINGS;
	if (at->frame->addr < N_NOTES)
		return locate_note(rt->env, at->frame->addr);
	known = py && at->frame->addr - N_NOTES - 1 < py->n_codes
			? &py->codes[at->frame->addr - N_NOTES - 1]
			: NULL;
	if (!known || !known->is_read) {
		*keep = KEEP_NOT; /* it may be read the next time */
		return runtime_named_location(rt->env, FRAME_PYTHON, 0, "[unknown Python code]");
	}
	function.name = function.system_name =
		profile_string_n(p, known->code.name, known->code.name_len);
	function.filename = profile_string_n(p, known->code.file, known->code.file_len);
	function.start_line = known->code.first_line > 0 ? (uint32_t)known->code.first_line : 0;
	line.function = profile_function(p, &function);
	position = python_position(&py->image->layout, 0, at->frame->extra);
	if (!python_code_line(&py->image->layout, &known->code, position, &number) && number > 0)
		line.line = (uint32_t)number;
	return profile_location(p, &location, &line, 1);
}

const struct runtime_ops runtime_python = {
	.name = "python",
	.frame_kind = WIRE_FRAME_PYTHON,
	.locate = locate_python,
};
