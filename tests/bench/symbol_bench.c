// SPDX-License-Identifier: Apache-2.0
/*
 * How fast addresses become names, with lines and inlined calls: over this program itself or the
 * ELF file given. Cold is the first question for each address, everything that has to be opened and
 * built included; warm is the same again. Lines are `name value unit`.
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

static size_t symbolize(struct object *o, const uint64_t *addresses, size_t n, struct profile *p)
{
	struct line lines[MAX_INLINE_DEPTH];
	size_t n_frames = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t flags = 0;

		n_frames += object_symbolize(o, addresses[i], p, lines, MAX_INLINE_DEPTH, &flags);
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

static double bench(const char *path, const uint64_t *addresses, size_t n, double *warm,
		    size_t *n_frames, size_t *memory)
{
	struct objects *os = objects_new(NULL);
	struct profile *p = profile_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	double start = cpu_now(), cold;
	struct object *o = objects_get(os, fd, path, -1, &err);

	*n_frames = o ? symbolize(o, addresses, n, p) : 0;
	cold = cpu_now() - start;
	start = cpu_now();
	for (int i = 0; o && i < N_WARM_ROUNDS; i++)
		symbolize(o, addresses, n, p);
	*warm = (cpu_now() - start) / N_WARM_ROUNDS;
	*memory = objects_memory(os);
	close(fd);
	objects_free(os);
	profile_free(p);
	return cold;
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

int main(int argc, char **argv)
{
	static uint64_t addresses[N_ADDRESSES];
	char self[4096] = "";
	const char *path = argc > 1 ? argv[1] : self;
	double best_cold = 0, best_warm = 0, warm, cold, other;
	size_t n, n_frames = 0, memory = 0, n_other;

	if (argc < 2 && readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	n = pick(path, addresses);
	for (int i = 0; n && i < N_COLD_ROUNDS; i++) {
		cold = bench(path, addresses, n, &warm, &n_frames, &memory);
		best_cold = !i || cold < best_cold ? cold : best_cold;
		best_warm = !i || warm < best_warm ? warm : best_warm;
	}
	if (!n_frames)
		return 1;
	printf("# %s: %zu addresses, %zu frames, %zu KiB\n", path, n, n_frames, memory / 1024);
	printf("symbol_cold_inline_frames_per_s %.0f 1/s\n", (double)n_frames / best_cold);
	printf("symbol_warm_frames_per_s %.0f 1/s\n", (double)n_frames / best_warm);
	n_other = n < N_ADDR2LINE ? n : N_ADDR2LINE;
	cold = bench(path, addresses, n_other, &warm, &n_frames, &memory);
	printf("symbol_cold_2000_frames_per_s %.0f 1/s\n", (double)n_frames / cold);
	other = addr2line(path, addresses, n_other);
	if (other > 0)
		printf("symbol_addr2line_2000_frames_per_s %.0f 1/s\n", (double)n_frames / other);
	return 0;
}
