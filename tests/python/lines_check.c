// SPDX-License-Identifier: Apache-2.0
/*
 * Compares python_line() with what an interpreter says of its own code: reads the records of
 * lines_dump.py, prints how many there were and how many lines were wrong.
 *
 *	lines_check MINOR <records
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/reader.h"
#include "core/scoped.h"
#include "runtimes/python_lines.h"

#define MAX_TABLE (16u << 20)

struct record {
	uint32_t first_line, table_len, n_units;
	uint8_t *bytes; /* the table, then the lines */
};

/* 1: a record, 0: no more. */
static int record_next(FILE *in, struct record *rec)
{
	uint8_t head[12];
	struct reader r;
	size_t len, n = fread(head, 1, sizeof(head), in);

	if (n == 0)
		return 0;
	reader_init(&r, head, n);
	rec->first_line = reader_u32(&r, "first line");
	rec->table_len = reader_u32(&r, "table length");
	rec->n_units = reader_u32(&r, "code units");
	if (reader_error(&r) || rec->table_len > MAX_TABLE || rec->n_units > MAX_TABLE)
		return -EBADMSG;
	len = rec->table_len + 4 * (size_t)rec->n_units;
	free(rec->bytes);
	rec->bytes = malloc(len + 1);
	if (!rec->bytes)
		return -ENOMEM;
	return fread(rec->bytes, 1, len, in) == len ? 1 : -EBADMSG;
}

static enum python_lines format_of(int minor)
{
	return minor < 10 ? PYTHON_LNOTAB : minor == 10 ? PYTHON_LINETABLE : PYTHON_LOCATIONS;
}

static uint64_t count_wrong(const struct record *rec, enum python_lines format)
{
	struct reader r;
	uint64_t n_wrong = 0;
	int line;

	reader_init(&r, rec->bytes + rec->table_len, 4 * (size_t)rec->n_units);
	for (uint32_t unit = 0; unit < rec->n_units; unit++) {
		int want = (int)reader_u32(&r, "line");
		int err = python_line(format, rec->bytes, rec->table_len, (int)rec->first_line,
				      2 * (int64_t)unit, &line);

		if (err == -ENOENT ? want != -1 : err != 0 || line != want)
			n_wrong++;
	}
	/* A function that has not begun yet is where it is defined. */
	if (python_line(format, rec->bytes, rec->table_len, (int)rec->first_line, -2, &line) != 0 ||
	    line != (int)rec->first_line)
		n_wrong++;
	return n_wrong;
}

int main(int argc, char **argv)
{
	uint64_t n_codes = 0, n_positions = 0, n_wrong = 0;
	struct record rec = { 0 };
	int minor = argc == 2 ? atoi(argv[1]) : 0, err;

	if (minor < 6)
		return 2;
	while ((err = record_next(stdin, &rec)) > 0) {
		n_codes++;
		n_positions += rec.n_units;
		n_wrong += count_wrong(&rec, format_of(minor));
	}
	free(rec.bytes);
	printf("%llu positions in %llu code objects, %llu wrong%s\n",
	       (unsigned long long)n_positions, (unsigned long long)n_codes,
	       (unsigned long long)n_wrong, err < 0 ? ", cut short" : "");
	return err < 0 || n_wrong || !n_codes;
}
