/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of nodes, and ClassPortInfo. No state. A CA or router has a NodeRecord for each of its ports with a LID, a switch
 * has one (IBA 15.2.5.2). Also which nodes a request with a LID asks for.
 */
#include "sa/records.h"

/* ---- which nodes ---- */

struct sa_nodes_asked sa_nodes_with(const struct sa_view *v, bool asked, uint16_t lid)
{
	port_id p = asked ? sa_port_by_lid(v, lid) : FAB_NONE;

	if (!asked)
		return (struct sa_nodes_asked){0, v->fab->nnodes};
	if (p == FAB_NONE)
		return (struct sa_nodes_asked){0, 0};
	return (struct sa_nodes_asked){v->fab->ports[p].node, v->fab->ports[p].node + 1};
}

bool sa_port_has_lid(const struct sa_view *v, port_id endport, uint16_t lid)
{
	const struct fab_port *p = &v->fab->ports[endport];

	return p->lid && lid >= p->lid && lid < p->lid + (1u << p->lmc);
}

port_id sa_endport(const struct sa_view *v, port_id p)
{
	const struct fab_node *n = &v->fab->nodes[v->fab->ports[p].node];

	return n->type == IBA_NODE_SWITCH ? n->first_port : p;
}

/* ---- ClassPortInfo ---- */

/* CapabilityMask of this class (IBA 15.2.1.1), and CapabilityMask2. */
enum {
	CAP_OPTIONAL_RECORDS = 1 << 8,
	CAP_UD_MULTICAST = 1 << 9,
	CAP_MULTIPATH = 1 << 10,
	CAP_CAP_MASK_MATCH = 1 << 13,
	CAP2_MULTICAST_TOP = 1 << 3,
	CAP2_ALIAS_GUIDS = 1 << 5,
	CAP2_FULL_PORT_INFO = 1 << 6,
	CAP2_EXT_SPEEDS = 1 << 7,
	CAP2_CAP_MASK2_MATCH = 1 << 10,
	CAP2_WIDTH_2X = 1 << 12,
	CAP2_HDR = 1 << 13,
	CAP2_NDR = 1 << 15,
};
enum { GSI_QP = 1 };
#define GSI_QKEY 0x80010000u

static bool serves(uint16_t attr_id, enum sa_methods method)
{
	for (const struct sa_attribute *t = sa_attributes; t->attr_id; t++)
		if (t->attr_id == attr_id)
			return t->methods & method;
	return false;
}

void sa_class_port_info(struct sa *sa, const struct sa_request *q UNUSED, struct sa_answer *a)
{
	struct iba_class_port_info c = {.base_version = 1,
					.class_version = IBA_SA_CLASS_VERSION,
					.cap_mask = CAP_CAP_MASK_MATCH,
					.cap_mask2 = CAP2_MULTICAST_TOP | CAP2_FULL_PORT_INFO |
						     CAP2_EXT_SPEEDS | CAP2_CAP_MASK2_MATCH |
						     CAP2_WIDTH_2X | CAP2_HDR | CAP2_NDR,
					.resp_time = (uint8_t)sa->cfg.resp_time,
					.redirect_qp = GSI_QP,
					.redirect_qkey = GSI_QKEY,
					.trap_qkey = GSI_QKEY};

	if (serves(IBA_SA_TRACE, SA_TRACE))
		c.cap_mask |= CAP_OPTIONAL_RECORDS;
	if (serves(IBA_SA_MEMBER, SA_SET))
		c.cap_mask |= CAP_UD_MULTICAST;
	if (serves(IBA_SA_MULTIPATH, SA_MULTI))
		c.cap_mask |= CAP_MULTIPATH;
	if (serves(IBA_SA_GUID, SA_SET))
		c.cap_mask2 |= CAP2_ALIAS_GUIDS;
	iba_class_port_info_put(&c, sa_record(a));
}

/* ---- NodeRecord ---- */

/* vf: a VF behind the port; NULL: the port itself. */
static void node_record(const struct sa_view *v, node_id n, port_id p, const struct sa_end *vf,
			uint8_t *out)
{
	const struct fab *f = v->fab;
	struct iba_sa_node r = {.lid = f->ports[p].lid, .node_guid = f->nodes[n].guid};
	const char *name = sm_node_desc(v->sm, f->nodes[n].guid);
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
	memcpy(r.desc, name, MIN(strlen(name), sizeof(r.desc)));
	if (vf)
		sa_vf_node(v, vf, &r);
	iba_sa_node_put(&r, out);
}

/* LocalPortNum of a switch is the port by which it was asked: its record has none. */
static void node(struct sa *sa, const struct sa_request *q, const struct iba_sa_node *ask,
		 struct sa_answer *a, node_id n)
{
	const struct sa_view *v = &sa->view;
	const struct sa_end *e;
	port_id p;

	for (unsigned k = 0; (p = sa_linked_port(v, n, k)) != FAB_NONE; k++) {
		if ((!sa_asks(q, node, lid) || sa_port_has_lid(v, p, ask->lid)) &&
		    sa_may_see(sa, q, p)) {
			node_record(v, n, p, NULL, sa_record(a));
			sa_record_match(a, q, IBA_SA_BIT(node, lid));
		}
		for (uint32_t i = 0; (e = sa_vf_at(v, p, i)); i++) {
			if ((sa_asks(q, node, lid) && e->lid != ask->lid) ||
			    !sa_may_ask_of(sa, q, e))
				continue;
			node_record(v, n, p, e, sa_record(a));
			sa_record_match(a, q, IBA_SA_BIT(node, lid));
		}
	}
}

void sa_nodes(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_node ask;

	iba_sa_node_get(&ask, q->query, IBA_SA_DATA_SIZE);
	at = sa_nodes_with(v, sa_asks(q, node, lid), ask.lid);
	if (!sa_asks(q, node, lid) && sa_asks(q, node, node_guid)) { /* one node at most */
		node_id n = fab_node_by_guid(v->fab, ask.node_guid);

		if (n != FAB_NONE || !v->fab->nvlids) /* else perhaps a VF */
			at = (struct sa_nodes_asked){n, n == FAB_NONE ? n : n + 1};
	}
	for (node_id n = at.first; n < at.end; n++)
		node(sa, q, &ask, a, n);
}
