/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fuzz targets of the simulation share: input taken byte by byte, a small fabric, and LIDs
 * and tables for it as an SM would have set them.
 */
#ifndef WEFT_SIMFUZZ_H
#define WEFT_SIMFUZZ_H

#include "route/route.h"
#include "sim/device/sim_device.h"
#include "sim/stats/sim_stats.h"

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "simulation: %s\n", #x);                                   \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct play {
	const uint8_t *data;
	size_t left;
	const struct fab *fab;
	struct sim *sim;
	unsigned echoes; /* what the fake SMs may still send */
};

static inline unsigned byte(struct play *p)
{
	if (!p->left)
		return 0;
	p->left--;
	return *p->data++;
}

static inline void check_sums(const struct play *p)
{
	const struct sim_stats *st = sim_stats(p->sim);
	uint64_t dropped = 0;

	for (unsigned i = 0; i < SIM_NDROPS; i++)
		dropped += st->dropped[i];
	CHECK(st->sent + st->duplicated == st->delivered + dropped + st->in_flight);
}

/* ---- the fabric: three switches in a triangle, a host at each, one host with two ports ---- */

static inline struct fab *draw(void)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *plain, *f;
	struct err e;

	for (unsigned i = 0; i < 3; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x10 + i, i == 2 ? 20 : 4, "switch");
	for (unsigned i = 0; i < 3; i++)
		CHECK(!fab_add_link(b, i, 1, (i + 1) % 3, 2));
	for (unsigned i = 0; i < 3; i++) {
		fab_add_node(b, IBA_NODE_CA, 0x100 + 16 * i, 2, i ? "host" : "");
		CHECK(!fab_add_link(b, 3 + i, 1, i, 3));
	}
	CHECK(!fab_add_link(b, 5, 2, 0, 4));
	fab_builder_node(b, 1)->flags |= FAB_ENHANCED_PORT0;
	plain = fab_build(b);
	f = fab_assign_lids(plain, 0, &e);
	CHECK(f);
	fab_free(plain);
	return f;
}

static inline unsigned way_in(const struct fab *f, node_id n)
{
	return fab_is_switch(f, n) ? 0 : 1;
}

/* An SMP from a node to itself. */
static inline void send_local(struct play *p, node_id n, unsigned port, uint64_t key, uint16_t attr,
			      uint32_t mod, const uint8_t *d)
{
	struct sim_smp s = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	iba_smp_init(s.mad, IBA_CLASS_SUBN_DR, IBA_SET, attr, mod);
	iba_smp_set_dr_slid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_m_key(s.mad, key);
	memcpy(iba_smp_data(s.mad), d, IBA_SMP_DATA_SIZE);
	sim_send(p->sim, n, port, &s);
}

/* LIDs and tables as an SM would have set them. */
static inline void bring_up(struct play *p)
{
	struct rt_opts o = {.root = FAB_NONE, .threads = 1};
	struct rt_tables *t;
	struct err e;

	CHECK(!rt_compute(&rt_fera, p->fab, &o, &t, &e));
	for (port_id q = 0; q < p->fab->nports; q++) {
		const struct fab_port *fp = &p->fab->ports[q];
		struct iba_port_info pi = *sim_port_info(p->sim, q);
		uint8_t d[IBA_SMP_DATA_SIZE];

		if (!fp->lid)
			continue;
		pi.state = pi.phys_state = 0;
		pi.lid = fp->lid;
		pi.sm_lid = p->fab->ports[fab_port_id(p->fab, 3, 1)].lid;
		iba_port_info_put(&pi, d);
		send_local(p, fp->node, fp->num, 0, IBA_ATTR_PORT_INFO, fp->num, d);
	}
	for (uint32_t sw = 0; sw < p->fab->nswitches; sw++) {
		node_id n = p->fab->switches[sw];
		struct iba_switch_info si = *sim_switch_info(p->sim, n);
		uint8_t d[IBA_SMP_DATA_SIZE];

		si.linear_top = (uint16_t)t->top_lid;
		iba_switch_info_put(&si, d);
		send_local(p, n, 0, 0, IBA_ATTR_SWITCH_INFO, 0, d);
		send_local(p, n, 0, 0, IBA_ATTR_LFT, 0, rt_row(t, sw));
	}
	rt_tables_free(t);
}

#endif
