/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The architecture the walk is compiled for. */
#ifndef UNWINDERS_ARCH_H
#define UNWINDERS_ARCH_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "unwinders/arch_x86_64.h"
#else
#error "no unwinders/arch_*.h for this architecture yet"
#endif

#endif
