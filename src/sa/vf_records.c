/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual functions behind vSwitches as records show them: CAs with one port each. No state. NodeInfo and PortInfo are those of
 * the HCA with what is different, since functions follow their HCA. Which requests ask for them: the files of the records.
 */
#include "sa/records.h"

const struct sa_end *sa_vf_at(const struct sa_view *v, port_id p, uint32_t k)
{
	const struct sa_end *e = sa_end_by_lid(v, v->fab->ports[p].lid);
	size_t at = e ? (size_t)(e - v->ends.at) + 1 + k : v->ends.n;

	return at < v->ends.n && v->ends.at[at].port == p && v->ends.at[at].slot ? &v->ends.at[at]
										 : NULL;
}

void sa_vf_node(const struct sa_view *v, const struct sa_end *e, struct iba_sa_node *r)
{
	const struct fab_node *hca = &v->fab->nodes[v->fab->ports[e->port].node];
	const char *name = sm_node_desc(v->sm, hca->guid);
	char desc[sizeof(r->desc) + 1] = "";

	r->lid = e->lid;
	r->node_guid = fab_function_guid(hca->guid, e->slot);
	r->port_guid = e->guid;
	r->device_id = IBA_DEVICE_FUNCTION;
	if (*name)
		snprintf(desc, sizeof(desc), "%.56s VF%u", name, e->slot);
	memcpy(r->desc, desc, sizeof(r->desc));
}

bool sa_vf_port(const struct sa_view *v, const struct sa_end *e, struct iba_port_info *pi)
{
	if (!sa_port_info(v, e->port, pi))
		return false;
	pi->lid = e->lid;
	pi->lmc = 0;
	pi->local_port = 1;
	pi->cap_mask &= ~(uint32_t)IBA_CAP_IS_SM;
	return true;
}
