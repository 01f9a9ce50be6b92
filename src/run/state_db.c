/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs, M_Keys and names in an SQLite file. State: the connection, and the items for the next commit.
 * Way in: state_db_open(). Decides nothing about LIDs: the manager does.
 *
 * The file is in WAL mode: a commit is one append, and a process that is killed during it leaves the
 * former state. Keys are flushed to the disk before the manager sets them. LIDs are not: after a loss of
 * power the manager reads them from the devices.
 *
 * Each row has a sum over its values, and a table of totals has the number of rows and the sum of their
 * sums: SQLite checks the structure of a file, but not its content. A file that fails these checks is
 * moved away, and rows with the right sum are saved in a new one. Deleted content is overwritten
 * (secure_delete), so that an earlier version of a row is not found there.
 */
#include "run/state_db.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run/state_db_priv.h"
#include "run/state_lock.h"

/* Before a lock file is created beside it. */
static int kind_check(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	return err_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EBADMSG, "%s: not a regular file", path);
}

int state_db_open(struct state_db **out, const char *path, struct state_found *found, struct err *e)
{
	struct state_db *s = mem_zalloc(sizeof(*s));
	struct state_found ignored;
	struct err why;
	int rc;

	found = found ? found : &ignored;
	*found = (struct state_found){0};
	s->fd = s->lock = -1;
	s->path = mem_strdup(path);
	rc = kind_check(path, e);
	rc = rc ? rc : state_lock_take(&s->lock, path, e);
	rc = rc ? rc : state_file_open(s, e);
	if (rc == -EUCLEAN) { /* a read that failed once is not damage */
		state_file_close(s);
		state_items_clear(s);
		rc = state_file_open(s, e);
	}
	if (rc == -EUCLEAN) {
		why = *e;
		rc = state_file_replace(s, &why, found, e);
	}
	if (rc)
		state_db_close(s);
	else
		*out = s;
	return rc;
}

void state_items_clear(struct state_db *s)
{
	for (size_t i = 0; i < s->names.n; i++)
		free(s->names.at[i].name);
	s->names.n = s->lids.n = s->keys.n = s->vms.n = 0;
	map64_clear(&s->vm_at);
	map64_clear(&s->lid_at);
	map64_clear(&s->name_at);
}

void state_db_close(struct state_db *s)
{
	if (!s)
		return;
	state_items_clear(s);
	state_file_close(s);
	if (s->lock >= 0)
		close(s->lock);
	vec_free(&s->lids);
	vec_free(&s->keys);
	vec_free(&s->names);
	vec_free(&s->vms);
	map64_free(&s->vm_at);
	map64_free(&s->lid_at);
	map64_free(&s->name_at);
	free(s->path);
	free(s);
}

/* ---- reading ---- */

struct lids_ctx {
	void (*fn)(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc);
	void *ctx;
};

static void lid_row(void *ctx, const struct state_row *r)
{
	const struct lids_ctx *c = ctx;

	c->fn(c->ctx, r->guid, r->lid, r->lmc);
}

int state_db_lids(struct state_db *s,
		  void (*fn)(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc), void *ctx,
		  struct err *e)
{
	struct lids_ctx c = {fn, ctx};
	struct state_total t;

	return state_rows_each(s, STATE_ROW_LID, &t, lid_row, &c, e);
}

struct keys_ctx {
	uint64_t *keys;
	unsigned max, n;
};

static void key_row(void *ctx, const struct state_row *r)
{
	struct keys_ctx *c = ctx;

	if (c->n < c->max)
		c->keys[c->n++] = r->key;
}

int state_db_m_keys(struct state_db *s, uint64_t *keys, unsigned max, struct err *e)
{
	struct keys_ctx c = {.keys = keys, .max = max};
	struct state_total t;
	int rc = state_rows_each(s, STATE_ROW_KEY, &t, key_row, &c, e);

	return rc ? rc : (int)c.n;
}

struct vms_ctx {
	void (*fn)(void *ctx, const struct state_vm *v);
	void *ctx;
};

static void vm_row(void *ctx, const struct state_row *r)
{
	const struct vms_ctx *c = ctx;
	struct state_vm v = {
		.guid = r->guid, .host = r->key, .slot = r->lmc, .lid = r->lid, .running = r->seen};

	snprintf(v.name, sizeof(v.name), "%s", r->name);
	c->fn(c->ctx, &v);
}

int state_db_vms(struct state_db *s, void (*fn)(void *ctx, const struct state_vm *v), void *ctx,
		 struct err *e)
{
	struct vms_ctx c = {fn, ctx};
	struct state_total t;

	return state_rows_each(s, STATE_ROW_VM, &t, vm_row, &c, e);
}

/* ---- items for the next commit ---- */

static void vm_put(struct state_db *s, const struct vm_put *p)
{
	uint32_t at = map64_get(&s->vm_at, p->row.guid);

	if (at != MAP_NONE) {
		s->vms.at[at] = *p;
		return;
	}
	map64_put(&s->vm_at, p->row.guid, (uint32_t)s->vms.n);
	vec_push(&s->vms, *p);
}

void state_db_put_vm(struct state_db *s, const struct state_vm *v)
{
	struct vm_put p = {.row = {.kind = STATE_ROW_VM,
				   .guid = v->guid,
				   .key = v->host,
				   .lmc = (uint8_t)v->slot,
				   .lid = v->lid,
				   .seen = v->running}};

	snprintf(p.row.name, sizeof(p.row.name), "%s", v->name);
	vm_put(s, &p);
}

void state_db_drop_vm(struct state_db *s, uint64_t guid)
{
	vm_put(s, &(struct vm_put){.row = {.kind = STATE_ROW_VM, .guid = guid}, .gone = true});
}

void state_db_put_lid(struct state_db *s, uint64_t guid, uint16_t lid, unsigned lmc)
{
	struct lid_put p = {guid, lid, (uint8_t)lmc};
	uint32_t at = map64_get(&s->lid_at, guid);

	if (at != MAP_NONE) {
		s->lids.at[at] = p;
		return;
	}
	map64_put(&s->lid_at, guid, (uint32_t)s->lids.n);
	vec_push(&s->lids, p);
}

void state_db_put_m_key(struct state_db *s, uint64_t key)
{
	vec_push(&s->keys, key);
}

void state_db_put_name(struct state_db *s, uint64_t guid, const char *name)
{
	uint32_t at = map64_get(&s->name_at, guid);

	if (at != MAP_NONE) {
		free(s->names.at[at].name);
		s->names.at[at].name = mem_strdup(name);
		return;
	}
	map64_put(&s->name_at, guid, (uint32_t)s->names.n);
	vec_push(&s->names, (struct name_put){guid, mem_strdup(name)});
}

/* ---- writing ---- */

/* Binds the values of a row, in the order of its table. */
static int row_write(sqlite3_stmt *q, const struct state_row *r)
{
	int sum = 3, rc;

	sqlite3_bind_int64(q, 1, (int64_t)r->guid);
	switch (r->kind) {
	case STATE_ROW_LID:
		sqlite3_bind_int(q, 2, r->lid);
		sqlite3_bind_int(q, 3, r->lmc);
		sqlite3_bind_int64(q, 4, r->seen);
		sum = 5;
		break;
	case STATE_ROW_KEY:
		sqlite3_bind_int64(q, 2, (int64_t)r->key);
		break;
	case STATE_ROW_NAME:
		sqlite3_bind_text(q, 2, r->name, -1, SQLITE_STATIC);
		break;
	case STATE_ROW_VM:
		sqlite3_bind_text(q, 2, r->name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(q, 3, (int64_t)r->key);
		sqlite3_bind_int(q, 4, r->lmc);
		sqlite3_bind_int(q, 5, r->lid);
		sqlite3_bind_int64(q, 6, r->seen);
		sum = 7;
		break;
	}
	sqlite3_bind_int64(q, sum, state_row_sum(r));
	rc = sqlite3_step(q) == SQLITE_DONE ? 0 : -1;
	sqlite3_reset(q);
	return rc;
}

/* A LID has one owner: REPLACE also removes the former owner. */
static int lids_write(struct state_db *s)
{
	int64_t now = (int64_t)time(NULL);
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO lids VALUES (?, ?, ?, ?, ?)", -1,
				    &q, NULL);

	for (size_t i = 0; !rc && i < s->lids.n; i++)
		rc = row_write(q, &(struct state_row){.kind = STATE_ROW_LID,
						      .guid = s->lids.at[i].guid,
						      .lid = s->lids.at[i].lid,
						      .lmc = s->lids.at[i].lmc,
						      .seen = now});
	sqlite3_finalize(q);
	return rc;
}

/* A key that the file has already becomes the newest. */
static int keys_write(struct state_db *s)
{
	sqlite3_stmt *q = NULL;
	struct err e;
	int64_t id = 0;
	int rc = s->keys.n
			 ? state_ask(s, "SELECT coalesce(max(id), 0) FROM m_keys", &id, NULL, 0, &e)
			 : 0;

	if (!rc)
		rc = sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO m_keys VALUES (?, ?, ?)", -1,
					&q, NULL);
	for (size_t i = 0; !rc && i < s->keys.n; i++)
		rc = row_write(q, &(struct state_row){.kind = STATE_ROW_KEY,
						      .guid = (uint64_t)++id,
						      .key = s->keys.at[i]});
	sqlite3_finalize(q);
	return rc;
}

static int names_write(struct state_db *s)
{
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO names VALUES (?, ?, ?)", -1, &q,
				    NULL);

	for (size_t i = 0; !rc && i < s->names.n; i++) {
		struct state_row r = {.kind = STATE_ROW_NAME, .guid = s->names.at[i].guid};

		snprintf(r.name, sizeof(r.name), "%s", s->names.at[i].name);
		rc = row_write(q, &r);
	}
	sqlite3_finalize(q);
	return rc;
}

static int vms_write(struct state_db *s)
{
	sqlite3_stmt *put = NULL, *drop = NULL;
	int rc = sqlite3_prepare_v2(
		s->db, "INSERT OR REPLACE INTO vms VALUES (?, ?, ?, ?, ?, ?, ?)", -1, &put, NULL);

	if (!rc)
		rc = sqlite3_prepare_v2(s->db, "DELETE FROM vms WHERE guid = ?", -1, &drop, NULL);
	for (size_t i = 0; !rc && i < s->vms.n; i++) {
		if (!s->vms.at[i].gone) {
			rc = row_write(put, &s->vms.at[i].row);
			continue;
		}
		sqlite3_bind_int64(drop, 1, (int64_t)s->vms.at[i].row.guid);
		rc = sqlite3_step(drop) == SQLITE_DONE ? 0 : -1;
		sqlite3_reset(drop);
	}
	sqlite3_finalize(put);
	sqlite3_finalize(drop);
	return rc;
}

static int totals_write(struct state_db *s, struct err *e)
{
	char sql[160];
	struct state_total t;
	int rc = 0;

	for (int kind = 0; !rc && kind < STATE_TABLES; kind++) {
		rc = state_rows_each(s, (enum state_row_kind)kind, &t, NULL, NULL, e);
		snprintf(sql, sizeof(sql),
			 "UPDATE totals SET rows = %llu, sum = %lld WHERE name = '%s'",
			 (unsigned long long)t.rows, (long long)t.sum, state_tables[kind]);
		rc = rc ? rc : state_run(s, sql, "write", e);
	}
	return rc;
}

static int all_write(struct state_db *s, struct err *e)
{
	int rc = state_run(s,
			   s->keys.n ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
			   "write", e);

	rc = rc ? rc : state_run(s, "BEGIN IMMEDIATE", "write", e);
	if (rc)
		return rc;
	if (lids_write(s) || keys_write(s) || names_write(s) || vms_write(s))
		rc = state_fail(s, "write", e);
	rc = rc ? rc : totals_write(s, e);
	rc = rc ? rc : state_run(s, "COMMIT", "write", e);
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int state_db_commit(struct state_db *s, struct err *e)
{
	int rc = 0;

	if (s->lids.n || s->keys.n || s->names.n || s->vms.n)
		rc = all_write(s, e);
	if (!rc)
		state_items_clear(s);
	else if (rc == s->reported && e)
		e->text[0] = 0;
	s->reported = rc;
	return rc;
}
