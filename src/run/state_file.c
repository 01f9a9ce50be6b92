/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of the state database: opened, checked, its tables created. State: in struct state_db.
 * Way in: state_file_open(). Does not repair anything: see state_salvage.c.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/state_db_priv.h"

enum {
	APPLICATION = 0x57656674, /* "Weft" */
	VERSION = 2,
	OLD_VERSION = 1, /* without sums */
};

static const char schema[] =
	"BEGIN IMMEDIATE;"
	"DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS lids; DROP TABLE IF EXISTS m_keys;"
	"DROP TABLE IF EXISTS names;" /* of the old version */
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE lids (guid INTEGER PRIMARY KEY, lid INTEGER NOT NULL UNIQUE, lmc INTEGER "
	"NOT NULL, seen INTEGER NOT NULL, sum INTEGER NOT NULL);"
	"CREATE TABLE m_keys (id INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, sum INTEGER "
	"NOT NULL);"
	"CREATE TABLE names (guid INTEGER PRIMARY KEY, name TEXT NOT NULL, sum INTEGER NOT NULL);"
	"CREATE TABLE totals (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, sum INTEGER NOT NULL);"
	"INSERT INTO totals VALUES ('lids', 0, 0), ('m_keys', 0, 0), ('names', 0, 0);"
	"INSERT INTO meta VALUES ('made by', 'weft " WEFT_VERSION "'), ('version', '2');"
	"PRAGMA application_id = 0x57656674;"
	"PRAGMA user_version = 2;"
	"COMMIT";

/* Files that were made before there were virtual machines do not have it. */
static const char vms_schema[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE vms (guid INTEGER PRIMARY KEY, name TEXT NOT NULL, host INTEGER NOT NULL, slot INTEGER "
	"NOT NULL, lid INTEGER NOT NULL, running INTEGER NOT NULL, sum INTEGER NOT NULL);"
	"INSERT OR IGNORE INTO totals VALUES ('vms', 0, 0);"
	"COMMIT";

/* ---- opening ---- */

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Whether the first bytes are those of a damaged file of ours, and not of another program's: SQLite's
 * name cut short, zeroes, or our tables. */
static bool was_ours(const struct state_db *s, const uint8_t *h, ssize_t n)
{
	static const char tables[] = "CREATE TABLE lids (guid";
	char page[STATE_PAGE];
	ssize_t got = pread(s->fd, page, sizeof(page), 0);

	if (n < 100)
		return !memcmp(h, "SQLite format 3", MIN((size_t)n, (size_t)16));
	for (ssize_t i = 0; i < n; i++)
		if (h[i])
			return got > 0 && (be32(h + 68) == APPLICATION ||
					   memmem(page, (size_t)got, tables, sizeof(tables) - 1));
	return true;
}

/*
 * Checks, before SQLite opens it, that the file is Weft's. (Offsets: SQLite's file format, 1.3.) 0;
 * -EUCLEAN: ours, but damaged; -EBADMSG: another program's.
 */
static int header_check(const struct state_db *s, struct err *e)
{
	uint8_t h[100];
	ssize_t n = pread(s->fd, h, sizeof(h), 0);
	bool ours;

	if (n == 0)
		return 0; /* new, or of a process that was killed while creating it */
	if (n < 0)
		return err_set(e, -errno, "%s: cannot read: %s", s->path, strerror(errno));
	ours = was_ours(s, h, n);
	if (n < (ssize_t)sizeof(h) || memcmp(h, "SQLite format 3", 16))
		return ours ? err_set(e, -EUCLEAN, "its header is not that of a database")
			    : err_set(e, -EBADMSG,
				      "%s: not a state file of Weft: not an SQLite database; not changed",
				      s->path);
	if (be32(h + 68) != APPLICATION)
		return ours ? err_set(e, -EUCLEAN, "its application id is wrong")
			    : err_set(e, -EBADMSG,
				      "%s: not a state file of Weft but a database of another program; not changed",
				      s->path);
	if (h[18] > 2 || h[19] > 2) /* versions of the format, for writing and reading */
		return err_set(e, -EUCLEAN, "its header does not permit writing");
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

/* ---- checking ---- */

static int rows_check(const struct state_db *s, struct err *e)
{
	char sql[80];
	struct state_total t;
	int64_t rows = 0, sum = 0;
	int rc = 0;

	for (int kind = 0; !rc && kind < STATE_TABLES; kind++) {
		rc = state_rows_each(s, (enum state_row_kind)kind, &t, NULL, NULL, e);
		snprintf(sql, sizeof(sql), "SELECT rows FROM totals WHERE name = '%s'",
			 state_tables[kind]);
		rc = rc ? rc : state_ask(s, sql, &rows, NULL, 0, e);
		snprintf(sql, sizeof(sql), "SELECT sum FROM totals WHERE name = '%s'",
			 state_tables[kind]);
		rc = rc ? rc : state_ask(s, sql, &sum, NULL, 0, e);
		if (!rc && (t.rows != (uint64_t)rows || t.sum != (uint64_t)sum))
			rc = err_set(e, -EUCLEAN, "rows of %s are missing", state_tables[kind]);
	}
	return rc;
}

static int structure_check(const struct state_db *s, struct err *e)
{
	char word[200];
	int rc = state_ask(s, "PRAGMA integrity_check(1)", NULL, word, sizeof(word), e);

	if (!rc && strcmp(word, "ok"))
		rc = err_set(e, -EUCLEAN, "%s", word);
	return rc;
}

/* ---- the old version ---- */

/* Takes LIDs and keys of a file without sums. */
static int old_read(struct state_db *s, struct err *e)
{
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, "SELECT guid, lid, lmc FROM lids", -1, &q, NULL);

	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct state_row r = {.lid = (uint16_t)sqlite3_column_int(q, 1),
				      .lmc = (uint8_t)sqlite3_column_int(q, 2)};

		if (state_row_is_sane(&r))
			state_db_put_lid(s, (uint64_t)sqlite3_column_int64(q, 0), r.lid, r.lmc);
		rc = 0;
	}
	sqlite3_finalize(q);
	if (rc == SQLITE_DONE)
		rc = sqlite3_prepare_v2(s->db, "SELECT key FROM m_keys ORDER BY id", -1, &q, NULL);
	else
		return state_fail(s, "read", e);
	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		state_db_put_m_key(s, (uint64_t)sqlite3_column_int64(q, 0));
		rc = 0;
	}
	rc = rc == SQLITE_DONE ? 0 : state_fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}

/* A later version is refused, unless the file itself says that its header is wrong. */
static int version_check(const struct state_db *s, int64_t version, struct err *e)
{
	char word[64] = "";
	struct err ignored;

	if (version <= VERSION)
		return 0;
	if (!state_ask(s, "SELECT value FROM meta WHERE key = 'version'", NULL, word, sizeof(word),
		       &ignored) &&
	    strcmp(word, "2") == 0)
		return err_set(e, -EUCLEAN, "its header has version %lld", (long long)version);
	return err_set(e, -EBADMSG,
		       "%s: has version %lld, this program reads version %d; not changed", s->path,
		       (long long)version, VERSION);
}

/* ---- opening ---- */

static int vms_make(struct state_db *s, struct err *e)
{
	int64_t there = 0;
	int rc = state_ask(s, "SELECT count(*) FROM sqlite_master WHERE name = 'vms'", &there, NULL,
			   0, e);

	if (!rc && !there)
		rc = state_run(s, vms_schema, "create a table", e);
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int tables_make(struct state_db *s, int64_t version, struct err *e)
{
	int rc = 0;

	if (version == VERSION)
		return vms_make(s, e);
	if (version == OLD_VERSION) {
		rc = structure_check(s, e);
		rc = rc ? rc : old_read(s, e);
	}
	rc = rc ? rc : state_run(s, schema, "create the tables", e);
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	rc = rc ? rc : vms_make(s, e);
	return rc ? rc : state_db_commit(s, e);
}

static int journal_set(const struct state_db *s, struct err *e)
{
	char word[64];
	int rc = state_ask(s, "PRAGMA journal_mode = WAL", NULL, word, sizeof(word), e);

	return rc ? rc
		  : state_run(s, "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304",
			      "configure it", e);
}

/* alone: no other process may open it meanwhile; SQLite then needs no -shm file. */
static int database_open(struct state_db *s, bool alone, struct err *e)
{
	int64_t version = 0;
	struct stat st;
	int rc = 0;

	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE, NULL))
		return state_fail(s, "open", e);
	sqlite3_extended_result_codes(s->db, 1);
	rc = state_run(s,
		       alone ? "PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = ON; "
			       "PRAGMA temp_store = MEMORY"
			     : "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY",
		       "configure it", e);
	rc = rc ? rc : state_ask(s, "PRAGMA user_version", &version, NULL, 0, e);
	/* A file that is not empty has a version. */
	if (!rc && !version && !fstat(s->fd, &st) && st.st_size > 0)
		rc = err_set(e, -EUCLEAN, "it has no version");
	rc = rc ? rc : version_check(s, version, e);
	/* SQLite opens it so where it has no descriptor, too: a lasting reason is in the header. */
	if (!rc && sqlite3_db_readonly(s->db, "main"))
		rc = err_set(e, -EIO, "%s: cannot be opened for writing", s->path);
	rc = rc ? rc : tables_make(s, version, e);
	rc = rc ? rc : structure_check(s, e);
	rc = rc ? rc : rows_check(s, e);
	return rc ? rc : journal_set(s, e);
}

void state_file_close(struct state_db *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int state_file_open(struct state_db *s, struct err *e)
{
	int rc = file_take(s, e);

	rc = rc ? rc : database_open(s, false, e);
	if (rc == -ENOSPC || rc == -EIO) { /* reading needs no space on a full disk */
		sqlite3_close(s->db);
		s->db = NULL;
		state_items_clear(s);
		rc = database_open(s, true, e);
	}
	return rc;
}
