/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of nodes, and ClassPortInfo. No state. A CA or router has a NodeRecord for each of its ports with a LID, a switch
 * has one (IBA 15.2.5.2).
 */
#include "sa/sa_priv.h"

void sa_class_port_info(struct sa *sa, const struct sa_request *q UNUSED, struct sa_answer *a)
{
	struct iba_class_port_info c = {.base_version = 1,
					.class_version = IBA_SA_CLASS_VERSION,
					.resp_time = (uint8_t)sa->cfg.resp_time};

	iba_class_port_info_put(&c, sa_record(a));
}

static void node_record(const struct sa_view *v, node_id n, port_id p, uint8_t *out)
{
	const struct fab *f = v->fab;
	struct iba_sa_node r = {.lid = f->ports[p].lid, .node_guid = f->nodes[n].guid};
	struct iba_node_info ni = {0};

	if (sm_node_info(v->sm, f->nodes[n].guid, &ni)) {
		r.base_version = ni.base_version;
		r.class_version = ni.class_version;
		r.partition_cap = ni.partition_cap;
		r.device_id = ni.device_id;
		r.revision = ni.revision;
		r.vendor_id = ni.vendor_id;
	}
	r.node_type = f->nodes[n].type;
	r.num_ports = f->nodes[n].nports;
	r.sys_guid = f->nodes[n].sys_guid;
	r.port_guid = f->ports[p].guid;
	r.local_port = f->ports[p].num;
	strncpy((char *)r.desc, sm_node_desc(v->sm, f->nodes[n].guid), sizeof(r.desc) - 1);
	iba_sa_node_put(&r, out);
}

static void node(const struct sa_view *v, const struct sa_request *q, struct sa_answer *a,
		 node_id n)
{
	port_id p;

	for (unsigned k = 0; (p = sa_linked_port(v, n, k)) != FAB_NONE; k++) {
		node_record(v, n, p, sa_record(a));
		sa_record_match(a, q, 0);
	}
}

void sa_nodes(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct iba_sa_node ask;

	iba_sa_node_get(&ask, q->query, IBA_SA_DATA_SIZE);
	if (sa_asks(q, node, lid)) { /* one node at most */
		port_id p = sa_port_by_lid(v, ask.lid);

		if (p != FAB_NONE)
			node(v, q, a, v->fab->ports[p].node);
		return;
	}
	for (node_id n = 0; n < v->fab->nnodes; n++)
		node(v, q, a, n);
}
