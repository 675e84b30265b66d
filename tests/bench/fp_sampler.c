// SPDX-License-Identifier: Apache-2.0
/*
 * Loads fp_sampler.bpf.o and samples one program with it on every CPU.
 *	fp_sampler OBJECT FREQUENCY PROGRAM [ARGUMENT...]
 * Prints `samples N`, `runs N`, `run_ns N`, `frames N` (mean). Switch BPF statistics on before.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long n_frames;

static int count(void *unused, void *data, size_t len)
{
	(void)unused;
	(void)data;
	n_frames += len / 8;
	return 0;
}

/* Waits for a byte before the exec, so that sampling begins with the program. */
static pid_t start_program(char **args, int *go)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execv(args[0], args);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static struct bpf_object *load(const char *path, pid_t pid)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_map *map;

	if (!object)
		return NULL;
	bpf_object__for_each_map(map, object)
	{
		size_t size;
		unsigned *target = (unsigned *)bpf_map__initial_value(map, &size);

		if (bpf_map__is_internal(map) && strstr(bpf_map__name(map), ".rodata"))
			*target = (unsigned)pid;
	}
	return bpf_object__load(object) ? NULL : object;
}

static int attach(struct bpf_program *program, unsigned long frequency)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / frequency,
	};

	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

		if (fd < 0 || !bpf_program__attach_perf_event(program, fd))
			return -1;
	}
	return 0;
}

static void print(struct bpf_object *object, struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	unsigned len = sizeof(info);
	unsigned long samples = 0;
	unsigned zero = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) if (strstr(bpf_map__name(map), ".bss"))
		bpf_map_lookup_elem(bpf_map__fd(map), &zero, &samples);
	bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len);
	printf("samples %lu\nruns %llu\nrun_ns %llu\nframes %.2f\n", samples, info.run_cnt,
	       info.run_time_ns, samples ? (double)n_frames / (double)samples : 0);
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *program;
	struct ring_buffer *ring;
	int go = -1;
	pid_t pid;

	if (argc < 4)
		return 2;
	pid = start_program(argv + 3, &go);
	object = load(argv[1], pid);
	if (!object)
		return 1;
	program = bpf_object__find_program_by_name(object, "fp_sample");
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), count, NULL, NULL);
	if (!ring || attach(program, strtoul(argv[2], NULL, 10)))
		return 1;
	if (write(go, "", 1) != 1)
		return 1;
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		usleep(20000);
		ring_buffer__consume(ring);
	}
	ring_buffer__consume(ring);
	print(object, program);
	return 0;
}
