// SPDX-License-Identifier: Apache-2.0
/*
 * Programs whose file is gone before anybody can look at it. `gone HOW N FILE...` runs each FILE N
 * times (it is this program again, linked with another build id) so that nothing leads to it:
 *
 *	unlink	from a copy that deletes itself first of all
 *	memfd	from memory
 *	mount	from a mount namespace of its own, which ends with it
 *
 * What is run works for 30 ms under the name "idaX", X being the last character of FILE: the test
 * gives it a build id of bytes 0xaX. WAIT=1 waits before each round, and after it, until a line
 *comes on standard input.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 30000000

static __attribute__((noinline)) void work(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

/* A thread's name is the first thing of it that a sample has. */
static int be_the_program(const char *path, const char *id)
{
	struct timespec t;

	prctl(PR_SET_NAME, id);
	if (*path)
		unlink(path);
	do {
		work();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec == 0 && t.tv_nsec < WORK_NS);
	return 0;
}

static void copy_to(int out, const char *file)
{
	int in = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (in < 0 || fstat(in, &st) || sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size)
		_exit(1);
	close(in);
}

static void run_copy(const char *dir, const char *file, const char *id)
{
	char path[4096];
	int out;

	snprintf(path, sizeof(path), "%s/copy", dir);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (out < 0)
		_exit(1);
	copy_to(out, file);
	close(out);
	execl(path, "work", path, id, NULL);
	_exit(1);
}

static void run_in_memory(const char *file, const char *id)
{
	char *args[] = { "work", "", (char *)id, NULL };
	int out = memfd_create("copy", MFD_CLOEXEC);

	if (out < 0)
		_exit(1);
	copy_to(out, file);
	fexecve(out, args, environ);
	_exit(1);
}

static void run_in_mount(const char *dir, const char *file, const char *id)
{
	char path[4096], name[4200];
	int out;

	snprintf(path, sizeof(path), "%s/mount", dir);
	mkdir(path, 0700);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, NULL))
		_exit(1);
	snprintf(name, sizeof(name), "%s/copy", path);
	out = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (out < 0)
		_exit(1);
	copy_to(out, file);
	close(out);
	execl(name, "work", "", id, NULL);
	_exit(1);
}

static void run(const char *how, const char *dir, const char *file)
{
	pid_t pid = fork();
	char id[16];
	int status;

	if (pid == 0) {
		snprintf(id, sizeof(id), "ida%c", file[strlen(file) - 1]);
		if (!strcmp(how, "memfd"))
			run_in_memory(file, id);
		else if (!strcmp(how, "mount"))
			run_in_mount(dir, file, id);
		else
			run_copy(dir, file, id);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void wait_for_line(const char *said)
{
	char line[16];

	if (!getenv("WAIT"))
		return;
	puts(said);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("DIR");

	if (!strcmp(argv[0], "work"))
		return be_the_program(argv[1], argv[2]);
	if (argc < 4 || !dir)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		wait_for_line("ready");
		for (int f = 3; f < argc; f++)
			run(argv[1], dir, argv[f]);
		wait_for_line("done");
	}
	return 0;
}
