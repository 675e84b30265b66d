// SPDX-License-Identifier: Apache-2.0
#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "core/hurry.h"
#include "core/unfinished.h"

static volatile sig_atomic_t count, typed, ignores_typed;

/* Those that are caught, as they were before. */
static struct {
	int sig;
	bool is_caught;
	struct sigaction before;
} inherited[] = { { .sig = SIGINT }, { .sig = SIGTERM }, { .sig = SIGHUP }, { .sig = SIGCHLD } };

#define N_INHERITED (sizeof(inherited) / sizeof(inherited[0]))

static void on_end(int sig)
{
	unfinished_unlink();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	bool is_typed = info->si_code == SI_KERNEL;

	(void)context;
	if (is_typed && ignores_typed && sig == SIGINT)
		return;
	typed = is_typed;
	count = count + 1;
	if (count == 2)
		hurry_set(true);
	if (count >= 3)
		on_end(sig);
}

static void on_child(int sig)
{
	(void)sig; /* only to end a wait */
}

void interrupt_catch(void)
{
	struct sigaction interrupt = { .sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO };
	struct sigaction child = { .sa_handler = on_child, .sa_flags = SA_NOCLDSTOP };

	for (size_t i = 0; i < N_INHERITED; i++) {
		int sig = inherited[i].sig;
		struct sigaction *before = &inherited[i].before;
		bool is_ignored;

		sigaction(sig, NULL, before);
		is_ignored = !(before->sa_flags & SA_SIGINFO) && before->sa_handler == SIG_IGN;
		if (is_ignored && (sig == SIGTERM || sig == SIGHUP))
			continue;
		if (sig == SIGINT)
			ignores_typed = is_ignored;
		sigaction(sig, sig == SIGCHLD ? &child : &interrupt, NULL);
		inherited[i].is_caught = true;
	}
}

void interrupt_restore(void)
{
	for (size_t i = 0; i < N_INHERITED; i++)
		if (inherited[i].is_caught)
			sigaction(inherited[i].sig, &inherited[i].before, NULL);
}

void interrupt_clean_up(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction end = { .sa_handler = on_end }, before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &end, NULL);
}

int interrupt_count(void)
{
	return count;
}

bool interrupt_was_typed(void)
{
	return typed;
}
