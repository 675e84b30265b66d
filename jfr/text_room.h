/* SPDX-License-Identifier: Apache-2.0 */
/* Room for one text that is put together, used again for the next one. */
#ifndef JFR_TEXT_ROOM_H
#define JFR_TEXT_ROOM_H

#include <stddef.h>
#include <stdlib.h>

/* All zero at first; its owner frees the text. */
struct text_room {
	char *text;
	size_t cap;
};

/* At least len bytes, which hold until the next call; NULL: no memory. */
static inline char *text_room_for(struct text_room *room, size_t len)
{
	char *text = len <= room->cap ? room->text : realloc(room->text, len);

	if (!text || len <= room->cap)
		return text;
	room->text = text;
	room->cap = len;
	return text;
}

#endif
