// SPDX-License-Identifier: Apache-2.0
/*
 * How fast unwind tables are built and how big they are: over the largest ELF files of the machine,
 * or over the files given. Lines are `name value unit`.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/cfi_elf.h"

#define N_LARGEST 6
#define N_ROUNDS 3 /* the fastest counts: the machine is shared */

struct file {
	char path[512];
	off_t size;
};

struct result {
	double cpu_s;
	size_t n_rows, n_words;
};

static double cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Keeps the largest files, the largest first. */
static void keep(struct file *largest, const char *path, off_t size)
{
	size_t i = N_LARGEST;

	if (size <= largest[N_LARGEST - 1].size)
		return;
	while (i > 0 && largest[i - 1].size < size)
		i--;
	memmove(&largest[i + 1], &largest[i], (N_LARGEST - 1 - i) * sizeof(*largest));
	snprintf(largest[i].path, sizeof(largest[i].path), "%s", path);
	largest[i].size = size;
}

static void look_for(struct file *largest, const char *pattern)
{
	struct stat st;
	glob_t found;

	if (glob(pattern, GLOB_NOSORT | GLOB_TILDE, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (lstat(found.gl_pathv[i], &st) == 0 && S_ISREG(st.st_mode))
			keep(largest, found.gl_pathv[i], st.st_size);
	globfree(&found);
}

static long peak_kb(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_maxrss;
}

static bool build_once(const struct cfi_elf *e, struct result *r)
{
	double start = cpu_now();
	struct unwind_table t;

	if (cfi_build(&e->in, &t))
		return false;
	start = cpu_now() - start;
	if (r->cpu_s == 0 || start < r->cpu_s)
		r->cpu_s = start;
	r->n_rows = t.words[2];
	r->n_words = t.n_words;
	unwind_table_deinit(&t);
	return true;
}

static bool bench_file(const char *path, struct result *r)
{
	struct cfi_elf e;
	bool ok = cfi_elf_open(&e, path);

	for (int i = 0; ok && i < N_ROUNDS; i++)
		ok = build_once(&e, r);
	if (ok)
		printf("# %s: %zu rows in %.3f s, %.2f bytes a row, peak of the process %ld KB\n",
		       path, r->n_rows, r->cpu_s, 4.0 * (double)r->n_words / (double)r->n_rows,
		       peak_kb());
	if (e.elf)
		cfi_elf_close(&e);
	return ok;
}

static void print_total(const struct result *total, const struct result *slowest, const char *path)
{
	printf("table_rows_per_s %.0f 1/s\n", (double)total->n_rows / total->cpu_s);
	printf("table_bytes_per_row %.2f B\n",
	       4.0 * (double)total->n_words / (double)total->n_rows);
	printf("# the longest build: %s\n", path);
	printf("table_largest_build_cpu_s %.3f s\n", slowest->cpu_s);
}

int main(int argc, char **argv)
{
	struct file largest[N_LARGEST + 1] = { 0 };
	struct result total = { 0 }, slowest = { 0 };
	const char *path = "";

	look_for(largest, "/usr/lib/*-linux-gnu/*.so*");
	look_for(largest, "/usr/lib/llvm-*/lib/*.so*");
	look_for(largest, "/usr/lib/jvm/*/lib/server/*.so");
	look_for(largest, "~/.rustup/toolchains/*/lib/*");
	for (int i = 0; i < (argc > 1 ? argc - 1 : N_LARGEST); i++) {
		const char *file = argc > 1 ? argv[i + 1] : largest[i].path;
		struct result r = { 0 };

		if (!file[0] || !bench_file(file, &r))
			continue;
		total.cpu_s += r.cpu_s;
		total.n_rows += r.n_rows;
		total.n_words += r.n_words;
		if (r.cpu_s > slowest.cpu_s) {
			slowest = r;
			path = file;
		}
	}
	if (total.n_rows == 0)
		return 1;
	print_total(&total, &slowest, path);
	return 0;
}
