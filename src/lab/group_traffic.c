/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast traffic and its copies. State: struct lab_groups, with each packet and the copies that each member got. Ways in:
 * lab_groups_*(). A packet is known by the time at which it was sent: no two are sent at the same time.
 */
#include "lab/group_traffic.h"

#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"
#include "lab/lab_priv.h"
#include "lab/load.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

enum { COPIES_MOST = 1 << 26, NOT_EXPECTED = 0x80, GOT_MOST = 0x7f };

struct group_packet {
	time_ps born;
	uint32_t group, sender; /* the sender by its place in the group */
	size_t first;		/* of its copies, by member */
};

struct lab_groups {
	struct lab *lab;
	struct lab_groups_config cfg;
	struct rng rng;
	unsigned sl;
	port_id *members; /* cfg.members of each group */
	VEC(struct group_packet) packets;
	struct map64 by_time;
	VEC(uint8_t)
	copies; /* that a member got of a packet; NOT_EXPECTED: its port was not Active */
	VEC(time_ps) strays; /* when these packets were sent */
	uint64_t missing;
	bool on, waiting; /* waiting: for next_at */
	time_ps next_at;
};

/* ---- groups ---- */

static port_id *host_ports(const struct fab *f, uint32_t *n)
{
	port_id *at = mem_array(f->nports + 1u, sizeof(*at));

	*n = 0;
	for (port_id p = 0; p < f->nports; p++) /* one port of each */
		if ((!*n || f->ports[at[*n - 1]].node != f->ports[p].node) &&
		    f->nodes[f->ports[p].node].type == IBA_NODE_CA && f->ports[p].num &&
		    f->ports[p].peer != FAB_NONE &&
		    !(f->nodes[f->ports[p].node].flags & FAB_FUNCTION))
			at[(*n)++] = p;
	return at;
}

static void draw(struct lab_groups *g)
{
	uint32_t n;
	port_id *hosts = host_ports(g->lab->fab, &n);

	g->cfg.members = MIN(g->cfg.members, n);
	g->members = mem_array((size_t)g->cfg.groups * g->cfg.members + 1, sizeof(*g->members));
	for (unsigned k = 0; k < g->cfg.groups; k++)
		for (unsigned i = 0; i < g->cfg.members; i++) {
			uint32_t other = i + rng_below(&g->rng, n - i);
			port_id p = hosts[other];

			hosts[other] = hosts[i];
			hosts[i] = p;
			g->members[k * g->cfg.members + i] = p;
		}
	free(hosts);
}

static void tell(const struct lab_groups *g)
{
	size_t n = (size_t)g->cfg.groups * g->cfg.members;
	struct sm_group_member *m = mem_array(n + 1, sizeof(*m));
	struct sm_group *all = mem_array(g->cfg.groups + 1u, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		m[i] = (struct sm_group_member){sim_port_guid(g->lab->sim, g->members[i]), true,
						true};
	for (unsigned k = 0; k < g->cfg.groups; k++)
		all[k] = (struct sm_group){(uint16_t)(IBA_LID_MCAST_FIRST + k), (uint8_t)g->sl,
					   m + (size_t)k * g->cfg.members, g->cfg.members};
	for (unsigned i = 0; i < lab_managers(g->lab); i++)
		lab_manager_groups(g->lab, i, all, g->cfg.groups);
	free(all);
	free(m);
}

/* ---- copies ---- */

static unsigned place_of(const struct lab_groups *g, uint32_t group, port_id port)
{
	unsigned i = 0;

	while (i < g->cfg.members && g->members[group * g->cfg.members + i] != port)
		i++;
	return i;
}

static void on_delivered(void *ctx, port_id port, uint16_t dlid, time_ps born)
{
	struct lab_groups *g = ctx;
	uint32_t n = dlid < IBA_LID_MCAST_FIRST ? MAP_NONE : map64_get(&g->by_time, born);
	const struct group_packet *p;
	unsigned at;
	uint8_t *got;

	if (n == MAP_NONE)
		return;
	p = &g->packets.at[n];
	at = place_of(g, p->group, port);
	if (at == g->cfg.members || at == p->sender) {
		vec_push(&g->strays, born);
		return;
	}
	got = &g->copies.at[p->first + at];
	g->missing -= *got == 0;
	if ((*got & GOT_MOST) < GOT_MOST)
		(*got)++;
}

void lab_groups_watch(struct lab_groups *g)
{
	sim_watch_deliveries(g->lab->sim, (struct sim_delivery_watch){on_delivered, g});
}

struct lab_groups *lab_groups_new(struct lab *l, const struct lab_groups_config *c)
{
	struct lab_groups *g = mem_zalloc(sizeof(*g));
	unsigned sls = sm_multicast_sls(lab_sm(l));

	g->lab = l;
	g->cfg = *c;
	rng_seed(&g->rng, c->seed, 0x6d63);
	while (g->sl < 15 && !(sls >> g->sl & 1))
		g->sl++;
	g->sl = sls ? g->sl : 0;
	draw(g);
	tell(g);
	lab_groups_watch(g);
	return g;
}

void lab_groups_free(struct lab_groups *g)
{
	if (!g)
		return;
	g->on = false;
	while (g->waiting) /* the event that is planned knows this memory */
		lab_run_to(g->lab, g->next_at + 1);
	sim_watch_deliveries(g->lab->sim, (struct sim_delivery_watch){0});
	free(g->members);
	vec_free(&g->packets);
	vec_free(&g->copies);
	vec_free(&g->strays);
	map64_free(&g->by_time);
	free(g);
}

bool lab_groups_settle(struct lab_groups *g, time_ps limit)
{
	struct sm_multicast_status st;
	time_ps end = sim_now(g->lab->sim) + limit;

	do {
		lab_run_to(g->lab, sim_now(g->lab->sim) + 100 * PS_PER_US);
		sm_multicast_status(lab_sm(g->lab), &st);
	} while (st.busy && sim_now(g->lab->sim) < end);
	return !st.busy && lab_run_ready(g->lab, end);
}

/* ---- packets ---- */

static bool is_active(const struct lab_groups *g, port_id p)
{
	const struct iba_port_info *pi = sim_port_info(g->lab->sim, p);

	return sim_node_on(g->lab->sim, g->lab->fab->ports[p].node) && pi->lid &&
	       pi->state == IBA_PORT_ACTIVE;
}

static void send(struct lab_groups *g)
{
	struct group_packet p = {.born = sim_now(g->lab->sim),
				 .group = rng_below(&g->rng, g->cfg.groups),
				 .sender = rng_below(&g->rng, g->cfg.members),
				 .first = g->copies.n};
	const port_id *m = g->members + (size_t)p.group * g->cfg.members;

	if (!is_active(g, m[p.sender]) || g->copies.n + g->cfg.members > COPIES_MOST)
		return;
	map64_put(&g->by_time, p.born, (uint32_t)g->packets.n);
	vec_push(&g->packets, p);
	for (unsigned i = 0; i < g->cfg.members; i++) {
		bool expected = i != p.sender && is_active(g, m[i]);

		vec_push(&g->copies, expected ? 0 : NOT_EXPECTED);
		g->missing += expected;
	}
	sim_inject(g->lab->sim, lab_host_number(g->lab->fab, g->lab->fab->ports[m[p.sender]].node),
		   (uint16_t)(IBA_LID_MCAST_FIRST + p.group), g->cfg.payload, (uint8_t)g->sl);
}

static void on_time(void *ctx, uint64_t cookie);

static void wait_until(struct lab_groups *g, time_ps at)
{
	g->waiting = true;
	g->next_at = at;
	sim_call(g->lab->sim, at, on_time, g, 0);
}

static void on_time(void *ctx, uint64_t cookie)
{
	struct lab_groups *g = ctx;
	uint64_t mean = MAX(g->cfg.interval_ps / g->cfg.groups, (uint64_t)1);

	(void)cookie;
	g->waiting = false;
	if (!g->on)
		return;
	send(g);
	wait_until(g, sim_now(g->lab->sim) + 1 +
			      rng_below(&g->rng, (uint32_t)MIN(2 * mean, (uint64_t)UINT32_MAX)));
}

void lab_groups_start(struct lab_groups *g)
{
	g->on = g->cfg.members > 1;
	if (g->on)
		wait_until(g, sim_now(g->lab->sim) + 1);
}

void lab_groups_stop(struct lab_groups *g)
{
	g->on = false;
}

void lab_groups_drain(struct lab_groups *g)
{
	enum { MOST_MS = 20 };

	for (unsigned i = 0; i < MOST_MS && g->missing; i++)
		lab_run_to(g->lab, sim_now(g->lab->sim) + PS_PER_MS);
}

/* ---- results ---- */

static void count_packet(const struct lab_groups *g, const struct group_packet *p,
			 const uint32_t *part, struct lab_groups_count *out)
{
	const port_id *m = g->members + (size_t)p->group * g->cfg.members;
	const struct fab *f = g->lab->fab;

	out->packets++;
	for (unsigned i = 0; i < g->cfg.members; i++) {
		uint8_t got = g->copies.at[p->first + i];
		bool apart = part && part[f->ports[m[p->sender]].node] != part[f->ports[m[i]].node];

		out->doubled += (got & GOT_MOST) > 1 ? (got & GOT_MOST) - 1u : 0;
		if (got & NOT_EXPECTED)
			continue;
		out->expected++;
		out->delivered += got > 0;
		out->futile += !got && apart;
		out->lost += !got && !apart;
	}
}

void lab_groups_result(const struct lab_groups *g, time_ps since, const uint32_t *part,
		       struct lab_groups_count *out)
{
	*out = (struct lab_groups_count){
		.groups = g->cfg.groups, .members = g->cfg.members, .sl = g->sl};
	for (size_t i = 0; i < g->packets.n; i++)
		if (g->packets.at[i].born >= since)
			count_packet(g, &g->packets.at[i], part, out);
	for (size_t i = 0; i < g->strays.n; i++)
		out->astray += g->strays.at[i] >= since;
}
