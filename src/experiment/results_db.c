/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results in an SQLite file, one transaction a job. State: struct results_db. Way in: results_db_open(). Does not
 * decide what is run again: the command does.
 */
#include "experiment/results.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct results_db {
	sqlite3 *sql;
	sqlite3_stmt *put;
	char *path;
	int lock; /* a descriptor of FILE.lock */
};

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS result (experiment TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL,"
	" command TEXT NOT NULL, version TEXT NOT NULL, result TEXT, message TEXT,"
	" PRIMARY KEY (experiment, key)) WITHOUT ROWID";
static const char put_row[] = "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?)";

static int fault(const struct results_db *db, const char *what, struct err *e)
{
	return err_set(e, -EIO, "%s: cannot %s: %s", db->path, what, sqlite3_errmsg(db->sql));
}

/* The file of the descriptor is still the one at the path: its last owner may have removed it meanwhile. */
static bool same_file(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int file_lock(struct results_db *db, struct err *e)
{
	struct strbuf path = {0};
	int rc = -EAGAIN;

	strbuf_addf(&path, "%s.lock", db->path);
	while (rc == -EAGAIN) {
		db->lock = open(path.s, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (db->lock < 0) {
			rc = err_set(e, -errno, "%s: %s", path.s, strerror(errno));
		} else if (flock(db->lock, LOCK_EX | LOCK_NB)) {
			rc = err_set(e, -EBUSY, "%s: another run writes its results there",
				     db->path);
		} else if (same_file(db->lock, path.s)) {
			rc = 0;
			break;
		}
		if (db->lock >= 0) /* another's: it stays */
			close(db->lock);
		db->lock = -1;
	}
	strbuf_free(&path);
	return rc;
}

static int file_open(struct results_db *db, struct err *e)
{
	if (sqlite3_open(db->path, &db->sql) != SQLITE_OK)
		return fault(db, "open it", e);
	sqlite3_busy_timeout(db->sql, 10000);
	/* Not synchronized after each job: a kill loses nothing, only a machine that stops may lose the last jobs. */
	if (sqlite3_exec(db->sql, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", NULL, NULL,
			 NULL) ||
	    sqlite3_exec(db->sql, schema, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db->sql, put_row, -1, &db->put, NULL))
		return fault(db, "write it", e);
	return 0;
}

struct results_db *results_db_open(const char *path, struct err *e)
{
	struct results_db *db = mem_zalloc(sizeof(*db));

	db->path = mem_strdup(path);
	db->lock = -1;
	if (!file_lock(db, e) && !file_open(db, e))
		return db;
	results_db_close(db);
	return NULL;
}

static void lock_remove(struct results_db *db)
{
	struct strbuf path = {0};

	strbuf_addf(&path, "%s.lock", db->path);
	unlink(path.s);
	close(db->lock);
	strbuf_free(&path);
}

void results_db_close(struct results_db *db)
{
	if (!db)
		return;
	sqlite3_finalize(db->put);
	sqlite3_close(db->sql);
	if (db->lock >= 0)
		lock_remove(db);
	free(db->path);
	free(db);
}

int results_db_put_row(struct results_db *db, const struct result_row *row, struct err *e)
{
	const char *const texts[] = {row->experiment, row->key,	   row->hash,	row->command,
				     row->version,    row->values, row->message};

	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		sqlite3_bind_text(db->put, (int)i + 1, texts[i], -1, SQLITE_TRANSIENT);
	if (sqlite3_step(db->put) != SQLITE_DONE) {
		sqlite3_reset(db->put);
		return fault(db, "write it", e);
	}
	sqlite3_reset(db->put);
	return 0;
}

/* With {dir} as it is: the same text on every machine. */
static char *command_text(const struct experiment_job *j)
{
	struct experiment_job anywhere = *j;
	job_commands c = {0};
	struct strbuf b = {0};
	struct err e;

	anywhere.hash = NULL;
	strbuf_add(&b, "");
	if (!job_commands_make(&anywhere, &c, &e))
		for (char **w = c.at[c.n - 1]; *w; w++)
			strbuf_addf(&b, "%s%s", b.len ? " " : "", *w);
	job_commands_free(&c);
	return b.s;
}

int results_db_put(struct results_db *db, const struct job_result *r, struct err *e)
{
	char *command = command_text(r->job), version[] = WEFT_VERSION;
	struct result_row row = {.experiment = r->job->experiment->name,
				 .key = r->job->key,
				 .hash = r->job->hash,
				 .command = command,
				 .version = version,
				 .values = r->ok ? r->values : NULL,
				 .message = r->ok ? NULL : r->message};
	int rc = results_db_put_row(db, &row, e);

	free(command);
	return rc;
}

/* ---- reading ---- */

static char *text_take(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? mem_strdup(text) : NULL;
}

static struct result_row row_take(sqlite3_stmt *s)
{
	return (struct result_row){.experiment = text_take(s, 0),
				   .key = text_take(s, 1),
				   .hash = text_take(s, 2),
				   .command = text_take(s, 3),
				   .version = text_take(s, 4),
				   .values = text_take(s, 5),
				   .message = text_take(s, 6)};
}

int results_db_load(const char *path, struct results *out, struct err *e)
{
	struct results_db db = {.path = (char *)path};
	sqlite3_stmt *s = NULL;
	int rc = 0, step = SQLITE_DONE;

	if (access(path, R_OK))
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (sqlite3_open_v2(path, &db.sql, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db.sql, "SELECT * FROM result ORDER BY experiment, key", -1, &s,
			       NULL))
		rc = fault(&db, "read it", e);
	while (!rc && (step = sqlite3_step(s)) == SQLITE_ROW)
		results_add(out, row_take(s));
	if (!rc && step != SQLITE_DONE)
		rc = fault(&db, "read it", e);
	sqlite3_finalize(s);
	sqlite3_close(db.sql);
	return rc;
}

/* ---- in order ---- */

/* A new file with the rows in the order of their keys, made by the same steps each time. */
static int ordered_write(const char *path, const struct results *r, struct err *e)
{
	struct results_db db = {.path = (char *)path, .lock = -1};
	int rc = 0;

	unlink(path);
	if (sqlite3_open(path, &db.sql) != SQLITE_OK ||
	    sqlite3_exec(db.sql, schema, NULL, NULL, NULL) ||
	    sqlite3_exec(db.sql, "BEGIN", NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db.sql, put_row, -1, &db.put, NULL))
		rc = fault(&db, "write it", e);
	for (size_t i = 0; i < r->rows.n && !rc; i++)
		rc = results_db_put_row(&db, &r->rows.at[i], e);
	if (!rc && sqlite3_exec(db.sql, "COMMIT", NULL, NULL, NULL))
		rc = fault(&db, "write it", e);
	sqlite3_finalize(db.put);
	sqlite3_close(db.sql);
	return rc;
}

/* The ordered copy takes the place of the file, in which nothing is left in a journal. */
int results_db_finish(struct results_db *db, struct err *e)
{
	struct results r = {0};
	struct strbuf copy = {0};
	int rc = 0;

	strbuf_addf(&copy, "%s.new", db->path);
	if (sqlite3_exec(db->sql, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE",
			 NULL, NULL, NULL))
		rc = fault(db, "close its journal", e);
	sqlite3_finalize(db->put);
	sqlite3_close(db->sql);
	db->put = NULL;
	db->sql = NULL;
	rc = rc ? rc : results_db_load(db->path, &r, e);
	rc = rc ? rc : results_sort(&r, e);
	rc = rc ? rc : ordered_write(copy.s, &r, e);
	if (!rc && rename(copy.s, db->path))
		rc = err_set(e, -errno, "%s: %s", db->path, strerror(errno));
	results_free(&r);
	strbuf_free(&copy);
	results_db_close(db);
	return rc;
}
