/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PathRecord to a multicast group: one record with the parameters of the group, if the source is a member of it (IBA
 * 15.2.5.16). No state. What a group has is exactly so: nothing is lowered for a selector.
 */
#include "sa/paths.h"
#include "sa/registry.h"

/* The group has what the request asks for, besides its MGID. */
static bool fits(const struct sa_request *q, const struct iba_sa_path *ask,
		 const struct iba_sa_member *g)
{
	if (sa_asks(q, path, mtu) && sa_asks(q, path, mtu_selector) &&
	    !iba_sa_selected((enum iba_sa_selector)ask->mtu_selector, ask->mtu, g->mtu))
		return false;
	if (sa_asks(q, path, rate) && sa_asks(q, path, rate_selector) &&
	    !sa_rate_selected((enum iba_sa_selector)ask->rate_selector, ask->rate, g->rate))
		return false;
	if (sa_asks(q, path, life) && sa_asks(q, path, life_selector) &&
	    !iba_sa_selected((enum iba_sa_selector)ask->life_selector, ask->life, g->life))
		return false;
	return (!sa_asks(q, path, dlid) || ask->dlid == g->mlid) &&
	       (!sa_asks(q, path, pkey) || ask->pkey == g->pkey) &&
	       (!sa_asks(q, path, sl) || ask->sl == g->sl) &&
	       (!sa_asks(q, path, flow_label) || ask->flow_label == g->flow_label) &&
	       (!sa_asks(q, path, hop_limit) || ask->hop_limit == g->hop_limit) &&
	       (!sa_asks(q, path, traffic_class) || ask->traffic_class == g->traffic_class) &&
	       (!sa_asks(q, path, reversible) || !ask->reversible) &&
	       (q->method == SA_GET || !sa_asks(q, path, num_paths) || ask->num_paths);
}

static bool is_member(struct sa *sa, struct sa_group *g, const struct sa_end *e)
{
	uint8_t gid[16];

	sa_gid_make(sa, e->guid, gid);
	return sa_member_find(g, gid);
}

static void record(const struct sa *sa, const struct sa_end *from, uint16_t slid,
		   const struct iba_sa_member *g, struct sa_answer *a)
{
	struct iba_sa_path r = {.dlid = g->mlid,
				.slid = slid,
				.flow_label = g->flow_label,
				.hop_limit = g->hop_limit,
				.traffic_class = g->traffic_class,
				.num_paths = 1,
				.pkey = g->pkey,
				.sl = g->sl,
				.mtu_selector = IBA_SA_EXACTLY,
				.mtu = g->mtu,
				.rate_selector = IBA_SA_EXACTLY,
				.rate = g->rate,
				.life_selector = IBA_SA_EXACTLY,
				.life = g->life};

	memcpy(r.dgid, g->mgid, sizeof(r.dgid));
	if (from)
		sa_gid_make(sa, from->guid, r.sgid);
	iba_sa_path_put(&r, sa_record(a));
}

void sa_path_to_group(struct sa *sa, const struct sa_request *q, const struct iba_sa_path *ask,
		      struct sa_answer *a)
{
	struct sa_group *g = sa_group_find(sa, ask->dgid);
	const struct sa_end *from = NULL;
	struct sa_end shared;

	if (sa_asks(q, path, sgid)) {
		from = sa_end_by_gid(sa, ask->sgid, &shared);
		if (!from) {
			a->status = IBA_SA_BAD_GID;
			return;
		}
	} else if (sa_asks(q, path, slid)) {
		from = sa_end_by_lid(&sa->view, ask->slid);
	}
	if (!g || !fits(q, ask, &g->r) || !sa_asker_has_key(sa, q, g->r.pkey) ||
	    (sa_asks(q, path, slid) && !from) || (from && !is_member(sa, g, from)))
		return;
	record(sa, from, sa_asks(q, path, slid) ? ask->slid : from ? from->lid : 0, &g->r, a);
}
