/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnet administration beside a simulated manager: requests of hosts in, responses out, groups and alias GUIDs to the manager,
 * as the daemon does. State: struct lab_sa of the manager, and what a daemon keeps of registrations. Ways in: lab_sa_take(),
 * lab_sa_work(). Does not answer anything itself: src/sa does.
 */
#include "lab/lab_priv.h"
#include "sa/sa.h"
#include "sim/kernel/sim_kernel.h"

struct lab_sa {
	struct sa *sa; /* NULL: the manager is stopped */
	uint32_t trees, aliases;
	bool trees_known, aliases_known;
	time_ps wake_at;
	VEC(struct sa_item) items; /* saved */
};

static bool same_key(const struct sa_item *a, const struct sa_item *b)
{
	return a->kind == b->kind && a->key_len == b->key_len &&
	       !memcmp(a->key, b->key, a->key_len);
}

static void save(struct lab_sa *s, const struct sa_item *it)
{
	size_t i = 0;

	if (it->kind == SA_NKINDS)
		s->items.n = 0;
	while (i < s->items.n && !same_key(&s->items.at[i], it))
		i++;
	if (i < s->items.n) {
		memmove(&s->items.at[i], &s->items.at[i + 1],
			(s->items.n - i - 1) * sizeof(s->items.at[0]));
		s->items.n--;
	}
	if (!it->gone)
		vec_push(&s->items, *it);
}

void lab_sa_open(struct lab_manager *m)
{
	struct sa_config c;

	if (!m->lab->cfg.sa)
		return;
	if (!m->sa)
		m->sa = mem_zalloc(sizeof(*m->sa));
	sa_config_default(&c);
	c.sm_key = m->cfg.sm_key;
	c.prefix = m->cfg.gid_prefix;
	m->sa->sa = sa_new(&c);
	m->sa->wake_at = TIME_NEVER;
	m->sa->trees_known = m->sa->aliases_known = false;
	for (unsigned kind = 0; kind < SA_NKINDS; kind++) /* groups before their members */
		for (size_t i = 0; i < m->sa->items.n; i++)
			if (m->sa->items.at[i].kind == kind)
				sa_seed(m->sa->sa, &m->sa->items.at[i], sim_now(m->lab->sim));
}

void lab_sa_close(struct lab_manager *m)
{
	if (!m->sa)
		return;
	sa_free(m->sa->sa);
	m->sa->sa = NULL;
}

void lab_sa_free(struct lab_manager *m)
{
	lab_sa_close(m);
	if (m->sa)
		vec_free(&m->sa->items);
	free(m->sa);
}

/* ---- to the manager ---- */

static void trees_tell(struct lab_manager *m)
{
	bool all = !m->sa->trees_known;
	struct sa_tree_member *members;
	struct sm_group_member *to;
	struct sa_tree *trees;
	struct sm_group *g;
	uint32_t ntrees, nmembers;

	m->sa->trees = sa_trees_number(m->sa->sa);
	m->sa->trees_known = true;
	sa_trees(m->sa->sa, all, &trees, &ntrees, &members, &nmembers);
	g = mem_array(MAX(ntrees, 1u), sizeof(*g));
	to = mem_array(MAX(nmembers, 1u), sizeof(*to));
	for (uint32_t i = 0; i < nmembers; i++)
		to[i] = (struct sm_group_member){members[i].guid, members[i].receives,
						 members[i].sends};
	for (uint32_t i = 0; i < ntrees; i++)
		g[i] = (struct sm_group){trees[i].mlid, trees[i].sl, to + trees[i].first,
					 trees[i].n};
	lab_manager_event(
		m, &(struct sm_event){
			   .kind = SM_EV_GROUPS, .groups = g, .ngroups = ntrees, .some = !all});
	free(trees);
	free(members);
	free(g);
	free(to);
}

static void aliases_tell(struct lab_manager *m)
{
	struct sm_alias *list;
	size_t n = sa_aliases_list(m->sa->sa, &list);
	bool known = m->sa->aliases_known;

	m->sa->aliases = sa_aliases_number(m->sa->sa);
	m->sa->aliases_known = true;
	if (n || known)
		lab_manager_event(
			m,
			&(struct sm_event){.kind = SM_EV_ALIASES, .aliases = list, .naliases = n});
	free(list);
}

/* ---- to hosts ---- */

static void send_all(struct lab_manager *m)
{
	struct sim *sim = m->lab->sim;
	struct sa_mad out;

	while (sa_next(m->sa->sa, &out, sim_now(sim))) {
		struct sim_smp smp = {.slid = m->st.lid, .dlid = out.lid, .sl = out.sl};

		memcpy(smp.mad, out.mad, IBA_MAD_SIZE);
		sim_send(sim, m->node, m->cfg.port, &smp);
	}
}

static void on_wake(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;

	if (!m->sa || !m->sa->sa || cookie != m->sa->wake_at || m->paused)
		return;
	m->sa->wake_at = TIME_NEVER;
	lab_sa_work(m);
}

void lab_sa_work(struct lab_manager *m)
{
	struct sim *sim = m->lab->sim;
	struct lab_sa *s = m->sa;
	struct sa_item it;

	if (!s || !s->sa || !m->sm)
		return;
	sa_manager(s->sa, m->sm, sim_now(sim));
	if (sim_now(sim) >= sa_due(s->sa))
		sa_wake(s->sa, sim_now(sim));
	while (sa_changed(s->sa, &it))
		save(s, &it);
	if (m->st.state == IBA_SM_MASTER && (!s->trees_known || s->trees != sa_trees_number(s->sa)))
		trees_tell(m);
	if (m->st.state == IBA_SM_MASTER &&
	    (!s->aliases_known || s->aliases != sa_aliases_number(s->sa)))
		aliases_tell(m);
	if (m->st.state == IBA_SM_STANDBY)
		sm_reregister(m->sm, true);
	send_all(m);
	if (sa_due(s->sa) < s->wake_at) {
		s->wake_at = MAX(sa_due(s->sa), sim_now(sim));
		sim_call(sim, s->wake_at, on_wake, m, s->wake_at);
	}
}

void lab_sa_take(struct lab_manager *m, const struct sim_smp *smp)
{
	struct sa_mad in = {.lid = smp->slid, .sl = smp->sl};

	if (!m->sa || !m->sa->sa)
		return;
	memcpy(in.mad, smp->mad, IBA_MAD_SIZE);
	sa_take(m->sa->sa, m->sm, &in, sim_now(m->lab->sim));
	lab_sa_work(m);
}
