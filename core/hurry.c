// SPDX-License-Identifier: Apache-2.0
#include "core/hurry.h"

atomic_bool hurry_flag;

void hurry_set(bool is_on)
{
	atomic_store_explicit(&hurry_flag, is_on, memory_order_relaxed);
}
