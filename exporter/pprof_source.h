/* SPDX-License-Identifier: Apache-2.0 */
/* A pprof file as a source: path, or "-" for stdin. */
#ifndef EXPORTER_PPROF_SOURCE_H
#define EXPORTER_PPROF_SOURCE_H

#include "core/source.h"

extern const struct source_ops source_pprof;

#endif
