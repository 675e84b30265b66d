// SPDX-License-Identifier: Apache-2.0
/*
 * How fast addresses become names, with lines and inlined calls.
 *	symbol_bench [FILE MEMORY_MIB NAME]
 * Over this program itself, or over a FILE with a memory budget; figures are called NAME (symbol).
 * Cold is the first question for each address, everything that has to be opened and built included;
 * warm is the same again. Lines are `name value unit`.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/profile.h"
#include "symbolizer/object.h"

#define N_ADDRESSES 50000
#define N_COLD_ROUNDS 3 /* the fastest counts: the machine is shared */
#define N_WARM_ROUNDS 20
#define N_ADDR2LINE 2000 /* addresses for the other program */

static double cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

struct subject {
	const char *path, *name;
	size_t memory; /* budget in bytes; 0: none */
};

struct result {
	double cold, warm; /* seconds */
	size_t n_frames, memory, peak;
};

static size_t symbolize(struct objects *os, struct object *o, const uint64_t *addresses, size_t n,
			struct profile *p, size_t *peak)
{
	struct line lines[MAX_INLINE_DEPTH];
	size_t n_frames = 0, memory;

	for (size_t i = 0; i < n; i++) {
		uint16_t flags = 0;

		n_frames += object_symbolize(o, addresses[i], p, lines, MAX_INLINE_DEPTH, &flags);
		if (i % 256)
			continue;
		memory = objects_memory(os);
		*peak = memory > *peak ? memory : *peak;
	}
	return n_frames;
}

/* Addresses in functions, in an order that no cache likes. */
static size_t pick(const char *path, uint64_t *addresses)
{
	struct objects *os = objects_new(NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct object *o = objects_get(os, fd, path, -1, &err);
	size_t n_segments = 0, n = 0;
	const struct segment *s = o ? object_segments(o, &n_segments) : NULL;

	srandom(1);
	for (int tries = 0; n_segments && n < N_ADDRESSES && tries < 20 * N_ADDRESSES; tries++) {
		uint64_t vaddr = s->vaddr +
				 ((uint64_t)random() << 16 ^ (uint64_t)random()) % s->memsz,
			 start, size;

		if (object_function(o, vaddr, &start, &size))
			addresses[n++] = vaddr;
	}
	close(fd);
	objects_free(os);
	return n;
}

static struct result bench(const struct subject *subject, const uint64_t *addresses, size_t n)
{
	struct objects *os = objects_new(&(struct object_options){ .memory = subject->memory });
	struct profile *p = profile_new();
	int fd = open(subject->path, O_RDONLY | O_CLOEXEC), err = 0;
	double start = cpu_now();
	struct object *o = objects_get(os, fd, subject->path, -1, &err);
	struct result r = { 0 };
	int n_rounds = subject->memory ? 1 : N_WARM_ROUNDS;

	r.n_frames = o ? symbolize(os, o, addresses, n, p, &r.peak) : 0;
	r.cold = cpu_now() - start;
	start = cpu_now();
	for (int i = 0; o && i < n_rounds; i++)
		symbolize(os, o, addresses, n, p, &r.peak);
	r.warm = (cpu_now() - start) / n_rounds;
	r.memory = objects_memory(os);
	close(fd);
	objects_free(os);
	profile_free(p);
	return r;
}

/* CPU seconds of addr2line for n addresses; 0 when there is none. */
static double addr2line(const char *path, const uint64_t *addresses, size_t n)
{
	char command[4200];
	struct rusage before, after;
	FILE *f;

	snprintf(command, sizeof(command), "addr2line -i -f -C -e '%s' >/dev/null 2>&1", path);
	getrusage(RUSAGE_CHILDREN, &before);
	f = popen(command, "w");
	if (!f)
		return 0;
	for (size_t i = 0; i < n; i++)
		fprintf(f, "0x%lx\n", (unsigned long)addresses[i]);
	if (pclose(f))
		return 0;
	getrusage(RUSAGE_CHILDREN, &after);
	return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
}

/* The fastest of several rounds. */
static struct result best(const struct subject *subject, const uint64_t *addresses, size_t n)
{
	struct result r = bench(subject, addresses, n);

	for (int i = 1; i < N_COLD_ROUNDS; i++) {
		struct result again = bench(subject, addresses, n);

		r.cold = again.cold < r.cold ? again.cold : r.cold;
		r.warm = again.warm < r.warm ? again.warm : r.warm;
		r.peak = again.peak > r.peak ? again.peak : r.peak;
	}
	return r;
}

static void beside_addr2line(const struct subject *subject, const uint64_t *addresses, size_t n)
{
	struct result r = bench(subject, addresses, n);
	double other = addr2line(subject->path, addresses, n);

	printf("%s_cold_2000_frames_per_s %.0f 1/s\n", subject->name, (double)r.n_frames / r.cold);
	if (other > 0)
		printf("%s_addr2line_2000_frames_per_s %.0f 1/s\n", subject->name,
		       (double)r.n_frames / other);
}

int main(int argc, char **argv)
{
	static uint64_t addresses[N_ADDRESSES];
	char self[4096] = "";
	struct subject subject = { self, "symbol", 0 };
	struct result r;
	size_t n;

	if (argc == 4)
		subject = (struct subject){ argv[1], argv[3], strtoul(argv[2], NULL, 10) << 20 };
	else if (argc != 1 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	n = pick(subject.path, addresses);
	r = n ? best(&subject, addresses, n) : (struct result){ 0 };
	if (!r.n_frames)
		return 1;
	printf("# %s: %zu addresses, %zu frames, %zu KiB\n", subject.path, n, r.n_frames,
	       r.memory / 1024);
	printf("%s_cold_inline_frames_per_s %.0f 1/s\n", subject.name, (double)r.n_frames / r.cold);
	printf("%s_warm_frames_per_s %.0f 1/s\n", subject.name, (double)r.n_frames / r.warm);
	if (subject.memory)
		printf("%s_memory_of_budget %.1f %%\n", subject.name,
		       100 * (double)r.peak / (double)subject.memory);
	else
		beside_addr2line(&subject, addresses, n < N_ADDR2LINE ? n : N_ADDR2LINE);
	return 0;
}
