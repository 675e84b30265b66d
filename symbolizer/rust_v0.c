// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/rust_v0.h"

#include <ctype.h>
#include <string.h>

#include "symbolizer/rust_symbol.h"

#define MAX_MANGLED (64 * 1024)
#define MAX_BOUND 1024 /* lifetimes in all for<...> around a place */

/* 0 is an erased one, others count the bound ones from the innermost outwards. */
static void put_lifetime(struct rust_symbol *s, uint64_t index)
{
	char letter[] = { '\'', 'a', 0 };
	uint64_t n;

	if (!rust_spend(s, 1))
		return;
	if (!index) {
		rust_put(s, "'_");
		return;
	}
	if (index > s->n_bound) {
		rust_fail(s, "lifetime");
		return;
	}
	n = s->n_bound - index;
	if (n < 26) {
		letter[1] = (char)('a' + n);
		rust_put(s, letter);
		return;
	}
	rust_put(s, "'_");
	rust_put_number(s, n);
}

/* for<'a, 'b>, when there is one. The caller takes off what it adds to n_bound. */
static void open_binder(struct rust_symbol *s)
{
	uint64_t n = rust_tagged(s, 'G');

	if (n > MAX_BOUND - s->n_bound)
		rust_fail(s, "binder");
	if (!n || rust_failed(s))
		return;
	rust_put(s, "for<");
	for (uint64_t i = 0; i < n; i++) {
		s->n_bound++;
		rust_put(s, i ? ", " : "");
		put_lifetime(s, 1);
	}
	rust_put(s, "> ");
}

static void put_argument(struct rust_symbol *s, bool is_value)
{
	(void)is_value;
	if (rust_eat(s, 'L'))
		put_lifetime(s, rust_base62(s));
	else if (rust_eat(s, 'K'))
		rust_const(s, false);
	else
		rust_type(s, false);
}

/* Where an implementation stands: read, not shown. */
static void skip_path(struct rust_symbol *s)
{
	bool was_quiet = s->is_quiet;

	s->is_quiet = true;
	rust_path(s, false);
	s->is_quiet = was_quiet;
}

static void put_nested(struct rust_symbol *s, bool is_value)
{
	char space = rust_next(s), letter[] = { space, 0 };
	struct rust_identifier name;
	uint64_t number;

	if (!isalpha((unsigned char)space))
		rust_fail(s, "namespace");
	rust_path(s, is_value);
	number = rust_tagged(s, 's');
	name = rust_identifier(s);
	if (islower((unsigned char)space)) {
		rust_put(s, name.len || name.n_digits ? "::" : "");
		rust_put_identifier(s, &name);
		return;
	}
	rust_put(s, "::{");
	rust_put(s, space == 'C' ? "closure" : space == 'S' ? "shim" : letter);
	rust_put(s, name.len || name.n_digits ? ":" : "");
	rust_put_identifier(s, &name);
	rust_put(s, "#");
	rust_put_number(s, number);
	rust_put(s, "}");
}

/* <Type> and <Type as Trait> */
static void put_qualified(struct rust_symbol *s, bool has_trait)
{
	rust_put(s, "<");
	rust_type(s, false);
	if (has_trait) {
		rust_put(s, " as ");
		rust_path(s, false);
	}
	rust_put(s, ">");
}

static void put_path(struct rust_symbol *s, bool is_value)
{
	struct rust_identifier name;
	char tag = rust_next(s);

	switch (tag) {
	case 'C':
		rust_tagged(s, 's');
		name = rust_identifier(s);
		rust_put_identifier(s, &name);
		break;
	case 'M':
	case 'X':
		rust_tagged(s, 's');
		skip_path(s);
		put_qualified(s, tag == 'X');
		break;
	case 'Y':
		put_qualified(s, true);
		break;
	case 'N':
		put_nested(s, is_value);
		break;
	case 'I':
		rust_path(s, is_value);
		rust_put(s, is_value ? "::<" : "<");
		rust_list(s, put_argument, false);
		rust_put(s, ">");
		break;
	case 'B':
		rust_backref(s, rust_path, is_value);
		break;
	default:
		rust_fail(s, "path");
	}
}

void rust_path(struct rust_symbol *s, bool is_value)
{
	if (!rust_enter(s))
		return;
	put_path(s, is_value);
	rust_leave(s);
}

/* The path of a trait in a dyn type: its "<" stays open for associated types. */
static void put_open_path(struct rust_symbol *s, bool is_value)
{
	s->is_open = false;
	if (rust_eat(s, 'B')) {
		rust_backref(s, put_open_path, is_value);
	} else if (rust_eat(s, 'I')) {
		rust_path(s, false);
		rust_put(s, "<");
		rust_list(s, put_argument, false);
		s->is_open = true;
	} else {
		rust_path(s, false);
		s->is_open = false;
	}
}

/* Trait<Argument, Associated = Type> */
static void put_bound(struct rust_symbol *s)
{
	bool is_open;

	put_open_path(s, false);
	is_open = s->is_open;
	while (!rust_failed(s) && rust_eat(s, 'p')) {
		struct rust_identifier name = rust_identifier(s);

		rust_put(s, is_open ? ", " : "<");
		is_open = true;
		rust_put_identifier(s, &name);
		rust_put(s, " = ");
		if (rust_eat(s, 'K'))
			rust_const(s, false);
		else
			rust_type(s, false);
	}
	rust_put(s, is_open ? ">" : "");
}

static void put_dyn(struct rust_symbol *s)
{
	uint64_t n_bound = s->n_bound, lifetime;

	rust_put(s, "dyn ");
	open_binder(s);
	for (size_t n = 0; !rust_failed(s) && !rust_eat(s, 'E'); n++) {
		rust_put(s, n ? " + " : "");
		put_bound(s);
	}
	s->n_bound = n_bound;
	if (!rust_eat(s, 'L'))
		rust_fail(s, "lifetime");
	lifetime = rust_base62(s);
	if (lifetime) {
		rust_put(s, " + ");
		put_lifetime(s, lifetime);
	}
}

static void put_abi(struct rust_symbol *s)
{
	struct rust_identifier name;

	rust_put(s, "extern \"");
	if (rust_eat(s, 'C')) {
		rust_put(s, "C");
	} else {
		name = rust_identifier(s);
		for (size_t i = 0; i < name.len; i++)
			rust_put_char(s, name.bytes[i] == '_' ? '-' : (uint32_t)name.bytes[i]);
		if (name.n_digits || !name.len)
			rust_fail(s, "ABI");
	}
	rust_put(s, "\" ");
}

static void put_function(struct rust_symbol *s)
{
	uint64_t n_bound = s->n_bound;

	open_binder(s);
	rust_put(s, rust_eat(s, 'U') ? "unsafe " : "");
	if (rust_eat(s, 'K'))
		put_abi(s);
	rust_put(s, "fn(");
	rust_list(s, rust_type, false);
	rust_put(s, ")");
	if (!rust_eat(s, 'u')) {
		rust_put(s, " -> ");
		rust_type(s, false);
	}
	s->n_bound = n_bound;
}

static void put_reference(struct rust_symbol *s, bool is_mutable)
{
	uint64_t lifetime = rust_eat(s, 'L') ? rust_base62(s) : 0;

	rust_put(s, "&");
	if (lifetime) {
		put_lifetime(s, lifetime);
		rust_put(s, " ");
	}
	rust_put(s, is_mutable ? "mut " : "");
	rust_type(s, false);
}

static void put_sequence(struct rust_symbol *s, bool has_length)
{
	rust_put(s, "[");
	rust_type(s, false);
	if (has_length) {
		rust_put(s, "; ");
		rust_const(s, true);
	}
	rust_put(s, "]");
}

/* What a pattern type allows: ranges, several of them, or anything but null. */
static void put_pattern(struct rust_symbol *s)
{
	if (!rust_enter(s))
		return;
	switch (rust_next(s)) {
	case 'R':
		rust_const(s, true);
		rust_put(s, "..=");
		rust_const(s, true);
		break;
	case 'O':
		for (size_t n = 0; !rust_failed(s) && !rust_eat(s, 'E'); n++) {
			rust_put(s, n ? " | " : "");
			put_pattern(s);
		}
		break;
	case 'N':
		rust_put(s, "!null");
		break;
	default:
		rust_fail(s, "pattern");
	}
	rust_leave(s);
}

static const char *basic_type(char tag)
{
	static const char *const names['z' - 'a' + 1] = {
		"i8",	 "bool", "char", "f64", "str",	"f32",	NULL,  "u8", "isize",
		"usize", NULL,	 "i32",	 "u32", "i128", "u128", "_",   NULL, NULL,
		"i16",	 "u16",	 "()",	 "...", NULL,	"i64",	"u64", "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void put_type(struct rust_symbol *s)
{
	char tag = rust_peek(s);

	if (basic_type(tag)) {
		rust_put(s, basic_type(rust_next(s)));
		return;
	}
	if (!tag || !strchr("ASTRQPOFDWB", tag)) {
		rust_path(s, false);
		return;
	}
	switch (rust_next(s)) {
	case 'A':
	case 'S':
		put_sequence(s, tag == 'A');
		break;
	case 'T':
		rust_put(s, "(");
		rust_put(s, rust_list(s, rust_type, false) == 1 ? ",)" : ")");
		break;
	case 'R':
	case 'Q':
		put_reference(s, tag == 'Q');
		break;
	case 'P':
	case 'O':
		rust_put(s, tag == 'P' ? "*const " : "*mut ");
		rust_type(s, false);
		break;
	case 'F':
		put_function(s);
		break;
	case 'D':
		put_dyn(s);
		break;
	case 'W':
		rust_type(s, false);
		rust_put(s, " is ");
		put_pattern(s);
		break;
	case 'B':
		rust_backref(s, rust_type, false);
		break;
	}
}

void rust_type(struct rust_symbol *s, bool is_value)
{
	(void)is_value;
	if (!rust_enter(s))
		return;
	put_type(s);
	rust_leave(s);
}

/* What a mangled name is made of; anything else is a vendor's suffix. */
static size_t mangled_len(const char *name)
{
	size_t n = 0;

	while (n < MAX_MANGLED && (isalnum((unsigned char)name[n]) || name[n] == '_'))
		n++;
	return n;
}

char *rust_v0_demangle(const char *name)
{
	struct rust_symbol s;
	size_t len;

	/* A digit would be the version of an encoding to come. */
	if (strncmp(name, "_R", 2) || !isupper((unsigned char)name[2]))
		return NULL;
	name += 2;
	len = mangled_len(name);
	if (name[len] && name[len] != '.' && name[len] != '$')
		return NULL;
	rust_symbol_init(&s, name, len);
	rust_path(&s, true);
	if (!reader_at_end(&s.in))
		skip_path(&s); /* the crate that instantiated it */
	if (!reader_at_end(&s.in))
		rust_fail(&s, "end");
	return rust_symbol_finish(&s);
}
