/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that change GUIDs and LIDs of a node. State: the emulator's copy of the fabric. Way in:
 * the con_* tables. Does not notify clients.
 */
#include "emu/console.h"

/* ---- guid ---- */

static int guid_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	const struct line_word *w = &l->at[2];

	if (names_target(m->fab, &l->at[1], NAMES_ANY, &op->a, e))
		return -EINVAL;
	if (w->port >= 0 || parse_u64(w->text, &op->n) || !op->n)
		return err_set(e, -EINVAL,
			       "expected a GUID such as 0x2c9000100000005, found '%.40s'", w->from);
	return 0;
}

static int guid_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	struct fab_node *n = &m->fab->nodes[op->a.node];
	node_id other = fab_node_by_guid(m->fab, op->n);
	struct names_buf b;

	if (op->a.port > 0 && n->type != IBA_NODE_SWITCH) {
		m->fab->ports[n->first_port + (unsigned)op->a.port].guid = op->n;
		return 0;
	}
	if (other != FAB_NONE && other != op->a.node && m->fab->nodes[other].guid == op->n)
		return con_refuse(out, "%s already has this GUID", names_node(m->fab, other, &b));
	/* The node keeps the netlist's id, which contains the old GUID. */
	n->guid = op->n;
	map64_put(&m->fab->by_guid, n->guid, op->a.node);
	if (n->type == IBA_NODE_SWITCH)
		m->fab->ports[n->first_port].guid = op->n;
	return 0;
}

const struct emu_cmd con_guid = {
	"Guid",	    "NODE|PORT GUID", "change the GUID of a node, or of a host's port", 2, 2,
	guid_parse, guid_run};

/* ---- baselid ---- */

static int baselid_parse(const struct emu *m, const struct line *l, struct emu_op *op,
			 struct err *e)
{
	if (names_target(m->fab, &l->at[1], NAMES_PORT, &op->a, e) ||
	    con_number(&l->at[2], IBA_LID_MAX_UNICAST, "a LID", &op->n, e))
		return -EINVAL;
	if (fab_is_switch(m->fab, op->a.node) && op->a.port)
		return err_set(e, -EINVAL, "expected port 0: only port 0 of a switch has a LID");
	return l->n > 3 ? con_number(&l->at[3], 7, "an LMC", &op->m, e) : 0;
}

static int baselid_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	port_id p = fab_port_id(m->fab, op->a.node, (unsigned)op->a.port);
	uint8_t data[IBA_SMP_DATA_SIZE] = {0};
	struct iba_port_info pi;

	if (!emu_ask(m, p, IBA_GET, IBA_ATTR_PORT_INFO, 0, data))
		return con_refuse(out, "no response from the node");
	iba_port_info_get(&pi, data, sizeof(data));
	pi.lid = (uint16_t)op->n;
	pi.lmc = (uint8_t)op->m;
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	iba_port_info_put(&pi, data);
	if (!emu_ask(m, p, IBA_SET, IBA_ATTR_PORT_INFO, 0, data))
		return con_refuse(out, "the node refused the Set(PortInfo)");
	return 0;
}

const struct emu_cmd con_baselid = {
	"Baselid",     "PORT LID [LMC]", "change a port's LID, as an SM would", 2, 3,
	baselid_parse, baselid_run};
