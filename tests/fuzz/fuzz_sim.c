/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a stream of SMPs thrown at the nodes of a small live fabric, with cables and power
 * coming and going between: no crash, packets always add up, and when all nodes are off the kernel
 * comes to its end. State: struct play, one an input. Way in: libFuzzer, or replay.c over files.
 */
#include "simfuzz.h"
#include "sim/kernel/sim_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(struct play *p, unsigned events)
{
	while (events-- && sim_step(p->sim))
		check_sums(p);
}

/* A switch, two HCAs in vSwitch mode with two VFs each, a host: nodes 0 to 3, functions behind them. */
static struct fab *draw_virtual(void)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *compact, *plain, *f;
	struct err e;

	fab_add_node(b, IBA_NODE_SWITCH, 0x10, 4, "switch");
	for (unsigned i = 1; i <= 3; i++) {
		fab_add_node(b, IBA_NODE_CA, 0x100 * i, 1, "host");
		CHECK(!fab_add_link(b, i, 1, 0, i));
		fab_builder_node(b, i)->sriov = i < 3 ? FAB_SRIOV_VSWITCH : FAB_SRIOV_SHARED;
		fab_builder_node(b, i)->vfs = i < 3 ? 2 : 9;
	}
	compact = fab_build(b);
	plain = fab_wire(compact, &e);
	CHECK(plain);
	f = fab_assign_lids(plain, 0, &e);
	CHECK(f);
	fab_free(plain);
	fab_free(compact);
	return f;
}

static bool is_inside(const struct play *p, port_id a)
{
	unsigned flags = p->fab->nodes[p->fab->ports[a].node].flags;

	return flags & FAB_FUNCTION ||
	       (flags & FAB_VSWITCH && p->fab->ports[a].num >= FAB_SLOT0_PORT);
}

/* ---- what the input may do ---- */

/* An SM that answers back: what it got, sent again as its answer. */
static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct play *p = ctx;
	struct sim_smp s = *smp;

	if (!p->echoes)
		return;
	p->echoes--;
	if (iba_smp_method(s.mad) == IBA_TRAP)
		iba_smp_set_method(s.mad, IBA_TRAP_REPRESS);
	s.dlid = smp->slid;
	s.slid = smp->dlid;
	sim_send(p->sim, 3, 1, &s);
}

/* The rest of an SMP: so many bytes from an offset on. */
static void overlay(struct play *p, uint8_t *mad)
{
	unsigned at = byte(p), n = byte(p);

	for (unsigned i = 0; i < n && at + i < IBA_MAD_SIZE && p->left; i++)
		mad[at + i] = (uint8_t)byte(p);
}

static void do_smp(struct play *p)
{
	static const uint8_t attrs[] = {0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18,
					0x19, 0x1a, 0x1b, 0x02, 0x20, 0x15, 0x15, 0x12};
	static const uint8_t methods[] = {IBA_GET,	    IBA_SET,	  IBA_TRAP,
					  IBA_TRAP_REPRESS, IBA_GET_RESP, IBA_SET};
	node_id n = byte(p) % p->fab->nnodes;
	unsigned how = byte(p), attr = byte(p);
	struct sim_smp s = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	iba_smp_init(s.mad, how & 1 ? IBA_CLASS_SUBN_DR : IBA_CLASS_SUBN_LID,
		     methods[(how >> 1) % sizeof(methods)], attrs[attr % sizeof(attrs)], byte(p));
	iba_smp_set_dr_slid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(s.mad, IBA_LID_PERMISSIVE);
	if (how & 0x20) {
		iba_smp_set_attr_mod(s.mad, iba_smp_attr_mod(s.mad) | byte(p) << 16);
		iba_smp_set_m_key(s.mad, byte(p) & 3);
	}
	if (how & 1) {
		iba_smp_set_hop_cnt(s.mad, attr >> 4);
		for (unsigned i = 1; i <= attr >> 4; i++)
			iba_smp_initial_path(s.mad)[i] = (uint8_t)byte(p);
	} else {
		s.slid = p->fab->ports[fab_port_id(p->fab, n, way_in(p->fab, n))].lid;
		s.dlid = (uint16_t)byte(p);
	}
	if (how & 0x40)
		memset(iba_smp_data(s.mad), (int)byte(p), IBA_SMP_DATA_SIZE);
	if (how & 0x80)
		overlay(p, s.mad);
	sim_send(p->sim, n, way_in(p->fab, n), &s);
}

/* PortInfo as it is, with one or two things changed: what an SM orders. */
static void do_order(struct play *p)
{
	node_id n = byte(p) % p->fab->nnodes;
	unsigned num = byte(p) % (p->fab->nodes[n].nports + 1u), key = byte(p) & 3;
	struct iba_port_info pi = *sim_port_info(p->sim, fab_port_id(p->fab, n, num));
	uint8_t d[IBA_SMP_DATA_SIZE];

	pi.state = pi.phys_state = 0;
	pi.lid = pi.lid ? pi.lid : 40;
	for (unsigned i = 0; i < 2; i++) {
		unsigned field = byte(p), v = byte(p);

		switch (field % 8) {
		case 0:
			pi.state = v % 6;
			break;
		case 1:
			pi.phys_state = v % 6;
			break;
		case 2:
			pi.m_key = v & 3;
			break;
		case 3:
			pi.m_key_protect = v & 3;
			pi.m_key_lease = v >> 2;
			break;
		case 4:
			pi.lid = (uint16_t)(v * 257);
			break;
		case 5:
			pi.lmc = v & 7;
			break;
		case 6:
			pi.neighbor_mtu = v & 7;
			pi.oper_vls = v >> 4 & 7;
			break;
		case 7:
			pi.subnet_timeout = v & 31;
			break;
		}
	}
	iba_port_info_put(&pi, d);
	send_local(p, n, way_in(p->fab, n), key, IBA_ATTR_PORT_INFO, num, d);
}

/* VFInfo at a vSwitch, from the node itself or from another one. */
static void do_functions(struct play *p)
{
	node_id n = 1 + byte(p) % 2;
	unsigned how = byte(p), slot = byte(p) % 4, key = byte(p) & 3;
	struct iba_vf_info v = {.count = (uint8_t)(how & 7)};
	uint8_t d[IBA_SMP_DATA_SIZE];

	for (unsigned i = 0; i < IBA_VF_SLOTS; i++) {
		v.lid[i] = (uint16_t)(byte(p) * (how & 8 ? 257 : 1));
		v.guid[i] = how & 16 ? byte(p) : 0;
	}
	iba_vf_info_put(&v, d);
	send_local(p, n, way_in(p->fab, n), key, IBA_ATTR_VF_INFO, how & 32 ? slot << 8 : slot, d);
}

/* Both ends of a link inside an HCA are Down, or none is. */
static void check_functions(const struct play *p)
{
	for (port_id a = 0; a < p->fab->nports; a++) {
		port_id b = p->fab->ports[a].peer;

		if (is_inside(p, a) && p->fab->ports[a].num)
			CHECK((sim_port_info(p->sim, a)->state == IBA_PORT_DOWN) ==
			      (sim_port_info(p->sim, b)->state == IBA_PORT_DOWN));
	}
}

static void do_raw(struct play *p)
{
	node_id n = byte(p) % p->fab->nnodes;
	struct sim_smp s = {0};

	s.slid = (uint16_t)(byte(p) << 8 | byte(p));
	s.dlid = (uint16_t)(byte(p) << 8 | byte(p));
	for (unsigned i = 0; i < IBA_MAD_SIZE && p->left; i++)
		s.mad[i] = (uint8_t)byte(p);
	sim_send(p->sim, n, way_in(p->fab, n), &s);
}

static void do_cable(struct play *p)
{
	port_id a = byte(p) % p->fab->nports, b = byte(p) % p->fab->nports;

	if (is_inside(p, a) || is_inside(p, b))
		return;
	if (sim_port_peer(p->sim, a) != FAB_NONE)
		sim_uncable(p->sim, a);
	else if (a != b && p->fab->ports[a].num && p->fab->ports[b].num &&
		 sim_port_peer(p->sim, b) == FAB_NONE)
		sim_cable(p->sim, a, b);
}

static void do_faults(struct play *p)
{
	struct sim_faults f = {.loss_q32 = (uint64_t)byte(p) << 24,
			       .delay_q32 = (uint64_t)byte(p) << 24,
			       .dup_q32 = (uint64_t)byte(p) << 22,
			       .delay_max_ps = byte(p) * PS_PER_US};

	sim_set_faults(p->sim, &f);
}

static void do_one(struct play *p)
{
	node_id n;

	switch (byte(p) % (p->fab->nodes[1].flags & FAB_VSWITCH ? 10 : 9)) {
	case 0:
		do_raw(p);
		break;
	case 1:
	case 2:
		do_smp(p);
		break;
	case 3:
		do_cable(p);
		break;
	case 4:
		n = byte(p) % p->fab->nnodes;
		sim_node_power(p->sim, n, !sim_node_on(p->sim, n));
		break;
	case 5:
		run(p, byte(p));
		break;
	case 6:
		sim_attach(p->sim, 3, 1, byte(p) & 1 ? on_smp : NULL, p);
		break;
	case 7:
		do_faults(p);
		break;
	case 8:
		do_order(p);
		break;
	case 9:
		do_functions(p);
		break;
	}
	check_sums(p);
	check_functions(p);
}

/* Traps and routing loops go on for ever while there is power; without it nothing may. */
static void wind_up(struct play *p)
{
	run(p, 500);
	fab_free(sim_snapshot(p->sim));
	for (node_id n = 0; n < p->fab->nnodes; n++)
		sim_node_power(p->sim, n, false);
	check_sums(p);
	for (unsigned i = 0; sim_step(p->sim); i++)
		CHECK(i < 1000000);
	/* Unless simulated time itself was over before. */
	CHECK(sim_stats(p->sim)->in_flight == 0 || sim_now(p->sim) > TIME_NEVER - PS_PER_S);
	check_sums(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fab *plain, *virtual;
	struct fab *f;
	struct play p = {.data = data, .left = size, .echoes = 1000};
	struct sim_config c;
	unsigned flags;

	plain = plain ? plain : draw();
	virtual = virtual ? virtual : draw_virtual();
	sim_config_default(&c);
	flags = byte(&p);
	f = flags & 128 ? virtual : plain;
	p.fab = f;
	c.traps = flags & 1;
	c.trap_limit = flags & 2 ? 3 : 0;
	c.training_ps = flags & 4 ? 3 * PS_PER_US : 0;
	c.rft_cap = flags & 8 ? 40 : 0;
	c.pkey_cap = flags & 16 ? 40 : 32;
	c.vlarb_cap = flags & 32 ? 32 : 64;
	p.sim = sim_new(f, &c);
	for (node_id n = 0; n < f->nnodes; n++)
		sim_node_power(p.sim, n, true);
	sim_attach(p.sim, 3, 1, on_smp, &p);
	if (!(flags & 64)) {
		bring_up(&p);
		run(&p, 2000);
	}
	for (unsigned i = 0; p.left && i < 300; i++)
		do_one(&p);
	wind_up(&p);
	sim_free(p.sim);
	return 0;
}
