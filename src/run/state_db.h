/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs by port GUID, M_Keys that devices may hold, names of nodes, and virtual machines by vGUID, in an SQLite file. Each commit
 * is one transaction: after kill -9 the file holds all of it or nothing. Not thread-safe: one thread at
 * a time.
 */
#ifndef WEFT_STATE_DB_H
#define WEFT_STATE_DB_H

#include "base/base.h"

struct state_db;

struct state_found {
	bool damaged; /* the file was; it is now `moved`, and a new one is in its place */
	char why[160], moved[280];
	unsigned lids, keys, names, vms; /* that could be read of it, and are in the new one */
};

/*
 * Creates the file (mode 0600) if it does not exist. A damaged one is moved away; found, if not NULL,
 * says so. A file that another program or a later version wrote (-EBADMSG), or that another process uses
 * (-EBUSY, with its process id), is refused and not changed.
 */
int state_db_open(struct state_db **s, const char *path, struct state_found *found, struct err *e);
void state_db_close(struct state_db *s); /* NULL is allowed; uncommitted items are dropped */

/* Calls fn for each LID, in GUID order. 0 or -errno with e filled. */
int state_db_lids(struct state_db *s,
		  void (*fn)(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc), void *ctx,
		  struct err *e);
/* M_Keys that devices may hold, newest first. Returns how many, at most max, or -errno. */
int state_db_m_keys(struct state_db *s, uint64_t *keys, unsigned max, struct err *e);

/* Calls fn for each VM, in the order of vGUIDs. 0 or -errno with e filled. */
struct state_vm {
	char name[65];
	uint64_t guid, host; /* host 0: it never ran */
	unsigned slot;
	uint16_t lid;
	bool running;
};
int state_db_vms(struct state_db *s, void (*fn)(void *ctx, const struct state_vm *v), void *ctx,
		 struct err *e);

/* Collect items for the next commit. */
void state_db_put_lid(struct state_db *s, uint64_t guid, uint16_t lid, unsigned lmc);
void state_db_put_m_key(struct state_db *s, uint64_t key);
void state_db_put_name(struct state_db *s, uint64_t guid, const char *name);
void state_db_put_vm(struct state_db *s, const struct state_vm *v);
void state_db_drop_vm(struct state_db *s, uint64_t guid);
/* 0 or -errno with e filled; -EUCLEAN: the file is damaged, open it again. After an error, a full disk for example, the items stay for the next
 * commit; when that fails for the same reason, e->text is "". */
int state_db_commit(struct state_db *s, struct err *e);

#endif
