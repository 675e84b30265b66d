/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit ids of a file's table to ids of a profile's table. Hostile ids cost no more than
 * others. */
#ifndef EXPORTER_ID_MAP_H
#define EXPORTER_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

struct intern;

/* Starts as all zero. */
struct id_map {
	struct intern *ids;
	uint32_t *rows; /* by the id's number in ids, less 1 */
	size_t cap;
};

void id_map_deinit(struct id_map *map);
/* 0, -EEXIST when the id is there already, -ENOMEM. */
int id_map_add(struct id_map *map, uint64_t id, uint32_t row);
/* The row of an id; 0 when it is not there. */
uint32_t id_map_find(const struct id_map *map, uint64_t id);

#endif
