/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where packets go now, by the tables in the devices: a path, the tree of a destination, the routes over a link, routes
 * by link. State: none. Way in: the commands route, tree, users and loads. Does not compute routes.
 */
#include "lab/route_census.h"
#include "window/window_priv.h"

enum { HOPS = 64, USERS = 1000 };

/* ---- LIDs ---- */

/* A switch has its LID at port 0, a host at its first port with a cable. */
port_id window_lid_port(const struct window *w, node_id n)
{
	const struct fab *f = w->fabric.fab;

	if (fab_is_switch(f, n))
		return fab_port_id(f, n, 0);
	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		port_id p = fab_port_id(f, n, i);

		if ((w->run ? sim_port_peer(w->run->sim, p) : f->ports[p].peer) != FAB_NONE)
			return p;
	}
	return fab_port_id(f, n, 1);
}

static uint16_t lid_of(const struct window *w, node_id n)
{
	return sim_port_info(w->run->sim, window_lid_port(w, n))->lid;
}

node_id window_node_of_lid(const struct window *w, uint16_t lid)
{
	for (port_id p = 0; p < w->fabric.fab->nports; p++) {
		const struct iba_port_info *pi = sim_port_info(w->run->sim, p);

		if (pi->lid && (lid & ~((1u << pi->lmc) - 1)) == pi->lid)
			return w->fabric.fab->ports[p].node;
	}
	return FAB_NONE;
}

/* "node", or "lid". */
static int arg_destination(struct window *w, json_t *args, const char *key, node_id *n,
			   uint16_t *lid, struct err *e)
{
	uint64_t v = 0;

	if (window_arg_has(args, "lid") && !window_arg_has(args, key)) {
		if (window_arg_u64(args, "lid", IBA_LID_MAX_UNICAST, &v, e))
			return -EINVAL;
		*n = window_node_of_lid(w, (uint16_t)v);
		*lid = (uint16_t)v;
		return *n == FAB_NONE ? err_set(e, -EINVAL, "lid: no port has this LID now") : 0;
	}
	if (window_arg_node(w, args, key, n, e))
		return -EINVAL;
	*lid = lid_of(w, *n);
	return *lid ? 0 : err_set(e, -EINVAL, "%s: this node has no LID now", key);
}

/* ---- a path ---- */

port_id window_active_peer(const struct window *w, port_id p)
{
	const struct sim *s = w->run->sim;
	port_id q = sim_port_peer(s, p);

	return q != FAB_NONE && sim_port_info(s, p)->state == IBA_PORT_ACTIVE &&
			       sim_port_info(s, q)->state == IBA_PORT_ACTIVE
		       ? q
		       : FAB_NONE;
}

struct path {
	struct {
		node_id node;
		uint8_t in, out;
	} hop[HOPS];
	unsigned n;
	const char *ends; /* NULL: at its destination */
};

/* By which port a packet leaves this node; 0: it stays. */
static unsigned out_port(const struct window *w, node_id at, node_id from, uint16_t lid)
{
	if (!fab_is_switch(w->fabric.fab, at))
		return at == from ? w->fabric.fab->ports[window_lid_port(w, at)].num : 0;
	return sim_route(w->run->sim, at, lid);
}

static void follow(const struct window *w, node_id from, node_id to, uint16_t lid, struct path *x)
{
	const struct fab *f = w->fabric.fab;
	node_id at = from;
	unsigned in = 0;

	*x = (struct path){.ends = "it goes round in a loop"};
	while (x->n < HOPS) {
		unsigned out = at == to ? 0 : out_port(w, at, from, lid);
		port_id q;

		x->hop[x->n].node = at;
		x->hop[x->n].in = (uint8_t)in;
		x->hop[x->n++].out = (uint8_t)(out <= f->nodes[at].nports ? out : 0);
		if (!out || out > f->nodes[at].nports) {
			x->ends = at == to ? NULL
				  : out	   ? "its forwarding table has no entry for this LID"
					   : "it has another LID and does not forward";
			return;
		}
		q = window_active_peer(w, fab_port_id(f, at, out));
		if (q == FAB_NONE) {
			x->ends = "the link of its output port is not Active";
			return;
		}
		at = f->ports[q].node;
		in = f->ports[q].num;
	}
}

/* Of packets from this path's first switch, as the master's tables say. */
static unsigned service_level(const struct window *w, const struct path *x, uint16_t lid)
{
	for (unsigned i = 0; i < lab_managers(w->run->lab); i++) {
		const struct sm *sm = lab_manager_sm(w->run->lab, i);
		const struct rt_tables *t = sm ? sm_tables(sm) : NULL;
		const struct fab *v = sm ? sm_fabric(sm) : NULL;
		node_id n;

		if (!lab_manager_is_master(w->run->lab, i) || !t || !t->lanes || !v || x->n < 2)
			continue;
		n = fab_node_by_guid(v, w->fabric.fab->nodes[x->hop[1].node].guid);
		if (n != FAB_NONE && fab_is_switch(v, n))
			return rt_sl(t, v->switch_index[n], x->hop[1].in, lid);
	}
	return 0;
}

static void add_hops(struct json *j, const struct window *w, const struct path *x)
{
	json_open(j, "hops", '[');
	for (unsigned i = 0; i < x->n; i++) {
		port_id p = fab_port_id(w->fabric.fab, x->hop[i].node, x->hop[i].out);

		json_open(j, NULL, '{');
		json_u64(j, "node", x->hop[i].node);
		json_u64(j, "in", x->hop[i].in);
		json_u64(j, "out", x->hop[i].out);
		if (x->hop[i].out && w->fabric.link_of[p] != FAB_NONE)
			json_u64(j, "link", w->fabric.link_of[p]);
		else
			json_none(j, "link");
		json_close(j);
	}
	json_close(j);
}

int window_cmd_route(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct path x;
	node_id from, to;
	uint16_t lid;
	unsigned sl;

	if (!window_run_on(w, e) || window_arg_node(w, args, "from", &from, e) ||
	    arg_destination(w, args, "to", &to, &lid, e))
		return -EINVAL;
	follow(w, from, to, lid, &x);
	sl = service_level(w, &x, lid);
	add_hops(reply, w, &x);
	json_u64(reply, "lid", lid);
	json_u64(reply, "sl", sl);
	json_open(reply, "vls", '[');
	for (unsigned i = 0; i < x.n; i++)
		if (x.hop[i].out)
			json_u64(reply, NULL,
				 sim_slvl(w->run->sim, x.hop[i].node, x.hop[i].in, x.hop[i].out,
					  sl));
	json_close(reply);
	json_str(reply, "ends", x.ends ? x.ends : "reached");
	return 0;
}

/* ---- the tree of a destination ---- */

int window_cmd_tree(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	const struct fab *f = w->fabric.fab;
	node_id to;
	uint16_t lid;

	if (!window_run_on(w, e) || arg_destination(w, args, "node", &to, &lid, e))
		return -EINVAL;
	json_u64(reply, "node", to);
	json_u64(reply, "lid", lid);
	json_open(reply, "out", '[');
	for (uint32_t i = 0; i < f->nswitches; i++) {
		node_id n = f->switches[i];
		unsigned out = sim_node_on(w->run->sim, n) ? sim_route(w->run->sim, n, lid) : 0;

		if (n == to || !out || out > f->nodes[n].nports)
			continue;
		json_open(reply, NULL, '[');
		json_u64(reply, NULL, n);
		json_u64(reply, NULL, out);
		json_close(reply);
	}
	json_close(reply);
	return 0;
}

/* ---- routes over links ---- */

static bool is_host_port(const struct window *w, port_id p)
{
	const struct fab_port *fp = &w->fabric.fab->ports[p];

	return fp->num && !fab_is_switch(w->fabric.fab, fp->node) &&
	       window_lid_port(w, fp->node) == p && window_active_peer(w, p) != FAB_NONE &&
	       sim_port_info(w->run->sim, p)->lid;
}

/* Whether the switch or host at this port sends packets for this LID through it. */
static bool leads_out(const struct window *w, port_id p, node_id to, uint16_t lid)
{
	const struct fab_port *fp = &w->fabric.fab->ports[p];

	return fp->node != to && out_port(w, fp->node, fp->node, lid) == fp->num;
}

static bool passes(const struct window *w, node_id from, node_id to, uint16_t lid, port_id p)
{
	const struct fab_port *fp = &w->fabric.fab->ports[p];
	struct path x;

	follow(w, from, to, lid, &x);
	for (unsigned i = 0; !x.ends && i < x.n; i++)
		if (x.hop[i].node == fp->node && x.hop[i].out == fp->num)
			return true;
	return false;
}

struct users {
	unsigned routes, nlids;
	uint16_t lids[USERS];
	struct {
		node_id from, to;
	} route[USERS];
};

/* Routes to this host that leave by p. */
static void find_users(const struct window *w, port_id p, port_id dest, struct users *u)
{
	const struct fab *f = w->fabric.fab;
	node_id to = f->ports[dest].node;
	uint16_t lid = sim_port_info(w->run->sim, dest)->lid;
	bool any = false;

	if (!leads_out(w, p, to, lid))
		return;
	for (port_id q = 0; q < f->nports && u->routes < USERS; q++)
		if (is_host_port(w, q) && q != dest && passes(w, f->ports[q].node, to, lid, p)) {
			u->route[u->routes].from = f->ports[q].node;
			u->route[u->routes++].to = to;
			any = true;
		}
	if (any && u->nlids < USERS)
		u->lids[u->nlids++] = lid;
}

static void add_users(struct json *j, const struct users *u)
{
	json_open(j, "routes", '[');
	for (unsigned i = 0; i < u->routes; i++) {
		json_open(j, NULL, '[');
		json_u64(j, NULL, u->route[i].from);
		json_u64(j, NULL, u->route[i].to);
		json_close(j);
	}
	json_close(j);
	json_open(j, "lids", '[');
	for (unsigned i = 0; i < u->nlids; i++)
		json_u64(j, NULL, u->lids[i]);
	json_close(j);
}

/* In both directions of the link; with "direction": "out" only what leaves by the port. */
int window_cmd_users(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	const struct fab *f = w->fabric.fab;
	struct users *u;
	uint64_t *load;
	port_id p, q;

	if (!window_run_on(w, e) || window_arg_port(w, args, "port", &p, e))
		return -EINVAL;
	q = sim_port_peer(w->run->sim, p);
	u = mem_zalloc(sizeof(*u));
	load = mem_zarray(f->nports, sizeof(*load));
	lab_route_loads(w->run->lab, load);
	for (port_id d = 0; d < f->nports && u->routes < USERS; d++)
		if (is_host_port(w, d)) {
			find_users(w, p, d, u);
			if (q != FAB_NONE)
				find_users(w, q, d, u);
		}
	json_u64(reply, "count", load[p] + (q == FAB_NONE ? 0 : load[q]));
	add_users(reply, u);
	free(load);
	free(u);
	return 0;
}

int window_cmd_loads(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct window_out o = {0};
	uint64_t *load, most = 0;

	(void)args;
	if (!window_run_on(w, e))
		return -EINVAL;
	load = mem_zarray(w->fabric.fab->nports, sizeof(*load));
	lab_route_loads(w->run->lab, load);
	window_frame_begin(&o, WINDOW_LOADS);
	window_put_u32(&o, w->fabric.version);
	for (size_t i = 0; i < w->fabric.links.n; i++) {
		struct window_link l = w->fabric.links.at[i];

		window_put_u32(&o, (uint32_t)MIN(load[l.a], (uint64_t)UINT32_MAX));
		window_put_u32(&o, (uint32_t)MIN(load[l.b], (uint64_t)UINT32_MAX));
		most = MAX(most, MAX(load[l.a], load[l.b]));
	}
	window_frame_emit(w, &o);
	free(load);
	json_u64(reply, "busiest", most);
	return 0;
}
