/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quality of service of paths: the level that the policy gives to a request, and the service level of its partition. No
 * state. Where routes need several lanes to be free of deadlock, the SL is that of the routing engine whatever a level says.
 */
#include "policy/policy.h"
#include "sa/paths.h"

/* The SL of the partition, where no level has one and the request did not name its key. */
static void partition_sl(const struct pol *policy, uint16_t pkey, struct sa_level *l)
{
	const struct pol_partition *t = pol_partition_find(policy, pkey & ~POL_FULL_BIT);

	if (l->has & POL_HAS_SL || !t || !t->flags.has_sl)
		return;
	l->sl = t->flags.sl;
	l->has |= POL_HAS_SL;
}

/* p has its ends and the P_Key that they share. */
void sa_level_of(struct sa *sa, const struct sa_wish *w, const struct sa_path *p,
		 struct sa_level *l)
{
	const struct pol *policy = sm_policy(sa->view.sm);
	struct pol_port from, to;
	struct pol_query q = {.src = &from,
			      .dst = &to,
			      .has_service_id = w->has_service_id,
			      .has_qos_class = w->has_qos_class,
			      .has_pkey = w->has_pkey,
			      .service_id = w->service_id,
			      .qos_class = w->qos_class,
			      .pkey = w->pkey};
	struct pol_path level;
	uint16_t any;

	*l = (struct sa_level){0};
	if (!policy->qos)
		return;
	sa_policy_port(sa, p->from, &from);
	sa_policy_port(sa, p->to, &to);
	pol_path(policy, &q, &level);
	*l = (struct sa_level){.has = level.has,
			       .sl = level.sl,
			       .mtu = level.mtu,
			       .rate = level.rate,
			       .life = level.life,
			       .pkey = level.pkey,
			       .policy = policy};
	if (level.path_bits) {
		l->path_bits = level.path_bits->at;
		l->nbits = level.path_bits->n;
	}
	if (l->has & POL_HAS_PKEY)
		l->none = (w->has_pkey && (w->pkey ^ l->pkey) & ~(unsigned)POL_FULL_BIT) ||
			  !sa_ends_share(sa, p->from, p->to, l->pkey, &any);
	if (w->has_pkey)
		l->pkey = w->pkey; /* with the membership that was asked for */
	partition_sl(policy, l->has & POL_HAS_PKEY ? l->pkey : p->pkey, l);
}

/* lanes: the routes need more than one. */
void sa_level_apply(const struct sa_level *l, bool lanes, struct sa_path *p)
{
	if (l->has & POL_HAS_MTU)
		p->mtu = MIN(p->mtu, l->mtu);
	if (l->has & POL_HAS_RATE && sa_rate_compare(l->rate, p->rate) < 0)
		p->rate = l->rate;
	if (l->has & POL_HAS_LIFE && p->life)
		p->life = l->life;
	if (l->has & POL_HAS_SL && !lanes)
		p->sl = l->sl;
	if (l->has & POL_HAS_PKEY)
		p->pkey = l->pkey;
}

bool sa_level_takes(const struct sa_level *l, unsigned path_bits)
{
	for (size_t i = 0; i < l->nbits; i++)
		if (path_bits >= l->path_bits[i].from && path_bits <= l->path_bits[i].to)
			return true;
	return !l->nbits;
}
