/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that set faults of links, and counters. Keeps no state: the simulation does. Way in: the
 * con_* tables. Does not check who uses the link.
 */
#include "emu/console.h"

#include <strings.h>

/* ---- loss and latency: of one link, or of all of a node ---- */

static int link_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	struct names_buf b;

	if (names_target(m->fab, &l->at[1], NAMES_ANY, &op->a, e))
		return -EINVAL;
	return op->a.port ? 0
			  : err_set(e, -EINVAL, "port 0 of %s has no link",
				    names_node(m->fab, op->a.node, &b));
}

static void fault_set(struct emu *m, const struct emu_op *op, bool loss)
{
	unsigned first = op->a.port >= 0 ? (unsigned)op->a.port : 1;
	unsigned last = op->a.port >= 0 ? (unsigned)op->a.port : m->fab->nodes[op->a.node].nports;

	for (unsigned i = first; i <= last; i++) {
		port_id p = fab_port_id(m->fab, op->a.node, i);
		struct sim_link_fault t;

		sim_get_link_fault(m->sim, p, &t);
		if (loss) {
			t.loss_q32 = op->share_q32;
			t.loss_attr = (uint16_t)op->m;
		} else {
			t.latency_ps = op->t;
		}
		sim_set_link_fault(m->sim, p, &t);
	}
}

static int loss_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	if (link_parse(m, l, op, e))
		return -EINVAL;
	if (l->at[2].port >= 0 || line_share(l->at[2].text, &op->share_q32))
		return err_set(e, -EINVAL, "expected a share such as 1%% or 0.01, found '%.40s'",
			       l->at[2].from);
	return 0;
}

static int loss_run(struct emu *m, const struct emu_op *op, struct strbuf *out UNUSED)
{
	fault_set(m, op, true);
	return 0;
}

const struct emu_cmd con_loss = {"loss",
				 "LINK SHARE",
				 "drop a share (1% or 0.01) of the packets, in each direction",
				 2,
				 2,
				 loss_parse,
				 loss_run};

static int latency_parse(const struct emu *m, const struct line *l, struct emu_op *op,
			 struct err *e)
{
	if (link_parse(m, l, op, e))
		return -EINVAL;
	if (l->at[2].port >= 0 || line_time(l->at[2].text, &op->t) || op->t > 60 * PS_PER_S)
		return err_set(e, -EINVAL,
			       "expected a time such as 5us, up to a minute, found '%.40s'",
			       l->at[2].from);
	return 0;
}

static int latency_run(struct emu *m, const struct emu_op *op, struct strbuf *out UNUSED)
{
	fault_set(m, op, false);
	return 0;
}

const struct emu_cmd con_latency = {
	"latency", "LINK TIME", "add latency, in each direction", 2, 2, latency_parse, latency_run};

/* ---- counters ---- */

static int find_counter(const char *name, size_t n, enum sim_counter *c, struct err *e)
{
	for (unsigned i = 0; i < SIM_NCOUNTERS; i++) {
		const char *full = sim_counter_name((enum sim_counter)i);

		if (!strncasecmp(full, name, n) && !full[n]) {
			*c = (enum sim_counter)i;
			return 0;
		}
	}
	return err_set(
		e, -EINVAL,
		"expected a counter such as SymbolErrorCounter or PortXmitDiscards, found '%.*s'",
		(int)MIN(n, (size_t)40), name);
}

static int counter_parse(const struct emu *m, const struct line *l, struct emu_op *op,
			 struct err *e)
{
	op->n = 1;
	if (names_target(m->fab, &l->at[1], NAMES_PORT, &op->a, e) ||
	    find_counter(l->at[2].text, strlen(l->at[2].text), &op->counter, e))
		return -EINVAL;
	return l->n > 3 ? con_number(&l->at[3], UINT64_MAX, "a number", &op->n, e) : 0;
}

static int counter_run(struct emu *m, const struct emu_op *op, struct strbuf *out UNUSED)
{
	sim_count(m->sim, fab_port_id(m->fab, op->a.node, (unsigned)op->a.port), op->counter,
		  op->n);
	return 0;
}

const struct emu_cmd con_counter = {
	"counter",     "PORT NAME [N]", "add N (default 1) to a counter of the port", 2, 3,
	counter_parse, counter_run};

static bool is_counters(const char *word, const char *dot)
{
	static const char *const names[] = {"PortCounters", "PortCountersExtended"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == (size_t)(dot - word) &&
		    !strncasecmp(names[i], word, strlen(names[i])))
			return true;
	return false;
}

/* PortCounters.SymbolErrorCounter=5, with or without blanks around the equals sign. */
static int perfset_parse(const struct emu *m, const struct line *l, struct emu_op *op,
			 struct err *e)
{
	const char *word = l->at[2].text, *dot = strchr(word, '.');
	char value[24];
	size_t n;

	if (names_target(m->fab, &l->at[1], NAMES_PORT, &op->a, e))
		return -EINVAL;
	if (!dot || !is_counters(word, dot))
		return err_set(
			e, -EINVAL,
			"expected PortCounters.NAME=N or PortCountersExtended.NAME=N, found '%.40s'",
			l->at[2].from);
	n = strcspn(dot + 1, "= ");
	if (find_counter(dot + 1, n, &op->counter, e))
		return -EINVAL;
	word = l->at[2].from + (dot + 1 + n - word);
	word += strspn(word, " \t");
	if (*word == '=')
		word += 1 + strspn(word + 1, " \t");
	else
		word = "";
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(word, " \t\r\n"), word);
	if (parse_u64(value, &op->n))
		return err_set(e, -EINVAL,
			       "expected = and a number after the counter's name, found '%.40s'",
			       word);
	return 0;
}

static int perfset_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	sim_count_set(m->sim, fab_port_id(m->fab, op->a.node, (unsigned)op->a.port), op->counter,
		      op->n);
	strbuf_addf(out, "%s has been set to %llu\n", sim_counter_name(op->counter),
		    (unsigned long long)op->n);
	return 0;
}

const struct emu_cmd con_perfset = {"PerformanceSet",
				    "PORT PortCounters.NAME=N",
				    "set a counter of the port",
				    2,
				    4,
				    perfset_parse,
				    perfset_run};

/* ---- agents of performance management ---- */

static int agent_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	op->a.node = FAB_NONE;
	if (strcmp(l->at[1].text, "all") && names_target(m->fab, &l->at[1], NAMES_NODE, &op->a, e))
		return -EINVAL;
	for (op->n = 0; op->n < SIM_NAGENTS; op->n++)
		if (!strcmp(l->at[2].text, sim_agent_name((enum sim_agent)op->n)))
			return 0;
	return err_set(e, -EINVAL, "expected wide, narrow, full or silent, found '%.40s'",
		       l->at[2].from);
}

static int agent_run(struct emu *m, const struct emu_op *op, struct strbuf *out UNUSED)
{
	node_id first = op->a.node == FAB_NONE ? 0 : op->a.node;
	node_id end = op->a.node == FAB_NONE ? m->fab->nnodes : first + 1;

	for (node_id n = first; n < end; n++)
		sim_set_agent(m->sim, n, (enum sim_agent)op->n);
	return 0;
}

const struct emu_cmd con_agent = {
	"agent",
	"NODE|all wide|narrow|full|silent",
	"counters that a node has: 64-bit ones, 32-bit ones alone, 64-bit ones of errors too; or no answer",
	2,
	2,
	agent_parse,
	agent_run};

/* ---- error: ibsim's error rate in percent, or a counter ---- */

static int error_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	uint64_t percent;

	if (l->at[2].text[0] && !strchr("0123456789", l->at[2].text[0]))
		return counter_parse(m, l, op, e);
	op->has_n = true; /* a rate */
	if (names_target(m->fab, &l->at[1], NAMES_ANY, &op->a, e) ||
	    con_number(&l->at[2], 100, "an error rate in percent", &percent, e))
		return -EINVAL;
	if (l->n > 3 && (con_number(&l->at[3], UINT16_MAX, "an attribute's number", &op->m, e)))
		return -EINVAL;
	op->share_q32 = (percent << 32) / 100;
	if (!op->a.port)
		op->a.port = -1; /* packets for port 0 arrive over every link */
	return 0;
}

static int error_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	if (!op->has_n)
		return counter_run(m, op, out);
	fault_set(m, op, true);
	return 0;
}

const struct emu_cmd con_error = {"Error",
				  "LINK PERCENT [ATTRIBUTE]",
				  "drop packets, or only MADs of one attribute; or as counter",
				  2,
				  3,
				  error_parse,
				  error_run};

/* ---- flow ---- */

enum { FLOW_BYTES = 2048 };

static int flow_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	op->m = FLOW_BYTES;
	if (names_target(m->fab, &l->at[1], NAMES_ANY, &op->a, e) ||
	    names_target(m->fab, &l->at[2], NAMES_ANY, &op->b, e) ||
	    con_number(&l->at[3], 1000000000000ull, "a number of packets", &op->n, e))
		return -EINVAL;
	return l->n > 4 ? con_number(&l->at[4], 4096 + 64, "a packet size in bytes", &op->m, e) : 0;
}

/* The port at which a node sends and receives: the one given, else the first with a LID. */
static port_id end_port(const struct emu *m, const struct target *t)
{
	if (fab_is_switch(m->fab, t->node))
		return fab_port_id(m->fab, t->node, 0);
	if (t->port > 0)
		return fab_port_id(m->fab, t->node, (unsigned)t->port);
	for (unsigned i = 1; i <= m->fab->nodes[t->node].nports; i++)
		if (sim_port_info(m->sim, fab_port_id(m->fab, t->node, i))->lid)
			return fab_port_id(m->fab, t->node, i);
	return fab_port_id(m->fab, t->node, 1);
}

static int flow_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	port_id from = end_port(m, &op->a), to = end_port(m, &op->b);
	uint16_t lid = sim_port_info(m->sim, to)->lid;
	struct names_buf b;
	int hops;

	if (!lid)
		return con_refuse(out, "%s has no LID", names_port(m->fab, to, &b));
	hops = sim_flow(m->sim, op->a.node, m->fab->ports[from].num, lid, op->n, (uint32_t)op->m);
	if (hops < 0)
		return con_refuse(out, "no route: packets would be discarded on the way");
	strbuf_addf(out, "%llu packets counted over %d links\n", (unsigned long long)op->n, hops);
	return 0;
}

const struct emu_cmd con_flow = {"flow",
				 "FROM TO PACKETS [BYTES]",
				 "count packets along the route without sending them",
				 3,
				 4,
				 flow_parse,
				 flow_run};
