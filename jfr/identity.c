// SPDX-License-Identifier: Apache-2.0
#include "jfr/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

void batch_name(const struct chunk_key *key, uint64_t from, char out[BATCH_NAME_MAX])
{
	const uint64_t words[] = { key->start_ns, key->start_ticks, key->fingerprint };
	time_t seconds = (time_t)(key->start_ns / UINT64_C(1000000000));
	char start[32] = "", bytes[sizeof(words)];
	struct tm tm;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(words[i / 8] >> 8 * (i % 8));
	if (gmtime_r(&seconds, &tm))
		strftime(start, sizeof(start), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(out, BATCH_NAME_MAX, "%s-%016" PRIx64 "-%012" PRIx64, start,
		 identity_hash(bytes, sizeof(bytes)), from);
}
