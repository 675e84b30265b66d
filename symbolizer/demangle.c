// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"

#define MAX_MANGLED (64 * 1024)
#define MAX_DEMANGLED (64 * 1024)
#define RUST_HASH_LEN 19 /* "::h" and 16 hex digits */

/* libiberty hands a name out in pieces. */
struct text {
	char *bytes;
	size_t len, cap;
	bool is_bad;
};

static void text_add(const char *piece, size_t len, void *ctx)
{
	struct text *t = ctx;

	if (!len)
		return; /* piece may be NULL then */
	if (t->is_bad || len > MAX_DEMANGLED - t->len) {
		t->is_bad = true;
		return;
	}
	if (t->len + len + 1 > t->cap) {
		size_t cap = (t->len + len + 1) * 2;
		char *bytes = realloc(t->bytes, cap);

		if (!bytes) {
			t->is_bad = true;
			return;
		}
		t->bytes = bytes;
		t->cap = cap;
	}
	memcpy(t->bytes + t->len, piece, len);
	t->len += len;
	t->bytes[t->len] = 0;
}

/* What a legacy Rust symbol ends in: "::h" and 16 hex digits of a hash that means nothing to
 * people. */
static void cut_rust_hash(char *name)
{
	size_t len = strlen(name);
	char *hash;

	if (len <= RUST_HASH_LEN)
		return;
	hash = name + len - RUST_HASH_LEN;
	if (!strncmp(hash, "::h", 3) && strspn(hash + 3, "0123456789abcdef") == 16)
		*hash = 0;
}

static bool is_rust_v0(const char *name)
{
	return name[0] == '_' && name[1] == 'R' &&
	       (isupper((unsigned char)name[2]) || isdigit((unsigned char)name[2]));
}

/* Does a mangled C++ name look like legacy Rust: _ZN...17h<16 hex digits>E? */
static bool is_rust_legacy(const char *name, size_t len)
{
	const char *hash = name + len - 20;

	return len > 24 && !strncmp(name, "_ZN", 3) && name[len - 1] == 'E' &&
	       !strncmp(hash, "17h", 3) && strspn(hash + 3, "0123456789abcdef") == 16;
}

static char *demangle_whole(const char *name)
{
	int options = DMGL_PARAMS | DMGL_ANSI;
	struct text t = { 0 };
	int ok;

	if (is_rust_v0(name) || is_rust_legacy(name, strlen(name)))
		ok = rust_demangle_callback(name, options, text_add, &t);
	else
		ok = cplus_demangle_v3_callback(name, options, text_add, &t);
	if (!ok || t.is_bad || !t.len) {
		free(t.bytes);
		return NULL;
	}
	cut_rust_hash(t.bytes);
	return t.bytes;
}

static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || is_rust_v0(name) || !strncmp(name, "_GLOBAL__", 9);
}

/* Clone suffixes begin at the first dot; mangled names have none, but for Rust's "$" escapes ("..")
   inside legacy paths, which end in E. */
static char *find_suffix(char *name)
{
	char *end = is_rust_v0(name) ? name : strrchr(name, 'E');

	return strchr(end && !is_rust_v0(name) && strstr(name, "17h") ? end : name, '.');
}

char *demangle(const char *name)
{
	SCOPED(free) char *copy = NULL;
	SCOPED(free) char *plain = NULL;
	char suffix[64] = "";
	char *cut, *out = NULL;

	if (!is_mangled(name) || strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return NULL;
	copy = strdup(name);
	if (!copy)
		return NULL;
	cut = strchr(copy, '@');
	if (cut)
		*cut = 0;
	cut = find_suffix(copy);
	if (cut) {
		snprintf(suffix, sizeof(suffix), " [clone %s]", cut);
		*cut = 0;
	}
	plain = demangle_whole(copy);
	if (!plain || asprintf(&out, "%s%s", plain, suffix) < 0)
		return NULL;
	return out;
}
