/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands about cables and power. State: to which port each port was connected before it was
 * unlinked. Way in: the con_* tables. Does not notify the SM: the nodes do, by their traps.
 */
#include "emu/console.h"

/* Between a vSwitch and its functions there is no cable. */
static bool is_inside(const struct emu *m, node_id n, int port)
{
	return m->fab->nodes[n].flags & FAB_FUNCTION ||
	       (m->fab->nodes[n].flags & FAB_VSWITCH && port >= FAB_SLOT0_PORT);
}

static int need_link_port(const struct emu *m, const struct target *t, struct err *e)
{
	struct names_buf b;

	if (is_inside(m, t->node, t->port))
		return err_set(e, -EINVAL, "expected a cable, found a link inside the HCA %s",
			       names_node(m->fab, t->node, &b));
	if (t->port)
		return 0;
	return err_set(e, -EINVAL, "port 0 of %s has no link", names_node(m->fab, t->node, &b));
}

/* ---- link ---- */

static int link_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	if (names_target(m->fab, &l->at[1], NAMES_PORT, &op->a, e) ||
	    names_target(m->fab, &l->at[2], NAMES_PORT, &op->b, e) ||
	    need_link_port(m, &op->a, e) || need_link_port(m, &op->b, e))
		return -EINVAL;
	if (op->a.node == op->b.node && op->a.port == op->b.port)
		return err_set(e, -EINVAL, "expected two ports, found one twice");
	return 0;
}

static int connect_ports(struct emu *m, port_id a, port_id b, struct strbuf *out)
{
	struct names_buf name;

	if (sim_port_peer(m->sim, a) != FAB_NONE)
		return con_refuse(out, "%s is linked already", names_port(m->fab, a, &name));
	if (sim_port_peer(m->sim, b) != FAB_NONE)
		return con_refuse(out, "%s is linked already", names_port(m->fab, b, &name));
	sim_cable(m->sim, a, b);
	m->before[a] = m->before[b] = FAB_NONE;
	return 0;
}

static int link_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	return connect_ports(m, fab_port_id(m->fab, op->a.node, (unsigned)op->a.port),
			     fab_port_id(m->fab, op->b.node, (unsigned)op->b.port), out);
}

const struct emu_cmd con_link = {"Link",     "PORT PORT", "connect two ports", 2, 2,
				 link_parse, link_run};

/* ---- unlink and relink ---- */

static int cable_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	if (names_target(m->fab, &l->at[1], NAMES_ANY, &op->a, e))
		return -EINVAL;
	return need_link_port(m, &op->a, e);
}

static int relink_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	return con_is_all(&l->at[1]) ? 0 : cable_parse(m, l, op, e);
}

static bool cut(struct emu *m, port_id p)
{
	port_id q = sim_port_peer(m->sim, p);

	if (q == FAB_NONE || is_inside(m, m->fab->ports[p].node, m->fab->ports[p].num))
		return false;
	m->before[p] = q;
	m->before[q] = p;
	sim_uncable(m->sim, p);
	return true;
}

/* Calls fn for every port of the target, in order. Returns how often it returned true. */
static unsigned each_port(struct emu *m, const struct target *t,
			  bool (*fn)(struct emu *m, port_id p))
{
	unsigned first = t->port >= 0 ? (unsigned)t->port : 1;
	unsigned last = t->port >= 0 ? (unsigned)t->port : m->fab->nodes[t->node].nports;
	unsigned n = 0;

	for (unsigned i = first; i <= last; i++)
		n += fn(m, fab_port_id(m->fab, t->node, i));
	return n;
}

static int unlink_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	struct names_buf b;

	if (each_port(m, &op->a, cut) || op->a.port < 0)
		return 0;
	return con_refuse(
		out, "%s is not linked",
		names_port(m->fab, fab_port_id(m->fab, op->a.node, (unsigned)op->a.port), &b));
}

const struct emu_cmd con_unlink = {"Unlink", "LINK",	  "remove the cable", 1,
				   1,	     cable_parse, unlink_run};

static bool restore(struct emu *m, port_id p)
{
	struct strbuf ignored = {0};
	bool done = m->before[p] != FAB_NONE && !connect_ports(m, p, m->before[p], &ignored);

	strbuf_free(&ignored);
	return done;
}

static int relink_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	struct names_buf b;
	port_id p;

	if (op->a.node == FAB_NONE) {
		for (p = 0; p < m->fab->nports; p++)
			restore(m, p);
		return 0;
	}
	if (op->a.port < 0) {
		each_port(m, &op->a, restore);
		return 0;
	}
	p = fab_port_id(m->fab, op->a.node, (unsigned)op->a.port);
	if (m->before[p] == FAB_NONE)
		return con_refuse(out, "%s was not unlinked", names_port(m->fab, p, &b));
	return connect_ports(m, p, m->before[p], out);
}

const struct emu_cmd con_relink = {"ReLink",  "LINK|all", "restore the cable that unlink removed",
				   1,	      1,	  relink_parse,
				   relink_run};

/* ---- clear ---- */

static bool forget(struct emu *m, port_id p)
{
	const struct sim_link_fault none = {0};

	cut(m, p);
	sim_set_link_fault(m->sim, p, &none);
	for (unsigned c = 0; c < SIM_NCOUNTERS; c++)
		sim_count_set(m->sim, p, (enum sim_counter)c, 0);
	return true;
}

static int clear_run(struct emu *m, const struct emu_op *op, struct strbuf *out UNUSED)
{
	each_port(m, &op->a, forget);
	if (op->a.port < 0 && sim_node_on(m->sim, op->a.node)) {
		sim_node_power(m->sim, op->a.node, false);
		sim_node_power(m->sim, op->a.node, true);
	}
	return 0;
}

const struct emu_cmd con_clear = {
	"Clear",     "LINK",   "unlink; a whole node also loses its configuration", 1, 1,
	cable_parse, clear_run};

/* ---- off and on ---- */

static int node_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	return names_target(m->fab, &l->at[1], NAMES_NODE, &op->a, e);
}

static int power(struct emu *m, node_id n, bool on, struct strbuf *out)
{
	struct names_buf b;

	if (sim_node_on(m->sim, n) == on)
		return con_refuse(out, "%s is %s already", names_node(m->fab, n, &b),
				  on ? "on" : "off");
	sim_node_power(m->sim, n, on);
	return 0;
}

static int off_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	return power(m, op->a.node, false, out);
}

static int on_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	return power(m, op->a.node, true, out);
}

const struct emu_cmd con_off = {
	"off", "NODE", "power off; the node loses its configuration", 1, 1, node_parse, off_run};
const struct emu_cmd con_on = {"on", "NODE", "power on", 1, 1, node_parse, on_run};
