// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the pages that the browser tests open: make_page demo|large|deep|hostile|empty >PAGE.html
 * Every profile is made up by a fixed rule, so that the tests know its sums.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "core/scoped.h"
#include "exporter/exporter.h"

#define PERIOD_NS 10101010

extern const struct exporter_ops exporter_html;

SCOPED_DEFINE(struct profile, profile_free)

struct spot { /* where a made-up frame is */
	const char *name, *module, *file;
	uint32_t line;
	enum frame_kind kind;
	uint16_t flags;
	const char *inlined; /* a function compiled into it, or NULL */
};

static struct line line_of(struct profile *p, const char *name, const char *file, uint32_t line)
{
	const struct function f = {
		.name = profile_string(p, name),
		.filename = profile_string(p, file),
		.start_line = line,
	};

	return (struct line){ .function = profile_function(p, &f), .line = line ? line + 3 : 0 };
}

static uint32_t spot_location(struct profile *p, const struct spot *s)
{
	const struct profile_mapping m = { .start = 0x1000,
					   .limit = 0x9000,
					   .filename = profile_string(p, s->module) };
	struct location l = { .address = 0x1000 + (uint64_t)s->line,
			      .kind = (uint16_t)s->kind,
			      .flags = s->flags };
	struct line lines[2];
	size_t n = 0;

	if (s->module)
		l.mapping = profile_mapping(p, &m);
	if (s->inlined)
		lines[n++] = line_of(p, s->inlined, s->file, s->line + 10);
	if (s->name)
		lines[n++] = line_of(p, s->name, s->file, s->line);
	return profile_location(p, &l, lines, n);
}

/* The stack is given root first, as one reads a graph; ends with a spot without kind and name. */
static void add(struct profile *p, const char *process, const char *thread, const struct spot *root,
		const size_t *path, size_t n, int64_t samples)
{
	uint32_t ids[2048];
	struct label labels[2] = {
		{ .key = profile_string(p, "process"), .str = profile_string(p, process) },
		{ .key = profile_string(p, "thread"), .str = profile_string(p, thread) },
	};
	const int64_t values[MAX_VALUES] = { samples, samples * PERIOD_NS };

	for (size_t i = 0; i < n; i++)
		ids[n - 1 - i] = spot_location(p, &root[path[i]]);
	profile_add(p, profile_stack(p, ids, n), profile_label_set(p, labels, thread ? 2 : 1), 0,
		    values);
}

static void set_header(struct profile *p)
{
	struct profile_header *h = profile_header(p);

	profile_begin(p, "cpu", "nanoseconds");
	h->period = PERIOD_NS;
	h->time_ns = INT64_C(1795266000000000000);
	h->duration_ns = INT64_C(10000000000);
	h->hostname = profile_string(p, "build-7");
	profile_count(p, "ticks.sampled", 1935);
	profile_count(p, "ticks.filtered", 12410);
	profile_count(p, "ticks.skipped", 41230);
	profile_count(p, "ticks.lost_ring", 2);
	profile_count(p, "end.root", 1921);
	profile_count(p, "end.kernel_only", 6);
	profile_count(p, "end.no_rule", 5);
	profile_count(p, "end.snapshot_truncated", 3);
	profile_count(p, "maps.reread", 4);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Services of several languages as they look on a real machine. */
static const struct spot demo_spots[] = {
	{ "_start", "/usr/bin/shopd", "", 0, FRAME_NATIVE, 0, NULL },
	{ "main", "/usr/bin/shopd", "/src/shop/main.cc", 120, FRAME_NATIVE, 0, NULL },
	{ "shop::Server::run(std::chrono::nanoseconds)", "/usr/bin/shopd", "/src/shop/server.cc",
	  88, FRAME_NATIVE, 0, "shop::Queue<shop::Request>::pop()" },
	{ "shop::Basket::total(shop::Currency const&) const", "/usr/bin/shopd",
	  "/src/shop/basket.cc", 41, FRAME_NATIVE, 0, "std::accumulate<shop::Item const*, long>" },
	{ "shop::json::Writer::put(std::basic_string_view<char>)", "/usr/bin/shopd",
	  "/src/shop/json.cc", 17, FRAME_NATIVE, LOCATION_FOLDED, NULL },
	{ "__libc_write", "/usr/lib/x86_64-linux-gnu/libc.so.6", "", 0, FRAME_NATIVE, 0, NULL },
	{ "entry_SYSCALL_64_after_hwframe", "[kernel]", "", 0, FRAME_KERNEL, 0, NULL },
	{ "do_syscall_64", "[kernel]", "", 0, FRAME_KERNEL, 0, NULL },
	{ "ksys_write", "[kernel]", "", 0, FRAME_KERNEL, 0, NULL },
	{ "tcp_sendmsg_locked", "[kernel]", "", 0, FRAME_KERNEL, 0, NULL },
	{ "_PyEval_EvalFrameDefault", "/usr/bin/python3.11", "", 0, FRAME_NATIVE, 0, NULL },
	{ "render_page", NULL, "/srv/app/pages.py", 31, FRAME_PYTHON, 0, NULL },
	{ "Template.fill", NULL, "/srv/app/template.py", 210, FRAME_PYTHON, 0, NULL },
	{ "re.Pattern.sub", NULL, "/usr/lib/python3.11/re/__init__.py", 170, FRAME_PYTHON, 0,
	  NULL },
	{ "java.lang.Thread.run", NULL, "Thread.java", 840, FRAME_JAVA, 0, NULL },
	{ "com.example.orders.OrderService.submit", NULL, "OrderService.java", 57, FRAME_JAVA, 0,
	  "com.example.orders.Order.validate" },
	{ "java.util.HashMap.resize", NULL, "HashMap.java", 699, FRAME_JAVA, 0, NULL },
	{ "runtime.goexit", "/opt/gateway", "asm_amd64.s", 1650, FRAME_GO, 0, NULL },
	{ "net/http.(*conn).serve", "/opt/gateway", "net/http/server.go", 1900, FRAME_GO, 0, NULL },
	{ "main.(*Gateway).ServeHTTP", "/opt/gateway", "main.go", 77, FRAME_GO, 0, NULL },
	{ "runtime.mallocgc", "/opt/gateway", "runtime/malloc.go", 1005, FRAME_GO, 0, NULL },
	{ "Interpreter:~handle", NULL, "", 0, FRAME_JIT, 0, NULL },
	{ "LazyCompile:*render /srv/web/render.js:40", NULL, "", 0, FRAME_JIT, 0, NULL },
	{ "x264_pixel_satd_8x8_avx2", "/usr/lib/x86_64-linux-gnu/libx264.so.164", "", 0,
	  FRAME_NATIVE, LOCATION_GUESSED, NULL },
	{ "x264_slice_write", "/usr/lib/x86_64-linux-gnu/libx264.so.164", "", 0, FRAME_NATIVE, 0,
	  NULL },
	{ NULL, "/opt/vendor/libblob.so", "", 0x2f4, FRAME_NATIVE, 0, NULL },
	{ "[truncated]", NULL, "", 0, FRAME_MARK, 0, NULL },
	{ "swapper_idle", "[kernel]", "", 0, FRAME_KERNEL, 0, NULL },
	{ "std::sort<__gnu_cxx::__normal_iterator<shop::Item*, std::vector<shop::Item>>>",
	  "/usr/bin/shopd", "/usr/include/c++/12/bits/stl_algo.h", 4861, FRAME_NATIVE, 0, NULL },
};

static void fill_demo(struct profile *p)
{
	static const struct {
		const char *process, *thread;
		int64_t samples;
		size_t n, path[12];
	} rows[] = {
		{ "shopd", "worker", 210, 5, { 0, 1, 2, 3, 28 } },
		{ "shopd", "worker", 160, 4, { 0, 1, 2, 3 } },
		{ "shopd", "worker", 120, 5, { 0, 1, 2, 3, 4 } },
		{ "shopd", "worker", 96, 9, { 0, 1, 2, 4, 5, 6, 7, 8, 9 } },
		{ "shopd", "shopd", 60, 3, { 0, 1, 2 } },
		{ "shopd", "shopd", 31, 7, { 0, 1, 2, 5, 6, 7, 8 } },
		{ "python3", "python3", 190, 6, { 0, 1, 10, 11, 12, 13 } },
		{ "python3", "python3", 88, 5, { 0, 1, 10, 11, 12 } },
		{ "python3", "python3", 42, 9, { 0, 1, 10, 11, 5, 6, 7, 8, 9 } },
		{ "java", "orders-1", 180, 3, { 14, 15, 16 } },
		{ "java", "orders-1", 140, 2, { 14, 15 } },
		{ "java", "orders-2", 77, 3, { 14, 15, 16 } },
		{ "gateway", "gateway", 130, 4, { 17, 18, 19, 20 } },
		{ "gateway", "gateway", 74, 3, { 17, 18, 19 } },
		{ "gateway", "gateway", 39, 7, { 17, 18, 19, 6, 7, 8, 9 } },
		{ "node", "node", 96, 4, { 0, 1, 21, 22 } },
		{ "node", "node", 40, 3, { 0, 1, 21 } },
		{ "ffmpeg", "av:h264", 92, 4, { 0, 1, 24, 23 } },
		{ "ffmpeg", "av:h264", 40, 3, { 26, 24, 23 } },
		{ "blob", "blob", 24, 3, { 0, 1, 25 } },
		{ "kworker/0:1", "kworker/0:1", 6, 1, { 27 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		add(p, rows[i].process, rows[i].thread, demo_spots, rows[i].path, rows[i].n,
		    rows[i].samples);
}

/* More than 100,000 nodes: 20,000 functions, stacks that branch at every level, most of them
 * narrow. */
static void fill_large(struct profile *p)
{
	enum { N_SPOTS = 20000, N_NODES = 101000 };
	SCOPED(free) struct spot *spots = calloc(N_SPOTS, sizeof(*spots));
	SCOPED(free) char *names = calloc(N_SPOTS, 64);
	uint32_t seed = 7, made = 0;

	if (!spots || !names)
		return;
	for (uint32_t i = 0; i < N_SPOTS; i++) {
		snprintf(names + i * 64, 64, "ns%u::Type%u<long>::method_%u(int)", i % 97, i % 1013,
			 i);
		spots[i] = (struct spot){ names + i * 64,
					  i % 3 ? "/usr/lib/liblarge.so" : "[kernel]",
					  "large.cc",
					  i,
					  (enum frame_kind)(1 + i % 6),
					  i % 50 ? 0 : LOCATION_GUESSED,
					  NULL };
	}
	/* Each stack leaves the one before at some level and has new frames from there on. */
	for (size_t path[48] = { 0 }, depth = 0; made < N_NODES;) {
		size_t from = depth ? next_random(&seed) % depth : 0;
		size_t until = from + 1 + next_random(&seed) % (48 - from);

		if (until - from > N_NODES - made)
			until = from + N_NODES - made;
		for (size_t i = from; i < until; i++, made++)
			path[i] = i < 2 ? i * 10 + next_random(&seed) % 9
					: next_random(&seed) % N_SPOTS;
		depth = until;
		add(p, "large", NULL, spots, path, depth, 1 + next_random(&seed) % 40);
	}
}

/* The cap of the kernel half: 1,024 frames of a recursion. */
static void fill_deep(struct profile *p)
{
	const struct spot spots[] = { { "main", "/bin/deep", "deep.c", 9, FRAME_NATIVE, 0, NULL },
				      { "ping", "/bin/deep", "deep.c", 2, FRAME_NATIVE, 0, NULL },
				      { "pong", "/bin/deep", "deep.c", 5, FRAME_NATIVE, 0, NULL } };
	size_t path[1024] = { 0 };

	for (size_t i = 1; i < 1024; i++)
		path[i] = 1 + i % 2;
	for (size_t n = 64; n <= 1024; n += 64)
		add(p, "deep", "deep", spots, path, n, 3);
}

/* Names that would run, break out, reorder the line or end the string if anyone let them. */
static void fill_hostile(struct profile *p)
{
	static const char *const names[] = {
		"</script><img src=x onerror=window.hacked=1>",
		"<script>window.hacked=2</script>",
		"\"quoted\" 'too' `and` \\backslash",
		"a\x1b[31mred\x1b[0m",
		"bad\xff\xfeutf8\xc3",
		"right\xe2\x80\xae"
		"left\xe2\x81\xa6iso",
		"line\nbreak\ttab;semi",
		"]]>-->*/ ${window.hacked=3}",
		"sep\xe2\x80\xa8line\xe2\x80\xa9para",
		"<!--<script>",
		"__proto__",
		"constructor",
		"",
		"javascript:window.hacked=4",
		"&lt;b&gt;&amp;",
		"\xf0\x9f\x94\xa5 fire",
	};
	enum { N = sizeof(names) / sizeof(*names) };
	struct spot spots[N];
	size_t path[N];

	for (size_t i = 0; i < N; i++) {
		spots[i] = (struct spot){ names[i],
					  names[(i + 1) % N],
					  names[(i + 2) % N],
					  (uint32_t)i,
					  (enum frame_kind)(i % N_FRAME_KINDS),
					  0,
					  NULL };
		path[i] = i;
		add(p, names[i], names[N - 1 - i], spots, path, i + 1, (int64_t)(i + 1) * 10);
	}
	profile_comment(p, names[0]);
	profile_count(p, names[1], 3);
	profile_header(p)->hostname = profile_string(p, names[0]);
	profile_header(p)->sample_types[0].type = profile_string(p, names[9]);
}

static const struct {
	const char *name;
	void (*fill)(struct profile *p);
} pages[] = {
	{ "demo", fill_demo },	     { "large", fill_large }, { "deep", fill_deep },
	{ "hostile", fill_hostile }, { "empty", NULL },
};

int main(int argc, char **argv)
{
	SCOPED(profile_free) struct profile *p = profile_new();

	for (size_t i = 0; p && argc == 2 && i < sizeof(pages) / sizeof(*pages); i++) {
		if (strcmp(argv[1], pages[i].name))
			continue;
		set_header(p);
		if (pages[i].fill)
			pages[i].fill(p);
		if (profile_error(p) || exporter_html.write(p, stdout) || fflush(stdout))
			return 1;
		return 0;
	}
	fprintf(stderr, "usage: make_page demo|large|deep|hostile|empty >PAGE.html\n");
	return 2;
}
