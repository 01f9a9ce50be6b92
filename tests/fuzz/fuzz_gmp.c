/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as MADs of every class thrown at a live fabric in express mode, with links that lose and
 * delay, cables and power coming and going, programs that answer, and time passing: no crash, packets
 * always add up, and what was sent has come to its end when the fabric has settled. State: struct play,
 * one an input. Way in: libFuzzer, or replay.c over files.
 */
#include "simfuzz.h"
#include "sim/kernel/sim_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void settle(struct play *p, time_ps more)
{
	sim_settle(p->sim, sim_now(p->sim) + more);
	check_sums(p);
}

/* Every link Active: GMPs pass. */
static void activate(struct play *p)
{
	for (unsigned state = IBA_PORT_ARMED; state <= IBA_PORT_ACTIVE; state++) {
		for (port_id q = 0; q < p->fab->nports; q++) {
			const struct fab_port *fp = &p->fab->ports[q];
			struct iba_port_info pi = *sim_port_info(p->sim, q);
			uint8_t d[IBA_SMP_DATA_SIZE];

			if (!fp->num || fp->peer == FAB_NONE)
				continue;
			pi.state = (uint8_t)state;
			pi.phys_state = 0;
			iba_port_info_put(&pi, d);
			send_local(p, fp->node, fab_is_switch(p->fab, fp->node) ? 0 : fp->num, 0,
				   IBA_ATTR_PORT_INFO, fp->num, d);
		}
		settle(p, 0);
	}
}

/* A program that answers, sometimes with what it got. */
static void on_mad(void *ctx, const struct sim_smp *smp)
{
	struct play *p = ctx;
	struct sim_smp s = *smp;

	if (!p->echoes)
		return;
	p->echoes--;
	s.slid = smp->dlid;
	s.dlid = smp->slid;
	iba_smp_set_method(s.mad, iba_smp_method(s.mad) == IBA_TRAP ? IBA_TRAP_REPRESS
								    : iba_smp_method(s.mad) ^ 0x80);
	sim_send(p->sim, 3, 1, &s);
	sim_settle(p->sim, sim_now(p->sim));
}

/* The rest of a MAD: so many bytes from an offset on. */
static void overlay(struct play *p, uint8_t *mad)
{
	unsigned at = byte(p), n = byte(p);

	for (unsigned i = 0; i < n && at + i < IBA_MAD_SIZE && p->left; i++)
		mad[at + i] = (uint8_t)byte(p);
}

static uint16_t any_lid(struct play *p)
{
	unsigned v = byte(p);

	return (uint16_t)(v < 32 ? v : v < 64 ? v << 8 | byte(p) : IBA_LID_PERMISSIVE);
}

static void do_perf(struct play *p)
{
	static const uint8_t attrs[] = {0x01, 0x12, 0x1d, 0x10, 0x12, 0x1d};
	node_id n = byte(p) % p->fab->nnodes;
	struct sim_smp s = {.slid = (uint16_t)byte(p), .dlid = (uint16_t)(byte(p) & 15)};
	unsigned how = byte(p);

	iba_smp_init(s.mad, IBA_CLASS_PERF, how & 1 ? IBA_SET : IBA_GET,
		     attrs[(how >> 1) % sizeof(attrs)], 0);
	iba_smp_data(s.mad)[1] = (uint8_t)byte(p); /* PortSelect */
	memset(iba_smp_data(s.mad) + 2, (int)byte(p), 6);
	if (how & 0x80)
		overlay(p, s.mad);
	sim_send(p->sim, n, way_in(p->fab, n), &s);
}

static void do_raw(struct play *p)
{
	node_id n = byte(p) % p->fab->nnodes;
	struct sim_smp s = {.slid = any_lid(p), .dlid = any_lid(p), .sl = byte(p) & 15};

	iba_smp_init(s.mad, (enum iba_class)byte(p), (enum iba_method)byte(p), (uint16_t)byte(p),
		     byte(p));
	iba_smp_set_hop_cnt(s.mad, byte(p) & 7);
	iba_smp_set_dr_slid(s.mad, any_lid(p));
	iba_smp_set_dr_dlid(s.mad, any_lid(p));
	for (unsigned i = 1; i <= iba_smp_hop_cnt(s.mad); i++)
		iba_smp_initial_path(s.mad)[i] = (uint8_t)byte(p);
	overlay(p, s.mad);
	sim_send(p->sim, n, way_in(p->fab, n), &s);
}

/* PortInfo as it is, with a state, a physical state and rates: what ibportstate orders. */
static void do_order(struct play *p)
{
	node_id n = byte(p) % p->fab->nnodes;
	unsigned num = byte(p) % (p->fab->nodes[n].nports + 1u), how = byte(p), rates = byte(p);
	struct iba_port_info pi = *sim_port_info(p->sim, fab_port_id(p->fab, n, num));
	uint8_t d[IBA_SMP_DATA_SIZE];

	pi.lid = pi.lid ? pi.lid : 40;
	pi.state = how & 7;
	pi.phys_state = how >> 3 & 7;
	pi.speed_enabled = rates & 15;
	pi.width_enabled = rates >> 4 & 3;
	iba_port_info_put(&pi, d);
	send_local(p, n, way_in(p->fab, n), 0, IBA_ATTR_PORT_INFO, num, d);
}

static void do_world(struct play *p)
{
	unsigned what = byte(p);
	port_id a = byte(p) % p->fab->nports, b = byte(p) % p->fab->nports;
	struct sim_link_fault t = {.loss_q32 = (uint64_t)byte(p) << 24,
				   .latency_ps = byte(p) * PS_PER_US};

	switch (what % 5) {
	case 0:
		sim_set_link_fault(p->sim, a, &t);
		break;
	case 1:
		if (sim_port_peer(p->sim, a) != FAB_NONE)
			sim_uncable(p->sim, a);
		else if (a != b && p->fab->ports[a].num && p->fab->ports[b].num &&
			 sim_port_peer(p->sim, b) == FAB_NONE)
			sim_cable(p->sim, a, b);
		break;
	case 2:
		sim_node_power(p->sim, p->fab->ports[a].node, what & 0x80);
		break;
	case 3:
		sim_count(p->sim, a, (enum sim_counter)(b % SIM_NCOUNTERS), t.loss_q32 << 24);
		break;
	case 4:
		sim_flow(p->sim, p->fab->ports[a].node, p->fab->ports[a].num, (uint16_t)(b & 15),
			 t.loss_q32, (uint32_t)t.latency_ps);
		break;
	}
}

static void do_one(struct play *p)
{
	unsigned what = byte(p);

	switch (what % 8) {
	case 0:
	case 1:
		do_perf(p);
		break;
	case 2:
	case 3:
		do_raw(p);
		break;
	case 4:
		do_order(p);
		break;
	case 5:
		do_world(p);
		break;
	case 6:
		settle(p, byte(p) * 16 * PS_PER_US);
		break;
	case 7:
		sim_attach_port(p->sim, 3, 1, what & 8 ? on_mad : NULL, p);
		sim_set_is_sm(p->sim, 3, 1, what & 16);
		break;
	}
	check_sums(p);
	if (what & 0x80)
		settle(p, 0);
}

/* Without power nothing is forwarded: after the latency of the links no packet is left. */
static void wind_up(struct play *p)
{
	settle(p, 10 * PS_PER_MS);
	fab_free(sim_snapshot(p->sim));
	for (node_id n = 0; n < p->fab->nnodes; n++)
		sim_node_power(p->sim, n, false);
	settle(p, 10 * PS_PER_MS);
	CHECK(sim_stats(p->sim)->in_flight == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fab *f;
	struct play p = {.data = data, .left = size, .echoes = 1000};
	struct sim_config c;
	unsigned flags;

	f = f ? f : draw();
	p.fab = f;
	sim_config_default(&c);
	flags = byte(&p);
	c.express = true;
	c.traps = flags & 1;
	c.trap_limit = flags & 2 ? 3 : 0;
	c.training_ps = flags & 4 ? 3 * PS_PER_US : 0;
	c.faults.delay_q32 = c.faults.dup_q32 = flags & 8 ? 1u << 29 : 0;
	c.faults.delay_max_ps = PS_PER_MS;
	p.sim = sim_new(f, &c);
	for (node_id n = 0; n < f->nnodes; n++)
		sim_node_power(p.sim, n, true);
	sim_attach_port(p.sim, 3, 1, on_mad, &p);
	if (!(flags & 64)) {
		settle(&p, PS_PER_MS);
		bring_up(&p);
		settle(&p, 0);
		activate(&p);
	}
	for (unsigned i = 0; p.left && i < 300; i++)
		do_one(&p);
	wind_up(&p);
	sim_free(p.sim);
	return 0;
}
