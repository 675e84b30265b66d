// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_retention.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/scoped.h"

struct written {
	uint64_t time_ns, size;
	char *name;
};

struct written_list {
	struct written *items;
	size_t n, cap;
};

/* As batch_name() (jfr/identity.h) makes them; 0 stands for any digit, d for any hexadecimal one.
 */
static bool is_batch(const char *name)
{
	static const char like[] = "00000000T000000Z-dddddddddddddddd-dddddddddddd";
	size_t len = sizeof(like) - 1;

	if (strlen(name) <= len || name[len] != '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (like[i] == '0' ? !isdigit(c) : like[i] == 'd' ? !isxdigit(c) : c != like[i])
			return false;
	}
	return true;
}

static int add(struct written_list *list, int dir, const char *name)
{
	struct written w;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	w.time_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
	w.size = (uint64_t)st.st_size;
	if (ARRAY_RESERVE(list->items, list->cap, list->n))
		return -ENOMEM;
	w.name = strdup(name);
	if (!w.name)
		return -ENOMEM;
	list->items[list->n++] = w;
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct written *x = (const struct written *)a, *y = (const struct written *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return strcmp(y->name, x->name);
}

static int64_t delete_old(int dir, struct written_list *list, uint64_t before_ns,
			  uint64_t max_bytes)
{
	uint64_t sum = 0;
	int64_t n = 0;

	qsort(list->items, list->n, sizeof(*list->items), newest_first);
	for (size_t i = 0; i < list->n; i++) {
		const struct written *w = &list->items[i];

		sum += w->size;
		if (w->time_ns < before_ns || (max_bytes && sum > max_bytes))
			n += !unlinkat(dir, w->name, 0);
	}
	return n;
}

int64_t retention_apply(const char *path, uint64_t before_ns, uint64_t max_bytes)
{
	SCOPED(closedir) DIR *dir = opendir(path);
	struct written_list list = { 0 };
	const struct dirent *e;
	int64_t n = 0;

	if (!dir)
		return -errno;
	while (!n && (e = readdir(dir)))
		if (is_batch(e->d_name))
			n = add(&list, dirfd(dir), e->d_name);
	if (!n && list.n)
		n = delete_old(dirfd(dir), &list, before_ns, max_bytes);
	for (size_t i = 0; i < list.n; i++)
		free(list.items[i].name);
	free(list.items);
	return n;
}
