/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speeds and widths of ports as in hardware: what a port supports and enables, and what two ends
 * agree on when their link trains. State: PortInfo. Ways in: rate_*(), with link_pairs on. Does not
 * change the time a transmission takes.
 */
#include "sim/device/device_priv.h"

enum {
	EXT_OFF = 30,
	EXT_ALL = 31,
	PLAIN_ALL = 15,
	WIDTH_ALL = 255
}; /* special values of *Enabled */

/* LinkSpeedSupported and LinkSpeedExtSupported of a port that reaches this speed. */
static const struct {
	uint8_t plain, ext;
} reach[FAB_NSPEEDS] = {
	[FAB_SDR] = {1, 0},  [FAB_DDR] = {3, 0}, [FAB_QDR] = {7, 0}, [FAB_FDR10] = {7, 0},
	[FAB_FDR] = {7, 1},  [FAB_EDR] = {7, 3}, [FAB_HDR] = {7, 7}, [FAB_NDR] = {7, 15},
	[FAB_XDR] = {7, 15}, /* IBA 1.5 has no bits for it */
};

static uint8_t widths_up_to(unsigned lanes)
{
	switch (lanes) {
	case 1:
		return IBA_WIDTH_1X;
	case 2:
		return IBA_WIDTH_1X | IBA_WIDTH_2X;
	case 8:
		return IBA_WIDTH_1X | IBA_WIDTH_4X | IBA_WIDTH_8X;
	case 12:
		return IBA_WIDTH_1X | IBA_WIDTH_4X | IBA_WIDTH_12X;
	}
	return IBA_WIDTH_1X | IBA_WIDTH_4X;
}

/* A port without a rate in the netlist is like the best other port of its node. */
static void best_of_node(const struct sim *s, node_id n, unsigned *speed, unsigned *lanes)
{
	const struct fab_node *fn = &s->fab->nodes[n];

	for (unsigned p = 1; p <= fn->nports; p++) {
		*speed = MAX(*speed, s->fab->ports[fn->first_port + p].speed);
		*lanes = MAX(*lanes, s->fab->ports[fn->first_port + p].width);
	}
}

void rate_power_on(struct sim *s, node_id n, unsigned num)
{
	const struct fab_port *fp = &s->fab->ports[s->fab->nodes[n].first_port + num];
	struct sim_port *p = node_port(s, n, num);
	unsigned speed = 0, lanes = 0;

	if (!fp->speed || !fp->width)
		best_of_node(s, n, &speed, &lanes);
	speed = fp->speed ? fp->speed : speed ? speed : FAB_QDR;
	lanes = fp->width ? fp->width : lanes;
	p->pi.width_supported = p->pi.width_enabled = widths_up_to(lanes);
	p->pi.speed_supported = p->pi.speed_enabled = reach[speed].plain;
	p->pi.speed_ext_supported = p->pi.speed_ext_enabled = reach[speed].ext;
	p->fdr10_supported = p->fdr10_enabled = speed >= FAB_FDR10;
	p->fdr10_active = 0;
	p->pi.width_active = IBA_WIDTH_4X;
	p->pi.speed_active = 1;
	p->pi.speed_ext_active = 0;
	if (num)
		return;
	p->pi.width_active = widths_up_to(lanes) & IBA_WIDTH_4X ? IBA_WIDTH_4X : IBA_WIDTH_1X;
	p->pi.speed_active = (reach[speed].plain + 1) / 2;
	p->pi.speed_ext_active = (reach[speed].ext + 1) / 2;
}

/* ---- what two ends have in common ---- */

static uint8_t ext_enabled(const struct iba_port_info *pi)
{
	return pi->speed_ext_enabled == EXT_OFF ? 0 : pi->speed_ext_enabled;
}

static uint8_t highest_bit(unsigned bits)
{
	return bits ? (uint8_t)(1u << (31 - (unsigned)__builtin_clz(bits))) : 0;
}

static uint8_t widest(unsigned bits)
{
	static const uint8_t order[] = {IBA_WIDTH_12X, IBA_WIDTH_8X, IBA_WIDTH_4X, IBA_WIDTH_2X,
					IBA_WIDTH_1X};

	for (unsigned i = 0; i < ARRAY_LEN(order); i++)
		if (bits & order[i])
			return order[i];
	return 0;
}

bool rate_agree(struct sim_port *a, struct sim_port *b)
{
	uint8_t width = widest(a->pi.width_enabled & b->pi.width_enabled);
	uint8_t ext = highest_bit(ext_enabled(&a->pi) & ext_enabled(&b->pi));
	uint8_t plain = highest_bit(a->pi.speed_enabled & b->pi.speed_enabled);
	bool fdr10 = !ext && plain == 4 && a->fdr10_enabled && b->fdr10_enabled;

	if (!width || (!plain && !ext))
		return false;
	a->pi.width_active = b->pi.width_active = width;
	a->pi.speed_ext_active = b->pi.speed_ext_active = ext;
	a->pi.speed_active = b->pi.speed_active = ext ? 4 : plain;
	a->fdr10_active = b->fdr10_active = fdr10;
	return true;
}

/* Whether the active speed and width are still enabled. A link that could be faster now keeps
 * its rate until it trains for another reason: ibportstate's manual says so, and an SM that
 * enables all speeds again must not break links. */
bool rate_fits(const struct sim_port *p)
{
	if (!(p->pi.width_active & p->pi.width_enabled) || p->fdr10_active > p->fdr10_enabled)
		return false;
	if (p->pi.speed_ext_active)
		return p->pi.speed_ext_active & ext_enabled(&p->pi);
	return p->pi.speed_active & p->pi.speed_enabled;
}

/* ---- Set ---- */

bool rate_ok(const struct iba_port_info *pi, const struct iba_port_info *v)
{
	if (v->width_enabled != WIDTH_ALL && v->width_enabled & ~pi->width_supported)
		return false;
	if (v->speed_enabled != PLAIN_ALL && v->speed_enabled & ~pi->speed_supported)
		return false;
	return v->speed_ext_enabled == EXT_ALL || v->speed_ext_enabled == EXT_OFF ||
	       !(v->speed_ext_enabled & ~pi->speed_ext_supported);
}

/* 0 means no change; "all" means what is supported, and reads back as that (IBA 14.2.5.6). */
void rate_take(struct iba_port_info *pi, const struct iba_port_info *v)
{
	if (v->width_enabled)
		pi->width_enabled =
			v->width_enabled == WIDTH_ALL ? pi->width_supported : v->width_enabled;
	if (v->speed_enabled)
		pi->speed_enabled =
			v->speed_enabled == PLAIN_ALL ? pi->speed_supported : v->speed_enabled;
	if (v->speed_ext_enabled && pi->speed_ext_supported)
		pi->speed_ext_enabled = v->speed_ext_enabled == EXT_ALL ? pi->speed_ext_supported
									: v->speed_ext_enabled;
}
