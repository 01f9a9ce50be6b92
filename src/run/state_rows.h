/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the state database as bytes: each has a sum over its values, so that a damaged one is never
 * taken for true. state_rows_find() reads rows without SQLite, from whole pages and from what is left of
 * a file: it looks at each page for itself.
 */
#ifndef WEFT_STATE_ROWS_H
#define WEFT_STATE_ROWS_H

#include "base/base.h"

enum state_row_kind { STATE_ROW_LID, STATE_ROW_KEY, STATE_ROW_NAME, STATE_ROW_VM };

enum { STATE_NAME_MAX = 64, STATE_PAGE = 4096 };

struct state_row {
	enum state_row_kind kind;
	uint64_t guid; /* of a key: its number; of a VM: its vGUID */
	uint64_t key;  /* of a VM: the GUID of its host */
	int64_t seen; /* of a LID: when it was saved, in seconds since 1970; of a VM: 1 while it runs */
	uint16_t lid;
	uint8_t lmc; /* of a VM: its slot */
	char name[STATE_NAME_MAX + 1];
};

int64_t state_row_sum(const struct state_row *r); /* as the database stores it */
/* Whether the values can be true: a unicast LID, an LMC of three bits. */
bool state_row_is_sane(const struct state_row *r);
/* Calls fn for each row with the right sum. bytes: of a database, or of its write-ahead log (wal). A row
 * may come more than once, in an earlier and a later version; later ones of a log come later. */
void state_rows_find(const uint8_t *bytes, size_t len, bool wal,
		     void (*fn)(void *ctx, const struct state_row *r), void *ctx);

#endif
