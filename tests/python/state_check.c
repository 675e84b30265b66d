// SPDX-License-Identifier: Apache-2.0
/*
 * Starts an interpreter with state_target.py and finds in its memory what it says of itself: its
 * interpreters, threads, frames with their lines, code objects with their names, and which of them
 *is which after 500 have died.
 *
 *	state_check PYTHON state_target.py
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/reader.h"
#include "core/scoped.h"
#include "runtimes/python_code.h"
#include "runtimes/python_qualnames.h"

#define MAX_WORDS 8
#define N_LINES 4096
#define N_REUSES 500

struct target {
	pid_t pid;
	struct mem *m;
	FILE *in, *out; /* its */
	struct python_layout l;
	uint64_t runtime, tstate, interp, code_type, frame;
	uint64_t context, code; /* code: the last one */
	uint32_t identity;	/* its */
	char *words[MAX_WORDS];
	struct python_heap heap;
	struct python_qualnames *names;
	size_t n_words, n_codes, n_names, n_frames, n_wrong;
};

static void __attribute__((format(printf, 2, 3))) wrong(struct target *t, const char *format, ...)
{
	va_list args;

	t->n_wrong++;
	va_start(args, format);
	fprintf(stderr, "3.%u: ", PYTHON_MINOR(t->l.version));
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

static uint64_t peek(struct target *t, uint64_t addr, size_t len)
{
	uint8_t bytes[8] = { 0 };
	struct reader r;

	if (mem_read(t->m, addr, bytes, len) < 0)
		wrong(t, "%" PRIx64 " cannot be read", addr);
	reader_init(&r, bytes, sizeof(bytes));
	return reader_u64(&r, "word");
}

static uint64_t number(const struct target *t, size_t i)
{
	return i < t->n_words ? strtoull(t->words[i], NULL, 10) : 0;
}

static void expect(struct target *t, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		wrong(t, "%s is %" PRIx64 ", not %" PRIx64, what, got, want);
}

/* Text as the target writes it. */
static void expect_text(struct target *t, const char *what, const void *got, size_t len,
			const char *want)
{
	const uint8_t *bytes = got;

	if (strlen(want) != 1 + 2 * len) {
		wrong(t, "%s has %zu bytes, not %zu", what, len, strlen(want) / 2);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		char hex[3];

		snprintf(hex, sizeof(hex), "%02x", bytes[i]);
		if (memcmp(hex, want + 1 + 2 * i, 2)) {
			wrong(t, "%s is \"%.*s\", not %s", what, (int)len, (const char *)got, want);
			return;
		}
	}
}

static void on_runtime(struct target *t)
{
	uint32_t version = (uint32_t)number(t, 1);
	uint8_t bytes[PYTHON_DEBUG_LEN];
	int err;

	t->l.version = version;
	t->runtime = number(t, 3);
	if (version < PYTHON_FIRST(3, 13)) {
		err = python_layout_of_version(version, number(t, 2), &t->l);
	} else {
		err = mem_read(t->m, t->runtime, bytes, sizeof(bytes));
		if (err == 0)
			err = python_layout_parse(bytes, sizeof(bytes), &t->l);
	}
	if (err < 0)
		wrong(t, "no layout: %s", strerror(-err));
	if (version >= PYTHON_FIRST(3, 7) && python_heap_init(&t->heap, t->m, &t->l) < 0)
		wrong(t, "no heap");
	expect(t, "version", t->l.version, version);
	expect(t, "free-threaded", t->l.is_free_threaded, number(t, 2));
}

/* From the runtime to the thread, as a profiler comes to it. */
static void on_thread(struct target *t)
{
	const struct python_layout *l = &t->l;
	uint64_t head;

	t->tstate = number(t, 1);
	t->interp = peek(t, t->tstate + l->thread.interp, 8);
	if (t->runtime) {
		expect(t, "interpreter", peek(t, t->runtime + l->runtime.interpreters_head, 8),
		       t->interp);
		expect(t, "end of it", peek(t, t->runtime + l->runtime.finalizing, 8), 0);
	}
	if (l->interp.id)
		expect(t, "interpreter id", peek(t, t->interp + l->interp.id, 8), 0);
	expect(t, "next interpreter", peek(t, t->interp + l->interp.next, 8), 0);
	head = peek(t, t->interp + l->interp.threads_head, 8);
	expect(t, "thread", head, t->tstate);
	expect(t, "next thread", peek(t, head + l->thread.next, 8), 0);
	expect(t, "thread id", peek(t, head + l->thread.thread_id, 8), number(t, 2));
	if (l->thread.native_thread_id)
		expect(t, "native id", peek(t, head + l->thread.native_thread_id, 8), number(t, 3));
}

static void on_code(struct target *t)
{
	struct python_code c;
	int err = -EBADMSG;

	t->n_codes++;
	t->code = number(t, 1);
	if (t->n_words == 7)
		err = python_code_read(t->m, &t->l, t->code, t->code_type, &c);
	if (err < 0) {
		wrong(t, "code %s: %s", t->words[2], strerror(-err));
		return;
	}
	expect_text(t, "name", c.name, c.name_len, t->words[2]);
	expect_text(t, "file", c.file, c.file_len, t->words[3]);
	expect(t, "first line", (uint64_t)c.first_line, number(t, 4));
	expect(t, "flags", c.flags, number(t, 5));
	expect_text(t, "line table", c.lines, c.lines_len, t->words[6]);
	t->identity = c.identity;
	python_code_deinit(&c);
}

static uint64_t first_frame(struct target *t)
{
	const struct python_layout *l = &t->l;
	uint64_t cframe;

	if (l->chain <= PYTHON_CFRAMES)
		return peek(t, t->tstate + l->thread.frame, 8);
	if (!l->thread.cframe)
		return peek(t, t->tstate + l->thread.current_frame, 8);
	cframe = peek(t, t->tstate + l->thread.cframe, 8);
	return peek(t, cframe + l->cframe.current_frame, 8);
}

static bool is_shim(struct target *t, uint64_t frame)
{
	return t->l.chain == PYTHON_SHIMS &&
	       peek(t, frame + t->l.frame.owner, 1) >= PYTHON_OWNER_SHIM;
}

/* The target is in the function that wrote this, and waits. */
static void on_frame(struct target *t)
{
	const struct python_layout *l = &t->l;
	struct python_code c;
	uint64_t code, instr;
	int line = -1, err;

	if (!t->n_frames++)
		t->frame = first_frame(t);
	while (t->frame && is_shim(t, t->frame))
		t->frame = peek(t, t->frame + l->frame.previous, 8);
	if (!t->frame) {
		wrong(t, "frame %zu is not there", t->n_frames);
		return;
	}
	code = peek(t, t->frame + l->frame.code, 8) & ~3ull;
	instr = peek(t, t->frame + l->frame.instr, l->instr == PYTHON_INSTR_POINTER ? 8 : 4);
	t->frame = peek(t, t->frame + l->frame.previous, 8);
	err = python_code_read(t->m, l, code, t->code_type, &c);
	if (err < 0) {
		wrong(t, "code of frame %zu: %s", t->n_frames, strerror(-err));
		return;
	}
	expect_text(t, "frame", c.name, c.name_len, t->words[1]);
	python_code_line(l, &c, python_position(l, code, instr), &line);
	expect(t, "line", (uint64_t)line, number(t, 2));
	python_code_deinit(&c);
}

/* Of 3.7 to 3.10: what a function says of the code object. "=": nobody does for sure. */
static void on_name(struct target *t)
{
	SCOPED(free) char *name = NULL;
	SCOPED(free) char *qualname = NULL;
	struct python_code c;

	t->n_names++;
	if (python_code_read(t->m, &t->l, number(t, 1), t->code_type, &c) < 0) {
		wrong(t, "code of %s", t->words[2]);
		return;
	}
	name = c.name;
	c.name = NULL;
	python_code_deinit(&c);
	qualname = python_qualnames_find(t->names, &t->heap, t->interp, number(t, 1), name);
	if (qualname || t->words[3][1])
		expect_text(t, "qualified name", qualname ? qualname : "",
			    qualname ? strlen(qualname) : 0, t->words[3]);
}

static void on_tuple(struct target *t)
{
	const struct python_layout *l = &t->l;

	expect(t, "tuple's length", peek(t, number(t, 1) + l->tuple.size, 8), number(t, 2));
	expect(t, "its last item", peek(t, number(t, 1) + l->tuple.items + 8 * 6, 8), number(t, 3));
}

static void on_int(struct target *t)
{
	uint64_t tag = peek(t, number(t, 1) + t->l.integer.tag, 8);

	expect(t, "number of digits", t->l.version < PYTHON_FIRST(3, 12) ? tag : tag >> 3, 1);
	expect(t, "digit", peek(t, number(t, 1) + t->l.integer.digits, 4), number(t, 2));
}

static void on_type(struct target *t)
{
	uint8_t name[5] = { 0 };

	t->code_type = number(t, 1);
	mem_read(t->m, peek(t, t->code_type + t->l.type.name, 8), name, sizeof(name));
	if (memcmp(name, "code", 5))
		wrong(t, "the type of code objects is called %.5s", (char *)name);
}

static void on_modules(struct target *t)
{
	expect(t, "sys.modules", peek(t, t->interp + t->l.interp.modules, 8), number(t, 1));
}

static void on_context(struct target *t)
{
	/* It is entered later. */
	t->context = number(t, 1);
}

static void on_specific(struct target *t)
{
	if (t->l.runtime.tss_key && number(t, 1))
		expect(t, "the thread's own slot", number(t, 1), t->tstate);
}

static const struct {
	const char *word;
	void (*fn)(struct target *t);
} words[] = {
	{ "runtime", on_runtime },   { "thread", on_thread },	{ "code", on_code },
	{ "frame", on_frame },	     { "tuple", on_tuple },	{ "int", on_int },
	{ "type", on_type },	     { "modules", on_modules }, { "context", on_context },
	{ "specific", on_specific }, { "name", on_name },
};

/* What the target says until it waits; whoever looks at it before sees it on its way. */
struct round {
	char *lines[N_LINES];
	size_t n;
};

static void round_free(struct round *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->lines[i]);
	free(r);
}

static struct round *round_read(struct target *t)
{
	struct round *r = calloc(1, sizeof(*r));

	while (r && r->n < N_LINES) {
		size_t cap = 0;

		if (getline(&r->lines[r->n], &cap, t->out) < 0)
			break;
		if (!strcmp(r->lines[r->n++], "end\n"))
			return r;
	}
	wrong(t, "the target ended");
	return r;
}

static void split(struct target *t, char *line)
{
	char *rest = NULL;

	t->n_words = 0;
	for (char *w = strtok_r(line, " \n", &rest); w && t->n_words < MAX_WORDS;
	     w = strtok_r(NULL, " \n", &rest))
		t->words[t->n_words++] = w;
}

static void round_check(struct target *t)
{
	struct round *r = round_read(t);

	for (size_t i = 0; r && i < r->n; i++) {
		split(t, r->lines[i]);
		for (size_t w = 0; t->n_words && w < sizeof(words) / sizeof(*words); w++)
			if (!strcmp(t->words[0], words[w].word))
				words[w].fn(t);
	}
	if (r)
		round_free(r);
}

/* Functions that take each other's place: none has the identity of another. */
static void check_reuses(struct target *t)
{
	static struct {
		uint64_t addr;
		uint32_t identity;
	} seen[N_REUSES];
	size_t n_again = 0;

	for (size_t i = 0; i < N_REUSES && !t->n_wrong; i++) {
		bool is_again = false;

		fputs("more\n", t->in);
		fflush(t->in);
		round_check(t);
		for (size_t j = 0; j < i; j++) {
			if (seen[j].addr != t->code)
				continue;
			is_again = true;
			if (seen[j].identity == t->identity)
				wrong(t, "code objects %zu and %zu are one", j, i);
		}
		n_again += is_again;
		seen[i].addr = t->code;
		seen[i].identity = t->identity;
	}
	printf(", %zu of %d new ones where others died", n_again, N_REUSES);
}

static void start(struct target *t, const char *python, const char *script)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		exit(2);
	t->pid = fork();
	if (t->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(python, python, script, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	t->in = fdopen(in[1], "w");
	t->out = fdopen(out[0], "r");
}

static int tss_key(struct target *t)
{
	return t->l.runtime.tss_key ? (int)peek(t, t->runtime + t->l.runtime.tss_key, 4) : -1;
}

int main(int argc, char **argv)
{
	struct target t = { 0 };
	int status;

	if (argc != 3)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	start(&t, argv[1], argv[2]);
	/* Before the first line nobody knows that it has become the interpreter. */
	ungetc(fgetc(t.out), t.out);
	t.m = mem_live(t.pid, NULL);
	t.names = python_qualnames_new(PYTHON_MAX_QUALNAMES);
	round_check(&t);
	if (t.context)
		expect(&t, "context", peek(&t, t.tstate + t.l.thread.context, 8), t.context);
	if (t.l.thread.state)
		expect(&t, "state", peek(&t, t.tstate + t.l.thread.state, 4), 0);
	printf("%zu code objects, %zu qualified names, %zu frames", t.n_codes, t.n_names,
	       t.n_frames);
	fprintf(t.in, "%d\n", tss_key(&t));
	fflush(t.in);
	round_check(&t);
	check_reuses(&t);
	printf(", %zu wrong\n", t.n_wrong);
	fputs("\n", t.in);
	fclose(t.in);
	fclose(t.out);
	waitpid(t.pid, &status, 0);
	python_qualnames_free(t.names);
	python_heap_deinit(&t.heap);
	mem_free(t.m);
	return t.n_wrong || status || t.n_codes < 30 || t.n_frames < 8;
}
