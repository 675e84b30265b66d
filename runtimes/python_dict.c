// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_dict.h"

#include <string.h>

#define MANAGED_DICT (1 << 4) /* Py_TPFLAGS_MANAGED_DICT */
#define MAX_LOG2 24	      /* of a key table's indices */

typedef bool entry_fn(void *ctx, uint64_t key, uint64_t value);

/* Where the entries of a key table are. */
struct entries {
	uint64_t at, n;
	bool has_hashes; /* { hash, key, value }, else { key, value } */
};

static bool entries_old(struct python_heap *h, uint64_t keys, struct entries *e)
{
	uint64_t size = python_word(h, keys + h->at.keys.size);
	uint64_t width = size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8;

	if (size > UINT64_C(1) << MAX_LOG2)
		return false;
	*e = (struct entries){ keys + h->at.keys.indices + size * width, 0, true };
	return true;
}

static bool entries_new(struct python_heap *h, uint64_t keys, struct entries *e)
{
	uint8_t log2_bytes = python_byte(h, keys + h->at.keys.size + 1);
	uint8_t kind = python_byte(h, keys + h->at.keys.size + 2);

	if (log2_bytes > MAX_LOG2 + 3 || kind > 2)
		return false;
	*e = (struct entries){ keys + h->at.keys.indices + (UINT64_C(1) << log2_bytes), 0, !kind };
	return true;
}

static bool entries_of(struct python_heap *h, uint64_t keys, struct entries *e)
{
	bool is_old = h->layout->version < PYTHON_FIRST(3, 11);

	if (!keys || !(is_old ? entries_old(h, keys, e) : entries_new(h, keys, e)))
		return false;
	e->n = python_word(h, keys + h->at.keys.n_entries);
	return e->n <= PYTHON_MAX_ITEMS;
}

static uint64_t entry_key(struct python_heap *h, const struct entries *e, uint64_t i)
{
	return python_word(h, e->at + i * (e->has_hashes ? 24 : 16) + (e->has_hashes ? 8 : 0));
}

static uint64_t entry_value(struct python_heap *h, const struct entries *e, uint64_t i)
{
	return python_word(h, e->at + i * (e->has_hashes ? 24 : 16) + (e->has_hashes ? 16 : 8));
}

/* values: of an instance or a split dict, beside its shared keys; 0: they are with the keys. */
static void each_entry(struct python_heap *h, uint64_t keys, uint64_t values, entry_fn *fn,
		       void *ctx)
{
	struct entries e;

	if (!entries_of(h, keys, &e))
		return;
	for (uint64_t i = 0; i < e.n && h->n_left; i++) {
		uint64_t key = entry_key(h, &e, i), value;

		if (!key)
			continue;
		value = values ? python_word(h, values + 8 * i) : entry_value(h, &e, i);
		if (value && !fn(ctx, key, value))
			return;
	}
}

void python_dict_each(struct python_heap *h, uint64_t dict, entry_fn *fn, void *ctx)
{
	uint64_t values = python_field(h, dict, PYTHON_DICT_VALUES);

	if (python_kind(h, dict) == PYTHON_DICT)
		each_entry(h, python_field(h, dict, PYTHON_DICT_KEYS),
			   values ? values + h->at.keys.values : 0, fn, ctx);
}

struct wanted {
	struct python_heap *heap;
	const char *key;
	uint64_t value, key_at;
};

static bool is_wanted(void *ctx, uint64_t key, uint64_t value)
{
	struct wanted *w = ctx;

	if (!python_str_is(w->heap, key, w->key))
		return true;
	w->value = value;
	w->key_at = key;
	return false;
}

#define MANY_ENTRIES 32 /* fewer are looked through at once */
#define MEMO_USES 64	/* of one that says there is no such key */

/* NULL: there is none. */
static struct python_key_memo *memo_of(struct python_heap *h, uint64_t dict, const char *key)
{
	for (unsigned int i = 0; i < PYTHON_KEY_MEMOS; i++)
		if (h->keys[i].dict == dict && h->keys[i].key && !strcmp(h->keys[i].key, key))
			return &h->keys[i];
	return NULL;
}

/* Whether the memo answers, and what. */
static bool is_recalled(struct python_heap *h, struct python_key_memo *memo,
			const struct python_key_memo *now, const struct entries *e, uint64_t *value)
{
	if (memo->table != now->table)
		return false;
	*value = 0;
	if (!memo->str)
		return memo->n_entries == e->n && memo->n_uses++ < MEMO_USES;
	if (memo->index >= e->n || entry_key(h, e, memo->index) != memo->str ||
	    !python_str_is(h, memo->str, memo->key))
		return false;
	*value = entry_value(h, e, memo->index);
	return *value != 0;
}

/* In a table with many entries, whose keys take a page each. */
static uint64_t get_of_many(struct python_heap *h, struct python_key_memo *now,
			    const struct entries *e)
{
	struct python_key_memo *memo = memo_of(h, now->dict, now->key);
	uint64_t value = 0;

	if (memo && is_recalled(h, memo, now, e, &value))
		return value;
	for (; now->index < e->n && h->n_left; now->index++) {
		uint64_t str = entry_key(h, e, now->index);

		value = str ? entry_value(h, e, now->index) : 0;
		if (value && python_str_is(h, str, now->key)) {
			now->str = str;
			break;
		}
	}
	if (!memo)
		memo = &h->keys[h->next_key++ % PYTHON_KEY_MEMOS];
	if (h->n_left)
		*memo = *now;
	return now->str ? value : 0;
}

uint64_t python_dict_get(struct python_heap *h, uint64_t dict, const char *key)
{
	struct python_key_memo now = { .dict = dict, .key = key };
	struct wanted w = { .heap = h, .key = key };
	struct entries e;

	if (!dict || python_kind(h, dict) != PYTHON_DICT)
		return 0;
	now.table = python_field(h, dict, PYTHON_DICT_KEYS);
	if (!python_field(h, dict, PYTHON_DICT_VALUES) && entries_of(h, now.table, &e) &&
	    e.n >= MANY_ENTRIES) {
		now.n_entries = e.n;
		return get_of_many(h, &now, &e);
	}
	python_dict_each(h, dict, is_wanted, &w);
	return w.value;
}

void python_set_each(struct python_heap *h, uint64_t set, bool (*fn)(void *ctx, uint64_t element),
		     void *ctx)
{
	uint64_t mask = python_field(h, set, PYTHON_SET_MASK);
	uint64_t table = python_field(h, set, PYTHON_SET_TABLE);

	if (python_kind(h, set) != PYTHON_SET || !table || mask > PYTHON_MAX_ITEMS * 4)
		return;
	for (uint64_t i = 0; i <= mask && h->n_left; i++) {
		uint64_t element = python_word(h, table + 16 * i);

		if (element && !fn(ctx, element))
			return;
	}
}

/* From 3.11 on, in front of the object. */
static void managed_attribute(struct wanted *w, uint64_t object, uint64_t type)
{
	struct python_heap *h = w->heap;
	uint64_t word = python_word(h, object - h->at.object.managed_dict), values = 0, dict = word;
	unsigned int minor = PYTHON_MINOR(h->layout->version);

	if (minor == 11)
		values = python_word(h, object - 32);
	if (minor == 12 && (word & 1))
		values = word + 1;
	if (minor >= 13 && !dict)
		values = object + python_word(h, type + h->layout->type.basicsize) +
			 h->at.keys.values;
	if (values)
		each_entry(h, python_word(h, type + h->at.type.cached_keys), values, is_wanted, w);
	else if (dict)
		python_dict_each(h, dict, is_wanted, w);
}

uint64_t python_attribute_with_key(struct python_heap *h, uint64_t object, const char *name,
				   uint64_t *key)
{
	uint64_t type = object ? python_word(h, object + h->layout->object.type) : 0;
	struct wanted w = { .heap = h, .key = name };
	uint64_t flags, offset, dict;

	if (!type)
		return 0;
	flags = python_word(h, type + h->layout->type.flags);
	offset = python_word(h, type + h->layout->type.dictoffset);
	if (h->layout->version >= PYTHON_FIRST(3, 11) && (flags & MANAGED_DICT)) {
		managed_attribute(&w, object, type);
	} else if (offset && offset <= UINT16_MAX) {
		dict = python_word(h, object + offset);
		if (dict)
			python_dict_each(h, dict, is_wanted, &w);
	}
	if (key)
		*key = w.key_at;
	return w.value;
}

uint64_t python_attribute(struct python_heap *h, uint64_t object, const char *name)
{
	return python_attribute_with_key(h, object, name, NULL);
}

/* Of a member descriptor: whose it is, its name, its PyMemberDef; in that where in objects the slot
   is. */
#define DESCRIPTOR_TYPE 16
#define DESCRIPTOR_NAME 24
#define DESCRIPTOR_MEMBER 40
#define MEMBER_OFFSET 16
#define MAX_BASES 16

static void read_descriptor(struct python_heap *h, uint64_t descriptor, uint64_t words[4])
{
	words[0] = python_word(h, descriptor + h->layout->object.type);
	words[1] = python_field(h, descriptor, DESCRIPTOR_TYPE);
	words[2] = python_field(h, descriptor, DESCRIPTOR_NAME);
	words[3] = python_field(h, descriptor, DESCRIPTOR_MEMBER);
}

/* Of the class or one that it derives from; 0: there is none. */
static uint64_t find_descriptor(struct python_heap *h, uint64_t type, const char *name)
{
	uint64_t descriptor = 0;
	char kind[24];

	for (int i = 0; type && i < MAX_BASES && !descriptor; i++) {
		descriptor = python_dict_get(h, python_field(h, type, PYTHON_TYPE_DICT), name);
		type = python_field(h, type, PYTHON_TYPE_BASE);
	}
	python_type_name(h, descriptor, kind, sizeof(kind));
	return strcmp(kind, "member_descriptor") ? 0 : descriptor;
}

/* Looking through a class takes some twenty pages, looking at what was found there one. */
static bool is_remembered(struct python_heap *h, uint64_t type, const char *name)
{
	const struct python_slot_memo *memo = &h->slot;
	uint64_t words[4];

	if (memo->type != type || !type || strcmp(memo->name, name) != 0)
		return false;
	read_descriptor(h, memo->descriptor, words);
	return !memcmp(words, memo->words, sizeof(words));
}

/* Where in objects of a class a slot is; 0: it has none of that name. */
static uint64_t slot_of(struct python_heap *h, uint64_t type, const char *name)
{
	struct python_slot_memo memo = { .type = type, .name = name };

	if (is_remembered(h, type, name))
		return h->slot.at;
	memo.descriptor = find_descriptor(h, type, name);
	if (!memo.descriptor)
		return 0;
	read_descriptor(h, memo.descriptor, memo.words);
	memo.at = memo.words[3] ? python_word(h, memo.words[3] + MEMBER_OFFSET) : 0;
	if (memo.at < h->layout->object.size ||
	    memo.at >= python_word(h, type + h->layout->type.basicsize))
		return 0;
	h->slot = memo;
	return memo.at;
}

uint64_t python_member(struct python_heap *h, uint64_t object, const char *name)
{
	uint64_t value = python_attribute(h, object, name), type, at;

	if (value || !object)
		return value;
	type = python_word(h, object + h->layout->object.type);
	at = type ? slot_of(h, type, name) : 0;
	return at ? python_word(h, object + at) : 0;
}

uint64_t python_module_dict(struct python_heap *h, uint64_t modules, const char *name)
{
	uint64_t module = python_dict_get(h, modules, name);

	return python_kind(h, module) == PYTHON_MODULE ? python_field(h, module, PYTHON_MODULE_DICT)
						       : 0;
}
