// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/process_fixture.h"

#include <pthread.h>
#include <sys/mman.h>

#include "bpf/counters.h"
#include "runtimes/mappings.h"

static void wait_here(void *ctx)
{
	(void)ctx;
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
	assert_ptr_not_equal(processes_find(f->ps, getpid(), start + 3000001, 0), proc);
	assert_null(processes_find(f->ps, getpid(), start + 5000000000, 0));
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

	apply(f, (struct process_event){
			 .type = PROCESS_FORK, .pid = getpid(), .tid = 12345, .parent = getpid() });
	apply(f, (struct process_event){
			 .type = PROCESS_COMM, .pid = getpid(), .tid = 12345, .name = "worker" });
	apply(f, (struct process_event){ .type = PROCESS_EXIT, .pid = getpid(), .tid = 12345 });
	assert_ptr_equal(find(f, getpid()), proc);
	assert_int_equal(proc->exit_time_ns, 0);
	assert_string_equal(processes_string(f->ps, proc->comm), "process_test");
	apply(f,
	      (struct process_event){ .type = PROCESS_COMM, .pid = getpid(), .name = "renamed" });
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
	m = process_mapping(f->ps, child,
			    (uintptr_t)child_has_its_parents_mappings_until_it_changes_them);
	assert_non_null(m->object);
	apply(f, (struct process_event){
			 .type = PROCESS_MMAP, .pid = NO_PID, .start = 0x10000, .len = 0x1000 });
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

/* The slower the machine reads, the longer a process is left alone. */
static struct mapping *mapping_in_time(struct fixture *f, struct process *proc, uint64_t pc)
{
	struct mapping *m = NULL;

	for (int i = 0; i < 500 && !m; i++) {
		usleep(10000);
		m = process_mapping(f->ps, proc, pc);
	}
	return m;
}

/* So soon that the limit to the rate must hold: false on a machine that stalls. */
static bool is_at_once(uint64_t since_ns)
{
	return now() - since_ns < 10000000;
}

static void unknown_pc_makes_the_maps_be_read_again(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = now();
	struct process *proc = find(f, getpid());
	uint32_t generation = proc->generation;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mapping *exe = process_mapping(f->ps, proc, (uintptr_t)now), *m;
	struct object *object = exe->object;
	void *more;

	m = process_mapping(f->ps, proc, (uintptr_t)code);
	assert_non_null(m);
	assert_int_equal(m->kind, MAPPING_ANON);
	assert_int_not_equal(proc->generation, generation);
	assert_int_equal(processes_counters(f->ps)[MAPS_REREAD], 1);
	/* What was known of the others still is. */
	assert_ptr_equal(mappings_find(proc, (uintptr_t)now)->object, object);
	/* Not again at once, nor for an address that is no code. */
	assert_null(process_mapping(f->ps, proc, 0x1000));
	assert_null(process_mapping(f->ps, proc, 0x1000));
	if (is_at_once(begin_ns))
		assert_int_equal(processes_counters(f->ps)[MAPS_REREAD], 1);
	/* What is gone from there goes with the next reading that explains something. */
	more = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	munmap(code, 4096);
	assert_non_null(mapping_in_time(f, proc, (uintptr_t)more));
	assert_null(mappings_find(proc, (uintptr_t)code));
	munmap(more, 4096);
	generation = proc->generation;
	usleep(100000);
	assert_null(process_mapping(f->ps, proc, 0x1000));
	assert_int_equal(proc->generation, generation);
	assert_non_null(mappings_find(proc, (uintptr_t)more));
}

static void run_sleep(void *ctx)
{
	(void)ctx;
	execl("/usr/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

static void lost_records_make_the_maps_be_read_again_once(void **state)
{
	struct fixture *f = *state;
	struct process *proc = find(f, getpid());
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t *n_read = &processes_counters(f->ps)[MAPS_REREAD];
	uint64_t begin_ns;

	assert_false(process_recheck(f->ps, proc, false, 0));
	assert_int_equal(*n_read, 0);
	processes_lost(f->ps, 7);
	assert_true(process_recheck(f->ps, proc, false, 0));
	assert_non_null(process_known_mapping(f->ps, proc, (uintptr_t)code));
	assert_false(process_recheck(f->ps, proc, false, 0));
	assert_int_equal(*n_read, 1);
	/* Not even the limit to the rate holds it back. */
	begin_ns = now();
	munmap(code, 4096);
	processes_lost(f->ps, 8);
	assert_true(process_recheck(f->ps, proc, false, 0));
	assert_null(process_known_mapping(f->ps, proc, (uintptr_t)code));
	/* That holds for what is only suspect. */
	assert_false(process_recheck(f->ps, proc, true, 0));
	if (is_at_once(begin_ns))
		assert_int_equal(*n_read, 2);
	for (int i = 0; i < 500 && *n_read == 2; i++) {
		usleep(10000);
		process_recheck(f->ps, proc, true, 0);
	}
	assert_int_equal(*n_read, 3);
}

/* Moves a file's mapping over another's, or away, which the kernel has no record for. */
static void code_that_went_without_a_record_is_noticed(void **state)
{
	struct fixture *f = *state;
	const uint64_t *n_read = &processes_counters(f->ps)[MAPS_REREAD];
	int fd = open("/proc/self/exe", O_RDONLY), other = open("/bin/true", O_RDONLY);
	char *first = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	char *second = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, other, 0);
	struct process *proc = find(f, getpid());
	const uint32_t n_pages = 1000; /* as the kernel counts; any number does */
	uint32_t path = mappings_find(proc, (uintptr_t)first)->path;

	assert_int_not_equal(mappings_find(proc, (uintptr_t)second)->path, path);
	assert_false(process_recheck(f->ps, proc, false, n_pages));
	assert_ptr_equal(mremap(second, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, first), first);
	assert_false(process_recheck(f->ps, proc, false, n_pages));
	assert_int_equal(*n_read, 0);
	assert_true(process_recheck(f->ps, proc, false, n_pages - 1));
	assert_int_not_equal(mappings_find(proc, (uintptr_t)first)->path, path);
	assert_null(mappings_find(proc, (uintptr_t)second));
	/* From now on that number is the right one. */
	assert_false(process_recheck(f->ps, proc, false, n_pages - 1));
	assert_int_equal(*n_read, 1);
	munmap(first, 4096);
	close(fd);
	close(other);
}

static void numbers_that_lead_nowhere_are_looked_at_less_and_less(void **state)
{
	struct fixture *f = *state;
	struct process *proc = find(f, getpid());
	const uint64_t *n_read = &processes_counters(f->ps)[MAPS_REREAD];
	uint32_t generation = proc->generation, n_pages = 1000;
	uint64_t until = now() + 300000000;

	/* As of a code generator that changes the protection of its pages. */
	while (now() < until)
		assert_false(process_recheck(f->ps, proc, false, n_pages++));
	assert_in_range(*n_read, 2, 6);
	assert_int_equal(proc->generation, generation);
}

static void program_that_replaced_another_waits_for_its_event(void **state)
{
	struct fixture *f = *state;
	struct mapping *libc;
	struct process *child;
	uint32_t generation;
	pid_t pid;

	find(f, getpid());
	pid = start(run_sleep, NULL);
	wait_for_state(pid, 'S');
	fork_event(f, now(), pid, getpid());
	child = find(f, pid);
	generation = child->generation;
	libc = process_mapping(f->ps, child, (uintptr_t)find);
	assert_non_null(libc);
	/* A sample from before the exec: its code is ours still. */
	assert_null(process_mapping(f->ps, child, 0x1000));
	assert_int_equal(child->generation, generation);
	assert_ptr_equal(process_mapping(f->ps, child, (uintptr_t)find), libc);
	/* If the event never comes, what is there counts in the end. */
	for (int i = 0; i < 300 && child->generation == generation; i++) {
		usleep(10000);
		process_mapping(f->ps, child, 0x1000);
	}
	assert_int_not_equal(child->generation, generation);
	assert_null(mappings_find(child, (uintptr_t)find));
	stop(pid);
}

static void *sleep_long(void *arg)
{
	pause();
	return arg;
}

/* The pipe closes with the descriptor: nobody returns to say that it is ready. */
static void end_main_thread(void *ctx)
{
	pthread_t thread;

	(void)ctx;
	pthread_create(&thread, NULL, sleep_long, NULL);
	close_range(3, ~0u, 0);
	pthread_exit(NULL);
}

static void process_without_its_main_thread_has_mappings(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(end_main_thread, NULL);
	struct process *proc;

	wait_for_state(pid, 'Z');
	proc = find(f, pid);
	assert_non_null(proc);
	assert_non_null(process_mapping(f->ps, proc, (uintptr_t)end_main_thread)->object);
	/* Its main thread's exit event, and then a sample of another thread. */
	exit_event(f, 0, pid);
	assert_ptr_equal(processes_find(f->ps, pid, proc->start_time_ns, now() + 1000), proc);
	assert_true(proc->exit_time_ns >= now() - 1000000000);
	stop(pid);
}

static void zombie_has_no_mappings(void **state)
{
	struct fixture *f = *state;
	struct process *proc;
	siginfo_t info;
	pid_t pid = start(wait_here, NULL);

	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	proc = find(f, pid);
	assert_non_null(proc);
	assert_int_equal(proc->n_mappings, 0);
	assert_null(process_mapping(f->ps, proc, (uintptr_t)start));
	waitpid(pid, NULL, 0);
	assert_false(process_credentials(f->ps, proc));
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
	pid_t pid = start(wait_here, NULL);

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
		PROCESS_TEST(process_is_known_by_its_start),
		PROCESS_TEST(pid_that_is_used_again_is_another_process),
		PROCESS_TEST(lost_exit_event_does_not_keep_a_pid),
		PROCESS_TEST(thread_is_no_process),
		PROCESS_TEST(child_has_its_parents_mappings_until_it_changes_them),
		PROCESS_TEST(unknown_pc_makes_the_maps_be_read_again),
		PROCESS_TEST(lost_records_make_the_maps_be_read_again_once),
		PROCESS_TEST(code_that_went_without_a_record_is_noticed),
		PROCESS_TEST(numbers_that_lead_nowhere_are_looked_at_less_and_less),
		PROCESS_TEST(program_that_replaced_another_waits_for_its_event),
		PROCESS_TEST(process_without_its_main_thread_has_mappings),
		PROCESS_TEST(zombie_has_no_mappings),
		PROCESS_TEST(ended_processes_are_forgotten),
		PROCESS_TEST(lost_exit_is_noticed_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
