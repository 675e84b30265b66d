/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the files that processes have mapped, when every path and link may be chosen by an
 * enemy: below the root of the process and never out of it, no device or FIFO ever opened for real,
 * and only a file that is the one the kernel's record names (device and inode).
 *
 * A root is where the paths of processes begin: a root directory in a mount namespace. Processes
 * hold references; its directory stays open as long as one does, so that the files of a process
 * that is gone can be opened still.
 */
#ifndef RUNTIMES_FILES_H
#define RUNTIMES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct intern;
struct mapping;
struct objects;
struct process;

struct root {
	struct root *next;
	uint32_t refs;
	uint32_t serial; /* never used again */
	uint64_t dev, ino, mount_ns;
	int fd; /* O_PATH */
};

struct files;

/* strings: the intern table that mappings' string ids are of; both are borrowed. */
struct files *files_new(struct objects *objects, const struct intern *strings);
void files_free(struct files *fs);
size_t files_memory(const struct files *fs);

/* The root a live process has now, as a reference; NULL: it is gone. */
struct root *files_root(struct files *fs, pid_t pid);
struct root *root_ref(struct root *root); /* NULL is fine in both */
void files_unref(struct files *fs, struct root *root);

/* Sets the object and bias of a mapping. 0; -ENOENT the file cannot be had any more; -ESTALE
   another file has its name; -ETXTBSY it was changed after the process ended; -EBADMSG, -ENOTSUP,
   -EINVAL it is no file to run. is_tried is set in any case. */
int files_open(struct files *fs, const struct process *proc, struct mapping *m);

#endif
