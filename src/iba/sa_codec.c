/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From sa_fields.h to code, as codec.c does it for fields.h: decode and encode for each record, its components as a table,
 * and the comparison by a component mask. Keeps no state. Ways in: iba_sa_*_get(), iba_sa_*_put(), iba_sa_match(). Does not
 * decide which records answer a query: see src/sa.
 */
#include "iba/bits.h"
#include "iba/sa_wire.h"

/* The position of each component, as constants: the next one begins where the last one ends. */
#define AT_F(type, name, width, fmt) at_##name, end_##name = at_##name + (width)-1,
#define AT_B(name, bytes, fmt)	     at_##name, end_##name = at_##name + (bytes)*8 - 1,
#define AT_R(name, width)	     at_##name, end_##name = at_##name + (width)-1,

#define GET_F(type, name, width, fmt) v->name = (type)bits_get(data, at_##name, width);
#define GET_B(name, bytes, fmt)	      memcpy(v->name, data + at_##name / 8, bytes);
#define PUT_F(type, name, width, fmt) bits_put(data, at_##name, width, v->name);
#define PUT_B(name, bytes, fmt)	      memcpy(data + at_##name / 8, v->name, bytes);
#define NO_R(name, width)

#define DEFINE(stem, FIELDS, ID, id, word, table)                                                  \
	int iba_sa_##stem##_get(struct iba_sa_##stem *v, const uint8_t *data, size_t len)          \
	{                                                                                          \
		enum { FIELDS(AT_F, AT_B, AT_R) bits };                                            \
                                                                                                   \
		if (len < (bits + 7) / 8)                                                          \
			return -EBADMSG;                                                           \
		FIELDS(GET_F, GET_B, NO_R)                                                         \
		return 0;                                                                          \
	}                                                                                          \
	void iba_sa_##stem##_put(const struct iba_sa_##stem *v, uint8_t *data)                     \
	{                                                                                          \
		enum { FIELDS(AT_F, AT_B, AT_R) bits };                                            \
                                                                                                   \
		_Static_assert((bits + 7) / 8 <= (table), #stem);                                  \
		memset(data, 0, table);                                                            \
		FIELDS(PUT_F, PUT_B, NO_R)                                                         \
	}
IBA_SA_RECORDS(DEFINE)

/* ---- as tables ---- */

#define ROW_F(type, name, width, fmt) {#name, at_##name, width, false, IBA_FMT_##fmt},
#define ROW_B(name, bytes, fmt)	      {#name, at_##name, (bytes)*8, false, IBA_FMT_##fmt},
#define ROW_R(name, width)	      {#name, at_##name, width, true, IBA_FMT_HEX},

#define LAYOUT(stem, FIELDS, ID, id, word, table)                                                  \
	static const struct iba_sa_layout *layout_##stem(void)                                     \
	{                                                                                          \
		enum { FIELDS(AT_F, AT_B, AT_R) bits };                                            \
		static const struct iba_sa_component rows[] = {FIELDS(ROW_F, ROW_B, ROW_R)};       \
		static const struct iba_sa_layout l = {                                            \
			#stem, word, id, (bits + 7) / 8, table, ARRAY_LEN(rows), rows};            \
                                                                                                   \
		_Static_assert(ARRAY_LEN(rows) <= 64, #stem);                                      \
		return &l;                                                                         \
	}
IBA_SA_RECORDS(LAYOUT)

#define BY_ID(stem, FIELDS, ID, id, word, table)                                                   \
	case id:                                                                                   \
		return layout_##stem();

const struct iba_sa_layout *iba_sa_layout(uint16_t attr_id)
{
	switch (attr_id) {
		IBA_SA_RECORDS(BY_ID)
	}
	return NULL;
}

int iba_sa_component(const struct iba_sa_layout *l, const char *name)
{
	for (unsigned i = 0; i < l->ncomponents; i++)
		if (!strcmp(l->components[i].name, name))
			return (int)i;
	return -1;
}

/* ---- the header ---- */

enum { SM_KEY_OFF = 36, OFFSET_OFF = 44, MASK_OFF = 48 };

void iba_sa_hdr_get(struct iba_sa_hdr *h, const uint8_t mad[IBA_MAD_SIZE])
{
	h->sm_key = iba_be64(mad + SM_KEY_OFF);
	h->offset = iba_be16(mad + OFFSET_OFF);
	h->mask = iba_be64(mad + MASK_OFF);
}

void iba_sa_hdr_put(const struct iba_sa_hdr *h, uint8_t mad[IBA_MAD_SIZE])
{
	iba_be64_put(mad + SM_KEY_OFF, h->sm_key);
	iba_be16_put(mad + OFFSET_OFF, h->offset);
	iba_be16_put(mad + OFFSET_OFF + 2, 0);
	iba_be64_put(mad + MASK_OFF, h->mask);
}

/* ---- comparison ---- */

static bool same(const struct iba_sa_component *c, const uint8_t *a, const uint8_t *b)
{
	if (c->width > 64)
		return !memcmp(a + c->bit / 8, b + c->bit / 8, c->width / 8);
	return bits_get(a, c->bit, c->width) == bits_get(b, c->bit, c->width);
}

bool iba_sa_match(const struct iba_sa_layout *l, uint64_t mask, uint64_t but, const uint8_t *query,
		  const uint8_t *record)
{
	for (uint64_t left = mask & ~but; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (i >= l->ncomponents)
			return true;
		if (!l->components[i].reserved && !same(&l->components[i], query, record))
			return false;
	}
	return true;
}

bool iba_sa_selected(enum iba_sa_selector s, unsigned wanted, unsigned value)
{
	switch (s) {
	case IBA_SA_GREATER:
		return value > wanted;
	case IBA_SA_LESS:
		return value < wanted;
	case IBA_SA_EXACTLY:
		return value == wanted;
	case IBA_SA_LARGEST:
		break;
	}
	return true;
}
