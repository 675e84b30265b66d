// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cmd/verb.h"

static int version_run(const struct options *opt)
{
	(void)opt;
	puts("weft " WEFT_VERSION);
	return EXIT_OK;
}

const struct verb verb_version = {
	.bit = ON_VERSION,
	.name = "version",
	.synopsis = "",
	.summary = "print the version",
	.description = "Prints weft's version.",
	.run = version_run,
};
