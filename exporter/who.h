/* SPDX-License-Identifier: Apache-2.0 */
/* Whose sample it is: the labels that the live source gives, and the program a stack runs in. */
#ifndef EXPORTER_WHO_H
#define EXPORTER_WHO_H

#include <stdbool.h>
#include <stdint.h>

struct label;
struct profile;

/* Comparable as bytes. Strings are ids; 0 is unknown, as is pid and tid 0. */
struct who {
	int64_t pid, tid;
	uint32_t process, thread, container;
	uint32_t zero; /* always 0 */
};

struct who who_of(const struct profile *p, uint32_t labels);
/* Is it one of the labels that make a struct who? */
bool who_has(const struct profile *p, const struct label *l);

/* A mapping that is a program: no library, kernel, vdso or anonymous memory. */
bool mapping_is_program(const struct profile *p, uint32_t mapping);
/* The mapping of the outermost frame that is in a program; 0 when there is none. */
uint32_t stack_program(const struct profile *p, uint32_t stack);

#endif
