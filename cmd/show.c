// SPDX-License-Identifier: Apache-2.0
#include "cmd/show.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/options.h"
#include "core/scoped.h"
#include "core/text.h"

static const struct unit_scale {
	const char *unit;
	double least; /* the largest amount of the table must reach this */
	struct scale scale;
} scales[] = {
	{ "nanoseconds", 1e9, { 1e9, "s", 2 } },
	{ "nanoseconds", 1e6, { 1e6, "ms", 2 } },
	{ "nanoseconds", 1e3, { 1e3, "us", 2 } },
	{ "nanoseconds", 0, { 1, "ns", 0 } },
	{ "microseconds", 1e6, { 1e6, "s", 2 } },
	{ "microseconds", 1e3, { 1e3, "ms", 2 } },
	{ "microseconds", 0, { 1, "us", 0 } },
	{ "milliseconds", 1e3, { 1e3, "s", 2 } },
	{ "milliseconds", 0, { 1, "ms", 0 } },
	{ "bytes", 0x1p30, { 0x1p30, "GB", 2 } },
	{ "bytes", 0x1p20, { 0x1p20, "MB", 2 } },
	{ "bytes", 0x1p10, { 0x1p10, "kB", 2 } },
	{ "bytes", 0, { 1, "B", 0 } },
};

struct scale scale_for(const char *unit, int64_t largest)
{
	double size = largest < 0 ? -(double)largest : (double)largest;

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (!strcmp(scales[i].unit, unit) && size >= scales[i].least)
			return scales[i].scale;
	return (struct scale){ 1, "", 0 };
}

const char *scale_print(const struct scale *s, int64_t amount, char *out, size_t size)
{
	if (amount)
		snprintf(out, size, "%.*f%s", s->decimals, (double)amount / s->divisor, s->suffix);
	else
		snprintf(out, size, "0");
	return out;
}

int show_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned int n;

	if (columns && !parse_count(columns, 20, 10000, &n))
		return (int)n;
	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20)
		return size.ws_col;
	return 0;
}

bool show_colours(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

void show_name(const char *name, int width, FILE *out)
{
	SCOPED(free) char *safe = text_safe_dup(name);
	size_t len, at = 0, kept = 0;
	uint32_t c;

	if (!safe)
		return;
	len = strlen(safe);
	for (int columns = 0; at < len; columns++) {
		size_t n = text_char(safe + at, len - at, &c);

		if (columns == width - 1)
			kept = at; /* an ellipsis goes here if there is more than fits */
		if (width > 0 && columns == width) {
			fprintf(out, "%.*s…", (int)kept, safe);
			return;
		}
		at += n ? n : 1;
	}
	fputs(safe, out);
}

static pid_t pager = -1;

void pager_start(void)
{
	const char *command = getenv("PAGER");
	int fds[2];

	if (!isatty(STDOUT_FILENO) || (command && (!*command || !strcmp(command, "cat"))))
		return;
	if (pipe(fds) < 0)
		return;
	fflush(stdout);
	pager = fork();
	if (!pager) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		setenv("LESS", "FRSX", 0); /* not for one screen; colours; long lines are cut */
		setenv("LESSCHARSET", "utf-8", 0);
		execl("/bin/sh", "sh", "-c", command ? command : "less 2>/dev/null || exec cat",
		      NULL);
		_exit(127);
	}
	if (pager > 0)
		dup2(fds[1], STDOUT_FILENO);
	close(fds[0]);
	close(fds[1]);
}

void pager_stop(void)
{
	if (pager <= 0)
		return;
	signal(SIGPIPE, SIG_IGN); /* leaving the pager early is no failure */
	fflush(stdout);
	clearerr(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	waitpid(pager, NULL, 0);
	pager = -1;
}
