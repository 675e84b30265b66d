// SPDX-License-Identifier: Apache-2.0
/* Call frame information: the bytes as .eh_frame or as .debug_frame, into a table and one full row.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "unwinders/cfi.h"
#include "unwinders/cfi_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int is_debug = 0; is_debug < 2; is_debug++) {
		struct cfi_section section = { data, size, 0x100000 };
		struct cfi_input in = { .text_vaddr = 0x1000, .max_words = 1 << 20 };
		uint32_t budget = 1000;
		struct unwind_table t;
		struct cfi_row row;

		if (is_debug)
			in.debug_frame = section;
		else
			in.eh_frame = section;
		in.eh_frame_hdr = section;
		if (cfi_build(&in, &t) == 0) {
			if (!unwind_table_is_valid(&t))
				abort();
			unwind_table_deinit(&t);
		}
		cfi_row_find(&in, 0x1003, &budget, &row);
	}
	return 0;
}
