/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A damaged state file: moved away, with rows of the right sum saved in a new one. State: none of its own.
 * Way in: state_file_replace(). Does not decide whether a file is damaged.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/state_db_priv.h"

enum { MOVED_MAX = 100 }; /* damaged files that are kept */

#define FILE_MAX_BYTES ((size_t)256 << 20) /* of a damaged file: what is looked at */

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
	if (x->kind != STATE_ROW_VM && x->seen != y->seen)
		return x->seen > y->seen ? -1 : 1;
	return x > y ? -1 : x < y;
}

static void vm_salvage(struct state_db *s, const struct state_row *r)
{
	struct state_vm v = {
		.guid = r->guid, .host = r->key, .slot = r->lmc, .lid = r->lid, .running = r->seen};

	snprintf(v.name, sizeof(v.name), "%s", r->name);
	if (map64_get(&s->vm_at, r->guid) == MAP_NONE)
		state_db_put_vm(s, &v);
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

		if (r->kind == STATE_ROW_VM)
			vm_salvage(s, r);
		else if (r->kind == STATE_ROW_KEY && map64_get(&key_taken, r->key) == MAP_NONE) {
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
	found->vms = (unsigned)s->vms.n;
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

int state_file_replace(struct state_db *s, const struct err *why, struct state_found *found,
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
	state_file_close(s);
	state_items_clear(s);
	salvage_put(s, &v, found);
	vec_free(&v.rows);
	if (rc)
		return rc;
	found->damaged = true;
	snprintf(found->why, sizeof(found->why), "%.150s", why->text);
	rc = state_file_open(s, e);
	return rc ? rc : state_db_commit(s, e);
}
