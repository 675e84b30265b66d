// SPDX-License-Identifier: Apache-2.0
/* A pprof file, written again in every format. The corpus is that of pprof, unpacked only. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/profile.h"
#include "exporter/exporter.h"
#include "exporter/gzip.h"
#include "exporter/pprof_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_report report;
	struct profile *p;
	FILE *out;

	if (gzip_sniff(data, size))
		return 0;
	p = profile_new();
	out = fopen("/dev/null", "w");
	pprof_decode(data, size, p, &report);
	for (size_t i = 0; exporters[i]; i++)
		exporters[i]->write(p, out);
	fclose(out);
	profile_free(p);
	return 0;
}
