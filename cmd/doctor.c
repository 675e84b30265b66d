// SPDX-License-Identifier: Apache-2.0
#include "cmd/doctor.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/show.h"
#include "cmd/verb.h"
#include "core/log.h"

struct finding *findings_add(struct findings *all, const char *name)
{
	static struct finding spare; /* written to when there is no memory, and never shown */
	struct finding *items = realloc(all->items, (all->n + 1) * sizeof(*items));

	if (!items) {
		all->has_failed = true;
		return &spare;
	}
	all->items = items;
	all->items[all->n] = (struct finding){ .name = name };
	return &all->items[all->n++];
}

void finding_set(struct finding *f, enum finding_level level, const char *fix, const char *fmt, ...)
{
	va_list args;

	f->level = level;
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
	va_start(args, fmt);
	vsnprintf(f->state, sizeof(f->state), fmt, args);
	va_end(args);
}

enum finding_level findings_worst(const struct findings *all)
{
	enum finding_level worst = FINDING_OK;

	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].level > worst)
			worst = all->items[i].level;
	return worst;
}

void findings_deinit(struct findings *all)
{
	free(all->items);
	*all = (struct findings){ 0 };
}

static const char *const level_names[] = { "ok", "part", "no" };

static void print_text(const struct findings *all, const char *subject)
{
	static const char *const marks[] = { "ok  ", "part", "NO  " };
	static const char *const colours[] = { "\033[32m", "\033[33m", "\033[31m" };
	bool has_colours = show_colours(STDOUT_FILENO);

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->items[i];

		printf("%s%s%s  %-20s %s\n", has_colours ? colours[f->level] : "", marks[f->level],
		       has_colours ? "\033[0m" : "", f->name, f->state);
		if (*f->fix)
			printf("      → %s\n", f->fix);
	}
	switch (findings_worst(all)) {
	case FINDING_OK:
		printf("weft can profile %s\n", subject);
		break;
	case FINDING_PART:
		printf("weft can profile %s in part\n", subject);
		break;
	case FINDING_NO:
		printf("weft cannot profile %s\n", subject);
		break;
	}
}

static int print_json(const struct findings *all, pid_t pid)
{
	json_t *list = json_array(), *document;

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->items[i];

		json_array_append_new(list, json_pack("{ss ss ss ss}", "name", f->name, "level",
						      level_names[f->level], "state", f->state,
						      "fix", f->fix));
	}
	document =
		json_pack("{ss so}", "result", level_names[findings_worst(all)], "findings", list);
	if (document && pid)
		json_object_set_new(document, "pid", json_integer(pid));
	if (!document || json_dumpf(document, stdout, JSON_INDENT(2)) < 0) {
		json_decref(document);
		return -1;
	}
	putchar('\n');
	json_decref(document);
	return 0;
}

static int doctor_run(const struct options *opt)
{
	static const int status_of[] = { EXIT_OK, EXIT_FAILED, EXIT_PRIVILEGE };
	pid_t pid = opt->pids.n ? opt->pids.items[0] : 0;
	struct findings all = { 0 };
	int status = EXIT_OK;

	if (opt->pids.n > 1 || opt->pid_names.n) {
		log_error("doctor: --pid takes one number");
		return EXIT_USAGE;
	}
	doctor_check_machine(&all, opt->sysroot);
	if (pid)
		status = doctor_check_process(&all, pid, opt->verbose);
	if (!status && all.has_failed) {
		log_error("out of memory");
		status = EXIT_PRIVILEGE;
	} else if (!status) {
		status = status_of[findings_worst(&all)];
		if (opt->json)
			print_json(&all, pid);
		else
			print_text(&all, pid ? "this process" : "this machine");
	}
	findings_deinit(&all);
	return status;
}

const struct verb verb_doctor = {
	.bit = ON_DOCTOR,
	.name = "doctor",
	.synopsis = "[--pid PID] [--json]",
	.summary = "say why weft can or cannot profile this machine or a process",
	.description =
		"Looks at what sampling needs: the kernel, its settings and what weft is permitted "
		"to do. "
		"Each line is ok, part (something will be missing) or NO (weft cannot profile), "
		"with what "
		"to do about it. With --pid also the process: its program, its mappings, and where "
		"the "
		"names of its largest binaries would come from. Changes nothing.\n\n"
		"Exits with 0 when weft can profile, 1 when it can in part, 3 when it cannot.",
	.examples = "before the first recording\nweft doctor\n"
		    "why does this process have no names?\nweft doctor --pid 4711\n",
	.is_privileged = true,
	.run = doctor_run,
};
