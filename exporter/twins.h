/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of Python that share their name with one of another file ("main", "<module>"): where
 * names are all that tells frames apart, these say their file, too.
 */
#ifndef EXPORTER_TWINS_H
#define EXPORTER_TWINS_H

#include <stdint.h>

struct frame;
struct profile;

struct twins { /* all zero: nobody is one */
	/* By the string of a name: how many parts of their paths tell files apart; 0: there is one
	 */
	uint8_t *parts;
	uint32_t n;
};

/* 0 or -ENOMEM. */
int twins_find(struct twins *t, const struct profile *p);
void twins_deinit(struct twins *t);
/* The name of a frame, "main (api/server.py)" of a twin; as long as f->name and f. */
const char *twins_name(const struct twins *t, const struct profile *p, struct frame *f);

#endif
