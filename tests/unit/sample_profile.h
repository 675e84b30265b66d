/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small profile for the tests of formats: two processes, kernel frames, inlined calls, a frame
 * without a symbol, every kind of frame, guessed and folded ones, a broken walk, counts.
 */
#ifndef TESTS_UNIT_SAMPLE_PROFILE_H
#define TESTS_UNIT_SAMPLE_PROFILE_H

#include "core/profile.h"

#define SAMPLE_TIME_NS INT64_C(1700000000000000000)

static inline uint32_t sample_function(struct profile *p, const char *name, const char *system_name,
				       const char *file, uint32_t start_line)
{
	struct function f = { profile_string(p, name), profile_string(p, system_name),
			      profile_string(p, file), start_line };

	return profile_function(p, &f);
}

static inline uint32_t sample_location(struct profile *p, enum frame_kind kind, uint32_t mapping,
				       uint64_t address, uint32_t function, uint32_t line)
{
	struct location l = { .address = address, .mapping = mapping, .kind = (uint16_t)kind };
	struct line lines[] = { { function, line, 0 } };

	return profile_location(p, &l, lines, function ? 1 : 0);
}

static inline uint32_t sample_labels(struct profile *p, int pid, int tid, const char *process,
				     const char *thread, const char *container)
{
	struct label labels[] = {
		{ .key = profile_string(p, "pid"), .num = pid },
		{ .key = profile_string(p, "tid"), .num = tid },
		{ .key = profile_string(p, "process"), .str = profile_string(p, process) },
		{ .key = profile_string(p, "thread"), .str = profile_string(p, thread) },
		{ .key = profile_string(p, "container"), .str = profile_string(p, container) },
	};

	return profile_label_set(p, labels, container ? 5 : 4);
}

static inline void sample_add(struct profile *p, uint32_t labels, int64_t n,
			      const uint32_t *locations, size_t depth)
{
	int64_t values[MAX_VALUES] = { n, n * 10101010 };

	profile_add(p, profile_stack(p, locations, depth), labels,
		    (uint64_t)SAMPLE_TIME_NS + (uint64_t)n * 1000000, values);
}

static inline struct profile *sample_profile_empty(void)
{
	struct profile *p = profile_new();
	struct profile_header *h = profile_header(p);

	profile_begin(p, "cpu", "nanoseconds");
	h->period = 10101010;
	h->time_ns = SAMPLE_TIME_NS;
	h->duration_ns = INT64_C(10000000000);
	h->hostname = profile_string(p, "builder");
	return p;
}

static inline uint32_t sample_mapping(struct profile *p, const char *path, uint64_t start,
				      uint64_t limit, uint64_t offset, const char *build_id)
{
	struct profile_mapping m = { .start = start,
				     .limit = limit,
				     .offset = offset,
				     .filename = profile_string(p, path),
				     .build_id = profile_string(p, build_id) };

	return profile_mapping(p, &m);
}

/* A C++ function with two calls inlined into it, found guessing and folded with another. */
static inline uint32_t sample_inlined(struct profile *p, uint32_t mapping)
{
	uint32_t inner =
		sample_function(p, "std::min<int>(int const&, int const&)", "_ZSt3minIiERKT_S2_S2_",
				"/usr/include/c++/12/bits/stl_algobase.h", 230);
	uint32_t middle = sample_function(p, "clamp(int)", "_ZL5clampi", "/src/app/main.cc", 10);
	uint32_t outer = sample_function(p, "app::Engine<int>::run(int)", "_ZN3app6EngineIiE3runEi",
					 "/src/app/main.cc", 40);
	struct line lines[] = { { inner, 238, 9 }, { middle, 12, 0 }, { outer, 51, 3 } };
	struct location l = { .address = 0x1a2b,
			      .mapping = mapping,
			      .kind = FRAME_NATIVE,
			      .flags = LOCATION_GUESSED | LOCATION_FOLDED };

	return profile_location(p, &l, lines, 3);
}

static inline struct profile *sample_profile(void)
{
	struct profile *p = sample_profile_empty();
	uint32_t libc =
		sample_mapping(p, "/usr/lib/libc.so.6", 0x26000, 0x17b000, 0x26000, "c0ffee");
	uint32_t kernel = sample_mapping(p, "[kernel.kallsyms]", 0xffffffff81000000,
					 0xffffffff82000000, 0, "");
	uint32_t app = sample_mapping(p, "/src/app/server", 0x1000, 0x9000, 0x1000, "0123abcd");
	uint32_t write = sample_location(p, FRAME_NATIVE, libc, 0x114a37, 0, 0);
	uint32_t vfs = sample_location(p, FRAME_KERNEL, kernel, 0xffffffff812f1000,
				       sample_function(p, "vfs_write", "vfs_write", "", 0), 0);
	uint32_t entry =
		sample_location(p, FRAME_KERNEL, kernel, 0xffffffff81e0008c,
				sample_function(p, "do_syscall_64", "do_syscall_64", "", 0), 0);
	uint32_t inlined = sample_inlined(p, app);
	uint32_t mainloc =
		sample_location(p, FRAME_NATIVE, app, 0x1105,
				sample_function(p, "main", "main", "/src/app/main.cc", 60), 66);
	uint32_t java =
		sample_location(p, FRAME_JAVA, 0, 0,
				sample_function(p, "com.example.Shop.checkout",
						"com.example.Shop.checkout", "Shop.java", 100),
				112);
	uint32_t python =
		sample_location(p, FRAME_PYTHON, 0, 0,
				sample_function(p, "shop.cart.Cart.total", "shop.cart.Cart.total",
						"shop/cart.py", 7),
				9);
	uint32_t mark = sample_location(
		p, FRAME_MARK, 0, 0,
		sample_function(p, "[broken: no unwind data]", "[broken: no unwind data]", "", 0),
		0);
	struct location jit_code = { .address = 0x7f0000001234, .kind = FRAME_JIT, .tag = 43 };
	uint32_t jit = profile_location(p, &jit_code, NULL, 0);
	uint32_t server = sample_labels(p, 42, 42, "server", "server", "deadbeefcafe");
	uint32_t worker = sample_labels(p, 42, 44, "server", "worker/0", "deadbeefcafe");
	uint32_t tool = sample_labels(p, 43, 43, "tool", "tool", NULL);

	sample_add(p, server, 3, (uint32_t[]){ vfs, entry, write, inlined, mainloc }, 5);
	sample_add(p, server, 5, (uint32_t[]){ inlined, mainloc }, 2);
	sample_add(p, worker, 2, (uint32_t[]){ inlined, mark }, 2);
	sample_add(p, tool, 4, (uint32_t[]){ python, java, jit, mainloc }, 4);
	sample_add(p, tool, 1, (uint32_t[]){ jit, mainloc }, 2);
	profile_count(p, "ticks.sampled", 15);
	profile_count(p, "ticks.lost_ring", 3);
	profile_comment(p, "weft 0.1.0");
	return p;
}

/* Names that attack formats: escapes, separators, quotes, markup, bytes that are no UTF-8. */
static const char *const hostile_names[] = {
	"\x1b[31mred\x1b[0m",
	"line\nbreak\r\n",
	"a;b;c 17",
	"say \"hi\" \\ 'x'",
	"</script><b onclick=x>&amp;",
	"bad\xff\xc3(utf8\xe2\x82",
	"tab\there",
	"\xe2\x80\xae"
	"txt.exe",
	" ",
	"100",
};

#define N_HOSTILE_NAMES (sizeof(hostile_names) / sizeof(*hostile_names))

/* Each hostile name as function, file, mapping, thread, process and comment of one sample. */
static inline struct profile *hostile_profile(void)
{
	struct profile *p = sample_profile_empty();

	for (size_t i = 0; i < N_HOSTILE_NAMES; i++) {
		const char *name = hostile_names[i];
		uint32_t mapping = sample_mapping(p, name, 0x1000, 0x2000, 0, name);
		uint32_t named = sample_location(p, FRAME_NATIVE, mapping, 0x1000 + i,
						 sample_function(p, name, name, name, 1), 2);
		uint32_t nameless = sample_location(p, FRAME_NATIVE, mapping, 0x1800 + i, 0, 0);

		sample_add(p, sample_labels(p, 7, 8, name, name, name), 1,
			   (uint32_t[]){ named, nameless }, 2);
		profile_comment(p, name);
	}
	profile_header(p)->hostname = profile_string(p, hostile_names[5]);
	return p;
}

#endif
