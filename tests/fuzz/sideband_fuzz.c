// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>

#include "bpf/sideband.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process_event ev;
	uint64_t lost = 0;

	sideband_decode(data, size, &ev, &lost);
	return 0;
}
