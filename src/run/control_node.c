/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show what the manager knows of one node, and forwarding tables: node, tables, tree, counters. State: none. Ways
 * in: the table of control_commands.c. Responses are bounded, whatever the subnet's size. Only counters are asked of the device:
 * counter_orders.c does.
 */
#include "run/control_priv.h"

/* ---- tables as text: two hexadecimal digits for each entry ---- */

static void hex_add(struct strbuf *out, uint8_t v)
{
	const char two[2] = {"0123456789abcdef"[v >> 4], "0123456789abcdef"[v & 15]};

	strbuf_addn(out, two, 2);
}

/* By LID from 0. */
static void table_member(struct json *j, const char *key, const struct rt_tables *t, uint32_t sw)
{
	struct strbuf text = {0};

	strbuf_add(&text, "\"");
	for (uint32_t lid = 0; lid <= t->top_lid; lid++)
		hex_add(&text, view_entry(t, sw, (uint16_t)lid));
	strbuf_add(&text, "\"");
	json_raw(j, key, text.s);
	strbuf_free(&text);
}

static int tables_of(const struct ctl_ask *a, const struct fab *f, const struct rt_tables **t,
		     struct err *e)
{
	*t = sm_tables(a->v->sm);
	return *t && (*t)->nswitches == f->nswitches
		       ? 0
		       : err_set(e, -EAGAIN, "there are no forwarding tables yet");
}

int ctl_tables(const struct ctl_ask *a, struct json *j, struct err *e)
{
	uint64_t first = a->number[0] == UINT64_MAX ? 0 : a->number[0], count;
	const struct rt_tables *t;
	const struct fab *f;

	if (ctl_subnet(a, &f, e) || tables_of(a, f, &t, e))
		return -EINVAL;
	if (ctl_busy(a, a->number[2], j))
		return 0;
	if (first >= t->nswitches)
		return err_set(e, -EINVAL, "'first': expected less than %u switches", t->nswitches);
	count = MIN(a->number[1], MAX(1u, CTL_PART_ENTRIES / (t->top_lid + 1)));
	count = MIN(count, t->nswitches - first);
	ctl_version(a, j);
	json_u64(j, "switches", t->nswitches);
	json_u64(j, "top_lid", t->top_lid);
	json_u64(j, "first", first);
	json_open(j, "tables", '[');
	for (uint64_t s = first; s < first + count; s++)
		table_member(j, NULL, t, (uint32_t)s);
	json_close(j);
	return 0;
}

int ctl_tree(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct rt_tables *t;
	const struct fab *f;
	struct strbuf text = {0};
	uint16_t lid;
	port_id to;

	if (ctl_subnet(a, &f, e) || tables_of(a, f, &t, e) ||
	    view_find(a->v->sm, a->text[0], &to, e))
		return -EINVAL;
	lid = ctl_lid_named(f, to, a->text[0]);
	if (!lid)
		return err_set(e, -EINVAL, "'%.80s' has no LID", a->text[0]);
	ctl_version(a, j);
	ctl_node_members(j, a, f, f->ports[to].node);
	json_u64(j, "lid", lid);
	for (uint32_t s = 0; s < t->nswitches; s++)
		hex_add(&text, view_entry(t, s, lid));
	json_str(j, "out", text.len ? text.s : "");
	strbuf_free(&text);
	return 0;
}

/* ---- a node ---- */

/* All fields of an attribute, in the order of the wire. */
static void fields_member(struct json *j, const char *stem, const void *host)
{
	const struct iba_layout *l = iba_layout_by_name(stem);
	struct strbuf text = {0};

	json_open(j, "fields", '[');
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];

		text.len = 0;
		for (unsigned k = 0; k < f->count; k++) {
			strbuf_add(&text, k ? " " : "");
			iba_field_text(&text, f, iba_field_value(f, host, k));
		}
		json_pair(j, f->name, text.s);
	}
	json_close(j);
	strbuf_free(&text);
}

static void group(struct json *j, const char *name, const char *stem, const void *host)
{
	json_open(j, NULL, '{');
	json_str(j, "name", name);
	fields_member(j, stem, host);
	json_close(j);
}

/* What the manager keeps of it. */
static void node_info_group(struct json *j, const struct iba_node_info *ni)
{
	char text[64];

	json_open(j, NULL, '{');
	json_str(j, "name", "NodeInfo");
	json_open(j, "fields", '[');
	snprintf(text, sizeof(text), "%u (%s)", ni->node_type, iba_node_type_name(ni->node_type));
	json_pair(j, "node_type", text);
	json_pair_u64(j, "num_ports", ni->num_ports);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)ni->sys_guid);
	json_pair(j, "sys_guid", text);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)ni->node_guid);
	json_pair(j, "node_guid", text);
	snprintf(text, sizeof(text), "0x%04x", ni->device_id);
	json_pair(j, "device_id", text);
	snprintf(text, sizeof(text), "0x%06x", (unsigned)ni->vendor_id);
	json_pair(j, "vendor_id", text);
	json_close(j);
	json_close(j);
}

/* Keys are not shown at the control socket. */
static void port_members(struct json *j, const struct iba_port_info *pi)
{
	struct iba_port_info shown = *pi;

	shown.m_key = 0;
	ctl_state_members(j, pi);
	fields_member(j, "port_info", &shown);
}

int ctl_node(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct rt_tables *t = NULL;
	struct iba_switch_info si;
	struct iba_node_info ni;
	const struct fab *f;
	port_id one;
	node_id n;

	if (ctl_subnet(a, &f, e) || view_find(a->v->sm, a->text[0], &one, e))
		return -EINVAL;
	n = f->ports[one].node;
	ctl_version(a, j);
	ctl_node_members(j, a, f, n);
	json_str(j, "type", view_type(f, n));
	json_u64(j, "lid", ctl_lid_of(f, one));
	json_u64(j, "lmc", f->ports[one].lmc);
	json_open(j, "groups", '[');
	if (sm_node_info(a->v->sm, f->nodes[n].guid, &ni))
		node_info_group(j, &ni);
	if (sm_switch_info(a->v->sm, f->nodes[n].guid, &si))
		group(j, "SwitchInfo", "switch_info", &si);
	json_close(j);
	json_open(j, "ports", '[');
	for (unsigned i = fab_is_switch(f, n) ? 0 : 1; i <= f->nodes[n].nports; i++)
		ctl_port_row(j, a, f, fab_port_id(f, n, i), port_members);
	json_close(j);
	if (fab_is_switch(f, n) && !tables_of(a, f, &t, e))
		table_member(j, "table", t, f->switch_index[n]);
	return 0;
}

/* ---- counters ---- */

int ctl_counters(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	struct run_counter_ask ask = {0};
	struct sm_status st;
	const struct fab *f;
	port_id one;
	node_id n;

	if (ctl_subnet(a, &f, e) || view_find(a->v->sm, a->text[0], &one, e))
		return -EINVAL;
	n = f->ports[one].node;
	if (a->number[1] != UINT64_MAX && (!a->number[1] || a->number[1] > f->nodes[n].nports))
		return err_set(e, -EINVAL, "'port': expected 1 to %u", f->nodes[n].nports);
	sm_status(a->v->sm, &st);
	ask.guid = f->nodes[n].guid;
	ask.slid = st.lid;
	ask.dlid = ctl_lid_of(f, one);
	snprintf(ask.name, sizeof(ask.name), "%s", view_name(a->v->sm, f, n));
	for (unsigned i = 1; i <= f->nodes[n].nports && ask.nports < ARRAY_LEN(ask.ports); i++)
		if (a->number[1] == UINT64_MAX ? f->ports[fab_port_id(f, n, i)].peer != FAB_NONE
					       : a->number[1] == i)
			ask.ports[ask.nports++] = (uint8_t)i;
	if (!ask.slid || !ask.dlid)
		return err_set(e, -EINVAL, "the manager or this node has no LID yet");
	return a->o->counters ? a->o->counters(a->o->ctx, &ask, e)
			      : err_set(e, -EINVAL, "counters cannot be read here");
}
