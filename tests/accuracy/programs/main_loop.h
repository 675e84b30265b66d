/* SPDX-License-Identifier: Apache-2.0 */
/* The usual main: run() of the program that includes this works until the CPU seconds are used. */
#ifndef MAIN_LOOP_H
#define MAIN_LOOP_H

#include "truth.h"

void run(double seconds);

int main(int argc, char **argv)
{
	run(truth_seconds(argc, argv));
	truth_print();
	return 0;
}

#endif
