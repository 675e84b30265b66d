/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile says about itself: where ticks went and how walks ended, summed up for people. */
#ifndef CMD_ACCOUNTING_H
#define CMD_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct profile;

struct accounting {
	bool is_known;	     /* the profile carries counts; those of other tools do not */
	uint64_t sampled;    /* ticks that became samples */
	uint64_t lost;	     /* ticks that should have */
	uint64_t walks;	     /* stacks whose end is known */
	uint64_t complete;   /* of these, the ones that reached their root */
	uint64_t bytes_lost; /* of recordings that are damaged: whatever was in them */
};

struct accounting accounting_of(const struct profile *p);
/* The same from counters by enum counter, while a recording runs. */
struct accounting accounting_of_counters(const uint64_t *counters);
double accounting_complete_percent(const struct accounting *a); /* 100 without walks */
double accounting_lost_percent(const struct accounting *a);	/* 0 without ticks */
/* "98.9% complete · 0 lost", or nothing when it is not known; behind it the bytes that are. */
void accounting_print(const struct accounting *a, FILE *out);
/* " · 23 stacks deeper than the JVM records": of a JVM's stacks, those that are not whole. */
void accounting_print_broken(const struct profile *p, FILE *out);
/* Every count that is not 0, with what it means, a line each. */
void accounting_print_all(const struct profile *p, FILE *out);

#endif
