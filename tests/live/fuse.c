// SPDX-License-Identifier: Apache-2.0
/*
 * A file system in user space with one file, "program", as any user may mount one. Stopped, it
 *never answers.
 *
 *	fuse DEVICE DIR FILE		FILE appears as DIR/program, and is run as user 65534
 *	fuse DEVICE DIR FILE root	the same in a user namespace, with the file system as root
 *
 * Prints "program PID", then serves. Run it as root: it becomes user 65534.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534
#define NODE_FILE 2

static int device, file;
static uint64_t file_len;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void reply(uint64_t unique, int err, const void *data, size_t len)
{
	static struct {
		struct fuse_out_header h;
		uint8_t data[1 << 18];
	} out;

	out.h = (struct fuse_out_header){ (uint32_t)(sizeof(out.h) + len), -err, unique };
	if (len)
		memcpy(out.data, data, len);
	/* Whoever asked may have been killed. */
	if (write(device, &out, out.h.len) < 0 && errno != ENOENT)
		fail("reply");
}

static struct fuse_attr attr_of(uint64_t node)
{
	bool is_file = node == NODE_FILE;

	return (struct fuse_attr){ .ino = node,
				   .size = is_file ? file_len : 0,
				   .blocks = is_file ? file_len / 512 : 0,
				   .mode = is_file ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .nlink = 1,
				   .blksize = 4096 };
}

static void lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = { .nodeid = NODE_FILE, .attr = attr_of(NODE_FILE) };

	if (strcmp(name, "program"))
		reply(in->unique, ENOENT, NULL, 0);
	else
		reply(in->unique, 0, &out, sizeof(out));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *arg)
{
	static uint8_t buf[1 << 17];
	ssize_t len = pread(file, buf, arg->size < sizeof(buf) ? arg->size : sizeof(buf),
			    (off_t)arg->offset);

	reply(in->unique, len < 0 ? EIO : 0, buf, len < 0 ? 0 : (size_t)len);
}

static void answer(const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 4096, .max_write = 65536
	};
	struct fuse_attr_out attr = { .attr = attr_of(in->nodeid) };
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		lookup(in, (const char *)(in + 1));
		break;
	case FUSE_GETATTR:
		reply(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		read_file(in, (const struct fuse_read_in *)(in + 1));
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
	case FUSE_RELEASEDIR:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in->unique, ENOSYS, NULL, 0);
	}
}

static void serve(void)
{
	static union {
		struct fuse_in_header h;
		uint8_t bytes[1 << 18];
	} in;

	for (;;) {
		ssize_t len = read(device, &in, sizeof(in));

		if (len < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (len < (ssize_t)sizeof(in.h))
			exit(0);
		answer(&in.h);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

/* As a user without privileges does it. */
static void enter_namespaces(void)
{
	char map[32];

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_DUMPABLE, 1) ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNS))
		fail("unshare");
	snprintf(map, sizeof(map), "0 %d 1", NOBODY);
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/gid_map", map);
}

static void run_program(const char *dir, bool is_root)
{
	char path[4096];

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	if (!is_root && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(1);
	snprintf(path, sizeof(path), "%s/program", is_root ? "" : dir);
	if (is_root && (chdir(dir) || chroot(".")))
		fail("chroot");
	execl(path, path, NULL);
	fail("exec");
}

int main(int argc, char **argv)
{
	bool is_root = argc == 5;
	char options[128];
	struct stat st;
	pid_t pid;

	if (argc < 4)
		return 2;
	file = open(argv[3], O_RDONLY);
	if (file < 0 || fstat(file, &st))
		fail(argv[3]);
	file_len = (uint64_t)st.st_size;
	if (is_root)
		enter_namespaces();
	device = open(argv[1], O_RDWR | O_CLOEXEC);
	if (device < 0)
		fail(argv[1]);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d", device,
		 is_root ? 0 : NOBODY, is_root ? 0 : NOBODY);
	if (mount("fuse", argv[2], "fuse", MS_NOSUID | MS_NODEV, options))
		fail("mount");
	pid = fork();
	if (pid == 0)
		run_program(argv[2], is_root);
	printf("program %d\n", pid);
	fflush(stdout);
	serve();
	return 0;
}
