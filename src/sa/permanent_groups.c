/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups that the policy names: they exist without members, such as the broadcast groups of IP over InfiniBand of
 * each partition. State: the policy for which they were made. Ways in: sa_policy_groups(),
 * sa_permanent_levels().
 */
#include "policy/policy.h"
#include "sa/registry.h"

static bool is_wanted(const struct sa_group *g, const struct pol_group *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!memcmp(g->r.mgid, wanted[i].mgid, 16))
			return true;
	return false;
}

/* One that is not named any more stays as long as it has members. */
static void drop_others(struct sa *sa, const struct pol_group *wanted, size_t n)
{
	for (size_t i = sa->groups.list.n; i-- > 0;) {
		struct sa_group *g = &sa->groups.list.at[i];

		if (!g->permanent || is_wanted(g, wanted, n))
			continue;
		g->permanent = false;
		if (!g->members.n)
			sa_group_remove(sa, g);
	}
}

/* The SL that is wished, or the first one that trees fit on. */
static uint8_t level(const struct sa *sa, uint8_t wish)
{
	return !sa->groups.sls || sa->groups.sls >> wish & 1
		       ? wish
		       : (uint8_t)__builtin_ctz(sa->groups.sls);
}

/* Hosts that are members use the SL that they were told. */
void sa_permanent_levels(struct sa *sa, unsigned sls)
{
	sa->groups.sls = sls;
	for (size_t i = 0; i < sa->groups.list.n; i++) {
		struct sa_group *g = &sa->groups.list.at[i];
		uint8_t sl = level(sa, g->r.sl);

		if (g->permanent && !g->members.n && sl != g->r.sl)
			sa_group_level(sa, g, sl);
	}
}

static void want(struct sa *sa, const struct pol_group *w)
{
	struct sa_group *g = sa_group_find(sa, w->mgid);
	struct iba_sa_member r = {.qkey = w->qkey,
				  .mlid = w->mlid,
				  .mtu_selector = IBA_SA_EXACTLY,
				  .mtu = w->mtu,
				  .traffic_class = w->tclass,
				  .pkey = w->pkey,
				  .rate_selector = IBA_SA_EXACTLY,
				  .rate = w->rate,
				  .life_selector = IBA_SA_EXACTLY,
				  .life = SA_PACKET_LIFE,
				  .sl = level(sa, w->sl),
				  .flow_label = w->flow_label,
				  .hop_limit = w->hop_limit,
				  .scope = w->scope};

	if (g) {
		g->permanent = true; /* hosts were first: its parameters are theirs */
		return;
	}
	memcpy(r.mgid, w->mgid, 16);
	sa_group_add(sa, &r, true, &g);
}

void sa_policy_groups(struct sa *sa, const struct sm *sm)
{
	const struct pol *given = sm_policy(sm);
	struct pol *usual = given ? NULL : pol_new();
	const struct pol *p = given ? given : usual;
	size_t n = pol_groups(p, NULL, 0);
	struct pol_group *wanted = mem_array(MAX(n, (size_t)1), sizeof(*wanted));

	pol_groups(p, wanted, n);
	drop_others(sa, wanted, n);
	for (size_t i = 0; i < n; i++)
		want(sa, &wanted[i]);
	free(wanted);
	pol_free(usual);
}
