/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the state database share: the connection and the items of the next commit, queries, the
 * file with its checks, and what is done about a damaged one.
 */
#ifndef WEFT_STATE_DB_PRIV_H
#define WEFT_STATE_DB_PRIV_H

#include <sqlite3.h>

#include "base/map.h"
#include "base/vec.h"
#include "run/state_db.h"
#include "run/state_rows.h"

struct lid_put {
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc;
};

struct name_put {
	uint64_t guid;
	char *name;
};

struct vm_put {
	struct state_row row;
	bool gone; /* it is deleted */
};

struct state_db {
	sqlite3 *db;
	int lock; /* the lock file */
	int fd;	  /* of the database; closed last, since closing it releases SQLite's locks, too */
	char *path;
	VEC(struct lid_put) lids;
	VEC(uint64_t) keys;
	VEC(struct name_put) names;
	VEC(struct vm_put) vms;
	struct map64 lid_at, name_at, vm_at; /* GUID -> index in lids, in names, in vms */
	int reported;			     /* the last commit's error; 0: it succeeded */
};

void state_items_clear(struct state_db *s);

/* ---- state_sql.c ---- */

enum { STATE_TABLES = 4 };

extern const char *const state_tables[STATE_TABLES]; /* names, by enum state_row_kind */

struct state_total {
	uint64_t rows, sum;
};

/* The last error of SQLite as ours; what: "open", "read". */
int state_fail(const struct state_db *s, const char *what, struct err *e);
int state_run(const struct state_db *s, const char *sql, const char *what, struct err *e);
/* The first column of the first row. */
int state_ask(const struct state_db *s, const char *sql, int64_t *number, char *text, size_t size,
	      struct err *e);
/* Calls fn, if not NULL, for each row. -EUCLEAN: one is damaged. */
int state_rows_each(const struct state_db *s, enum state_row_kind kind, struct state_total *t,
		    void (*fn)(void *ctx, const struct state_row *r), void *ctx, struct err *e);

/* ---- state_file.c ---- */

/* Opens and checks what is there. -EUCLEAN: damaged, with the reason in e. */
int state_file_open(struct state_db *s, struct err *e);
void state_file_close(struct state_db *s);

/* ---- state_salvage.c ---- */

/* Moves the file away and saves in a new one what can be read of it. */
int state_file_replace(struct state_db *s, const struct err *why, struct state_found *found,
		       struct err *e);

#endif
