// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_layout.h"

#include <errno.h>

#include "runtimes/python_layout_derive.h"

#define N_TABLES 7 /* 3.6 to 3.12 */
#define OLDEST 6   /* minor version */

/* x86-64. All of it is tested against debug information of real interpreters. */
static const struct {
	uint16_t to, value[N_TABLES];
} rows[] = {
	/*                            3.6   3.7   3.8  3.9 3.10 3.11  3.12 */
	{ AT(runtime.finalizing), { 0, 8, 16, 16, 16, 24, 24 } },
	{ AT(runtime.interpreters_head), { 0, 24, 32, 32, 32, 40, 40 } },
	{ AT(runtime.tstate_current), { 0, 1480, 1368, 568, 568, 576, 0 } },
	{ AT(runtime.tss_key), { 0, 1508, 1396, 588, 588, 596, 1548 } },
	{ AT(runtime.gil), { 0, 1264, 1152, 352, 352, 360, 0 } },

	{ AT(interp.next), { 0, 0, 0, 0, 0, 0, 0 } },
	{ AT(interp.id), { 0, 16, 16, 24, 24, 48, 8 } },
	{ AT(interp.threads_head), { 8, 8, 8, 8, 8, 16, 72 } },
	{ AT(interp.gil), { 0, 0, 0, 0, 0, 0, 384 } },
	{ AT(interp.modules), { 16, 40, 56, 856, 856, 888, 944 } },

	{ AT(thread.next), { 8, 8, 8, 8, 8, 8, 8 } },
	{ AT(thread.interp), { 16, 16, 16, 16, 16, 16, 16 } },
	{ AT(thread.frame), { 24, 24, 24, 24, 24, 0, 0 } },
	{ AT(thread.cframe), { 0, 0, 0, 0, 48, 56, 56 } },
	{ AT(thread.thread_id), { 152, 176, 176, 176, 176, 152, 136 } },
	{ AT(thread.native_thread_id), { 0, 0, 0, 0, 0, 160, 144 } },
	{ AT(thread.status), { 0, 0, 0, 0, 0, 0, 24 } },
	{ AT(thread.context), { 0, 256, 240, 240, 240, 224, 208 } },

	{ AT(cframe.current_frame), { 0, 0, 0, 0, 0, 8, 0 } },
	{ AT(cframe.previous), { 0, 0, 0, 0, 8, 16, 8 } },

	{ AT(frame.size), { 128, 112, 112, 112, 104, 72, 72 } },
	{ AT(frame.code), { 32, 32, 32, 32, 32, 32, 0 } },
	{ AT(frame.previous), { 24, 24, 24, 24, 24, 48, 8 } },
	{ AT(frame.instr), { 120, 104, 104, 104, 96, 56, 56 } },
	{ AT(frame.owner), { 0, 0, 0, 0, 0, 69, 70 } },
	{ AT(frame.is_entry), { 0, 0, 0, 0, 0, 68, 0 } },
	{ AT(frame.localsplus), { 376, 360, 360, 360, 352, 72, 72 } },

	{ AT(code.size), { 120, 120, 128, 128, 128, 144, 144 } },
	{ AT(code.argcount), { 16, 16, 16, 16, 16, 56, 52 } },
	{ AT(code.flags), { 32, 32, 36, 36, 36, 48, 48 } },
	{ AT(code.first_line), { 36, 36, 40, 40, 40, 72, 68 } },
	{ AT(code.filename), { 96, 96, 104, 104, 104, 112, 112 } },
	{ AT(code.name), { 104, 104, 112, 112, 112, 120, 120 } },
	{ AT(code.qualname), { 0, 0, 0, 0, 0, 128, 128 } },
	{ AT(code.linetable), { 112, 112, 120, 120, 120, 136, 136 } },
	{ AT(code.code), { 40, 40, 48, 48, 48, 184, 192 } },

	{ AT(object.type), { 8, 8, 8, 8, 8, 8, 8 } },
	{ AT(object.size), { 16, 16, 16, 16, 16, 16, 16 } },
	{ AT(str.length), { 16, 16, 16, 16, 16, 16, 16 } },
	{ AT(str.state), { 32, 32, 32, 32, 32, 32, 32 } },
	{ AT(str.ascii_header), { 48, 48, 48, 48, 48, 48, 40 } },
	{ AT(str.compact_header), { 72, 72, 72, 72, 72, 72, 56 } },
	{ AT(bytes.size), { 16, 16, 16, 16, 16, 16, 16 } },
	{ AT(bytes.data), { 32, 32, 32, 32, 32, 32, 32 } },
	{ AT(tuple.size), { 16, 16, 16, 16, 16, 16, 16 } },
	{ AT(tuple.items), { 24, 24, 24, 24, 24, 24, 24 } },
	{ AT(integer.tag), { 16, 16, 16, 16, 16, 16, 16 } },
	{ AT(integer.digits), { 24, 24, 24, 24, 24, 24, 24 } },
	{ AT(type.name), { 24, 24, 24, 24, 24, 24, 24 } },
};

/* What the machine or a patch release has elsewhere. */
static void adjust(struct python_layout *l)
{
	bool is_early_37 = l->version >> 16 == 0x307 && (l->version >> 8 & 0xff) < 4;

	if (is_early_37) {
		l->runtime.tstate_current -= 88;
		l->runtime.tss_key -= 88;
		l->runtime.gil = 0; /* not known */
	}
#ifdef __aarch64__
	/* The GIL's two mutexes are 8 bytes longer. */
	if (l->runtime.tstate_current) {
		l->runtime.tstate_current += 16;
		l->runtime.tss_key += 16;
	} else {
		l->runtime.tss_key = 0; /* 3.12: nobody has looked yet */
	}
#endif
}

int python_layout_of_version(uint32_t version, bool is_free_threaded, struct python_layout *out)
{
	unsigned int minor = PYTHON_MINOR(version);
	struct python_layout l = { .version = version };

	if (version >> 24 != 3 || minor < OLDEST || minor >= OLDEST + N_TABLES ||
	    is_free_threaded || !python_layout_is_settled(version))
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		*python_layout_field(&l, rows[i].to) = rows[i].value[minor - OLDEST];
	adjust(&l);
	if (!python_layout_derive(&l))
		return -ENOTSUP;
	*out = l;
	return 0;
}
