/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registrations in an SQLite file. State: struct run_registrations. Ways in: run_registrations_open(),
 * run_registrations_add(). Does not know what an item is about: src/sa does.
 *
 * Each row has a sum over its bytes: SQLite checks the structure of a file, not its content. The file is not flushed with
 * each commit: after a loss of power the last registrations may be missing, and hosts that lost power register again.
 */
#include "run/registrations.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"

enum { WITHIN_MS = 50, RETRY_MS = 5000, APPLICATION = 0x57656672 /* "Wefr" */, VERSION = 1 };

static int64_t sum_of(int kind, const uint8_t *key, size_t key_len, const uint8_t *value,
		      size_t len)
{
	uint64_t h = hash64_add(hash64_add((uint64_t)kind, key_len), len);

	for (size_t i = 0; i < key_len; i++)
		h = hash64_add(h, key[i]);
	for (size_t i = 0; i < len; i++)
		h = hash64_add(h, value[i]);
	return (int64_t)h;
}

static int fail(const struct run_registrations *r, const char *what, struct err *e)
{
	return err_set(e, -EIO, "%s: cannot %s: %s", r->path, what,
		       r->db ? sqlite3_errmsg(r->db) : "no memory");
}

static int run(const struct run_registrations *r, const char *sql, struct err *e)
{
	return sqlite3_exec(r->db, sql, NULL, NULL, NULL) ? fail(r, "use it", e) : 0;
}

/* ---- opening ---- */

static int64_t number(const struct run_registrations *r, const char *sql)
{
	sqlite3_stmt *q = NULL;
	int64_t n = -1;

	if (!sqlite3_prepare_v2(r->db, sql, -1, &q, NULL) && sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return n;
}

static bool is_sound(const struct run_registrations *r)
{
	sqlite3_stmt *q = NULL;
	bool ok = !sqlite3_prepare_v2(r->db, "PRAGMA quick_check(1)", -1, &q, NULL) &&
		  sqlite3_step(q) == SQLITE_ROW &&
		  !strcmp((const char *)sqlite3_column_text(q, 0), "ok");

	sqlite3_finalize(q);
	return ok && number(r, "PRAGMA application_id") == APPLICATION &&
	       number(r, "PRAGMA user_version") == VERSION;
}

static int make_tables(const struct run_registrations *r, struct err *e)
{
	return run(
		r,
		"BEGIN IMMEDIATE;"
		"CREATE TABLE registrations (kind INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, sum INTEGER NOT "
		"NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;"
		"PRAGMA application_id = 0x57656672;"
		"PRAGMA user_version = 1;"
		"COMMIT",
		e);
}

static void file_close(struct run_registrations *r)
{
	sqlite3_close(r->db);
	r->db = NULL;
}

/* -EUCLEAN: it is not such a file, or is damaged. */
static int file_open(struct run_registrations *r, bool *was_there, struct err *e)
{
	struct stat st;
	int rc, fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_set(e, -errno, "%s: cannot open it: %s", r->path, strerror(errno));
	*was_there = !fstat(fd, &st) && st.st_size > 0;
	close(fd);
	if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READWRITE, NULL))
		return fail(r, "open it", e);
	if (*was_there && !is_sound(r))
		return err_set(e, -EUCLEAN, "%s: damaged, or not a file of registrations", r->path);
	rc = run(
		r,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000",
		e);
	if (!rc && !*was_there)
		rc = make_tables(r, e);
	return rc;
}

static void move_away(struct run_registrations *r, const struct err *why)
{
	char moved[320], tail[300];

	file_close(r);
	snprintf(moved, sizeof(moved), "%s.damaged", r->path);
	if (rename(r->path, moved))
		unlink(r->path);
	for (const char *const *end = (const char *const[]){"-wal", "-shm", NULL}; *end; end++) {
		snprintf(tail, sizeof(tail), "%s%s", r->path, *end);
		unlink(tail);
	}
	log_rec(r->log, LOG_REGISTRATIONS_DAMAGED, LOG_T("why", why->text), LOG_T("moved", moved));
}

static bool row_item(sqlite3_stmt *q, struct sa_item *it)
{
	int kind = sqlite3_column_int(q, 0), key_len = sqlite3_column_bytes(q, 1),
	    len = sqlite3_column_bytes(q, 2);
	const uint8_t *key = sqlite3_column_blob(q, 1), *value = sqlite3_column_blob(q, 2);

	if (kind < 0 || kind >= SA_NKINDS || key_len < 1 || key_len > SA_KEY || len < 1 ||
	    len > SA_VALUE || !key || !value ||
	    sqlite3_column_int64(q, 3) != sum_of(kind, key, (size_t)key_len, value, (size_t)len))
		return false;
	*it = (struct sa_item){
		.kind = (enum sa_kind)kind, .key_len = (uint16_t)key_len, .len = (uint16_t)len};
	memcpy(it->key, key, (size_t)key_len);
	memcpy(it->value, value, (size_t)len);
	return true;
}

/* Groups come before their members: the order of enum sa_kind. */
static int load(struct run_registrations *r, struct sa *sa, struct err *e)
{
	sqlite3_stmt *q = NULL;
	struct sa_item it;
	int rc = sqlite3_prepare_v2(
		r->db, "SELECT kind, key, value, sum FROM registrations ORDER BY kind, key", -1, &q,
		NULL);

	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		rc = 0;
		if (!row_item(q, &it)) {
			rc = SQLITE_CORRUPT;
			break;
		}
		r->items += sa_seed(sa, &it, 0);
	}
	sqlite3_finalize(q);
	return rc == SQLITE_DONE ? 0 : err_set(e, -EUCLEAN, "%s: a row is damaged", r->path);
}

static void path_beside(const char *state, char *out, size_t size)
{
	size_t n = strlen(state), end = n > 3 && !strcmp(state + n - 3, ".db") ? 3 : 0;

	snprintf(out, size, "%.*s-registrations%s", (int)(n - end), state, end ? ".db" : "");
}

static int open_and_load(struct run_registrations *r, struct sa *sa, struct err *e)
{
	bool was_there = false;
	int rc = file_open(r, &was_there, e);

	if (!rc && was_there)
		rc = load(r, sa, e);
	r->loaded = !rc && was_there;
	return rc;
}

void run_registrations_open(struct run_registrations *r, uv_loop_t *loop, struct run_log *log,
			    const char *state, struct sa *sa)
{
	struct err e;
	int rc = 0;

	*r = (struct run_registrations){.log = log, .open = true};
	uv_timer_init(loop, &r->timer);
	r->timer.data = r->work.data = r;
	if (!*state)
		return;
	path_beside(state, r->path, sizeof(r->path));
	rc = open_and_load(r, sa, &e);
	if (rc == -EUCLEAN) {
		move_away(r, &e);
		rc = open_and_load(r, sa, &e);
		r->loaded = false;
	}
	if (rc) {
		file_close(r);
		log_rec(log, LOG_REGISTRATIONS_FAILED, LOG_T("why", e.text));
	} else if (r->loaded) {
		log_rec(log, LOG_REGISTRATIONS, LOG_U("items", r->items), LOG_T("file", r->path));
	}
}

/* ---- writing, on the pool's thread ---- */

static int write_item(sqlite3_stmt *put, sqlite3_stmt *drop, const struct sa_item *it)
{
	sqlite3_stmt *q = it->gone ? drop : put;
	int rc;

	sqlite3_bind_int(q, 1, (int)it->kind);
	sqlite3_bind_blob(q, 2, it->key, it->key_len, SQLITE_STATIC);
	if (!it->gone) {
		sqlite3_bind_blob(q, 3, it->value, it->len, SQLITE_STATIC);
		sqlite3_bind_int64(q, 4,
				   sum_of((int)it->kind, it->key, it->key_len, it->value, it->len));
	}
	rc = sqlite3_step(q) == SQLITE_DONE ? 0 : -1;
	sqlite3_reset(q);
	return rc;
}

static int write_all(struct run_registrations *r)
{
	sqlite3_stmt *put = NULL, *drop = NULL;
	int rc = run(r, "BEGIN IMMEDIATE", &r->e);

	if (rc)
		return rc;
	rc = sqlite3_prepare_v2(r->db, "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?, ?)",
				-1, &put, NULL);
	rc = rc ? rc
		: sqlite3_prepare_v2(r->db, "DELETE FROM registrations WHERE kind = ? AND key = ?",
				     -1, &drop, NULL);
	for (size_t i = 0; !rc && i < r->writing.n; i++)
		rc = r->writing.at[i].kind == SA_NKINDS
			     ? sqlite3_exec(r->db, "DELETE FROM registrations", NULL, NULL, NULL)
			     : write_item(put, drop, &r->writing.at[i]);
	rc = rc ? fail(r, "write", &r->e) : 0;
	sqlite3_finalize(put);
	sqlite3_finalize(drop);
	rc = rc ? rc : run(r, "COMMIT", &r->e);
	if (rc && !sqlite3_get_autocommit(r->db))
		sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static void on_work(uv_work_t *w)
{
	struct run_registrations *r = w->data;

	r->rc = write_all(r);
	if (!r->rc)
		r->writing.n = 0;
}

/* ---- on the loop ---- */

static void flush(struct run_registrations *r);

static void on_timer(uv_timer_t *t)
{
	flush(t->data);
}

static void result_log(struct run_registrations *r)
{
	if (r->rc && !r->failed)
		log_rec(r->log, LOG_REGISTRATIONS_FAILED, LOG_T("why", r->e.text));
	r->failed = r->rc != 0;
}

static void after_work(uv_work_t *w, int status UNUSED)
{
	struct run_registrations *r = w->data;

	r->busy = false;
	result_log(r);
	if (r->closing)
		return;
	if (r->failed)
		uv_timer_start(&r->timer, on_timer, RETRY_MS, 0);
	else if (r->soon)
		flush(r);
	r->soon = false;
}

static void collect(struct run_registrations *r)
{
	for (size_t i = 0; i < r->pending.n; i++)
		vec_push(&r->writing, r->pending.at[i]);
	r->pending.n = 0;
}

static void flush(struct run_registrations *r)
{
	if (r->busy) {
		r->soon = true;
		return;
	}
	collect(r);
	if (!r->writing.n || r->closing)
		return;
	uv_timer_stop(&r->timer);
	r->busy = true;
	uv_queue_work(r->timer.loop, &r->work, on_work, after_work);
}

void run_registrations_add(struct run_registrations *r, const struct sa_item *it)
{
	if (!r->db)
		return;
	vec_push(&r->pending, *it);
	if (!uv_is_active((uv_handle_t *)&r->timer))
		uv_timer_start(&r->timer, on_timer, WITHIN_MS, 0);
}

void run_registrations_close(struct run_registrations *r)
{
	if (!r->open)
		return;
	r->closing = true;
	uv_close((uv_handle_t *)&r->timer, NULL);
	while (r->busy)
		uv_run(r->timer.loop, UV_RUN_ONCE);
	if (r->db) {
		collect(r);
		if (r->writing.n) {
			on_work(&r->work);
			result_log(r);
		}
	}
	file_close(r);
	vec_free(&r->pending);
	vec_free(&r->writing);
}
