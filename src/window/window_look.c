/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that a device holds, and the manager on it. State: none. Way in: the commands node and find. Does not ask by
 * MAD: it reads the simulated devices.
 */
#include "window/window_priv.h"

/* ---- fields ---- */

/* All fields of an attribute, in the order of the wire. */
static void add_layout(struct json *j, const char *stem, const void *host)
{
	const struct iba_layout *l = iba_layout_by_name(stem);

	json_open(j, "fields", '[');
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];
		struct strbuf text = {0};

		for (unsigned k = 0; k < f->count; k++) {
			strbuf_add(&text, k ? " " : "");
			iba_field_text(&text, f, iba_field_value(f, host, k));
		}
		json_pair(j, f->name, text.s);
		strbuf_free(&text);
	}
	json_close(j);
}

static void add_group(struct json *j, const char *name, const char *stem, const void *host)
{
	json_open(j, NULL, '{');
	json_str(j, "name", name);
	add_layout(j, stem, host);
	json_close(j);
}

/* ---- a node ---- */

static void add_groups(struct json *j, const struct window *w, node_id n)
{
	const struct fab *f = w->fabric.fab;
	const struct fab_node *fn = &f->nodes[n];
	struct iba_node_info ni = {
		.base_version = 1,
		.class_version = 1,
		.node_type = fn->type,
		.num_ports = fn->nports,
		.sys_guid = fn->sys_guid,
		.node_guid = fn->guid,
		.port_guid = f->ports[fab_port_id(f, n, fab_is_switch(f, n) ? 0 : 1)].guid,
		.device_id = fn->device_id,
		.vendor_id = fn->vendor_id};

	json_open(j, "groups", '[');
	add_group(j, "NodeInfo", "node_info", &ni);
	if (w->run && fab_is_switch(f, n))
		add_group(j, "SwitchInfo", "switch_info", sim_switch_info(w->run->sim, n));
	json_close(j);
}

/* Properties that a netlist gives: 0: none. The switch of an HCA with virtual functions has a port for each, and two. */
static void add_given(struct json *j, const struct fab_node *n)
{
	json_open(j, "given", '{');
	json_u64(j, "vfs", n->flags & FAB_VSWITCH ? n->nports - FAB_SLOT0_PORT : n->vfs);
	json_u64(j, "linear", n->linear_cap);
	json_u64(j, "random", n->random_cap);
	json_u64(j, "mcast", n->mcast_cap);
	json_close(j);
}

static void add_index(struct json *j, const char *key, uint32_t v)
{
	if (v == FAB_NONE)
		json_none(j, key);
	else
		json_u64(j, key, v);
}

static void add_port_state(struct json *j, const struct sim *s, port_id p)
{
	const struct iba_port_info *pi = sim_port_info(s, p);
	const char *phys = iba_format_word(IBA_FMT_PHYS_STATE, pi->phys_state);

	json_str(j, "state", iba_port_state_name(pi->state));
	json_str(j, "phys", phys ? phys : "");
	json_u64(j, "lid", pi->lid);
	json_u64(j, "lmc", pi->lmc);
	add_layout(j, "port_info", pi);
}

static void add_port(struct json *j, const struct window *w, port_id p)
{
	const struct fab *f = w->fabric.fab;
	const struct fab_port *fp = &f->ports[p];
	port_id q = w->run ? sim_port_peer(w->run->sim, p) : fp->peer;

	json_open(j, NULL, '{');
	json_u64(j, "port", fp->num);
	json_u64(j, "width", fp->width ? fp->width : 4);
	json_str(j, "speed", fab_speed_name(fp->speed ? fp->speed : FAB_QDR));
	json_u64(j, "cable_cm", fp->cable_cm);
	add_index(j, "peer", q == FAB_NONE ? FAB_NONE : f->ports[q].node);
	add_index(j, "peer_port", q == FAB_NONE ? FAB_NONE : f->ports[q].num);
	add_index(j, "link", w->fabric.link_of[p]);
	if (w->run)
		add_port_state(j, w->run->sim, p);
	json_close(j);
}

/* The table of a switch as ranges of LIDs with one output port. */
static void add_table(struct json *j, const struct window *w, node_id n)
{
	const struct sim *s = w->run->sim;
	uint32_t top = MIN(sim_switch_info(s, n)->linear_top, (uint32_t)IBA_LID_MAX_UNICAST);

	json_open(j, "lft", '[');
	for (uint32_t lid = 1; lid <= top;) {
		uint32_t from = lid;
		unsigned port = sim_lft(s, n, lid);

		while (lid <= top && sim_lft(s, n, lid) == port)
			lid++;
		if (port == IBA_PORT_NONE)
			continue;
		json_open(j, NULL, '[');
		json_u64(j, NULL, from);
		json_u64(j, NULL, lid - 1);
		json_u64(j, NULL, port);
		json_close(j);
	}
	json_close(j);
}

static void add_manager_fields(struct json *j, const struct window_run *r, unsigned i)
{
	const struct sm_status *st = lab_manager_status(r->lab, i);
	uint64_t smps = 0;

	for (unsigned k = 0; k < SM_NPURPOSES; k++)
		smps += st->smps[k];
	json_open(j, "fields", '[');
	json_pair(j, "mechanism", lab_manager_cfg(r->lab, i)->mechanism.name);
	json_pair_u64(j, "rounds", st->rounds);
	json_pair_u64(j, "sweeps", st->sweeps);
	json_pair_u64(j, "SMPs sent", smps);
	json_pair_u64(j, "retries", st->retries);
	json_pair_u64(j, "timeouts", st->timeouts);
	json_pair_u64(j, "traps", st->traps);
	json_pair_u64(j, "nodes", st->nodes);
	json_pair_u64(j, "switches", st->switches);
	json_pair_u64(j, "LIDs", st->lids);
	json_pair(j, "change pending", st->change_pending ? "yes" : "no");
	json_close(j);
}

static void add_manager(struct json *j, const struct window *w, node_id n)
{
	const struct window_run *r = w->run;
	unsigned i = 0;

	while (r && i < lab_managers(r->lab) && lab_manager_node(r->lab, i) != n)
		i++;
	if (!r || i == lab_managers(r->lab)) {
		json_none(j, "manager");
		return;
	}
	json_open(j, "manager", '{');
	json_u64(j, "number", i);
	json_str(j, "state",
		 !lab_manager_sm(r->lab, i)
			 ? "stopped"
			 : iba_format_word(IBA_FMT_SM_STATE, lab_manager_status(r->lab, i)->state));
	json_str(j, "phase", sm_phase_name(lab_manager_status(r->lab, i)->phase));
	json_u64(j, "priority", lab_manager_cfg(r->lab, i)->priority);
	json_bool(j, "paused", lab_manager_paused(r->lab, i));
	add_manager_fields(j, r, i);
	json_close(j);
}

int window_cmd_node(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	const struct fab *f = w->fabric.fab;
	port_id p;
	node_id n;

	if (window_arg_node(w, args, window_arg_has(args, "guid") ? "guid" : "node", &n, e))
		return -EINVAL;
	p = window_lid_port(w, n);
	json_open(reply, "node", '{');
	json_u64(reply, "index", n);
	json_hex64(reply, "guid", f->nodes[n].guid);
	json_str(reply, "name", fab_node_name(f, n));
	json_str(reply, "type", iba_node_type_name(f->nodes[n].type));
	json_bool(reply, "on", w->run && sim_node_on(w->run->sim, n));
	json_u64(reply, "lid", w->run ? sim_port_info(w->run->sim, p)->lid : f->ports[p].lid);
	json_u64(reply, "lmc", w->run ? sim_port_info(w->run->sim, p)->lmc : f->ports[p].lmc);
	add_given(reply, &f->nodes[n]);
	add_groups(reply, w, n);
	json_open(reply, "ports", '[');
	for (unsigned i = !fab_is_switch(f, n); i <= f->nodes[n].nports; i++)
		add_port(reply, w, fab_port_id(f, n, i));
	json_close(reply);
	if (w->run && fab_is_switch(f, n))
		add_table(reply, w, n);
	add_manager(reply, w, n);
	json_close(reply);
	return 0;
}

int window_cmd_find(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	const char *text;
	uint64_t lid;

	if (!window_run_on(w, e) || window_arg_text(args, "text", &text, e))
		return -EINVAL;
	json_open(reply, "nodes", '[');
	if (!parse_u64(text, &lid) && lid && lid <= IBA_LID_MAX_UNICAST) {
		node_id n = window_node_of_lid(w, (uint16_t)lid);

		if (n != FAB_NONE)
			json_u64(reply, NULL, n);
	}
	json_close(reply);
	return 0;
}
