/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd but legal fabrics: what sites and laboratories connect and no formula describes. State: struct
 * odd, one a call. Way in: gen_odd(). Draws only from the seed; each seed leaves out about half of
 * the oddities, so that each of them meets the others in all combinations.
 */
#include "base/rng.h"
#include "fabric/gen_priv.h"

enum { STREAM = 0x6f6464 };

enum oddity {
	ODD_PARALLEL = 1 << 0,	/* several cables between two switches */
	ODD_LOOPS = 1 << 1,	/* cables between two ports of one node */
	ODD_CHAIN = 1 << 2,	/* switches in a row */
	ODD_ISLANDS = 1 << 3,	/* several subnets, nodes without cables, hosts back to back */
	ODD_DUAL_PORT = 1 << 4, /* hosts with several ports in one subnet */
	ODD_DUAL_RAIL = 1 << 5, /* hosts with a port in each of two subnets */
	ODD_ROUTERS = 1 << 6,
	ODD_WIDE = 1 << 7,   /* a switch with 254 ports */
	ODD_COUNTS = 1 << 8, /* odd numbers of ports, down to 1 */
	ODD_RATES = 1 << 9,  /* links of all rates, cables of all lengths */
	ODD_PORT0 = 1 << 10, /* enhanced port 0 */
	ODD_NAMES = 1 << 11, /* equal names and names without letters */
	ODD_GUIDS = 1 << 12, /* GUIDs in no order */
	ODD_BARE = 1 << 13,  /* switches without hosts */
};

enum {
	END_PORTS_MAX = 4,
	CHAIN_LONG = 80, /* beyond the 63 hops of a directed route */
	SUBNETS_MAX = 3,
	VENDOR = 0x2c9,
	DEVICE_SWITCH = 0xc738,
	DEVICE_HOST = 0x1003,
};

struct odd {
	struct gen G;
	struct rng rng;
	unsigned kinds;			  /* enum oddity */
	unsigned nports;		  /* of an ordinary switch */
	uint32_t nends;			  /* hosts and routers so far */
	uint32_t stride;		  /* odd: an order for GUIDs */
	VEC(node_id) subnet[SUBNETS_MAX]; /* switches */
	unsigned nsubnets;
	VEC(node_id) hosts;
};

static bool has(const struct odd *s, enum oddity k)
{
	return s->kinds & k;
}

static unsigned between(struct odd *s, unsigned low, unsigned high)
{
	return low + rng_below(&s->rng, high - low + 1);
}

static bool one_in(struct odd *s, unsigned n)
{
	return !rng_below(&s->rng, n);
}

/* ---- nodes ---- */

/* Different for all numbers up to 65535, in an order that the seed selects. */
static uint64_t scattered(const struct odd *s, uint32_t number)
{
	return (number * s->stride) & 0xffff;
}

static void name_oddly(struct odd *s, node_id n)
{
	static const char *const names[] = {"localhost", "localhost HCA-1", "MT4099", " ", "#1"};

	if (has(s, ODD_NAMES) && one_in(s, 3))
		fab_builder_rename(s->G.b, n, names[rng_below(&s->rng, ARRAY_LEN(names))]);
}

static unsigned switch_ports(struct odd *s)
{
	static const unsigned counts[] = {1, 2, 3, 5, 7, 9, 13, 37, 63, 65};
	unsigned limit = s->G.spec->ports ? s->G.spec->ports : GEN_MAX_PORTS, n = s->nports;

	if (has(s, ODD_COUNTS) && one_in(s, 2))
		n = counts[rng_below(&s->rng, ARRAY_LEN(counts))];
	return MIN(n, limit);
}

static node_id odd_switch(struct odd *s, uint64_t guid, unsigned nports, unsigned subnet)
{
	char name[32];
	node_id n;

	snprintf(name, sizeof(name), "switch %u", s->G.nswitches);
	if (!guid)
		guid = 0x0002000000000001ull + scattered(s, s->G.nswitches);
	s->G.nswitches++;
	n = fab_add_node(s->G.b, IBA_NODE_SWITCH, guid, nports, name);
	fab_builder_node(s->G.b, n)->vendor_id = VENDOR; /* tools ask only such nodes for FDR10 */
	fab_builder_node(s->G.b, n)->device_id = DEVICE_SWITCH;
	if (has(s, ODD_PORT0) && one_in(s, 2))
		fab_builder_node(s->G.b, n)->flags |= FAB_ENHANCED_PORT0;
	name_oddly(s, n);
	vec_push(&s->subnet[subnet], n);
	return n;
}

static node_id odd_end(struct odd *s, enum iba_node_type type, uint64_t guid, unsigned nports)
{
	bool router = type == IBA_NODE_ROUTER;
	char name[32];
	node_id n;

	snprintf(name, sizeof(name), "%s %u", router ? "router" : "host", s->nends);
	if (!guid)
		guid = 0x0001000000000010ull + 16 * scattered(s, s->nends);
	s->nends++;
	n = fab_add_node(s->G.b, type, guid, nports, name);
	fab_builder_node(s->G.b, n)->sys_guid = guid + 15;
	fab_builder_node(s->G.b, n)->vendor_id = VENDOR;
	fab_builder_node(s->G.b, n)->device_id = DEVICE_HOST;
	for (unsigned p = 1; p <= nports; p++)
		fab_builder_port(s->G.b, n, p)->guid = guid + p;
	name_oddly(s, n);
	if (!router)
		vec_push(&s->hosts, n);
	return n;
}

/* ---- cables ---- */

static unsigned free_ports(struct odd *s, node_id n)
{
	unsigned count = 0;

	for (unsigned p = 1; p <= fab_builder_node(s->G.b, n)->nports; p++)
		count += fab_builder_port(s->G.b, n, p)->peer == FAB_NONE;
	return count;
}

/* A port without a cable, any of them; 0 when all are taken. */
static unsigned free_port(struct odd *s, node_id n)
{
	unsigned count = free_ports(s, n), nth;

	if (!count)
		return 0;
	nth = rng_below(&s->rng, count);
	for (unsigned p = 1;; p++)
		if (fab_builder_port(s->G.b, n, p)->peer == FAB_NONE && !nth--)
			return p;
}

static void draw_rate(struct odd *s, node_id a, unsigned pa, node_id b, unsigned pb)
{
	static const uint8_t widths[] = {1, 2, 4, 4, 4, 8, 12};
	struct fab_port *x = fab_builder_port(s->G.b, a, pa), *y = fab_builder_port(s->G.b, b, pb);

	x->width = y->width = widths[rng_below(&s->rng, ARRAY_LEN(widths))];
	x->speed = y->speed = (uint8_t)between(s, FAB_SDR, FAB_XDR);
	if (one_in(s, 2))
		x->cable_cm = y->cable_cm = between(s, 1, one_in(s, 8) ? 1000000 : 3000);
}

/* False when one of the two has no port left. */
static bool join(struct odd *s, node_id a, node_id b)
{
	unsigned pa, pb;

	if (a == b ? free_ports(s, a) < 2 : !free_ports(s, a) || !free_ports(s, b))
		return false;
	pa = free_port(s, a);
	do
		pb = free_port(s, b);
	while (a == b && pa == pb);
	gen_link(&s->G, a, pa, b, pb);
	if (has(s, ODD_RATES))
		draw_rate(s, a, pa, b, pb);
	return true;
}

static node_id any_switch(struct odd *s, unsigned subnet)
{
	return s->subnet[subnet].at[rng_below(&s->rng, (uint32_t)s->subnet[subnet].n)];
}

/* A switch with a port left, FAB_NONE when the draws find none. */
static node_id open_switch(struct odd *s, unsigned subnet)
{
	for (int i = 0; i < 16; i++) {
		node_id n = any_switch(s, subnet);

		if (free_ports(s, n))
			return n;
	}
	return FAB_NONE;
}

/* ---- subnets ---- */

static void chain(struct odd *s, unsigned subnet, unsigned length)
{
	node_id at = open_switch(s, subnet);

	for (unsigned i = 0; i < length; i++) {
		node_id n = odd_switch(s, 0, between(s, 2, 4), subnet);

		if (at != FAB_NONE)
			join(s, at, n);
		at = n;
	}
}

static void tree(struct odd *s, unsigned subnet, unsigned nswitches)
{
	for (unsigned i = 0; i < nswitches; i++) {
		node_id to = s->subnet[subnet].n ? open_switch(s, subnet) : FAB_NONE, n;

		n = odd_switch(s, 0, switch_ports(s), subnet);
		if (to != FAB_NONE)
			join(s, n, to);
	}
}

static void more_links(struct odd *s, unsigned subnet)
{
	unsigned n = (unsigned)s->subnet[subnet].n;

	for (unsigned i = rng_below(&s->rng, n + 1); i; i--) {
		node_id a = any_switch(s, subnet), b = any_switch(s, subnet);

		for (unsigned k = has(s, ODD_PARALLEL) ? between(s, 1, 4) : 1; a != b && k; k--)
			join(s, a, b);
	}
	for (unsigned i = has(s, ODD_LOOPS) ? between(s, 1, 3) : 0; i; i--) {
		node_id a = any_switch(s, subnet);

		join(s, a, a);
	}
}

static void plain_hosts(struct odd *s, unsigned subnet)
{
	for (size_t i = 0; i < s->subnet[subnet].n; i++) {
		node_id sw = s->subnet[subnet].at[i];
		unsigned room = free_ports(s, sw), n = between(s, 0, 3);

		n = MIN(n, room);
		if (has(s, ODD_BARE) && one_in(s, 2))
			continue;
		if (room > 100) /* a switch with 254 ports */
			n = one_in(s, 8) ? room - between(s, 0, 9) : between(s, 0, 24);
		for (; n; n--)
			join(s, sw, odd_end(s, IBA_NODE_CA, 0, one_in(s, 4) ? 2 : 1));
	}
}

static void make_subnet(struct odd *s, unsigned subnet, unsigned size)
{
	unsigned row = has(s, ODD_CHAIN) && size > 2 ? between(s, 1, size - 1) : 0;
	bool wide = has(s, ODD_WIDE) && (!s->G.spec->ports || s->G.spec->ports == GEN_MAX_PORTS);

	if (wide && !subnet) {
		odd_switch(s, 0, GEN_MAX_PORTS, subnet);
		size -= size > 1;
		row = MIN(row, size - 1);
	}
	tree(s, subnet, size - row);
	more_links(s, subnet);
	if (row && !s->G.spec->ndims && one_in(s, 8))
		row = CHAIN_LONG;
	chain(s, subnet, row);
	plain_hosts(s, subnet);
}

/* ---- nodes between and beside the subnets ---- */

static void several_ports(struct odd *s, enum iba_node_type type, bool rails)
{
	unsigned nports = has(s, ODD_COUNTS) ? between(s, 2, END_PORTS_MAX) : 2;
	node_id n = odd_end(s, type, 0, nports), sw = FAB_NONE;
	unsigned subnet = rng_below(&s->rng, s->nsubnets);

	for (unsigned p = 0; p < nports; p++) {
		if (!p || one_in(s, 2)) /* otherwise on the same switch again */
			sw = open_switch(s, subnet);
		if (sw != FAB_NONE)
			join(s, n, sw);
		if (rails)
			subnet = (subnet + 1) % s->nsubnets;
	}
}

static void end_nodes(struct odd *s)
{
	for (unsigned i = has(s, ODD_DUAL_PORT) ? between(s, 1, 4) : 0; i; i--)
		several_ports(s, IBA_NODE_CA, false);
	for (unsigned i = has(s, ODD_DUAL_RAIL) ? between(s, 1, 4) : 0; i; i--)
		several_ports(s, IBA_NODE_CA, true);
	for (unsigned i = has(s, ODD_ROUTERS) ? between(s, 1, 3) : 0; i; i--)
		several_ports(s, IBA_NODE_ROUTER, one_in(s, 2));
}

static void loose_nodes(struct odd *s)
{
	node_id a, b;

	if (has(s, ODD_LOOPS) && one_in(s, 4)) {
		a = odd_end(s, IBA_NODE_CA, 0, 2);
		join(s, a, a);
	}
	if (!has(s, ODD_ISLANDS))
		return;
	if (one_in(s, 2))
		odd_end(s, IBA_NODE_CA, 0, between(s, 1, 2));
	if (one_in(s, 3)) {
		a = odd_end(s, IBA_NODE_CA, 0, between(s, 1, 2));
		b = odd_end(s, IBA_NODE_CA, 0, 1);
		join(s, a, b);
	}
}

/* ---- what is not legal: --duplicates ---- */

static node_id any_host(struct odd *s)
{
	return s->hosts.at[rng_below(&s->rng, (uint32_t)s->hosts.n)];
}

/* One more host with the port GUID of a host or of a switch. */
static void twin_port(struct odd *s, bool of_switch)
{
	node_id sw = open_switch(s, 0), host;
	uint64_t guid;

	if (sw == FAB_NONE || (!of_switch && !s->hosts.n))
		return;
	guid = of_switch ? fab_builder_port(s->G.b, any_switch(s, 0), 0)->guid
			 : fab_builder_port(s->G.b, any_host(s), 1)->guid;
	host = odd_end(s, IBA_NODE_CA, 0, 1);
	fab_builder_port(s->G.b, host, 1)->guid = guid;
	join(s, host, sw);
}

/* One more node that is in all respects another one, as after a copied firmware image. */
static void twin_node(struct odd *s, bool of_switch)
{
	node_id sw = open_switch(s, 0), like, twin;
	struct fab_node n;

	if (sw == FAB_NONE || (!of_switch && !s->hosts.n))
		return;
	like = of_switch ? any_switch(s, 0) : any_host(s);
	n = *fab_builder_node(s->G.b, like);
	twin = of_switch ? odd_switch(s, n.guid, n.nports, 0)
			 : odd_end(s, IBA_NODE_CA, n.guid, n.nports);
	join(s, twin, sw);
}

static void twin_lid(struct odd *s)
{
	uint16_t lid = (uint16_t)between(s, 1, 200);

	fab_builder_port(s->G.b, any_switch(s, 0), 0)->lid = lid;
	if (s->hosts.n)
		fab_builder_port(s->G.b, any_host(s), 1)->lid = lid;
	fab_builder_port(s->G.b, any_switch(s, s->nsubnets - 1), 0)->lid = lid;
}

static void duplicates(struct odd *s)
{
	for (unsigned i = between(s, 1, 3); i; i--) {
		switch (rng_below(&s->rng, 5)) {
		case 0:
			twin_port(s, false);
			break;
		case 1:
			twin_port(s, true);
			break;
		case 2:
			twin_node(s, false);
			break;
		case 3:
			twin_node(s, true);
			break;
		case 4:
			twin_lid(s);
			break;
		}
	}
}

/* ---- all together ---- */

/* Most are small: faults show there, and are understood there. */
static unsigned draw_size(struct odd *s)
{
	unsigned kind = rng_below(&s->rng, 10);

	return kind < 6 ? between(s, 1, 6) : kind < 9 ? between(s, 3, 16) : between(s, 8, 32);
}

static void odd_make(struct odd *s, unsigned size)
{
	bool several = has(s, ODD_ISLANDS) || has(s, ODD_DUAL_RAIL);

	s->nsubnets = several ? MIN(between(s, 2, SUBNETS_MAX), size) : 1;
	for (unsigned i = 0; i < s->nsubnets; i++)
		make_subnet(s, i, size / s->nsubnets + (i < size % s->nsubnets));
	end_nodes(s);
	loose_nodes(s);
	if (!s->nends) { /* a manager needs a seat, and traffic an end */
		node_id sw = open_switch(s, 0), host = odd_end(s, IBA_NODE_CA, 0, 1);

		if (sw != FAB_NONE)
			join(s, host, sw);
	}
	if (s->G.spec->duplicates)
		duplicates(s);
}

struct fab *gen_odd(const struct fab_gen *g, struct err *e)
{
	struct odd s = {0};
	unsigned size;
	struct fab *f;

	if ((g->ndims && gen_check_dims(g, 1, 1, e)) || gen_check_no_hosts(g, e) ||
	    gen_check_no_links(g, e) || gen_check_ports(g, 2, &(unsigned){0}, e))
		return NULL;
	if (g->ndims && g->dims[0] > 4096) {
		err_set(e, -EINVAL, "odd: %u switches asked for; at most 4096 are made",
			g->dims[0]);
		return NULL;
	}
	rng_seed(&s.rng, g->seed, STREAM);
	s.kinds = (unsigned)rng_u64(&s.rng);
	s.kinds &= g->width || g->speed ? ~(unsigned)ODD_RATES : ~0u;
	s.nports = between(&s, 4, one_in(&s, 4) ? 40 : 12);
	s.stride = has(&s, ODD_GUIDS) ? rng_below(&s.rng, 1 << 15) * 2 + 1 : 1;
	size = draw_size(&s);
	gen_begin(&s.G, g);
	odd_make(&s, g->ndims ? g->dims[0] : size);
	for (unsigned i = 0; i < SUBNETS_MAX; i++)
		vec_free(&s.subnet[i]);
	vec_free(&s.hosts);
	f = gen_end(&s.G);
	return f;
}
