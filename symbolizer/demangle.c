// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/scoped.h"
#include "symbolizer/cpp_tree.h"
#include "symbolizer/rust_v0.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
#define MAX_MANGLED (64 * 1024)
#define MAX_DEMANGLED (64 * 1024)
/* The parser takes up to 256 bytes of stack for each byte of a name. */
#define STACK_A_BYTE 256
#define MAX_CPP (8 * 1024)
#define SHORT_CPP 256 /* fits every stack */
/* A visit is about 20 ns. */
#define MAX_VISITS (1UL << 20)
/* Each may make libiberty parse twice what it encloses. */
#define MAX_AMBIGUOUS 10
/* Substitutions and parameters in a name that is printed without a look at its tree: each can
 * double the work. Of 93,616 names in Debian's libraries 276 need that, with 11 at most. */
#define MAX_BLIND 16
#define MAX_BLIND_LEN 1024
#define RUST_HASH_LEN 19 /* "::h" and 16 hex digits */

/* libiberty hands a name out in pieces. */
struct text {
	char *bytes;
	size_t len, cap;
	jmp_buf full;
};

/* Leaves the printer when the text is too long or memory is short. It would go on otherwise, for
 * each substitution can double what is left, and it has nothing to give back: its buffers are on
 * the stack. */
static void text_add(const char *piece, size_t len, void *ctx)
{
	struct text *t = ctx;

	if (!len)
		return; /* piece may be NULL then */
	if (len > MAX_DEMANGLED - t->len)
		longjmp(t->full, 1);
	if (t->len + len + 1 > t->cap) {
		size_t cap = (t->len + len + 1) * 2;
		char *bytes = realloc(t->bytes, cap);

		if (!bytes)
			longjmp(t->full, 1);
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

static bool print_legacy(struct text *t, const char *name)
{
	return !setjmp(t->full) && rust_demangle_callback(name, OPTIONS, text_add, t);
}

static bool print_tree(struct text *t, struct demangle_component *root)
{
	return !setjmp(t->full) && cplus_demangle_print_callback(OPTIONS, root, text_add, t);
}

static bool print_blind(struct text *t, const char *name)
{
	return !setjmp(t->full) && cplus_demangle_v3_callback(name, OPTIONS, text_add, t);
}

/* The text when it is all there, else NULL. */
static char *text_finish(struct text *t, bool ok)
{
	if (ok && t->len)
		return t->bytes;
	free(t->bytes);
	return NULL;
}

static char *demangle_legacy(const char *name)
{
	struct text t = { 0 };
	bool ok = print_legacy(&t, name);
	char *plain = text_finish(&t, ok);

	if (plain)
		cut_rust_hash(plain);
	return plain;
}

/* How many "S...", "T..." and the like there are that end in that. */
static size_t count_references(const char *name, const char *first, const char *end)
{
	size_t n = 0;

	while ((name = strpbrk(name, first))) {
		name++;
		name += strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		n += !strncmp(name, end, strlen(end));
	}
	return n;
}

/* In the type of a conversion operator, arguments behind a template parameter may be the type's or
 * the operator's. libiberty tries both, so that the time doubles with each level. */
static bool is_ambiguous(const char *name)
{
	return strstr(name, "cv") && count_references(name, "T", "_I") > MAX_AMBIGUOUS;
}

/* Names with "sr" as older compilers wrote it are only parsed by what also prints. */
static bool demangle_blind(struct text *t, const char *name)
{
	return strlen(name) <= MAX_BLIND_LEN && count_references(name, "ST", "_") <= MAX_BLIND &&
	       print_blind(t, name);
}

/* Half of the stack is the others'. It may be limited to less than MAX_CPP needs (ulimit -s). */
static size_t longest_cpp(void)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur / 2 / STACK_A_BYTE >= MAX_CPP)
		return MAX_CPP;
	return stack.rlim_cur / 2 / STACK_A_BYTE;
}

static char *demangle_cpp(const char *name)
{
	size_t len = strlen(name);
	SCOPED(free) void *parts = NULL;
	struct demangle_component *root;
	struct text t = { 0 };
	bool ok;

	if ((len > SHORT_CPP && len > longest_cpp()) || is_ambiguous(name))
		return NULL;
	/* Its limit would refuse 1 KiB. What it limits is the stack, and MAX_CPP does that. */
	root = cplus_demangle_v3_components(name, OPTIONS | DMGL_NO_RECURSE_LIMIT, &parts);
	if (!root)
		ok = demangle_blind(&t, name);
	else /* It makes two parts for a byte at most. */
		ok = cpp_tree_is_cheap(root, parts, 2 * len, MAX_VISITS) && print_tree(&t, root);
	return text_finish(&t, ok);
}

/* _GLOBAL__I_name and _GLOBAL__D_name: what runs before and after main for a file or an object. */
static char *demangle_keyed(const char *name)
{
	bool is_constructor = !strncmp(name, "_GLOBAL__I_", 11);
	const char *key = name + 11;
	SCOPED(free) char *plain = NULL;
	char *out;

	if ((!is_constructor && strncmp(name, "_GLOBAL__D_", 11)) || !*key)
		return NULL;
	plain = demangle_cpp(key);
	if (asprintf(&out, "global %s keyed to %s", is_constructor ? "constructors" : "destructors",
		     plain ? plain : key) < 0)
		return NULL;
	return out;
}

static char *demangle_whole(const char *name)
{
	if (is_rust_v0(name))
		return rust_v0_demangle(name);
	if (is_rust_legacy(name, strlen(name)))
		return demangle_legacy(name);
	return name[1] == 'Z' ? demangle_cpp(name) : demangle_keyed(name);
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
