/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When OpenSM's files are written, and by which process. State: struct run_dump_writer. Way in:
 * run_dump_writer_write(). Does not know the formats: opensm_files.c does.
 */
#include "run/dump_writer.h"

enum { SMALL_ENTRIES = 1 << 20 }; /* table entries that take some 50 ms to write */

static int dump_now(struct run_dump_writer *d, const struct run_view *v, const char *directory,
		    struct err *e)
{
	int rc = run_dump(v, directory, e);

	if (rc)
		log_rec(d->log, LOG_DUMP_FAILED, LOG_T("why", e->text));
	else
		log_rec(d->log, LOG_DUMPED, LOG_T("directory", directory));
	return rc;
}

static bool work(void *ctx)
{
	struct run_dump_writer *d = ctx;
	struct err e;

	log_in_child(d->log);
	return !dump_now(d, d->view, d->directory, &e);
}

static void done(void *ctx, bool ok)
{
	struct run_dump_writer *d = ctx;

	(void)ok; /* the child has logged it */
	if (d->again)
		d->due(d->ctx);
}

void run_dump_writer_init(struct run_dump_writer *d, uv_loop_t *loop, struct run_log *log,
			  void (*due)(void *ctx), void *ctx)
{
	*d = (struct run_dump_writer){.log = log, .loop = loop, .due = due, .ctx = ctx};
	d->child = (struct run_child){.work = work, .done = done, .ctx = d};
}

static int dump_by_child(struct run_dump_writer *d, const struct run_view *v, const char *directory,
			 struct err *e)
{
	int rc;

	d->again = d->child.pid != 0;
	if (d->again)
		return 0;
	d->view = v; /* only the child uses it: it does not outlive this call */
	d->directory = directory;
	rc = run_child_start(&d->child, d->loop, &d->log->fd);
	return rc ? err_set(e, rc, "cannot start a process to write tables: %s", strerror(-rc)) : 0;
}

int run_dump_writer_write(struct run_dump_writer *d, const struct run_view *v,
			  const char *directory, struct err *e)
{
	const struct fab *f = v->sm ? sm_fabric(v->sm) : NULL;

	if (!f || !sm_tables(v->sm))
		return err_set(e, -EAGAIN, "there are no forwarding tables to dump yet");
	if ((uint64_t)f->nswitches * sm_tables(v->sm)->stride > SMALL_ENTRIES)
		return dump_by_child(d, v, directory, e);
	return dump_now(d, v, directory, e);
}

void run_dump_writer_wait(struct run_dump_writer *d)
{
	if (d->child.pid)
		run_child_wait(&d->child);
}
