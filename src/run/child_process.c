/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A forked process that works on a copy of the memory. State: struct run_child. Way in:
 * run_child_start(). Does not know what the child does.
 */
#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "run/child_process.h"

enum { ASK_MS = 10 };

static void on_closed(uv_handle_t *h)
{
	free(h);
}

static bool child_ended(struct run_child *c, int status)
{
	uv_close((uv_handle_t *)c->timer, on_closed);
	c->timer = NULL;
	c->pid = 0;
	return status == 0;
}

bool run_child_wait(struct run_child *c)
{
	int status = -1, rc;

	do {
		rc = waitpid(c->pid, &status, 0);
	} while (rc < 0 && errno == EINTR);
	return child_ended(c, rc < 0 ? -1 : status);
}

static void on_timer(uv_timer_t *t)
{
	struct run_child *c = t->data;
	int status = -1, rc = waitpid(c->pid, &status, WNOHANG);

	if (rc == 0 || (rc < 0 && errno == EINTR))
		return;
	c->done(c->ctx, child_ended(c, rc < 0 ? -1 : status)); /* ECHILD: unknown, not a success */
}

/* Where the system call is missing: by the list of open descriptors. */
static void close_listed(unsigned from)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *f;

	while (d && (f = readdir(d))) {
		unsigned fd = (unsigned)strtoul(f->d_name, NULL, 10);

		if (fd >= from && (int)fd != dirfd(d))
			close((int)fd);
	}
	if (d)
		closedir(d);
}

/* Closes all other descriptors: a copy of a socket would keep the manager's connections open. */
static _Noreturn void child_main(struct run_child *c, int *keep)
{
	unsigned from;

	if (keep && *keep > STDERR_FILENO)
		*keep = dup2(*keep, STDERR_FILENO + 1);
	from = (unsigned)MAX(keep ? *keep : 0, STDERR_FILENO) + 1;
	if (syscall(SYS_close_range, from, ~0u, 0))
		close_listed(from);
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
	c->timer = mem_zalloc(sizeof(*c->timer));
	c->timer->data = c;
	uv_timer_init(loop, c->timer);
	uv_timer_start(c->timer, on_timer, ASK_MS, ASK_MS);
	return 0;
}
