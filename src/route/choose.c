/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choice among engines. State: struct chooser, for one call. Ways in: rt_choose(), rt_quick_quality(). Routes nothing
 * itself, and knows engines by their fields only: those for a shape come first, then those for anything, each in the
 * order of engines.h.
 */
#include "route/choose.h"
#include "route/node_groups.h"
#include "route/quality.h"

enum {
	MOST_PATTERNS = 64, /* bisections, and shifts */
	LEAST_PATTERNS = 16,
	FLOWS = 200000,	    /* of each kind, about */
	BETTER_PERCENT = 2, /* so much better than an engine before it must an engine be */
	STEADY_PERCENT =
		21, /* the same of an engine whose routes cannot be repaired: a tenth in each */
	WORSE_PERCENT = 10,
	/* An engine that would take longer is left out, unless it is for the shape; the second where one for the shape
	 * serves and a manager waits. */
	BUDGET_MS = 4000,
	RIVAL_BUDGET_MS = 500,
};

struct chooser {
	const struct fab *f;
	const struct rt_opts *o;
	struct rt_choice *c;
	struct rt_tables *tables[RT_MAX_TRIES]; /* by number of the try; NULL: none */
	bool stopped;
};

/* ---- measuring ---- */

int rt_quick_quality(const struct fab *f, const struct rt_tables *t, unsigned threads,
		     uint64_t *bisection, uint64_t *shifts, struct err *e)
{
	struct rt_quality_opts o = {.quick = true, .seed = 1, .threads = threads};
	struct rt_quality q;
	int rc;

	o.patterns = (uint32_t)MIN(MAX(FLOWS / MAX(f->nhosts, 1u), LEAST_PATTERNS), MOST_PATTERNS);
	rc = rt_quality(f, t, &o, &q, e);
	if (rc)
		return rc;
	*bisection = rt_shares_mean(&q.by[RT_BISECTION]);
	*shifts = rt_shares_mean(&q.by[RT_SHIFTS]);
	rt_quality_free(&q);
	return 0;
}

/* Neither bisections nor shifts alone: what is gained in one must not be lost in the other. */
static uint64_t score(const struct rt_try *t)
{
	return t->bisection * t->shifts;
}

/* By so many percent. */
static bool is_better(const struct rt_try *a, const struct rt_try *b, unsigned percent)
{
	return (unsigned __int128)score(a) * 100 > (unsigned __int128)score(b) * (100 + percent);
}

bool rt_clearly_worse(uint64_t bisection, uint64_t shifts, const struct rt_try *than)
{
	return bisection * 100 < than->bisection * (100 - WORSE_PERCENT) ||
	       shifts * 100 < than->shifts * (100 - WORSE_PERCENT);
}

/* ---- trying ---- */

/* As the cost of an engine says, not as a clock does: the choice is the same on every machine. */
static bool takes_too_long(const struct chooser *x, const struct rt_engine *g)
{
	const struct fab *f = x->f;
	bool serves = false;
	double ps = 2.0 * f->nlinks * f->nswitches * g->cost.search_ps +
		    (double)f->nswitches * fab_top_lid(f) * g->cost.cell_ps;

	for (unsigned i = 0; i < x->c->ntried; i++)
		serves |= x->c->tried[i].routed && x->c->tried[i].engine->use == RT_USE_SHAPE;
	return ps > (serves && x->o->steady ? RIVAL_BUDGET_MS : BUDGET_MS) * 1e9;
}

/* Whether every host can send at its full rate in every shift that was measured. */
static bool is_perfect(const struct rt_try *t)
{
	return t->routed && t->shifts == RT_SHARE_ONE;
}

/* Without the name of the engine in front, which is said already. */
static void refuse(struct rt_try *t, const struct err *e)
{
	size_t n = strlen(t->engine->name);
	bool named = !strncmp(e->text, t->engine->name, n) && !strncmp(e->text + n, ": ", 2);

	err_set(&t->refused, -EINVAL, "%s", e->text + (named ? n + 2 : 0));
}

/* Where there are groups, inside these. */
static int measure(const struct chooser *x, const struct rt_tables *tables, struct rt_try *t,
		   struct err *e)
{
	if (x->o->group)
		return rt_group_quality(x->f, tables, x->o, MOST_PATTERNS, &t->bisection,
					&t->shifts, e);
	return rt_quick_quality(x->f, tables, x->o->threads, &t->bisection, &t->shifts, e);
}

static void try_engine(struct chooser *x, const struct rt_engine *g)
{
	struct rt_try *t = &x->c->tried[x->c->ntried];
	struct rt_tables **tables = &x->tables[x->c->ntried++];
	struct err e;

	*t = (struct rt_try){.engine = g};
	if (g->use == RT_USE_ANYWHERE && takes_too_long(x, g) && g != &rt_fera) {
		err_set(&t->refused, -EINVAL, "not tried: the fabric is too large for it");
		return;
	}
	if (x->o->group && !g->groups) {
		err_set(&t->refused, -EINVAL, "it does not balance groups of hosts");
		return;
	}
	if (rt_compute(g, x->f, x->o, tables, &e)) {
		refuse(t, &e);
		return;
	}
	rt_tables_fill(*tables);
	t->lanes = rt_nvls(*tables);
	t->routed = !measure(x, *tables, t, &e);
	if (!t->routed)
		refuse(t, &e);
}

static bool try_all(struct chooser *x, enum rt_use use)
{
	for (unsigned i = 0; rt_engines[i] && x->c->ntried < RT_MAX_TRIES; i++) {
		if (rt_engines[i]->use != use || (x->o->directed && !rt_engines[i]->updown))
			continue;
		x->stopped = x->o->stop && x->o->stop(x->o->stop_ctx);
		if (x->stopped)
			return true;
		try_engine(x, rt_engines[i]);
		if (use == RT_USE_SHAPE && is_perfect(&x->c->tried[x->c->ntried - 1]))
			return true;
	}
	return false;
}

/* ---- deciding ---- */

/* Whether a takes the place of b, which comes before it. */
static bool replaces(const struct chooser *x, const struct rt_try *a, const struct rt_try *b)
{
	bool loses_repairs = x->o->steady && b->engine->updown && !a->engine->updown;

	if (x->o->steady && a->engine->updown && !b->engine->updown)
		return !is_better(b, a, STEADY_PERCENT);
	return is_better(a, b, loses_repairs ? STEADY_PERCENT : BETTER_PERCENT);
}

/* The best one that is left, or RT_MAX_TRIES. */
static unsigned best(const struct chooser *x)
{
	unsigned b = RT_MAX_TRIES;

	for (unsigned i = 0; i < x->c->ntried; i++)
		if (x->c->tried[i].routed && x->tables[i] &&
		    (b == RT_MAX_TRIES || replaces(x, &x->c->tried[i], &x->c->tried[b])))
			b = i;
	return b;
}

/* *rank: those that the tables must obey, to be freed; NULL: the engine has none. */
static int judge(const struct chooser *x, const struct rt_engine *g, const struct rt_tables *t,
		 uint64_t **rank, struct rt_report *r, struct err *e)
{
	struct rt_verify_opts v = {.threads = x->o->threads};
	size_t n = x->f->nswitches;
	int rc = 0;

	*rank = g->updown ? mem_array(n, sizeof(**rank)) : rt_tables_ranks(g, x->f, x->o, t);
	if (g->updown && x->o->rank && !g->ranks)
		memcpy(*rank, x->o->rank, n * sizeof(**rank));
	else if (g->updown)
		rc = rt_engine_ranks(g, x->f, x->o, *rank, e);
	v.rank = *rank;
	return rc ? rc : rt_verify(x->f, t, &v, r, e);
}

static bool holds(const struct chooser *x, unsigned i)
{
	struct rt_try *t = &x->c->tried[i];
	struct rt_report *r = &x->c->report;
	struct err e;

	if (judge(x, t->engine, x->tables[i], &x->c->rank, r, &e)) {
		refuse(t, &e);
		return false;
	}
	if (!r->ok)
		err_set(&t->refused, -EINVAL, "not verified: %s",
			r->nproblems ? r->problem[0] : "");
	return r->ok;
}

static unsigned choose(struct chooser *x)
{
	for (;;) {
		unsigned i = best(x);

		if (i == RT_MAX_TRIES || holds(x, i))
			return i;
		free(x->c->rank);
		x->c->rank = NULL;
		rt_report_free(&x->c->report);
		x->c->report = (struct rt_report){0};
		x->c->tried[i].routed = false;
		rt_tables_free(x->tables[i]);
		x->tables[i] = NULL;
	}
}

/* ---- saying why ---- */

static void say(char *to, size_t len, const char *lead, const struct rt_try *t)
{
	unsigned unit = RT_SHARE_ONE / 1000;
	unsigned bisection = (unsigned)((t->bisection + unit / 2) / unit);
	unsigned shifts = (unsigned)((t->shifts + unit / 2) / unit);

	snprintf(to, len, "%s: bisections %u.%03u, shifts %u.%03u, %u lane%s", lead,
		 bisection / 1000, bisection % 1000, shifts / 1000, shifts % 1000, t->lanes,
		 t->lanes == 1 ? "" : "s");
}

/* The best of the others that routed the fabric, or RT_MAX_TRIES. */
static unsigned second(const struct chooser *x, unsigned first)
{
	unsigned b = RT_MAX_TRIES;

	for (unsigned i = 0; i < x->c->ntried; i++)
		if (i != first && x->c->tried[i].routed &&
		    (b == RT_MAX_TRIES || score(&x->c->tried[i]) > score(&x->c->tried[b])))
			b = i;
	return b;
}

static void explain(struct chooser *x, unsigned first)
{
	const struct rt_try *t = &x->c->tried[first];
	unsigned other = second(x, first);
	char lead[64];
	size_t n;

	if (is_perfect(t)) {
		snprintf(x->c->why, sizeof(x->c->why), "every shift has full bandwidth, %u lane%s",
			 t->lanes, t->lanes == 1 ? "" : "s");
		return;
	}
	say(x->c->why, sizeof(x->c->why),
	    other == RT_MAX_TRIES				? "the only one here"
	    : is_better(&x->c->tried[other], t, BETTER_PERCENT) ? "the best that can be repaired"
								: "the best here",
	    t);
	if (other == RT_MAX_TRIES)
		return;
	n = strlen(x->c->why);
	snprintf(lead, sizeof(lead), "; next %s", x->c->tried[other].engine->name);
	say(x->c->why + n, sizeof(x->c->why) - n, lead, &x->c->tried[other]);
}

static int none(const struct chooser *x, struct err *e)
{
	const struct rt_try *t = x->c->ntried ? &x->c->tried[x->c->ntried - 1] : NULL;

	return err_set(e, -EINVAL, "no engine routes this fabric; %s: %s",
		       t ? t->engine->name : "auto", t ? t->refused.text : "there is none");
}

int rt_choose(const struct fab *f, const struct rt_opts *o, struct rt_choice *c, struct err *e)
{
	struct chooser x = {.f = f, .o = o, .c = c};
	unsigned i;

	*c = (struct rt_choice){0};
	if (!try_all(&x, RT_USE_SHAPE))
		try_all(&x, RT_USE_ANYWHERE);
	i = x.stopped ? RT_MAX_TRIES : choose(&x);
	if (i < RT_MAX_TRIES) {
		c->engine = c->tried[i].engine;
		c->tables = x.tables[i];
		x.tables[i] = NULL;
		explain(&x, i);
	}
	for (unsigned k = 0; k < RT_MAX_TRIES; k++)
		rt_tables_free(x.tables[k]);
	if (x.stopped)
		return err_set(e, -EINTR, "the choice was stopped");
	return c->engine ? 0 : none(&x, e);
}

void rt_choice_free(struct rt_choice *c)
{
	rt_tables_free(c->tables);
	free(c->rank);
	rt_report_free(&c->report);
	*c = (struct rt_choice){0};
}
