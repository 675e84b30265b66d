// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/process_fixture.h"

#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "bpf/counters.h"
#include "core/located.h"
#include "core/scoped.h"
#include "runtimes/files.h"

#define SLEEP "/usr/bin/sleep"
#define TRUE "/usr/bin/true"

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
	wait_for_state(pid, 'S');
	return pid;
}

static struct mapping *mapping_of_path(struct fixture *f, struct process *proc, const char *path)
{
	for (size_t i = 0; i < proc->n_mappings; i++)
		if (!strcmp(processes_string(f->ps, proc->mappings[i].path), path))
			return process_mapping(f->ps, proc, proc->mappings[i].start);
	return NULL;
}

/* An mmap event of the first executable segment of a file. */
static struct process_event event_of(struct fixture *f, pid_t pid, const char *file,
				     const char *name)
{
	SCOPED(close) int fd = open(file, O_RDONLY);
	struct process_event ev = {
		.type = PROCESS_MMAP, .pid = pid, .start = 0x500000, .len = 0x1000, .name = name
	};
	const struct segment *s;
	struct stat st;
	size_t n;
	int err;

	s = object_segments(objects_get(f->os, fd, file, -1, &err), &n);
	assert_true(n > 0);
	ev.pgoff = s->offset & ~UINT64_C(4095);
	assert_int_equal(fstat(fd, &st), 0);
	ev.dev = st.st_dev;
	ev.ino = st.st_ino;
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

static void map_file(void *path)
{
	SCOPED(close) int fd = open(path, O_RDONLY);

	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
}

static void deleted_library_is_opened_still(void **state)
{
	struct fixture *f = *state;
	struct process *proc;
	struct mapping *m;
	char path[64];
	pid_t pid;

	if (geteuid())
		skip();
	snprintf(path, sizeof(path), "%s/lib.so", f->dir);
	copy_file(SLEEP, path);
	pid = start(map_file, path);
	unlink(path);
	proc = find(f, pid);
	m = mapping_of_path(f, proc, path);
	assert_non_null(m);
	/* Its first page is no code, which is all that is wrong with it. */
	assert_int_equal(m->open_err, -EBADMSG);
	stop(pid);
}

static void name_may_hold_newlines_and_escapes(void **state)
{
	struct fixture *f = *state;
	char path[64];
	struct mapping *m;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/a b\n\x1b[31m;\\040", f->dir);
	copy_file(SLEEP, path);
	pid = start(exec_file, path);
	wait_for_state(pid, 'S');
	m = mapping_of_path(f, find(f, pid), path);
	assert_non_null(m);
	assert_non_null(m->object);
	stop(pid);
}

/* As files_open() does it. */
static int open_below(int root, const char *path)
{
	SCOPED(close) int located = located_below(root, path, 0);
	struct stat st;

	return located < 0 ? located : located_open(located, &st);
}

static void only_regular_files_are_ever_opened(void **state)
{
	static const struct {
		const char *path;
		int err;
	} cases[] = {
		{ "/dev/null", -EINVAL }, { "/", -EINVAL },	   { "/proc/self/fd/0", -ELOOP },
		{ "", -ENOENT },	  { "/nothing", -ENOENT },
	};
	SCOPED(close) int root = open("/", O_PATH);
	SCOPED(close) int good = open_below(root, TRUE);

	(void)state;
	assert_true(good >= 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(open_below(root, cases[i].path), cases[i].err);
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

	wait_for_state(pid, 'S');
	m = mapping_of_path(f, find(f, pid), "/memfd:hidden");
	assert_non_null(m);
	assert_non_null(m->object);
	stop(pid);
}

static void replaced_file_is_not_taken_for_the_one_that_ran(void **state)
{
	struct fixture *f = *state;
	struct process_event ev;
	struct mapping *m;
	char path[64];

	snprintf(path, sizeof(path), "%s/program", f->dir);
	copy_file(SLEEP, path);
	fork_event(f, 0, NO_PID, getpid());
	exec_event(f, 0, NO_PID, "program");
	ev = event_of(f, NO_PID, TRUE, path);
	apply(f, ev);
	m = process_mapping(f->ps, find(f, NO_PID), ev.start + 0x10);
	assert_null(m->object);
	assert_int_equal(ev.start + 0x10 - m->bias, ev.pgoff + 0x10);
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

	snprintf(command, sizeof(command),
		 "cd %s && cp " SLEEP " lib.so && ln -s ../../../.." SLEEP " out && "
		 "ln -s lib.so in && mkfifo fifo && mknod tty c 5 0",
		 f->dir);
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
		{ "/lib.so", true }, { "/in", true },  { "/../../lib.so", true },
		{ "/out", false },   { SLEEP, false }, { "/fifo", false },
		{ "/tty", false },   { "/", false },   { "/lib.so/x", false },
		{ "lib.so", false }, { "", false },
	};
	struct fixture *f = *state;
	struct process *proc;
	pid_t pid;

	if (geteuid())
		skip();
	proc = in_chroot(f, &pid);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process_event ev = event_of(f, pid, SLEEP, cases[i].name);
		struct mapping *m;

		/* Without an identity that other ways could prove. */
		ev.dev = ev.ino = 0;
		apply(f, ev);
		m = process_mapping(f->ps, proc, ev.start);
		assert_int_equal(m->object != NULL, cases[i].is_opened);
	}
	stop(pid);
}

/* Its file was opened before, for somebody outside. */
static void absolute_link_out_of_a_chroot_is_not_followed_to_a_known_file(void **state)
{
	struct fixture *f = *state;
	struct process_event ev;
	char root[64], command[256], outside[64];
	struct mapping *m;
	pid_t pid;

	if (geteuid())
		skip();
	snprintf(root, sizeof(root), "%s/root", f->dir);
	snprintf(outside, sizeof(outside), "%s/outside/x.so", f->dir);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir root outside && cp " SLEEP " outside/x.so && "
		 "ln -s %s/outside root/lib",
		 f->dir, f->dir);
	assert_int_equal(system(command), 0);
	ev = event_of(f, getpid(), outside, outside);
	assert_non_null(find(f, getpid()));
	apply(f, ev);
	m = process_mapping(f->ps, find(f, getpid()), ev.start);
	assert_non_null(m->object);
	pid = start(map_below_chroot, root);
	assert_non_null(find(f, pid));
	ev.pid = pid;
	ev.name = "/lib/x.so";
	apply(f, ev);
	m = process_mapping(f->ps, find(f, pid), ev.start);
	assert_null(m->object);
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
	struct process_event ev, their_ev;
	char path[64], theirs[128];
	struct process *proc;
	struct stat ours;
	struct mapping *m;
	pid_t pid;

	if (geteuid())
		skip();
	snprintf(path, sizeof(path), "%s/program", f->dir);
	copy_file(SLEEP, path);
	stat(path, &ours);
	pid = start(hide_by_mount, f->dir);
	proc = find(f, pid);
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", pid, path);
	their_ev = ev = event_of(f, pid, theirs, path);
	apply(f, ev);
	m = process_mapping(f->ps, proc, ev.start);
	assert_non_null(m->object);
	assert_true(object_key(m->object)->dev != ours.st_dev);
	/* The same path and bytes here is another file. */
	ev = event_of(f, getpid(), path, path);
	assert_non_null(find(f, getpid()));
	apply(f, ev);
	m = process_mapping(f->ps, find(f, getpid()), ev.start);
	assert_true(object_key(m->object)->dev == ours.st_dev &&
		    object_key(m->object)->ino == ours.st_ino);
	/* Its root stays open for what it started. */
	fork_event(f, 0, NO_PID, pid);
	stop(pid);
	ev = their_ev;
	ev.pid = NO_PID;
	ev.start += 0x100000;
	apply(f, ev);
	m = process_mapping(f->ps, find(f, NO_PID), ev.start);
	assert_non_null(m->object);
	assert_true(object_key(m->object)->dev != ours.st_dev);
}

/* Runs a program of an overlay's lower layer, or of its upper one. */
static void exec_on_overlay(void *ctx)
{
	const char *dir = ctx;
	char command[512], path[64];

	snprintf(command, sizeof(command),
		 "mount -t tmpfs none %s && cd %s && mkdir lower upper work merged && cp " SLEEP
		 " lower/program && mount -t overlay -o "
		 "lowerdir=lower,upperdir=upper,workdir=work none merged",
		 dir, dir);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    system(command))
		_exit(1);
	snprintf(path, sizeof(path), "%s/merged/program", dir);
	exec_file(path);
}

static void program_on_an_overlay_is_opened(void **state)
{
	struct fixture *f = *state;
	struct mapping *m;
	char path[64];
	pid_t pid;

	if (geteuid())
		skip();
	pid = start(exec_on_overlay, f->dir);
	wait_for_state(pid, 'S');
	snprintf(path, sizeof(path), "%s/merged/program", f->dir);
	m = mapping_of_path(f, find(f, pid), path);
	assert_non_null(m);
	assert_non_null(m->object);
	stop(pid);
}

static void inode_of_a_program_that_ended_may_be_anothers_now(void **state)
{
	static const struct {
		bool is_rewritten, is_opened;
	} cases[] = { { false, true }, { true, false } };
	struct fixture *f = *state;
	struct process_event ev;
	struct mapping *m;
	char path[64];
	uint64_t t;

	snprintf(path, sizeof(path), "%s/program", f->dir);
	for (size_t i = 0; i < 2; i++) {
		pid_t pid = NO_PID - (pid_t)i;

		copy_file(SLEEP, path);
		usleep(20000); /* file times are of the last clock tick */
		fork_event(f, 0, pid, getpid());
		exec_event(f, 0, pid, "program");
		ev = event_of(f, pid, path, path);
		apply(f, ev);
		t = now();
		exit_event(f, 0, pid);
		usleep(20000);
		if (cases[i].is_rewritten)
			copy_file(SLEEP, path);
		m = process_mapping(f->ps, processes_find(f->ps, pid, 0, t), ev.start);
		assert_int_equal(m->object != NULL, cases[i].is_opened);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(own_mappings_have_the_bias_the_loader_says),
		PROCESS_TEST(deleted_program_is_opened_still),
		PROCESS_TEST(deleted_library_is_opened_still),
		PROCESS_TEST(name_may_hold_newlines_and_escapes),
		PROCESS_TEST(only_regular_files_are_ever_opened),
		PROCESS_TEST(program_in_memory_is_opened),
		PROCESS_TEST(replaced_file_is_not_taken_for_the_one_that_ran),
		PROCESS_TEST(program_that_is_gone_is_opened_below_its_parents_root),
		PROCESS_TEST(chroot_is_never_left),
		PROCESS_TEST(absolute_link_out_of_a_chroot_is_not_followed_to_a_known_file),
		PROCESS_TEST(file_of_another_mount_namespace_is_its_own),
		PROCESS_TEST(program_on_an_overlay_is_opened),
		PROCESS_TEST(inode_of_a_program_that_ended_may_be_anothers_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
