// SPDX-License-Identifier: Apache-2.0
#include "core/options.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_init(struct options *opt)
{
	*opt = (struct options){
		.snapshot_size = 64 << 10,
		.max_loss = -1,
		.min_complete = -1,
	};
}

static void string_list_deinit(struct string_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free((char *)list->items[i]);
	free(list->items);
}

void options_deinit(struct options *opt)
{
	free(opt->pids.items);
	free(opt->tids.items);
	string_list_deinit(&opt->pid_names);
	string_list_deinit(&opt->comms);
	string_list_deinit(&opt->cgroups);
	string_list_deinit(&opt->debug_dirs);
	string_list_deinit(&opt->labels);
	string_list_deinit(&opt->files);
	options_init(opt);
}

int string_list_add(struct string_list *list, const char *s, size_t len)
{
	const char **items = realloc(list->items, (list->n + 2) * sizeof(*items));
	char *copy = strndup(s, len);

	if (items)
		list->items = items;
	if (!items || !copy) {
		free(copy);
		return -ENOMEM;
	}
	list->items[list->n++] = copy;
	list->items[list->n] = NULL;
	return 0;
}

static int pid_list_add(struct pid_list *list, pid_t pid)
{
	pid_t *items = realloc(list->items, (list->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	list->items[list->n++] = pid;
	return 0;
}

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, OPTIONS_WHY_MAX, fmt, args);
	va_end(args);
	return -EINVAL;
}

unsigned int options_distance(const char *a, const char *b)
{
	enum { LONGEST = 24 };
	unsigned int d[LONGEST + 1][LONGEST + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > LONGEST || lb > LONGEST)
		return UINT_MAX;
	for (size_t i = 0; i <= la; i++) {
		for (size_t j = 0; j <= lb; j++) {
			unsigned int least;

			if (!i || !j) {
				d[i][j] = (unsigned int)(i + j);
				continue;
			}
			least = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < least)
				least = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < least)
				least = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < least)
				least = d[i - 2][j - 2] + 1;
			d[i][j] = least;
		}
	}
	return d[la][lb];
}

static const struct option_info *find_long(unsigned int verb, const char *name, size_t len)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	for (; n; n--, o++) {

		if (!(o->verbs & verb))
			continue;
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
		if (o->alias && strlen(o->alias) == len && !memcmp(o->alias, name, len))
			return o;
	}
	return NULL;
}

static const struct option_info *find_short(unsigned int verb, char letter)
{
	size_t n;
	const struct option_info *o = options_table(&n);

	for (; n; n--, o++)
		if (o->verbs & verb && (o->letter == letter || o->alias_letter == letter))
			return o;
	return NULL;
}

static int unknown_long(unsigned int verb, const char *name, size_t len, char *why)
{
	const struct option_info *table, *near = NULL;
	unsigned int best = NEAR_ENOUGH;
	char word[64];
	size_t n;

	snprintf(word, sizeof(word), "%.*s", (int)(len > 60 ? 60 : len), name);
	table = options_table(&n);
	for (size_t i = 0; i < n; i++) {
		unsigned int edits = options_distance(word, table[i].name);

		if (table[i].verbs & verb && !table[i].is_hidden && edits < best) {
			best = edits;
			near = &table[i];
		}
	}
	if (near)
		return refuse(why, "unknown option --%s\n  did you mean --%s?", word, near->name);
	return refuse(why, "unknown option --%s", word);
}

static int bad_value(const struct option_info *o, const char *arg, const char *wanted, char *why)
{
	return refuse(why, "--%s %s: %s", o->name, arg, wanted);
}

static int add_pid(struct options *opt, const struct option_info *o, const char *s, size_t len,
		   char *why)
{
	struct pid_list *list = (void *)((char *)opt + o->offset);
	char word[32];
	unsigned int pid;

	snprintf(word, sizeof(word), "%.*s", (int)(len > 31 ? 31 : len), s);
	if (!parse_count(word, 1, INT_MAX, &pid))
		return pid_list_add(list, (pid_t)pid);
	if (o->kind == OPTION_TIDS || strspn(word, "0123456789") == strlen(word))
		return bad_value(o, word, "not a number from 1", why);
	if (*word == '-')
		return bad_value(o, word, "not a number from 1, and no name begins so", why);
	return string_list_add(&opt->pid_names, s, len);
}

static int add_commas(struct options *opt, const struct option_info *o, const char *arg, char *why)
{
	for (;;) {
		size_t len = strcspn(arg, ",");
		int err;

		if (!len)
			return bad_value(o, arg, "an empty name in the list", why);
		if (o->kind == OPTION_COMMA_LIST)
			err = string_list_add((void *)((char *)opt + o->offset), arg, len);
		else
			err = add_pid(opt, o, arg, len, why);
		if (err < 0 || !arg[len])
			return err;
		arg += len + 1;
	}
}

static int check_regex(const struct option_info *o, const char *arg, char *why)
{
	char reason[128];
	regex_t re;
	int err = regcomp(&re, arg, REG_EXTENDED | REG_NOSUB);

	if (!err) {
		regfree(&re);
		return 0;
	}
	regerror(err, &re, reason, sizeof(reason));
	return bad_value(o, arg, reason, why);
}

static int set_number(void *field, const struct option_info *o, const char *arg, char *why)
{
	switch (o->kind) {
	case OPTION_COUNT:
		if (parse_count(arg, 1, INT_MAX, field) < 0)
			return bad_value(o, arg, "not a number from 1", why);
		return 0;
	case OPTION_FREQ:
		if (parse_count(arg, 1, MAX_FREQ, field) < 0)
			return bad_value(o, arg, "not a number of Hz from 1 to 10000", why);
		return 0;
	case OPTION_DURATION:
		if (parse_duration(arg, field) < 0)
			return bad_value(o, arg, "not a duration such as 30, 30s, 5m or 500ms",
					 why);
		return 0;
	case OPTION_SIZE:
		if (parse_size(arg, field) < 0)
			return bad_value(o, arg, "not a size such as 65536, 64K or 48M", why);
		return 0;
	default:
		if (parse_percent(arg, field) < 0)
			return bad_value(o, arg, "not a percentage from 0 to 100", why);
		return 0;
	}
}

static int set(struct options *opt, const struct option_info *o, const char *arg, char *why)
{
	void *field = (char *)opt + o->offset;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_VIEW:
		if (opt->view_option)
			return refuse(why, "--%s and --%s: a report has one view", opt->view_option,
				      o->name);
		opt->view_option = o->name;
		opt->view = (enum report_view)o->value;
		opt->peek = arg;
		return arg ? check_regex(o, arg, why) : 0;
	case OPTION_STRING:
		*(const char **)field = arg;
		return *arg ? 0 : bad_value(o, arg, "empty", why);
	case OPTION_REGEX:
		*(const char **)field = arg;
		return check_regex(o, arg, why);
	case OPTION_LABEL:
		if (!strchr(arg, '=') || *arg == '=')
			return bad_value(o, arg, "not of the form KEY=VALUE", why);
		return string_list_add(field, arg, strlen(arg));
	case OPTION_LIST:
		return *arg ? string_list_add(field, arg, strlen(arg))
			    : bad_value(o, arg, "empty", why);
	case OPTION_COMMA_LIST:
	case OPTION_PIDS:
	case OPTION_TIDS:
		return add_commas(opt, o, arg, why);
	default:
		return set_number(field, o, arg, why);
	}
}

/* args[0] begins with "--". Returns how many arguments it took, or a negative errno. */
static int parse_long(struct options *opt, unsigned int verb, char **args, char *why)
{
	const char *name = args[0] + 2, *arg = strchr(name, '=');
	size_t len = arg ? (size_t)(arg - name) : strlen(name);
	const struct option_info *o = find_long(verb, name, len);
	int err;

	if (!o)
		return unknown_long(verb, name, len, why);
	if (!o->arg) {
		if (arg)
			return refuse(why, "--%s takes no argument", o->name);
		err = set(opt, o, NULL, why);
		return err < 0 ? err : 1;
	}
	if (!arg && !args[1])
		return refuse(why, "--%s needs an argument: --%s %s", o->name, o->name, o->arg);
	err = set(opt, o, arg ? arg + 1 : args[1], why);
	if (err < 0)
		return err;
	return arg ? 1 : 2;
}

/* args[0] is a cluster of letters; the first that takes an argument takes the rest or the next. */
static int parse_short(struct options *opt, unsigned int verb, char **args, char *why)
{
	for (const char *s = args[0] + 1; *s; s++) {
		const struct option_info *o = find_short(verb, *s);
		const char *arg = s[1] ? s + 1 : args[1];
		int err;

		if (!o)
			return refuse(why, "unknown option -%c", *s);
		if (o->arg && !arg)
			return refuse(why, "-%c needs an argument: -%c %s", *s, *s, o->arg);
		err = set(opt, o, o->arg ? arg : NULL, why);
		if (err < 0)
			return err;
		if (o->arg)
			return s[1] ? 1 : 2;
	}
	return 1;
}

int options_parse(struct options *opt, unsigned int verb, char **args, char *why)
{
	while (*args) {
		int taken;

		if (!strcmp(*args, "--")) {
			if (verb == ON_RECORD) {
				opt->command = args + 1;
				return args[1] ? 0 : refuse(why, "no command after --");
			}
			while (*++args)
				if (string_list_add(&opt->files, *args, strlen(*args)) < 0)
					return -ENOMEM;
			return 0;
		}
		if (args[0][0] != '-' || !args[0][1])
			taken = string_list_add(&opt->files, *args, strlen(*args)) < 0 ? -ENOMEM
										       : 1;
		else if (args[0][1] == '-')
			taken = parse_long(opt, verb, args, why);
		else
			taken = parse_short(opt, verb, args, why);
		if (taken < 0)
			return taken;
		args += taken;
	}
	return 0;
}
