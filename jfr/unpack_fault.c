// SPDX-License-Identifier: Apache-2.0
#include "jfr/unpack_fault.h"

#include <stdarg.h>
#include <stdio.h>

int unpack_fault_set(struct unpack_fault *f, int err, uint64_t where, const char *fmt, ...)
{
	va_list args;

	if (f->err)
		return f->err;
	f->err = err;
	f->where = where;
	va_start(args, fmt);
	vsnprintf(f->reason, sizeof(f->reason), fmt, args);
	va_end(args);
	return err;
}
