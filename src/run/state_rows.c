/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of rows, and rows found in the pages of a damaged database (SQLite's file format, 1.6, 2.1 and
 * 4.1). State: none. Ways in: state_row_sum(), state_rows_find(). Writes nothing.
 *
 * A row is stored in a cell of a leaf page: length, rowid, then a record: a header with the type of each
 * column, and the columns. The rows here are small: none continues on another page.
 */
#include "run/state_rows.h"

#include "base/rng.h"

enum {
	LEAF = 0x0d, /* a page of table rows */
	LEAF_HEADER = 8,
	WAL_HEADER = 32,
	FRAME_HEADER = 24,
	COLUMNS_MAX = 7,
	TEXT_TYPE = 13, /* odd types from here on: a text of (type - 13) / 2 bytes */
};

/* ---- sums ---- */

int64_t state_row_sum(const struct state_row *r)
{
	uint64_t h = hash64_add(0x57656674 + (uint64_t)r->kind, r->guid), w = 0;
	size_t n = strlen(r->name);

	h = hash64_add(h, r->key);
	h = hash64_add(h, (uint64_t)r->seen);
	h = hash64_add(h, (uint64_t)r->lid << 8 | r->lmc);
	h = hash64_add(h, n);
	for (size_t i = 0; i < n; i++) {
		w = w << 8 | (uint8_t)r->name[i];
		if (i % 8 == 7 || i + 1 == n)
			h = hash64_add(h, w);
	}
	return (int64_t)h;
}

bool state_row_is_sane(const struct state_row *r)
{
	if (r->kind == STATE_ROW_VM)
		return r->guid && r->name[0] && r->lid <= 49151 && (r->seen == 0 || r->seen == 1);
	return r->kind != STATE_ROW_LID || (r->lid >= 1 && r->lid <= 49151 && r->lmc <= 7);
}

/* ---- records ---- */

struct bytes { /* from at on, before end; end is never passed */
	const uint8_t *at, *end;
};

struct column {
	uint64_t type;
	int64_t number;	     /* of a number */
	const uint8_t *text; /* of a text, with len bytes */
	size_t len;
};

/* Seven bits a byte, the most significant first; eight in the ninth. */
static bool take_varint(struct bytes *b, uint64_t *v)
{
	*v = 0;
	for (unsigned i = 0; i < 9 && b->at < b->end; i++) {
		uint8_t c = *b->at++;

		*v = i == 8 ? *v << 8 | c : *v << 7 | (c & 0x7f);
		if (i == 8 || !(c & 0x80))
			return true;
	}
	return false;
}

static bool take_number(struct bytes *b, unsigned size, int64_t *v)
{
	uint64_t n = 0;

	if ((size_t)(b->end - b->at) < size)
		return false;
	for (unsigned i = 0; i < size; i++)
		n = n << 8 | b->at[i];
	if (size && size < 8 && b->at[0] & 0x80)
		n |= UINT64_MAX << 8 * size; /* negative */
	b->at += size;
	*v = (int64_t)n;
	return true;
}

static bool take_column(struct bytes *b, struct column *c)
{
	static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8};

	if (c->type < ARRAY_LEN(sizes))
		return take_number(b, sizes[c->type], &c->number);
	c->number = c->type == 9; /* types 8 and 9: the numbers 0 and 1 without bytes */
	if (c->type == 8 || c->type == 9)
		return true;
	if (c->type < TEXT_TYPE || c->type % 2 == 0)
		return false;
	c->len = (size_t)((c->type - TEXT_TYPE) / 2);
	c->text = b->at;
	if ((size_t)(b->end - b->at) < c->len)
		return false;
	b->at += c->len;
	return true;
}

/* How many columns; 0: not a record of ours. */
static unsigned take_record(struct bytes b, struct column c[COLUMNS_MAX])
{
	const uint8_t *begin = b.at;
	struct bytes types = b;
	uint64_t header;
	unsigned n = 0;

	if (!take_varint(&types, &header) || header > (uint64_t)(b.end - begin))
		return 0;
	types.end = b.at = begin + header;
	for (; types.at < types.end; n++) {
		if (n == COLUMNS_MAX)
			return 0;
		c[n] = (struct column){0};
		if (!take_varint(&types, &c[n].type) || !take_column(&b, &c[n]))
			return 0;
	}
	return n;
}

/* ---- rows ---- */

/* guid, name, host, slot, lid, running, sum */
static bool vm_from(const struct column *c, struct state_row *r)
{
	r->kind = STATE_ROW_VM;
	if (!c[1].text || c[1].len > STATE_NAME_MAX || memchr(c[1].text, 0, c[1].len))
		return false;
	memcpy(r->name, c[1].text, c[1].len);
	r->key = (uint64_t)c[2].number;
	r->lmc = (uint8_t)c[3].number;
	r->lid = (uint16_t)c[4].number;
	r->seen = c[5].number;
	return !c[2].text && !c[3].text && !c[4].text && !c[5].text && c[3].number == r->lmc &&
	       c[4].number == r->lid;
}

static bool row_from(uint64_t rowid, const struct column *c, unsigned n, struct state_row *r)
{
	*r = (struct state_row){.guid = rowid};
	if (n == COLUMNS_MAX)
		return vm_from(c, r);
	if (n == 5 && !c[1].text && !c[2].text && !c[3].text) {
		r->kind = STATE_ROW_LID;
		r->lid = (uint16_t)c[1].number;
		r->lmc = (uint8_t)c[2].number;
		r->seen = c[3].number;
		return c[1].number == r->lid && c[2].number == r->lmc;
	}
	if (n == 3 && !c[1].text) {
		r->kind = STATE_ROW_KEY;
		r->key = (uint64_t)c[1].number;
		return true;
	}
	if (n != 3 || c[1].len > STATE_NAME_MAX || memchr(c[1].text, 0, c[1].len))
		return false;
	r->kind = STATE_ROW_NAME;
	memcpy(r->name, c[1].text, c[1].len);
	return true;
}

/* The cell at `at` of a page. */
static bool row_at(const uint8_t *page, size_t at, struct state_row *r)
{
	struct bytes b = {page + at, page + STATE_PAGE};
	struct column c[COLUMNS_MAX];
	uint64_t len, rowid;
	unsigned n;

	if (!take_varint(&b, &len) || !take_varint(&b, &rowid) || len > (uint64_t)(b.end - b.at))
		return false;
	b.end = b.at + len;
	n = take_record(b, c);
	return n && !c[n - 1].text && row_from(rowid, c, n, r) && state_row_is_sane(r) &&
	       c[n - 1].number == state_row_sum(r);
}

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void page_rows(const uint8_t *page, void (*fn)(void *ctx, const struct state_row *r),
		      void *ctx)
{
	unsigned n = page[0] == LEAF ? be16(page + 3) : 0;
	struct state_row r;

	n = MIN(n, (STATE_PAGE - LEAF_HEADER) / 2u);
	for (unsigned i = 0; i < n; i++) {
		unsigned at = be16(page + LEAF_HEADER + 2 * i);

		if (at < STATE_PAGE && row_at(page, at, &r))
			fn(ctx, &r);
	}
}

void state_rows_find(const uint8_t *bytes, size_t len, bool wal,
		     void (*fn)(void *ctx, const struct state_row *r), void *ctx)
{
	size_t at = wal ? WAL_HEADER : 0, step = wal ? FRAME_HEADER + STATE_PAGE : STATE_PAGE;
	uint8_t page[STATE_PAGE];

	for (; at < len; at += step) {
		size_t from = at + (wal ? FRAME_HEADER : 0);
		size_t n = from < len ? MIN(len - from, sizeof(page)) : 0;

		memset(page, 0, sizeof(page)); /* the last page may be cut */
		if (n)
			memcpy(page, bytes + from, n);
		page_rows(page, fn, ctx);
	}
}
