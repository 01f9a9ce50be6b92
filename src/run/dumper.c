/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's files, without stopping the SM: where they are small, in place; else a child process writes
 * them from its picture of this moment. State: struct run_dumper. Way in: run_dumper_dump(). Does not
 * know what is in the files.
 */
#include "run/daemon.h"

enum { AT_ONCE = 1 << 20 }; /* table entries that are written in a moment: some 50 ms */

static int dump_now(struct run_dumper *d, const struct run_view *v, const char *directory,
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
	struct run_dumper *d = ctx;
	struct err e;

	log_in_child(d->log);
	return !dump_now(d, d->view, d->directory, &e);
}

static void done(void *ctx, bool ok)
{
	struct run_dumper *d = ctx;

	(void)ok; /* the child has said so */
	if (d->again && d->due)
		d->due(d->ctx);
}

void run_dumper_init(struct run_dumper *d, uv_loop_t *loop, struct run_log *log)
{
	*d = (struct run_dumper){.log = log, .loop = loop};
	d->child = (struct run_child){.work = work, .done = done, .ctx = d};
}

static int by_child(struct run_dumper *d, const struct run_view *v, const char *directory,
		    struct err *e)
{
	int rc;

	d->again = d->child.pid != 0;
	if (d->again)
		return 0;
	d->view = v; /* of use to the child alone */
	d->directory = directory;
	rc = run_child_start(&d->child, d->loop, &d->log->fd);
	return rc ? err_set(e, rc, "no process to write tables: %s", strerror(-rc)) : 0;
}

int run_dumper_dump(struct run_dumper *d, const struct run_view *v, const char *directory,
		    struct err *e)
{
	const struct fab *f = v->sm ? sm_fabric(v->sm) : NULL;

	if (!f || !sm_tables(v->sm))
		return err_set(e, -EAGAIN, "there are no tables yet");
	if ((uint64_t)f->nswitches * sm_tables(v->sm)->stride > AT_ONCE)
		return by_child(d, v, directory, e);
	return dump_now(d, v, directory, e);
}

void run_dumper_wait(struct run_dumper *d)
{
	if (d->child.pid)
		run_child_wait(&d->child);
}
