// SPDX-License-Identifier: Apache-2.0
#include "bpf/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/cpus.h"
#include "core/array.h"

#define MAX_RECORD_LEN 65536

struct buffer { /* of one CPU */
	int fd;
	struct perf_event_mmap_page *page; /* NULL: the CPU is offline */
};

struct waiting {
	struct process_event ev;
	uint64_t number; /* events of one CPU at one time keep their order */
	char *name;
};

struct sideband {
	struct buffer *buffers; /* by CPU number */
	size_t n_buffers, n_open;
	size_t buffer_len;	 /* a power of two */
	int epoll_fd;		 /* borrowed; -1: nobody waits */
	struct waiting *waiting; /* [first, n): sorted by time */
	size_t first, n, cap;
	uint64_t n_seen, lost;
	uint8_t record[MAX_RECORD_LEN];
};

static size_t page_len(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* build_id is not asked for: kernels mark the records of other readers, who did not ask either, as
   if they had one when they are written after ours. A file of perf's becomes unreadable so. */
static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* -ENODEV: the CPU is offline. */
static int buffer_open(struct sideband *sb, int cpu)
{
	size_t len = page_len() + sb->buffer_len;
	int fd = open_event(cpu);
	void *page;

	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	page = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		int err = -errno;

		close(fd);
		return err;
	}
	sb->buffers[cpu] = (struct buffer){ fd, page };
	sb->n_open++;
	return 0;
}

static void buffer_close(struct sideband *sb, struct buffer *b)
{
	if (!b->page)
		return;
	munmap(b->page, page_len() + sb->buffer_len);
	close(b->fd);
	b->page = NULL;
	sb->n_open--;
}

struct sideband *sideband_new(size_t buffer_len, int *err)
{
	struct sideband *sb = calloc(1, sizeof(*sb));
	int n_cpus = cpus_possible();

	*err = -ENOMEM;
	if (!sb)
		return NULL;
	sb->epoll_fd = -1;
	sb->buffer_len = buffer_len;
	sb->buffers = calloc((size_t)n_cpus, sizeof(*sb->buffers));
	if (!sb->buffers)
		goto fail;
	sb->n_buffers = (size_t)n_cpus;
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		*err = buffer_open(sb, cpu);
		if (*err < 0 && *err != -ENODEV)
			goto fail;
	}
	*err = 0;
	return sb;
fail:
	sideband_free(sb);
	return NULL;
}

void sideband_free(struct sideband *sb)
{
	if (!sb)
		return;
	for (size_t i = 0; i < sb->n_buffers; i++)
		buffer_close(sb, &sb->buffers[i]);
	for (size_t i = 0; i < sb->n; i++)
		free(sb->waiting[i].name);
	free(sb->waiting);
	free(sb->buffers);
	free(sb);
}

static int buffer_watch(const struct sideband *sb, const struct buffer *b)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (!b->page || sb->epoll_fd < 0)
		return 0;
	return epoll_ctl(sb->epoll_fd, EPOLL_CTL_ADD, b->fd, &ev) < 0 ? -errno : 0;
}

int sideband_watch(struct sideband *sb, int epoll_fd)
{
	int err = 0;

	sb->epoll_fd = epoll_fd;
	for (size_t i = 0; i < sb->n_buffers && !err; i++)
		err = buffer_watch(sb, &sb->buffers[i]);
	return err;
}

static void keep(struct sideband *sb, const struct process_event *ev)
{
	struct waiting *w;

	if (ARRAY_RESERVE(sb->waiting, sb->cap, sb->n) < 0) {
		sb->lost++;
		return;
	}
	w = &sb->waiting[sb->n++];
	*w = (struct waiting){ .ev = *ev, .number = sb->n_seen++ };
	w->name = ev->name ? strdup(ev->name) : NULL;
	w->ev.name = w->name;
}

/* Copies the record at `at` out of the ring, where it may wrap around. Returns its size. */
static size_t copy_record(struct sideband *sb, const struct buffer *b, uint64_t at, uint64_t head)
{
	const uint8_t *data = (const uint8_t *)b->page + page_len();
	struct perf_event_header header;
	size_t start = at & (sb->buffer_len - 1), to_end = sb->buffer_len - start;

	/* Records are 8-byte aligned, so that a header never wraps. */
	memcpy(&header, data + start, sizeof(header));
	if (header.size < sizeof(header) || header.size > head - at)
		return 0;
	if (to_end > header.size)
		to_end = header.size;
	memcpy(sb->record, data + start, to_end);
	memcpy(sb->record + to_end, data, header.size - to_end);
	return header.size;
}

static void buffer_read(struct sideband *sb, struct buffer *b)
{
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = b->page->data_tail;
	struct process_event ev;
	size_t len;

	while (at < head) {
		len = copy_record(sb, b, at, head);
		if (!len)
			break;
		if (!sideband_decode(sb->record, len, &ev, &sb->lost))
			keep(sb, &ev);
		at += len;
	}
	__atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
}

void sideband_follow(struct sideband *sb, const struct cpus *cpus)
{
	for (size_t cpu = 0; cpu < sb->n_buffers && cpu < (size_t)cpus->n_possible; cpu++) {
		struct buffer *b = &sb->buffers[cpu];

		if (cpus->is_online[cpu] == !!b->page)
			continue;
		if (b->page) {
			buffer_read(sb, b);
			buffer_close(sb, b);
		} else if (buffer_open(sb, (int)cpu) || buffer_watch(sb, b)) {
			buffer_close(sb, b); /* tried again the next time */
		}
	}
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->ev.time_ns != y->ev.time_ns)
		return x->ev.time_ns < y->ev.time_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

size_t sideband_read(struct sideband *sb)
{
	size_t n_before;

	/* What was handed out is done with. */
	for (size_t i = 0; i < sb->first; i++)
		free(sb->waiting[i].name);
	sb->n -= sb->first;
	if (sb->first && sb->n)
		memmove(sb->waiting, sb->waiting + sb->first, sb->n * sizeof(*sb->waiting));
	sb->first = 0;
	n_before = sb->n;
	for (size_t i = 0; i < sb->n_buffers; i++)
		if (sb->buffers[i].page)
			buffer_read(sb, &sb->buffers[i]);
	if (sb->n > n_before)
		qsort(sb->waiting, sb->n, sizeof(*sb->waiting), by_time);
	return sb->n;
}

const struct process_event *sideband_next(struct sideband *sb, uint64_t time_ns)
{
	if (sb->first == sb->n || sb->waiting[sb->first].ev.time_ns > time_ns)
		return NULL;
	return &sb->waiting[sb->first++].ev;
}

uint64_t sideband_lost(const struct sideband *sb)
{
	return sb->lost;
}

size_t sideband_memory(const struct sideband *sb)
{
	return sizeof(*sb) + sb->n_open * (page_len() + sb->buffer_len) +
	       sb->n_buffers * sizeof(*sb->buffers) + sb->cap * sizeof(*sb->waiting);
}
