// SPDX-License-Identifier: Apache-2.0
#include "core/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/mem_reader.h"

/* Hardly a page takes that long that comes from a disk, and none from a reader that has its turn
   late. */
#define DEADLINE_NS (NS_PER_S / 4)
#define MIN_PAUSE_NS NS_PER_S /* until a process that kept us waiting is asked again */
#define MAX_PAUSE_NS (64 * NS_PER_S)
/* What any read may take, and is no waiting. */
#define QUICK_NS UINT64_C(2000000)
/* Readers that were left behind and may still be there, each with some MB of address space. */
#define MAX_STUCK 16

/* Of one process, of all together, and of those that kept us waiting before: beyond it nothing is
   read until time has passed. */
static const struct allowance_limits each = { NS_PER_S / 2, NS_PER_S / 100 },
				     all = { 4 * NS_PER_S, NS_PER_S / 50 },
				     again = { NS_PER_S / 2, NS_PER_S / 100 };

struct live_mem {
	struct mem m;
	int fd, err; /* fd -1: err says why */
	struct mem_patience *patience, own;
	uint64_t number; /* that no other one has */
};

/* The one reader of this program. */
static struct {
	struct mem_reader process;
	uint64_t number; /* of the memory it has open; 0: none */
	uint64_t last_number, cpu_ns;
	struct allowance waits, again;
	pid_t stuck[MAX_STUCK];
	unsigned int n_stuck;
} reader;

/* Those that were left behind end when what they wait for does. */
static void reap(void)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < reader.n_stuck; i++)
		if (waitpid(reader.stuck[i], NULL, WNOHANG) == 0)
			reader.stuck[kept++] = reader.stuck[i];
	reader.n_stuck = kept;
}

/* Is it not yet time to ask the process again? */
static bool is_stuck(struct mem_patience *p, uint64_t now_ns)
{
	if (!p->is_stuck)
		return false;
	for (unsigned int i = 0; i < reader.n_stuck; i++)
		if (reader.stuck[i] == p->left_behind)
			return true;
	return now_ns < p->again_ns;
}

static void leave_behind(struct mem_patience *p, uint64_t now_ns)
{
	uint64_t pause = p->pause_ns ? 2 * p->pause_ns : MIN_PAUSE_NS;

	p->is_stuck = true;
	p->left_behind = reader.process.pid;
	p->pause_ns = pause < MAX_PAUSE_NS ? pause : MAX_PAUSE_NS;
	p->again_ns = now_ns + p->pause_ns;
	reader.stuck[reader.n_stuck++] = reader.process.pid;
}

/* Who answered for longer than it was left alone before begins anew. */
static void forgive(struct mem_patience *p, uint64_t now_ns)
{
	p->is_stuck = false;
	if (now_ns > p->again_ns && now_ns - p->again_ns > p->pause_ns)
		p->pause_ns = 0;
}

/* Is anything left of what the process may make us wait? However many are asked again, the others
   are read. */
static bool may_wait(struct mem_patience *p, uint64_t now_ns)
{
	if (!allowance_left(&p->waits, &each, now_ns))
		return false;
	return p->pause_ns ? allowance_left(&reader.again, &again, now_ns)
			   : allowance_left(&reader.waits, &all, now_ns);
}

static void note_wait(struct mem_patience *p, uint64_t ns)
{
	allowance_use(&p->waits, ns);
	allowance_use(p->pause_ns ? &reader.again : &reader.waits, ns);
}

static uint64_t reader_cpu_ns(void)
{
	clockid_t clock;

	if (!reader.process.pid || clock_getcpuclockid(reader.process.pid, &clock))
		return 0;
	return clock_ns(clock);
}

uint64_t mem_live_cpu_ns(void)
{
	return reader.cpu_ns + reader_cpu_ns();
}

static void reader_stop(bool is_stuck)
{
	reader.cpu_ns += reader_cpu_ns();
	mem_reader_stop(&reader.process, is_stuck);
	reader.number = 0;
}

void mem_live_begin(void)
{
	if (!reader.process.pid)
		mem_reader_start(&reader.process, DEADLINE_NS);
}

void mem_live_end(void)
{
	reader_stop(false);
	reap();
}

/* A reader that has this memory open. */
static int reader_for(const struct live_mem *live)
{
	int err = 0;

	mem_live_begin();
	if (!reader.process.pid)
		return -EAGAIN;
	if (reader.number != live->number)
		err = mem_reader_open(&reader.process, live->fd);
	reader.number = err ? 0 : live->number;
	return err;
}

/* As mem_reader_read(). */
static int ask(struct live_mem *live, struct mem_place *places, size_t n)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), waited = 0;
	int err;

	reap();
	if (reader.n_stuck >= MAX_STUCK || is_stuck(live->patience, start) ||
	    !may_wait(live->patience, start))
		return -ETIMEDOUT;
	err = reader_for(live);
	if (!err)
		err = mem_reader_read(&reader.process, places, n, &waited);
	/* What the machine's load takes of the way there and back is not the target's. */
	if (err == -ETIMEDOUT)
		waited = clock_ns(CLOCK_MONOTONIC) - start;
	if (waited > QUICK_NS)
		note_wait(live->patience, waited);
	if (err == -ETIMEDOUT)
		leave_behind(live->patience, start + waited);
	else if (!err)
		forgive(live->patience, start);
	if (err == -ETIMEDOUT || err == -EPIPE)
		reader_stop(err == -ETIMEDOUT);
	return err == -EPIPE ? -EAGAIN : err;
}

/*
 * /proc/PID/mem instead of process_vm_readv(): the descriptor stays with the address space it was
 * opened for, so a reused pid or an exec can never answer in its place, and pages that are
 * executable only are readable too.
 */
static int live_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	struct live_mem *live = (struct live_mem *)m;
	uint8_t *to = buf;

	if (live->fd < 0)
		return live->err;
	if (addr > INT64_MAX || len > INT64_MAX - addr)
		return -EFAULT;
	while (len) {
		size_t part = len < MEM_READER_MAX ? len : MEM_READER_MAX;
		struct mem_place place = { addr, part, to, 0 };
		int err = ask(live, &place, 1);

		if (err || place.err)
			return err ? err : place.err;
		addr += part;
		to += part;
		len -= part;
	}
	return 0;
}

/* How many from the first on fit one answer. */
static size_t places_at_once(const struct mem_place *places, size_t n)
{
	size_t i = 0, len = 0;

	while (i < n && i < MEM_READER_PLACES && places[i].len <= MEM_READER_MAX - len &&
	       places[i].addr <= INT64_MAX && places[i].len <= INT64_MAX - places[i].addr)
		len += places[i++].len;
	return i;
}

static void live_read_many(struct mem *m, struct mem_place *places, size_t n)
{
	struct live_mem *live = (struct live_mem *)m;

	for (size_t i = 0; i < n;) {
		size_t some = live->fd < 0 ? 0 : places_at_once(places + i, n - i);
		int err = some ? ask(live, places + i, some) : 0;

		if (!some) { /* what cannot be, and what is too long */
			places[i].err = live_read(m, places[i].addr, places[i].buf, places[i].len);
			some = 1;
		}
		for (size_t k = i; err && k < i + some; k++)
			places[k].err = err;
		i += some;
	}
}

static void live_free(struct mem *m)
{
	struct live_mem *live = (struct live_mem *)m;

	if (live->fd >= 0)
		close(live->fd);
	free(live);
}

struct mem *mem_live(pid_t pid, struct mem_patience *patience)
{
	static const struct mem_ops ops = { live_read, live_free, live_read_many };
	struct live_mem *live = calloc(1, sizeof(*live));
	char path[32];

	if (!live)
		return NULL;
	reap();
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	live->m.ops = &ops;
	live->patience = patience ? patience : &live->own;
	live->number = ++reader.last_number;
	live->fd = open(path, O_RDONLY | O_CLOEXEC);
	live->err = live->fd >= 0 ? 0 : errno == EACCES || errno == EPERM ? -EPERM : -ESRCH;
	return &live->m;
}
