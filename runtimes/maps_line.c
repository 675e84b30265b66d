// SPDX-License-Identifier: Apache-2.0
#include "runtimes/maps_line.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#define PF_KTHREAD 0x200000 /* of the flags in /proc/PID/stat: include/linux/sched.h */

/* What is left of the text. */
struct cursor {
	const char *pos, *end;
};

static bool take_char(struct cursor *c, char want)
{
	if (c->pos == c->end || *c->pos != want)
		return false;
	c->pos++;
	return true;
}

static int digit_value(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	return -1;
}

/* A number of at least one digit that fits 64 bits. */
static bool take_number(struct cursor *c, unsigned int base, uint64_t *out)
{
	const char *from = c->pos;
	uint64_t value = 0;

	for (; c->pos < c->end; c->pos++) {
		int digit = digit_value(*c->pos);

		if (digit < 0 || (unsigned int)digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*out = value;
	return c->pos > from;
}

static void skip_spaces(struct cursor *c)
{
	while (c->pos < c->end && (*c->pos == ' ' || *c->pos == '\t'))
		c->pos++;
}

static void skip_word(struct cursor *c)
{
	while (c->pos < c->end && *c->pos != ' ' && *c->pos != '\n')
		c->pos++;
}

/*
 * In maps the kernel writes a newline as \012 and nothing else in octal, not even a backslash; so a
 * file whose name holds "\012" itself cannot be told apart. It is then opened by its mapping.
 */
static void take_name(struct cursor *c, char *out, size_t size)
{
	size_t n = 0;

	while (c->pos < c->end && n < size - 1) {
		bool is_newline = c->end - c->pos >= 4 && !memcmp(c->pos, "\\012", 4);

		out[n++] = is_newline ? '\n' : *c->pos;
		c->pos += is_newline ? 4 : 1;
	}
	out[n] = 0;
}

int maps_line_parse(const char *line, size_t len, struct maps_line *out)
{
	struct cursor c = { line, line + len };
	uint64_t start, end, pgoff, major, minor, ino;
	const char *perms;

	if (!take_number(&c, 16, &start) || !take_char(&c, '-') || !take_number(&c, 16, &end) ||
	    !take_char(&c, ' ') || c.end - c.pos < 5 || start >= end)
		return -EBADMSG;
	perms = c.pos;
	c.pos += 4;
	if (!take_char(&c, ' ') || !take_number(&c, 16, &pgoff) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, &major) || !take_char(&c, ':') || !take_number(&c, 16, &minor) ||
	    !take_char(&c, ' ') || !take_number(&c, 10, &ino) || major > UINT32_MAX ||
	    minor > UINT32_MAX)
		return -EBADMSG;
	out->start = start;
	out->end = end;
	out->pgoff = pgoff;
	out->dev = makedev((unsigned int)major, (unsigned int)minor);
	out->ino = ino;
	out->is_executable = perms[2] == 'x';
	out->name[0] = 0;
	if (out->is_executable) {
		skip_spaces(&c);
		take_name(&c, out->name, sizeof(out->name));
	}
	return 0;
}

int proc_stat_parse(const char *text, size_t len, struct proc_stat *out)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	struct cursor c = { close, text + len };
	uint64_t parent, start, ticks, flags = 0, cpu_ticks = 0;
	char state;
	size_t n;

	if (!open || !close || close < open)
		return -EBADMSG;
	/* Behind the name, which may hold anything: " state ppid", 17 further fields (flags, utime
	   and stime among them), starttime. */
	c.pos++;
	if (!take_char(&c, ' ') || c.pos == c.end)
		return -EBADMSG;
	state = *c.pos++;
	if (!take_char(&c, ' ') || !take_number(&c, 10, &parent) || parent > INT32_MAX)
		return -EBADMSG;
	for (int i = 0; i < 17; i++) {
		if (!take_char(&c, ' '))
			return -EBADMSG;
		if ((i == 9 || i == 10) && take_number(&c, 10, &ticks))
			cpu_ticks += ticks;
		else if (i != 4 || !take_number(&c, 10, &flags))
			skip_word(&c);
	}
	if (!take_char(&c, ' ') || !take_number(&c, 10, &start))
		return -EBADMSG;
	n = (size_t)(close - open - 1);
	n = n < sizeof(out->comm) ? n : sizeof(out->comm) - 1;
	memset(out->comm, 0, sizeof(out->comm));
	memcpy(out->comm, open + 1, n);
	out->parent = (pid_t)parent;
	out->state = state;
	out->is_kernel_thread = flags & PF_KTHREAD;
	out->cpu_ticks = cpu_ticks;
	out->start_ticks = start;
	return 0;
}

/* The cursor behind "\nkey:", at the value's first character. */
static bool find_field(const char *text, size_t len, const char *key, struct cursor *out)
{
	size_t key_len = strlen(key);
	const char *hit = memmem(text, len, key, key_len);

	if (!hit)
		return false;
	*out = (struct cursor){ hit + key_len, text + len };
	skip_spaces(out);
	return true;
}

int proc_status_parse(const char *text, size_t len, struct proc_status *out)
{
	uint64_t process, uid, pid = 0, value;
	struct cursor c;

	/* Name, the only field that is the target's, has its newlines escaped. */
	if (!find_field(text, len, "\nTgid:", &c) || !take_number(&c, 10, &process) ||
	    process > INT32_MAX)
		return -EBADMSG;
	if (!find_field(text, len, "\nUid:", &c) || !take_number(&c, 10, &uid))
		return -EBADMSG;
	skip_spaces(&c);
	if (!take_number(&c, 10, &uid) || uid > UINT32_MAX)
		return -EBADMSG;
	/* Kernels without pid namespaces have no NSpid. */
	if (find_field(text, len, "\nNSpid:", &c))
		while (take_number(&c, 10, &value)) {
			pid = value;
			skip_spaces(&c);
		}
	if (pid > INT32_MAX)
		return -EBADMSG;
	out->pid = (pid_t)process;
	out->uid = (uid_t)uid;
	out->ns_pid = (pid_t)pid;
	return 0;
}

/* conmon watches a container from a group of its own, outside of it: crio-conmon-ID,
 * libpod-conmon-ID. */
static bool is_monitor(const char *text, size_t at)
{
	static const char word[] = "conmon-";

	return at >= sizeof(word) - 1 &&
	       !memcmp(text + at - (sizeof(word) - 1), word, sizeof(word) - 1);
}

bool proc_cgroup_parse(const char *text, size_t len, char id[CONTAINER_ID_SIZE])
{
	const size_t want = CONTAINER_ID_SIZE - 1;
	const char *found = NULL;
	size_t run = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && digit_value(text[i]) >= 0) {
			run++;
			continue;
		}
		if (run == want && !is_monitor(text, i - want))
			found = text + i - want;
		run = 0;
		/* The first line that names a container decides; one line may nest several. */
		if (found && (i == len || text[i] == '\n'))
			break;
	}
	if (!found)
		return false;
	memcpy(id, found, want);
	id[want] = 0;
	return true;
}
