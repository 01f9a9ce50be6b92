/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SM's memory of a subnet at rest, in a file beside the state: with it a restart asks next to
 * nothing. State: struct run_image. Ways in: run_image_rest(), run_image_touch(). Does not know what is
 * in the bytes.
 *
 * A child writes the file from its picture of the moment, and it gets its name if nothing was set
 * meanwhile. With the first Set after that, one byte of it says that it holds no more: before the SMP
 * is sent, so that kill -9 finds it so. Nothing is flushed to the disk: a file from before the machine
 * was started is not used.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/daemon.h"

enum {
	AFTER_MS = 1000,    /* at rest for so long */
	BETWEEN_MS = 10000, /* and not more often than this */
	BOOT = 36,	    /* characters in the name of a boot */
	HOLDS_AT = 8,	    /* where in the head it says whether it holds */
	HEAD = 64,
};

#define MAX_SIZE ((off_t)1 << 30)

static const char MAGIC[HOLDS_AT + 1] = "WEFTIMG1";

/* ---- the file ---- */

/* As much of it as there is. */
static void boot_name(char name[BOOT])
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
	memcpy(head, MAGIC, HOLDS_AT);
	head[HOLDS_AT] = 1;
	boot_name(head + HOLDS_AT + 1);
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

/* True: it is there, under its second name. */
static bool write_new(const struct run_image *i, const struct sm *sm)
{
	char head[HEAD];
	size_t len;
	uint8_t *bytes = sm_memory_save(sm, &len);
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

static void file_take(struct run_image *i)
{
	if (i->fd >= 0)
		close(i->fd);
	i->fd = open(i->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	i->holds = i->fd >= 0;
}

static void adopt(struct run_image *i)
{
	if (rename(i->fresh, i->path))
		unlink(i->fresh);
	else
		file_take(i);
}

/* ---- when ---- */

void run_image_touch(struct run_image *i)
{
	char no = 0;

	i->touched = true;
	if (!i->holds)
		return;
	i->holds = false;
	if (pwrite(i->fd, &no, 1, HOLDS_AT) != 1)
		unlink(i->path);
}

static bool work(void *ctx)
{
	struct run_image *i = ctx;

	return write_new(i, i->sm);
}

static void on_timer(uv_timer_t *t);

static void written(struct run_image *i, bool ok)
{
	if (ok && !i->touched)
		adopt(i);
	else
		unlink(i->fresh);
}

static void done(void *ctx, bool ok)
{
	struct run_image *i = ctx;

	written(i, ok);
	if (!i->holds || i->stale)
		uv_timer_start(&i->timer, on_timer, BETWEEN_MS, 0);
}

static void begin(struct run_image *i)
{
	i->touched = i->stale = false;
	if (!run_child_start(&i->child, i->timer.loop, NULL))
		i->wrote_ns = uv_hrtime();
}

static void on_timer(uv_timer_t *t)
{
	struct run_image *i = t->data;

	if (!i->sm || i->child.pid || (i->holds && !i->stale))
		return;
	if (sm_at_rest(i->sm))
		begin(i);
	else
		uv_timer_start(&i->timer, on_timer, AFTER_MS, 0);
}

void run_image_rest(struct run_image *i, bool news)
{
	uint64_t since = (uv_hrtime() - i->wrote_ns) / 1000000;

	i->stale |= news;
	if (!*i->path || i->closing || (i->holds && !i->stale) ||
	    uv_is_active((uv_handle_t *)&i->timer))
		return;
	uv_timer_start(&i->timer, on_timer,
		       !i->wrote_ns || since > BETWEEN_MS ? AFTER_MS : BETWEEN_MS - since, 0);
}

/* ---- life ---- */

void run_image_open(struct run_image *i, uv_loop_t *loop, struct run_log *log, const char *state)
{
	*i = (struct run_image){.log = log, .fd = -1};
	i->child = (struct run_child){.work = work, .done = done, .ctx = i};
	if (*state) {
		snprintf(i->path, sizeof(i->path), "%s.fabric", state);
		snprintf(i->fresh, sizeof(i->fresh), "%s.fabric.new", state);
		unlink(i->fresh);
	}
	uv_timer_init(loop, &i->timer);
	i->timer.data = i;
}

static uint8_t *read_whole(int fd, size_t *len)
{
	struct stat st;
	uint8_t *bytes;
	size_t n = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= HEAD || st.st_size > MAX_SIZE)
		return NULL;
	*len = (size_t)st.st_size;
	bytes = mem_alloc(*len);
	while (n < *len) {
		ssize_t got = pread(fd, bytes + n, *len - n, (off_t)n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (n == *len)
		return bytes;
	free(bytes);
	return NULL;
}

void run_image_give(struct run_image *i, struct sm *sm)
{
	char head[HEAD];
	uint8_t *bytes;
	struct err e;
	size_t len;
	int rc = -EINVAL;

	i->sm = sm;
	if (!*i->path)
		return;
	file_take(i);
	bytes = i->holds ? read_whole(i->fd, &len) : NULL;
	head_make(head);
	if (bytes && head[HOLDS_AT + 1] && !memcmp(bytes, head, HEAD))
		rc = sm_memory_load(sm, bytes + HEAD, len - HEAD, &e);
	if (rc)
		i->holds = false;
	else
		log_rec(i->log, LOG_REMEMBERED, LOG_T("file", i->path));
	free(bytes);
}

void run_image_forget(struct run_image *i)
{
	i->sm = NULL;
	i->touched = true;
}

void run_image_close(struct run_image *i)
{
	if (!i->log)
		return;
	i->closing = true;
	uv_close((uv_handle_t *)&i->timer, NULL);
	if (i->child.pid)
		written(i, run_child_wait(&i->child));
	if (*i->path && i->sm && (!i->holds || i->stale) && sm_at_rest(i->sm) &&
	    write_new(i, i->sm))
		adopt(i);
	if (i->fd >= 0)
		close(i->fd);
}
