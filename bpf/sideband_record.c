// SPDX-License-Identifier: Apache-2.0
/* Decodes perf's records (linux/perf_event.h, enum perf_event_type), as sideband.c asks for them:
   each ends with struct sample_id of PERF_SAMPLE_TID | PERF_SAMPLE_TIME. */
#include "bpf/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "core/reader.h"

#define SAMPLE_ID_LEN 16 /* pid, tid, time */

/* fork and exit have one layout. */
static void read_task(struct reader *r, struct process_event *ev)
{
	ev->pid = (pid_t)reader_u32(r, "pid");
	ev->parent = (pid_t)reader_u32(r, "parent");
	ev->tid = (pid_t)reader_u32(r, "tid");
	reader_skip(r, 4, "parent thread");
	ev->time_ns = reader_u64(r, "time");
}

static void read_comm(struct reader *r, struct process_event *ev, uint16_t misc)
{
	ev->type = misc & PERF_RECORD_MISC_COMM_EXEC ? PROCESS_EXEC : PROCESS_COMM;
	ev->pid = (pid_t)reader_u32(r, "pid");
	ev->tid = (pid_t)reader_u32(r, "tid");
	ev->name = reader_string(r, "name");
}

/* Nobody asked for build ids, so these are no id even if another reader's mark says so
   (PERF_RECORD_MISC_MMAP_BUILD_ID, see sideband.c). */
static void read_inode(struct reader *r, struct process_event *ev)
{
	uint32_t major = reader_u32(r, "major"), minor = reader_u32(r, "minor");

	ev->dev = makedev(major, minor);
	ev->ino = reader_u64(r, "inode");
	ev->ino_generation = reader_u64(r, "inode generation");
}

/* False for a mapping without code. */
static bool read_mmap(struct reader *r, struct process_event *ev)
{
	uint32_t protection;

	ev->pid = (pid_t)reader_u32(r, "pid");
	ev->tid = (pid_t)reader_u32(r, "tid");
	ev->start = reader_u64(r, "address");
	ev->len = reader_u64(r, "length");
	ev->pgoff = reader_u64(r, "offset");
	read_inode(r, ev);
	protection = reader_u32(r, "protection");
	reader_skip(r, 4, "flags");
	ev->name = reader_string(r, "name");
	return protection & PROT_EXEC;
}

int sideband_decode(const void *record, size_t len, struct process_event *ev, uint64_t *lost)
{
	struct process_event out = { 0 };
	struct reader r, body, id;
	bool is_wanted = true;
	uint32_t type;
	uint16_t misc;

	reader_init(&r, record, len);
	type = reader_u32(&r, "type");
	misc = reader_u16(&r, "misc");
	reader_skip(&r, 2, "size");
	if (reader_left(&r) < SAMPLE_ID_LEN)
		return -EBADMSG;
	body = reader_sub(&r, reader_left(&r) - SAMPLE_ID_LEN, "body");
	id = reader_sub(&r, SAMPLE_ID_LEN, "sample id");
	reader_skip(&id, 8, "pid, tid");
	switch (type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		read_task(&body, &out);
		out.type = type == PERF_RECORD_FORK ? PROCESS_FORK : PROCESS_EXIT;
		break;
	case PERF_RECORD_COMM:
		read_comm(&body, &out, misc);
		break;
	case PERF_RECORD_MMAP2:
		out.type = PROCESS_MMAP;
		is_wanted = read_mmap(&body, &out);
		break;
	case PERF_RECORD_LOST:
		reader_skip(&body, 8, "id");
		*lost += reader_u64(&body, "lost");
		return -ENOENT;
	default:
		return -ENOENT;
	}
	out.time_ns = reader_u64(&id, "time");
	if (reader_error(&body) || reader_error(&id))
		return -EBADMSG;
	if (!is_wanted)
		return -ENOENT;
	*ev = out;
	return 0;
}
