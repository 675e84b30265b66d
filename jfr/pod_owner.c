// SPDX-License-Identifier: Apache-2.0
#include "jfr/pod_owner.h"

#include <string.h>

/* What k8s.io/apimachinery's util/rand draws from: no vowels and nothing that looks like one. A
   replica set's hash is a decimal number whose digits are mapped into it, so it has only ten. */
#define RANDOM_ALPHABET "bcdfghjklmnpqrstvwxz2456789"
#define HASH_ALPHABET "456789bcdf"
#define DIGITS "0123456789"

#define RANDOM_LEN 5
#define MIN_HASH_LEN 5
#define MAX_HASH_LEN 10
/* A cron job's minutes since 1970. */
#define MIN_MINUTES_LEN 8
#define MAX_MINUTES_LEN 10
#define MAX_ORDINAL_LEN 4

/* The length of what comes before "-" and min to max characters of an alphabet, 0: it does not. */
static size_t without(const char *name, size_t len, const char *alphabet, size_t min, size_t max)
{
	size_t n = 0;

	while (n < len && strchr(alphabet, name[len - n - 1]))
		n++;
	if (n < min || n > max || n + 1 >= len || name[len - n - 1] != '-')
		return 0;
	return len - n - 1;
}

struct pod_owner pod_owner_of(const char *pod)
{
	size_t all = strlen(pod), len = without(pod, all, RANDOM_ALPHABET, RANDOM_LEN, RANDOM_LEN);
	struct pod_owner owner = { .len = len, .is_random = len > 0 };

	if (!len) {
		owner.len = without(pod, all, DIGITS, 1, MAX_ORDINAL_LEN);
		return owner;
	}
	len = without(pod, owner.len, HASH_ALPHABET, MIN_HASH_LEN, MAX_HASH_LEN);
	owner.is_deployment = len > 0;
	if (!len)
		len = without(pod, owner.len, DIGITS, MIN_MINUTES_LEN, MAX_MINUTES_LEN);
	if (len)
		owner.len = len;
	return owner;
}
