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

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"
#include "run/state_lock.h"
#include "run/state_rows.h"

enum {
	APPLICATION = 0x57656674, /* "Weft" */
	VERSION = 2,
	OLD_VERSION = 1, /* without sums */
	MOVED_MAX = 100, /* damaged files that are kept */
};

#define FILE_MAX_BYTES ((size_t)256 << 20) /* of a damaged file: what is looked at */

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
	int lock; /* the lock file */
	int fd;	  /* of the database; closed last, since closing it releases SQLite's locks, too */
	char *path;
	VEC(struct lid_put) lids;
	VEC(uint64_t) keys;
	VEC(struct name_put) names;
	struct map64 lid_at, name_at; /* GUID -> index in lids, in names */
	int reported;		      /* the last commit's error; 0: it succeeded */
};

static void items_clear(struct state_db *s);

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

/* The rows of each kind, by the column that is the rowid. */
static const char *const rows_sql[] = {
	[STATE_ROW_LID] = "SELECT guid, lid, lmc, seen, sum FROM lids ORDER BY guid < 0, guid",
	[STATE_ROW_KEY] = "SELECT id, key, sum FROM m_keys ORDER BY id DESC",
	[STATE_ROW_NAME] = "SELECT guid, name, sum FROM names ORDER BY guid < 0, guid",
};
static const char *const row_tables[] = {"lids", "m_keys", "names"};

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
	case SQLITE_FORMAT:
	case SQLITE_ERROR: /* a table or a column is not there */
		return -EUCLEAN;
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
	}
	return state_row_is_sane(r) && sqlite3_column_int64(q, sum) == state_row_sum(r);
}

struct total {
	uint64_t rows, sum;
};

/* Calls fn, if not NULL, for each row. -EUCLEAN: one is damaged. */
static int rows_each(const struct state_db *s, enum state_row_kind kind, struct total *t,
		     void (*fn)(void *ctx, const struct state_row *r), void *ctx, struct err *e)
{
	struct state_row r;
	sqlite3_stmt *q;
	int rc = sqlite3_prepare_v2(s->db, rows_sql[kind], -1, &q, NULL);

	*t = (struct total){0};
	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		rc = 0;
		if (!row_read(q, kind, &r)) {
			sqlite3_finalize(q);
			return err_set(e, -EUCLEAN, "a row of %s has a wrong sum",
				       row_tables[kind]);
		}
		t->rows++;
		t->sum += (uint64_t)state_row_sum(&r);
		if (fn)
			fn(ctx, &r);
	}
	rc = rc == SQLITE_DONE ? 0 : fail(s, "read", e);
	sqlite3_finalize(q);
	return rc;
}

static int rows_check(const struct state_db *s, struct err *e)
{
	char sql[80];
	struct total t;
	int64_t rows = 0, sum = 0;
	int rc = 0;

	for (int kind = 0; !rc && kind < (int)ARRAY_LEN(rows_sql); kind++) {
		rc = rows_each(s, (enum state_row_kind)kind, &t, NULL, NULL, e);
		snprintf(sql, sizeof(sql), "SELECT rows FROM totals WHERE name = '%s'",
			 row_tables[kind]);
		rc = rc ? rc : ask(s, sql, &rows, NULL, 0, e);
		snprintf(sql, sizeof(sql), "SELECT sum FROM totals WHERE name = '%s'",
			 row_tables[kind]);
		rc = rc ? rc : ask(s, sql, &sum, NULL, 0, e);
		if (!rc && (t.rows != (uint64_t)rows || t.sum != (uint64_t)sum))
			rc = err_set(e, -EUCLEAN, "rows of %s are missing", row_tables[kind]);
	}
	return rc;
}

static int structure_check(const struct state_db *s, struct err *e)
{
	char word[200];
	int rc = ask(s, "PRAGMA integrity_check(1)", NULL, word, sizeof(word), e);

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
		return fail(s, "read", e);
	while (!rc && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		state_db_put_m_key(s, (uint64_t)sqlite3_column_int64(q, 0));
		rc = 0;
	}
	rc = rc == SQLITE_DONE ? 0 : fail(s, "read", e);
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
	if (!ask(s, "SELECT value FROM meta WHERE key = 'version'", NULL, word, sizeof(word),
		 &ignored) &&
	    strcmp(word, "2") == 0)
		return err_set(e, -EUCLEAN, "its header has version %lld", (long long)version);
	return err_set(e, -EBADMSG,
		       "%s: has version %lld, this program reads version %d; not changed", s->path,
		       (long long)version, VERSION);
}

/* ---- opening ---- */

static int tables_make(struct state_db *s, int64_t version, struct err *e)
{
	int rc = 0;

	if (version == VERSION)
		return 0;
	if (version == OLD_VERSION) {
		rc = structure_check(s, e);
		rc = rc ? rc : old_read(s, e);
	}
	rc = rc ? rc : run(s, schema, "create the tables", e);
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc ? rc : state_db_commit(s, e);
}

static int journal_set(const struct state_db *s, struct err *e)
{
	char word[64];
	int rc = ask(s, "PRAGMA journal_mode = WAL", NULL, word, sizeof(word), e);

	return rc ? rc
		  : run(s, "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304",
			"configure it", e);
}

/* alone: no other process may open it meanwhile; SQLite then needs no -shm file. */
static int database_open(struct state_db *s, bool alone, struct err *e)
{
	int64_t version = 0;
	struct stat st;
	int rc = 0;

	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE, NULL))
		return fail(s, "open", e);
	sqlite3_extended_result_codes(s->db, 1);
	rc = run(s,
		 alone ? "PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = ON; "
			 "PRAGMA temp_store = MEMORY"
		       : "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY",
		 "configure it", e);
	rc = rc ? rc : ask(s, "PRAGMA user_version", &version, NULL, 0, e);
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

static void database_close(struct state_db *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Opens and checks what is there. -EUCLEAN: damaged, with the reason in e. */
static int file_open(struct state_db *s, struct err *e)
{
	int rc = file_take(s, e);

	rc = rc ? rc : database_open(s, false, e);
	if (rc == -ENOSPC || rc == -EIO) { /* reading needs no space on a full disk */
		sqlite3_close(s->db);
		s->db = NULL;
		items_clear(s);
		rc = database_open(s, true, e);
	}
	return rc;
}

/* ---- a damaged file ---- */

struct salvage {
	VEC(struct state_row) rows;
	size_t from; /* where the present table begins */
};

static void salvage_row(void *ctx, const struct state_row *r)
{
	struct salvage *v = ctx;

	vec_push(&v->rows, *r);
}

static void salvage_file(struct salvage *v, const char *path, bool wal)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	uint8_t *bytes;
	struct stat st;
	size_t n = 0, len;

	if (fd < 0)
		return;
	len = fstat(fd, &st) ? 0 : MIN((size_t)st.st_size, FILE_MAX_BYTES);
	bytes = mem_alloc(len);
	while (n < len) { /* a part of the disk may be unreadable */
		ssize_t got = pread(fd, bytes + n, MIN(len - n, (size_t)STATE_PAGE), (off_t)n);

		if (got <= 0)
			memset(bytes + n, 0, MIN(len - n, (size_t)STATE_PAGE));
		n += got > 0 ? (size_t)got : MIN(len - n, (size_t)STATE_PAGE);
	}
	state_rows_find(bytes, len, wal, salvage_row, v);
	free(bytes);
	close(fd);
}

/* Later versions of a row come first; of keys, earlier ones, as they are to be saved. */
static int row_order(const void *a, const void *b)
{
	const struct state_row *x = *(struct state_row *const *)a,
			       *y = *(struct state_row *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == STATE_ROW_KEY && x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	if (x->seen != y->seen)
		return x->seen > y->seen ? -1 : 1;
	return x > y ? -1 : x < y;
}

/* Each GUID and each LID once, in its latest version. */
static void salvage_put(struct state_db *s, const struct salvage *v, struct state_found *found)
{
	const struct state_row **order = mem_array(v->rows.n, sizeof(struct state_row *));
	struct map64 lid_taken = {0}, key_taken = {0};

	for (size_t i = 0; i < v->rows.n; i++)
		order[i] = &v->rows.at[i];
	qsort(order, v->rows.n, sizeof(struct state_row *), row_order);
	for (size_t i = 0; i < v->rows.n; i++) {
		const struct state_row *r = order[i];

		if (r->kind == STATE_ROW_KEY && map64_get(&key_taken, r->key) == MAP_NONE) {
			map64_put(&key_taken, r->key, 0);
			state_db_put_m_key(s, r->key);
		} else if (r->kind == STATE_ROW_NAME &&
			   map64_get(&s->name_at, r->guid) == MAP_NONE) {
			state_db_put_name(s, r->guid, r->name);
		} else if (r->kind == STATE_ROW_LID && map64_get(&s->lid_at, r->guid) == MAP_NONE &&
			   map64_get(&lid_taken, r->lid) == MAP_NONE) {
			map64_put(&lid_taken, r->lid, 0);
			state_db_put_lid(s, r->guid, r->lid, r->lmc);
		}
	}
	found->lids = (unsigned)s->lids.n;
	found->keys = (unsigned)s->keys.n;
	found->names = (unsigned)s->names.n;
	map64_free(&lid_taken);
	map64_free(&key_taken);
	free(order);
}

static void name_with(char *out, size_t size, const char *path, const char *suffix)
{
	snprintf(out, size, "%s%s", path, suffix);
}

/* The name must be free: an earlier damaged file is not overwritten. */
static int move_away(const struct state_db *s, struct state_found *found, struct err *e)
{
	char from[300], to[300];
	int i = 1;

	do {
		snprintf(found->moved, sizeof(found->moved), "%s.damaged-%d", s->path, i);
	} while (!access(found->moved, F_OK) && i++ < MOVED_MAX);
	if (rename(s->path, found->moved))
		return err_set(e, -errno, "%s: damaged, and cannot be moved away: %s", s->path,
			       strerror(errno));
	name_with(from, sizeof(from), s->path,
		  "-wal"); /* else SQLite replays it into the new file */
	name_with(to, sizeof(to), found->moved, "-wal");
	if (rename(from, to) && errno != ENOENT)
		unlink(from);
	name_with(from, sizeof(from), s->path, "-journal");
	name_with(to, sizeof(to), found->moved, "-journal");
	if (rename(from, to) && errno != ENOENT)
		unlink(from);
	name_with(from, sizeof(from), s->path, "-shm");
	unlink(from);
	return 0;
}

/* Moves the file away and saves in a new one what can be read of it. */
static int file_replace(struct state_db *s, const struct err *why, struct state_found *found,
			struct err *e)
{
	struct salvage v = {0};
	char wal[300];
	int rc;

	name_with(wal, sizeof(wal), s->path, "-wal");
	salvage_file(&v, s->path, false);
	salvage_file(&v, wal, true);
	if (s->db) /* else it writes its log into the file at the end */
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	rc = move_away(s, found, e);
	database_close(s);
	items_clear(s);
	salvage_put(s, &v, found);
	vec_free(&v.rows);
	if (rc)
		return rc;
	found->damaged = true;
	snprintf(found->why, sizeof(found->why), "%.150s", why->text);
	rc = file_open(s, e);
	return rc ? rc : state_db_commit(s, e);
}

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
	rc = rc ? rc : file_open(s, e);
	if (rc == -EUCLEAN) { /* a read that failed once is not damage */
		database_close(s);
		items_clear(s);
		rc = file_open(s, e);
	}
	if (rc == -EUCLEAN) {
		why = *e;
		rc = file_replace(s, &why, found, e);
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
	database_close(s);
	if (s->lock >= 0)
		close(s->lock);
	vec_free(&s->lids);
	vec_free(&s->keys);
	vec_free(&s->names);
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
	struct total t;

	return rows_each(s, STATE_ROW_LID, &t, lid_row, &c, e);
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
	struct total t;
	int rc = rows_each(s, STATE_ROW_KEY, &t, key_row, &c, e);

	return rc ? rc : (int)c.n;
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
	int rc =
		s->keys.n ? ask(s, "SELECT coalesce(max(id), 0) FROM m_keys", &id, NULL, 0, &e) : 0;

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

static int totals_write(struct state_db *s, struct err *e)
{
	char sql[160];
	struct total t;
	int rc = 0;

	for (int kind = 0; !rc && kind < (int)ARRAY_LEN(rows_sql); kind++) {
		rc = rows_each(s, (enum state_row_kind)kind, &t, NULL, NULL, e);
		snprintf(sql, sizeof(sql),
			 "UPDATE totals SET rows = %llu, sum = %lld WHERE name = '%s'",
			 (unsigned long long)t.rows, (long long)t.sum, row_tables[kind]);
		rc = rc ? rc : run(s, sql, "write", e);
	}
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
	rc = rc ? rc : totals_write(s, e);
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
