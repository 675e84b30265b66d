// SPDX-License-Identifier: Apache-2.0
#include "core/source.h"

#include <errno.h>
#include <stdlib.h>

struct source *source_open(const struct source_ops *ops, const char *path,
			   const struct options *opt, int *err)
{
	struct source *src = calloc(1, sizeof(*src));

	*err = -ENOMEM;
	if (!src)
		return NULL;
	src->ops = ops;
	src->path = path;
	src->priv = calloc(1, ops->priv_size ? ops->priv_size : 1);
	if (src->priv)
		*err = ops->open(src, opt);
	if (*err < 0) {
		source_close(src);
		return NULL;
	}
	return src;
}

int source_pump(struct source *src, struct profile *p, int timeout_ms)
{
	return src->ops->pump(src, p, timeout_ms);
}

void source_close(struct source *src)
{
	if (!src)
		return;
	if (src->priv)
		src->ops->close(src);
	free(src->priv);
	free(src);
}
