// SPDX-License-Identifier: Apache-2.0
/*
 * lying_python LIE [FILE]: a program that looks like CPython 3.11 to a profiler, and works on in a
 * function of its own. Its structures are right, as an honest interpreter's, until they lie. Not
 * built by itself: python_hostile_test.sh compiles it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_FRAMES 4096
#define N_CODES 64
#define PAGE 4096
#define LINES_LEN 200000

/* What is at which offset, in 3.11. */
enum {
	RUNTIME_INTERPRETERS = 40,
	RUNTIME_TSTATE = 576,
	INTERP_THREADS = 16,
	INTERP_MODULES = 888,
	THREAD_INTERP = 16,
	THREAD_CFRAME = 56,
	THREAD_ID = 152,
	CFRAME_FRAME = 8,
	FRAME_CODE = 32,
	FRAME_PREVIOUS = 48,
	FRAME_INSTR = 56,
	FRAME_IS_ENTRY = 68,
	CODE_FIRST_LINE = 72,
	CODE_FILE = 112,
	CODE_NAME = 120,
	CODE_QUALNAME = 128,
	CODE_LINES = 136,
	CODE_CODE = 184,
};

typedef struct {
	char bytes[1024] __attribute__((aligned(16)));
} object;

object _PyRuntime, PyCode_Type, PyUnicode_Type, PyLong_Type, PyBytes_Type, PyDict_Type;
const uint32_t Py_Version = 0x030b07f0;
static const char says_version[] __attribute__((used)) = "python3.11";

static object interp, thread, modules, cframe, file, name, frames[N_FRAMES], codes[N_CODES];
static char lines[32 + LINES_LEN] __attribute__((aligned(16)));
static volatile uint32_t n_rounds;

static void put(void *at, size_t off, uint64_t value)
{
	memcpy((char *)at + off, &value, sizeof(value));
}

static void put_pointer(void *at, size_t off, const volatile void *to)
{
	put(at, off, (uintptr_t)to);
}

static void put_int(void *at, size_t off, uint32_t value)
{
	memcpy((char *)at + off, &value, sizeof(value));
}

static void make_type(object *type, const char *called)
{
	put_pointer(type, 24, called);
}

static void make_str(void *str, const char *text)
{
	put_pointer(str, 8, &PyUnicode_Type);
	put(str, 16, strlen(text));
	put(str, 24, strlen(text) * 12345); /* hash */
	put_int(str, 32, 1 << 2 | 1 << 5 | 1 << 6);
	strcpy((char *)str + 48, text);
}

static void make_code(object *code, uint32_t line)
{
	put_pointer(code, 8, &PyCode_Type);
	put(code, 16, 4);
	put_int(code, CODE_FIRST_LINE, line);
	put_pointer(code, CODE_FILE, &file);
	put_pointer(code, CODE_NAME, &name);
	put_pointer(code, CODE_QUALNAME, &name);
	put_pointer(code, CODE_LINES, lines);
}

static void make_frame(object *frame, object *code, object *previous)
{
	put_pointer(frame, FRAME_CODE, code);
	put_pointer(frame, FRAME_PREVIOUS, previous);
	put_pointer(frame, FRAME_INSTR, code->bytes + CODE_CODE);
	frame->bytes[FRAME_IS_ENTRY] = 1;
}

/* An interpreter with one thread that is in three functions. */
static void make_all(void)
{
	make_type(&PyCode_Type, "code");
	make_type(&PyUnicode_Type, "str");
	make_type(&PyBytes_Type, "bytes");
	make_type(&PyDict_Type, "dict");
	make_str(&name, "innocent");
	make_str(&file, "/srv/innocent.py");
	put_pointer(&modules, 8, &PyDict_Type);
	put_pointer(lines, 8, &PyBytes_Type);
	put(lines, 16, 2);
	lines[32] = (char)0xe9; /* no columns, two units, one line further */
	lines[33] = 2;
	for (int i = 0; i < N_CODES; i++)
		make_code(&codes[i], 7 + (uint32_t)i);
	for (int i = 0; i < N_FRAMES; i++)
		make_frame(&frames[i], &codes[i % N_CODES], i < 2 ? &frames[i + 1] : NULL);
	put_pointer(&cframe, CFRAME_FRAME, &frames[0]);
	put_pointer(&thread, THREAD_INTERP, &interp);
	put_pointer(&thread, THREAD_CFRAME, &cframe);
	put(&thread, THREAD_ID, (uint64_t)pthread_self());
	put_pointer(&interp, INTERP_THREADS, &thread);
	put_pointer(&interp, INTERP_MODULES, &modules);
	put_pointer(&_PyRuntime, RUNTIME_INTERPRETERS, &interp);
	put_pointer(&_PyRuntime, RUNTIME_TSTATE, &thread);
}

__attribute__((noinline)) void _PyEval_EvalFrameDefault(uint32_t n)
{
	for (volatile uint32_t i = 0; i < n; i++)
		;
}

/* Frames that never end. */
static void circle(void)
{
	for (int i = 0; i < 100; i++)
		put_pointer(&frames[i], FRAME_PREVIOUS, &frames[(i + 1) % 100]);
}

/* More of them than are walked. */
static void deep(void)
{
	for (int i = 0; i + 1 < N_FRAMES; i++)
		put_pointer(&frames[i], FRAME_PREVIOUS, &frames[i + 1]);
}

/* Code objects that are others all the time. */
static void new_codes(void)
{
	deep();
	for (uint32_t i = 0; i < N_CODES; i++)
		put_int(&codes[i], CODE_FIRST_LINE, n_rounds * N_CODES + i);
}

/* A name of 1 GB. */
static void long_name(void)
{
	put(&name, 16, 1 << 30);
}

/* Code objects that are nowhere, and the frames that refer to them last: the stack is never deep
   and honest, not for a moment. */
static void nowhere(void)
{
	for (int i = 3; i < N_FRAMES; i++)
		put(&frames[i], FRAME_CODE, 0xdead000 + (uint64_t)i * PAGE);
	deep();
}

/* Positions that are others all the time, in the longest line tables. */
static void long_lines(void)
{
	deep();
	put(lines, 16, LINES_LEN);
	memset(lines + 32, 0xe9, LINES_LEN);
	for (int i = 1; i < LINES_LEN; i += 2)
		lines[32 + i] = 0;
	for (int i = 0; i < N_CODES; i++)
		put(&codes[i], 16, 1 << 20);
	for (int i = 0; i < N_FRAMES; i++)
		put_pointer(&frames[i], FRAME_INSTR,
			    codes[i % N_CODES].bytes + CODE_CODE + LINES_LEN +
				    2 * ((n_rounds * 977 + (uint32_t)i) % 50000));
}

/* Two pointers more in the head of each object, as a build with Py_TRACE_REFS has. */
static void traced(void)
{
	for (int i = 0; i < N_CODES; i++) {
		object code = codes[i];

		memset(&codes[i], 0, sizeof(codes[i]));
		memcpy(codes[i].bytes + 16, code.bytes, sizeof(code) - 16);
	}
}

static const char *far_file;

/* The name is at the end of a file, where only its file system can say what is there. */
static void far_name(void)
{
	int fd = open(far_file, O_RDONLY);
	struct stat st;
	char *map;

	if (fd < 0 || fstat(fd, &st))
		exit(1);
	map = mmap(0, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		exit(1);
	for (int i = 0; i < N_CODES; i++) {
		put_pointer(&codes[i], CODE_NAME, map + (st.st_size - PAGE) / PAGE * PAGE);
		put_pointer(&codes[i], CODE_QUALNAME, map + (st.st_size - PAGE) / PAGE * PAGE);
	}
}

static volatile sig_atomic_t is_time;

static void on_time(int sig)
{
	is_time = sig;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*tell)(void);
		int always; /* told again and again */
	} lies[] = {
		{ "none", NULL, 0 },	       { "circle", circle, 0 },
		{ "deep", deep, 0 },	       { "codes", new_codes, 1 },
		{ "long_name", long_name, 0 }, { "nowhere", nowhere, 0 },
		{ "lines", long_lines, 1 },    { "traced", traced, 0 },
		{ "far", far_name, 0 },
	};
	size_t which = 0; /* none */

	prctl(PR_SET_PDEATHSIG, 9);
	for (size_t i = 0; argc > 1 && i < sizeof(lies) / sizeof(*lies); i++)
		if (!strcmp(argv[1], lies[i].name))
			which = i;
	far_file = argc > 2 ? argv[2] : argv[0];
	make_all();
	/* Honest until SIGUSR1 comes, unless the lie is about the beginning. */
	signal(SIGUSR1, on_time);
	puts("begins");
	fflush(stdout);
	while (!is_time && lies[which].tell != traced && lies[which].tell != far_name)
		_PyEval_EvalFrameDefault(200000);
	if (lies[which].tell)
		lies[which].tell();
	for (;; n_rounds++) {
		_PyEval_EvalFrameDefault(200000);
		if (lies[which].always)
			lies[which].tell();
	}
}
