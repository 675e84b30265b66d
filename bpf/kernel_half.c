// SPDX-License-Identifier: Apache-2.0
#include "bpf/kernel_half.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/cpus.h"
#include "bpf/kernel_features.h"
#include "bpf/orc_find.h"
#include "bpf/sampler.h"
#include "bpf/shared.h"
#include "bpf/live.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/options.h"
#include "core/scoped.h"
#include "weft.skel.h"

#define DEFAULT_FREQ 99
#define MAX_PROCESSES 8192   /* known to the kernel half at a time; further ones send snapshots */
#define MAX_PYTHONS 2048     /* of them that run CPython */
#define LIBBPF_TEXT_MAX 2000 /* bytes of a message of libbpf's that are shown */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFC /* its inode: PROC_PID_INIT_INO in linux/proc_ns.h */

/* Of what the verifier has to say the end says why. */
static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
	SCOPED(free) char *text = NULL;
	const char *from;
	int len;

	if (level == LIBBPF_DEBUG)
		return 0;
	len = vasprintf(&text, fmt, args);
	if (len <= 0) {
		text = NULL;
		return 0;
	}
	if (text[len - 1] == '\n')
		text[--len] = '\0';
	from = len > LIBBPF_TEXT_MAX ? text + len - LIBBPF_TEXT_MAX : text;
	log_debug("%s", from);
	return 0;
}

static void set_sizes(struct kernel_half *k, const struct kernel_features *features)
{
	uint64_t words, ring = k->plan.ring_len;
	uint64_t seen = k->plan.seen_len / sizeof(uint64_t);

	if (!features->has_large_values && k->plan.table_len > KERNEL_SMALL_VALUE_LEN)
		k->plan.table_len = KERNEL_SMALL_VALUE_LEN;
	words = k->plan.table_len / 4;
	k->n_table_words = (uint32_t)words;
	bpf_map__set_value_size(k->skel->maps.table_words, (uint32_t)words * 4);
	bpf_map__set_max_entries(k->skel->maps.unwind_processes, MAX_PROCESSES);
	bpf_map__set_max_entries(k->skel->maps.python_processes, MAX_PYTHONS);
	bpf_map__set_max_entries(k->skel->maps.ring, (uint32_t)ring);
	bpf_map__set_max_entries(k->skel->maps.tick_lengths, (uint32_t)cpus_possible());
	bpf_map__set_max_entries(k->skel->maps.python_seen, (uint32_t)seen);
	k->skel->rodata->python_seen_mask = (uint32_t)seen - 1;
	k->skel->rodata->table_mask = (uint32_t)words - 1;
	k->skel->rodata->ring_wakeup_len = (uint32_t)(ring / 8);
	k->skel->rodata->ring_snapshot_len = (uint32_t)(ring / 4 * 3);
}

static void set_options(struct kernel_half *k, const struct options *opt,
			const struct kernel_features *features)
{
	size_t pages = opt->snapshot_size / SNAPSHOT_PAGE;

	if (opt->snapshot_size)
		k->skel->rodata->snapshot_max_pages =
			pages < MAX_SNAPSHOT_PAGES ? (uint32_t)pages : MAX_SNAPSHOT_PAGES;
	k->skel->rodata->asks_who_waits = opt->logical;
	k->skel->rodata->is_user_only = opt->user_only;
	k->skel->rodata->is_kernel_only = opt->kernel_only;
	k->skel->rodata->sample_period_ns = k->period_ns;
	k->skel->rodata->has_task_pt_regs = features->has_task_pt_regs;
	k->skel->rodata->has_cgroup_ancestors = features->has_cgroup_ancestors;
	k->skel->rodata->has_task_btf = features->has_task_btf;
}

/* What a refusal to load is about, as far as we can know. */
static const char *missing_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	bool has_bpf, has_perfmon;

	if (syscall(SYS_capget, &header, data) < 0)
		return "CAP_BPF or CAP_PERFMON is missing";
	has_bpf = data[1].effective & CAP_TO_MASK(CAP_BPF);
	has_perfmon = data[1].effective & CAP_TO_MASK(CAP_PERFMON);
	if (data[0].effective & CAP_TO_MASK(CAP_SYS_ADMIN) || (has_bpf && has_perfmon))
		return "the capabilities are there, but lockdown, a security module, a user "
		       "namespace or (before Linux 5.11) ulimit -l forbids it";
	if (has_bpf || has_perfmon)
		return has_bpf ? "CAP_PERFMON is missing" : "CAP_BPF is missing";
	return "CAP_BPF and CAP_PERFMON are missing";
}

static void log_load_error(int err)
{
	if (err == -EPERM || err == -EACCES)
		log_error("cannot load BPF programs: %s (uid %d)\n"
			  "  this shell:  sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
			  "cap_dac_read_search,cap_checkpoint_restore,cap_syslog=ep"
			  " $(command -v weft)\n"
			  "  in a container: see `weft doctor`",
			  missing_capability(), (int)getuid());
	else
		log_error("cannot load BPF programs: %s (-v says more)", strerror(-err));
}

bool kernel_half_has_pids(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == INITIAL_PID_NAMESPACE;
}

/* Samples have the pids that the machine knows; elsewhere /proc and -p mean other processes. */
static int check_pid_namespace(void)
{
	if (kernel_half_has_pids())
		return 0;
	log_error("cannot sample from inside a pid namespace: its pids are not the machine's\n"
		  "  run weft on the host, or with the host's pids (docker run --pid=host, "
		  "hostPID: true)");
	return -ENOTSUP;
}

int kernel_half_open(struct kernel_half *k, const struct options *opt, const struct cpus *cpus)
{
	struct kernel_features features;
	int err;

	*k = (struct kernel_half){ .stats_fd = -1, .ticker.is_fixed = true };
	k->sampler = opt->sampler ? opt->sampler : sampler_find(opt->event);
	if (!k->sampler)
		return -EINVAL;
	libbpf_set_print(print_libbpf);
	err = check_pid_namespace();
	if (err)
		return err;
	k->period_ns = NS_PER_S / (opt->freq ? opt->freq : DEFAULT_FREQ);
	err = targets_init(&k->targets, opt);
	if (err)
		return err;
	k->skel = weft_bpf__open();
	if (!k->skel) {
		log_load_error(-errno);
		return -errno;
	}
	k->plan = memory_plan(opt->memory, cpus->n_possible, cpus->n_online);
	kernel_features_probe(&features);
	set_sizes(k, &features);
	set_options(k, opt, &features);
	targets_configure(&k->targets, k->skel);
	err = k->sampler->configure ? k->sampler->configure(k->sampler, k->skel) : 0;
	if (err)
		return err;
	err = weft_bpf__load(k->skel);
	if (err) {
		log_load_error(err);
		return err == -EACCES ? -EPERM : err;
	}
	if (opt->stats)
		k->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return 0;
}

void kernel_half_show_orc(struct kernel_half *k, const struct kallsyms *symbols)
{
	struct orc_tables tables;
	uint32_t zero = 0;

	orc_find(symbols, &tables);
	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.orc_places), &zero, &tables, BPF_ANY))
		log_debug("cannot tell the kernel half of ORC: %s", strerror(errno));
}

int kernel_half_start(struct kernel_half *k, const struct options *opt)
{
	int err = 0;

	if (k->sampler->attach)
		err = k->sampler->attach(k->sampler, k->skel, k->period_ns, &k->ticker);
	if (err)
		return err;
	k->skel->links.process_fork = bpf_program__attach(k->skel->progs.process_fork);
	if (!k->skel->links.process_fork) {
		log_error("cannot follow forks: %s", strerror(errno));
		return -errno;
	}
	err = targets_fill(&k->targets, k->skel, opt);
	return err ? err : ticker_start(&k->ticker);
}

void kernel_half_stop(struct kernel_half *k)
{
	ticker_stop(&k->ticker);
	if (k->skel && k->sampler->detach)
		k->sampler->detach(k->skel);
}

void kernel_half_close(struct kernel_half *k)
{
	ticker_close(&k->ticker);
	if (k->stats_fd >= 0)
		close(k->stats_fd);
	weft_bpf__destroy(k->skel);
	k->skel = NULL;
	targets_deinit(&k->targets);
}

/* Waits that began and ended in no TICK_* counter. */
static uint64_t count_unfinished(const uint64_t *sums)
{
	uint64_t n = 0;

	for (int i = 0; i < END_ROOT; i++)
		n += sums[i];
	return sums[GIL_WAITS] > n ? sums[GIL_WAITS] - n : 0;
}

void kernel_half_count(const struct kernel_half *k, uint64_t sums[N_COUNTERS])
{
	const struct bpf_map *map = k->skel->maps.scratches;
	size_t len = (bpf_map__value_size(map) + 7) / 8 * 8, n_cpus = (size_t)cpus_possible();
	SCOPED(free) char *values = calloc(n_cpus, len);
	uint32_t zero = 0;

	if (!values || bpf_map_lookup_elem(bpf_map__fd(map), &zero, values))
		return;
	for (size_t cpu = 0; cpu < n_cpus; cpu++) {
		const struct cpu_state *state = (const void *)(values + cpu * len);

		for (int i = 0; i < N_COUNTERS; i++)
			sums[i] += state->counters[i];
	}
	sums[GIL_UNFINISHED] += count_unfinished(sums);
}

uint64_t kernel_half_memory(const struct kernel_half *k)
{
	uint64_t sum = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, k->skel->obj)
	{
		uint64_t len = bpf_map__value_size(map), n = bpf_map__max_entries(map);

		switch (bpf_map__type(map)) {
		case BPF_MAP_TYPE_PERCPU_ARRAY:
			sum += len * n * (uint64_t)cpus_possible();
			break;
		case BPF_MAP_TYPE_HASH:
		case BPF_MAP_TYPE_LRU_HASH:
			/* about 64 bytes an element go to the kernel's own bookkeeping */
			sum += (len + bpf_map__key_size(map) + 64) * n;
			break;
		case BPF_MAP_TYPE_RINGBUF:
			sum += n;
			break;
		default:
			sum += len * n;
		}
	}
	return sum;
}

size_t kernel_half_programs(const struct kernel_half *k, struct live_program *out)
{
	struct bpf_program *program;
	size_t n = 0;

	bpf_object__for_each_program(program, k->skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (n == LIVE_MAX_PROGRAMS || bpf_program__fd(program) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
			continue;
		out[n] = (struct live_program){ .run_time_ns = info.run_time_ns,
						.run_cnt = info.run_cnt };
		snprintf(out[n].name, sizeof(out[n].name), "%s", bpf_program__name(program));
		n++;
	}
	return n;
}
