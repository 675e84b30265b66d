// SPDX-License-Identifier: Apache-2.0
/*
 * Code that a process generated itself, named by its perf map or jitdump. The names live with the
 * process and change while it runs, so a frame is named at once, as of its time; one that has no
 * name yet gets another chance when the profile is finished or the process goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf/counters.h"
#include "core/clock.h"
#include "core/hurry.h"
#include "core/log.h"
#include "core/profile.h"
#include "runtimes/files.h"
#include "runtimes/process.h"
#include "runtimes/runtime.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/perf_map.h"

/*
 * Between two looks at the end of a perf map; doubled while they bring nothing. For as long may
 * code that replaced other code have its name; a look costs about 10 us. Without any map it is
 * longer.
 */
#define REFRESH_MIN_NS UINT64_C(10000000)
#define REFRESH_MAX_NS UINT64_C(100000000)
#define SEARCH_MAX_NS UINT64_C(2000000000)
/* Frames that wait for a name at most. */
#define MAX_UNNAMED (1u << 16)

/* Of a process (process.jit). */
struct jit {
	struct perf_map *map;
	uint64_t refresh_at_ns, wait_ns;
	uint32_t generation; /* of the mappings last searched for a jitdump */
	bool has_names;	     /* there is a perf map or a jitdump */
	bool is_refused;
};

struct unnamed {
	struct process *proc;
	uint64_t pc;
	uint32_t location;
};

/* Of a profile. */
struct unnamed_list {
	struct unnamed *items;
	size_t n, cap;
};

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void jit_free(void *priv)
{
	struct jit *jit = priv;

	perf_map_free(jit->map);
	free(jit);
}

/* What is known of a process's code, or NULL when it is gone and nothing was. */
static struct jit *jit_of(const struct runtime_env *env, struct process *proc)
{
	struct jit *jit = proc->jit;

	if (jit)
		return jit->map ? jit : NULL;
	jit = calloc(1, sizeof(*jit));
	if (!jit)
		return NULL;
	jit->wait_ns = REFRESH_MIN_NS;
	proc->jit = jit;
	proc->jit_free = jit_free;
	proc->jit_names = processes_unique(env->processes);
	if (proc->root && proc->root->fd >= 0 && process_credentials(env->processes, proc))
		jit->map = perf_map_new(proc->root->fd, proc->ns_pid, proc->uid,
					processes_jit_room(env->processes));
	return jit->map ? jit : NULL;
}

static bool is_jitdump(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len = strlen(path);

	return base && !strncmp(base, "/jit-", 5) && len > 5 && !strcmp(path + len - 5, ".dump");
}

/* A process that writes a jitdump maps its first page executable, as a marker. */
static void find_jitdumps(const struct runtime_env *env, const struct process *proc,
			  struct jit *jit)
{
	if (jit->generation == proc->generation)
		return;
	jit->generation = proc->generation;
	for (size_t i = 0; i < proc->n_mappings; i++) {
		const char *path = processes_string(env->processes, proc->mappings[i].path);

		if (is_jitdump(path) && perf_map_add_jitdump(jit->map, path) == 0)
			jit->has_names = true;
	}
}

static void say_forgotten(const struct process *proc, struct jit_room *room)
{
	if (!room->n_forgotten || room->was_said)
		return;
	room->was_said = true;
	log_info("pid %d names more generated code than its share of the memory budget can hold: "
		 "the oldest names are forgotten; give more by --memory",
		 proc->pid);
}

/* Reads what was added to the maps, unless that was done just now. */
static bool refresh(const struct runtime_env *env, struct process *proc, struct jit *jit)
{
	uint64_t t = now(), max;
	size_t before;
	int err;

	if (t < jit->refresh_at_ns)
		return false;
	find_jitdumps(env, proc, jit);
	before = perf_map_count(jit->map);
	err = perf_map_refresh(jit->map);
	if (err == 0)
		jit->has_names = true;
	if (err < 0 && err != -ENOENT && err != -ESRCH && !jit->is_refused) {
		jit->is_refused = true;
		processes_count(env->processes, SYMBOLS_REFUSED);
	}
	proc->jit_memory = perf_map_memory(jit->map);
	say_forgotten(proc, processes_jit_room(env->processes));
	max = jit->has_names ? REFRESH_MAX_NS : SEARCH_MAX_NS;
	if (perf_map_count(jit->map) == before) {
		jit->wait_ns = jit->wait_ns * 2 < max ? jit->wait_ns * 2 : max;
	} else {
		jit->wait_ns = REFRESH_MIN_NS;
		proc->jit_names = processes_unique(env->processes);
	}
	jit->refresh_at_ns = t + jit->wait_ns;
	return err == 0;
}

static const char *find_name(const struct jit *jit, uint64_t pc, uint64_t time_ns)
{
	uint64_t start, size;

	return perf_map_find_at(jit->map, pc, time_ns, &start, &size);
}

static struct line line_of(struct profile *p, const struct jit *jit, uint64_t pc, const char *name)
{
	const char *file = NULL;
	struct line line = { .line = perf_map_line(jit->map, pc, &file) };
	struct function function = { 0 };

	function.name = function.system_name = profile_string(p, name);
	function.filename = line.line ? profile_string(p, file) : 0;
	line.function = profile_function(p, &function);
	return line;
}

/* A location that waits for its name; 0 when too many do. */
static uint32_t wait_for_name(struct runtime *rt, struct process *proc,
			      const struct location *location)
{
	struct unnamed_list *list = rt->priv;
	uint32_t known = profile_n_locations(rt->env->profile), id;
	struct location row = *location;

	if (list->n == MAX_UNNAMED)
		return 0;
	if (list->n == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 64;
		struct unnamed *grown = realloc(list->items, cap * sizeof(*grown));

		if (!grown)
			return 0;
		list->items = grown;
		list->cap = cap;
	}
	row.flags |= LOCATION_UNSYMBOLIZED;
	id = profile_location(rt->env->profile, &row, NULL, 0);
	if (id > known)
		list->items[list->n++] = (struct unnamed){ proc, row.address, id };
	return id;
}

static uint32_t locate_jit(struct runtime *rt, const struct frame_at *at, enum keep *keep)
{
	const struct wire_frame *f = at->frame;
	struct jit *jit = jit_of(rt->env, at->proc);
	struct location location = { .address = f->addr - !(f->flags & WIRE_FRAME_EXACT),
				     .kind = FRAME_JIT,
				     .tag = at->proc->serial };
	const char *name;
	struct line line;

	*keep = KEEP_WITH_NAMES;
	if (!jit)
		return 0;
	if (f->flags & WIRE_FRAME_GUESSED)
		location.flags |= LOCATION_GUESSED;
	name = find_name(jit, location.address, at->time_ns);
	if (!name && refresh(rt->env, at->proc, jit))
		name = find_name(jit, location.address, at->time_ns);
	if (!name)
		return jit->has_names ? wait_for_name(rt, at->proc, &location) : 0;
	line = line_of(rt->env->profile, jit, location.address, name);
	return profile_location(rt->env->profile, &location, &line, 1);
}

/* New names make frames that were unknown known: a glance at the clock of the samples decides. */
static void before_sample(struct runtime *rt, struct process *proc, uint64_t time_ns)
{
	struct jit *jit = proc->jit;

	if (jit && jit->map && time_ns >= jit->refresh_at_ns)
		refresh(rt->env, proc, jit);
}

static void name_late(struct runtime *rt, const struct unnamed *u)
{
	struct profile *p = rt->env->profile;
	struct jit *jit = u->proc->jit;
	const char *name = hurry_is_on() ? NULL : find_name(jit, u->pc, UINT64_MAX);
	struct line line = line_of(p, jit, u->pc, name ? name : "[unknown anon]");

	profile_set_lines(p, u->location, &line, 1, 0);
}

/* Names what waits, of one process or of all (NULL). */
static void name_waiting(struct runtime *rt, const struct process *proc)
{
	struct unnamed_list *list = rt->priv;
	size_t n_left = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct unnamed *u = &list->items[i];

		if (proc && u->proc != proc) {
			list->items[n_left++] = *u;
			continue;
		}
		if (!hurry_is_on())
			refresh(rt->env, u->proc, u->proc->jit);
		name_late(rt, u);
	}
	list->n = n_left;
}

/* What is not named yet will never be: these names are gone with the process. So nothing is left
   for later, and in a hurry the rest stays unknown. */
static size_t symbolize_jit(struct runtime *rt, bool (*is_stopped)(void))
{
	(void)is_stopped;
	name_waiting(rt, NULL);
	return 0;
}

static void drop_jit(struct runtime *rt, struct process *proc)
{
	struct jit *jit = proc->jit;

	if (!jit || !jit->map)
		return;
	jit->refresh_at_ns = 0;
	name_waiting(rt, proc);
}

static void close_jit(struct runtime *rt)
{
	free(((struct unnamed_list *)rt->priv)->items);
}

static size_t jit_memory(const struct runtime *rt)
{
	return ((const struct unnamed_list *)rt->priv)->cap * sizeof(struct unnamed);
}

const struct runtime_ops runtime_jit = {
	.name = "jit",
	.priv_size = sizeof(struct unnamed_list),
	.locate = locate_jit,
	.before_sample = before_sample,
	.symbolize = symbolize_jit,
	.drop = drop_jit,
	.close = close_jit,
	.memory = jit_memory,
};
