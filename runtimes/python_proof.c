// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_proof.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bpf/counters.h"
#include "runtimes/python_copy.h"

#define MAX_FRAMES 8 /* looked at: with a wrong layout the first is wrong already */

/* Without the type to go by, everything has to be there: 16 bytes further a file is a name. */
static enum python_proof proof_of(int err, const struct python_code *code, bool has_type)
{
	if (err == -ESRCH || err == -ETIMEDOUT || err == -EAGAIN || err == -ESTALE ||
	    err == -ENOMEM)
		return PYTHON_PROOF_NONE;
	if (err < 0 || !code->name_len || code->first_line < 0)
		return PYTHON_PROOF_AGAINST;
	if (!has_type && (!code->file_len || !code->lines))
		return PYTHON_PROOF_AGAINST;
	return PYTHON_PROOF_FITS;
}

/* The copy of a code object that came with the sample, which is of that very moment. -EFAULT: there
   is none, or what it leads to is longer than what was copied of it. */
static int read_copy(const struct python_code_source *source, const struct wire_python_frame *f,
		     struct python_code *out)
{
	struct python_layout layout = *source->layout;
	struct python_copy copy;

	layout.code.id_needs_name = false; /* it was not copied */
	for (size_t i = 0; i < source->n_copies; i++) {
		const struct wire_python_code *c = source->copies[i];

		if (c->addr != f->addr || c->id != f->id)
			continue;
		python_copy_init(&copy, c);
		return python_code_read(&copy.mem, &layout, f->addr, source->type, out);
	}
	return -EFAULT;
}

static uint64_t word_at(struct mem *m, uint64_t addr)
{
	uint64_t word = 0;

	return mem_read(m, addr, &word, sizeof(word)) ? 0 : word;
}

/* Is its type called so? A program that refers to the type directly has it in its own memory, not
   where the library's symbol says (a copy relocation). */
static bool is_called_code(struct mem *m, const struct python_layout *l, uint64_t addr)
{
	uint64_t type = word_at(m, addr + l->object.type);
	uint64_t name = type ? word_at(m, type + l->type.name) : 0;
	char text[sizeof("code")] = "";

	return name && !mem_read(m, name, text, sizeof(text)) &&
	       !memcmp(text, "code", sizeof(text));
}

static int read_live(struct mem *m, struct python_code_source *source,
		     const struct wire_python_frame *f, struct python_code *out)
{
	int err = python_code_read(m, source->layout, f->addr, source->type, out);

	if (err != -EBADMSG || !source->type || !is_called_code(m, source->layout, f->addr))
		return err;
	source->type = 0;
	return python_code_read(m, source->layout, f->addr, 0, out);
}

static enum python_proof prove_code(struct python_code_source *source,
				    const struct wire_python_frame *f)
{
	struct python_code code = { 0 };
	int err = read_copy(source, f, &code);
	struct mem *mem = err ? python_code_memory(source) : NULL;
	enum python_proof proof;

	if (err == -EBADMSG && mem && is_called_code(mem, source->layout, f->addr)) {
		source->type = 0;
		err = -EFAULT;
	}
	if (err == -EFAULT)
		err = mem ? read_live(mem, source, f, &code) : -ESRCH;
	proof = proof_of(err, &code, source->type != 0);
	python_code_deinit(&code);
	return proof;
}

enum python_proof python_prove(struct python_code_source *source, const struct wire_python *stack)
{
	enum python_proof all = PYTHON_PROOF_NONE;
	size_t n = 0;

	if (stack->end == PYTHON_BROKEN)
		return PYTHON_PROOF_AGAINST;
	for (size_t i = 0; i < stack->n && n < MAX_FRAMES; i++) {
		const struct wire_python_frame *f = &stack->frames[i];
		enum python_proof proof;

		if (f->addr & WIRE_PYTHON_ANCHOR)
			continue;
		n++;
		proof = f->id ? prove_code(source, f) : PYTHON_PROOF_AGAINST;
		if (proof == PYTHON_PROOF_AGAINST)
			return proof;
		if (proof == PYTHON_PROOF_FITS)
			all = proof;
	}
	return all;
}
