// SPDX-License-Identifier: Apache-2.0
#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "core/hurry.h"
#include "core/unfinished.h"

static volatile sig_atomic_t count, typed;

static void on_end(int sig)
{
	unfinished_unlink();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	(void)context;
	typed = info->si_code == SI_KERNEL;
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

	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &interrupt, NULL);
	sigaction(SIGHUP, &interrupt, NULL);
	sigaction(SIGCHLD, &child, NULL);
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
