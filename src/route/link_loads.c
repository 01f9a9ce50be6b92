/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes over links, counted by following them. State: struct rt_link_loads. Ways in: rt_flows_of(),
 * rt_link_loads_add(), rt_balance_get(). Does not verify tables: src/route/verify.c does.
 */
#include "route/link_loads.h"

typedef unsigned __int128 u128;

uint32_t rt_switch_of(const struct fab *f, port_id host)
{
	port_id peer = f->ports[host].peer;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

void rt_link_loads_init(struct rt_link_loads *l, const struct fab *f)
{
	*l = (struct rt_link_loads){.f = f,
				    .hosts = mem_zarray(f->nswitches, sizeof(*l->hosts)),
				    .next = mem_array(f->nports, sizeof(*l->next)),
				    .load = mem_zarray(f->nports, sizeof(*l->load)),
				    .passing = mem_zarray(f->nswitches, sizeof(*l->passing))};
	memset(l->next, 0xff, f->nports * sizeof(*l->next));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct fab_node *n = &f->nodes[f->switches[s]];

		for (unsigned p = 1; p <= n->nports; p++) {
			port_id peer = f->ports[n->first_port + p].peer;

			if (peer == FAB_NONE)
				continue;
			if (fab_is_switch(f, f->ports[peer].node))
				l->next[n->first_port + p] = f->switch_index[f->ports[peer].node];
			else
				l->hosts[s]++;
		}
	}
}

void rt_link_loads_free(struct rt_link_loads *l)
{
	free(l->hosts);
	free(l->next);
	free(l->load);
	free(l->passing);
}

/* ---- one LID ---- */

/* A column of tables. */
struct column {
	const uint8_t *at, *dflt;
	size_t step;
};

static port_id out_port(const struct rt_link_loads *l, const struct column *c, uint32_t s)
{
	const struct fab_node *n = &l->f->nodes[l->f->switches[s]];
	uint8_t port = c->at[s * c->step];

	if (port == IBA_PORT_NONE && c->dflt)
		port = c->dflt[s];
	return port && port <= n->nports ? n->first_port + port : FAB_NONE;
}

/* From one switch; false: it does not arrive. A switch without an entry is in another part of the fabric. */
static bool follow(struct rt_link_loads *l, const struct column *c, uint32_t from, uint32_t to,
		   rt_flows *out)
{
	uint32_t s = from;

	for (uint32_t hops = 0; s != to; hops++) {
		port_id p = out_port(l, c, s);

		if (p == FAB_NONE || l->next[p] == FAB_NONE || hops > l->f->nswitches)
			return p == FAB_NONE && !hops;
		if (!l->passing[s])
			vec_push(out, (struct rt_flow){p, s});
		l->passing[s] += l->hosts[from];
		s = l->next[p];
	}
	return true;
}

bool rt_flows_of(struct rt_link_loads *l, const uint8_t *column, size_t step, const uint8_t *dflt,
		 uint32_t to, rt_flows *out)
{
	struct column c = {column, dflt, step};
	size_t first = out->n;
	bool arrives = true;

	for (uint32_t s = 0; s < l->f->nswitches && arrives; s++)
		if (l->hosts[s])
			arrives = follow(l, &c, s, to, out);
	for (size_t i = first; i < out->n; i++) {
		uint32_t s = out->at[i].routes; /* the switch, until now */

		out->at[i].routes = l->passing[s];
		l->passing[s] = 0;
	}
	if (!arrives)
		out->n = first;
	return arrives;
}

void rt_link_loads_add(struct rt_link_loads *l, const rt_flows *x)
{
	for (size_t i = 0; i < x->n; i++)
		l->load[x->at[i].link] += x->at[i].routes;
}

void rt_link_loads_remove(struct rt_link_loads *l, const rt_flows *x)
{
	for (size_t i = 0; i < x->n; i++)
		l->load[x->at[i].link] -= x->at[i].routes;
}

bool rt_link_loads_lid(struct rt_link_loads *l, const struct rt_tables *t, uint16_t lid,
		       uint32_t to, bool add)
{
	rt_flows x = {0};
	bool arrives =
		lid <= t->top_lid && rt_flows_of(l, t->lft + lid, t->stride, t->dflt, to, &x);

	if (add)
		rt_link_loads_add(l, &x);
	else
		rt_link_loads_remove(l, &x);
	vec_free(&x);
	return arrives;
}

uint32_t rt_link_loads_vlids(struct rt_link_loads *l, const struct rt_tables *t)
{
	const struct fab *f = l->f;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		uint32_t to = rt_switch_of(f, f->vlids[i].port);

		lost += to == FAB_NONE || !rt_link_loads_lid(l, t, f->vlids[i].lid, to, true);
	}
	return lost;
}

/* ---- all ---- */

static uint64_t root_of(u128 v)
{
	u128 low = 0, high = (u128)1 << 63;

	while (low < high) { /* the largest whose square is not above v */
		u128 mid = (low + high + 1) / 2;

		if (mid * mid <= v)
			low = mid;
		else
			high = mid - 1;
	}
	return (uint64_t)low;
}

void rt_balance_get(const struct rt_link_loads *l, struct rt_balance *b)
{
	u128 sum = 0, squares = 0;

	*b = (struct rt_balance){0};
	for (port_id p = 0; p < l->f->nports; p++) {
		if (l->next[p] == FAB_NONE)
			continue;
		b->links++;
		b->busiest = MAX(b->busiest, l->load[p]);
		sum += l->load[p];
		squares += (u128)l->load[p] * l->load[p];
	}
	if (!b->links)
		return;
	b->mean = (uint64_t)(sum * 1000 / b->links);
	b->deviation =
		root_of((squares * b->links - sum * sum) * 1000000 / ((u128)b->links * b->links));
}
