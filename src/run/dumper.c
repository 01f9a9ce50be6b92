/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's files, without stopping the SM: where they are small, in place; else a child process writes
 * them from its picture of this moment. State: struct run_dumper. Way in: run_dumper_dump(). Does not
 * know what is in the files.
 */
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/daemon.h"

enum { AT_ONCE = 1 << 20 }; /* table entries that are written in a moment: some 50 ms */

static void tell(struct run_dumper *d, int rc, const char *directory, const struct err *e)
{
	if (rc)
		log_rec(d->log, LOG_DUMP_FAILED, LOG_T("why", e->text));
	else
		log_rec(d->log, LOG_DUMPED, LOG_T("directory", directory));
}

void run_dumper_init(struct run_dumper *d, uv_loop_t *loop, struct run_log *log)
{
	*d = (struct run_dumper){.log = log, .loop = loop};
}

/* The child has nothing but the log: above all no socket, or others would take it for the SM. */
static _Noreturn void child(struct run_dumper *d, const struct run_view *v, const char *directory)
{
	struct err e;
	int rc;

	if (d->log->fd > STDERR_FILENO)
		d->log->fd = dup2(d->log->fd, STDERR_FILENO + 1);
	syscall(SYS_close_range, MAX((unsigned)d->log->fd, (unsigned)STDERR_FILENO) + 1, ~0u, 0);
	d->log->tell = NULL;
	rc = run_dump(v, directory, &e);
	tell(d, rc, directory, &e);
	_exit(rc ? 1 : 0);
}

static void on_closed(uv_handle_t *h)
{
	free(h);
}

static void reap(struct run_dumper *d)
{
	waitpid(d->pid, NULL, 0);
	uv_close((uv_handle_t *)d->poll, on_closed);
	close(d->pid_fd);
	d->pid = 0;
}

static void on_end(uv_poll_t *p, int status, int events)
{
	struct run_dumper *d = p->data;

	(void)status;
	(void)events;
	reap(d);
	if (d->again && d->due)
		d->due(d->ctx);
}

static int by_child(struct run_dumper *d, const struct run_view *v, const char *directory, struct err *e)
{
	d->again = d->pid != 0;
	if (d->again)
		return 0;
	d->pid = fork();
	if (d->pid == 0)
		child(d, v, directory);
	if (d->pid < 0) {
		d->pid = 0;
		return err_set(e, -errno, "no process to write tables: %s", strerror(errno));
	}
	d->pid_fd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	d->poll = mem_zalloc(sizeof(*d->poll));
	d->poll->data = d;
	uv_poll_init(d->loop, d->poll, d->pid_fd);
	uv_poll_start(d->poll, UV_READABLE, on_end);
	return 0;
}

int run_dumper_dump(struct run_dumper *d, const struct run_view *v, const char *directory, struct err *e)
{
	const struct fab *f = v->sm ? sm_fabric(v->sm) : NULL;
	int rc;

	if (!f || !sm_tables(v->sm))
		return err_set(e, -EAGAIN, "there are no tables yet");
	if ((uint64_t)f->nswitches * sm_tables(v->sm)->stride > AT_ONCE)
		return by_child(d, v, directory, e);
	rc = run_dump(v, directory, e);
	tell(d, rc, directory, e);
	return rc;
}

void run_dumper_wait(struct run_dumper *d)
{
	if (d->pid)
		reap(d);
}
