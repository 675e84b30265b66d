// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/scoped.h"

SCOPED_DEFINE(struct mem, mem_free)

static void array_answers_only_inside_its_bytes(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4 };
	static const struct {
		uint64_t addr;
		size_t len;
		int err;
	} cases[] = {
		{ 0x1000, 4, 0 },	    { 0x1003, 1, 0 },	   { 0x1004, 0, 0 },
		{ 0x1004, 1, -EFAULT },	    { 0xfff, 2, -EFAULT }, { 0x1001, SIZE_MAX, -EFAULT },
		{ UINT64_MAX, 1, -EFAULT },
	};
	SCOPED(mem_free) struct mem *m = mem_array(0x1000, bytes, sizeof(bytes));
	uint8_t out[4];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(mem_read(m, cases[i].addr, out, cases[i].len), cases[i].err);
	assert_int_equal(mem_read(m, 0x1001, out, 3), 0);
	assert_memory_equal(out, bytes + 1, 3);
}

static void live_reads_another_process_and_says_when_it_went(void **state)
{
	volatile uint64_t secret = 41;
	pid_t child = fork();
	uint64_t got = 0;

	(void)state;
	if (!child) {
		secret = 42;
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
	SCOPED(mem_free) struct mem *m = mem_live(child, NULL);

	assert_int_equal(mem_read(m, (uintptr_t)&secret, &got, sizeof(got)), 0);
	assert_int_equal(got, 42);
	assert_int_equal(mem_read(m, 0, &got, sizeof(got)), -EFAULT);
	assert_int_equal(mem_read(m, UINT64_MAX - 3, &got, sizeof(got)), -EFAULT);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(mem_read(m, (uintptr_t)&secret, &got, sizeof(got)), -ESRCH);
	SCOPED(mem_free) struct mem *none = mem_live(child, NULL);

	assert_int_equal(mem_read(none, (uintptr_t)&secret, &got, sizeof(got)), -ESRCH);
}

/* The process that reads for us; besides it there is only `but`. */
static pid_t find_reader(pid_t but)
{
	SCOPED(fclose) FILE *f = fopen("/proc/thread-self/children", "re");
	int pid = 0, last = 0;

	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1)
		if (pid != but)
			last = pid;
	return last;
}

static void who_keeps_us_waiting_is_not_read_but_others_are(void **state)
{
	struct mem_patience patience = { 0 }, other = { 0 };
	static const uint64_t number = 42;
	pid_t reader, second;
	uint64_t got = 0, start;

	(void)state;
	mem_live_end();
	SCOPED(mem_free) struct mem *m = mem_live(getpid(), &patience);

	assert_int_equal(mem_read(m, (uintptr_t)&number, &got, sizeof(got)), 0);
	reader = find_reader(0);
	assert_int_not_equal(reader, 0);
	kill(reader, SIGSTOP); /* as a page does that never comes */
	start = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(mem_read(m, (uintptr_t)&number, &got, sizeof(got)), -ETIMEDOUT);
	assert_true(patience.is_stuck);
	SCOPED(mem_free) struct mem *again = mem_live(getpid(), &patience);

	assert_int_equal(mem_read(again, (uintptr_t)&number, &got, sizeof(got)), -ETIMEDOUT);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start < 2 * NS_PER_S);
	got = 0;
	SCOPED(mem_free) struct mem *honest = mem_live(getpid(), &other);

	assert_int_equal(mem_read(honest, (uintptr_t)&number, &got, sizeof(got)), 0);
	assert_int_equal(got, 42);
	second = find_reader(reader);
	assert_int_not_equal(second, reader);
	kill(second, SIGKILL); /* somebody else's doing: nobody is to blame */
	usleep(10000);
	assert_int_equal(mem_read(honest, (uintptr_t)&number, &got, sizeof(got)), -EAGAIN);
	assert_int_equal(mem_read(honest, (uintptr_t)&number, &got, sizeof(got)), 0);
	assert_false(other.is_stuck);
	mem_live_end();
	assert_int_equal(find_reader(second), 0);
}

/* What the reader is asked for keeps it waiting. */
static void read_in_vain(struct mem *m)
{
	static const uint64_t number = 42;
	uint64_t got;
	pid_t reader;

	mem_live_begin();
	reader = find_reader(0);
	assert_int_not_equal(reader, 0);
	kill(reader, SIGSTOP);
	assert_int_equal(mem_read(m, (uintptr_t)&number, &got, sizeof(got)), -ETIMEDOUT);
}

/* A disk was slow, or the process forked a large heap: the page came at last. */
static void whoever_answers_again_is_read_again(void **state)
{
	struct mem_patience patience = { 0 };
	static const uint64_t number = 42;
	uint64_t got = 0, again_ns;

	(void)state;
	mem_live_end();
	SCOPED(mem_free) struct mem *m = mem_live(getpid(), &patience);

	for (int i = 0; i < 2; i++) {
		again_ns = clock_ns(CLOCK_MONOTONIC) + (NS_PER_S << i);
		read_in_vain(m);
		assert_true(patience.again_ns >= again_ns);
		while (clock_ns(CLOCK_MONOTONIC) < again_ns) {
			assert_int_equal(mem_read(m, (uintptr_t)&number, &got, sizeof(got)),
					 -ETIMEDOUT);
			usleep(50000);
		}
		while (clock_ns(CLOCK_MONOTONIC) < patience.again_ns)
			usleep(10000);
		patience.waits.used = 0;
		got = 0;
		assert_int_equal(mem_read(m, (uintptr_t)&number, &got, sizeof(got)), 0);
		assert_int_equal(got, 42);
		assert_false(patience.is_stuck);
	}
	mem_live_end();
}

static void who_answered_for_long_is_left_alone_as_briefly_as_at_first(void **state)
{
	struct mem_patience patience = { 0 };
	static const uint64_t number = 42;
	uint64_t got;

	(void)state;
	mem_live_end();
	SCOPED(mem_free) struct mem *m = mem_live(getpid(), &patience);

	for (int i = 0; i < 3; i++) {
		read_in_vain(m);
		assert_int_equal(patience.pause_ns, NS_PER_S);
		/* As if so much time had passed. */
		usleep(20000);
		patience.again_ns = clock_ns(CLOCK_MONOTONIC) - patience.pause_ns - 1;
		patience.waits.used = 0;
		assert_int_equal(mem_read(m, (uintptr_t)&number, &got, sizeof(got)), 0);
	}
	mem_live_end();
}

static void those_that_are_asked_again_take_nothing_of_the_others(void **state)
{
	struct mem_patience patience[6] = { 0 }, other = { 0 };
	static const uint64_t number = 42;
	uint64_t got;

	(void)state;
	mem_live_end();
	for (int i = 0; i < 24; i++) {
		struct mem_patience *p = &patience[i % 6];
		SCOPED(mem_free) struct mem *m = mem_live(getpid(), p);

		read_in_vain(m);
		p->again_ns = p->waits.used = 0; /* as if time had passed */
	}
	mem_live_end();
	SCOPED(mem_free) struct mem *honest = mem_live(getpid(), &other);

	assert_int_equal(mem_read(honest, (uintptr_t)&number, &got, sizeof(got)), 0);
	mem_live_end();
}

/* Readers that stay behind have a number, and waiting has an end for all together. */
static void waiting_has_an_end(void **state)
{
	static const uint64_t number = 42;
	uint64_t got, start = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct mem_patience patience = { 0 };
		SCOPED(mem_free) struct mem *m = mem_live(getpid(), &patience);
		pid_t reader;

		mem_live_begin();
		reader = find_reader(0);
		if (reader)
			kill(reader, SIGSTOP);
		err = mem_read(m, (uintptr_t)&number, &got, sizeof(got));
		assert_int_equal(err, -ETIMEDOUT);
	}
	assert_true(clock_ns(CLOCK_MONOTONIC) - start < 8 * NS_PER_S);
	mem_live_end();
}

static void long_reads_come_in_parts(void **state)
{
	static uint8_t bytes[300000], got[300000];
	SCOPED(mem_free) struct mem *m = mem_live(getpid(), NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(mem_read(m, (uintptr_t)bytes, got, sizeof(got)), 0);
	assert_memory_equal(bytes, got, sizeof(got));
	mem_live_end();
}

#define CORE_DATA 0x200

struct small_core {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	uint8_t pad[CORE_DATA - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)];
	uint8_t data[32];
};

/* Two adjacent segments out of order, and one that was not dumped. */
static struct small_core make_core(void)
{
	struct small_core c = { 0 };

	memcpy(c.eh.e_ident, ELFMAG, SELFMAG);
	c.eh.e_ident[EI_CLASS] = ELFCLASS64;
	c.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	c.eh.e_type = ET_CORE;
	c.eh.e_machine = EM_X86_64;
	c.eh.e_phoff = offsetof(struct small_core, ph);
	c.eh.e_phnum = 3;
	c.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_offset = CORE_DATA + 16,
				.p_vaddr = 0x5010,
				.p_filesz = 16,
				.p_memsz = 16 };
	c.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_offset = CORE_DATA,
				.p_vaddr = 0x5000,
				.p_filesz = 16,
				.p_memsz = 16 };
	c.ph[2] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_offset = CORE_DATA, .p_vaddr = 0x9000, .p_memsz = 0x1000
	};
	for (int i = 0; i < 32; i++)
		c.data[i] = (uint8_t)i;
	return c;
}

/* Loads bytes as a core file by way of a memfd; also reads a little when that works. */
static int load(const void *bytes, size_t len)
{
	SCOPED(close) int fd = memfd_create("core", MFD_CLOEXEC);
	char path[64];
	uint8_t out[32];
	int err = 0;

	assert_int_equal(write(fd, bytes, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	SCOPED(mem_free) struct mem *m = mem_core(path, &err);

	if (!m)
		return err;
	return mem_read(m, 0x5000, out, sizeof(out)) < 0 || out[31] != 31 || out[0] ? -EFAULT : 0;
}

static void core_reads_across_segments(void **state)
{
	struct small_core c = make_core();

	(void)state;
	assert_int_equal(load(&c, sizeof(c)), 0);
}

static void core_refuses_what_it_is_not(void **state)
{
	struct small_core c = make_core();

	(void)state;
	c.eh.e_type = ET_EXEC;
	assert_int_equal(load(&c, sizeof(c)), -ENOTSUP);
	c = make_core();
	c.ph[0].p_vaddr = 0x5008;
	assert_int_equal(load(&c, sizeof(c)), -EBADMSG);
	c = make_core();
	c.ph[0].p_filesz = UINT64_MAX;
	assert_int_equal(load(&c, sizeof(c)), -EBADMSG);
	c = make_core();
	c.eh.e_phnum = PN_XNUM;
	c.eh.e_shoff = UINT64_MAX;
	assert_int_equal(load(&c, sizeof(c)), -EBADMSG);
	assert_int_equal(load("#!/bin/sh\n", 10), -EBADMSG);
	int err = 0;

	assert_null(mem_core("/nonexistent", &err));
	assert_int_equal(err, -ENOENT);
}

static void survives_mutation(void **state)
{
	struct small_core c = make_core();
	uint8_t *bytes = malloc(sizeof(c));

	(void)state;
	for (size_t len = 0; len < sizeof(c); len += 3)
		assert_true(load(&c, len) <= 0);
	for (size_t bit = 0; bit < CORE_DATA * 8; bit++) {
		memcpy(bytes, &c, sizeof(c));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(load(bytes, sizeof(c)) <= 0);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(array_answers_only_inside_its_bytes),
		cmocka_unit_test(live_reads_another_process_and_says_when_it_went),
		cmocka_unit_test(who_keeps_us_waiting_is_not_read_but_others_are),
		cmocka_unit_test(whoever_answers_again_is_read_again),
		cmocka_unit_test(long_reads_come_in_parts),
		cmocka_unit_test(who_answered_for_long_is_left_alone_as_briefly_as_at_first),
		cmocka_unit_test(those_that_are_asked_again_take_nothing_of_the_others),
		cmocka_unit_test(waiting_has_an_end),
		cmocka_unit_test(core_reads_across_segments),
		cmocka_unit_test(core_refuses_what_it_is_not),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
