/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that show nodes and ports, the route between two LIDs, clients, figures. Keeps no state.
 * Way in: the con_* tables. Does not change the output of Dump, Route and Attached, which programs
 * parse, from ibsim's.
 */
#include "emu/console.h"
#include "sim/stats/sim_stats.h"

#include <time.h>

/* ---- dump ---- */

static const char *const type_words[] = {
	[IBA_NODE_CA] = "Ca", [IBA_NODE_SWITCH] = "Switch", [IBA_NODE_ROUTER] = "Rt"};

static void dump_tables(const struct emu *m, node_id n, struct strbuf *out)
{
	const struct iba_switch_info *si = sim_switch_info(m->sim, n);
	enum { ROW = 16 };

	strbuf_addf(out, "#\tlinearcap %u FDBtop %u portchange %u\n", si->linear_cap,
		    si->linear_top, si->port_state_change);
	for (unsigned lid = 0; si->linear_top && lid <= si->linear_top; lid += ROW) {
		unsigned last = MIN(lid + ROW - 1, (unsigned)si->linear_top);

		strbuf_addf(out, "#\tForwarding table %u-%u:", lid, last);
		for (unsigned i = lid; i <= last; i++)
			strbuf_addf(out, " [%u]%X", i, sim_lft(m->sim, n, i));
		strbuf_add(out, "\n");
	}
}

static void dump_fault(const struct emu *m, port_id p, struct strbuf *out)
{
	struct sim_link_fault t;

	sim_get_link_fault(m->sim, p, &t);
	if (t.loss_q32)
		strbuf_addf(out, "\t# loss %.4g%%", (double)t.loss_q32 / 42949672.96);
	if (t.loss_q32 && t.loss_attr)
		strbuf_addf(out, " of attribute %u", t.loss_attr);
	if (t.latency_ps)
		strbuf_addf(out, "\t# latency %.6g us", (double)t.latency_ps / 1e6);
	strbuf_add(out, "\n");
}

static const char *rate_word(const struct iba_port_info *pi)
{
	return pi->speed_ext_active ? iba_format_word(IBA_FMT_SPEED_EXT, pi->speed_ext_active)
				    : iba_format_word(IBA_FMT_SPEED, pi->speed_active);
}

static void dump_port(const struct emu *m, port_id p, struct strbuf *out)
{
	const struct fab_port *fp = &m->fab->ports[p];
	const struct iba_port_info *pi = sim_port_info(m->sim, p);
	port_id peer = sim_port_peer(m->sim, p);
	bool sw = fab_is_switch(m->fab, fp->node);
	uint64_t guid = sw ? m->fab->nodes[fp->node].guid : sim_port_guid(m->sim, p);
	struct names_buf b;

	strbuf_addf(out, "%llx\t[%u]\t%s", (unsigned long long)guid, fp->num,
		    !fp->num	       ? "\"Sma Port\"[0]"
		    : peer == FAB_NONE ? "\t"
				       : names_port(m->fab, peer, &b));
	strbuf_add(out, "\t");
	if (!fp->num || !sw)
		strbuf_addf(out, " lid %u lmc %u smlid %u", pi->lid, pi->lmc, pi->sm_lid);
	if (fp->num && pi->state != IBA_PORT_DOWN)
		strbuf_addf(out, " %s %s", iba_format_word(IBA_FMT_WIDTH, pi->width_active),
			    rate_word(pi));
	strbuf_addf(out, " %s/%s", iba_port_state_name(pi->state),
		    iba_format_word(IBA_FMT_PHYS_STATE, pi->phys_state));
	dump_fault(m, p, out);
}

static void dump_node(const struct emu *m, node_id n, struct strbuf *out)
{
	const struct fab_node *fn = &m->fab->nodes[n];
	struct names_buf b;

	strbuf_addf(out, "\n%s %u %s\tnodeguid %llx\tsysimgguid %llx\t# \"%s\"%s\n",
		    type_words[fn->type], fn->nports, names_node(m->fab, n, &b),
		    (unsigned long long)fn->guid, (unsigned long long)fn->sys_guid,
		    fab_node_name(m->fab, n), sim_node_on(m->sim, n) ? "" : " off");
	if (fn->type == IBA_NODE_SWITCH)
		dump_tables(m, n, out);
	for (unsigned p = fn->type == IBA_NODE_SWITCH ? 0 : 1; p <= fn->nports; p++)
		dump_port(m, fn->first_port + p, out);
}

static int dump_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	time_t now = time(NULL);
	unsigned n = 0;
	char when[32];

	strbuf_addf(out, "# Net status - %s", ctime_r(&now, when));
	for (node_id i = 0; i < m->fab->nnodes; i++) {
		if (op->a.node != FAB_NONE && op->a.node != i)
			continue;
		dump_node(m, i, out);
		n++;
	}
	strbuf_addf(out, "#  dumped %u nodes\n", n);
	return 0;
}

const struct emu_cmd con_dump = {"Dump",	   "[NODE]", "show nodes, ports and tables", 0, 1,
				 con_parse_target, dump_run};

/* ---- route ---- */

static bool lid_of(const struct emu *m, port_id p, uint64_t lid)
{
	const struct iba_port_info *pi = sim_port_info(m->sim, p);

	return pi->lid && (lid & ~((1ull << pi->lmc) - 1)) == pi->lid;
}

static port_id port_by_lid(const struct emu *m, uint64_t lid)
{
	for (port_id p = 0; p < m->fab->nports; p++)
		if ((!m->fab->ports[p].num || !fab_is_switch(m->fab, m->fab->ports[p].node)) &&
		    lid_of(m, p, lid))
			return p;
	return FAB_NONE;
}

static int lid_parse(const struct emu *m, const struct line_word *w, uint64_t *lid,
		     struct target *t, struct err *e)
{
	if (w->port < 0 && !parse_u64(w->text, lid) && *lid && *lid <= IBA_LID_MAX_UNICAST)
		return 0;
	*lid = 0;
	return names_target(m->fab, w, NAMES_ANY, t, e);
}

static int route_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	if (lid_parse(m, &l->at[1], &op->n, &op->a, e))
		return -EINVAL;
	return lid_parse(m, &l->at[2], &op->m, &op->b, e);
}

static uint64_t target_lid(const struct emu *m, const struct target *t)
{
	for (unsigned i = 0; i <= m->fab->nodes[t->node].nports; i++) {
		port_id p = fab_port_id(m->fab, t->node, i);

		if ((t->port < 0 || t->port == (int)i) && sim_port_info(m->sim, p)->lid)
			return sim_port_info(m->sim, p)->lid;
	}
	return 0;
}

/* One hop from the port `at`, over its link or through its switch; false, with the reason in
 * out, when there is none. */
static bool route_step(struct emu *m, uint64_t to, port_id *at, struct strbuf *out)
{
	node_id n = m->fab->ports[*at].node;
	unsigned hop = m->fab->ports[*at].num;
	struct names_buf b;
	port_id p;

	if (fab_is_switch(m->fab, n)) {
		hop = sim_route(m->sim, n, (uint16_t)to);
		if (!hop || hop > m->fab->nodes[n].nports)
			return con_refuse(
				       out,
				       "Bad forwarding table entry found at: node %s lid entry %llu is %u",
				       names_node(m->fab, n, &b), (unsigned long long)to, hop),
			       false;
	}
	p = fab_port_id(m->fab, n, hop);
	*at = sim_port_peer(m->sim, p);
	if (*at == FAB_NONE || sim_port_info(m->sim, p)->state != IBA_PORT_ACTIVE)
		return con_refuse(out, "Bad port state found: node %s port %u state %u",
				  names_node(m->fab, n, &b), hop, sim_port_info(m->sim, p)->state),
		       false;
	strbuf_addf(out, "[%u] -> %s\n", hop, names_port(m->fab, *at, &b));
	return true;
}

static void route_end(const struct emu *m, const char *word, port_id p, uint64_t lid,
		      struct strbuf *out)
{
	struct names_buf b;

	strbuf_addf(out, "%s node %s port %u lid %llu\n", word,
		    names_node(m->fab, m->fab->ports[p].node, &b), m->fab->ports[p].num,
		    (unsigned long long)lid);
}

static int route_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	uint64_t from = op->n ? op->n : target_lid(m, &op->a),
		 to = op->m ? op->m : target_lid(m, &op->b);
	port_id at = port_by_lid(m, from), end = port_by_lid(m, to);

	if (!from || !to || at == FAB_NONE || end == FAB_NONE)
		return con_refuse(out, "no port has the LID %llu",
				  (unsigned long long)(at == FAB_NONE ? from : to));
	route_end(m, "From", at, from, out);
	for (uint32_t hops = 0; m->fab->ports[at].node != m->fab->ports[end].node; hops++) {
		if (hops > m->fab->nswitches)
			return con_refuse(out, "no route found after %u hops", hops);
		if (!route_step(m, to, &at, out))
			return -EINVAL;
	}
	route_end(m, "To", end, to, out);
	return 0;
}

const struct emu_cmd con_route = {"Route",  "FROM TO", "show the route between two LIDs or nodes",
				  2,	    2,	       route_parse,
				  route_run};

/* ---- attached ---- */

static int attached_run(struct emu *m, const struct emu_op *op UNUSED, struct strbuf *out)
{
	struct names_buf b;

	for (uint32_t c = 0; c < m->cfg.clients; c++) {
		const struct emu_client *cl = &m->clients[c];

		if (!cl->used)
			continue;
		strbuf_addf(
			out,
			"Client %u: %s %u connected at %s, lid %u, in %llu out %llu lost %llu waiting %u%s\n",
			c, cl->udp ? "port" : "pid", cl->id, names_port(m->fab, cl->port, &b),
			sim_port_info(m->sim, cl->port)->lid, (unsigned long long)cl->mads_in,
			(unsigned long long)cl->mads_out, (unsigned long long)cl->lost,
			m->pend.client[c].n, cl->is_sm ? " SM" : "");
	}
	return 0;
}

const struct emu_cmd con_attached = {"Attached",	"",	     "list clients", 0, 0,
				     con_parse_nothing, attached_run};

/* ---- stat ---- */

static void stat_line(struct strbuf *out, const char *name, uint64_t v)
{
	strbuf_addf(out, "%-24s %llu\n", name, (unsigned long long)v);
}

static void stat_ports(const struct emu *m, struct strbuf *out)
{
	uint64_t states[8] = {0}, ordered = 0, orders = 0;

	for (port_id p = 0; p < m->fab->nports; p++) {
		if (m->fab->ports[p].num)
			states[sim_port_info(m->sim, p)->state & 7]++;
		if (m->fab->ports[p].num && sim_reregisters(m->sim, p)) {
			ordered++;
			orders += sim_reregisters(m->sim, p);
		}
	}
	for (unsigned s = IBA_PORT_DOWN; s <= IBA_PORT_ACTIVE; s++) {
		char name[32];

		snprintf(name, sizeof(name), "ports %s", iba_port_state_name(s));
		stat_line(out, name, states[s]);
	}
	stat_line(out, "hosts told to reregister", ordered);
	stat_line(out, "orders to reregister", orders);
}

static int stat_run(struct emu *m, const struct emu_op *op UNUSED, struct strbuf *out)
{
	const struct sim_stats *st = sim_stats(m->sim);
	uint64_t clients = 0;

	for (uint32_t c = 0; c < m->cfg.clients; c++)
		clients += m->clients[c].used;
	stat_line(out, "uptime ms", emu_now(m) / PS_PER_MS);
	stat_line(out, "clients", clients);
	stat_line(out, "MADs from clients", m->stats.mads_in);
	stat_line(out, "MADs to clients", m->stats.mads_out);
	stat_line(out, "requests pending", m->pend.n);
	stat_line(out, "requests repeated", m->stats.repeats);
	stat_line(out, "requests timed out", m->stats.timeouts);
	stat_line(out, "MADs dropped (client)", m->stats.lost);
	stat_line(out, "MADs without client", m->stats.unclaimed);
	stat_line(out, "bad packets", m->stats.bad_packets);
	stat_line(out, "traps", st->traps);
	stat_line(out, "links crossed", st->hops);
	stat_line(out, "MADs delivered", st->delivered);
	for (unsigned d = 0; d < SIM_NDROPS; d++) {
		char name[40];

		snprintf(name, sizeof(name), "dropped %s", sim_drop_name((enum sim_drop)d));
		if (st->dropped[d])
			stat_line(out, name, st->dropped[d]);
	}
	stat_ports(m, out);
	return 0;
}

const struct emu_cmd con_stat = {
	"stat", "", "figures of the fabric and the server", 0, 0, con_parse_nothing, stat_run};
