// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cpp_tree.h"

#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/scoped.h"

/* The printer keeps, on its stack, a pair of pointers for every template at every reference to a
 * template parameter; and it counts shared parts up to twice. */
#define MAX_SAVED (16 * 1024)
#define MANY (1UL << 40) /* more than any bound; sums do not overflow */

/* What printing a part takes, with shared parts counted once for each way to them. */
struct cost {
	uint64_t visits;
	/* Among the visits: template parameters that refer to arguments around this part, and those
	 * that the printer may look up elsewhere: below references and in conversion operators. */
	uint64_t params, strays;
	bool is_known, is_open;
	bool has_conversion;
};

struct tree {
	const struct demangle_component *comps;
	size_t n_comps;
	struct cost *costs;
	uint64_t n_templates, n_param_refs;
	uint64_t max_pack; /* elements of the longest argument pack */
	/* Argument lists that come into scope: how many, the dearest, and if any has parameters. */
	uint64_t n_scopes, max_args;
	bool has_open_args;
	bool is_cyclic;
};

static uint64_t limited(uint64_t n)
{
	return n < MANY ? n : MANY;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	return b && a > MANY / b ? MANY : limited(a * b);
}

static const struct demangle_component *inside(const struct tree *t,
					       const struct demangle_component *p)
{
	uintptr_t at = (uintptr_t)p - (uintptr_t)t->comps;

	return p && at / sizeof(*p) < t->n_comps && !(at % sizeof(*p)) ? p : NULL;
}

/* The parts right below one, NULL where there is none. Kinds of newer versions that have no parts
 * below them hold no pointer to one either. */
static void find_children(const struct tree *t, const struct demangle_component *p,
			  const struct demangle_component *child[2])
{
	child[0] = child[1] = NULL;
	switch (p->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return;
	case DEMANGLE_COMPONENT_CTOR:
		child[0] = inside(t, p->u.s_ctor.name);
		return;
	case DEMANGLE_COMPONENT_DTOR:
		child[0] = inside(t, p->u.s_dtor.name);
		return;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		child[0] = inside(t, p->u.s_extended_operator.name);
		return;
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		child[0] = inside(t, p->u.s_fixed.length);
		return;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		child[0] = inside(t, p->u.s_unary_num.sub);
		return;
	default:
		child[0] = inside(t, p->u.s_binary.left);
		child[1] = inside(t, p->u.s_binary.right);
	}
}

static bool is_list(const struct demangle_component *p)
{
	return p && p->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST;
}

static void note_pack(struct tree *t, const struct demangle_component *list)
{
	uint64_t n = 0;

	for (; is_list(list) && n < t->n_comps; n++)
		list = inside(t, list->u.s_binary.right);
	t->max_pack = n > t->max_pack ? n : t->max_pack;
}

/* Finds what the second pass multiplies with. A pack is a list in a list. */
static void survey_part(struct tree *t, const struct demangle_component *p,
			const struct demangle_component *child[2])
{
	switch (p->type) {
	case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
		if (is_list(child[0]))
			note_pack(t, child[0]);
		break;
	case DEMANGLE_COMPONENT_TEMPLATE:
		t->n_templates++;
		break;
	case DEMANGLE_COMPONENT_REFERENCE:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
		if (child[0] && child[0]->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM)
			t->n_param_refs++;
		break;
	default:
		break;
	}
}

static void survey(struct tree *t, const struct demangle_component *p)
{
	const struct demangle_component *child[2];

	if (!p || t->costs[p - t->comps].is_open)
		return;
	t->costs[p - t->comps].is_open = true;
	find_children(t, p, child);
	survey_part(t, p, child);
	survey(t, child[0]);
	survey(t, child[1]);
}

/* A name whose arguments are in scope in its type: parameters there refer to them. */
static const struct demangle_component *scope_arguments(const struct tree *t,
							const struct demangle_component *p)
{
	for (size_t i = 0; p && i < t->n_comps; i++) {
		if (p->type == DEMANGLE_COMPONENT_TEMPLATE)
			return inside(t, p->u.s_binary.right);
		if (p->type == DEMANGLE_COMPONENT_NAME || p->type == DEMANGLE_COMPONENT_QUAL_NAME)
			return NULL;
		if (p->type == DEMANGLE_COMPONENT_LOCAL_NAME)
			p = inside(t, p->u.s_binary.right);
		else if (p->type == DEMANGLE_COMPONENT_DEFAULT_ARG)
			p = inside(t, p->u.s_unary_num.sub);
		else
			p = inside(t, p->u.s_binary.left);
	}
	return NULL;
}

static void add(struct cost *sum, const struct cost *c, uint64_t n)
{
	sum->visits = limited(sum->visits + times(c->visits, n));
	sum->params = limited(sum->params + times(c->params, n));
	sum->strays = limited(sum->strays + times(c->strays, n));
	sum->has_conversion = sum->has_conversion || c->has_conversion;
}

static struct cost cost_of(struct tree *t, const struct demangle_component *p);

static struct cost note_scope(struct tree *t, const struct demangle_component *args)
{
	struct cost c = cost_of(t, args);

	t->n_scopes++;
	t->max_args = c.visits > t->max_args ? c.visits : t->max_args;
	t->has_open_args = t->has_open_args || c.params;
	return c;
}

/* The parameters of the type are the arguments of the name. What they have of parameters refers to
 * arguments further out. */
static struct cost cost_of_typed(struct tree *t, const struct demangle_component *child[2])
{
	const struct demangle_component *arguments = scope_arguments(t, child[0]);
	struct cost sum = cost_of(t, child[0]), type = cost_of(t, child[1]), args;
	uint64_t n = type.params;

	if (arguments) {
		args = note_scope(t, arguments);
		type.params = 0;
		add(&sum, &args, n);
	}
	add(&sum, &type, 1);
	return sum;
}

static bool is_reference(const struct demangle_component *p)
{
	return p->type == DEMANGLE_COMPONENT_REFERENCE ||
	       p->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE;
}

static struct cost cost_of_children(struct tree *t, const struct demangle_component *p,
				    const struct demangle_component *child[2])
{
	struct cost left = cost_of(t, child[0]), right = cost_of(t, child[1]);
	struct cost sum = { .has_conversion = p->type == DEMANGLE_COMPONENT_CONVERSION };
	uint64_t n = 1;

	if (p->type == DEMANGLE_COMPONENT_PACK_EXPANSION)
		n = t->max_pack + 1; /* once to search it for a pack */
	else if (p->type == DEMANGLE_COMPONENT_UNARY)
		n = 2; /* sizeof... searches */
	add(&sum, &left, n);
	add(&sum, &right, n);
	if (p->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM)
		sum.params = 1;
	else if (p->type == DEMANGLE_COMPONENT_LAMBDA)
		sum.params = sum.strays = 0; /* its own parameters are auto:1 and so on */
	else if (is_reference(p))
		sum.strays += child[0] && child[0]->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM;
	else if (p->type == DEMANGLE_COMPONENT_CONVERSION)
		sum.strays = limited(sum.strays + sum.params);
	else if (p->type == DEMANGLE_COMPONENT_TEMPLATE && sum.has_conversion)
		note_scope(t, child[1]);
	return sum;
}

static struct cost cost_of(struct tree *t, const struct demangle_component *p)
{
	struct cost *c = p ? &t->costs[p - t->comps] : NULL, sum = { 0 };
	const struct demangle_component *child[2];

	if (!c || c->is_known)
		return c ? *c : sum;
	if (c->is_open) {
		t->is_cyclic = true;
		return sum;
	}
	c->is_open = true;
	find_children(t, p, child);
	sum = p->type == DEMANGLE_COMPONENT_TYPED_NAME ? cost_of_typed(t, child)
						       : cost_of_children(t, p, child);
	sum.visits = limited(sum.visits + 1);
	sum.is_known = true;
	return *c = sum;
}

static uint64_t count_visits(struct tree *t, const struct demangle_component *root)
{
	struct cost whole = cost_of(t, root);

	/* A stray that finds further parameters may find itself. */
	if (t->is_cyclic || (whole.strays && t->has_open_args && t->n_scopes > 1))
		return MANY;
	return limited(whole.visits + times(whole.strays, t->max_args));
}

bool cpp_tree_is_cheap(const struct demangle_component *root,
		       const struct demangle_component *comps, size_t n_comps,
		       unsigned long max_visits)
{
	SCOPED(free) struct cost *costs = calloc(n_comps, sizeof(*costs));
	struct tree t = { .comps = comps, .n_comps = n_comps, .costs = costs };

	if (!costs)
		return false;
	root = inside(&t, root);
	survey(&t, root);
	for (size_t i = 0; i < n_comps; i++)
		costs[i].is_open = false;
	return times(t.n_templates, t.n_param_refs) <= MAX_SAVED &&
	       count_visits(&t, root) <= max_visits;
}
