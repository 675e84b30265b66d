// SPDX-License-Identifier: Apache-2.0
/*
 * One self-contained flame graph page: exporter/flamegraph/ around the call tree as JSON. The
 * data block is never executed, the page's policy allows its own script and style only, by hash.
 *
 * The block: strings[] (0 is ""), frames[] as FRAME_FIELDS numbers each, then arrays by node in
 * preorder: depth, frame, line (0 unknown, -1 several), self[type]; marks[] as node, flags,
 * guessed; labels[] as html_labels.h says.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/flame_tree.h"
#include "exporter/html_labels.h"
#include "flamegraph_page.h"

/* A page of more nodes takes seconds to load and shows no more; what is beyond is left out,
   visibly. Making it takes some 150 bytes a node, in what a recording has left of its memory. */
#define MAX_NODES 160000
/* With the threads as a level a tree can be many times larger: only while it stays handy. */
#define MAX_NODES_WITH_THREADS 60000

SCOPED_DEFINE(struct flame_tree, flame_tree_free)

static void put_key(const char *key, FILE *out)
{
	fprintf(out, ",\n\"%s\":", key);
}

static void put_string(const struct profile *p, uint32_t id, FILE *out)
{
	text_put_json(profile_get_string(p, id), profile_string_len(p, id), out);
}

static void put_text(const char *s, FILE *out)
{
	text_put_json(s, strlen(s), out);
}

static void put_header(const struct profile *p, FILE *out)
{
	const struct profile_header *h = profile_get_header(p);

	fprintf(out, "{\"version\":\"%s\"", WEFT_VERSION);
	put_key("host", out);
	put_string(p, h->hostname, out);
	fprintf(out, ",\n\"time\":%" PRId64 ",\n\"duration\":%" PRId64 ",\n\"period\":%" PRId64,
		h->time_ns / 1000000, h->duration_ns, h->period);
	put_key("types", out);
	for (uint32_t i = 0; i < h->n_sample_types; i++) {
		fputs(i ? ",[" : "[[", out);
		put_string(p, h->sample_types[i].type, out);
		fputc(',', out);
		put_string(p, h->sample_types[i].unit, out);
		fputc(']', out);
	}
	fputs(h->n_sample_types ? "]" : "[]", out);
	put_key("type", out);
	put_string(p, h->default_sample_type, out);
}

static void put_accounting(const struct profile *p, uint32_t n_negative, FILE *out)
{
	uint64_t n;

	put_key("counts", out);
	fprintf(out, "[[\"samples.negative\",%" PRIu32 "]", n_negative);
	for (uint32_t i = 0; i < profile_n_counts(p); i++) {
		fputs(",[", out);
		put_text(profile_get_count(p, i, &n), out);
		fprintf(out, ",%" PRIu64 "]", n);
	}
	fputs("]", out);
	put_key("comments", out);
	fputc('[', out);
	for (uint32_t i = 0; i < profile_n_comments(p); i++) {
		if (i)
			fputc(',', out);
		put_text(profile_get_comment(p, i), out);
	}
	fputc(']', out);
}

static void put_kinds(FILE *out)
{
	put_key("kinds", out);
	fputc('[', out);
	for (int i = 0; i < N_FRAME_KINDS; i++) {
		put_text(frame_kind_name((enum frame_kind)i), out);
		fputc(',', out);
	}
	fputs("\"process\",\"thread\",\"left out\"]", out);
}

static void put_tables(const struct flame_tree *t, FILE *out)
{
	put_kinds(out);
	put_key("strings", out);
	fputs("[\"\"", out);
	for (uint32_t i = 1; i <= flame_tree_n_strings(t); i++) {
		size_t len;
		const char *s = flame_tree_string(t, i, &len);

		fputc(',', out);
		text_put_json(s, len, out);
	}
	fputs("]", out);
	put_key("frames", out);
	fputs("[0,0,0,0,0,0", out);
	for (uint32_t i = 1; i <= flame_tree_n_frames(t); i++) {
		const struct flame_frame *f = flame_tree_frame(t, i);

		fprintf(out, ",%u,%u,%u,%u,%u,%u", f->name, f->module, f->file, f->start_line,
			f->kind, f->is_inlined);
	}
	fputs("]", out);
}

/* Calls put for every node that is kept; its depth is known from the parents' depths before. */
typedef void put_node_fn(const struct flame_node *node, uint32_t depth, uint32_t which, FILE *out);

static void put_depth(const struct flame_node *node, uint32_t depth, uint32_t which, FILE *out)
{
	(void)node, (void)which;
	fprintf(out, "%u", depth);
}

static void put_frame(const struct flame_node *node, uint32_t depth, uint32_t which, FILE *out)
{
	(void)depth, (void)which;
	fprintf(out, "%u", node->frame);
}

static void put_line(const struct flame_node *node, uint32_t depth, uint32_t which, FILE *out)
{
	(void)depth, (void)which;
	fprintf(out, "%d", node->line == FLAME_MANY_LINES ? -1 : (int)(node->line & INT32_MAX));
}

static void put_self(const struct flame_node *node, uint32_t depth, uint32_t which, FILE *out)
{
	(void)depth;
	fprintf(out, "%" PRId64, node->self[which]);
}

static void put_nodes(const struct flame_tree *t, put_node_fn *put, uint32_t which, FILE *out)
{
	const char *separator = "[";
	uint32_t depth = 0, last = 0;

	for (uint32_t i = flame_tree_next(t, 0); i; last = i, i = flame_tree_next(t, i)) {
		const struct flame_node *node = flame_tree_node(t, i);

		/* From the last node up to the new one's parent, then one down. */
		for (; last != node->parent; last = flame_tree_node(t, last)->parent)
			depth--;
		fputs(separator, out);
		put(node, depth++, which, out);
		separator = ",";
	}
	fputs(*separator == '[' ? "[]" : "]", out);
}

/* What only few nodes have: node number in preorder, flags, how much was guessed. */
static void put_marks(const struct flame_tree *t, FILE *out)
{
	const char *separator = "[";
	uint32_t n = 0;

	for (uint32_t i = flame_tree_next(t, 0); i; i = flame_tree_next(t, i), n++) {
		const struct flame_node *node = flame_tree_node(t, i);

		if (!(node->flags & (LOCATION_GUESSED | LOCATION_FOLDED)))
			continue;
		fprintf(out, "%s%u,%u,%" PRId64, separator, n, node->flags, node->guessed);
		separator = ",";
	}
	fputs(*separator == '[' ? "[]" : "]", out);
}

static void put_tree(const struct flame_tree *t, uint32_t n_types, FILE *out)
{
	put_tables(t, out);
	put_key("depth", out);
	put_nodes(t, put_depth, 0, out);
	put_key("frame", out);
	put_nodes(t, put_frame, 0, out);
	put_key("line", out);
	put_nodes(t, put_line, 0, out);
	put_key("self", out);
	for (uint32_t i = 0; i < n_types && i < MAX_VALUES; i++) {
		fputs(i ? "," : "[", out);
		put_nodes(t, put_self, i, out);
	}
	fputs(n_types ? "]" : "[]", out);
	put_key("marks", out);
	put_marks(t, out);
}

/* With the threads if that stays handy. */
static struct flame_tree *make_tree(const struct profile *p)
{
	struct flame_tree *t = flame_tree_new_with_threads(p, MAX_NODES_WITH_THREADS);

	return t ? t : flame_tree_new(p, MAX_NODES);
}

static int write_html(const struct profile *p, FILE *out)
{
	SCOPED(flame_tree_free) struct flame_tree *t = make_tree(p);
	int err;

	if (!t)
		return -ENOMEM;
	fwrite(page_top, 1, sizeof(page_top), out);
	put_header(p, out);
	put_accounting(p, flame_tree_n_negative(t), out);
	put_tree(t, profile_get_header(p)->n_sample_types, out);
	put_key("labels", out);
	err = html_put_labels(p, t, out);
	if (err)
		return err;
	fputs("}\n", out);
	fwrite(page_bottom, 1, sizeof(page_bottom), out);
	return ferror(out) ? -EIO : 0;
}

const struct exporter_ops exporter_html = {
	.name = "html",
	.extension = ".html",
	.help = "a flame graph: one page that needs no network",
	.write = write_html,
};
