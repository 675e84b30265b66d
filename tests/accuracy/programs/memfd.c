// SPDX-License-Identifier: Apache-2.0
/* Runs from a file that has no name: copies itself into a memfd and executes that. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "truth.h"

FRAME void nameless_leaf(void)
{
	SPIN(3000000);
}

FRAME void nameless(void)
{
	nameless_leaf();
	NOT_TAIL();
}

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end)
		TIMED("main;run;nameless;nameless_leaf", nameless());
}

static void become_nameless(char **argv)
{
	char *args[] = { (char *)"memfd", argv[1], NULL };
	int from = open("/proc/self/exe", O_RDONLY);
	int to = memfd_create("program", MFD_CLOEXEC);
	off_t size = lseek(from, 0, SEEK_END);

	lseek(from, 0, SEEK_SET);
	while (size > 0) {
		ssize_t n = sendfile(to, from, NULL, (size_t)size);

		if (n <= 0)
			_exit(1);
		size -= n;
	}
	fexecve(to, args, environ);
	_exit(1);
}

int main(int argc, char **argv)
{
	if (strcmp(argv[0], "memfd"))
		become_nameless(argv);
	run(truth_seconds(argc, argv));
	truth_print();
	return 0;
}
