/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs, M_Keys and names in an SQLite file. State: the connection, and the items for the next commit.
 * Way in: state_db_open(). Decides nothing about LIDs: the manager does.
 *
 * The file is in WAL mode: a commit is one append, and a process that is killed during it leaves the
 * former state. Keys are flushed to the disk before the manager sets them. LIDs are not: after a loss of
 * power the manager reads them from the devices.
 */
#include "run/state_db.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"

enum { APPLICATION = 0x57656674, VERSION = 1 }; /* "Weft" */

struct lid_put {
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc;
};

struct name_put {
	uint64_t guid;
	char *name;
};

struct state_db {
	sqlite3 *db;
	int fd; /* holds the lock; closed last, since closing it releases SQLite's locks, too */
	char *path;
	VEC(struct lid_put) lids;
	VEC(uint64_t) keys;
	VEC(struct name_put) names;
	struct map64 lid_at, name_at; /* GUID -> index in lids, in names */
	int reported;		      /* the last commit's error; 0: it succeeded */
};

static const char schema[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE lids (guid INTEGER PRIMARY KEY, lid INTEGER NOT NULL UNIQUE, lmc INTEGER "
	"NOT NULL, seen INTEGER NOT NULL);"
	"CREATE TABLE m_keys (id INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL UNIQUE);"
	"CREATE TABLE names (guid INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	"INSERT INTO meta VALUES ('made by', 'weft " WEFT_VERSION "');"
	"PRAGMA application_id = 0x57656674;"
	"PRAGMA user_version = 1;"
	"COMMIT";

/* ---- errors ---- */

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
		return -EBADMSG;
	default:
		return -EIO;
	}
}

static int fail(const struct state_db *s, const char *what, struct err *e)
{
	int sqlite = sqlite3_extended_errcode(s->db), os = sqlite3_system_errno(s->db);
	bool more = (sqlite & 0xff) == SQLITE_IOERR && os;

	return err_set(e, code_of(sqlite), "%s: cannot %s: %s%s%s", s->path, what,
		       sqlite3_errmsg(s->db), more ? ": " : "", more ? strerror(os) : "");
}

static int run(const struct state_db *s, const char *sql, const char *what, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? fail(s, what, e) : 0;
}

/* The first column of the first row. */
static int ask(const struct state_db *s, const char *sql, int64_t *number, char *text, size_t size,
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
		rc = fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}

/* ---- opening ---- */

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Checks, before SQLite opens it, that the file is Weft's. (Offsets: SQLite's file format, 1.3.) */
static int header_check(const struct state_db *s, struct err *e)
{
	uint8_t h[100];
	ssize_t n = pread(s->fd, h, sizeof(h), 0);

	if (n == 0)
		return 0; /* new, or of a process that was killed while creating it */
	if (n < 0)
		return err_set(e, -errno, "%s: cannot read: %s", s->path, strerror(errno));
	if (n < (ssize_t)sizeof(h) || memcmp(h, "SQLite format 3", 16))
		return err_set(e, -EBADMSG,
			       "%s: not a state file of Weft: not an SQLite database; not changed",
			       s->path);
	if (be32(h + 68) != APPLICATION)
		return err_set(
			e, -EBADMSG,
			"%s: not a state file of Weft but a database of another program; not changed",
			s->path);
	if (be32(h + 60) > VERSION)
		return err_set(e, -EBADMSG,
			       "%s: has version %u, this program reads version %d; not changed",
			       s->path, be32(h + 60), VERSION);
	return 0;
}

static int file_take(struct state_db *s, struct err *e)
{
	struct stat st;

	s->fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600); /* it holds keys */
	if (s->fd < 0)
		return err_set(e, -errno, "%s: cannot open: %s", s->path, strerror(errno));
	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode))
		return err_set(e, -EBADMSG, "%s: not a regular file", s->path);
	if (flock(s->fd, LOCK_EX | LOCK_NB))
		return err_set(e, -EBUSY, "%s: another process uses it", s->path);
	return header_check(s, e);
}

/* alone: no other process may open it meanwhile; SQLite then needs no -shm file. */
static int database_open(struct state_db *s, bool alone, struct err *e)
{
	int64_t version = 0;
	char word[64];
	int rc = 0;

	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE, NULL))
		return fail(s, "open", e);
	sqlite3_extended_result_codes(s->db, 1);
	if (alone)
		rc = run(s, "PRAGMA locking_mode = EXCLUSIVE", "configure it", e);
	rc = rc ? rc : ask(s, "PRAGMA user_version", &version, NULL, 0, e);
	if (!rc && !version)
		rc = run(s, schema, "create the tables", e);
	if (!rc)
		rc = ask(s, "PRAGMA quick_check(1)", NULL, word, sizeof(word), e);
	if (!rc && strcmp(word, "ok"))
		rc = err_set(
			e, -EBADMSG,
			"%s: damaged (%s); move it away, and the manager reads LIDs from the devices",
			s->path, word);
	if (!rc)
		rc = ask(s, "PRAGMA journal_mode = WAL", NULL, word, sizeof(word), e);
	if (!rc)
		rc = run(s, "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304",
			 "configure it", e);
	return rc;
}

int state_db_open(struct state_db **out, const char *path, struct err *e)
{
	struct state_db *s = mem_zalloc(sizeof(*s));
	int rc;

	s->fd = -1;
	s->path = mem_strdup(path);
	rc = file_take(s, e);
	rc = rc ? rc : database_open(s, false, e);
	if (rc == -ENOSPC || rc == -EIO) { /* reading needs no space on a full disk */
		sqlite3_close(s->db);
		s->db = NULL;
		rc = database_open(s, true, e);
	}
	if (rc)
		state_db_close(s);
	else
		*out = s;
	return rc;
}

static void items_clear(struct state_db *s)
{
	for (size_t i = 0; i < s->names.n; i++)
		free(s->names.at[i].name);
	s->names.n = s->lids.n = s->keys.n = 0;
	map64_clear(&s->lid_at);
	map64_clear(&s->name_at);
}

void state_db_close(struct state_db *s)
{
	if (!s)
		return;
	items_clear(s);
	sqlite3_close(s->db);
	if (s->fd >= 0)
		close(s->fd);
	vec_free(&s->lids);
	vec_free(&s->keys);
	vec_free(&s->names);
	map64_free(&s->lid_at);
	map64_free(&s->name_at);
	free(s->path);
	free(s);
}

/* ---- reading ---- */

int state_db_lids(struct state_db *s,
		  void (*fn)(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc), void *ctx,
		  struct err *e)
{
	/* SQLite's integers are signed, GUIDs are not. */
	static const char sql[] =
		"SELECT guid, lid, lmc FROM lids WHERE lid BETWEEN 1 AND 49151 AND lmc BETWEEN 0 AND 7 "
		"ORDER BY guid < 0, guid";
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);

	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		fn(ctx, (uint64_t)sqlite3_column_int64(q, 0), (uint16_t)sqlite3_column_int(q, 1),
		   (unsigned)sqlite3_column_int(q, 2));
		rc = 0;
	}
	rc = rc == SQLITE_DONE ? 0 : fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}

int state_db_m_keys(struct state_db *s, uint64_t *keys, unsigned max, struct err *e)
{
	sqlite3_stmt *q;
	unsigned n = 0;
	int rc = sqlite3_prepare_v2(s->db, "SELECT key FROM m_keys ORDER BY id DESC", -1, &q, NULL);

	while (!rc && (rc = n < max ? sqlite3_step(q) : SQLITE_DONE) == SQLITE_ROW) {
		keys[n++] = (uint64_t)sqlite3_column_int64(q, 0);
		rc = 0;
	}
	rc = rc == SQLITE_DONE ? (int)n : fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}

/* ---- items for the next commit ---- */

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

/* A LID has one owner: REPLACE also removes the former owner. */
static int lids_write(struct state_db *s)
{
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO lids VALUES (?, ?, ?, ?)", -1,
				    &q, NULL);

	for (size_t i = 0; !rc && i < s->lids.n; i++) {
		sqlite3_bind_int64(q, 1, (int64_t)s->lids.at[i].guid);
		sqlite3_bind_int(q, 2, s->lids.at[i].lid);
		sqlite3_bind_int(q, 3, s->lids.at[i].lmc);
		sqlite3_bind_int64(q, 4, (int64_t)time(NULL));
		rc = sqlite3_step(q) == SQLITE_DONE ? 0 : -1;
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	return rc;
}

/* A key that the file has already becomes the newest. */
static int keys_write(struct state_db *s)
{
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO m_keys (key) VALUES (?)", -1, &q,
				    NULL);

	for (size_t i = 0; !rc && i < s->keys.n; i++) {
		sqlite3_bind_int64(q, 1, (int64_t)s->keys.at[i]);
		rc = sqlite3_step(q) == SQLITE_DONE ? 0 : -1;
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	return rc;
}

static int names_write(struct state_db *s)
{
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO names VALUES (?, ?)", -1, &q,
				    NULL);

	for (size_t i = 0; !rc && i < s->names.n; i++) {
		sqlite3_bind_int64(q, 1, (int64_t)s->names.at[i].guid);
		sqlite3_bind_text(q, 2, s->names.at[i].name, -1, SQLITE_STATIC);
		rc = sqlite3_step(q) == SQLITE_DONE ? 0 : -1;
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	return rc;
}

static int all_write(struct state_db *s, struct err *e)
{
	int rc = run(s, s->keys.n ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
		     "write", e);

	rc = rc ? rc : run(s, "BEGIN IMMEDIATE", "write", e);
	if (rc)
		return rc;
	if (lids_write(s) || keys_write(s) || names_write(s))
		rc = fail(s, "write", e);
	rc = rc ? rc : run(s, "COMMIT", "write", e);
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int state_db_commit(struct state_db *s, struct err *e)
{
	int rc = 0;

	if (s->lids.n || s->keys.n || s->names.n)
		rc = all_write(s, e);
	if (!rc)
		items_clear(s);
	else if (rc == s->reported && e)
		e->text[0] = 0;
	s->reported = rc;
	return rc;
}
