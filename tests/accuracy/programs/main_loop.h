/* SPDX-License-Identifier: Apache-2.0 */
/* The usual main: RUN(statements) repeats them in run(), called by main(), until the CPU time is used. */
#ifndef MAIN_LOOP_H
#define MAIN_LOOP_H

#include "truth.h"

#define RUN(...)						\
	FRAME void run(double seconds)				\
	{							\
		double end = truth_clock() + seconds;		\
								\
		while (truth_clock() < end) {			\
			__VA_ARGS__				\
		}						\
	}							\
								\
	int main(int argc, char **argv)				\
	{							\
		run(truth_seconds(argc, argv));			\
		truth_print();					\
		return 0;					\
	}

#endif
