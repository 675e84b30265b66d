/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weft may do that its user may not: capabilities of the file, or root by sudo. Sampling needs
 * them; nothing else may use them, and what was seen with them is not for everybody.
 */
#ifndef CORE_PRIVILEGES_H
#define CORE_PRIVILEGES_H

#include <stdbool.h>

/* Gives up, for good, the capabilities that the program's file gave to somebody who is not root.
   0 or -errno. */
int privileges_drop(void);
/* Is weft root, or has it any capability? */
bool privileges_any(void);
/* Why the kernel does not let weft look into a process: what follows "cannot be read: ". */
const char *privileges_why_refused(void);
/* Gives an open file to the user who ran weft through sudo, if one did. */
void privileges_hand_over(int fd);

#endif
