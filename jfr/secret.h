/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of events may hold secrets: what a JVM and its neighbours were started with, and
   messages that programs write. They are left out unless somebody asks for them. */
#ifndef JFR_SECRET_H
#define JFR_SECRET_H

#include <stdbool.h>

#define SECRET_TEXT "[redacted]" /* stands in its place */

bool secret_is(const char *event, const char *field);

#endif
