/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weft doctor found: each finding is one line, with what to do about it where something can be
 * done. Files are read below a root, so that tests can show it other machines.
 */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process;
struct processes;

enum finding_level {
	FINDING_OK,
	FINDING_PART, /* weft works, something will be missing */
	FINDING_NO,   /* weft cannot profile */
};

struct finding {
	enum finding_level level;
	const char *name;
	char state[512]; /* what is; safe for a terminal */
	char fix[256];	 /* what to do; "" for nothing */
};

struct findings {
	struct finding *items;
	size_t n;
	bool has_failed; /* out of memory: some are missing */
};

/* A new one at the end, FINDING_OK, whose texts the caller writes; never NULL. */
struct finding *findings_add(struct findings *all, const char *name);
/* Sets the level and the texts. */
void finding_set(struct finding *f, enum finding_level level, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
enum finding_level findings_worst(const struct findings *all);
void findings_deinit(struct findings *all);

struct machine {
	const char *root;    /* "" is the real machine */
	bool is_real;	     /* system calls are tried too */
	unsigned int kernel; /* major * 1000 + minor; 0 unknown */
	uint64_t caps;	     /* effective ones */
};

/* Reads a small file below the root, without its line end; false when it is not there. */
bool machine_read(const struct machine *m, const char *path, char *out, size_t size);
/* A file that holds a number; fallback when it is not there. */
long machine_number(const struct machine *m, const char *path, long fallback);
/* What follows "KEY:" in a file of such lines, as in /proc/self/status. */
bool machine_field(const struct machine *m, const char *path, const char *key, char *out,
		   size_t size);
bool machine_has(const struct machine *m, const char *path);
bool machine_may(const struct machine *m, int capability);

void doctor_check_machine(struct findings *all, const char *root); /* kernel features */
void doctor_check_privileges(struct findings *all, const struct machine *m);
/* EXIT_OK, or EXIT_NO_TARGET when there is no such process (nothing is added then). all_binaries:
   not only the largest of them. */
int doctor_check_process(struct findings *all, pid_t pid, bool all_binaries);
/* The mappings of a process and the files in them. 0 or -ENOMEM. */
int doctor_check_binaries(struct findings *all, struct processes *ps, struct process *proc,
			  bool all_binaries);

#endif
