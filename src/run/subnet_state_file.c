/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's state of a subnet at rest, in a file. State: struct run_subnet_file. Ways in:
 * run_subnet_file_save_soon(), run_subnet_file_invalidate(). Does not interpret the manager's bytes.
 *
 * A child process writes the state to a second file, which replaces the first if no Set was sent
 * meanwhile. Before the next Set, the mark of the file is cleared: eight bytes, so that no single damaged
 * bit makes it valid again. The file is not flushed to the disk: its header names the boot of the machine,
 * and one of an earlier boot is not used. A hash over the manager's bytes (saved_state.c) tells a damaged
 * file, which is moved away.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/subnet_state_file.h"

enum {
	AFTER_MS = 1000,    /* how long the manager must be at rest */
	BETWEEN_MS = 10000, /* the shortest time between two writes */
	BOOT = 36,	    /* characters of the kernel's boot id */
	MARK_AT = 8,	    /* offset of the mark that says whether the file is valid */
	BOOT_AT = 16,
	HEAD = 64,
};

#define MAX_SIZE ((off_t)1 << 30)

static const char MAGIC[MARK_AT + 1] = "WEFTIMG2", VALID[] = "complete";

/* ---- the file ---- */

/* Zeroes when it cannot be read. */
static void boot_id(char name[BOOT])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(name, 0, BOOT);
	if (fd < 0)
		return;
	if (read(fd, name, BOOT) != BOOT)
		memset(name, 0, BOOT);
	close(fd);
}

static void head_make(char head[HEAD])
{
	memset(head, 0, HEAD);
	memcpy(head, MAGIC, MARK_AT);
	memcpy(head + MARK_AT, VALID, BOOT_AT - MARK_AT);
	boot_id(head + BOOT_AT);
}

static bool write_all(int fd, const void *p, size_t n)
{
	for (ssize_t done; n; n -= (size_t)done, p = (const char *)p + done) {
		done = write(fd, p, n);
		if (done <= 0)
			return false;
	}
	return true;
}

/* Writes the second file; true: success. */
static bool fresh_write(const struct run_subnet_file *i, const struct sm *sm)
{
	char head[HEAD];
	size_t len;
	uint8_t *bytes = sm_state_save(sm, &len);
	int fd;
	bool ok;

	if (!bytes)
		return false;
	fd = open(i->fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	head_make(head);
	ok = fd >= 0 && write_all(fd, head, HEAD) && write_all(fd, bytes, len);
	if (fd >= 0 && close(fd))
		ok = false;
	if (!ok)
		unlink(i->fresh);
	free(bytes);
	return ok;
}

static void file_reopen(struct run_subnet_file *i)
{
	if (i->fd >= 0)
		close(i->fd);
	i->fd = open(i->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	i->valid = i->fd >= 0;
}

static void fresh_adopt(struct run_subnet_file *i)
{
	if (rename(i->fresh, i->path))
		unlink(i->fresh);
	else
		file_reopen(i);
}

/* ---- when to write ---- */

void run_subnet_file_invalidate(struct run_subnet_file *i)
{
	static const char no[BOOT_AT - MARK_AT];

	i->set_sent = true;
	if (!i->valid)
		return;
	i->valid = false;
	if (pwrite(i->fd, no, sizeof(no), MARK_AT) != (ssize_t)sizeof(no))
		unlink(i->path);
}

static bool work(void *ctx)
{
	struct run_subnet_file *i = ctx;

	return fresh_write(i, i->sm);
}

static void on_timer(uv_timer_t *t);

static void write_done(struct run_subnet_file *i, bool ok)
{
	if (ok && !i->set_sent)
		fresh_adopt(i);
	else
		unlink(i->fresh);
}

static void done(void *ctx, bool ok)
{
	struct run_subnet_file *i = ctx;

	write_done(i, ok);
	if (!i->valid || i->stale)
		uv_timer_start(&i->timer, on_timer, BETWEEN_MS, 0);
}

static void write_start(struct run_subnet_file *i)
{
	i->set_sent = i->stale = false;
	i->wrote_ns = uv_hrtime();
	if (run_child_start(&i->child, i->timer.loop, NULL)) /* no memory, or too many processes */
		uv_timer_start(&i->timer, on_timer, BETWEEN_MS, 0);
}

static void on_timer(uv_timer_t *t)
{
	struct run_subnet_file *i = t->data;

	if (!i->sm || i->child.pid || (i->valid && !i->stale))
		return;
	if (sm_at_rest(i->sm))
		write_start(i);
	else
		uv_timer_start(&i->timer, on_timer, AFTER_MS, 0);
}

void run_subnet_file_save_soon(struct run_subnet_file *i, bool more)
{
	uint64_t since = (uv_hrtime() - i->wrote_ns) / 1000000;

	i->stale |= more;
	if (!*i->path || i->closing || (i->valid && !i->stale) ||
	    uv_is_active((uv_handle_t *)&i->timer))
		return;
	uv_timer_start(&i->timer, on_timer,
		       !i->wrote_ns || since > BETWEEN_MS ? AFTER_MS : BETWEEN_MS - since, 0);
}

/* ---- open and close ---- */

void run_subnet_file_open(struct run_subnet_file *i, uv_loop_t *loop, struct run_log *log,
			  const char *state)
{
	*i = (struct run_subnet_file){.log = log, .fd = -1};
	i->child = (struct run_child){.work = work, .done = done, .ctx = i};
	if (*state) {
		snprintf(i->path, sizeof(i->path), "%s.fabric", state);
		snprintf(i->fresh, sizeof(i->fresh), "%s.fabric.new", state);
		unlink(i->fresh);
	}
	uv_timer_init(loop, &i->timer);
	i->timer.data = i;
}

/* 0; -EBADMSG: it has a wrong size; -EIO: it cannot be read now. */
static int read_whole(int fd, uint8_t **bytes, size_t *len)
{
	struct stat st;
	size_t n = 0;

	if (fstat(fd, &st))
		return -EIO;
	if (!S_ISREG(st.st_mode) || st.st_size <= HEAD || st.st_size > MAX_SIZE)
		return -EBADMSG;
	*len = (size_t)st.st_size;
	*bytes = mem_alloc(*len);
	while (n < *len) {
		ssize_t got = pread(fd, *bytes + n, *len - n, (off_t)n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (n == *len)
		return 0;
	free(*bytes);
	return -EIO;
}

enum file_sense { NOT_USED, USABLE, DAMAGED };

/* A file that was marked invalid, or is of an earlier boot or version, is not used and not damaged. */
static enum file_sense head_sense(const uint8_t *bytes, size_t len)
{
	static const char cleared[BOOT_AT - MARK_AT];
	char head[HEAD];

	head_make(head);
	if (len <= HEAD || memcmp(bytes, MAGIC, MARK_AT - 1))
		return DAMAGED;
	if (bytes[MARK_AT - 1] != (uint8_t)MAGIC[MARK_AT - 1] ||
	    !memcmp(bytes + MARK_AT, cleared, sizeof(cleared)))
		return NOT_USED;
	if (memcmp(bytes + MARK_AT, VALID, BOOT_AT - MARK_AT))
		return DAMAGED;
	return head[BOOT_AT] && !memcmp(bytes, head, HEAD) ? USABLE : NOT_USED;
}

static void move_away(struct run_subnet_file *i)
{
	char moved[300];

	snprintf(moved, sizeof(moved), "%s.damaged", i->path);
	if (rename(i->path, moved) && unlink(i->path))
		return;
	log_rec(i->log, LOG_SUBNET_DAMAGED, LOG_T("file", i->path), LOG_T("moved", moved));
}

static void restore(struct run_subnet_file *i, struct sm *sm)
{
	enum file_sense sense;
	uint8_t *bytes = NULL;
	struct err e;
	size_t len;
	int rc;

	if (!*i->path)
		return;
	file_reopen(i);
	if (!i->valid)
		return;
	rc = read_whole(i->fd, &bytes, &len);
	sense = rc == -EIO ? NOT_USED : rc ? DAMAGED : head_sense(bytes, len);
	if (sense == USABLE && sm_state_load(sm, bytes + HEAD, len - HEAD, &e))
		sense = DAMAGED;
	i->valid = sense == USABLE;
	if (sense == DAMAGED)
		move_away(i);
	else if (sense == USABLE)
		log_rec(i->log, LOG_REMEMBERED, LOG_T("file", i->path));
	if (!rc)
		free(bytes);
}

void run_subnet_file_attach(struct run_subnet_file *i, struct sm *sm, bool may_restore)
{
	i->sm = sm;
	if (may_restore)
		restore(i, sm);
}

void run_subnet_file_detach(struct run_subnet_file *i)
{
	i->sm = NULL;
	i->set_sent = true;
}

void run_subnet_file_close(struct run_subnet_file *i)
{
	if (!i->log)
		return;
	i->closing = true;
	uv_close((uv_handle_t *)&i->timer, NULL);
	if (i->child.pid)
		write_done(i, run_child_wait(&i->child));
	if (*i->path && i->sm && (!i->valid || i->stale) && sm_at_rest(i->sm) &&
	    fresh_write(i, i->sm))
		fresh_adopt(i);
	if (i->fd >= 0)
		close(i->fd);
}
