// SPDX-License-Identifier: Apache-2.0
#include "cmd/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/replacement.h"

static void list_formats(void)
{
	fputs("  formats: ", stderr);
	for (size_t i = 0; exporters[i]; i++)
		fprintf(stderr, "%s%s (%s)", i ? ", " : "", exporters[i]->name,
			exporters[i]->extension);
	fputc('\n', stderr);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

const struct exporter_ops *output_format(const struct options *opt, const char *path)
{
	const struct exporter_ops *ops;

	if (opt->format) {
		ops = exporter_by_name(opt->format);
		if (!ops)
			log_error("no format %s", opt->format);
	} else {
		ops = strcmp(path, "-") ? exporter_by_path(path) : exporters[0];
		if (!ops && is_directory(path)) {
			log_error("%s is a directory: -o takes the name of a file", path);
			return NULL;
		}
		if (!ops)
			log_error("%s: no format has this extension, and there is no --format",
				  path);
	}
	if (!ops)
		list_formats();
	return ops;
}

static void put_safe(FILE *out, const char *s)
{
	for (; *s; s++)
		fputc(*s == '/' || (unsigned char)*s < ' ' || *s == 0x7f ? '_' : *s, out);
}

static void put_time(FILE *out, int64_t time_ns)
{
	time_t t = (time_t)(time_ns / 1000000000);
	char text[32];
	struct tm tm;

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm))
		fputs(text, out);
}

static void put_fact(FILE *out, char letter, const struct output_facts *facts)
{
	switch (letter) {
	case 'p':
		fprintf(out, "%d", facts->pid ? facts->pid : getpid());
		break;
	case 'c':
		put_safe(out, facts->command);
		break;
	case 't':
		put_time(out, facts->time_ns);
		break;
	case 'h':
		put_safe(out, facts->host);
		break;
	case '%':
		fputc('%', out);
		break;
	default:
		fprintf(out, "%%%c", letter);
	}
}

char *output_expand(const char *pattern, const struct output_facts *facts)
{
	char *path = NULL;
	size_t len;
	FILE *out = open_memstream(&path, &len);

	if (!out)
		return NULL;
	for (; *pattern; pattern++) {
		if (*pattern == '%' && pattern[1])
			put_fact(out, *++pattern, facts);
		else
			fputc(*pattern, out);
	}
	return fclose(out) ? NULL : path;
}

int output_check(const char *path)
{
	struct replacement r;
	struct stat st;
	int err;

	if (!strcmp(path, "-"))
		return 0;
	/* A device or a FIFO would notice that it is opened. */
	if (stat(path, &st) < 0)
		st.st_mode = S_IFREG; /* as it will be, if it can */
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return access(path, W_OK) < 0 ? -errno : 0;
	err = replacement_open(&r, path, true);
	if (!err)
		replacement_abandon(&r);
	return err;
}

bool output_is_private(const char *input)
{
	struct stat st;
	bool is_known = strcmp(input, "-") ? !stat(input, &st) : !fstat(STDIN_FILENO, &st);

	return is_known && S_ISREG(st.st_mode) && !(st.st_mode & (S_IRGRP | S_IROTH));
}

int output_write(const struct exporter_ops *ops, const struct profile *p, const char *path,
		 bool is_private)
{
	char name[512];
	int err;

	interrupt_clean_up();
	err = exporter_write_file(ops, p, path, is_private);
	if (!err)
		return EXIT_OK;
	log_error("cannot write %s: %s",
		  strcmp(path, "-") ? text_safe(path, name, sizeof(name)) : "to stdout",
		  strerror(-err));
	return EXIT_FAILED;
}
