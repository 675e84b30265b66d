// SPDX-License-Identifier: Apache-2.0
#include "core/unfinished.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static atomic_bool is_set; /* the rest counts only while it is true */
static int directory;
static char file[UNFINISHED_NAME_MAX];

void unfinished_set(int dir, const char name[UNFINISHED_NAME_MAX])
{
	atomic_store(&is_set, false);
	directory = dir;
	memcpy(file, name, sizeof(file));
	atomic_store(&is_set, true);
}

void unfinished_clear(void)
{
	atomic_store(&is_set, false);
}

void unfinished_unlink(void)
{
	if (atomic_load(&is_set))
		unlinkat(directory, file, 0);
}
