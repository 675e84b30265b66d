/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of recordings in a profile: which ids they have there, and what they refer to. */
#ifndef JFR_STACK_IDS_H
#define JFR_STACK_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct java_stack;
struct profile;

#define N_CACHED_LOCATIONS 8192
#define STACK_NAME_MAX 8192 /* of a method with its class and descriptor; longer ones are cut */

/* Frames that many stacks have in common are looked up once. */
struct cached_location {
	uint32_t function, line, location; /* location 0: free */
	uint16_t kind;
};

/* Methods come again in each chunk. */
struct made_function {
	uint32_t function; /* 0: none yet */
	uint64_t of;	   /* what else it was made of */
};

struct stack_ids { /* all zero at first, but for: */
	struct profile *p;
	bool keeps_hidden; /* frames that the JVM itself hides */
	struct cached_location locations_made[N_CACHED_LOCATIONS];
	struct made_function *functions; /* by the ids of their system names */
	size_t n_functions, functions_cap;
	uint32_t *locations; /* room for a stack */
	size_t locations_cap;
	char text[STACK_NAME_MAX];
};

void stack_ids_deinit(struct stack_ids *s);
/* 0: no memory. The ids are kept with the names (names_forget()). */
uint32_t stack_ids_of(struct stack_ids *s, struct java_stack *stack);
/* Of what stands for a stack: "[no stack]". */
uint32_t stack_ids_of_mark(struct stack_ids *s, const char *name);

#endif
