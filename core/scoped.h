/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scoped cleanup: a variable declared with SCOPED(fn) is handed to scoped_fn() when it leaves its
 * block. TAKE(p) moves the value out, so that the cleanup finds NULL.
 *
 *	SCOPED(free) char *line = NULL;
 *	return TAKE(line);
 */
#ifndef CORE_SCOPED_H
#define CORE_SCOPED_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCOPED(fn) __attribute__((cleanup(scoped_##fn)))

#define TAKE(p)                           \
	({                                \
		__auto_type taken_ = (p); \
		(p) = NULL;               \
		taken_;                   \
	})

/* The same for file descriptors, whose "none" is -1. */
#define TAKE_FD(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

/* Defines scoped_fn() for a destructor that takes a pointer and accepts NULL. */
#define SCOPED_DEFINE(type, fn)                  \
	static inline void scoped_##fn(type **p) \
	{                                        \
		fn(*p);                          \
	}

static inline void scoped_free(void *p)
{
	free(*(void **)p);
}

static inline void scoped_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void scoped_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void scoped_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#endif
