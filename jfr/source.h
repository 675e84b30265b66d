/* SPDX-License-Identifier: Apache-2.0 */
/* A JFR recording as a source of samples: what `weft report` needs of it. `weft jfr` shows more. */
#ifndef JFR_SOURCE_H
#define JFR_SOURCE_H

#include "core/source.h"

extern const struct source_ops source_jfr;

#endif
