/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees for a task, what switches may hold on the way to them, and the verifier's word on them. Pure: may run on a worker.
 * State: none. Way in: sm_trees_run(). Does not know the manager.
 */
#include "sm/manager.h"

static bool same(const struct rt_mtree *a, const struct rt_mtree *b)
{
	if ((a ? a->at.n : 0) != (b ? b->at.n : 0))
		return false;
	for (size_t i = 0; a && i < a->at.n; i++)
		if (a->at.at[i].sw != b->at.at[i].sw ||
		    memcmp(&a->at.at[i].ports, &b->at.at[i].ports, sizeof(struct rt_ports)))
			return false;
	return true;
}

/*
 * Trees as they are were verified when they were built; those that differ from what switches hold are verified now, and the
 * dependencies of all. A tree that could not be built for all members lacks copies, and nothing else.
 */
static bool verified(const struct sm_trees_task *k, const struct rt_mchange *c, struct sm_trees *t)
{
	struct rt_group *changed = mem_array(k->groups.n + 1, sizeof(*changed));
	uint32_t n = 0, npartial = 0;
	struct rt_mreport r, partial = {0};

	for (size_t i = 0; i < k->groups.n; i++)
		if (!same(rt_mtree_find(&k->old, k->groups.at[i].mlid), &t->new.at[i]) &&
		    !t->new.at[i].partial)
			changed[n++] = k->groups.at[i];
	rt_multicast_verify(c->f, c->t, c->rank, changed, n, &t->new, &r);
	t->obey = c->rank && !r.cyclic;
	if (r.cyclic && c->rank) /* a tree does not obey the ranks: then all dependencies tell */
		rt_multicast_verify(c->f, c->t, NULL, changed, n, &t->new, &r);
	for (size_t i = 0; i < k->groups.n; i++)
		if (t->new.at[i].partial)
			changed[npartial++] = k->groups.at[i];
	if (npartial)
		rt_multicast_verify(c->f, NULL, NULL, changed, npartial, &t->new, &partial);
	free(changed);
	return r.ok && !partial.doubled && !partial.strangers && !partial.loops && !partial.dead;
}

struct sm_trees *sm_trees_run(const struct sm_trees_task *k, const struct fab *data,
			      const struct rt_mchange *c)
{
	struct sm_trees *t = mem_zalloc(sizeof(*t));
	struct rt_mchange change = *c;
	struct rt_multicast m = {.f = c->f,
				 .t = c->t,
				 .rank = c->rank,
				 .cap = k->cap,
				 .groups = k->groups.at,
				 .ngroups = (uint32_t)k->groups.n,
				 .old = &k->old,
				 .space = k->space};

	t->version = k->version;
	t->last = k->groups.n ? k->groups.at[k->groups.n - 1].mlid : 0;
	t->partial = rt_multicast(&m, &t->new);
	t->verified = verified(k, c, t);
	if (!t->verified) { /* no tree is better than a wrong one */
		for (size_t i = 0; i < t->new.n; i++)
			t->new.at[i].at.n = 0;
		t->partial = (uint32_t)t->new.n;
	}
	if (data)
		change.f = data;
	change.astray = k->astray;
	change.old = &k->old;
	change.new = &t->new;
	rt_multicast_between(&change, &t->mid, &t->lost);
	return t;
}

void sm_trees_free(struct sm_trees *t)
{
	if (!t)
		return;
	rt_mtrees_free(&t->new);
	rt_mtrees_free(&t->mid);
	free(t);
}
