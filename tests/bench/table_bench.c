// SPDX-License-Identifier: Apache-2.0
/*
 * How fast unwind tables are built and how big they are.
 *	table_bench FILE...
 * Lines are `name value unit`.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/unit/cfi_elf.h"

#define N_ROUNDS 3 /* the fastest counts: the machine is shared */

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
	struct result total = { 0 }, slowest = { 0 };
	const char *path = "";

	for (int i = 1; i < argc; i++) {
		struct result r = { 0 };

		if (!bench_file(argv[i], &r))
			continue;
		total.cpu_s += r.cpu_s;
		total.n_rows += r.n_rows;
		total.n_words += r.n_words;
		if (r.cpu_s > slowest.cpu_s) {
			slowest = r;
			path = argv[i];
		}
	}
	if (total.n_rows == 0)
		return 1;
	print_total(&total, &slowest, path);
	return 0;
}
