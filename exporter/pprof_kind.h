/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of a frame whose writer had no word for it: pprof knows only mappings and file names. */
#ifndef EXPORTER_PPROF_KIND_H
#define EXPORTER_PPROF_KIND_H

#include <stdint.h>

#include "core/profile.h"

/* mapping and function are ids of p, or 0. */
enum frame_kind pprof_guess_kind(const struct profile *p, uint32_t mapping, uint32_t function);

#endif
