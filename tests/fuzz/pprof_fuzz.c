// SPDX-License-Identifier: Apache-2.0
/* A pprof file. The corpus: what Go's runtime/pprof and weft itself wrote, unpacked and packed. */
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "exporter/pprof_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new();
	struct pprof_report report;

	pprof_sniff(data, size);
	pprof_decode(data, size, p, &report);
	profile_free(p);
	return 0;
}
