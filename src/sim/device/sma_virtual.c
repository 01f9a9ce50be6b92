/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SMAs of an HCA in vSwitch mode answer beyond IBA: VFInfo, and PortInfo of the uplink with the
 * addresses of the HCA, as a CA has them. State: PortInfo of the vSwitch and of its functions. Way in: the
 * table in sma.c, and sma_port.c for PortInfo. Does not move packets: vswitch.c and table_lookup.c do.
 */
#include "sim/device/sma_priv.h"

static unsigned vf_count(const struct req *r)
{
	return req_node(r)->nports - FAB_SLOT0_PORT;
}

static struct vswitch *req_vswitch(const struct req *r)
{
	return r->s->nodes[r->n].vswitch;
}

static struct sim_port *function_port(const struct req *r, unsigned slot)
{
	return &r->s->ports[vswitch_function(r->s, r->n, slot)];
}

/* ---- VFInfo ---- */

unsigned sma_vf_info_get(struct req *r)
{
	struct iba_vf_info v = {.vfs = (uint8_t)vf_count(r)};

	if (!req_vswitch(r))
		return IBA_STATUS_BAD_METHOD_ATTR;
	if (!r->mod || r->mod > vf_count(r))
		return IBA_STATUS_BAD_FIELD;
	v.count = (uint8_t)MIN(vf_count(r) - r->mod + 1, (unsigned)IBA_VF_SLOTS);
	for (unsigned i = 0; i < v.count; i++) {
		port_id p = vswitch_function(r->s, r->n, r->mod + i);

		v.lid[i] = r->s->ports[p].pi.lid;
		v.guid[i] = sim_port_guid(r->s, p);
	}
	iba_vf_info_put(&v, r->out);
	return IBA_STATUS_OK;
}

static bool is_set(const struct req *r, const struct iba_vf_info *v, unsigned slot)
{
	return slot >= r->mod && slot < r->mod + v->count;
}

/* The GUID of a VF after the Set. */
static uint64_t guid_after(const struct req *r, const struct iba_vf_info *v, unsigned slot)
{
	port_id p = vswitch_function(r->s, r->n, slot);

	if (!is_set(r, v, slot))
		return sim_port_guid(r->s, p);
	return v->guid[slot - r->mod] ? v->guid[slot - r->mod]
				      : sim_function_guid(r->s, r->s->fab->ports[p].node);
}

/* No function of this HCA may keep or get the LID or the GUID of another one. */
static bool is_alone(const struct req *r, const struct iba_vf_info *v, unsigned slot)
{
	uint16_t lid = v->lid[slot - r->mod];

	if (lid_is_ours(&req_port(r, 0)->pi, lid))
		return false;
	for (unsigned i = 0; i <= vf_count(r); i++) {
		const struct iba_port_info *pi = &function_port(r, i)->pi;
		bool kept = !is_set(r, v, i);
		bool has_lid = kept ? pi->lid : v->lid[i - r->mod];

		if (i == slot || !has_lid)
			continue;
		if (kept ? lid_is_ours(pi, lid) : v->lid[i - r->mod] == lid)
			return false;
		if (guid_after(r, v, i) == guid_after(r, v, slot))
			return false;
	}
	return true;
}

static bool vf_info_ok(const struct req *r, const struct iba_vf_info *v)
{
	if (!r->mod || r->mod > vf_count(r) || !v->count || v->count > IBA_VF_SLOTS ||
	    v->count > vf_count(r) - r->mod + 1)
		return false;
	for (unsigned i = 0; i < v->count; i++)
		if (v->lid[i] > IBA_LID_MAX_UNICAST || (v->lid[i] && !is_alone(r, v, r->mod + i)))
			return false;
	return true;
}

static void vf_set(struct req *r, unsigned slot, uint16_t lid, uint64_t guid)
{
	port_id p = vswitch_function(r->s, r->n, slot);
	struct sim_port *f = &r->s->ports[p];
	bool other = f->pi.lid != lid || f->pi.lmc || f->vguid != guid;

	f->by_vswitch = true;
	f->vguid = guid;
	f->pi.lid = lid;
	f->pi.lmc = 0;
	if (other)
		sim_changed(r->s, r->s->fab->ports[p].node, SIM_CHANGED_PORT);
}

/* The data plane learns where virtual machines are now. */
static void vfs_tell(struct req *r, unsigned count)
{
	for (unsigned i = 0; r->s->net && i < count; i++) {
		port_id p = vswitch_function(r->s, r->n, r->mod + i);

		if (!r->s->ports[p].pi.lid)
			continue;
		r->s->net->function_set(r->s, p, sim_port_guid(r->s, p));
		if (r->s->ports[p].pi.state == IBA_PORT_ACTIVE)
			r->s->net->lid_set(r->s, p);
	}
}

unsigned sma_vf_info_set(struct req *r)
{
	struct iba_vf_info v;

	if (!req_vswitch(r))
		return IBA_STATUS_BAD_METHOD_ATTR;
	iba_vf_info_get(&v, r->in, IBA_SMP_DATA_SIZE);
	if (!vf_info_ok(r, &v))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned i = 0; i < v.count; i++)
		vf_set(r, r->mod + i, v.lid[i], v.guid[i]);
	vfs_tell(r, v.count);
	vswitch_sync(r->s, r->n);
	sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	return sma_vf_info_get(r);
}

/* ---- the linear table: it directs nothing, but tools read routes in it ---- */

static bool leads_inside(const struct req *r, unsigned port)
{
	return port >= FAB_SLOT0_PORT && port <= req_node(r)->nports;
}

/*
 * What was set, except where functions have another LID by now. Under a manager that knows vSwitches nothing is
 * set: then it is what the vSwitch does.
 */
uint8_t sma_vswitch_entry(const struct req *r, uint32_t lid)
{
	uint8_t set = sim_lft(r->s, r->n, lid), does;

	if (!lid || lid > IBA_LID_MAX_UNICAST)
		return set;
	does = (uint8_t)lid_route(r->s, r->n, (uint16_t)lid, true);
	if (req_vswitch(r)->shared || leads_inside(r, set) || leads_inside(r, does))
		return does;
	return set;
}

/* ---- PortInfo of the uplink: as that of a CA, once a manager has set it so ---- */

void sma_uplink_show(const struct req *r, struct iba_port_info *pi)
{
	const struct iba_port_info *own = &req_port(r, 0)->pi;

	pi->m_key = own->m_key;
	pi->m_key_protect = own->m_key_protect;
	pi->m_key_lease = own->m_key_lease;
	pi->m_key_violations = own->m_key_violations;
	pi->gid_prefix = own->gid_prefix;
	pi->subnet_timeout = own->subnet_timeout;
	pi->cap_mask |= (own->cap_mask | function_port(r, 0)->pi.cap_mask) & IBA_CAP_IS_SM;
	if (!req_vswitch(r)->shared)
		return; /* of an ordinary switch: its LID is at port 0 alone */
	pi->lid = own->lid;
	pi->lmc = own->lmc;
	pi->sm_lid = own->sm_lid;
	pi->sm_sl = own->sm_sl;
}

bool sma_uplink_ok(const struct req *r, const struct iba_port_info *v)
{
	unsigned last = v->lid + (1u << v->lmc) - 1;

	if (!v->lid)
		return true;
	if (v->lid > IBA_LID_MAX_UNICAST || v->lid & ((1u << v->lmc) - 1) ||
	    v->sm_lid > IBA_LID_MAX_UNICAST)
		return false;
	for (unsigned slot = 1; slot <= vf_count(r); slot++) {
		const struct iba_port_info *pi = &function_port(r, slot)->pi;

		if (pi->lid && pi->lid <= last && pi->lid + (1u << pi->lmc) - 1 >= v->lid)
			return false;
	}
	return true;
}

/*
 * The LID becomes that of the vSwitch and of the PF. A manager that knows only switches sends back what it
 * read: where it gave the PF a LID of its own meanwhile, that stays.
 */
void sma_uplink_take(struct req *r, const struct iba_port_info *v)
{
	struct sim_port *pf = function_port(r, 0);
	struct iba_port_info *own = &req_port(r, 0)->pi;

	if (!v->lid || (!req_vswitch(r)->shared && pf->pi.lid && own->lid == v->lid))
		return;
	sma_endport_take(own, v);
	req_vswitch(r)->shared = true;
	pf->by_vswitch = true;
	pf->pi.lid = v->lid;
	pf->pi.lmc = v->lmc;
	if (r->s->net && pf->pi.state == IBA_PORT_ACTIVE)
		r->s->net->lid_set(r->s, vswitch_function(r->s, r->n, 0));
	sim_changed(r->s, r->s->fab->ports[vswitch_function(r->s, r->n, 0)].node, SIM_CHANGED_PORT);
}

/* Another LID for port 0, or for a function by its own SMA: the manager knows ordinary nodes only. */
void sma_virtual_set(struct req *r, const struct iba_port_info *old,
		     const struct iba_port_info *now)
{
	node_id v = req_vswitch(r) ? r->n : vswitch_of(r->s, r->n);

	if (v == FAB_NONE)
		return;
	if (old->lid != now->lid || old->lmc != now->lmc) {
		port_id pf = vswitch_function(r->s, v, 0);
		bool mine = v == r->n || r->s->fab->ports[pf].node == r->n;

		if (v != r->n)
			req_port(r, 1)->by_vswitch = false;
		if (mine && r->s->nodes[v].vswitch->shared) {
			r->s->nodes[v].vswitch->shared = false;
			r->s->ports[pf].by_vswitch = false;
		}
	}
	vswitch_lids(r->s, v);
}
