// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_logical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/profile.h"
#include "core/scoped.h"

SCOPED_DEFINE(struct intern, intern_free)

/* A task's await chain below the stack of the task that waits for it. No padding: these are
   compared as bytes. */
struct node {
	uint32_t chain;	 /* of its places */
	uint32_t parent; /* node; 0: the root */
	uint32_t link;	 /* enum python_via to the parent, enum python_logical_end of a root */
	uint32_t is_cut; /* the chain */
};

enum visit { UNSEEN, OPEN, FINISHED };

struct python_logical {
	const struct python_dump *dump;
	struct intern *chains; /* arrays of struct python_place, and one byte of "none" */
	struct intern *nodes;
	uint32_t *ids; /* node of each task */
};

/* What a search from child to parent needs besides. */
struct climb {
	struct python_logical *logical;
	struct intern *addrs; /* of tasks; ids are their places from 1 */
	uint8_t *visits;      /* enum visit */
	uint32_t *next;	      /* waiter to look at */
	uint32_t *path;	      /* tasks that are open, the first asked for first */
	size_t depth;
};

static const struct python_task *task_at(const struct climb *c, uint32_t task)
{
	return &c->logical->dump->tasks.tasks[task];
}

static const struct python_waiter *waiter_at(const struct climb *c, const struct python_task *t,
					     uint32_t i)
{
	return &c->logical->dump->tasks.waiters.items[t->first_waiter + i];
}

/* The task at an address, from 1; 0: it is not here. */
static uint32_t task_of(const struct climb *c, uint64_t addr)
{
	return intern_find(c->addrs, &addr, sizeof(addr));
}

/* Was the one read at another time than the other? Who simply awaits a task waits for it and
   nothing else. */
static bool contradicts(const struct python_task *parent, const struct python_task *child,
			enum python_via via)
{
	if (parent->batch != child->batch && (parent->has_moved || child->has_moved))
		return true;
	return via == PYTHON_VIA_AWAIT &&
	       (parent->state != PYTHON_TASK_WAITING || parent->awaits != child->addr);
}

/* What one waiter makes of a task's stack. False: nothing, as it waits no more. */
static bool behind_waiter(const struct climb *c, const struct python_task *t,
			  const struct python_waiter *w, struct node *out)
{
	uint32_t parent = task_of(c, w->task);

	if (parent && task_at(c, parent - 1)->state == PYTHON_TASK_DONE)
		return false;
	out->parent = 0;
	if (!parent || contradicts(task_at(c, parent - 1), t, w->via)) {
		out->link = PYTHON_LOGICAL_CHANGED;
	} else if (c->visits[parent - 1] != FINISHED) {
		out->link = PYTHON_LOGICAL_CIRCLE;
	} else {
		out->parent = c->logical->ids[parent - 1];
		out->link = (uint32_t)w->via;
	}
	return true;
}

static uint32_t chain_of(struct python_logical *l, const struct python_task *t)
{
	const struct python_place *places = l->dump->tasks.places;

	if (!t->n_places)
		return intern_add(l->chains, "", 1);
	return intern_add(l->chains, &places[t->first_place], t->n_places * sizeof(*places));
}

/* All of its waiters are finished, but for those that lead back to it. */
static void finish(struct climb *c, uint32_t task)
{
	struct python_logical *l = c->logical;
	const struct python_task *t = task_at(c, task);
	struct node node = { .chain = chain_of(l, t), .is_cut = t->is_cut }, one = node;
	bool has_one = false;

	for (uint32_t i = 0; i < t->n_waiters; i++) {
		if (!behind_waiter(c, t, waiter_at(c, t, i), &one))
			continue;
		if (!has_one) {
			node = one;
		} else if (memcmp(&node, &one, sizeof(node))) {
			bool is_unsure = !node.parent || !one.parent;

			node.link = is_unsure ? PYTHON_LOGICAL_CHANGED : PYTHON_LOGICAL_SEVERAL;
			node.parent = 0;
			break;
		}
		has_one = true;
	}
	l->ids[task] = intern_add(l->nodes, &node, sizeof(node));
	c->visits[task] = FINISHED;
}

static void open_task(struct climb *c, uint32_t task)
{
	c->visits[task] = OPEN;
	c->path[c->depth++] = task;
}

/* Depth first from a task to those that wait for it, without recursion: chains of tasks may be as
   long as there are tasks. */
static void climb(struct climb *c, uint32_t task)
{
	open_task(c, task);
	while (c->depth) {
		uint32_t at = c->path[c->depth - 1], parent = 0;
		const struct python_task *t = task_at(c, at);

		while (c->next[at] < t->n_waiters && !parent) {
			parent = task_of(c, waiter_at(c, t, c->next[at]++)->task);
			if (parent && c->visits[parent - 1] != UNSEEN)
				parent = 0;
		}
		if (parent) {
			open_task(c, parent - 1);
			continue;
		}
		finish(c, at);
		c->depth--;
	}
}

static int climb_all(struct python_logical *l)
{
	SCOPED(intern_free) struct intern *addrs = intern_new();
	size_t n = l->dump->tasks.n;
	SCOPED(free) uint8_t *visits = calloc(n + 1, sizeof(*visits));
	SCOPED(free) uint32_t *next = calloc(n + 1, sizeof(*next));
	SCOPED(free) uint32_t *path = calloc(n + 1, sizeof(*path));
	struct climb c = {
		.logical = l, .addrs = addrs, .visits = visits, .next = next, .path = path
	};

	if (!addrs || !visits || !next || !path)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (intern_add(addrs, &l->dump->tasks.tasks[i].addr, sizeof(uint64_t)) != i + 1)
			return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (visits[i] == UNSEEN)
			climb(&c, i);
		if (!l->ids[i])
			return -1;
	}
	return 0;
}

struct python_logical *python_logical_new(const struct python_dump *d)
{
	struct python_logical *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->dump = d;
	l->chains = intern_new();
	l->nodes = intern_new();
	l->ids = calloc(d->tasks.n + 1, sizeof(*l->ids));
	if (l->chains && l->nodes && l->ids && !climb_all(l))
		return l;
	python_logical_free(l);
	return NULL;
}

void python_logical_free(struct python_logical *l)
{
	if (!l)
		return;
	intern_free(l->chains);
	intern_free(l->nodes);
	free(l->ids);
	free(l);
}

uint32_t python_logical_id(const struct python_logical *l, size_t task)
{
	return task < l->dump->tasks.n ? l->ids[task] : 0;
}

static const struct node *node_at(const struct python_logical *l, uint32_t id)
{
	return intern_get(l->nodes, id, NULL);
}

enum python_logical_end python_logical_end(const struct python_logical *l, uint32_t id)
{
	const struct node *node = node_at(l, id);

	for (; node; node = node_at(l, node->parent)) {
		if (node->is_cut)
			return PYTHON_LOGICAL_CUT;
		if (!node->parent)
			return (enum python_logical_end)node->link;
	}
	return PYTHON_LOGICAL_CHANGED;
}

uint32_t python_place_location(struct profile *p, const struct python_functions *fs,
			       struct python_place place)
{
	const struct python_function *f = python_functions_get(fs, place.function);
	struct location location = { .kind = FRAME_PYTHON };
	struct function function = { 0 };
	struct line line = { .line = (uint32_t)place.line };

	if (f) {
		function.name = function.system_name = profile_string(p, f->name);
		function.filename = profile_string_n(p, f->code.file, f->code.file_len);
		function.start_line = f->code.first_line > 0 ? (uint32_t)f->code.first_line : 0;
	} else {
		function.name = profile_string(p, "[unknown Python code]");
	}
	line.function = profile_function(p, &function);
	return profile_location(p, &location, &line, 1);
}

/* "[gather]": the parent waits for the task so. */
static uint32_t link_location(struct profile *p, enum python_via via)
{
	char name[32];

	snprintf(name, sizeof(name), "[%s]", python_via_name(via));
	return profile_mark(p, name);
}

uint32_t python_logical_mark(struct profile *p, enum python_logical_end end)
{
	static const char *const marks[] = {
		[PYTHON_LOGICAL_SEVERAL] = "[several tasks wait for it]",
		[PYTHON_LOGICAL_CHANGED] = "[broken: who waits for it changed meanwhile]",
		[PYTHON_LOGICAL_CIRCLE] = "[broken: tasks wait in a circle]",
		[PYTHON_LOGICAL_CUT] = "[broken: awaits in a circle, or too deep]",
	};

	return end == PYTHON_LOGICAL_WHOLE ? 0 : profile_mark(p, marks[end]);
}

/* Where a stack is written. */
struct writing {
	struct profile *profile;
	uint32_t *out;
	size_t n;
};

/* False: there is no more room. The last place is the mark's that says so. */
static bool put(struct writing *w, uint32_t location)
{
	if (w->n == PYTHON_LOGICAL_MAX - 1) {
		w->out[w->n++] = profile_mark(w->profile, "[truncated]");
		return false;
	}
	w->out[w->n++] = location;
	return true;
}

static bool put_chain(struct writing *w, const struct python_logical *l, const struct node *node)
{
	size_t len, n;
	const struct python_place *places = intern_get(l->chains, node->chain, &len);

	n = len / sizeof(*places);
	if (node->is_cut && !put(w, python_logical_mark(w->profile, PYTHON_LOGICAL_CUT)))
		return false;
	if (!n)
		return put(w, profile_mark(w->profile, "[no Python coroutine]"));
	for (size_t i = n; i > 0; i--)
		if (!put(w, python_place_location(w->profile, l->dump->functions, places[i - 1])))
			return false;
	return true;
}

/* What is between a chain and the one behind it, or at the root. False: no more room. */
static bool put_link(struct writing *w, const struct node *node)
{
	struct profile *p = w->profile;
	uint32_t mark = node->parent ? link_location(p, (enum python_via)node->link)
				     : python_logical_mark(p, (enum python_logical_end)node->link);

	return !mark || put(w, mark);
}

size_t python_logical_locations(const struct python_logical *l, uint32_t id, struct profile *p,
				uint32_t *out)
{
	struct writing w = { .profile = p, .out = out };
	const struct node *node = node_at(l, id);

	while (node && put_chain(&w, l, node) && put_link(&w, node))
		node = node_at(l, node->parent);
	return w.n;
}

size_t python_logical_parents(const struct python_logical *l, uint32_t id, struct profile *p,
			      uint32_t *out)
{
	struct writing w = { .profile = p, .out = out };
	const struct node *node = node_at(l, id);

	while (node && put_link(&w, node)) {
		node = node_at(l, node->parent);
		if (node && !put_chain(&w, l, node))
			break;
	}
	return w.n;
}
