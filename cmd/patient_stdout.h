/* SPDX-License-Identifier: Apache-2.0 */
/* stdout for who must be able to end while nobody reads it. */
#ifndef CMD_PATIENT_STDOUT_H
#define CMD_PATIENT_STDOUT_H

#include <stdbool.h>
#include <stdio.h>

/* A stream to descriptor fd, which stays open, or NULL. Where the other end takes nothing it waits,
   until is_stopped() says so; then writing fails with EINTR. */
FILE *patient_open(int fd, bool (*is_stopped)(void));

#endif
