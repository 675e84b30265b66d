// SPDX-License-Identifier: Apache-2.0
/* A library of dlcycle.c. PART names its functions; the layout is the same in all of them. */
#include "spin.h"

#define GLUE2(a, b) a##b
#define GLUE(a, b) GLUE2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

void part_entry(void);

const char *const part_legal =
	"main;run;cycle;use;part_entry;" TEXT(PART) "_outer;" TEXT(PART) "_leaf";

FRAME void GLUE(PART, _leaf)(void)
{
	SPIN(3000000);
}

FRAME void GLUE(PART, _outer)(void)
{
	GLUE(PART, _leaf)();
	NOT_TAIL();
}

void part_entry(void)
{
	GLUE(PART, _outer)();
	NOT_TAIL();
}
