/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet management agent: answers Get and Set for every attribute a node has, checks each value
 * before it is taken, guards them with the M_Key. State: what sma_reset() fills in, per node and
 * port. Does not send anything on its own: traps are in trap.c.
 */
#include "sim/plane.h"

struct req {
	struct sim *s;
	node_id n;
	unsigned in_port;   /* by which the request came; a switch's own is 0 */
	uint32_t mod;
	const uint8_t *in;  /* the request's attribute */
	uint8_t *out;       /* the response's attribute; holds the request's at first */
};

static const struct fab_node *fnode(const struct req *r)
{
	return &r->s->fab->nodes[r->n];
}

static struct sim_port *rport(const struct req *r, unsigned num)
{
	return node_port(r->s, r->n, num);
}

/* The port an endport attribute is about: modifier 0 means the port the request came in by. */
static bool pick_port(const struct req *r, uint32_t num, unsigned *port)
{
	if (sim_is_switch(r->s, r->n)) {
		*port = num;
		return num <= fnode(r)->nports;
	}
	*port = num ? num : r->in_port;
	return *port >= 1 && *port <= fnode(r)->nports;
}

/* ---- power-on values ---- */

static const struct {
	uint8_t plain, ext; /* bits of LinkSpeed* and LinkSpeedExt* */
} speed_bits[FAB_NSPEEDS] = {
	[FAB_SPEED_UNKNOWN] = {1, 0}, [FAB_SDR] = {1, 0}, [FAB_DDR] = {2, 0}, [FAB_QDR] = {4, 0},
	[FAB_FDR10] = {4, 0},         [FAB_FDR] = {4, 1}, [FAB_EDR] = {4, 2}, [FAB_HDR] = {4, 4},
	[FAB_NDR] = {4, 8},           [FAB_XDR] = {4, 8},
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

static void port_reset(struct sim *s, node_id n, unsigned num)
{
	const struct sim_config *c = &s->cfg;
	const struct fab_port *fp = &s->fab->ports[s->fab->nodes[n].first_port + num];
	struct sim_port *p = node_port(s, n, num);
	uint8_t width = width_bit(fp->width), sp = speed_bits[fp->speed].plain,
		ext = speed_bits[fp->speed].ext;
	bool port0 = num == 0;
	/* Whoever is an SM at this port is still there when the node starts again. */
	uint32_t is_sm = s->hook_of[s->fab->nodes[n].first_port + num] ? p->pi.cap_mask & IBA_CAP_IS_SM : 0;

	p->pi = (struct iba_port_info){
		.gid_prefix = 0xfe80000000000000ull,
		.cap_mask = IBA_CAP_SL_MAP | IBA_CAP_NOTICE | (c->traps ? IBA_CAP_TRAP : 0) |
			    (ext ? IBA_CAP_EXT_SPEEDS : 0) | is_sm,
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
	if (s->counters)
		s->counters[s->fab->nodes[n].first_port + num] = (struct port_counters){0};
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
	node->lft = NULL;
	node->lft_size = 0;
	node->rft = NULL;
	node->rft_used = 0;
	node->mft = NULL;
	node->slvl = NULL;
}

void sma_reset(struct sim *s, node_id n)
{
	struct sim_node *node = &s->nodes[n];
	const struct fab_node *fn = &s->fab->nodes[n];
	uint16_t only = s->random_only ? s->random_only[n] : 0;

	sma_free(s, n);
	for (unsigned p = 0; p <= fn->nports; p++)
		port_reset(s, n, p);
	memset(node->trap, 0, sizeof(node->trap));
	node->si = (struct iba_switch_info){
		.linear_cap = only ? 0 : s->cfg.lft_cap,
		.random_cap = only ? only : s->cfg.rft_cap,
		.mcast_cap = s->cfg.mft_cap,
		.life_time = 16,
		.default_port = IBA_PORT_NONE,
		.mcast_primary_port = IBA_PORT_NONE,
		.mcast_not_primary_port = IBA_PORT_NONE,
		.partition_enf_cap = s->cfg.pkey_cap,
		.enhanced_port0 = fn->flags & FAB_ENHANCED_PORT0 ? 1 : 0,
	};
}

/* ---- attributes: each returns a MAD status ---- */

static unsigned node_desc_get(struct req *r)
{
	const char *name = fab_node_name(r->s->fab, r->n);

	memset(r->out, 0, IBA_SMP_DATA_SIZE);
	memcpy(r->out, name, MIN(strlen(name), (size_t)IBA_SMP_DATA_SIZE));
	return IBA_STATUS_OK;
}

/* Netlists may leave port GUIDs out. */
static uint64_t port_guid(const struct req *r, unsigned num)
{
	uint64_t guid = r->s->fab->ports[fnode(r)->first_port + num].guid;

	return guid ? guid : fnode(r)->guid + num;
}

static unsigned node_info_get(struct req *r)
{
	const struct fab_node *fn = fnode(r);
	unsigned at = sim_is_switch(r->s, r->n) ? 0 : r->in_port;
	struct iba_node_info ni = {
		.base_version = 1,
		.class_version = 1,
		.node_type = fn->type,
		.num_ports = fn->nports,
		.sys_guid = fn->sys_guid,
		.node_guid = fn->guid,
		.port_guid = port_guid(r, at),
		.partition_cap = r->s->cfg.pkey_cap,
		.device_id = fn->device_id,
		.vendor_id = fn->vendor_id,
		.local_port = (uint8_t)r->in_port,
	};

	iba_node_info_put(&ni, r->out);
	return IBA_STATUS_OK;
}

static unsigned switch_info_get(struct req *r)
{
	iba_switch_info_put(&r->s->nodes[r->n].si, r->out);
	return IBA_STATUS_OK;
}

static unsigned switch_info_set(struct req *r)
{
	struct iba_switch_info v, *si = &r->s->nodes[r->n].si;
	unsigned nports = fnode(r)->nports;
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
	si->life_time = v.life_time;
	if (v.port_state_change) /* writing one clears (IBA 14.2.5.4) */
		si->port_state_change = 0;
	if (other)
		sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	return switch_info_get(r);
}

static unsigned port_info_get(struct req *r)
{
	struct iba_port_info pi;
	unsigned num;

	if (!pick_port(r, r->mod & 0xff, &num))
		return IBA_STATUS_BAD_FIELD;
	pi = rport(r, num)->pi;
	pi.local_port = (uint8_t)r->in_port;
	iba_port_info_put(&pi, r->out);
	return IBA_STATUS_OK;
}

/* Which orders an SM may give (thesis 2.4.1). Giving one again is no fault: responses get lost. */
static bool state_order_ok(unsigned from, unsigned to)
{
	switch (to) {
	case IBA_PORT_NO_CHANGE:
		return true;
	case IBA_PORT_DOWN:
		return from != IBA_PORT_DOWN;
	case IBA_PORT_ARMED:
		return from == IBA_PORT_INIT || from == IBA_PORT_ARMED;
	case IBA_PORT_ACTIVE:
		return from == IBA_PORT_ARMED || from == IBA_PORT_ACTIVE;
	}
	return false;
}

static bool port_info_ok(const struct req *r, unsigned num, const struct iba_port_info *v)
{
	const struct iba_port_info *old = &rport(r, num)->pi;
	bool sw = sim_is_switch(r->s, r->n), endport = !sw || num == 0;

	if (sw && num == 0 ? v->state != IBA_PORT_NO_CHANGE && v->state != IBA_PORT_ACTIVE
			   : !state_order_ok(old->state, v->state))
		return false;
	if (endport && (!v->lid || v->lid > IBA_LID_MAX_UNICAST || v->lid & ((1u << v->lmc) - 1)))
		return false;
	if (sw && num == 0 && v->lmc && !(fnode(r)->flags & FAB_ENHANCED_PORT0))
		return false;
	if (endport && v->sm_lid > IBA_LID_MAX_UNICAST)
		return false;
	if (!iba_mtu_bytes(v->neighbor_mtu) || v->neighbor_mtu > old->mtu_cap)
		return false;
	if (v->oper_vls && (!iba_vl_count(v->oper_vls) || v->oper_vls > old->vl_cap))
		return false;
	return v->phys_state <= IBA_PHYS_DISABLED;
}

static void phys_order(struct req *r, unsigned num, unsigned order)
{
	struct sim_port *p = rport(r, num);
	port_id at = fnode(r)->first_port + num;

	if (!num)
		return; /* a management port has nothing physical */
	if (order == IBA_PHYS_DISABLED) {
		link_cut(r->s, at);
		p->pi.phys_state = IBA_PHYS_DISABLED;
	} else if (order == IBA_PHYS_POLLING && p->pi.phys_state == IBA_PHYS_DISABLED) {
		p->pi.phys_state = IBA_PHYS_POLLING;
		link_try_up(r->s, at);
	}
}

/* Down by order: the physical link stays, so the port is in Initialize at once (thesis 7.2.1). */
static void state_order(struct req *r, unsigned num, unsigned to)
{
	if (to == IBA_PORT_DOWN)
		to = IBA_PORT_INIT;
	if (to != IBA_PORT_NO_CHANGE && num)
		port_state_set(r->s, r->n, num, (enum iba_port_state)to);
}

static void port_info_take(struct iba_port_info *pi, const struct iba_port_info *v, bool endport)
{
	if (endport) {
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
	if (v->width_enabled && v->width_enabled != 0xff)
		pi->width_enabled = v->width_enabled;
	pi->speed_enabled = v->speed_enabled ? v->speed_enabled : pi->speed_enabled;
	pi->speed_ext_enabled = v->speed_ext_enabled ? v->speed_ext_enabled : pi->speed_ext_enabled;
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

/* Whether data packets see a difference; states tell of themselves. */
static bool addresses_data(const struct iba_port_info *a, const struct iba_port_info *b)
{
	return a->lid != b->lid || a->lmc != b->lmc || a->oper_vls != b->oper_vls;
}

static unsigned port_info_set(struct req *r)
{
	struct iba_port_info v, old;
	unsigned num;

	if (!pick_port(r, r->mod & 0xff, &num))
		return IBA_STATUS_BAD_FIELD;
	iba_port_info_get(&v, r->in, IBA_SMP_DATA_SIZE);
	if (!port_info_ok(r, num, &v))
		return IBA_STATUS_BAD_FIELD;
	old = rport(r, num)->pi;
	port_info_take(&rport(r, num)->pi, &v, !sim_is_switch(r->s, r->n) || num == 0);
	if (r->s->plane && rport(r, num)->pi.state == IBA_PORT_ACTIVE)
		host_active(r->s, fnode(r)->first_port + num);
	if (addresses_data(&old, &rport(r, num)->pi))
		sim_changed(r->s, r->n, SIM_CHANGED_PORT);
	phys_order(r, num, v.phys_state);
	if (rport(r, num)->pi.state != IBA_PORT_DOWN)
		state_order(r, num, v.state);
	return port_info_get(r);
}

static unsigned guid_info_get(struct req *r)
{
	unsigned num = sim_is_switch(r->s, r->n) ? 0 : r->in_port;
	struct sim_port *p = rport(r, num);
	struct iba_guid_info gi = {0};

	if (r->mod)
		return IBA_STATUS_BAD_FIELD; /* guid_cap is one block of 8 */
	if (p->guids)
		memcpy(gi.guid, p->guids, sizeof(gi.guid));
	gi.guid[0] = port_guid(r, num);
	iba_guid_info_put(&gi, r->out);
	return IBA_STATUS_OK;
}

static unsigned guid_info_set(struct req *r)
{
	struct sim_port *p = rport(r, sim_is_switch(r->s, r->n) ? 0 : r->in_port);
	struct iba_guid_info gi;

	if (r->mod)
		return IBA_STATUS_BAD_FIELD;
	if (!p->guids)
		p->guids = mem_zarray(8, sizeof(*p->guids));
	iba_guid_info_get(&gi, r->in, IBA_SMP_DATA_SIZE);
	memcpy(p->guids + 1, gi.guid + 1, 7 * sizeof(*p->guids)); /* entry 0 is read-only */
	return guid_info_get(r);
}

static bool pkey_where(struct req *r, unsigned *num, unsigned *block)
{
	*block = r->mod & 0xffff;
	if (!pick_port(r, sim_is_switch(r->s, r->n) ? r->mod >> 16 : 0, num))
		return false;
	return *block < (r->s->cfg.pkey_cap + 31u) / 32;
}

static unsigned pkey_get(struct req *r)
{
	struct iba_pkey_table t = {0};
	unsigned num, block;

	if (!pkey_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	if (rport(r, num)->pkeys)
		memcpy(t.pkey, rport(r, num)->pkeys + block * 32, sizeof(t.pkey));
	else if (block == 0)
		t.pkey[0] = 0xffff; /* full member of the default partition at power-on */
	iba_pkey_table_put(&t, r->out);
	return IBA_STATUS_OK;
}

static unsigned pkey_set(struct req *r)
{
	struct iba_pkey_table t;
	struct sim_port *p;
	unsigned num, block;

	if (!pkey_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	p = rport(r, num);
	if (!p->pkeys)
		p->pkeys = mem_zarray((r->s->cfg.pkey_cap + 31u) / 32 * 32, sizeof(*p->pkeys));
	iba_pkey_table_get(&t, r->in, IBA_SMP_DATA_SIZE);
	memcpy(p->pkeys + block * 32, t.pkey, sizeof(t.pkey));
	return pkey_get(r);
}

/* ---- SL to VL: by input and output port of a switch, one a port of an endport ---- */

static unsigned default_vl(const struct sim *s, node_id n, unsigned out, unsigned sl)
{
	const struct iba_port_info *pi = &s->ports[s->fab->nodes[n].first_port + out].pi;
	unsigned vls = iba_vl_count(pi->oper_vls);

	return sl % (vls ? vls : 1); /* cyclic (thesis 4.4.2) */
}

unsigned sim_slvl(const struct sim *s, node_id n, unsigned in, unsigned out, unsigned sl)
{
	unsigned width = s->fab->nodes[n].nports + 1u;

	if (!s->nodes[n].slvl)
		return default_vl(s, n, out, sl);
	return s->nodes[n].slvl[(in * width + out) * 16 + sl];
}

bool sim_turn_off(const struct sim *s, node_id n, unsigned in, unsigned out)
{
	const struct iba_port_info *pi = &s->ports[s->fab->nodes[n].first_port + out].pi;
	unsigned live = iba_vl_count(pi->oper_vls);

	for (unsigned sl = 0; sl < 16; sl++)
		if (sim_slvl(s, n, in, out, sl) < live)
			return false;
	return true;
}

static bool slvl_where(struct req *r, unsigned *in, unsigned *out)
{
	if (!sim_is_switch(r->s, r->n)) {
		*in = 0;
		*out = r->in_port;
		return true;
	}
	*in = r->mod >> 8 & 0xff;
	*out = r->mod & 0xff;
	return *in <= fnode(r)->nports && *out <= fnode(r)->nports;
}

static unsigned slvl_get(struct req *r)
{
	struct iba_slvl_table t;
	unsigned in, out;

	if (!slvl_where(r, &in, &out))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned sl = 0; sl < 16; sl++)
		t.vl[sl] = (uint8_t)sim_slvl(r->s, r->n, in, out, sl);
	iba_slvl_table_put(&t, r->out);
	return IBA_STATUS_OK;
}

static unsigned slvl_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	unsigned in, out, width = fnode(r)->nports + 1u;
	struct iba_slvl_table t;

	if (!slvl_where(r, &in, &out))
		return IBA_STATUS_BAD_FIELD;
	iba_slvl_table_get(&t, r->in, IBA_SMP_DATA_SIZE);
	if (!node->slvl) {
		uint8_t *all = mem_array((size_t)width * width * 16, 1);

		for (unsigned i = 0; i < width * width * 16; i++)
			all[i] = (uint8_t)default_vl(r->s, r->n, i / 16 % width, i % 16);
		node->slvl = all;
	}
	if (memcmp(node->slvl + (size_t)(in * width + out) * 16, t.vl, 16)) {
		memcpy(node->slvl + (size_t)(in * width + out) * 16, t.vl, 16);
		sim_changed(r->s, r->n, SIM_CHANGED_SLVL);
	}
	return slvl_get(r);
}

static bool vlarb_where(struct req *r, unsigned *num, unsigned *block)
{
	*block = r->mod >> 16;
	if (!pick_port(r, r->mod & 0xff, num))
		return false;
	/* Blocks 1, 2 low and 3, 4 high priority, 32 entries each. */
	return *block >= 1 && *block <= 4 && (*block % 2 || r->s->cfg.vlarb_cap > 32);
}

static unsigned vlarb_get(struct req *r)
{
	struct iba_vlarb_table t = {0};
	unsigned num, block;

	if (!vlarb_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	if (rport(r, num)->vlarb)
		t = rport(r, num)->vlarb[block - 1];
	iba_vlarb_table_put(&t, r->out);
	return IBA_STATUS_OK;
}

static unsigned vlarb_set(struct req *r)
{
	struct iba_vlarb_table t;
	struct sim_port *p;
	unsigned num, block;

	if (!vlarb_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	iba_vlarb_table_get(&t, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < 32; i++)
		if (t.vl[i] == 15 && t.weight[i])
			return IBA_STATUS_BAD_FIELD; /* VL15 is not arbitrated */
	p = rport(r, num);
	if (!p->vlarb)
		p->vlarb = mem_zarray(4, sizeof(*p->vlarb));
	p->vlarb[block - 1] = t;
	return vlarb_get(r);
}

/* ---- forwarding tables ---- */

static bool block_there(uint32_t block, uint32_t cap, uint32_t per_block)
{
	return block < (cap + per_block - 1) / per_block;
}

static unsigned lft_get(struct req *r)
{
	if (!block_there(r->mod, r->s->nodes[r->n].si.linear_cap, IBA_LFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		r->out[i] = sim_lft(r->s, r->n, r->mod * IBA_LFT_BLOCK + i);
	return IBA_STATUS_OK;
}

static unsigned lft_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	uint32_t end = (r->mod + 1) * IBA_LFT_BLOCK;

	if (!block_there(r->mod, r->s->nodes[r->n].si.linear_cap, IBA_LFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	if (end > node->lft_size) {
		/* Size it by the top the SM announced, so that it grows once. */
		uint32_t top = (node->si.linear_top / IBA_LFT_BLOCK + 1u) * IBA_LFT_BLOCK;
		uint32_t size = MAX(end, top);

		node->lft = mem_resize(node->lft, size, 1);
		memset(node->lft + node->lft_size, IBA_PORT_NONE, size - node->lft_size);
		node->lft_size = size;
	}
	if (memcmp(node->lft + end - IBA_LFT_BLOCK, r->in, IBA_LFT_BLOCK)) {
		memcpy(node->lft + end - IBA_LFT_BLOCK, r->in, IBA_LFT_BLOCK);
		sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	}
	return IBA_STATUS_OK; /* the response carries what was set */
}

static unsigned rft_get(struct req *r)
{
	struct iba_rft t = {0};

	if (!block_there(r->mod, r->s->nodes[r->n].si.random_cap, IBA_RFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	if (r->s->nodes[r->n].rft)
		t = r->s->nodes[r->n].rft[r->mod];
	iba_rft_put(&t, r->out);
	return IBA_STATUS_OK;
}

static unsigned rft_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	struct iba_rft t;

	if (!block_there(r->mod, r->s->nodes[r->n].si.random_cap, IBA_RFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	iba_rft_get(&t, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++)
		if (t.valid[i] && (t.port[i] > fnode(r)->nports || t.lid[i] & ((1u << t.lmc[i]) - 1)))
			return IBA_STATUS_BAD_FIELD;
	if (!node->rft)
		node->rft = mem_zarray((node->si.random_cap + 15u) / IBA_RFT_BLOCK, sizeof(*node->rft));
	node->rft[r->mod] = t;
	sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	node->rft_used = MAX(node->rft_used, r->mod + 1);
	return rft_get(r);
}

/* A multicast block is 32 LIDs by 16 ports: modifier bits 0-8 the block, 28-31 the port group. */
static bool mft_where(struct req *r, unsigned *block, unsigned *group)
{
	*block = r->mod & 0x1ff;
	*group = r->mod >> 28;
	return block_there(*block, r->s->cfg.mft_cap, IBA_MFT_BLOCK) &&
	       *group <= fnode(r)->nports / 16u;
}

static unsigned mft_get(struct req *r)
{
	struct iba_mft t = {0};
	unsigned block, group;

	if (!mft_where(r, &block, &group))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned i = 0; r->s->nodes[r->n].mft && i < IBA_MFT_BLOCK; i++)
		t.mask[i] = r->s->nodes[r->n].mft[(block * IBA_MFT_BLOCK + i) * 16 + group];
	iba_mft_put(&t, r->out);
	return IBA_STATUS_OK;
}

static unsigned mft_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	struct iba_mft t;
	unsigned block, group;

	if (!mft_where(r, &block, &group))
		return IBA_STATUS_BAD_FIELD;
	if (!node->mft)
		node->mft = mem_zarray((r->s->cfg.mft_cap + 31u) / 32 * 32 * 16, sizeof(*node->mft));
	iba_mft_get(&t, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
		node->mft[(block * IBA_MFT_BLOCK + i) * 16 + group] = t.mask[i];
	return mft_get(r);
}

static unsigned notice_get(struct req *r)
{
	const struct trap_slot *t = r->s->nodes[r->n].trap;
	struct iba_notice none = {0};

	iba_notice_put(t[TRAP_SLOT_LINK].pending   ? &t[TRAP_SLOT_LINK].notice
		       : t[TRAP_SLOT_MKEY].pending ? &t[TRAP_SLOT_MKEY].notice
						   : &none,
		       r->out);
	return IBA_STATUS_OK;
}

/* Which attributes an SMA has, and what answers them. A missing function is a bad method. */
static const struct {
	uint16_t attr_id;
	bool switch_only;
	unsigned (*get)(struct req *r);
	unsigned (*set)(struct req *r);
} attributes[] = {
	{IBA_ATTR_LFT, true, lft_get, lft_set},
	{IBA_ATTR_PORT_INFO, false, port_info_get, port_info_set},
	{IBA_ATTR_NODE_INFO, false, node_info_get, NULL},
	{IBA_ATTR_SWITCH_INFO, true, switch_info_get, switch_info_set},
	{IBA_ATTR_NODE_DESC, false, node_desc_get, NULL},
	{IBA_ATTR_GUID_INFO, false, guid_info_get, guid_info_set},
	{IBA_ATTR_PKEY_TABLE, false, pkey_get, pkey_set},
	{IBA_ATTR_SLVL_TABLE, false, slvl_get, slvl_set},
	{IBA_ATTR_VLARB_TABLE, false, vlarb_get, vlarb_set},
	{IBA_ATTR_RFT, true, rft_get, rft_set},
	{IBA_ATTR_MFT, true, mft_get, mft_set},
	{IBA_ATTR_NOTICE, false, notice_get, NULL},
};

/* ---- the M_Key (thesis 3.1.3, IBA 14.2.4) ---- */

/* The lease runs from the first wrong key on: a stranger who keeps asking must not prolong it. */
static void lease_start(struct sim *s, port_id at)
{
	struct sim_port *p = &s->ports[at];

	if (!p->pi.m_key_lease || p->lease_runs)
		return;
	p->lease_runs = true;
	sim_push(s, s->now + p->pi.m_key_lease * PS_PER_S, PRIO_WORLD,
		 (struct ev){.kind = EV_LEASE, .a = at, .b = ++p->lease_epoch});
}

/* Nobody showed the key for a lease period: whoever asks may read it now, and so take over. */
void sma_lease_over(struct sim *s, port_id at, uint32_t epoch)
{
	if (s->ports[at].lease_epoch != epoch)
		return;
	s->ports[at].lease_runs = false;
	s->ports[at].pi.m_key_protect = 0;
}

/* The port whose key guards a request. */
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
		s->ports[at].lease_epoch++; /* a lease that runs is stopped */
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

static void respond(struct sim *s, node_id n, const struct pkt *p, unsigned status, struct sim_smp *out)
{
	const uint8_t *m = p->smp.mad;

	iba_smp_set_method(out->mad, IBA_GET_RESP);
	iba_smp_set_status(out->mad, (uint16_t)(status | (iba_smp_is_dr(m) ? IBA_STATUS_DR_RETURN : 0)));
	out->dlid = p->smp.slid;
	out->slid = p->smp.dlid;
	smi_inject(s, n, p->in_port, out);
}

void sma_handle(struct sim *s, node_id n, struct pkt *p)
{
	unsigned method = iba_smp_method(p->smp.mad);
	uint16_t attr_id = iba_smp_attr_id(p->smp.mad);
	const struct iba_port_info *guard = &s->ports[guard_of(s, n, p)].pi;
	/* Level 1: everybody may read, but only who has the key may see it. */
	bool hide = guard->m_key && guard->m_key_protect == 1 &&
		    iba_smp_m_key(p->smp.mad) != guard->m_key;
	struct sim_smp out = p->smp;
	struct req r = {s, n, p->in_port, iba_smp_attr_mod(p->smp.mad), iba_smp_data_const(p->smp.mad),
			iba_smp_data(out.mad)};
	unsigned status;

	if (method == IBA_TRAP_REPRESS) {
		trap_repress(s, n, &p->smp);
		return;
	}
	status = answer(&r, method, attr_id);
	if (hide && attr_id == IBA_ATTR_PORT_INFO && !status)
		memset(iba_smp_data(out.mad), 0, 8);
	respond(s, n, p, status, &out);
}
