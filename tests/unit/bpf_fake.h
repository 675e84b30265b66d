/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For tests: what the kernel half stands on, so that it can be compiled for the host. Included
 * before its headers, in place of libbpf's, whose helpers are numbers that only the kernel can
 * call. One CPU and one task; of the maps only the scratch has something in it, and one array.
 */
#ifndef TESTS_UNIT_BPF_FAKE_H
#define TESTS_UNIT_BPF_FAKE_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define __BPF_HELPERS__
#define __BPF_CORE_READ_H__
#define SEC(name)
#undef __weak
#define __weak __attribute__((unused))
#define __uint(name, val) int(*name)[val]
#define __type(name, val) __typeof__(val) *name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))

#define BPF_CORE_READ_1(s, a) ((s)->a)
#define BPF_CORE_READ_2(s, a, b) ((s)->a->b)
#define BPF_CORE_READ_N(a, b, n, ...) n
#define BPF_CORE_READ(s, ...) \
	BPF_CORE_READ_N(__VA_ARGS__, BPF_CORE_READ_2, BPF_CORE_READ_1, )(s, __VA_ARGS__)

/* A kernel without ORC tables. */
#define BPF_CORE_READ_BITFIELD_PROBED(s, field) ((s)->field)
#define bpf_core_field_exists(field) true
#define bpf_core_type_exists(type) false
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_read(to, len, from) bpf_probe_read_kernel(to, len, from)

#define FAKE_RING_LEN (1 << 16)

static struct {
	const void *scratches; /* the map */
	void *scratch;	       /* and what is in it */
	const void *array;     /* a map of many values, its values and how long one is */
	uint8_t *values;
	size_t value_len;
	const void *processes; /* a map, and its only entry */
	void *process;
	size_t n_looked_up;
	uint64_t now_ns;
	void *task;
	const void *saved_regs; /* NULL: they cannot be read */
	const uint64_t *kernel_stack;
	size_t n_kernel;
	/* Of user space: pcs and their files. */
	const uint64_t *pcs;
	const struct bpf_stack_build_id *files;
	size_t n_pcs;
	/* And its memory: so much of it, from an address on, and how often it was read. */
	const uint8_t *memory;
	uint64_t memory_at;
	size_t memory_len, n_reads;
	uint8_t ring[FAKE_RING_LEN] __attribute__((aligned(8)));
	size_t ring_len, ring_waiting;
} fake;

static inline void *bpf_get_current_task_btf(void)
{
	return fake.task;
}

static inline uint64_t bpf_get_current_task(void)
{
	return (uintptr_t)fake.task;
}

static inline long bpf_task_pt_regs(void *task)
{
	(void)task;
	return (long)(uintptr_t)fake.saved_regs;
}

static inline uint64_t bpf_get_current_pid_tgid(void)
{
	return 42ULL << 32 | 43;
}

static inline uint64_t bpf_get_current_cgroup_id(void)
{
	return 7;
}

static inline long bpf_get_current_comm(void *buf, uint32_t len)
{
	memset(buf, 0, len);
	return 0;
}

static inline uint64_t bpf_ktime_get_ns(void)
{
	return 1000 + fake.now_ns;
}

static inline uint32_t bpf_get_smp_processor_id(void)
{
	return 0;
}

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	uint32_t index;

	if (fake.processes && map == fake.processes) {
		fake.n_looked_up++;
		return fake.process;
	}
	memcpy(&index, key, sizeof(index));
	if (fake.array && map == fake.array)
		return fake.values + index * fake.value_len;
	return map == fake.scratches ? fake.scratch : NULL;
}

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value,
				       __u64 flags)
{
	(void)map, (void)key, (void)value, (void)flags;
	return 0;
}

/* Where the registers are is worked out from the task; all that is there is them. */
static inline long bpf_probe_read_kernel(void *to, uint32_t len, const void *from)
{
	(void)from;
	if (!fake.saved_regs)
		return -EFAULT;
	memcpy(to, fake.saved_regs, len);
	return 0;
}

static inline long bpf_probe_read_user(void *to, uint32_t len, const void *from)
{
	uint64_t at = (uintptr_t)from - fake.memory_at;

	fake.n_reads++;
	memset(to, 0, len);
	if (at > fake.memory_len || len > fake.memory_len - at)
		return -EFAULT;
	memcpy(to, fake.memory + at, len);
	return 0;
}

static inline long bpf_get_stack(const void *ctx, void *buf, uint32_t len, uint64_t flags)
{
	bool has_ids = flags & BPF_F_USER_BUILD_ID, is_user = flags & BPF_F_USER_STACK;
	size_t each = has_ids ? sizeof(*fake.files) : sizeof(*fake.pcs);
	size_t n = is_user ? fake.n_pcs : fake.n_kernel;
	const void *from = has_ids ? fake.files : (const void *)fake.pcs;

	(void)ctx;
	if (n > len / each)
		n = len / each;
	memcpy(buf, is_user ? from : fake.kernel_stack, n * each);
	return n ? (long)(n * each) : -EFAULT;
}

static inline void *bpf_ringbuf_reserve(const void *ring, uint64_t len, uint64_t flags)
{
	void *at = fake.ring + fake.ring_len;

	(void)ring;
	(void)flags;
	if (len > sizeof(fake.ring) - fake.ring_len)
		return NULL;
	fake.ring_len += (len + 7) & ~7ULL;
	return at;
}

static inline void bpf_ringbuf_submit(void *record, uint64_t flags)
{
	(void)record;
	(void)flags;
}

static inline void bpf_ringbuf_discard(void *record, uint64_t flags)
{
	(void)flags;
	fake.ring_len = (size_t)((uint8_t *)record - fake.ring);
}

static inline long bpf_ringbuf_output(const void *ring, void *data, uint64_t len, uint64_t flags)
{
	void *to = bpf_ringbuf_reserve(ring, len, flags);

	if (!to)
		return -EAGAIN;
	memcpy(to, data, len);
	return 0;
}

static inline uint64_t bpf_ringbuf_query(const void *ring, uint64_t flags)
{
	(void)ring;
	(void)flags;
	return fake.ring_waiting;
}

#endif
