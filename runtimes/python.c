// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/profile.h"
#include "runtimes/libc.h"
#include "runtimes/process.h"
#include "runtimes/process_table.h"
#include "runtimes/python_asyncio.h"
#include "runtimes/python_codes.h"
#include "runtimes/python_gil.h"
#include "runtimes/python_image.h"
#include "runtimes/python_label.h"
#include "runtimes/python_loop.h"
#include "runtimes/python_merge.h"
#include "runtimes/python_names.h"
#include "runtimes/python_parents.h"
#include "runtimes/python_proof.h"
#include "runtimes/python_share.h"
#include "runtimes/python_slots.h"
#include "runtimes/python_spans.h"
#include "runtimes/python_stamp.h"
#include "runtimes/python_waiters.h"
#include "runtimes/python_walk.h"
#include "runtimes/runtime.h"
#include "symbolizer/object.h"

/* Stacks that speak against the layout until it is given up: a thread may be caught in the middle
   of a change of its frames. */
#define MAX_DOUBTS 8

/* Frames that stand for something else than a code object: their "address". */
enum { NOTE_BROKEN, NOTE_TRUNCATED, NOTE_AWAITS, N_NOTES = NOTE_AWAITS + N_WIRE_AWAITS };

_Static_assert((int)WIRE_AWAIT_AWAIT == PYTHON_VIA_AWAIT &&
		       (int)WIRE_AWAIT_TASK_GROUP == PYTHON_VIA_TASK_GROUP &&
		       (int)N_WIRE_AWAITS == PYTHON_VIA_EXECUTOR,
	       "the kernel half says how tasks wait as user space does");

/* Of a process (process.python). */
struct python {
	const struct python_image *image; /* NULL: none was found in these mappings */
	uint64_t bias;
	uint32_t generation; /* of the mappings that were searched */
	bool is_settled;     /* the kernel half knows all that there is to know */
	uint8_t proof;	     /* enum python_proof: does the image's layout fit? */
	uint8_t n_doubts;
	bool is_type_elsewhere; /* PyCode_Type is not where the image says */
	struct python_part part;
	bool is_musl; /* the C library, which is another one inside */
	struct python_asyncio asyncio;
	struct python_otel otel;
	struct python_loop loop;
	struct python_stamp stamp;
	struct python_codes *codes;
	struct python_parents *parents; /* NULL until somebody asks for them */
	struct python_names names;
};

static void python_free(void *priv)
{
	struct python *py = priv;

	python_codes_free(py->codes);
	python_parents_free(py->parents);
	python_names_deinit(&py->names);
	free(py);
}

static struct python *python_of(struct processes *ps, struct process *proc)
{
	if (!proc->python) {
		proc->python = calloc(1, sizeof(struct python));
		proc->python_free = python_free;
		if (proc->python)
			((struct python *)proc->python)->part.share = &ps->python_share;
	}
	return proc->python;
}

static bool is_walked(const struct python *py)
{
	return py->image && python_image_is_usable(py->image) && py->proof != PYTHON_PROOF_AGAINST;
}

/* What its stacks are, once for all processes that run the file. */
static void say(struct processes *ps, const struct process *proc, const struct python *py,
		const char *what)
{
	uint32_t version = py->image->layout.version;

	if (python_images_say(ps->pythons, py->image))
		log_info("pid %d runs Python %u.%u, %s", (int)proc->pid, version >> 24,
			 version >> 16 & 255, what);
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
	if (!py->image)
		return;
	py->is_musl = libc_is_musl(proc);
	processes_count(ps, PYTHON_PROCESSES);
	if (py->image->layout.is_free_threaded)
		processes_count(ps, PYTHON_FREE_THREADED);
	if (!py->image->err)
		return;
	if (python_image_is_usable(py->image)) {
		say(ps, proc, py,
		    "which is newer than weft: it is walked by what it says of itself");
		return;
	}
	say(ps, proc, py, "which is not known: its stacks are native only");
	processes_count(ps, PYTHON_UNKNOWN);
}

/* True: something else is known of what the program imported than before. */
static bool look_at_modules(struct process *proc, struct python *py)
{
	const struct python_layout *l = &py->image->layout;
	uint64_t runtime = py->image->runtime + py->bias, now_ns = clock_ns(CLOCK_MONOTONIC);
	bool is_asyncio_due = python_asyncio_is_due(&py->asyncio, l, now_ns);
	bool is_otel_due = python_otel_is_due(&py->otel, l, now_ns), is_new = false;
	struct mem *mem;

	if (proc->exit_time_ns || !(is_asyncio_due || is_otel_due))
		return false;
	mem = mem_live(proc->pid, &proc->patience);
	if (mem && is_asyncio_due)
		is_new |= python_asyncio_look(&py->asyncio, &py->part, mem, l, runtime, now_ns);
	if (mem && is_otel_due)
		is_new |= python_otel_look(&py->otel, &py->part, mem, l, runtime, now_ns);
	if (mem)
		is_new |= python_stamp_look(&py->stamp, &py->part, mem, py->image, py->bias);
	mem_free(mem);
	return is_new;
}

static void set_modules(struct process *proc, struct python *py, struct python_process *out)
{
	const void *section;
	uint64_t vaddr;
	size_t len;

	for (size_t i = 0; i < proc->n_mappings && !py->asyncio.is_in_thread; i++)
		if (proc->mappings[i].object &&
		    object_section(proc->mappings[i].object, ".AsyncioDebug", &section, &len,
				   &vaddr))
			python_asyncio_learn(&py->asyncio, &py->image->layout, section, len);
	look_at_modules(proc, py);
	python_asyncio_set(&py->asyncio, out);
	python_stamp_set(&py->stamp, py->image, py->bias, out);
	out->spans = py->otel.spans;
	python_asyncio_set_awaits(&py->asyncio, &py->image->layout, &out->awaits);
	if (!out->spans.var && py->asyncio.is_known)
		python_spans_set_layout(&py->image->layout, &py->asyncio.at, &out->spans);
}

bool python_attach(struct processes *ps, struct process *proc, struct python_process *out)
{
	struct python *py = python_of(ps, proc);

	if (!py || !ps->pythons)
		return false;
	find_image(ps, proc, py);
	if (!is_walked(py))
		return false;
	python_walk_set(&py->image->layout, out);
	py->is_settled = python_slots_set(proc, py->image, py->bias, py->is_musl, out);
	python_gil_set(py->image, py->bias, out);
	set_modules(proc, py, out);
	if (ps->wants_loops)
		python_loop_set(&py->loop, &py->image->layout, proc->pid, out);
	return true;
}

uint32_t python_version_of(struct processes *ps, struct process *proc, bool *is_known)
{
	struct python *py = python_of(ps, proc);

	if (!py || !ps->pythons)
		return 0;
	find_image(ps, proc, py);
	if (!py->image)
		return 0;
	*is_known = python_image_is_usable(py->image);
	return py->image->layout.version;
}

bool python_settles(struct processes *ps, struct process *proc)
{
	struct python *py = proc->python;
	struct python_process walk;

	if (!py || !is_walked(py) || proc->exit_time_ns)
		return false;
	if (py->loop.is_new || py->asyncio.is_parent_key_new) {
		py->loop.is_new = py->asyncio.is_parent_key_new = false;
	} else if (py->is_settled || !python_steps_take(&py->part, PYTHON_STEPS_FETCH) ||
		   !python_slots_set(proc, py->image, py->bias, py->is_musl, &walk)) {
		if (!look_at_modules(proc, py))
			return false;
	}
	proc->generation = processes_unique(ps);
	return true;
}

void python_count(struct processes *ps, uint64_t *counters)
{
	const struct python_share *share = &ps->python_share;

	counters[PYTHON_REFUSED] += python_images_refused(ps->pythons);
	counters[PYTHON_OVER_BUDGET] += share->n_over_budget;
	counters[PYTHON_NO_STEPS] += share->n_refused;
}

bool python_name_format(const struct process *proc, struct python_name_format *out)
{
	const struct python *py = proc->python;

	if (!py || !is_walked(py) || !py->image->str || !py->image->integer)
		return false;
	*out = (struct python_name_format){ &py->image->layout, py->image->str + py->bias,
					    py->image->integer + py->bias };
	return true;
}

const char *python_thread_name(struct processes *ps, struct process *proc, pid_t tid)
{
	struct python *py = proc->python;
	struct python_names_source source;
	const char *name;

	if (!py || !is_walked(py))
		return NULL;
	source = (struct python_names_source){ &py->part, &py->image->layout,
					       py->image->runtime + py->bias, py->is_musl };
	name = python_names_of(&py->names, ps, proc, &source, tid);
	return name || tid != proc->pid ? name : "MainThread";
}

/* The stack that is being explained. */
struct explained {
	struct python *py;
	struct python_code_source source;
	const struct wire_python_frame *task; /* the frame of its coroutine; NULL: nobody asks */
	bool wants_loops;
};

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

/* Is it a turn of an event loop that was not known before? */
static void look_at_loop(struct explained *e, uint64_t addr, uint32_t number)
{
	const struct python_code *code = python_codes_get(e->py->codes, number);

	if (addr != e->py->loop.code && code && python_loop_is_turn(code))
		python_loop_learn(&e->py->loop, &e->py->part, python_code_memory(&e->source),
				  e->source.layout, addr);
}

static struct wire_frame python_frame(void *ctx, const struct wire_python_frame *f)
{
	struct explained *e = ctx;
	uint32_t number = python_codes_number(e->py->codes, &e->source, f->addr, f->id);
	int64_t position = python_position(e->source.layout, 0, f->position);

	python_codes_visit(e->py->codes, &e->source, number, position);
	if (e->wants_loops)
		look_at_loop(e, f->addr, number);
	return (struct wire_frame){ .addr = number + N_NOTES,
				    .extra = f->position,
				    .kind = WIRE_FRAME_PYTHON,
				    .flags = f == e->task ? WIRE_FRAME_TASK : 0 };
}

/* What waits for the sample's task, as the kernel half found it: of each task how it waits, then
   its coroutines, which on the wire are outermost first. */
static size_t explain_parents(struct explained *e, const struct wire_python *python,
			      struct wire_frame *out, size_t max)
{
	const struct wire_python_frame *frames = &python->frames[python->n];
	size_t n = 0, end;

	for (size_t at = 0; at < python->n_parents && n < max; at = end) {
		uint32_t via = frames[at].position;

		out[n++] = note(NOTE_AWAITS + (int)(via < N_WIRE_AWAITS ? via : 0));
		end = at + 1;
		while (end < python->n_parents && !(frames[end].addr & WIRE_PYTHON_ANCHOR))
			end++;
		for (size_t i = end; i > at + 1 && n < max; i--)
			out[n++] = python_frame(e, &frames[i - 1]);
	}
	return n;
}

static void count_memory(struct process *proc, const struct python *py)
{
	proc->python_memory = sizeof(*py) + py->names.cap * sizeof(*py->names.items);
	if (py->codes)
		proc->python_memory += python_codes_memory(py->codes);
	if (py->parents)
		proc->python_memory += python_parents_memory(py->parents);
}

/* The address of PyCode_Type; 0: not known. */
static uint64_t code_type(const struct python *py)
{
	return py->image->code && !py->is_type_elsewhere ? py->image->code + py->bias : 0;
}

/* Is the layout that of the process? What nobody knows yet is shown as native frames only. */
static bool fits(struct processes *ps, struct process *proc, struct explained *e,
		 const struct wire_python *stack)
{
	struct python *py = e->py;
	enum python_proof proof = py->proof;

	if (proof == PYTHON_PROOF_NONE && python_steps_take(&py->part, PYTHON_STEPS_CODE))
		proof = python_prove(&e->source, stack);
	if (proof == PYTHON_PROOF_FITS && py->proof != proof) {
		py->is_type_elsewhere = !e->source.type;
		py->proof = proof;
	}
	if (proof != PYTHON_PROOF_AGAINST || ++py->n_doubts < MAX_DOUBTS)
		return proof == PYTHON_PROOF_FITS;
	py->proof = PYTHON_PROOF_AGAINST;
	say(ps, proc, py,
	    "but not laid out as weft knows it (a debug build?): its stacks are native only");
	processes_count(ps, PYTHON_UNKNOWN);
	proc->generation = processes_unique(ps); /* the kernel half is told */
	return false;
}

size_t python_explain(const struct runtime_env *env, struct process *proc,
		      const struct walked *stack, struct wire_frame *out, size_t max,
		      size_t *n_parents)
{
	const struct wire_python *python = stack->python;
	struct explained e = { .py = python_of(env->processes, proc) };
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

	*n_parents = 0;
	if (!e.py)
		return 0;
	/* A fork is walked before anybody has heard of it. */
	find_image(env->processes, proc, e.py);
	if (!is_walked(e.py))
		return 0;
	if (!e.py->codes)
		e.py->codes = python_codes_new(&e.py->part);
	if (!e.py->codes)
		return 0;
	e.source = (struct python_code_source){
		.pid = proc->exit_time_ns ? 0 : proc->pid,
		.patience = &proc->patience,
		.runtime = e.py->image->runtime + e.py->bias,
		.type = code_type(e.py),
		.layout = &e.py->image->layout,
		.copies = stack->codes,
		.n_copies = stack->n_codes,
	};
	if (!fits(env->processes, proc, &e, python)) {
		mem_free(e.source.mem);
		return 0;
	}
	if (env->is_logical && stack->task && stack->task->root < python->n)
		e.task = &python->frames[stack->task->root];
	e.wants_loops = env->processes->wants_loops;
	m.has_anchors = e.py->image->layout.chain != PYTHON_FRAME_OBJECTS;
	n_out = python_merge(&m, out, max ? max - 1 : 0);
	python_share_say(&env->processes->python_share, proc->pid);
	if (python->end != PYTHON_STACKS && n_out < max)
		out[n_out++] = note(python->end == PYTHON_TRUNCATED ? NOTE_TRUNCATED : NOTE_BROKEN);
	if (e.task)
		*n_parents = explain_parents(&e, python, out + n_out, max - n_out);
	mem_free(e.source.mem);
	count_memory(proc, e.py);
	return n_out;
}

const uint32_t *python_parents_of(const struct runtime_env *env, struct process *proc,
				  const struct wire_python_task *task, size_t *n)
{
	struct python *py = proc->python;
	struct python_parents_source source;
	struct python_parents_found found;

	*n = 0;
	if (!py || !py->image || !py->asyncio.is_known)
		return NULL;
	if (!py->parents)
		py->parents = python_parents_new();
	source = (struct python_parents_source){ mem_live(proc->pid, &proc->patience), &py->part,
						 &py->image->layout, &py->asyncio.at };
	if (!py->parents || !source.mem)
		return NULL;
	found = python_parents_get(py->parents, &source, task, clock_ns(CLOCK_MONOTONIC),
				   env->profile);
	mem_free(source.mem);
	python_asyncio_note(&py->asyncio, &py->image->layout, found.parent_key);
	if (found.is_lost)
		processes_count(env->processes, ASYNC_PARENTS_LOST);
	count_memory(proc, py);
	*n = found.n;
	return found.locations;
}

static uint32_t locate_note(const struct runtime_env *env, uint64_t which)
{
	char name[32];

	if (which >= NOTE_AWAITS) {
		snprintf(name, sizeof(name), "[%s]",
			 python_via_name((enum python_via)(which - NOTE_AWAITS)));
		return profile_mark(env->profile, name);
	}
	return runtime_named_location(env, FRAME_MARK, 0,
				      which == NOTE_TRUNCATED ? "[truncated Python frames]"
							      : "[broken: Python frames]");
}

static uint32_t locate_python(struct runtime *rt, const struct frame_at *at, enum keep *keep)
{
	struct python *py = at->proc ? at->proc->python : NULL;
	struct profile *p = rt->env->profile;
	struct location location = { .kind = FRAME_PYTHON };
	struct function function = { 0 };
	const struct python_code *code;
	struct line line = { 0 };
	int64_t position;
	int number = 0;

	*keep = KEEP_WITH_MAPPINGS;
	if (at->frame->addr < N_NOTES)
		return locate_note(rt->env, at->frame->addr);
	code = py && py->codes ? python_codes_get(py->codes, at->frame->addr - N_NOTES) : NULL;
	if (!code) {
		*keep = KEEP_NOT; /* it may be read the next time */
		return runtime_named_location(rt->env, FRAME_PYTHON, 0, "[unknown Python code]");
	}
	function.name = function.system_name = profile_string_n(p, code->name, code->name_len);
	function.filename = profile_string_n(p, code->file, code->file_len);
	function.start_line = code->first_line > 0 ? (uint32_t)code->first_line : 0;
	line.function = profile_function(p, &function);
	position = python_position(&py->image->layout, 0, at->frame->extra);
	if (!python_steps_take(&py->part, code->lines_len))
		*keep = KEEP_NOT;
	else if (!python_code_line(&py->image->layout, code, position, &number) && number > 0)
		line.line = (uint32_t)number;
	return profile_location(p, &location, &line, 1);
}

const struct runtime_ops runtime_python = {
	.name = "python",
	.frame_kind = WIRE_FRAME_PYTHON,
	.locate = locate_python,
};
