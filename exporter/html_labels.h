/* SPDX-License-Identifier: Apache-2.0 */
/* What the labels of samples have to do with the nodes of a flame graph page, to choose one by. */
#ifndef EXPORTER_HTML_LABELS_H
#define EXPORTER_HTML_LABELS_H

#include <stdio.h>

#include "core/profile.h"
#include "exporter/flame_tree.h"

/* A JSON array: of each key that tells samples apart [key, values], the heaviest values first, as
   many as are handy: [value, numbers], where of each node that samples with it end in there are its
   number in preorder and what these are worth in each sample type. 0 or -ENOMEM. */
int html_put_labels(const struct profile *p, const struct flame_tree *t, FILE *out);

#endif
