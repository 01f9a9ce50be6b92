/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One bring-up, many failures. State: struct study, for one call. Way in: lab_failures_run(). Does not rank or
 * print: cli/cmd_sim_failures.c does.
 */
#include "experiment/failures.h"
#include "experiment/failure_sample.h"
#include "lab/route_census.h"
#include "sim/kernel/sim_kernel.h"

#include <limits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid; /* 0: free */
	int fd;
	size_t which;
};

struct study {
	const struct lab_failures_config *c;
	struct lab *l;
	struct lab_change *none, *change; /* of this process */
	struct lab_change_plan plan;
	lab_failures *out;
	struct child *children;
	unsigned slots, running, ended;
	int write_fd;		  /* in a child: where its result goes; -1: the first process */
	struct lab_failure *mine; /* in a child */
	struct lab_census before;
	struct err *e;
	int rc;
};

/* ---- which ---- */

static void choose(const struct lab_failures_config *c, node_id sm, lab_failures *out)
{
	const struct fab *f = c->fab;
	node_id keep = lab_sm_switch(f, sm);
	struct failure_weights w;
	size_t from;

	failure_weights(f, &w);
	for (uint32_t i = 0; i < f->nswitches; i++)
		if (f->switches[i] != keep)
			vec_push(out, ((struct lab_failure){.kind = LAB_FAILS_SWITCH,
							    .node = f->switches[i],
							    .port = FAB_NONE}));
	failure_sample(&w, out, 0, c->switches);
	from = out->n;
	for (port_id p = 0; p < f->nports; p++) {
		port_id q = f->ports[p].peer;

		if (q != FAB_NONE && q > p && fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[q].node) && f->ports[p].node != f->ports[q].node)
			vec_push(out, ((struct lab_failure){.kind = LAB_FAILS_LINK,
							    .node = f->ports[p].node,
							    .port = p}));
	}
	failure_sample(&w, out, from, c->links);
	failure_weights_free(&w);
}

/* ---- in a child ---- */

static struct fab *fabric_after(const struct fab *f, const struct lab_failure *x)
{
	bool *gone;
	struct fab *after;

	if (x->kind == LAB_FAILS_LINK)
		return lab_without_link(f, x->port);
	gone = mem_zarray(f->nnodes, sizeof(*gone));
	gone[x->node] = true;
	after = lab_without(f, gone);
	free(gone);
	return after;
}

/* The failure happens; pairs that lost their route are counted at once. */
static void child_begin(struct study *s, struct lab_failure *x)
{
	struct fab *after = fabric_after(s->c->fab, x);
	struct lab_census now;

	s->mine = x;
	s->change = lab_change_new(s->c->fab, after, s->e);
	fab_free(after);
	assert(s->change); /* the nodes of `after` are those of the fabric */
	s->plan.change = s->change;
	lab_change_apply(s->change, lab_sim(s->l));
	lab_census(s->l, &now);
	x->pairs_before = s->before.pairs;
	x->pairs_cut = s->before.pairs - now.pairs;
	x->pairs_broken = now.pairs - MIN(now.connected, now.pairs);
	x->busiest_before = s->before.busiest;
}

static void result_fill(const struct study *s, const struct lab_change_result *r,
			struct lab_failure *x)
{
	const struct lab_verdict *v = &r->v;
	struct lab_census now;

	x->ended = true;
	x->ok = r->settled && v->active && v->verified && v->lids_unique && v->complete &&
		(!r->traffic_at || (r->conserved && !r->watch.nring));
	snprintf(x->why, sizeof(x->why), "%s", r->settled ? v->why : "not at rest at the limit");
	x->detection = r->sum.rounds ? r->sum.first_start - r->changed_at : 0;
	x->routes = r->sum.in_place[SM_FINAL] ? r->sum.in_place[SM_FINAL] - r->changed_at : 0;
	x->total = r->sum.rounds ? r->sum.last_end - r->changed_at : 0;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		x->smps += r->sum.smps[i];
	x->entries = r->sum.entries;
	x->blocks = r->sum.sent_blocks;
	x->lids_moved = r->lids_moved;
	x->sent = r->sent;
	x->lost = r->lost - r->futile;
	x->futile = r->futile;
	x->events = sim_events(lab_sim(s->l));
	lab_census(s->l, &now);
	x->busiest_after = now.busiest;
}

_Noreturn static void child_end(struct study *s, struct lab_change_result *r)
{
	const char *at = (const char *)s->mine;
	size_t left = sizeof(*s->mine);

	result_fill(s, r, s->mine);
	while (left) {
		ssize_t n = write(s->write_fd, at, left);

		if (n <= 0)
			_exit(1);
		at += n;
		left -= (size_t)n;
	}
	_exit(0);
}

/* ---- in the first process ---- */

static bool read_whole(int fd, void *to, size_t size)
{
	for (size_t have = 0; have < size;) {
		ssize_t n = read(fd, (char *)to + have, size - have);

		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

/* A child that writes nothing has died: its failure is reported as one that did not end. */
static void child_reap(struct study *s, struct child *c)
{
	struct lab_failure x;

	if (read_whole(c->fd, &x, sizeof(x)))
		s->out->at[c->which] = x;
	else
		snprintf(s->out->at[c->which].why, sizeof(x.why), "the run ended without a result");
	close(c->fd);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	s->running--;
	s->ended++;
	if (s->c->done)
		s->c->done(s->c->ctx, s->ended, (unsigned)s->out->n);
}

static void children_wait(struct study *s)
{
	struct pollfd fds[64];
	unsigned n = 0, which[64];

	for (unsigned i = 0; i < s->slots; i++)
		if (s->children[i].pid) {
			which[n] = i;
			fds[n++] = (struct pollfd){.fd = s->children[i].fd, .events = POLLIN};
		}
	if (poll(fds, n, -1) <= 0)
		return;
	for (unsigned i = 0; i < n; i++)
		if (fds[i].revents)
			child_reap(s, &s->children[which[i]]);
}

static struct child *child_free(struct study *s)
{
	for (unsigned i = 0; i < s->slots; i++)
		if (!s->children[i].pid)
			return &s->children[i];
	return NULL;
}

/* True in the child. */
static bool child_start(struct study *s, size_t which)
{
	struct child *c = child_free(s);
	int fds[2];

	if (pipe(fds)) {
		s->rc = err_set(s->e, -errno, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	fflush(NULL);
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		s->write_fd = fds[1];
		return true;
	}
	close(fds[1]);
	c->fd = fds[0];
	c->which = which;
	s->running++;
	if (c->pid > 0)
		return false;
	s->rc = err_set(s->e, -errno, "cannot start a process: %s", strerror(errno));
	c->pid = 0;
	s->running--;
	close(fds[0]);
	return false;
}

/* An engine that cannot route the fabric is replaced by the manager, which says so. */
static void other_engine(void *ctx, const struct sm_note *n)
{
	struct lab_routes_by *by = ctx;

	if (n->kind != SM_NOTE_OTHER_ENGINE)
		return;
	snprintf(by->engine, sizeof(by->engine), "fera");
	snprintf(by->why, sizeof(by->why), "instead: %.*s", SM_WHY - 16, n->engine.why);
}

static void engine_fill(const struct study *s)
{
	struct lab_routes_by *by = s->c->by;
	const char *why;
	const struct rt_engine *g = sm_engine(lab_sm(s->l), &why);

	if (!by || *by->engine)
		return;
	snprintf(by->engine, sizeof(by->engine), "%s", g ? g->name : "auto");
	snprintf(by->why, sizeof(by->why), "%s", why);
}

/* Right before the change: returns in every child with its failure, and at last in the first process with none. */
static void branch(void *ctx)
{
	struct study *s = ctx;

	engine_fill(s);
	lab_census(s->l, &s->before);
	for (size_t i = 0; i < s->out->n && !s->rc; i++) {
		while (s->running == s->slots)
			children_wait(s);
		if (child_start(s, i)) {
			child_begin(s, &s->out->at[i]);
			return;
		}
	}
	while (s->running)
		children_wait(s);
}

static unsigned slots_of(unsigned jobs)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return MIN(jobs ? jobs : (unsigned)MAX(cores, 1), 64u);
}

static int study_run(struct study *s)
{
	struct lab_change_result r = {0};
	int rc;

	s->plan = *s->c->plan;
	s->plan.change = s->none;
	s->plan.about_to = branch;
	s->plan.ctx = s;
	s->plan.period = 0;
	rc = lab_change_run(s->l, &s->plan, &r, s->e);
	if (s->write_fd >= 0)
		child_end(s, &r);
	if (!rc && !r.changed_at)
		rc = err_set(s->e, -EINVAL, "the subnet does not come up: %s", r.v.why);
	lab_change_result_free(&r);
	return rc ? rc : s->rc;
}

int lab_failures_run(const struct lab_failures_config *c, lab_failures *out, struct err *e)
{
	struct lab_config lc = *c->lab;
	struct study s = {.c = c, .out = out, .e = e, .write_fd = -1, .slots = slots_of(c->jobs)};
	int rc = -EINVAL;

	s.none = lab_change_new(c->fab, c->fab, e);
	if (!s.none)
		return -EINVAL;
	lc.threads = 1; /* a thread would not exist in a copy of the process */
	if (lc.sm_node == FAB_NONE)
		lc.sm_node = lab_change_sm(s.none); /* nodes have the same numbers in both */
	if (lc.sm_node != FAB_NONE)
		choose(c, lc.sm_node, out);
	if (out->n)
		s.l = lab_new(lab_change_fab(s.none), &lc, e);
	else
		err_set(e, -EINVAL, "there is nothing to fail: expected two switches or more");
	s.children = mem_zarray(s.slots, sizeof(*s.children));
	if (s.l && c->by)
		lab_on_note(s.l, other_engine, c->by);
	if (s.l)
		rc = study_run(&s);
	lab_free(s.l);
	lab_change_free(s.none);
	free(s.children);
	return rc;
}
