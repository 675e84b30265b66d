/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts and names for a person's eyes: units, widths, colours, a pager. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A unit that suits a whole table, chosen by its largest amount. */
struct scale {
	double divisor;
	const char *suffix;
	int decimals;
};

struct scale scale_for(const char *unit, int64_t largest);
/* "1.23s" into out, which is returned. */
const char *scale_print(const struct scale *s, int64_t amount, char *out, size_t size);

/* Columns of the terminal behind fd: COLUMNS, or what it says; 0 is unlimited. */
int show_width(int fd);
/* Is fd a terminal that may be coloured (NO_COLOR, TERM=dumb)? */
bool show_colours(int fd);
/* Text of a target, made safe, cut to so many columns when width > 0. */
void show_name(const char *name, int width, FILE *out);

/* From here on stdout goes through PAGER, when it is a terminal. */
void pager_start(void);
/* Ends the output and waits until the pager is left. */
void pager_stop(void);

#endif
