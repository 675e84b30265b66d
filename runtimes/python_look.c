// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_look.h"

#define DICT_USED 16
/* Between two questions, of which each costs some 50 us: an eighth of the time in which nothing was
   imported. A search reads of every module, so it may take a twentieth of the time by its steps,
   and what stays half done is asked for less and less. */
#define MIN_PAUSE_NS (20 * UINT64_C(1000000))
#define MAX_PAUSE_NS (640 * UINT64_C(1000000))
#define PAUSE_SHARE 8
#define MAX_HALF_PAUSE_NS (UINT64_C(5000) * 1000000)
#define SEARCH_SHARE 20
#define CACHE_BYTES (4u << 20)

bool python_look_is_due(const struct python_look *look, uint64_t now_ns)
{
	return now_ns >= look->next_ns;
}

/* sys.modules of the interpreters: of the main one first, which is the program's own and may stand
   behind many that work for it, then of the newest. Returns how many. */
static int modules_of(struct python_heap *h, uint64_t runtime, uint64_t out[PYTHON_LOOK_INTERPS])
{
	uint64_t list = runtime + h->layout->runtime.interpreters_head;
	uint64_t interp = python_word(h, list), main_interp = python_word(h, list + 8);
	int n = 0;

	if (main_interp)
		out[n++] = python_word(h, main_interp + h->layout->interp.modules);
	for (int i = 0; interp && i < PYTHON_LOOK_INTERPS && n < PYTHON_LOOK_INTERPS; i++) {
		if (interp != main_interp)
			out[n++] = python_word(h, interp + h->layout->interp.modules);
		interp = python_word(h, interp + h->layout->interp.next);
	}
	return n;
}

/* A number that changes whenever an interpreter's modules do. */
static uint64_t sum_of(struct python_heap *h, const uint64_t *modules, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		uint64_t used = modules[i] ? python_field(h, modules[i], DICT_USED) : 0;

		sum = (sum ^ modules[i] ^ used << 48) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return sum;
}

static uint64_t between(uint64_t pause_ns, uint64_t max_ns)
{
	return pause_ns < MIN_PAUSE_NS ? MIN_PAUSE_NS : pause_ns < max_ns ? pause_ns : max_ns;
}

static uint64_t pause_of(const struct python_look *look, uint64_t now_ns)
{
	if (look->is_half)
		return between(2 * look->pause_ns, MAX_HALF_PAUSE_NS);
	return between((now_ns - look->new_ns) / PAUSE_SHARE, MAX_PAUSE_NS);
}

static void search(struct python_look *look, struct python_heap *h, const uint64_t *modules, int n,
		   python_search_fn *fn, void *ctx)
{
	bool is_more = true;

	look->is_half = false;
	for (int i = 0; i < n && is_more; i++)
		is_more = !modules[i] || fn(ctx, h, modules[i], &look->is_half);
}

bool python_look(struct python_look *look, struct python_part *part, struct mem *m,
		 const struct python_layout *l, uint64_t runtime, uint64_t now_ns,
		 python_search_fn *fn, void *ctx)
{
	uint64_t modules[PYTHON_LOOK_INTERPS], sum, took_ns;
	struct python_search s;
	struct python_heap h;
	bool is_new, is_half = look->is_half;
	int n;

	if (!look->new_ns)
		look->new_ns = now_ns;
	look->pause_ns = pause_of(look, now_ns);
	look->next_ns = now_ns + look->pause_ns;
	if (!python_steps_left(part) || python_search_begin(&s, part, m, l, CACHE_BYTES, &h) < 0)
		return false;
	n = modules_of(&h, runtime, modules);
	sum = sum_of(&h, modules, n);
	is_new = sum != look->modules;
	if (is_new || is_half) {
		look->modules = sum;
		search(look, &h, modules, n, fn, ctx);
		took_ns = python_search_steps(&s, &h) * SEARCH_SHARE; /* a step, about a ns */
		if (!h.n_left)
			look->modules = 0; /* that was not all: it is searched again */
		if (is_new) {
			look->pause_ns = MIN_PAUSE_NS;
			look->new_ns = now_ns;
		}
		if (look->pause_ns < took_ns)
			look->pause_ns = took_ns;
		look->next_ns = now_ns + look->pause_ns;
	}
	python_search_end(&s, part, &h);
	return is_new || is_half;
}
