// SPDX-License-Identifier: Apache-2.0
#include "exporter/names.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

size_t location_n_frames(const struct profile *p, uint32_t location)
{
	size_t n;

	profile_get_lines(p, location, &n);
	return n ? n : 1;
}

static const char *frame_name(const struct profile *p, struct frame *f)
{
	const char *name = profile_get_string(p, f->function->name);
	const char *path = profile_get_string(p, f->mapping->filename);

	if (!*name)
		name = profile_get_string(p, f->function->system_name);
	if (*name)
		return name;
	if (!*path || f->location.kind == FRAME_MARK)
		return "[unknown]";
	if (*path == '[')
		return path;
	snprintf(f->made, sizeof(f->made), "[%.100s]", path_basename(path));
	return f->made;
}

void location_frame(const struct profile *p, uint32_t location, size_t i, struct frame *f)
{
	size_t n;
	const struct line *lines = profile_get_lines(p, location, &n);

	f->location = profile_get_location(p, location);
	f->function = profile_get_function(p, i < n ? lines[i].function : 0);
	f->mapping = profile_get_mapping(p, f->location.mapping);
	f->line = i < n ? lines[i].line : 0;
	f->column = i < n ? lines[i].column : 0;
	f->is_inline = i + 1 < n;
	f->name = frame_name(p, f);
}

/* Runtimes that write a.B.c; elsewhere a dot is part of a symbol, as in foo.part.0. */
static bool has_dots(enum frame_kind kind)
{
	return kind == FRAME_JAVA || kind == FRAME_PYTHON || kind == FRAME_GO;
}

/* Length of a scope separator at s, 0 for none. */
static size_t separator(const char *s, bool dots)
{
	if (s[0] == ':' && s[1] == ':')
		return 2;
	return dots && s[0] == '.' ? 1 : 0;
}

/* Behind the parenthesis that closes the one at s; the end when none does. */
static const char *skip_arguments(const char *s)
{
	unsigned int depth = 0;

	for (; *s; s++) {
		depth += *s == '(';
		depth -= *s == ')';
		if (!depth)
			return s + 1;
	}
	return s;
}

/* Is this where the name's own part ends? Arguments may belong to its scope:
 * "f(int)::{lambda}::...". */
static bool is_end(const char **s, const char *method)
{
	const char *behind;

	if (**s == ' ')
		return (*s)[1] == '[';
	if (**s != '(' || *s == method)
		return false;
	behind = skip_arguments(*s);
	if (!separator(behind, false))
		return true;
	*s = behind - 1;
	return false;
}

/*
 * One pass from the left: brackets nest (template arguments, "(anonymous namespace)", Go's "(*T)"),
 * a parenthesis after a name begins the arguments, a space ends a return type, and what follows
 * "operator" may look like brackets without being any.
 */
struct name_parts name_split(const char *name, enum frame_kind kind)
{
	const char *slash = kind == FRAME_GO ? strrchr(name, '/') : NULL;
	const char *scope = name, *method = slash ? slash + 1 : name, *s = method;
	unsigned int depth = 0;

	for (; *s && kind != FRAME_JIT && kind != FRAME_MARK; s++) {
		size_t len = depth ? 0 : separator(s, has_dots(kind));

		if (len && s[len]) {
			method = s + len;
			s = method - 1;
		} else if (!depth && s == method && !strncmp(s, "operator", 8)) {
			s += strcspn(s, "(");
			s += strncmp(s, "()", 2) ? 0 : 2;
			break;
		} else if (!depth && is_end(&s, method)) {
			break;
		} else if (!depth && *s == ' ') {
			scope = method = s + 1;
		} else if (strchr("<([{", *s)) {
			depth++;
		} else if (strchr(">)]}", *s) && depth &&
			   !(s > name && *s == '>' && s[-1] == '-')) {
			depth--;
		}
	}
	if (s == method) /* nothing left of it, so it was no such name */
		return (struct name_parts){ name, name, 0, strlen(name) };
	return (struct name_parts){
		.scope = scope,
		.scope_len =
			method > scope ? (size_t)(method - scope) - (method[-1] == ':' ? 2 : 1) : 0,
		.method = method,
		.method_len = (size_t)(s - method),
	};
}
