// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_gil.h"

/* Up to 3.11 a process has one GIL, and 3.6 has its parts as variables of their own, of which the
   condition variable is where nearly all waits are. */
void python_gil_set(const struct python_image *image, uint64_t bias, struct python_process *out)
{
	const struct python_layout *l = &image->layout;
	uint64_t runtime = image->runtime + bias;

	out->gil_wait = PYTHON_GIL_COND;
	out->gil_wait_len = PYTHON_GIL_LEN - PYTHON_GIL_COND;
	if (l->interp.gil) {
		out->interp_gil = l->interp.gil;
	} else if (l->runtime.gil) {
		out->gil = runtime + l->runtime.gil;
	} else if (image->gil_cond) {
		out->gil = image->gil_cond + bias - PYTHON_GIL_COND;
		out->gil_wait_len = PYTHON_GIL_COND_END - PYTHON_GIL_COND;
	}
}
