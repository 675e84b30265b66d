// SPDX-License-Identifier: Apache-2.0
/* 64 threads at work; the main thread waits for them. */
#include "truth.h"

#define N_THREADS 64

FRAME void odd_leaf(void)
{
	SPIN(3000000);
}

FRAME void even_leaf(void)
{
	SPIN(2500000);
}

FRAME void part(int odd)
{
	if (odd)
		odd_leaf();
	else
		even_leaf();
	NOT_TAIL();
}

static double seconds;

static void *worker(void *arg)
{
	int odd = (int)((long)arg & 1);
	double end = truth_clock() + seconds / N_THREADS;

	while (truth_clock() < end) {
		if (odd)
			TIMED("@thread;worker;part;odd_leaf", part(1));
		else
			TIMED("@thread;worker;part;even_leaf", part(0));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	seconds = truth_seconds(argc, argv);
	for (long i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i))
			return 1;
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	truth_add("main(;{plt})?;{libc}", 0); /* starts and awaits them */
	truth_print();
	return 0;
}
