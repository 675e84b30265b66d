// SPDX-License-Identifier: Apache-2.0
#include "runtimes/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/intern.h"
#include "core/log.h"
#include "core/scoped.h"
#include "runtimes/files.h"
#include "runtimes/mappings.h"
#include "runtimes/maps_line.h"
#include "runtimes/process_table.h"
#include "runtimes/python_image.h"
#include "symbolizer/object.h"

/* Names of files grow with what targets map; beyond this a new name is not kept. */
#define MAX_STRINGS_BYTES (32u << 20)

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
	ps->pythons = python_images_new();
	ps->tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	if (!ps->buckets || !ps->files || !ps->pythons) {
		processes_free(ps);
		return NULL;
	}
	return ps;
}

static struct entry **bucket_of(const struct processes *ps, pid_t pid)
{
	return &ps->buckets[(uint32_t)pid & (ps->n_buckets - 1)];
}

/* Everything that belongs to the program a process runs. */
void table_drop_image(struct processes *ps, struct entry *e)
{
	if (ps->drop)
		ps->drop(ps->drop_ctx, &e->p);
	mappings_clear(&e->p);
	e->p.generation = processes_unique(ps);
	if (e->p.jit)
		e->p.jit_free(e->p.jit);
	e->p.jit = NULL;
	e->p.jit_memory = e->p.jit_names = 0;
	if (e->p.python)
		e->p.python_free(e->p.python);
	e->p.python = NULL;
	e->p.python_memory = 0;
	e->p.serial = processes_unique(ps);
	e->p.is_from_proc = e->p.has_credentials = false;
	e->reread_at_ns = e->reread_wait_ns = e->replaced_ns = 0;
	e->has_beyond = false;
}

static void entry_free(struct processes *ps, struct entry *e)
{
	table_drop_image(ps, e);
	files_unref(ps->files, e->p.root);
	free(e);
	ps->n--;
}

void table_remove(struct processes *ps, struct entry *e)
{
	struct entry **at = bucket_of(ps, e->p.pid);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	entry_free(ps, e);
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
	python_images_free(ps->pythons);
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

void process_count_stuck(struct processes *ps, struct process *proc)
{
	if (!proc->patience.pause_ns || proc->is_stuck_counted)
		return;
	proc->is_stuck_counted = true;
	if (!ps->counters[MEMORY_STUCK]++)
		log_info("pid %d keeps whoever reads its memory waiting: for a while weft uses "
			 "of it only what the kernel can tell at once",
			 (int)proc->pid);
}

const uint64_t *processes_counters(const struct processes *ps)
{
	return ps->counters;
}

uint32_t processes_unique(struct processes *ps)
{
	return ++ps->last_unique;
}

void processes_want_loops(struct processes *ps)
{
	ps->wants_loops = true;
}

struct jit_room *processes_jit_room(struct processes *ps)
{
	return &ps->jit_room;
}

void processes_count(struct processes *ps, int counter)
{
	ps->counters[counter]++;
}

size_t processes_memory(const struct processes *ps)
{
	size_t sum = sizeof(*ps) + ps->n_buckets * sizeof(struct entry *) +
		     intern_memory(ps->strings) + files_memory(ps->files);

	for (size_t i = 0; i < ps->n_buckets; i++)
		for (const struct entry *e = ps->buckets[i]; e; e = e->next)
			sum += sizeof(*e) + mappings_memory(&e->p) + e->p.jit_memory +
			       e->p.python_memory;
	return sum;
}

uint32_t table_string(struct processes *ps, const char *s, size_t len)
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

struct entry *table_add(struct processes *ps, pid_t pid)
{
	struct entry *e = calloc(1, sizeof(*e));
	struct entry **bucket;

	if (!e)
		return NULL;
	if (ps->n > ps->n_buckets * 2)
		grow(ps);
	bucket = bucket_of(ps, pid);
	e->p.pid = pid;
	e->p.generation = processes_unique(ps);
	e->p.serial = processes_unique(ps);
	e->n_lost = ps->n_lost;
	e->next = *bucket;
	*bucket = e;
	ps->n++;
	return e;
}

/* The process that has this pid now, or had it last. */
struct entry *table_newest(const struct processes *ps, pid_t pid)
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

void table_name_mapping(struct processes *ps, struct mapping *m, const char *name)
{
	m->kind = kind_of_name(name);
	m->path = table_string(ps, name, name_len(name));
	if (m->kind == MAPPING_VDSO)
		m->pgoff = 0;
}

static bool has_started_at(const struct processes *ps, const struct entry *e,
			   uint64_t start_time_ns)
{
	if (e->is_start_exact)
		return e->p.start_time_ns == start_time_ns;
	if (e->p.start_time_ns)
		return is_near(e->p.start_time_ns, start_time_ns, ps->tick_ns);
	return !e->birth_ns || is_near(e->birth_ns, start_time_ns, BIRTH_SLACK_NS);
}

/* Is e the process of that pid, start and time? */
static bool matches(const struct processes *ps, const struct entry *e, uint64_t start_time_ns,
		    uint64_t time_ns)
{
	if (e->first_ns > time_ns)
		return false;
	if (start_time_ns)
		return has_started_at(ps, e, start_time_ns);
	return !e->p.exit_time_ns || time_ns <= e->p.exit_time_ns;
}

struct process *processes_find(struct processes *ps, pid_t pid, uint64_t start_time_ns,
			       uint64_t time_ns)
{
	struct entry *e = *bucket_of(ps, pid);

	if (!time_ns)
		time_ns = clock_ns(CLOCK_MONOTONIC);
	ps->python_share.now_ns = time_ns;
	while (e && (e->p.pid != pid || !matches(ps, e, start_time_ns, time_ns)))
		e = e->next;
	if (!e)
		e = table_read(ps, pid, start_time_ns);
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
	ps->counters[FILES_UNIDENTIFIED] += m->kind == MAPPING_FILE && !m->build_id;
	m->is_counted = true;
}

static bool has_file(const struct mapping *m)
{
	return m->kind == MAPPING_FILE || m->kind == MAPPING_VDSO;
}

struct mapping *process_known_mapping(struct processes *ps, struct process *proc, uint64_t pc)
{
	struct mapping *m = mappings_find(proc, pc);

	if (!m || m->object || m->is_counted || !has_file(m))
		return m;
	if (!m->is_tried)
		m->open_err = (int16_t)files_open(ps->files, proc, m);
	/* Perhaps tried before, when it was mapped, but nobody needed it then: say so now. */
	if (!m->object)
		count_missed(ps, m, m->open_err);
	return m;
}

struct mapping *process_mapping(struct processes *ps, struct process *proc, uint64_t pc)
{
	struct mapping *m = process_known_mapping(ps, proc, pc);

	if (m || !table_read_again(ps, (struct entry *)proc, pc))
		return m;
	return process_known_mapping(ps, proc, pc);
}

void process_learn_build_id(struct processes *ps, struct process *proc, uint64_t pc,
			    uint64_t offset, const uint8_t *id, size_t len)
{
	struct mapping *m = mappings_find(proc, pc);
	char hex[2 * BUILD_ID_MAX + 1];

	/* Said of the moment of the sample; what does not fit is of another mapping. */
	if (!m || m->kind != MAPPING_FILE || m->object || m->build_id || len > BUILD_ID_MAX ||
	    m->pgoff + (pc - m->start) != offset)
		return;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	m->build_id = table_string(ps, hex, 2 * len);
}

void process_open_files(struct processes *ps, struct process *proc)
{
	for (size_t i = 0; i < proc->n_mappings; i++) {
		struct mapping *m = &proc->mappings[i];

		if (has_file(m) && !m->is_tried)
			m->open_err = (int16_t)files_open(ps->files, proc, m);
		/* Generated code: its names are in a file that is found by these. */
		if (m->kind == MAPPING_ANON)
			process_credentials(ps, proc);
	}
}

/* Marks processes as ended whose exit event was lost. A few buckets a call, so that it stays cheap.
 */
static void check_some(struct processes *ps)
{
	for (size_t i = 0; i < ps->n_buckets / 64; i++) {
		struct entry *e = ps->buckets[ps->check_next++ & (ps->n_buckets - 1)];

		for (; e; e = e->next)
			if (!e->p.exit_time_ns && !table_is_alive(ps, e))
				e->p.exit_time_ns = clock_ns(CLOCK_MONOTONIC);
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
