// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_copy.h"

#include <errno.h>
#include <string.h>

static int copy_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	const struct wire_python_code *code = ((struct python_copy *)m)->code;
	const uint8_t *const bytes[N_CODE_PARTS] = { code->object, code->name, code->file,
						     code->lines };

	for (size_t i = 0; i < N_CODE_PARTS; i++) {
		uint64_t at = addr - code->parts[i].addr;

		if (at <= code->parts[i].len && len <= code->parts[i].len - at) {
			memcpy(buf, bytes[i] + at, len);
			return 0;
		}
	}
	return -EFAULT;
}

static void copy_free(struct mem *m)
{
	(void)m;
}

void python_copy_init(struct python_copy *c, const struct wire_python_code *code)
{
	static const struct mem_ops ops = { .read = copy_read, .free = copy_free };

	*c = (struct python_copy){ { &ops }, code };
}
