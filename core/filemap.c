// SPDX-License-Identifier: Apache-2.0
#include "core/filemap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GUARDS_PER_BLOCK 128

/* What the signal handler may know of a mapping. Blocks are never freed, so the handler can walk
   them at any time; start is written last when a guard is taken and first when it is given back. */
struct guard {
	_Atomic uintptr_t start, end;
	atomic_bool is_cut;
};

struct guard_block {
	struct guard guards[GUARDS_PER_BLOCK];
	struct guard_block *_Atomic next;
};

struct filemap {
	void *data;
	size_t len, mapped;
	struct guard *guard;
};

static struct guard_block first_block;
static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction old_action;
static size_t page_size;

static struct guard *guard_of(uintptr_t addr)
{
	for (struct guard_block *b = &first_block; b; b = atomic_load(&b->next)) {
		for (size_t i = 0; i < GUARDS_PER_BLOCK; i++) {
			struct guard *g = &b->guards[i];
			uintptr_t start = atomic_load(&g->start);

			if (start && addr >= start && addr < atomic_load(&g->end))
				return g;
		}
	}
	return NULL;
}

/* Async-signal-safe: atomics and the bare system calls mmap and sigaction. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	uintptr_t addr = (uintptr_t)info->si_addr;
	struct guard *g = info->si_code > 0 ? guard_of(addr) : NULL;
	void *page = (void *)(addr & ~(page_size - 1));

	(void)context;
	if (g && mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
			 page)
		atomic_store(&g->is_cut, true);
	else
		sigaction(sig, &old_action, NULL); /* returning faults again, without us */
	errno = saved_errno;
}

/* Asked for each mapping: somebody else may have put a handler over ours. Called with the lock
 * held. */
static void install_handler(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction current;

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, NULL, &current) == 0 && current.sa_sigaction != on_sigbus) {
		old_action = current;
		sigaction(SIGBUS, &action, NULL);
	}
}

/* A free guard, its end not set yet; NULL without memory. Called with the lock held. */
static struct guard *guard_take(void)
{
	struct guard_block *last = &first_block;

	for (struct guard_block *b = &first_block; b; b = atomic_load(&b->next)) {
		for (size_t i = 0; i < GUARDS_PER_BLOCK; i++)
			if (!atomic_load(&b->guards[i].start))
				return &b->guards[i];
		last = b;
	}
	atomic_store(&last->next, calloc(1, sizeof(*last)));
	return atomic_load(&last->next) ? atomic_load(&last->next)->guards : NULL;
}

static int guard_set(struct filemap *m)
{
	struct guard *g;

	pthread_mutex_lock(&guard_lock);
	install_handler();
	g = guard_take();
	if (g) {
		atomic_store(&g->is_cut, false);
		atomic_store(&g->end, (uintptr_t)m->data + m->mapped);
		atomic_store(&g->start, (uintptr_t)m->data);
	}
	pthread_mutex_unlock(&guard_lock);
	m->guard = g;
	return g ? 0 : -ENOMEM;
}

/* Reserves zero pages and lays the file over all but the last, which ends every string. */
static int map_file(struct filemap *m, int fd, size_t len)
{
	int prot = PROT_READ, flags = MAP_PRIVATE;
	size_t pages;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	pages = (len + page_size - 1) & ~(page_size - 1);
	m->len = len;
	m->mapped = pages + page_size;
	m->data = mmap(NULL, m->mapped, prot, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->data == MAP_FAILED)
		return -errno;
	if (mmap(m->data, pages, prot, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
		return -errno;
	return guard_set(m);
}

struct filemap *filemap_new(int fd, int *err)
{
	struct filemap *m;
	struct stat st;

	if (fstat(fd, &st) < 0) {
		*err = -errno;
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX / 4) {
		*err = S_ISREG(st.st_mode) && st.st_size == 0 ? -EBADMSG : -EINVAL;
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	*err = m ? map_file(m, fd, (size_t)st.st_size) : -ENOMEM;
	if (*err < 0) {
		filemap_free(m);
		return NULL;
	}
	return m;
}

void filemap_free(struct filemap *m)
{
	if (!m)
		return;
	if (m->guard)
		atomic_store(&m->guard->start, 0);
	if (m->data && m->data != MAP_FAILED)
		munmap(m->data, m->mapped);
	free(m);
}

const void *filemap_data(const struct filemap *m)
{
	return m->data;
}

size_t filemap_len(const struct filemap *m)
{
	return m->len;
}

bool filemap_is_cut(const struct filemap *m)
{
	return m->guard && atomic_load(&m->guard->is_cut);
}
