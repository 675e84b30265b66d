/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_PROFILE_MERGE_H
#define CORE_PROFILE_MERGE_H

struct profile;

/*
 * Adds all that one profile has to another one: ids that are new follow in the order they have
 * there, so that profiles of parts, merged in their order, are the profile of the whole. The sample
 * types must be the same ones in the same order; a profile without any gets the other's header, and
 * else its own stays. 0; -EINVAL: other sample types, and nothing was added; -ENOMEM.
 */
int profile_merge(struct profile *into, const struct profile *from);

#endif
