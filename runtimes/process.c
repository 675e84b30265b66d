// SPDX-License-Identifier: Apache-2.0
#include "runtimes/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bpf/counters.h"
#include "core/intern.h"
#include "core/scoped.h"
#include "runtimes/files.h"
#include "runtimes/mappings.h"
#include "runtimes/procfs.h"
#include "symbolizer/perf_map.h"

#define NS_PER_S UINT64_C(1000000000)
/* Names of files grow with what targets map; beyond this a new name is not kept. */
#define MAX_STRINGS_BYTES (32u << 20)
/* Between two readings of a process's maps; doubled while they change nothing. */
#define REREAD_MIN_NS (10 * UINT64_C(1000000))
#define REREAD_MAX_NS (10 * NS_PER_S)
/* Reading takes at most this share of the time: 1 of 50. */
#define REREAD_COST_FACTOR 50
/* A fork event and the start time in the sample are read off two clocks one after the other. */
#define BIRTH_SLACK_NS (2 * NS_PER_S)

struct entry {
	struct process p;
	struct entry *next;		/* same bucket, newest first */
	uint64_t first_ns;		/* CLOCK_MONOTONIC of the event that showed it; 0: it was there before */
	uint64_t birth_ns;		/* boottime by the fork event, about; 0: unknown */
	uint64_t reread_at_ns, reread_wait_ns;
	bool is_start_exact;		/* start_time_ns is the kernel half's, not rounded to a clock tick */
};

struct processes {
	struct intern *strings;
	struct files *files;
	struct entry **buckets;
	size_t n_buckets, n;		/* a power of two */
	size_t check_next;		/* bucket whose processes are looked after next */
	uint32_t last_generation;
	uint64_t tick_ns;
	uint64_t counters[N_COUNTERS];
	void (*drop)(void *ctx, struct process *proc);
	void *drop_ctx;
};

static uint64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Each container's root stays open, and each object may have a descriptor. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

struct processes *processes_new(struct objects *objects)
{
	struct processes *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	raise_file_limit();
	ps->n_buckets = 1024;
	ps->buckets = calloc(ps->n_buckets, sizeof(struct entry *));
	ps->strings = intern_new();
	ps->files = ps->strings ? files_new(objects, ps->strings) : NULL;
	ps->tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	if (!ps->buckets || !ps->files) {
		processes_free(ps);
		return NULL;
	}
	return ps;
}

/* Everything that belongs to the program a process runs. */
static void drop_image(struct processes *ps, struct entry *e)
{
	if (ps->drop)
		ps->drop(ps->drop_ctx, &e->p);
	mappings_clear(&e->p);
	e->p.generation = ++ps->last_generation;
	perf_map_free(e->p.perf_map);
	e->p.perf_map = NULL;
	e->p.is_perf_map_tried = false;
	e->p.is_from_proc = false;
	e->reread_at_ns = e->reread_wait_ns = 0;
}

static void entry_free(struct processes *ps, struct entry *e)
{
	drop_image(ps, e);
	files_unref(ps->files, e->p.root);
	free(e);
	ps->n--;
}

void processes_free(struct processes *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; ps->buckets && i < ps->n_buckets; i++) {
		while (ps->buckets[i]) {
			struct entry *next = ps->buckets[i]->next;

			entry_free(ps, ps->buckets[i]);
			ps->buckets[i] = next;
		}
	}
	free(ps->buckets);
	files_free(ps->files);
	intern_free(ps->strings);
	free(ps);
}

void processes_on_drop(struct processes *ps, void (*fn)(void *ctx, struct process *proc), void *ctx)
{
	ps->drop = fn;
	ps->drop_ctx = ctx;
}

const char *processes_string(const struct processes *ps, uint32_t id)
{
	const char *s = intern_get(ps->strings, id, NULL);

	return s ? s : "";
}

const uint64_t *processes_counters(const struct processes *ps)
{
	return ps->counters;
}

size_t processes_memory(const struct processes *ps)
{
	size_t sum = sizeof(*ps) + ps->n_buckets * sizeof(struct entry *) + intern_memory(ps->strings) +
		     files_memory(ps->files);

	for (size_t i = 0; i < ps->n_buckets; i++) {
		for (const struct entry *e = ps->buckets[i]; e; e = e->next) {
			sum += sizeof(*e) + mappings_memory(&e->p);
			if (e->p.perf_map)
				sum += perf_map_memory(e->p.perf_map);
		}
	}
	return sum;
}

static uint32_t add_string(struct processes *ps, const char *s, size_t len)
{
	uint32_t id = len ? intern_find(ps->strings, s, len) : 0;

	if (id || !len)
		return id;
	if (intern_memory(ps->strings) > MAX_STRINGS_BYTES) {
		ps->counters[MEMORY_OVER_BUDGET]++;
		return 0;
	}
	return intern_add(ps->strings, s, len);
}

static struct entry **bucket_of(const struct processes *ps, pid_t pid)
{
	return &ps->buckets[(uint32_t)pid & (ps->n_buckets - 1)];
}

/* Twice the buckets; each chain keeps its order. Without memory the chains get longer instead. */
static void grow(struct processes *ps)
{
	size_t n = ps->n_buckets * 2;
	struct entry **buckets = calloc(n, sizeof(*buckets));

	if (!buckets)
		return;
	for (size_t i = 0; i < ps->n_buckets; i++) {
		struct entry **low = &buckets[i], **high = &buckets[i + ps->n_buckets];

		for (struct entry *e = ps->buckets[i], *next; e; e = next) {
			struct entry ***end = (uint32_t)e->p.pid & ps->n_buckets ? &high : &low;

			next = e->next;
			e->next = NULL;
			**end = e;
			*end = &e->next;
		}
	}
	free(ps->buckets);
	ps->buckets = buckets;
	ps->n_buckets = n;
}

static struct entry *entry_new(struct processes *ps, pid_t pid)
{
	struct entry *e = calloc(1, sizeof(*e));
	struct entry **bucket;

	if (!e)
		return NULL;
	if (ps->n > ps->n_buckets * 2)
		grow(ps);
	bucket = bucket_of(ps, pid);
	e->p.pid = pid;
	e->p.generation = ++ps->last_generation;
	e->next = *bucket;
	*bucket = e;
	ps->n++;
	return e;
}

/* The process that has this pid now, or had it last. */
static struct entry *newest(const struct processes *ps, pid_t pid)
{
	struct entry *e = *bucket_of(ps, pid);

	while (e && e->p.pid != pid)
		e = e->next;
	return e;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static enum mapping_kind kind_of_name(const char *name)
{
	static const char *const anonymous[] = {
		"//anon", "[heap]", "[stack", "[anon", "/dev/zero", "/anon_hugepage", "/SYSV",
	};

	if (!*name)
		return MAPPING_ANON;
	for (size_t i = 0; i < sizeof(anonymous) / sizeof(*anonymous); i++)
		if (has_prefix(name, anonymous[i]))
			return MAPPING_ANON;
	if (!strcmp(name, "[vdso]"))
		return MAPPING_VDSO;
	return *name == '/' && !has_prefix(name, "/dev/") ? MAPPING_FILE : MAPPING_OTHER;
}

/* A name without the kernel's mark of files that have none any more. */
static size_t name_len(const char *name)
{
	static const char deleted[] = " (deleted)";
	size_t len = strnlen(name, MAPS_NAME_SIZE - 1), mark = sizeof(deleted) - 1;

	return len > mark && !strcmp(name + len - mark, deleted) ? len - mark : len;
}

static void set_name(struct processes *ps, struct mapping *m, const char *name)
{
	m->kind = kind_of_name(name);
	m->path = add_string(ps, name, name_len(name));
	if (m->kind == MAPPING_VDSO)
		m->pgoff = 0;
}

static uint32_t hex_string(struct processes *ps, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * sizeof(((struct process_event *)0)->build_id)];

	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	return add_string(ps, hex, 2 * len);
}

/* What a reading of maps collects. */
struct reading {
	struct processes *ps;
	struct mapping *list;
	size_t n, cap;
};

static int add_line(void *ctx, const struct maps_line *line)
{
	struct reading *r = ctx;

	if (r->n == MAX_MAPPINGS)
		return -E2BIG;
	/* The kernel lists them in order; anything else is not the kernel's. */
	if (r->n && line->start < r->list[r->n - 1].end)
		return 0;
	if (r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 64;
		struct mapping *grown = realloc(r->list, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		r->list = grown;
		r->cap = cap;
	}
	r->list[r->n] = (struct mapping){ .start = line->start, .end = line->end, .pgoff = line->pgoff,
					  .dev = line->dev, .ino = line->ino };
	set_name(r->ps, &r->list[r->n++], line->name);
	return 0;
}

/* Is the process that has the pid now the one of e? Also true when e's start is not known. */
static bool is_still_there(const struct processes *ps, const struct entry *e)
{
	struct proc_stat st;
	uint64_t start = e->p.start_time_ns ? e->p.start_time_ns : e->birth_ns, slack, now;

	if (procfs_stat(e->p.pid, &st) < 0)
		return false;
	if (!start)
		return true;
	slack = e->p.start_time_ns ? ps->tick_ns : BIRTH_SLACK_NS;
	now = st.start_ticks * ps->tick_ns;
	return now <= start + slack && start <= now + slack;
}

/* 1 the mappings changed, 0 they did not, or -errno. */
static int read_maps(struct processes *ps, struct entry *e)
{
	struct reading r = { .ps = ps };
	int err = procfs_maps(e->p.pid, add_line, &r);
	SCOPED(free) struct mapping *list = r.list;

	if (err == -E2BIG)
		ps->counters[MEMORY_OVER_BUDGET]++;
	else if (err < 0)
		return err;
	/* The pid may have become another process's while we read. */
	if (!is_still_there(ps, e))
		return -ESRCH;
	err = mappings_assign(&e->p, list, r.n);
	if (err > 0)
		e->p.generation = ++ps->last_generation;
	return err;
}

bool process_reread(struct processes *ps, struct process *proc)
{
	struct entry *e = (struct entry *)proc;
	uint64_t start = clock_now(CLOCK_MONOTONIC), end, cost;
	int err;

	if (start < e->reread_at_ns)
		return false;
	err = is_still_there(ps, e) ? read_maps(ps, e) : -ESRCH;
	if (err >= 0)
		ps->counters[MAPS_REREAD]++;
	end = clock_now(CLOCK_MONOTONIC);
	cost = (end - start) * REREAD_COST_FACTOR;
	e->reread_wait_ns = err > 0 ? REREAD_MIN_NS : e->reread_wait_ns * 2;
	if (e->reread_wait_ns < REREAD_MIN_NS)
		e->reread_wait_ns = REREAD_MIN_NS;
	if (e->reread_wait_ns > REREAD_MAX_NS || err == -ESRCH)
		e->reread_wait_ns = REREAD_MAX_NS;
	e->reread_at_ns = end + (cost > e->reread_wait_ns ? cost : e->reread_wait_ns);
	return err > 0;
}

static void read_container(struct processes *ps, struct process *proc)
{
	char id[CONTAINER_ID_SIZE];

	if (procfs_container(proc->pid, id) == 0)
		proc->container = add_string(ps, id, strlen(id));
}

static void unlink_entry(struct processes *ps, struct entry *e)
{
	struct entry **at = bucket_of(ps, e->p.pid);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
}

/* A process that was there before it was heard of. start_time_ns 0: whichever has the pid. */
static struct entry *add_from_proc(struct processes *ps, pid_t pid, uint64_t start_time_ns)
{
	struct proc_stat st;
	struct entry *e;

	if (procfs_stat(pid, &st) < 0)
		return NULL;
	e = entry_new(ps, pid);
	if (!e)
		return NULL;
	e->p.start_time_ns = start_time_ns ? start_time_ns : st.start_ticks * ps->tick_ns;
	e->is_start_exact = start_time_ns != 0;
	e->p.parent = st.parent;
	e->p.comm = add_string(ps, st.comm, strlen(st.comm));
	e->p.root = files_root(ps->files, pid);
	e->p.is_from_proc = true;
	read_container(ps, &e->p);
	if (read_maps(ps, e) == -ESRCH) {
		unlink_entry(ps, e);
		entry_free(ps, e);
		return NULL;
	}
	return e;
}

static bool is_near(uint64_t a, uint64_t b, uint64_t slack)
{
	return a <= b + slack && b <= a + slack;
}

static bool has_started_at(const struct processes *ps, const struct entry *e, uint64_t start_time_ns)
{
	if (e->is_start_exact)
		return e->p.start_time_ns == start_time_ns;
	if (e->p.start_time_ns)
		return is_near(e->p.start_time_ns, start_time_ns, ps->tick_ns);
	return !e->birth_ns || is_near(e->birth_ns, start_time_ns, BIRTH_SLACK_NS);
}

/* Is e the process of that pid, start and time? */
static bool matches(const struct processes *ps, const struct entry *e, uint64_t start_time_ns, uint64_t time_ns)
{
	if (e->first_ns > time_ns)
		return false;
	if (start_time_ns)
		return has_started_at(ps, e, start_time_ns);
	return !e->p.exit_time_ns || time_ns <= e->p.exit_time_ns;
}

struct process *processes_find(struct processes *ps, pid_t pid, uint64_t start_time_ns, uint64_t time_ns)
{
	struct entry *e = *bucket_of(ps, pid);

	if (!time_ns)
		time_ns = clock_now(CLOCK_MONOTONIC);
	while (e && (e->p.pid != pid || !matches(ps, e, start_time_ns, time_ns)))
		e = e->next;
	if (!e)
		e = add_from_proc(ps, pid, start_time_ns);
	if (!e)
		return NULL;
	if (start_time_ns && !e->is_start_exact) {
		e->p.start_time_ns = start_time_ns;
		e->is_start_exact = true;
	}
	/* Threads may go on after the main one ended. */
	if (e->p.exit_time_ns && e->p.exit_time_ns < time_ns)
		e->p.exit_time_ns = time_ns;
	return &e->p;
}

static void count_missed(struct processes *ps, struct mapping *m, int err)
{
	ps->counters[err == -ENOENT || err == -ESRCH ? FILES_GONE : FILES_BAD]++;
	m->is_counted = true;
}

static bool has_file(const struct mapping *m)
{
	return m->kind == MAPPING_FILE || m->kind == MAPPING_VDSO;
}

struct mapping *process_mapping(struct processes *ps, struct process *proc, uint64_t pc)
{
	struct mapping *m = mappings_find(proc, pc);

	if (!m && process_reread(ps, proc))
		m = mappings_find(proc, pc);
	if (!m || m->object || m->is_counted || !has_file(m))
		return m;
	/* Tried before, when it was mapped, but nobody needed it then: say so now. */
	if (!m->is_tried)
		m->open_err = (int16_t)files_open(ps->files, proc, m);
	if (!m->object)
		count_missed(ps, m, m->open_err);
	return m;
}

void process_open_files(struct processes *ps, struct process *proc)
{
	for (size_t i = 0; i < proc->n_mappings; i++) {
		struct mapping *m = &proc->mappings[i];

		if (has_file(m) && !m->is_tried)
			m->open_err = (int16_t)files_open(ps->files, proc, m);
	}
}

static uint64_t boottime_of(uint64_t monotonic_ns)
{
	return monotonic_ns + (clock_now(CLOCK_BOOTTIME) - clock_now(CLOCK_MONOTONIC));
}

static void inherit(struct processes *ps, struct entry *e, const struct process *parent)
{
	e->p.comm = parent->comm;
	e->p.container = parent->container;
	e->p.root = root_ref(parent->root);
	e->p.is_from_proc = parent->is_from_proc;
	mappings_share(&e->p, parent);
	if (e->p.n_mappings)
		e->p.generation = parent->generation;
	else
		e->p.generation = ++ps->last_generation;
}

static int apply_fork(struct processes *ps, const struct process_event *ev)
{
	uint64_t birth = boottime_of(ev->time_ns);
	struct entry *e = newest(ps, ev->pid), *parent;

	if (ev->pid == ev->parent)
		return 0;
	if (e && !e->p.exit_time_ns) {
		/* /proc was read before this event arrived. */
		if (e->p.is_from_proc && e->p.start_time_ns && is_near(e->p.start_time_ns, birth, 2 * ps->tick_ns))
			return 0;
		e->p.exit_time_ns = ev->time_ns;
	}
	parent = newest(ps, ev->parent);
	if (!parent)
		parent = add_from_proc(ps, ev->parent, 0);
	e = entry_new(ps, ev->pid);
	if (!e)
		return -ENOMEM;
	e->p.parent = ev->parent;
	e->first_ns = ev->time_ns;
	e->birth_ns = birth;
	if (parent)
		inherit(ps, e, &parent->p);
	return 0;
}

/* Runtimes of containers change the root between fork and exec. */
static void check_root(struct processes *ps, struct process *proc)
{
	struct root *now = files_root(ps->files, proc->pid);

	if (!now)
		return;
	if (now != proc->root)
		read_container(ps, proc);
	files_unref(ps->files, proc->root);
	proc->root = now;
}

static int apply_exec(struct processes *ps, const struct process_event *ev)
{
	struct entry *e = newest(ps, ev->pid);

	if (e) {
		drop_image(ps, e);
	} else {
		e = entry_new(ps, ev->pid);
		if (!e)
			return -ENOMEM;
		e->first_ns = ev->time_ns;
	}
	e->p.exit_time_ns = 0;
	check_root(ps, &e->p);
	if (ev->name)
		e->p.comm = add_string(ps, ev->name, strnlen(ev->name, 15));
	return 0;
}

static int apply_mmap(struct processes *ps, const struct process_event *ev)
{
	struct entry *e = newest(ps, ev->pid);
	size_t id_len = ev->build_id_len < sizeof(ev->build_id) ? ev->build_id_len : sizeof(ev->build_id);
	struct mapping m = { .start = ev->start, .end = ev->start + ev->len, .pgoff = ev->pgoff,
			     .dev = ev->dev, .ino = ev->ino };
	int err;

	if (!e || m.start >= m.end)
		return 0;
	set_name(ps, &m, ev->name ? ev->name : "");
	m.build_id = hex_string(ps, ev->build_id, id_len);
	err = mappings_add(&e->p, &m);
	if (err == -E2BIG)
		ps->counters[MEMORY_OVER_BUDGET]++;
	if (err > 0)
		e->p.generation = ++ps->last_generation;
	return err == -ENOMEM ? err : 0;
}

static int apply_exit(struct processes *ps, const struct process_event *ev)
{
	struct entry *e = newest(ps, ev->pid);

	/* A process ends with its last thread, which may not be the main one. */
	if (e && (ev->pid == ev->tid || e->p.exit_time_ns))
		e->p.exit_time_ns = ev->time_ns;
	return 0;
}

int processes_apply(struct processes *ps, const struct process_event *ev)
{
	struct entry *e;

	switch (ev->type) {
	case PROCESS_FORK:
		return apply_fork(ps, ev);
	case PROCESS_EXEC:
		return apply_exec(ps, ev);
	case PROCESS_MMAP:
		return apply_mmap(ps, ev);
	case PROCESS_EXIT:
		return apply_exit(ps, ev);
	case PROCESS_COMM:
		e = newest(ps, ev->pid);
		if (e && ev->pid == ev->tid && ev->name)
			e->p.comm = add_string(ps, ev->name, strnlen(ev->name, 15));
		return 0;
	}
	return -EINVAL;
}

/* Marks processes as ended whose exit event was lost. A few buckets a call, so that it stays cheap. */
static void check_some(struct processes *ps)
{
	for (size_t i = 0; i < ps->n_buckets / 64; i++) {
		struct entry *e = ps->buckets[ps->check_next++ & (ps->n_buckets - 1)];

		for (; e; e = e->next)
			if (!e->p.exit_time_ns && !is_still_there(ps, e))
				e->p.exit_time_ns = clock_now(CLOCK_MONOTONIC);
	}
}

void processes_expire(struct processes *ps, uint64_t before_ns)
{
	check_some(ps);
	for (size_t i = 0; i < ps->n_buckets; i++) {
		struct entry **at = &ps->buckets[i], *e;

		while ((e = *at)) {
			if (e->p.exit_time_ns && e->p.exit_time_ns < before_ns) {
				*at = e->next;
				entry_free(ps, e);
			} else {
				at = &e->next;
			}
		}
	}
}
