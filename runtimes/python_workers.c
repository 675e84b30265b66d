// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_workers.h"

#include <string.h>

#include "runtimes/python_code_names.h"
#include "runtimes/python_dict.h"

#define ITEMS "concurrent.futures.thread"
#define ANYIO "anyio._backends._asyncio"

/* Where in a frame of this code a variable is. */
static uint32_t place_of(struct python_heap *h, uint64_t code, const char *name)
{
	uint32_t variable = code ? python_code_variable(h, code, name) : PYTHON_NO_VARIABLE;

	return variable < PYTHON_NO_VARIABLE ? h->layout->frame.localsplus + 8 * variable : 0;
}

/* concurrent.futures: what a thread runs is an object with the future of another kind, whose
   callback leads to asyncio's. */
static void search_items(struct python_heap *h, uint64_t modules, struct python_workers *out)
{
	uint64_t add = python_method_code(h, modules, "concurrent.futures._base", "Future",
					  "add_done_callback");

	out->item_code = python_method_code(h, modules, ITEMS, "_WorkItem", "run");
	out->item_place = place_of(h, out->item_code, "self");
	out->future_key = out->item_code ? python_code_name(h, out->item_code, "future") : 0;
	out->callbacks_key = add ? python_code_name(h, add, "_done_callbacks") : 0;
	if (!out->item_place || !out->future_key || !out->callbacks_key)
		out->item_code = 0;
}

static bool search(void *ctx, struct python_heap *h, uint64_t modules, bool *is_half)
{
	struct python_pools *pools = ctx;
	struct python_workers found = { 0 };

	search_items(h, modules, &found);
	/* anyio's threads have asyncio's future itself. */
	found.future_code = python_method_code(h, modules, ANYIO, "WorkerThread", "run");
	found.future_place = place_of(h, found.future_code, "future");
	if (!found.future_place)
		found.future_code = 0;
	/* A module is there before what is in it. */
	*is_half |= !found.item_code && python_module_dict(h, modules, ITEMS);
	*is_half |= !found.future_code && python_module_dict(h, modules, ANYIO);
	if (h->n_left)
		pools->at = found;
	return h->n_left && !found.item_code && !found.future_code;
}

bool python_pools_is_due(const struct python_pools *pools, const struct python_layout *l,
			 uint64_t now_ns)
{
	/* The kernel half does not know how attributes of free-threaded builds lie. */
	return l->version >= PYTHON_FIRST(3, 7) && !l->is_free_threaded && l->frame.localsplus &&
	       python_look_is_due(&pools->look, now_ns);
}

bool python_pools_look(struct python_pools *pools, struct python_part *part, struct mem *m,
		       const struct python_layout *l, uint64_t runtime, uint64_t now_ns)
{
	struct python_workers before = pools->at;

	python_look(&pools->look, part, m, l, runtime, now_ns, search, pools);
	return memcmp(&before, &pools->at, sizeof(before)) != 0;
}
