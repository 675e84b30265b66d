/* SPDX-License-Identifier: Apache-2.0 */
/* The capabilities that weft uses, and what does not work without one: for doctor and record. */
#ifndef CMD_CAPABILITIES_H
#define CMD_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capability {
	int number;
	const char *name;
	bool is_must;	     /* nothing can be sampled without it */
	const char *without; /* what does not work then */
};

const struct capability *capabilities_used(size_t *n);
/* Is it among these effective ones, itself or by CAP_SYS_ADMIN? */
bool capability_is_in(const struct capability *c, uint64_t effective);
/* Says in one line which of this process's are missing though weft works without them, and what
   that costs; nothing when there is nothing to say. */
void capabilities_say_missing(void);

#endif
