/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries of the state database: errors of SQLite as ours, single values, all rows of a table with their sums.
 * State: none. Way in: state_run(), state_ask(), state_rows_each(). Does not open the file.
 */
#include "run/state_db_priv.h"

/* The rows of each kind, by the column that is the rowid. */
static const char *const rows_sql[] = {
	[STATE_ROW_LID] = "SELECT guid, lid, lmc, seen, sum FROM lids ORDER BY guid < 0, guid",
	[STATE_ROW_KEY] = "SELECT id, key, sum FROM m_keys ORDER BY id DESC",
	[STATE_ROW_NAME] = "SELECT guid, name, sum FROM names ORDER BY guid < 0, guid",
	[STATE_ROW_VM] =
		"SELECT guid, name, host, slot, lid, running, sum FROM vms ORDER BY guid < 0, guid",
};
const char *const state_tables[STATE_TABLES] = {"lids", "m_keys", "names", "vms"};

static int code_of(int sqlite)
{
	switch (sqlite & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_ERROR: /* a table or a column is not there */
		return -EUCLEAN;
	default:
		return -EIO;
	}
}

int state_fail(const struct state_db *s, const char *what, struct err *e)
{
	int sqlite = sqlite3_extended_errcode(s->db), os = sqlite3_system_errno(s->db);
	bool more = (sqlite & 0xff) == SQLITE_IOERR && os;

	return err_set(e, code_of(sqlite), "%s: cannot %s: %s%s%s", s->path, what,
		       sqlite3_errmsg(s->db), more ? ": " : "", more ? strerror(os) : "");
}

int state_run(const struct state_db *s, const char *sql, const char *what, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? state_fail(s, what, e) : 0;
}

int state_ask(const struct state_db *s, const char *sql, int64_t *number, char *text, size_t size,
	      struct err *e)
{
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);

	if (!rc && sqlite3_step(q) == SQLITE_ROW) {
		if (number)
			*number = sqlite3_column_int64(q, 0);
		if (text)
			snprintf(text, size, "%s", (const char *)sqlite3_column_text(q, 0));
		rc = SQLITE_OK;
	} else {
		rc = SQLITE_ERROR;
	}
	if (rc)
		rc = state_fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}

static void text_column(sqlite3_stmt *q, int i, char out[STATE_NAME_MAX + 1])
{
	const char *text = (const char *)sqlite3_column_text(q, i);
	int len = sqlite3_column_bytes(q, i);

	out[0] = 0;
	if (text && len <= STATE_NAME_MAX)
		memcpy(out, text, (size_t)len + 1);
}

/* The row at which the query stands; whether its sum is right. */
static bool row_read(sqlite3_stmt *q, enum state_row_kind kind, struct state_row *r)
{
	int sum = sqlite3_column_count(q) - 1;

	*r = (struct state_row){.kind = kind, .guid = (uint64_t)sqlite3_column_int64(q, 0)};
	switch (kind) {
	case STATE_ROW_LID:
		r->lid = (uint16_t)sqlite3_column_int64(q, 1);
		r->lmc = (uint8_t)sqlite3_column_int64(q, 2);
		r->seen = sqlite3_column_int64(q, 3);
		if (sqlite3_column_int64(q, 1) != r->lid || sqlite3_column_int64(q, 2) != r->lmc)
			return false;
		break;
	case STATE_ROW_KEY:
		r->key = (uint64_t)sqlite3_column_int64(q, 1);
		break;
	case STATE_ROW_NAME:
		text_column(q, 1, r->name);
		break;
	case STATE_ROW_VM:
		text_column(q, 1, r->name);
		r->key = (uint64_t)sqlite3_column_int64(q, 2);
		r->lmc = (uint8_t)sqlite3_column_int64(q, 3);
		r->lid = (uint16_t)sqlite3_column_int64(q, 4);
		r->seen = sqlite3_column_int64(q, 5);
		if (sqlite3_column_int64(q, 3) != r->lmc || sqlite3_column_int64(q, 4) != r->lid)
			return false;
		break;
	}
	return state_row_is_sane(r) && sqlite3_column_int64(q, sum) == state_row_sum(r);
}

int state_rows_each(const struct state_db *s, enum state_row_kind kind, struct state_total *t,
		    void (*fn)(void *ctx, const struct state_row *r), void *ctx, struct err *e)
{
	struct state_row r;
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, rows_sql[kind], -1, &q, NULL);

	*t = (struct state_total){0};
	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		rc = 0;
		if (!row_read(q, kind, &r)) {
			sqlite3_finalize(q);
			return err_set(e, -EUCLEAN, "a row of %s has a wrong sum",
				       state_tables[kind]);
		}
		t->rows++;
		t->sum += (uint64_t)state_row_sum(&r);
		if (fn)
			fn(ctx, &r);
	}
	rc = rc == SQLITE_DONE ? 0 : state_fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}
