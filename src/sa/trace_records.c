/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceRecord: the nodes of one path, from its source to its destination, for who asks with a PathRecord by GetTraceTable
 * (IBA 15.2.5.19). No state. Node, chassis and port are shown by their GUIDs; external ports of a switch by that of its port 0.
 */
#include "sa/paths.h"

static void record(const struct sa *sa, node_id n, unsigned in, unsigned out, struct sa_answer *a)
{
	const struct fab *f = sa->view.fab;
	const struct fab_node *x = &f->nodes[n];
	unsigned entry = x->type == IBA_NODE_SWITCH ? 0 : in, leave = entry;
	struct iba_sa_trace r = {.gid_prefix = sa->cfg.prefix,
				 .generation = (uint16_t)sa->view.number,
				 .node_type = x->type,
				 .node_id = x->guid,
				 .chassis_id = x->sys_guid,
				 .entry_port = (uint8_t)in,
				 .exit_port = (uint8_t)out};

	if (x->type != IBA_NODE_SWITCH)
		leave = out;
	r.entry_port_id =
		in || x->type == IBA_NODE_SWITCH ? f->ports[x->first_port + entry].guid : 0;
	r.exit_port_id =
		out || x->type == IBA_NODE_SWITCH ? f->ports[x->first_port + leave].guid : 0;
	iba_sa_trace_put(&r, sa_record(a));
}

static void trace(const struct sa *sa, const struct sa_end *from, const struct sa_end *to,
		  uint16_t dlid, struct sa_answer *a)
{
	const struct fab *f = sa->view.fab;
	const struct fab_port *first = &f->ports[from->port], *last = &f->ports[to->port];
	struct sa_walk w;

	sa_walk_begin(&w, &sa->view, sm_tables_to_stand(sa->view.sm), from->port, to->port, dlid);
	if (!fab_is_switch(f, first->node) || w.step == SA_THERE)
		record(sa, first->node, 0, first->num, a);
	while (w.step == SA_ON) {
		node_id n = w.node;
		unsigned in = w.in;

		sa_walk_on(&w);
		if (w.step != SA_LOST)
			record(sa, n, in, w.out, a);
	}
	if (w.step == SA_THERE && from->port != to->port && last->num)
		record(sa, last->node, last->num, 0, a);
	if (w.step != SA_THERE)
		a->len = a->n = 0; /* a piece of a path is none */
}

void sa_trace_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct sa_path_ends e;
	struct iba_sa_path ask;
	uint16_t status, key;

	a->attr_id = IBA_SA_TRACE;
	a->size = iba_sa_layout(IBA_SA_TRACE)->table_size;
	if (!sa_paths_ready(sa, a))
		return;
	iba_sa_path_get(&ask, q->query, IBA_SA_DATA_SIZE);
	status = sa_path_ends(sa, q, &ask, &e);
	if (!status && (!e.from || !e.to))
		status = IBA_SA_FEW_COMPONENTS;
	if (!status &&
	    ((sa_asks(q, path, pkey) && !ask.pkey) ||
	     !sa_ends_share(sa, e.from, e.to, sa_asks(q, path, pkey) ? ask.pkey : 0, &key)))
		status = IBA_SA_NO_RECORDS;
	if (status)
		a->status = status;
	else
		trace(sa, e.from, e.to, sa_asks(q, path, dlid) ? ask.dlid : e.to->lid, a);
}
