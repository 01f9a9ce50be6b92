/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet management agent: passes every request to the function for its attribute, checks the
 * M_Key, sets the values at power-on. State: struct sim_node and struct sim_port. Ways in:
 * sma_reset(), sma_admits(), sma_handle(). Does not send notices: trap.c does.
 */
#include "sim/device/sma_priv.h"

/* ---- power-on values ---- */

static const struct {
	uint8_t plain, ext; /* bits of LinkSpeed* and LinkSpeedExt* */
} speed_bits[FAB_NSPEEDS] = {
	[FAB_SPEED_UNKNOWN] = {1, 0}, [FAB_SDR] = {1, 0}, [FAB_DDR] = {2, 0}, [FAB_QDR] = {4, 0},
	[FAB_FDR10] = {4, 0},	      [FAB_FDR] = {4, 1}, [FAB_EDR] = {4, 2}, [FAB_HDR] = {4, 4},
	[FAB_NDR] = {4, 8},	      [FAB_XDR] = {4, 8},
};

static uint8_t width_bit(unsigned lanes)
{
	switch (lanes) {
	case 2:
		return IBA_WIDTH_2X;
	case 4:
		return IBA_WIDTH_4X;
	case 8:
		return IBA_WIDTH_8X;
	case 12:
		return IBA_WIDTH_12X;
	}
	return IBA_WIDTH_1X;
}

/* Capabilities that programs expect of present devices. MTU and VLs are such that an SM need not
 * lower them: OpenSM sets every host port Down whose values it has to change. */
static void port_express(struct sim *s, node_id n, unsigned num)
{
	struct iba_port_info *pi = &node_port(s, n, num)->pi;

	pi->cap_mask &= ~(uint32_t)IBA_CAP_EXT_SPEEDS;
	pi->cap_mask |= IBA_CAP_SYS_GUID | IBA_CAP_CAP_MASK2 | IBA_CAP_VENDOR_CLASS |
			IBA_CAP_DR_NOTICE | IBA_CAP_CAP_NOTICE | IBA_CAP_ROUND_TRIP |
			IBA_CAP_CLIENT_REREG | IBA_CAP_OTHER_NOTICE |
			(pi->speed_ext_supported ? IBA_CAP_EXT_SPEEDS : 0) |
			(sim_is_switch(s, n) ? 0 : IBA_CAP_COMM_MGT);
	pi->cap_mask2 = (uint16_t)(IBA_CAP2_SET_NODE_DESC | IBA_CAP2_PORT_INFO_EXT |
				   (pi->width_supported & IBA_WIDTH_2X ? IBA_CAP2_WIDTH_2X : 0) |
				   (pi->speed_ext_supported & 4 ? IBA_CAP2_HDR : 0) |
				   (pi->speed_ext_supported & 8 ? IBA_CAP2_NDR : 0));
	pi->neighbor_mtu = pi->mtu_cap;
	pi->oper_vls = pi->vl_cap;
	pi->overrun_errors = pi->local_phy_errors;
	pi->round_trip_latency = 0xffffff; /* not measured yet */
}

/* PortInfo as in the thesis, at the rate of the netlist. */
static struct iba_port_info port_basic(const struct sim_config *c, const struct fab_port *fp)
{
	uint8_t width = width_bit(fp->width), sp = speed_bits[fp->speed].plain,
		ext = speed_bits[fp->speed].ext;
	bool port0 = fp->num == 0;

	return (struct iba_port_info){
		.gid_prefix = 0xfe80000000000000ull,
		.cap_mask = IBA_CAP_SL_MAP | IBA_CAP_NOTICE | (c->traps ? IBA_CAP_TRAP : 0) |
			    (ext ? IBA_CAP_EXT_SPEEDS : 0),
		.width_enabled = width,
		.width_supported = (uint8_t)(width | (width - 1)),
		.width_active = width,
		.speed_supported = (uint8_t)(sp | (sp - 1)),
		.speed_enabled = (uint8_t)(sp | (sp - 1)),
		.speed_active = sp,
		.speed_ext_supported = (uint8_t)(ext ? ext | (ext - 1) : 0),
		.speed_ext_enabled = (uint8_t)(ext ? ext | (ext - 1) : 0),
		.speed_ext_active = ext,
		.state = port0 ? IBA_PORT_ACTIVE : IBA_PORT_DOWN,
		.phys_state = port0 ? IBA_PHYS_LINK_UP : IBA_PHYS_POLLING,
		.down_default = 2,
		.neighbor_mtu = port0 ? c->mtu_cap : 1,
		.mtu_cap = c->mtu_cap,
		.vl_cap = c->vl_cap,
		.oper_vls = 1,
		.vl_arb_high_cap = c->vlarb_cap,
		.vl_arb_low_cap = c->vlarb_cap,
		.guid_cap = 8,
		.resp_time = c->resp_time,
		.hoq_life = 16,
		.local_phy_errors = c->phy_errors,
	};
}

static void port_reset(struct sim *s, node_id n, unsigned num)
{
	port_id at = s->fab->nodes[n].first_port + num;
	struct sim_port *p = &s->ports[at];
	/* An SM attached to this port stays attached when the node is powered on again. */
	uint32_t is_sm = s->dev.client_of[at] ? p->pi.cap_mask & IBA_CAP_IS_SM : 0;

	p->pi = port_basic(&s->cfg, &s->fab->ports[at]);
	p->pi.cap_mask |= is_sm;
	if (s->fab->nodes[n].sriov == FAB_SRIOV_SHARED)
		p->pi.guid_cap = (uint8_t)(1 + s->fab->nodes[n].vfs);
	if (s->cfg.link_pairs)
		rate_power_on(s, n, num);
	if (s->cfg.express)
		port_express(s, n, num);
	if (s->dev.counters)
		s->dev.counters[at] = (struct port_counters){0};
	p->tx_free = 0;
	p->lease_epoch++;
	p->lease_runs = false;
}

void sma_free(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];

	for (unsigned p = 0; p <= s->fab->nodes[n].nports; p++) {
		struct sim_port *port = node_port(s, n, p);

		free(port->pkeys);
		free(port->vlarb);
		free(port->guids);
		port->pkeys = NULL;
		port->vlarb = NULL;
		port->guids = NULL;
	}
	free(node->lft);
	free(node->rft);
	free(node->mft);
	free(node->slvl);
	free(node->desc);
	node->desc = NULL;
	node->lft = NULL;
	node->lft_size = 0;
	node->rft = NULL;
	node->rft_used = 0;
	node->mft = NULL;
	node->mft_used = 0;
	node->mft_changes++;
	node->slvl = NULL;
}

void sma_reset(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];
	const struct fab_node *fn = &s->fab->nodes[n];
	uint16_t only = s->dev.random_only && s->dev.random_only[n] ? s->dev.random_only[n]
								    : fn->random_cap;

	sma_free(s, n);
	for (unsigned p = 0; p <= fn->nports; p++)
		port_reset(s, n, p);
	vswitch_reset(s, n);
	memset(node->trap, 0, sizeof(node->trap));
	node->si = (struct iba_switch_info){
		.linear_cap = only	       ? 0
			      : fn->linear_cap ? fn->linear_cap
					       : s->cfg.lft_cap,
		.random_cap = only ? only : s->cfg.rft_cap,
		.mcast_cap = fn->mcast_cap ? fn->mcast_cap : s->cfg.mft_cap,
		.life_time = 16,
		.default_port = IBA_PORT_NONE,
		.mcast_primary_port = IBA_PORT_NONE,
		.mcast_not_primary_port = IBA_PORT_NONE,
		.partition_enf_cap = s->cfg.pkey_cap,
		.enhanced_port0 = fn->flags & FAB_ENHANCED_PORT0 ? 1 : 0,
		.inbound_enf_cap = s->cfg.express,
		.outbound_enf_cap = s->cfg.express,
	};
}

/* ---- attributes ---- */

static unsigned notice_get(struct req *r)
{
	const struct trap_slot *t = r->s->nodes[r->n].trap;
	struct iba_notice none = {0};
	unsigned i = 0;

	while (i < TRAP_SLOTS && !t[i].pending)
		i++;
	iba_notice_put(i < TRAP_SLOTS ? &t[i].notice : &none, r->out);
	return IBA_STATUS_OK;
}

/* The attributes of an SMA, and the functions that answer them. A missing function is a bad
 * method. */
static const struct {
	uint16_t attr_id;
	bool switch_only;
	unsigned (*get)(struct req *r);
	unsigned (*set)(struct req *r);
} attributes[] = {
	{IBA_ATTR_LFT, true, sma_lft_get, sma_lft_set},
	{IBA_ATTR_PORT_INFO, false, sma_port_info_get, sma_port_info_set},
	{IBA_ATTR_NODE_INFO, false, sma_node_info_get, NULL},
	{IBA_ATTR_SWITCH_INFO, true, sma_switch_info_get, sma_switch_info_set},
	{IBA_ATTR_NODE_DESC, false, sma_node_desc_get, sma_node_desc_set},
	{IBA_ATTR_GUID_INFO, false, sma_guid_info_get, sma_guid_info_set},
	{IBA_ATTR_PKEY_TABLE, false, sma_pkey_get, sma_pkey_set},
	{IBA_ATTR_SLVL_TABLE, false, sma_slvl_get, sma_slvl_set},
	{IBA_ATTR_VLARB_TABLE, false, sma_vlarb_get, sma_vlarb_set},
	{IBA_ATTR_RFT, true, sma_rft_get, sma_rft_set},
	{IBA_ATTR_MFT, true, sma_mft_get, sma_mft_set},
	{IBA_ATTR_VF_INFO, true, sma_vf_info_get, sma_vf_info_set},
	{IBA_ATTR_NOTICE, false, notice_get, NULL},
	{IBA_ATTR_PORT_INFO_EXT, false, sma_port_info_ext_get, NULL},
	{IBA_ATTR_MLNX_EXT_PORT_INFO, false, sma_mlnx_ext_get, sma_mlnx_ext_set},
};

/* ---- the M_Key (thesis 3.1.3, IBA 14.2.4) ---- */

/* The lease begins with the first wrong key: further wrong keys must not prolong it. */
static void lease_start(struct sim *s, port_id at)
{
	struct sim_port *p = &s->ports[at];

	if (!p->pi.m_key_lease || p->lease_runs)
		return;
	p->lease_runs = true;
	sim_push(&s->main, s->main.now + p->pi.m_key_lease * PS_PER_S, PRIO_DEVICE,
		 (struct ev_what){.kind = EV_LEASE, .lease = {at, ++p->lease_epoch}});
}

/* No request had the right key for a lease period: now every SM may read the key, and so take
 * over. */
void sma_lease_over(struct sim *s, port_id at, uint32_t epoch)
{
	if (s->ports[at].lease_epoch != epoch)
		return;
	s->ports[at].lease_runs = false;
	s->ports[at].pi.m_key_protect = 0;
}

/* The port whose M_Key applies to a request. */
static port_id guard_of(const struct sim *s, node_id n, const struct pkt *p)
{
	return s->fab->nodes[n].first_port + (sim_is_switch(s, n) ? 0u : p->in_port);
}

bool sma_admits(struct sim *s, node_id n, const struct pkt *p)
{
	port_id at = guard_of(s, n, p);
	struct iba_port_info *pi = &s->ports[at].pi;

	if (!pi->m_key)
		return true;
	if (iba_smp_m_key(p->smp.mad) == pi->m_key) {
		s->ports[at].lease_epoch++; /* stops a lease that runs */
		s->ports[at].lease_runs = false;
		return true;
	}
	if (iba_smp_method(p->smp.mad) == IBA_GET && pi->m_key_protect <= 1)
		return true;
	if (pi->m_key_violations < UINT16_MAX)
		pi->m_key_violations++;
	lease_start(s, at);
	return false;
}

/* ---- in and out ---- */

static unsigned answer(struct req *r, unsigned method, uint16_t attr_id)
{
	for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
		if (attributes[i].attr_id != attr_id)
			continue;
		if (attributes[i].switch_only && !sim_is_switch(r->s, r->n))
			break;
		if (method == IBA_GET)
			return attributes[i].get(r);
		return attributes[i].set ? attributes[i].set(r) : IBA_STATUS_BAD_METHOD_ATTR;
	}
	return IBA_STATUS_BAD_METHOD_ATTR;
}

static void respond(struct sim *s, node_id n, const struct pkt *p, unsigned status,
		    struct sim_smp *out)
{
	const uint8_t *m = p->smp.mad;

	iba_smp_set_method(out->mad, IBA_GET_RESP);
	iba_smp_set_status(out->mad,
			   (uint16_t)(status | (iba_smp_is_dr(m) ? IBA_STATUS_DR_RETURN : 0)));
	out->dlid = p->smp.slid;
	out->slid = p->smp.dlid;
	smi_inject(s, n, p->in_port, out);
}

void sma_handle(struct sim *s, node_id n, struct pkt *p)
{
	unsigned method = iba_smp_method(p->smp.mad);
	uint16_t attr_id = iba_smp_attr_id(p->smp.mad);
	const struct iba_port_info *guard = &s->ports[guard_of(s, n, p)].pi;
	/* Level 1: Get is always allowed, but the key is shown only to a request that has it. */
	bool hide = guard->m_key && guard->m_key_protect == 1 &&
		    iba_smp_m_key(p->smp.mad) != guard->m_key;
	struct sim_smp out = p->smp;
	struct req r = {s,
			n,
			p->in_port,
			iba_smp_attr_mod(p->smp.mad),
			iba_smp_data_const(p->smp.mad),
			iba_smp_data(out.mad)};
	unsigned status;

	if (method == IBA_TRAP_REPRESS) {
		trap_repress(s, n, &p->smp);
		return;
	}
	status = answer(&r, method, attr_id);
	if (hide && attr_id == IBA_ATTR_PORT_INFO && !status)
		memset(iba_smp_data(out.mad), 0, 8);
	if (s->dev.tamper.respond)
		s->dev.tamper.respond(s->dev.tamper.ctx, n, out.mad);
	respond(s, n, p, status, &out);
}

void sim_set_tamper(struct sim *s, struct sim_tamper t)
{
	s->dev.tamper = t;
}
