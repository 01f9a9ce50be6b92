/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which level of service a path has: rules in their order, then the default level, then the service level of the
 * partition. State: none. Way in: pol_path(). Does not know routes.
 */
#include "policy/policy_priv.h"

static bool in_ranges(const pol_ranges *r, uint64_t v)
{
	for (size_t i = 0; i < r->n; i++)
		if (v >= r->at[i].from && v <= r->at[i].to)
			return true;
	return false;
}

/* ---- port groups ---- */

static bool partition_in(const struct pol_port_group *g, const struct pol_partition *t)
{
	if (in_ranges(&g->pkeys, t->pkey))
		return true;
	for (size_t i = 0; i < g->partitions.n; i++)
		if (!strcmp(g->partitions.at[i].name, t->name))
			return true;
	return false;
}

static bool named_in(const struct pol *p, const struct pol_port_group *g,
		     const struct pol_port *port)
{
	struct pol_partition as_one = {0};

	as_one.members.at = g->members.at;
	as_one.members.n = g->members.n;
	return g->members.n && pol_membership(p, &as_one, port);
}

static bool in_group(const struct pol *p, const struct pol_port_group *g,
		     const struct pol_port *port)
{
	if (!port)
		return false;
	if (in_ranges(&g->guids, port->guid) || named_in(p, g, port))
		return true;
	for (size_t i = 0; i < p->partitions.n; i++)
		if (partition_in(g, &p->partitions.at[i]) &&
		    pol_membership(p, &p->partitions.at[i], port))
			return true;
	return false;
}

static bool in_groups(const struct pol *p, const uint32_t *groups, size_t n,
		      const struct pol_port *port)
{
	for (size_t i = 0; i < n; i++)
		if (in_group(p, &p->port_groups.at[groups[i]], port))
			return true;
	return !n;
}

/* ---- rules ---- */

/* A rule asks for all that it has: a query without a service id matches no rule that names one. */
static bool rule_matches(const struct pol *p, const struct pol_rule *r, const struct pol_query *q)
{
	if (!in_groups(p, r->sources.at, r->sources.n, q->src) ||
	    !in_groups(p, r->destinations.at, r->destinations.n, q->dst))
		return false;
	if (r->qos_classes.n && !(q->has_qos_class && in_ranges(&r->qos_classes, q->qos_class)))
		return false;
	if (r->service_ids.n && !(q->has_service_id && in_ranges(&r->service_ids, q->service_id)))
		return false;
	return !r->pkeys.n ||
	       (q->has_pkey && in_ranges(&r->pkeys, q->pkey & ~(uint64_t)POL_FULL_BIT));
}

static const struct pol_level *level_of(const struct pol *p, const struct pol_query *q)
{
	for (size_t i = 0; i < p->rules.n; i++)
		if (rule_matches(p, &p->rules.at[i], q))
			return &p->levels.at[p->rules.at[i].level];
	return p->default_level < p->levels.n ? &p->levels.at[p->default_level] : NULL;
}

void pol_path(const struct pol *p, const struct pol_query *q, struct pol_path *path)
{
	const struct pol_level *l = p->qos ? level_of(p, q) : NULL;
	const struct pol_partition *t = NULL;

	*path = (struct pol_path){0};
	if (l)
		*path = (struct pol_path){
			.has = l->has,
			.sl = l->sl,
			.mtu = l->mtu,
			.rate = l->rate,
			.life = l->life,
			.pkey = l->pkey,
			.path_bits = l->path_bits.n ? &l->path_bits : NULL,
			.level = l->name,
		};
	if (path->has & POL_HAS_PKEY)
		t = pol_partition_find(p, path->pkey);
	else if (q->has_pkey)
		t = pol_partition_find(p, q->pkey);
	if (p->qos && t && t->flags.has_sl && !(path->has & POL_HAS_SL)) {
		path->sl = t->flags.sl;
		path->has |= POL_HAS_SL;
	}
}
