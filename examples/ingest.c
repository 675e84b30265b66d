// SPDX-License-Identifier: Apache-2.0
/*
 * A small service to try weft on: one thread makes log lines, one counts their words, one compresses
 * them, one sorts what was counted. Runs for the given number of seconds (default 10).
 */
#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define N_LINES 4096
#define LINE_LEN 128
#define N_BUCKETS 8192

struct word {
	char text[24];
	unsigned long n;
};

static char lines[N_LINES][LINE_LEN];
static struct word words[N_BUCKETS];
static atomic_bool is_stopped;

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

static void make_line(char *line, uint32_t *state)
{
	static const char *const verbs[] = { "GET", "PUT", "POST", "DELETE" };
	uint32_t r = next_random(state);

	snprintf(line, LINE_LEN, "%s /item/%u/part%u status=%u took=%ums user%u", verbs[r & 3],
		 r >> 20, r >> 28, 200 + r % 5 * 100, r % 977, r % 1013);
}

static uint32_t hash_word(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}

static void count_word(const char *s, size_t len)
{
	uint32_t i = hash_word(s, len) % N_BUCKETS;

	if (len >= sizeof(words[0].text))
		len = sizeof(words[0].text) - 1;
	for (int probes = 0; probes < 16; probes++, i = (i + 1) % N_BUCKETS) {
		if (!words[i].n)
			memcpy(words[i].text, s, len);
		if (!strncmp(words[i].text, s, len)) {
			words[i].n++;
			return;
		}
	}
}

static void count_line(const char *line)
{
	const char *start = line;

	for (const char *p = line;; p++) {
		if (*p && !isspace((unsigned char)*p) && *p != '/')
			continue;
		if (p > start)
			count_word(start, (size_t)(p - start));
		if (!*p)
			return;
		start = p + 1;
	}
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->text, y->text);
}

static void *produce(void *arg)
{
	uint32_t state = 42;

	pthread_setname_np(pthread_self(), "producer");
	for (size_t i = 0; !is_stopped; i++) {
		make_line(lines[i % N_LINES], &state);
		if (i % 1024 == 0)
			usleep(500);
	}
	return arg;
}

static void *count(void *arg)
{
	pthread_setname_np(pthread_self(), "counter");
	for (size_t i = 0; !is_stopped; i++) {
		count_line(lines[i % N_LINES]);
		if (i % 4096 == 0)
			usleep(1000);
	}
	return arg;
}

static void *compress_lines(void *arg)
{
	static unsigned char out[sizeof(lines) + 65536];

	pthread_setname_np(pthread_self(), "compressor");
	while (!is_stopped) {
		uLongf len = sizeof(out);

		compress2(out, &len, (const unsigned char *)lines, sizeof(lines), 6);
		usleep(5000);
	}
	return arg;
}

static void *sort_words(void *arg)
{
	static struct word sorted[N_BUCKETS];

	pthread_setname_np(pthread_self(), "sorter");
	while (!is_stopped) {
		memcpy(sorted, words, sizeof(sorted));
		qsort(sorted, N_BUCKETS, sizeof(sorted[0]), by_count);
		usleep(10000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	void *(*const jobs[])(void *) = { produce, count, compress_lines, sort_words };
	pthread_t threads[4];
	unsigned int seconds = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 10;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, jobs[i], NULL))
			return 1;
	sleep(seconds);
	is_stopped = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
