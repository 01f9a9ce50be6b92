/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A forked process that works on a copy of the memory. State: struct run_child. Way in:
 * run_child_start(). Does not know what the child does.
 */
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "run/child_process.h"

static void on_closed(uv_handle_t *h)
{
	free(h);
}

bool run_child_wait(struct run_child *c)
{
	int status = -1;

	waitpid(c->pid, &status, 0);
	uv_close((uv_handle_t *)c->poll, on_closed);
	close(c->pid_fd);
	c->pid = 0;
	return status == 0;
}

static void on_end(uv_poll_t *p, int status, int events)
{
	struct run_child *c = p->data;

	(void)status;
	(void)events;
	c->done(c->ctx, run_child_wait(c));
}

/* Closes all other descriptors: a copy of a socket would keep the manager's connections open. */
static _Noreturn void child_main(struct run_child *c, int *keep)
{
	if (keep && *keep > STDERR_FILENO)
		*keep = dup2(*keep, STDERR_FILENO + 1);
	syscall(SYS_close_range, MAX(keep ? (unsigned)*keep : 0u, (unsigned)STDERR_FILENO) + 1, ~0u,
		0);
	_exit(c->work(c->ctx) ? 0 : 1);
}

int run_child_start(struct run_child *c, uv_loop_t *loop, int *keep)
{
	c->pid = fork();
	if (c->pid == 0)
		child_main(c, keep);
	if (c->pid < 0) {
		c->pid = 0;
		return -errno;
	}
	c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	c->poll = mem_zalloc(sizeof(*c->poll));
	c->poll->data = c;
	uv_poll_init(loop, c->poll, c->pid_fd);
	uv_poll_start(c->poll, UV_READABLE, on_end);
	return 0;
}
