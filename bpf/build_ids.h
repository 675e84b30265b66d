/* SPDX-License-Identifier: Apache-2.0 */
/* The build ids that the kernel half sent with a sample, for files nobody may ever open. */
#ifndef BPF_BUILD_IDS_H
#define BPF_BUILD_IDS_H

struct process;
struct processes;
struct wire_build_ids;

/* ids NULL: the sample has none. */
void build_ids_learn(struct processes *ps, struct process *proc, const struct wire_build_ids *ids);

#endif
