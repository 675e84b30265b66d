/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Rust v0 symbol while it is read: the mangled bytes, the text written so far, and what the name
 * may still cost. Only the parts of the demangler include this (rust_v0.h is for everybody).
 *
 * The format is RFC 2603 and the rustc book's "v0 Symbol Format". Nothing in it bounds a name: a
 * binder of ten bytes declares 2^64 lifetimes, and ten back references in a row can print 2^10
 * times what the first one points to. So there are three bounds, and passing any of them is an
 * error: depth, length of the text, and steps. A step is one path, type, constant, lifetime or
 * decoded character; each number read is at most as long as 64 bits need, so a step takes bounded
 * time.
 *
 * Errors are the reader's: sticky, every read answers 0 then and nothing more is written.
 */
#ifndef SYMBOLIZER_RUST_SYMBOL_H
#define SYMBOLIZER_RUST_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/reader.h"

struct rust_symbol {
	struct reader in; /* what is behind "_R": back references count from its start */
	char *text;
	size_t len, cap;
	unsigned depth, steps;
	uint64_t n_bound; /* lifetimes that for<...> around this place have bound */
	bool is_open;	  /* the path just written has a "<" without its ">" */
	bool is_quiet;	  /* reads without writing; back references are not followed then */
};

/* An identifier borrows its bytes. Punycode has digits. */
struct rust_identifier {
	const char *bytes, *digits;
	size_t len, n_digits;
};

void rust_symbol_init(struct rust_symbol *s, const char *mangled, size_t len);
/* The text, allocated, and NULL when there was an error. s is empty afterwards. */
char *rust_symbol_finish(struct rust_symbol *s);

void rust_fail(struct rust_symbol *s, const char *what);
bool rust_failed(const struct rust_symbol *s);
/* Takes n steps. False when they are used up, or after an error. */
bool rust_spend(struct rust_symbol *s, size_t n);
/* Each recursion is between these two; leave only what was entered. */
bool rust_enter(struct rust_symbol *s);
void rust_leave(struct rust_symbol *s);

char rust_peek(const struct rust_symbol *s); /* 0 at the end */
char rust_next(struct rust_symbol *s);
bool rust_eat(struct rust_symbol *s, char tag);
uint64_t rust_base62(struct rust_symbol *s);
/* A number with a tag before it that may be missing: 0 then, and 1 more than the number otherwise.
 */
uint64_t rust_tagged(struct rust_symbol *s, char tag);
struct rust_identifier rust_identifier(struct rust_symbol *s);
/* Hexadecimal digits up to "_": their number and, borrowed, where they begin. */
size_t rust_hex(struct rust_symbol *s, const char **digits);

void rust_put(struct rust_symbol *s, const char *text);
void rust_put_bytes(struct rust_symbol *s, const char *bytes, size_t len);
void rust_put_char(struct rust_symbol *s, uint32_t c); /* as UTF-8 */
void rust_put_number(struct rust_symbol *s, uint64_t n);
void rust_put_identifier(struct rust_symbol *s, const struct rust_identifier *id);

typedef void rust_part(struct rust_symbol *s, bool is_value);
/* Behind a 'B': prints what it refers to with that function. */
void rust_backref(struct rust_symbol *s, rust_part *print, bool is_value);
/* Parts up to an 'E' with ", " between them; how many. */
size_t rust_list(struct rust_symbol *s, rust_part *print, bool is_value);

/* is_value: within an expression, where generic arguments need "::" and constants no braces. */
void rust_path(struct rust_symbol *s, bool is_value);
void rust_type(struct rust_symbol *s, bool is_value);
void rust_const(struct rust_symbol *s, bool is_value);

#endif
