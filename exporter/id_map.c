// SPDX-License-Identifier: Apache-2.0
#include "exporter/id_map.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/intern.h"

void id_map_deinit(struct id_map *map)
{
	intern_free(map->ids);
	free(map->rows);
}

int id_map_add(struct id_map *map, uint64_t id, uint32_t row)
{
	uint32_t known, index;

	if (!map->ids)
		map->ids = intern_new();
	if (!map->ids)
		return -ENOMEM;
	known = intern_count(map->ids);
	if (ARRAY_RESERVE(map->rows, map->cap, known) < 0)
		return -ENOMEM;
	index = intern_add(map->ids, &id, sizeof(id));
	if (!index)
		return -ENOMEM;
	if (index <= known)
		return -EEXIST;
	map->rows[index - 1] = row;
	return 0;
}

uint32_t id_map_find(const struct id_map *map, uint64_t id)
{
	uint32_t index = map->ids ? intern_find(map->ids, &id, sizeof(id)) : 0;

	return index ? map->rows[index - 1] : 0;
}
