// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/counters.h"
#include "core/scoped.h"
#include "runtimes/mappings.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"

#define SLEEP "/usr/bin/sleep"
#define TRUE "/usr/bin/true"
/* A pid no process has: above the largest pid_max. */
#define NO_PID 0x7ffffff0

struct fixture {
	struct objects *os;
	struct processes *ps;
	char dir[32];
	int drops;
};

static void count_drop(void *ctx, struct process *proc)
{
	(void)proc;
	((struct fixture *)ctx)->drops++;
}

static int setup(void **state)
{
	static const struct object_options options;
	struct fixture *f = calloc(1, sizeof(*f));

	f->os = objects_new(&options);
	f->ps = processes_new(f->os);
	processes_on_drop(f->ps, count_drop, f);
	strcpy(f->dir, "/tmp/process_test.XXXXXX");
	*state = f;
	return mkdtemp(f->dir) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	processes_free(f->ps);
	objects_free(f->os);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	if (system(command))
		return -1;
	free(f);
	return 0;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void apply(struct fixture *f, struct process_event ev)
{
	if (!ev.time_ns)
		ev.time_ns = now();
	if (!ev.tid)
		ev.tid = ev.pid;
	assert_int_equal(processes_apply(f->ps, &ev), 0);
}

static void fork_event(struct fixture *f, uint64_t time_ns, pid_t pid, pid_t parent)
{
	apply(f, (struct process_event){ .type = PROCESS_FORK, .time_ns = time_ns, .pid = pid, .parent = parent });
}

static void exec_event(struct fixture *f, uint64_t time_ns, pid_t pid, const char *comm)
{
	apply(f, (struct process_event){ .type = PROCESS_EXEC, .time_ns = time_ns, .pid = pid, .name = comm });
}

static void exit_event(struct fixture *f, uint64_t time_ns, pid_t pid)
{
	apply(f, (struct process_event){ .type = PROCESS_EXIT, .time_ns = time_ns, .pid = pid });
}

static void copy_file(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp %s %s", from, to);
	assert_int_equal(system(command), 0);
}

static struct process *find(struct fixture *f, pid_t pid)
{
	return processes_find(f->ps, pid, 0, 0);
}

/* A child that does what it is told and then waits to be killed. */
static pid_t start(void (*fn)(void *ctx), void *ctx)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		close(ready[0]);
		fcntl(ready[1], F_SETFD, FD_CLOEXEC);
		fn(ctx);
		if (write(ready[1], "x", 1) < 0)
			_exit(1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	/* Also ends when exec closes it. */
	while (read(ready[0], &c, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void exec_file(void *path)
{
	execl(path, "x", "1000", NULL);
	_exit(1);
}

/* A child that runs a copy of sleep, with the loader done. */
static pid_t start_copy(struct fixture *f, char path[64])
{
	pid_t pid;

	snprintf(path, 64, "%s/copy", f->dir);
	copy_file(SLEEP, path);
	pid = start(exec_file, path);
	usleep(50000);
	return pid;
}

static struct mapping *mapping_of_path(struct fixture *f, struct process *proc, const char *path)
{
	for (size_t i = 0; i < proc->n_mappings; i++)
		if (!strcmp(processes_string(f->ps, proc->mappings[i].path), path))
			return process_mapping(f->ps, proc, proc->mappings[i].start);
	return NULL;
}

/* The hexadecimal build id of a file as bytes; how many. */
static uint8_t build_id_of(struct fixture *f, const char *path, uint8_t *out)
{
	SCOPED(close) int fd = open(path, O_RDONLY);
	int err;
	struct object *o = objects_get(f->os, fd, path, -1, &err);
	const char *hex = object_build_id(o);
	uint8_t n = 0;

	for (; hex[2 * n]; n++)
		sscanf(hex + 2 * n, "%2hhx", &out[n]);
	return n;
}

/* An mmap event of the first executable segment of a file with a build id. */
static struct process_event event_of(struct fixture *f, pid_t pid, const char *file, const char *name)
{
	SCOPED(close) int fd = open(file, O_RDONLY);
	struct process_event ev = { .type = PROCESS_MMAP, .pid = pid, .start = 0x500000, .len = 0x1000, .name = name };
	const struct segment *s;
	size_t n;
	int err;

	s = object_segments(objects_get(f->os, fd, file, -1, &err), &n);
	assert_true(n > 0);
	ev.pgoff = s->offset & ~UINT64_C(4095);
	ev.build_id_len = build_id_of(f, file, ev.build_id);
	assert_int_equal(ev.build_id_len, 20);
	return ev;
}

static int compare_bias(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct fixture *f = ctx;
	struct process *proc = find(f, getpid());

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		struct mapping *m;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		m = process_mapping(f->ps, proc, info->dlpi_addr + ph->p_vaddr + 1);
		assert_non_null(m);
		assert_non_null(m->object);
		/* The kernel maps the vdso, which is linked at 0, wherever it likes. */
		assert_int_equal(m->bias, info->dlpi_addr);
	}
	return 0;
}

static void own_mappings_have_the_bias_the_loader_says(void **state)
{
	dl_iterate_phdr(compare_bias, *state);
}

static void process_is_known_by_its_start(void **state)
{
	struct fixture *f = *state;
	struct process *proc = find(f, getpid());
	uint64_t start = proc->start_time_ns;

	assert_string_equal(processes_string(f->ps, proc->comm), "process_test");
	assert_int_equal(proc->parent, getppid());
	assert_true(proc->is_from_proc);
	assert_ptr_equal(processes_find(f->ps, getpid(), start + 3000000, 0), proc);
	/* Now the exact start is known. */
	assert_int_equal(proc->start_time_ns, start + 3000000);
	assert_ptr_equal(processes_find(f->ps, getpid(), start + 3000000, 0), proc);
	assert_null(processes_find(f->ps, NO_PID, 0, 0));
}

static void pid_that_is_used_again_is_another_process(void **state)
{
	struct fixture *f = *state;
	uint64_t t = now();
	struct process *old, *new;

	fork_event(f, t, NO_PID, getpid());
	exec_event(f, t + 10, NO_PID, "old");
	exit_event(f, t + 20, NO_PID);
	fork_event(f, t + 30, NO_PID, getpid());
	exec_event(f, t + 40, NO_PID, "new");
	old = processes_find(f->ps, NO_PID, 0, t + 15);
	new = processes_find(f->ps, NO_PID, 0, t + 50);
	assert_string_equal(processes_string(f->ps, old->comm), "old");
	assert_string_equal(processes_string(f->ps, new->comm), "new");
	/* A sample in the gap belongs to nobody we know. */
	assert_null(processes_find(f->ps, NO_PID, 0, t + 25));
}

static void lost_exit_event_does_not_keep_a_pid(void **state)
{
	struct fixture *f = *state;
	uint64_t t = now();
	struct process *first, *second;

	fork_event(f, t, NO_PID, getpid());
	first = find(f, NO_PID);
	fork_event(f, t + 5000, NO_PID, getpid());
	second = processes_find(f->ps, NO_PID, 0, t + 6000);
	assert_ptr_not_equal(first, second);
	assert_int_equal(first->exit_time_ns, t + 5000);
	assert_int_equal(second->exit_time_ns, 0);
}

static void thread_is_no_process(void **state)
{
	struct fixture *f = *state;
	struct process *proc = find(f, getpid());

	apply(f, (struct process_event){ .type = PROCESS_FORK, .pid = getpid(), .tid = 12345, .parent = getpid() });
	apply(f, (struct process_event){ .type = PROCESS_COMM, .pid = getpid(), .tid = 12345, .name = "worker" });
	apply(f, (struct process_event){ .type = PROCESS_EXIT, .pid = getpid(), .tid = 12345 });
	assert_ptr_equal(find(f, getpid()), proc);
	assert_int_equal(proc->exit_time_ns, 0);
	assert_string_equal(processes_string(f->ps, proc->comm), "process_test");
	apply(f, (struct process_event){ .type = PROCESS_COMM, .pid = getpid(), .name = "renamed" });
	assert_string_equal(processes_string(f->ps, proc->comm), "renamed");
}

static void child_has_its_parents_mappings_until_it_changes_them(void **state)
{
	struct fixture *f = *state;
	struct process *parent = find(f, getpid()), *child;
	size_t n = parent->n_mappings;
	struct mapping *m;

	fork_event(f, 0, NO_PID, getpid());
	child = find(f, NO_PID);
	assert_int_equal(child->n_mappings, n);
	assert_int_equal(child->generation, parent->generation);
	m = process_mapping(f->ps, child, (uintptr_t)child_has_its_parents_mappings_until_it_changes_them);
	assert_non_null(m->object);
	apply(f, (struct process_event){ .type = PROCESS_MMAP, .pid = NO_PID, .start = 0x10000, .len = 0x1000 });
	assert_int_equal(child->n_mappings, n + 1);
	assert_int_equal(parent->n_mappings, n);
	assert_int_not_equal(child->generation, parent->generation);
	assert_null(mappings_find(parent, 0x10000));
	assert_int_equal(mappings_find(child, 0x10000)->kind, MAPPING_ANON);
	assert_int_equal(f->drops, 0);
	exec_event(f, 0, NO_PID, "other");
	assert_int_equal(child->n_mappings, 0);
	assert_int_equal(f->drops, 1);
}

struct range {
	uint64_t start, len, pgoff;
	const char *name;
};

static void newest_mapping_wins_where_it_is(void **state)
{
	static const struct range before[] = { { 0x1000, 0x3000, 0x1000, "/a" }, { 0x6000, 0x2000, 0, "/b" } };
	static const struct {
		struct range new, want[6];
	} cases[] = {
		{ { 0x4000, 0x1000, 0, "/c" }, { before[0], { 0x4000, 0x1000, 0, "/c" }, before[1] } },
		{ { 0x1000, 0x3000, 0, "/c" }, { { 0x1000, 0x3000, 0, "/c" }, before[1] } },
		{ { 0x2000, 0x1000, 0, "/c" },
		  { { 0x1000, 0x1000, 0x1000, "/a" }, { 0x2000, 0x1000, 0, "/c" }, { 0x3000, 0x1000, 0x3000, "/a" }, before[1] } },
		{ { 0x3000, 0x4000, 0, "/c" },
		  { { 0x1000, 0x2000, 0x1000, "/a" }, { 0x3000, 0x4000, 0, "/c" }, { 0x7000, 0x1000, 0x1000, "/b" } } },
		{ { 0, 0x9000, 0, "/c" }, { { 0, 0x9000, 0, "/c" } } },
		{ { 0x1000, 0x1000, 0, "/c" }, { { 0x1000, 0x1000, 0, "/c" }, { 0x2000, 0x2000, 0x2000, "/a" }, before[1] } },
		{ { 0x9000, 0x1000, 0, "/c" }, { before[0], before[1], { 0x9000, 0x1000, 0, "/c" } } },
		{ { 0x1000, 0x3000, 0x1000, "/a" }, { before[0], before[1] } },
		{ { UINT64_MAX - 0xfff, 0x2000, 0, "/c" }, { before[0], before[1] } },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct range add[] = { before[0], before[1], cases[i].new };
		struct process *proc;
		size_t n = 0;

		exec_event(f, 0, NO_PID, "x");
		for (size_t j = 0; j < 3; j++)
			apply(f, (struct process_event){ .type = PROCESS_MMAP, .pid = NO_PID, .start = add[j].start,
							 .len = add[j].len, .pgoff = add[j].pgoff, .name = add[j].name });
		proc = find(f, NO_PID);
		for (; cases[i].want[n].len; n++) {
			const struct mapping *m = &proc->mappings[n];

			assert_true(n < proc->n_mappings);
			assert_int_equal(m->start, cases[i].want[n].start);
			assert_int_equal(m->end - m->start, cases[i].want[n].len);
			assert_int_equal(m->pgoff, cases[i].want[n].pgoff);
			assert_string_equal(processes_string(f->ps, m->path), cases[i].want[n].name);
		}
		assert_int_equal(proc->n_mappings, n);
	}
}

/* Against a plain array with a name for each page. */
static void mappings_agree_with_a_page_by_page_model(void **state)
{
	enum { PAGES = 64 };
	static const char *const names[] = { "/a", "/b", "/c", "/d" };
	struct fixture *f = *state;
	const char *model[PAGES] = { 0 };
	unsigned int seed = 4711;

	exec_event(f, 0, NO_PID, "x");
	for (int i = 0; i < 20000; i++) {
		uint64_t page = (uint64_t)rand_r(&seed) % PAGES, n = 1 + (uint64_t)rand_r(&seed) % (PAGES - page);
		const char *name = names[(unsigned int)rand_r(&seed) % 4];
		struct process *proc;
		uint64_t end = 0;

		apply(f, (struct process_event){ .type = PROCESS_MMAP, .pid = NO_PID, .start = page << 12,
						 .len = n << 12, .pgoff = page << 12, .name = name });
		for (uint64_t j = page; j < page + n; j++)
			model[j] = name;
		proc = find(f, NO_PID);
		for (size_t j = 0; j < proc->n_mappings; end = proc->mappings[j++].end)
			assert_true(proc->mappings[j].start >= end && proc->mappings[j].start < proc->mappings[j].end);
		for (uint64_t j = 0; j < PAGES; j++) {
			const struct mapping *m = mappings_find(proc, j << 12 | 0xfff);

			assert_int_equal(m != NULL, model[j] != NULL);
			if (m) {
				assert_string_equal(processes_string(f->ps, m->path), model[j]);
				assert_int_equal(m->pgoff, m->start);
			}
		}
	}
}

static void too_many_mappings_are_counted_not_kept(void **state)
{
	struct fixture *f = *state;

	exec_event(f, 0, NO_PID, "x");
	for (uint64_t i = 0; i < MAX_MAPPINGS + 10; i++)
		apply(f, (struct process_event){ .type = PROCESS_MMAP, .time_ns = 1, .pid = NO_PID,
						 .start = i << 13, .len = 0x1000 });
	assert_int_equal(find(f, NO_PID)->n_mappings, MAX_MAPPINGS);
	assert_int_equal(processes_counters(f->ps)[MEMORY_OVER_BUDGET], 10);
}

static void code_pages_made_one_by_one_change_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t generation;

	exec_event(f, 0, NO_PID, "x");
	apply(f, (struct process_event){ .type = PROCESS_MMAP, .pid = NO_PID, .start = 0x10000, .len = 0x9000, .name = "//anon" });
	generation = find(f, NO_PID)->generation;
	apply(f, (struct process_event){ .type = PROCESS_MMAP, .pid = NO_PID, .start = 0x11000, .len = 0x1000, .name = "//anon" });
	assert_int_equal(find(f, NO_PID)->generation, generation);
}

static void unknown_pc_makes_the_maps_be_read_again(void **state)
{
	struct fixture *f = *state;
	struct process *proc = find(f, getpid());
	uint32_t generation = proc->generation;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mapping *exe = process_mapping(f->ps, proc, (uintptr_t)now), *m;
	struct object *object = exe->object;

	m = process_mapping(f->ps, proc, (uintptr_t)code);
	assert_non_null(m);
	assert_int_equal(m->kind, MAPPING_ANON);
	assert_int_not_equal(proc->generation, generation);
	assert_int_equal(processes_counters(f->ps)[MAPS_REREAD], 1);
	/* What was known of the others still is. */
	assert_ptr_equal(mappings_find(proc, (uintptr_t)now)->object, object);
	/* Not again at once. */
	assert_null(process_mapping(f->ps, proc, 0x1000));
	assert_null(process_mapping(f->ps, proc, 0x1000));
	assert_int_equal(processes_counters(f->ps)[MAPS_REREAD], 1);
	munmap(code, 4096);
	usleep(60000);
	assert_true(process_reread(f->ps, proc));
	assert_null(mappings_find(proc, (uintptr_t)code));
}

static void deleted_program_is_opened_still(void **state)
{
	struct fixture *f = *state;
	char path[64];
	pid_t pid = start_copy(f, path);
	struct mapping *m;

	unlink(path);
	copy_file(TRUE, path);
	m = mapping_of_path(f, find(f, pid), path);
	assert_non_null(m);
	assert_non_null(m->object);
	assert_true(object_key(m->object)->ino == m->ino);
	stop(pid);
}

static void exec_memfd(void *ctx)
{
	int in = open(SLEEP, O_RDONLY), out = memfd_create("hidden", MFD_CLOEXEC);
	char *args[] = { "x", "1000", NULL };
	char buf[4096];
	ssize_t n;

	(void)ctx;
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			_exit(1);
	fexecve(out, args, environ);
	_exit(1);
}

static void program_in_memory_is_opened(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(exec_memfd, NULL);
	struct mapping *m;

	usleep(50000);
	m = mapping_of_path(f, find(f, pid), "/memfd:hidden");
	assert_non_null(m);
	assert_non_null(m->object);
	stop(pid);
}

static void replaced_file_is_not_taken_for_the_one_that_ran(void **state)
{
	struct fixture *f = *state;
	char path[64], want[64] = "";
	struct process_event ev;
	struct mapping *m;

	snprintf(path, sizeof(path), "%s/program", f->dir);
	copy_file(SLEEP, path);
	fork_event(f, 0, NO_PID, getpid());
	exec_event(f, 0, NO_PID, "program");
	ev = event_of(f, NO_PID, TRUE, path);
	apply(f, ev);
	m = process_mapping(f->ps, find(f, NO_PID), ev.start + 0x10);
	assert_null(m->object);
	assert_int_equal(ev.start + 0x10 - m->bias, ev.pgoff + 0x10);
	for (size_t i = 0; i < ev.build_id_len; i++)
		sprintf(want + 2 * i, "%02x", ev.build_id[i]);
	assert_string_equal(processes_string(f->ps, m->build_id), want);
	process_mapping(f->ps, find(f, NO_PID), ev.start + 0x10);
	assert_int_equal(processes_counters(f->ps)[FILES_BAD], 1);
	assert_int_equal(processes_counters(f->ps)[FILES_GONE], 0);
}

static void program_that_is_gone_is_opened_below_its_parents_root(void **state)
{
	struct fixture *f = *state;
	struct process_event ev = event_of(f, NO_PID, SLEEP, SLEEP);
	struct mapping *m;

	uint64_t t;

	fork_event(f, 0, NO_PID, getpid());
	exec_event(f, 0, NO_PID, "sleep");
	apply(f, ev);
	t = now();
	exit_event(f, 0, NO_PID);
	m = process_mapping(f->ps, processes_find(f->ps, NO_PID, 0, t), ev.start);
	assert_non_null(m->object);
	assert_string_equal(object_path(m->object), SLEEP);
}

static void map_below_chroot(void *dir)
{
	if (chroot(dir) || chdir("/"))
		_exit(1);
}

/* A process in a chroot with /lib.so (a copy of sleep), a link out of it, a FIFO and a device. */
static struct process *in_chroot(struct fixture *f, pid_t *pid)
{
	char command[256];

	snprintf(command, sizeof(command), "cd %s && cp " SLEEP " lib.so && ln -s ../../../.." SLEEP " out && "
		 "ln -s lib.so in && mkfifo fifo && mknod tty c 5 0", f->dir);
	assert_int_equal(system(command), 0);
	*pid = start(map_below_chroot, f->dir);
	return find(f, *pid);
}

static void chroot_is_never_left(void **state)
{
	static const struct {
		const char *name;
		bool is_opened;
	} cases[] = {
		{ "/lib.so", true }, { "/in", true }, { "/../../lib.so", true }, { "/out", false },
		{ SLEEP, false }, { "/fifo", false }, { "/tty", false }, { "/", false }, { "/lib.so/x", false },
		{ "lib.so", false }, { "", false },
	};
	struct fixture *f = *state;
	pid_t pid;
	struct process *proc = in_chroot(f, &pid);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process_event ev = event_of(f, pid, SLEEP, cases[i].name);
		struct mapping *m;

		/* Without an identity that other ways could prove. */
		ev.build_id_len = 0;
		apply(f, ev);
		m = process_mapping(f->ps, proc, ev.start);
		assert_int_equal(m->object != NULL, cases[i].is_opened);
	}
	stop(pid);
}

static void hide_by_mount(void *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "cp " SLEEP " %s/program", (char *)dir);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", dir, "tmpfs", 0, NULL) || system(command))
		_exit(1);
}

static void file_of_another_mount_namespace_is_its_own(void **state)
{
	struct fixture *f = *state;
	struct process_event ev;
	struct process *proc;
	char path[64];
	struct stat ours;
	struct mapping *m;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/program", f->dir);
	copy_file(SLEEP, path);
	stat(path, &ours);
	pid = start(hide_by_mount, f->dir);
	proc = find(f, pid);
	ev = event_of(f, pid, SLEEP, path);
	apply(f, ev);
	m = process_mapping(f->ps, proc, ev.start);
	assert_non_null(m->object);
	assert_true(object_key(m->object)->dev != ours.st_dev);
	/* The same path and build id here is another file. */
	ev.pid = getpid();
	assert_non_null(find(f, getpid()));
	apply(f, ev);
	m = process_mapping(f->ps, find(f, getpid()), ev.start);
	assert_true(object_key(m->object)->dev == ours.st_dev && object_key(m->object)->ino == ours.st_ino);
	/* Its root stays open for what it started. */
	fork_event(f, 0, NO_PID, pid);
	stop(pid);
	ev.pid = NO_PID;
	ev.start += 0x100000;
	apply(f, ev);
	m = process_mapping(f->ps, find(f, NO_PID), ev.start);
	assert_non_null(m->object);
	assert_true(object_key(m->object)->dev != ours.st_dev);
}

static void ended_processes_are_forgotten(void **state)
{
	struct fixture *f = *state;
	size_t before;
	uint64_t t = now();

	find(f, getpid());
	before = processes_memory(f->ps);
	for (int i = 0; i < 5000; i++)
		fork_event(f, t + 1, 0x7fff0000 + i, getpid());
	for (int i = 0; i < 5000; i++)
		assert_non_null(processes_find(f->ps, 0x7fff0000 + i, 0, t + 2));
	for (int i = 0; i < 5000; i++)
		exit_event(f, t + 3, 0x7fff0000 + i);
	assert_true(processes_memory(f->ps) < before + 2500000);
	processes_expire(f->ps, t + 3);
	assert_int_equal(f->drops, 0);
	processes_expire(f->ps, t + 4);
	assert_int_equal(f->drops, 5000);
	assert_null(processes_find(f->ps, 0x7fff0000, 0, t + 2));
	assert_non_null(find(f, getpid()));
}

static void lost_exit_is_noticed_in_time(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(map_below_chroot, "/");

	assert_non_null(find(f, pid));
	stop(pid);
	for (int i = 0; i < 64; i++)
		processes_expire(f->ps, 1);
	processes_expire(f->ps, UINT64_MAX);
	assert_int_equal(f->drops, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(own_mappings_have_the_bias_the_loader_says),
		TEST(process_is_known_by_its_start),
		TEST(pid_that_is_used_again_is_another_process),
		TEST(lost_exit_event_does_not_keep_a_pid),
		TEST(thread_is_no_process),
		TEST(child_has_its_parents_mappings_until_it_changes_them),
		TEST(newest_mapping_wins_where_it_is),
		TEST(mappings_agree_with_a_page_by_page_model),
		TEST(too_many_mappings_are_counted_not_kept),
		TEST(code_pages_made_one_by_one_change_nothing),
		TEST(unknown_pc_makes_the_maps_be_read_again),
		TEST(deleted_program_is_opened_still),
		TEST(program_in_memory_is_opened),
		TEST(replaced_file_is_not_taken_for_the_one_that_ran),
		TEST(program_that_is_gone_is_opened_below_its_parents_root),
		TEST(chroot_is_never_left),
		TEST(file_of_another_mount_namespace_is_its_own),
		TEST(ended_processes_are_forgotten),
		TEST(lost_exit_is_noticed_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
