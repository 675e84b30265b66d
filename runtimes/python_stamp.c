// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_stamp.h"

#include "core/reader.h"
#include "runtimes/python_dict.h"

/* In _Py_DebugOffsets of 3.13. */
#define RUNTIME_SIZE_AT 24
#define INTERP_SIZE_AT 48
#define TABLE_LEN 65536 /* functions and code objects by the low 12 bits of their number */

#define PROVED 8       /* entries of a dict: the interned strs are those that lead to themselves */
#define MAX_READS 1000 /* for that */
#define MAX_LOOKS 32

static uint64_t word_at(struct reader *r, uint64_t at)
{
	reader_seek(r, at, "word");
	return reader_u64(r, "word");
}

uint16_t python_stamp_find(const void *runtime, size_t len)
{
	uint64_t runtime_size, interp_size, found = 0;
	size_t n_zeros = 0;
	struct reader r;

	reader_init(&r, runtime, len);
	runtime_size = word_at(&r, RUNTIME_SIZE_AT);
	interp_size = word_at(&r, INTERP_SIZE_AT);
	if (reader_error(&r) || runtime_size > len || interp_size > runtime_size)
		return 0;
	for (uint64_t at = interp_size & ~UINT64_C(7); at >= 8; at -= 8) {
		uint64_t word = word_at(&r, runtime_size - interp_size + at - 8);

		if (word == 1 && n_zeros >= TABLE_LEN) {
			if (found || at - 8 > UINT16_MAX)
				return 0;
			found = at - 8;
		}
		n_zeros = word ? 0 : n_zeros + 8;
	}
	return reader_error(&r) ? 0 : (uint16_t)found;
}

/* Counts the entries whose value is their key; -1 from the first other one on. */
static bool is_itself(void *ctx, uint64_t key, uint64_t value)
{
	int *n = ctx;

	*n = key == value ? *n + 1 : -1;
	return *n >= 0 && *n < PROVED;
}

/* A program that CPython is linked into may have another variable of that name. */
static bool leads_to_strs(struct mem *mem, const struct python_layout *l, uint64_t interned)
{
	struct python_heap h;
	uint64_t dict;
	int n = 0;

	if (python_heap_init(&h, mem, l))
		return false;
	h.n_left = MAX_READS;
	dict = python_word(&h, interned);
	if (dict && python_kind(&h, dict) == PYTHON_DICT)
		python_dict_each(&h, dict, is_itself, &n);
	python_heap_deinit(&h);
	return n == PROVED;
}

bool python_stamp_look(struct python_stamp *s, struct python_part *part, struct mem *mem,
		       const struct python_image *image, uint64_t bias)
{
	if (!image->interned || s->interned || s->n_looks == MAX_LOOKS ||
	    !python_steps_take(part, PYTHON_STEPS_FETCH))
		return false;
	s->n_looks++;
	if (leads_to_strs(mem, &image->layout, image->interned + bias))
		s->interned = image->interned + bias;
	return s->interned != 0;
}

void python_stamp_set(const struct python_stamp *s, const struct python_image *image, uint64_t bias,
		      struct python_process *out)
{
	out->interned = s->interned;
	out->interp_made = image->made_codes;
	if (image->next_code)
		out->made = image->next_code + bias;
}
