/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quality of the routes that the simulated devices hold now, and who computed them. State: none. Way in: the command
 * quality. Blocks for a second or so on large fabrics; the run is left alone.
 */
#include "window/quality_reply.h"
#include "window/window_priv.h"

/* The fabric as data packets find it: Active links, LIDs of the devices. Nodes and ports keep their numbers. */
static struct fab *active_fabric(const struct window *w)
{
	const struct fab *f = w->fabric.fab;
	const struct sim *s = w->run->sim;
	struct fab_builder *b = fab_builder_from(f);

	fab_builder_drop_vlids(b);
	for (port_id p = 0; p < f->nports; p++) {
		struct fab_port *port = fab_builder_port(b, f->ports[p].node, f->ports[p].num);
		const struct iba_port_info *pi = sim_port_info(s, p);
		bool has_lid = fab_is_switch(f, port->node) ? !port->num : port->num != 0;

		port->peer = port->num ? window_active_peer(w, p) : FAB_NONE;
		port->lid = has_lid && sim_node_on(s, port->node) ? pi->lid : 0;
		port->lmc = port->lid ? pi->lmc : 0;
	}
	return fab_build(b);
}

static uint8_t *read_tables(const struct window *w, const struct fab *f, uint32_t top)
{
	uint8_t *out = mem_array(f->nswitches, (size_t)top + 1);

	memset(out, IBA_PORT_NONE, f->nswitches * ((size_t)top + 1));
	for (uint32_t i = 0; i < f->nswitches; i++) {
		node_id n = f->switches[i];
		uint8_t *row = out + i * ((size_t)top + 1);

		for (uint32_t lid = 1; lid <= top && sim_node_on(w->run->sim, n); lid++) {
			unsigned port = sim_route(w->run->sim, n, (uint16_t)lid);

			row[lid] = (uint8_t)(port <= f->nodes[n].nports ? port : IBA_PORT_NONE);
		}
	}
	return out;
}

/* The master's: which engine its routes come from, and how many lanes they use. */
static void add_engine(const struct window *w, struct json *reply)
{
	for (unsigned i = 0; i < lab_managers(w->run->lab); i++) {
		const struct sm *sm = lab_manager_sm(w->run->lab, i);
		const struct sm_mechanism *m = &lab_manager_cfg(w->run->lab, i)->mechanism;
		const struct rt_tables *t = sm ? sm_tables(sm) : NULL;

		if (!t || !lab_manager_is_master(w->run->lab, i))
			continue;
		json_u64(reply, "manager", i);
		json_str(reply, "mechanism", m->name);
		/* What only updates routes continues those of FERa. */
		json_str(reply, "engine", m->routes->engine ? m->routes->name : "fera");
		json_bool(reply, "instead", w->run->other_engine & 1u << i);
		json_u64(reply, "lanes", rt_nvls(t));
		return;
	}
	json_none(reply, "engine");
}

static uint32_t link_of(void *ctx, port_id p)
{
	return ((struct window *)ctx)->fabric.link_of[p];
}

static uint32_t same_node(void *ctx, node_id n)
{
	(void)ctx;
	return n;
}

int window_cmd_quality(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct quality_places where = {link_of, same_node, w};
	struct json members = {.line = true};
	struct quality_tables t = {0};
	struct fab *f;
	uint8_t *out;
	int rc;

	(void)args;
	if (!window_run_on(w, e))
		return -EINVAL;
	f = active_fabric(w);
	t.nswitches = f->nswitches;
	t.top_lid = fab_top_lid(f);
	t.stride = (size_t)t.top_lid + 1;
	t.out = out = read_tables(w, f, t.top_lid);
	json_open(&members, NULL, '{');
	rc = quality_reply(f, &t, &where, &members, e);
	add_engine(w, &members);
	json_close(&members);
	if (!rc)
		json_raw(reply, "quality", members.out.s);
	json_free(&members);
	free(out);
	fab_free(f);
	return rc ? -EINVAL : 0;
}
