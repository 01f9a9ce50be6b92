/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same change for each switch. Keeps no state; each run has its own lab. Way in: lab_each_switch(). Does
 * not compute means: cli/each_switch_report.c does.
 */
#include "lab/each_switch.h"
#include "lab/lab_priv.h"

#ifdef _OPENMP
#include <omp.h>
#define EACH_PRAGMA(x) _Pragma(#x)
#define EACH_OMP(x)    EACH_PRAGMA(x)
#else
#define EACH_OMP(x)
#endif

static bool passed(const struct lab_change_result *r)
{
	const struct lab_verdict *v = &r->v;

	return r->settled && v->active && v->verified && v->lids_unique && v->complete &&
	       (!r->traffic_at || (r->conserved && !r->watch.nring));
}

static int run_one(const struct lab_each_config *c, node_id sm, struct lab_each_run *x,
		   struct err *e)
{
	bool *gone = mem_zarray(c->fab->nnodes, sizeof(*gone));
	struct lab_config lc = *c->lab;
	struct lab_change_plan p = *c->plan;
	struct fab *without;
	struct lab_change *change;
	struct lab *l = NULL;
	int rc = -EINVAL;

	gone[x->sw] = true;
	without = lab_without(c->fab, gone);
	free(gone);
	change = c->activation ? lab_change_new(without, c->fab, e)
			       : lab_change_new(c->fab, without, e);
	if (change) {
		lc.sm_node = fab_node_by_guid(lab_change_fab(change), c->fab->nodes[sm].guid);
		l = lab_new(lab_change_fab(change), &lc, e);
	}
	if (l) {
		p.change = change;
		p.about_to = NULL;
		p.period = 0;
		rc = lab_change_run(l, &p, &x->r, e);
		x->ok = !rc && passed(&x->r);
		vec_free(&x->r.watch.points);
	}
	lab_free(l);
	lab_change_free(change);
	fab_free(without);
	return rc;
}

/* Keep `sample` runs, spread evenly over the switches. */
static void thin_out(struct lab_each *out, size_t sample)
{
	size_t all = out->runs.n;

	if (!sample || sample >= all)
		return;
	for (size_t i = 0; i < sample; i++)
		out->runs.at[i] = out->runs.at[lab_spread(i, sample, all)];
	out->runs.n = sample;
}

static int thread_count(unsigned want)
{
#ifdef _OPENMP
	return want ? (int)want : omp_get_max_threads();
#else
	(void)want;
	return 1;
#endif
}

/* Every switch but the one at the manager, or a sample of them. */
static void choose_switches(const struct lab_each_config *c, node_id sm, struct lab_each *out)
{
	node_id keep = lab_sm_switch(c->fab, sm);

	for (uint32_t i = 0; sm != FAB_NONE && i < c->fab->nswitches; i++)
		if (c->fab->switches[i] != keep)
			vec_push(&out->runs, (struct lab_each_run){.sw = c->fab->switches[i]});
	thin_out(out, c->sample);
}

static int run_all(const struct lab_each_config *c, node_id sm, struct lab_each *out, struct err *e)
{
	int threads = thread_count(c->threads), bad = 0;
	unsigned ended = 0;

	(void)threads; /* without OpenMP */
	EACH_OMP(omp parallel for schedule(dynamic, 1) num_threads(threads))
	for (size_t i = 0; i < out->runs.n; i++) {
		struct err own = {{0}};
		int rc = run_one(c, sm, &out->runs.at[i], &own);

		EACH_OMP(omp critical)
		{
			if (rc && !bad) { /* any of them: the reason is the same for all runs */
				bad = rc;
				*e = own;
			}
			ended++;
			if (c->done)
				c->done(c->ctx, ended, (unsigned)out->runs.n);
		}
	}
	return bad;
}

int lab_each_switch(const struct lab_each_config *c, struct lab_each *out, struct err *e)
{
	node_id sm = c->lab->sm_node != FAB_NONE ? c->lab->sm_node : lab_choose_node(c->fab);
	int rc;

	*out = (struct lab_each){0};
	choose_switches(c, sm, out);
	if (!out->runs.n)
		return err_set(
			e, -EINVAL,
			"no switch besides the one at the manager: expected at least two switches");
	rc = run_all(c, sm, out, e);
	for (size_t i = 0; i < out->runs.n; i++)
		out->failed += !out->runs.at[i].ok;
	return rc;
}

void lab_each_free(struct lab_each *a)
{
	for (size_t i = 0; i < a->runs.n; i++)
		lab_change_result_free(&a->runs.at[i].r);
	vec_free(&a->runs);
}
