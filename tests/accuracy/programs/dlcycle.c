// SPDX-License-Identifier: Apache-2.0
/*
 * Loads one of several libraries, uses it, unloads it, goes on with the next: they land on the same
 * addresses, so a name is only right with the mapping that was there at the time.
 * Arguments: CPU seconds, then the libraries (built from dlpart.c, each with names of its own).
 */
#include <dlfcn.h>
#include <stdint.h>

#include "truth.h"

static int reused;

FRAME void use(void (*entry)(void))
{
	entry();
	NOT_TAIL();
}

FRAME void cycle(const char *path)
{
	static uintptr_t last;
	void *lib = dlopen(path, RTLD_NOW);
	void (*entry)(void) = lib ? (void (*)(void))dlsym(lib, "part_entry") : NULL;
	const char *legal = lib ? *(const char **)dlsym(lib, "part_legal") : NULL;

	if (!entry || !legal)
		abort();
	reused += (uintptr_t)entry == last;
	last = (uintptr_t)entry;
	legal = strdup(legal);
	TIMED(legal, use(entry));
	dlclose(lib);
}

FRAME void run(double seconds, int n, char **libs)
{
	double end = truth_clock() + seconds;

	truth_add("main;run;cycle(;{plt}|;{runtime})?", 0);
	for (int i = 0; truth_clock() < end; i++)
		cycle(libs[i % n]);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	run(truth_seconds(argc, argv), argc - 2, argv + 2);
	truth_print();
	printf("note reused %d\n", reused);
	return 0;
}
