/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Get and Set of NodeInfo, SwitchInfo and PortInfo. State: struct sim_node and struct sim_port. Way
 * in: the table in sma.c. Does not take any value before all were checked.
 */
#include "sim/device/sma_priv.h"

unsigned sma_node_desc_get(struct req *r)
{
	const char *name = fab_node_name(r->s->fab, r->n);

	memset(r->out, 0, IBA_SMP_DATA_SIZE);
	if (r->s->nodes[r->n].desc)
		memcpy(r->out, r->s->nodes[r->n].desc, IBA_SMP_DATA_SIZE);
	else
		memcpy(r->out, name, MIN(strlen(name), (size_t)IBA_SMP_DATA_SIZE));
	return IBA_STATUS_OK;
}

unsigned sma_node_desc_set(struct req *r)
{
	char text[IBA_SMP_DATA_SIZE + 1] = {0};

	if (!r->s->cfg.express)
		return IBA_STATUS_BAD_METHOD_ATTR;
	memcpy(text, r->in, IBA_SMP_DATA_SIZE);
	sma_node_desc_get(r);
	if (memcmp(r->out, text, IBA_SMP_DATA_SIZE))
		sim_set_node_desc(r->s, r->n, text);
	return sma_node_desc_get(r);
}

uint64_t sma_port_guid(const struct req *r, unsigned num)
{
	return sim_port_guid(r->s, req_node(r)->first_port + num);
}

unsigned sma_node_info_get(struct req *r)
{
	const struct fab_node *fn = req_node(r);
	unsigned at = sim_is_switch(r->s, r->n) ? 0 : r->in_port;
	struct iba_node_info ni = {
		.base_version = 1,
		.class_version = 1,
		.node_type = fn->type,
		.num_ports = fn->nports,
		.sys_guid = fn->sys_guid,
		.node_guid = fn->guid,
		.port_guid = sma_port_guid(r, at),
		.partition_cap = r->s->cfg.pkey_cap,
		.device_id = fn->sriov == FAB_SRIOV_SHARED ? IBA_DEVICE_SHARED : fn->device_id,
		.vendor_id = fn->vendor_id,
		.local_port = (uint8_t)r->in_port,
	};

	iba_node_info_put(&ni, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_switch_info_get(struct req *r)
{
	iba_switch_info_put(&r->s->nodes[r->n].si, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_switch_info_set(struct req *r)
{
	struct iba_switch_info v, *si = &r->s->nodes[r->n].si;
	unsigned nports = req_node(r)->nports;
	bool other;

	iba_switch_info_get(&v, r->in, IBA_SMP_DATA_SIZE);
	if (v.linear_top && v.linear_top >= si->linear_cap)
		return IBA_STATUS_BAD_FIELD;
	if (v.default_port > nports && v.default_port != IBA_PORT_NONE)
		return IBA_STATUS_BAD_FIELD;
	other = si->linear_top != v.linear_top || si->default_port != v.default_port;
	si->linear_top = v.linear_top;
	si->default_port = v.default_port;
	si->mcast_primary_port = v.mcast_primary_port;
	si->mcast_not_primary_port = v.mcast_not_primary_port;
	si->mcast_top = v.mcast_top;
	r->s->nodes[r->n].mft_changes++;
	si->life_time = v.life_time;
	if (v.port_state_change) /* writing one clears (IBA 14.2.5.4) */
		si->port_state_change = 0;
	if (other)
		sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	return sma_switch_info_get(r);
}

unsigned sma_port_info_get(struct req *r)
{
	struct iba_port_info pi;
	unsigned num;

	if (!sma_pick_port(r, r->mod & 0xff, &num))
		return IBA_STATUS_BAD_FIELD;
	pi = req_port(r, num)->pi;
	pi.local_port = (uint8_t)r->in_port;
	if (req_is_uplink(r, num))
		sma_uplink_show(r, &pi);
	iba_port_info_put(&pi, r->out);
	return IBA_STATUS_OK;
}

/* The state changes an SM may set (thesis 2.4.1). Setting one again is no error: responses get
 * lost. */
static bool state_order_ok(const struct sim_config *c, unsigned from, unsigned to)
{
	switch (to) {
	case IBA_PORT_NO_CHANGE:
		return true;
	case IBA_PORT_DOWN:
		return from != IBA_PORT_DOWN;
	case IBA_PORT_ARMED:
		return from == IBA_PORT_INIT || from == IBA_PORT_ARMED;
	case IBA_PORT_ACTIVE:
		return from == IBA_PORT_ARMED || from == IBA_PORT_ACTIVE ||
		       (c->no_armed && from == IBA_PORT_INIT);
	}
	return false;
}

static bool port_info_ok(const struct req *r, unsigned num, const struct iba_port_info *v)
{
	const struct iba_port_info *old = &req_port(r, num)->pi;
	bool sw = sim_is_switch(r->s, r->n), endport = !sw || num == 0;

	/* A port of a host or router is set through itself alone, as in ibsim and in HCAs. */
	if (!sw && num != r->in_port)
		return false;
	if (sw && num == 0 ? v->state != IBA_PORT_NO_CHANGE && v->state != IBA_PORT_ACTIVE
			   : !state_order_ok(&r->s->cfg, old->state, v->state))
		return false;
	if (endport && (!v->lid || v->lid > IBA_LID_MAX_UNICAST || v->lid & ((1u << v->lmc) - 1)))
		return false;
	if (sw && num == 0 && v->lmc && !(req_node(r)->flags & FAB_ENHANCED_PORT0))
		return false;
	if (endport && v->sm_lid > IBA_LID_MAX_UNICAST)
		return false;
	if (req_is_uplink(r, num) && !sma_uplink_ok(r, v))
		return false;
	if (!iba_mtu_bytes(v->neighbor_mtu) || v->neighbor_mtu > old->mtu_cap)
		return false;
	if (v->oper_vls && (!iba_vl_count(v->oper_vls) || v->oper_vls > old->vl_cap))
		return false;
	if (r->s->cfg.link_pairs && !rate_ok(old, v))
		return false;
	return v->phys_state <= IBA_PHYS_DISABLED;
}

static void phys_order(struct req *r, unsigned num, unsigned order)
{
	struct sim_port *p = req_port(r, num);
	port_id at = req_node(r)->first_port + num;

	if (!num)
		return; /* a management port has no physical state */
	if (order == IBA_PHYS_DISABLED) {
		link_cut(r->s, at);
		p->pi.phys_state = IBA_PHYS_DISABLED;
	} else if (order == IBA_PHYS_POLLING && p->pi.phys_state == IBA_PHYS_DISABLED) {
		p->pi.phys_state = IBA_PHYS_POLLING;
		link_try_up(r->s, at);
	}
}

/* Set to Down: the physical link stays up, so the port is in Initialize at once (thesis 7.2.1). */
static void state_order(struct req *r, unsigned num, unsigned to)
{
	if (to == IBA_PORT_DOWN)
		to = IBA_PORT_INIT;
	if (to != IBA_PORT_NO_CHANGE && num)
		port_state_set(&r->s->main, r->n, num, (enum iba_port_state)to);
}

/* ---- with link_pairs: both ends of a link ---- */

enum { ANSWER_FIRST_PS = 10 * PS_PER_US }; /* time from the response to the link going down */

/* The physical state that a Set asks for, or NO_CHANGE. */
static enum iba_phys_state link_wish(const struct sim_port *p, const struct iba_port_info *v,
				     const struct iba_port_info *old)
{
	bool up = p->pi.state != IBA_PORT_DOWN;

	if (v->phys_state == IBA_PHYS_DISABLED)
		return IBA_PHYS_DISABLED;
	if (v->phys_state != IBA_PHYS_NO_CHANGE)
		return IBA_PHYS_POLLING; /* a port in Sleep is woken by the other end */
	if (up && (v->state == IBA_PORT_DOWN || !rate_fits(p)))
		return IBA_PHYS_POLLING;
	if (!up && p->pi.phys_state == IBA_PHYS_POLLING &&
	    (p->pi.width_enabled != old->width_enabled ||
	     p->pi.speed_enabled != old->speed_enabled ||
	     p->pi.speed_ext_enabled != old->speed_ext_enabled))
		return IBA_PHYS_POLLING; /* perhaps both ends agree now */
	return IBA_PHYS_NO_CHANGE;
}

static void order_later(struct sim *s, port_id at, enum iba_phys_state to)
{
	uint32_t incarnation = s->nodes[s->fab->ports[at].node].incarnation;

	sim_push(&s->main, s->main.now + ANSWER_FIRST_PS, PRIO_DEVICE,
		 (struct ev_what){.kind = EV_ORDER, .order = {at, incarnation, to}});
}

/* The response may have to cross the same link: it is sent first, and has the state that
 * follows. */
static void link_obey(struct req *r, unsigned num, enum iba_phys_state to)
{
	struct sim *s = r->s;
	port_id at = req_node(r)->first_port + num;
	struct iba_port_info pi;

	if (to == IBA_PHYS_POLLING && !s->cfg.training_ps) {
		link_order(s, at, to);
		sma_port_info_get(r);
		return;
	}
	order_later(s, at, to);
	pi = req_port(r, num)->pi;
	pi.state = IBA_PORT_DOWN;
	pi.phys_state = (uint8_t)to;
	pi.local_port = (uint8_t)r->in_port;
	if (req_is_uplink(r, num))
		sma_uplink_show(r, &pi);
	iba_port_info_put(&pi, r->out);
}

static void orders(struct req *r, unsigned num, const struct iba_port_info *v,
		   const struct iba_port_info *old)
{
	struct sim_port *p = req_port(r, num);
	enum iba_phys_state wish = num ? link_wish(p, v, old) : IBA_PHYS_NO_CHANGE;

	if (wish != IBA_PHYS_NO_CHANGE) {
		link_obey(r, num, wish);
		return;
	}
	if (p->pi.state != IBA_PORT_DOWN)
		state_order(r, num, v->state);
	sma_port_info_get(r);
}

/* ---- Set(PortInfo) ---- */

/* As in the thesis, any value is accepted for what is enabled; no time depends on it. */
static void rates_take(struct iba_port_info *pi, const struct iba_port_info *v)
{
	if (v->width_enabled && v->width_enabled != 0xff)
		pi->width_enabled = v->width_enabled;
	pi->speed_enabled = v->speed_enabled ? v->speed_enabled : pi->speed_enabled;
	pi->speed_ext_enabled = v->speed_ext_enabled ? v->speed_ext_enabled : pi->speed_ext_enabled;
}

void sma_endport_take(struct iba_port_info *pi, const struct iba_port_info *v)
{
	pi->m_key = v->m_key;
	pi->m_key_protect = v->m_key_protect;
	pi->m_key_lease = v->m_key_lease;
	pi->gid_prefix = v->gid_prefix;
	pi->lid = v->lid;
	pi->lmc = v->lmc;
	pi->sm_lid = v->sm_lid;
	pi->sm_sl = v->sm_sl;
	pi->subnet_timeout = v->subnet_timeout;
	pi->m_key_violations = v->m_key_violations;
	pi->p_key_violations = v->p_key_violations;
	pi->q_key_violations = v->q_key_violations;
}

static void port_info_take(struct req *r, unsigned num, const struct iba_port_info *v)
{
	struct iba_port_info *pi = &req_port(r, num)->pi;

	if (!sim_is_switch(r->s, r->n) || num == 0)
		sma_endport_take(pi, v);
	pi->down_default = v->down_default ? v->down_default : pi->down_default;
	pi->neighbor_mtu = v->neighbor_mtu;
	pi->oper_vls = v->oper_vls ? v->oper_vls : pi->oper_vls;
	pi->vl_high_limit = v->vl_high_limit;
	pi->vl_stall_count = v->vl_stall_count;
	pi->hoq_life = v->hoq_life;
	pi->part_enf_in = v->part_enf_in;
	pi->part_enf_out = v->part_enf_out;
	pi->filter_raw_in = v->filter_raw_in;
	pi->filter_raw_out = v->filter_raw_out;
	pi->local_phy_errors = v->local_phy_errors;
	pi->overrun_errors = v->overrun_errors;
}

/* Whether the change affects data packets; changes of state are reported by port_state_set(). */
static bool addresses_data(const struct iba_port_info *a, const struct iba_port_info *b)
{
	return a->lid != b->lid || a->lmc != b->lmc || a->oper_vls != b->oper_vls;
}

/* Inside an HCA, too: its functions follow the vSwitch. */
static void take(struct req *r, unsigned num, const struct iba_port_info *v)
{
	struct iba_port_info old = req_port(r, num)->pi;

	port_info_take(r, num, v);
	if (req_is_uplink(r, num))
		sma_uplink_take(r, v);
	else if (!sim_is_switch(r->s, r->n) || num == 0)
		sma_virtual_set(r, &old, &req_port(r, num)->pi);
	if (r->s->net && req_port(r, num)->pi.state == IBA_PORT_ACTIVE)
		r->s->net->lid_set(r->s, req_node(r)->first_port + num);
	if (addresses_data(&old, &req_port(r, num)->pi))
		sim_changed(r->s, r->n, SIM_CHANGED_PORT);
	if (r->s->nodes[r->n].vswitch)
		vswitch_sync(r->s, r->n);
}

unsigned sma_port_info_set(struct req *r)
{
	struct iba_port_info v, old;
	unsigned num;

	if (!sma_pick_port(r, r->mod & 0xff, &num))
		return IBA_STATUS_BAD_FIELD;
	iba_port_info_get(&v, r->in, IBA_SMP_DATA_SIZE);
	if (!port_info_ok(r, num, &v))
		return IBA_STATUS_BAD_FIELD;
	old = req_port(r, num)->pi;
	take(r, num, &v);
	req_port(r, num)->reregisters += v.client_reregister;
	if (r->s->cfg.link_pairs) {
		rate_take(&req_port(r, num)->pi, &v);
		orders(r, num, &v, &old);
		return IBA_STATUS_OK;
	}
	rates_take(&req_port(r, num)->pi, &v);
	phys_order(r, num, v.phys_state);
	if (req_port(r, num)->pi.state != IBA_PORT_DOWN)
		state_order(r, num, v.state);
	return sma_port_info_get(r);
}

/* ---- other attributes of ports ---- */

/* No FEC: all fields are 0, but the attribute exists. */
unsigned sma_port_info_ext_get(struct req *r)
{
	struct iba_port_info_ext v = {0};
	unsigned num;

	if (!r->s->cfg.express)
		return IBA_STATUS_BAD_METHOD_ATTR;
	if (!sma_pick_port(r, r->mod & 0xff, &num))
		return IBA_STATUS_BAD_FIELD;
	iba_port_info_ext_put(&v, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_mlnx_ext_get(struct req *r)
{
	struct iba_mlnx_ext_port_info v = {0};
	unsigned num;

	if (!r->s->cfg.express)
		return IBA_STATUS_BAD_METHOD_ATTR;
	if (!sma_pick_port(r, r->mod & 0xff, &num))
		return IBA_STATUS_BAD_FIELD;
	v.speed_supported = req_port(r, num)->fdr10_supported;
	v.speed_enabled = req_port(r, num)->fdr10_enabled;
	v.speed_active = req_port(r, num)->fdr10_active;
	iba_mlnx_ext_port_info_put(&v, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_mlnx_ext_set(struct req *r)
{
	struct iba_mlnx_ext_port_info v;
	struct sim_port *p;
	unsigned num;

	if (!r->s->cfg.express)
		return IBA_STATUS_BAD_METHOD_ATTR;
	iba_mlnx_ext_port_info_get(&v, r->in, IBA_SMP_DATA_SIZE);
	if (!sma_pick_port(r, r->mod & 0xff, &num) ||
	    (!sim_is_switch(r->s, r->n) && num != r->in_port) ||
	    v.speed_enabled > req_port(r, num)->fdr10_supported)
		return IBA_STATUS_BAD_FIELD;
	p = req_port(r, num);
	if (v.state_change_enable & 1)
		p->fdr10_enabled = v.speed_enabled;
	if (num && p->pi.state != IBA_PORT_DOWN && !rate_fits(p))
		order_later(r->s, req_node(r)->first_port + num, IBA_PHYS_POLLING);
	return sma_mlnx_ext_get(r);
}
