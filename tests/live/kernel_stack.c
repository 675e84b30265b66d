// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_stack OBJECT SECONDS [lie]: compares on all CPUs for that long what kernel_stack.bpf.c
 * says, while it keeps the kernel busy. Prints "same N", "other N" (and where), "left N", and the
 * mean times in ns. 77: there is no BPF or no ORC here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/orc_find.h"
#include "symbolizer/kallsyms.h"

#define PERIOD_NS 400000
#define MAX_CPUS 256
#define N_OUTER 16

/* In the order of kernel_stack.bpf.c's .bss. */
enum {
	SAME,
	OTHER,
	LEFT,
	OURS_NS,
	KERNELS_NS,
	OTHER_IP,
	OUTER_IPS,
	N_VALUES = OUTER_IPS + N_OUTER
};

static void call_files(void)
{
	char path[] = "/tmp/weft-kernel-stack.XXXXXX", text[5000] = "";
	int fd = mkstemp(path);
	struct stat st;

	for (;;) {
		if (pwrite(fd, text, sizeof(text), 0) < 0 || pread(fd, text, sizeof(text), 0) < 0)
			_exit(1);
		stat(path, &st);
		close(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
		unlink(path);
	}
}

static void call_memory_and_sockets(void)
{
	int ends[2];
	char text[300] = "";

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		_exit(1);
	for (;;) {
		char *page = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int i = 0; i < 16; i++)
			page[i << 12] = 1;
		munmap(page, 1 << 16);
		if (write(ends[0], text, sizeof(text)) < 0 || read(ends[1], text, sizeof(text)) < 0)
			_exit(1);
		waitpid(fork() ?: (_exit(0), 0), NULL, 0);
	}
}

static pid_t start(void (*work)(void))
{
	pid_t pid = fork();

	if (pid == 0)
		work();
	return pid;
}

struct links {
	struct bpf_link *links[MAX_CPUS];
	int n;
};

static int attach(struct bpf_object *object, const char *program, struct links *l)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
	};
	struct bpf_program *prog = bpf_object__find_program_by_name(object, program);

	l->n = 0;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && l->n < MAX_CPUS; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

		if (fd < 0)
			continue;
		l->links[l->n] = bpf_program__attach_perf_event(prog, fd);
		if (!l->links[l->n++])
			return -1;
	}
	return 0;
}

static void detach(struct links *l)
{
	while (l->n > 0)
		bpf_link__destroy(l->links[--l->n]);
}

static int find_values(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(
		map, object) if (strstr(bpf_map__name(map), ".bss")) return bpf_map__fd(map);
	return -1;
}

static bool tell_places(struct bpf_object *object, struct orc_tables *tables)
{
	int err, fd = bpf_object__find_map_fd_by_name(object, "orc_places");
	struct kallsyms *symbols = kallsyms_load(NULL, &err);
	uint32_t zero = 0;

	if (symbols)
		orc_find(symbols, tables);
	kallsyms_free(symbols);
	return tables->n && !bpf_map_update_elem(fd, &zero, tables, BPF_ANY);
}

/* As if the tables had said that nobody calls what stacks were seen to begin with. */
static void lie(struct bpf_object *object, const struct orc_tables *tables,
		const uint64_t *outer_ips)
{
	int fd = bpf_object__find_map_fd_by_name(object, "orc_rules");

	for (int i = 0; i < N_OUTER; i++) {
		uint32_t place = (uint32_t)(outer_ips[i] - 1 - tables->text);
		uint32_t set = orc_set(place);
		uint64_t rules[2] = { (uint64_t)place << 32 | ORC_KNOWN | ORC_END };

		if (outer_ips[i])
			bpf_map_update_elem(fd, &set, rules, BPF_ANY);
	}
}

/* Compares for some seconds; with a lie from the beginning on where there are tables, again and
   again, as rules drive each other out. 0, or negative where nothing can be attached. */
static int compare(struct bpf_object *object, const char *program, unsigned seconds,
		   const struct orc_tables *lied_about)
{
	uint64_t v[N_VALUES] = { 0 }, none[N_VALUES] = { 0 };
	uint32_t zero = 0;
	struct links links;
	int err;

	bpf_map_lookup_elem(find_values(object), &zero, v);
	bpf_map_update_elem(find_values(object), &zero, none, BPF_ANY);
	if (lied_about)
		lie(object, lied_about, v + OUTER_IPS);
	err = attach(object, program, &links);
	for (unsigned i = 0; !err && i < seconds * 20; i++) {
		usleep(50000);
		if (lied_about)
			lie(object, lied_about, v + OUTER_IPS);
	}
	detach(&links);
	return err;
}

static void print(struct bpf_object *object)
{
	uint64_t v[N_VALUES] = { 0 }, n;
	uint32_t zero = 0;

	bpf_map_lookup_elem(find_values(object), &zero, v);
	n = v[SAME] + v[OTHER] + v[LEFT];
	printf("same %ju\nother %ju %#jx\nleft %ju\n", (uintmax_t)v[SAME], (uintmax_t)v[OTHER],
	       (uintmax_t)v[OTHER_IP], (uintmax_t)v[LEFT]);
	printf("ours_ns %ju\nkernels_ns %ju\n", (uintmax_t)(v[OURS_NS] / (n | !n)),
	       (uintmax_t)(v[KERNELS_NS] / (n | !n)));
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	struct orc_tables tables = { 0 };
	pid_t busy[2];
	int err;

	if (!object || bpf_object__load(object) || !tell_places(object, &tables))
		return 77;
	for (int i = 0; i < 2; i++)
		busy[i] = start(i ? call_files : call_memory_and_sockets);
	err = compare(object, "compare_walks", argc > 3 ? 1 : seconds, NULL);
	if (!err && argc > 3)
		err = compare(object, "compare_stacks", seconds, &tables);
	print(object);
	for (int i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	bpf_object__close(object);
	return err ? 77 : 0;
}
