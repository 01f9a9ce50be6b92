/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes for jobs, several at once. State: struct queue, for one call. Way in: job_queue_run(). Does not keep
 * results: the caller does, as each job ends.
 */
#include "experiment/job_dirs.h"
#include "experiment/job.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct slot {
	const struct experiment_job *job; /* NULL: free */
	job_commands commands;
	size_t step;
	pid_t pid;
	char dir[PATH_MAX];
	double begun_s, cpu_s;
};

struct queue {
	const struct job_queue *q;
	struct job_dirs *dirs;
	struct slot *slots;
	unsigned running;
	pid_t parent; /* this process */
	bool alone;   /* a job that measures real time is running */
	struct err *e;
};

static double wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- directories ---- */

/* Whole content of a file of the slot's directory; "" if it cannot be read. */
static char *dir_read(const struct slot *s, const char *name, size_t *len)
{
	struct strbuf path = {0};
	struct err e;
	char *text;

	strbuf_addf(&path, "%s/%s", s->dir, name);
	if (file_read(path.s, &text, len, &e)) {
		text = mem_strdup("");
		*len = 0;
	}
	strbuf_free(&path);
	return text;
}

/* ---- processes ---- */

/* In the child: output to files, death with the parent, the command. Returns only after a failure. */
static void child_begin(const struct queue *q, const struct slot *s, sigset_t *signals)
{
	char **words = s->commands.at[s->step];
	int in, out, err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != q->parent) /* it ended before that */
		return;
	sigprocmask(SIG_SETMASK, signals, NULL);
	setenv("WEFT", q->q->weft, 1);
	setenv("OMP_NUM_THREADS", "1", 0);
	if (chdir(s->dir))
		return;
	in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	out = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = open("err", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		return;
	if (!strcmp(words[0], "weft"))
		execv(q->q->weft, words);
	else
		execvp(words[0], words);
	dprintf(2, "%s: %s\n", words[0], strerror(errno));
}

static int step_begin(struct queue *q, struct slot *s)
{
	sigset_t signals;

	sigprocmask(SIG_SETMASK, NULL, &signals);
	sigdelset(&signals, SIGCHLD);
	s->pid = fork();
	if (s->pid < 0)
		return err_set(q->e, -errno, "cannot start a process: %s", strerror(errno));
	if (!s->pid) {
		child_begin(q, s, &signals);
		_exit(127);
	}
	return 0;
}

static int slot_begin(struct queue *q, struct slot *s, const struct experiment_job *j)
{
	int rc = job_commands_make(j, &s->commands, q->e);

	rc = rc ? rc : job_dir_make(q->dirs, s->dir, sizeof(s->dir), q->e);
	if (rc) {
		job_commands_free(&s->commands);
		return rc;
	}
	s->job = j;
	s->step = 0;
	s->begun_s = wall_s();
	s->cpu_s = 0;
	q->running++;
	q->alone = j->experiment->real_time;
	if (q->q->begun)
		q->q->begun(q->q->ctx, j);
	return step_begin(q, s);
}

/* ---- ends ---- */

static void command_print(char **words, struct strbuf *out)
{
	for (; *words; words++)
		strbuf_addf(out, "%s%s", out->len ? " " : "", *words);
}

/* "COMMAND: exit status 2: the last line of standard error". */
static char *failure_text(const struct slot *s, int status)
{
	struct strbuf b = {0};
	size_t len;
	char *err = dir_read(s, "err", &len), *last = err;

	while (len && err[len - 1] == '\n')
		err[--len] = '\0';
	last = strrchr(err, '\n');
	command_print(s->commands.at[s->step], &b);
	if (WIFSIGNALED(status))
		strbuf_addf(&b, ": ended by signal %d", WTERMSIG(status));
	else
		strbuf_addf(&b, ": exit status %d", WEXITSTATUS(status));
	strbuf_addf(&b, ": %.300s", last ? last + 1 : err);
	free(err);
	return b.s;
}

static void slot_end(struct queue *q, struct slot *s, struct job_result *r)
{
	r->job = s->job;
	r->wall_s = wall_s() - s->begun_s;
	r->cpu_s = s->cpu_s;
	q->q->done(q->q->ctx, r);
	free(r->message);
	free(r->values);
	job_commands_free(&s->commands);
	if (!q->q->keep)
		job_dir_remove(s->dir);
	s->job = NULL;
	q->running--;
	q->alone = false;
}

static bool status_accepted(const struct slot *s, int status)
{
	const struct experiment *x = s->job->experiment;

	if (!WIFEXITED(status))
		return false;
	if (s->step + 1 < s->commands.n)
		return WEXITSTATUS(status) == 0;
	for (size_t i = 0; i < x->accept.n; i++)
		if (x->accept.at[i] == WEXITSTATUS(status))
			return true;
	return false;
}

static void output_read(struct slot *s, struct job_result *r)
{
	struct strbuf b = {0};
	struct err e;
	size_t len;
	char *text = dir_read(s, "out", &len);

	r->ok = !job_values(s->job->experiment, text, len, r, &e);
	free(text);
	if (r->ok)
		return;
	command_print(s->commands.at[s->step], &b);
	strbuf_addf(&b, ": %s", e.text);
	r->message = b.s;
}

static int child_ended(struct queue *q, struct slot *s, int status, const struct rusage *u)
{
	struct job_result r = {0};

	s->cpu_s += (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
		    (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
	if (status_accepted(s, status) && ++s->step < s->commands.n)
		return step_begin(q, s);
	s->step = MIN(s->step, s->commands.n - 1);
	if (status_accepted(s, status))
		output_read(s, &r);
	else
		r.message = failure_text(s, status);
	slot_end(q, s, &r);
	return 0;
}

/* All children that have ended. */
static int children_reap(struct queue *q)
{
	struct rusage u;
	int status, rc = 0;
	pid_t pid;

	while (!rc && (pid = wait4(-1, &status, WNOHANG, &u)) > 0)
		for (unsigned i = 0; i < q->q->slots; i++)
			if (q->slots[i].job && q->slots[i].pid == pid) {
				rc = child_ended(q, &q->slots[i], status, &u);
				break;
			}
	return rc;
}

static void children_kill(struct queue *q)
{
	for (unsigned i = 0; i < q->q->slots; i++)
		if (q->slots[i].job) {
			if (q->slots[i].pid > 0) { /* kill(-1) would end all processes */
				kill(q->slots[i].pid, SIGKILL);
				waitpid(q->slots[i].pid, NULL, 0);
			}
			job_commands_free(&q->slots[i].commands);
			job_dir_remove(q->slots[i].dir);
		}
}

/* ---- the queue ---- */

static struct slot *slot_free(struct queue *q)
{
	for (unsigned i = 0; i < q->q->slots; i++)
		if (!q->slots[i].job)
			return &q->slots[i];
	return NULL;
}

static bool may_begin(const struct queue *q, const struct experiment_job *j)
{
	return q->running < q->q->slots && !q->alone && !*q->q->stop &&
	       (!j->experiment->real_time || !q->running);
}

static int order_run(struct queue *q, const struct experiment_job *const *order, size_t n)
{
	const struct timespec second = {.tv_sec = 1};
	sigset_t child;
	size_t next = 0;
	int rc = 0;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (!rc && (q->running || (next < n && !*q->q->stop))) {
		while (!rc && next < n && may_begin(q, order[next]))
			rc = slot_begin(q, slot_free(q), order[next++]);
		if (!rc && sigtimedwait(&child, NULL, &second) < 0 && q->q->tick)
			q->q->tick(q->q->ctx, q->running);
		if (!rc)
			rc = children_reap(q);
	}
	return rc;
}

int job_queue_run(const struct job_queue *c, const struct experiment_job *jobs, size_t n,
		  struct err *e)
{
	struct queue q = {.q = c,
			  .e = e,
			  .parent = getpid(),
			  .slots = mem_zarray(c->slots, sizeof(struct slot))};
	const struct experiment_job **order = mem_array(n + 1, sizeof(*order));
	sigset_t child, before;
	size_t m = 0;
	int rc = job_dirs_open(c->keep, &q.dirs, e);

	for (int real = 0; real < 2; real++)
		for (size_t i = 0; i < n; i++)
			if (jobs[i].experiment->real_time == (real == 1))
				order[m++] = &jobs[i];
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	rc = rc ? rc : order_run(&q, order, m);
	children_kill(&q);
	job_dirs_close(q.dirs);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(order);
	free(q.slots);
	return rc;
}
