/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that asks at random, and a reference written without any of the code that answers: all records of a subnet made
 * from its simulated devices, and the comparison with a request component by component. State: struct world, with the
 * records of one moment. Requests: 3,000 for each fabric, or as many in all as SA_REQUESTS says.
 *
 * Covers: attributes.c key_records.c lane_records.c link_records.c node_records.c paths.c path_walk.c path_wish.c path_keys.c
 * port_records.c switch_records.c server.c view.c answer.c outbox.c transfers.c rates.c gids.c
 */
#include "sa_fixture.h"

#include <stdlib.h>

typedef VEC(uint8_t) bytes;

struct kind {
	uint16_t attr_id;
	size_t size;
	bytes all; /* records one after another */
	uint32_t n;
};

struct end {
	port_id port;
	uint64_t guid;
	uint16_t lid, nlids;
};

struct path {
	struct iba_sa_path r;
	unsigned rate; /* in units of 100 Mb/s */
	unsigned from, to;
};

enum { KINDS = 10 };

struct world {
	struct sa_rig rig;
	const struct fab *f;
	const struct sim *sim;
	struct kind kinds[KINDS];
	VEC(struct end) ends;
	VEC(struct path) paths; /* by end of the source, end of the destination, LIDs */
	struct rng rng;
};

/* ---- records of devices ---- */

static uint8_t *add(struct world *w, uint16_t attr_id)
{
	const struct iba_sa_layout *l = iba_sa_layout(attr_id);
	struct kind *k = w->kinds;

	while (k->attr_id && k->attr_id != attr_id)
		k++;
	assert_true(k < w->kinds + KINDS);
	k->attr_id = attr_id;
	k->size = l->table_size;
	vec_room(&k->all, k->all.n + k->size);
	k->all.n += k->size;
	k->n++;
	memset(k->all.at + k->all.n - k->size, 0, k->size);
	return k->all.at + k->all.n - k->size;
}

static port_id endport(const struct world *w, port_id p)
{
	const struct fab_node *n = &w->f->nodes[w->f->ports[p].node];

	return n->type == IBA_NODE_SWITCH ? n->first_port : p;
}

static uint16_t lid(const struct world *w, port_id p)
{
	return sim_port_info(w->sim, endport(w, p))->lid;
}

/* It is up and part of the manager's subnet. */
static bool is_there(const struct world *w, port_id p)
{
	return sim_node_on(w->sim, w->f->ports[p].node) && lid(w, p) &&
	       (fab_is_switch(w->f, w->f->ports[p].node) ||
		sim_port_info(w->sim, p)->state == IBA_PORT_ACTIVE);
}

static bool is_linked(const struct world *w, port_id p)
{
	return w->f->ports[p].num && sim_port_peer(w->sim, p) != FAB_NONE &&
	       sim_port_info(w->sim, p)->state == IBA_PORT_ACTIVE;
}

static void node_and_guids(struct world *w, port_id p)
{
	const struct fab_node *n = &w->f->nodes[w->f->ports[p].node];
	struct iba_sa_node r = {.lid = lid(w, p),
				.base_version = 1,
				.class_version = 1,
				.node_type = n->type,
				.num_ports = n->nports,
				.sys_guid = n->sys_guid,
				.node_guid = n->guid,
				.port_guid = sim_port_guid(w->sim, p),
				.partition_cap = 32,
				.device_id = n->device_id,
				.local_port = w->f->ports[p].num,
				.vendor_id = n->vendor_id};
	struct iba_sa_guid g = {.lid = r.lid, .guid0 = r.port_guid};
	const char *name = fab_node_name(w->f, w->f->ports[p].node);

	memcpy(r.desc, name, MIN(strlen(name), sizeof(r.desc)));
	iba_sa_node_put(&r, add(w, IBA_SA_NODE));
	iba_sa_guid_put(&g, add(w, IBA_SA_GUID));
}

static void switch_and_tables(struct world *w, node_id n)
{
	struct iba_switch_info si = *sim_switch_info(w->sim, n);
	uint8_t data[IBA_SMP_DATA_SIZE], *out = add(w, IBA_SA_SWITCH);
	struct iba_sa_switch rid = {.lid = lid(w, w->f->nodes[n].first_port)};

	iba_sa_switch_put(&rid, out);
	iba_switch_info_put(&si, data);
	memcpy(out + 4, data, 20);
	for (unsigned b = 0; b <= si.linear_top / IBA_LFT_BLOCK; b++) {
		struct iba_sa_lft r = {.lid = rid.lid, .block = (uint16_t)b};

		for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
			r.ports[i] = sim_lft(w->sim, n, b * IBA_LFT_BLOCK + i);
		iba_sa_lft_put(&r, add(w, IBA_SA_LFT));
	}
}

/* LocalPortNum of PortInfo is the port by which the device was asked: not a property of the device. */
enum { LOCAL_PORT = 32 };

static void port_and_link(struct world *w, port_id p)
{
	struct iba_sa_port rid = {.lid = lid(w, p), .port = w->f->ports[p].num};
	struct iba_sa_pkey k = {.lid = rid.lid, .port = rid.port, .pkeys = {0xff, 0xff}};
	port_id far = sim_port_peer(w->sim, p);
	uint8_t data[IBA_SMP_DATA_SIZE], *out = add(w, IBA_SA_PORT);

	iba_sa_port_put(&rid, out);
	iba_port_info_put(sim_port_info(w->sim, p), data);
	memcpy(out + 4, data, sizeof(data));
	out[LOCAL_PORT] = 0;
	iba_sa_pkey_put(&k, add(w, IBA_SA_PKEY)); /* as at power-on: no partitions are configured */
	if (is_linked(w, p)) {
		struct iba_sa_link r = {.from_lid = lid(w, p),
					.from_port = w->f->ports[p].num,
					.to_port = w->f->ports[far].num,
					.to_lid = lid(w, far)};

		iba_sa_link_put(&r, add(w, IBA_SA_LINK));
	}
}

/* ---- paths ---- */

static unsigned rate_of(const struct iba_port_info *pi)
{
	static const struct {
		unsigned bit, lanes;
	} widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
	unsigned lane = pi->speed_ext_active == 1   ? 140
			: pi->speed_ext_active == 2 ? 250
			: pi->speed_ext_active == 4 ? 500
			: pi->speed_ext_active == 8 ? 1000
						    : 25 * pi->speed_active;

	for (unsigned i = 0; i < 5; i++)
		if (widths[i].bit == pi->width_active)
			return lane * widths[i].lanes;
	return 0;
}

static const unsigned rates[] = {0,    0,    25,  100,	300,  50,   200,  400,	600,
				 800,  1200, 140, 560,	1120, 1680, 250,  1000, 2000,
				 3000, 280,  500, 4000, 6000, 8000, 12000};
enum { RATES = 25 };

static void narrow(const struct world *w, port_id p, unsigned *mtu, unsigned *rate)
{
	*mtu = MIN(*mtu, sim_port_info(w->sim, p)->mtu_cap);
	*rate = MIN(*rate, rate_of(sim_port_info(w->sim, p)));
}

/* As a packet goes, by the tables in the devices. False: it gets lost. */
static bool travels(const struct world *w, port_id from, port_id to, uint16_t dlid, unsigned *mtu,
		    unsigned *rate)
{
	port_id at = from;

	narrow(w, from, mtu, rate);
	if (from == to)
		return true;
	for (unsigned hops = 0; hops < 70; hops++) {
		node_id n = w->f->ports[at].node;

		if (fab_is_switch(w->f, n)) {
			unsigned out = sim_lft(w->sim, n, dlid);

			if (!out) {
				narrow(w, w->f->nodes[n].first_port, mtu, rate);
				return to == w->f->nodes[n].first_port;
			}
			if (out > w->f->nodes[n].nports)
				return false;
			at = fab_port_id(w->f, n, out);
			narrow(w, at, mtu, rate);
		} else if (hops) {
			return at == to;
		}
		if (sim_port_peer(w->sim, at) == FAB_NONE ||
		    sim_port_info(w->sim, at)->state != IBA_PORT_ACTIVE)
			return false;
		at = sim_port_peer(w->sim, at);
		narrow(w, at, mtu, rate);
		if (at == to)
			return true;
	}
	return false;
}

static uint8_t sl_of(const struct world *w, port_id from, port_id to, uint16_t dlid)
{
	const struct fab *f = w->f;
	port_id in = fab_is_switch(f, f->ports[from].node) ? from : sim_port_peer(w->sim, from);
	const uint8_t *sls;
	uint32_t top;

	if (from == to || !fab_is_switch(f, f->ports[in].node))
		return 0;
	sls = sm_sls_from(lab_sm(w->rig.lab), f->nodes[f->ports[in].node].guid, f->ports[in].num,
			  &top);
	return sls && dlid <= top ? sls[dlid] : 0;
}

static void add_path(struct world *w, unsigned a, unsigned b, unsigned s, unsigned d)
{
	const struct end *x = &w->ends.at[a], *y = &w->ends.at[b];
	struct path p = {.from = a, .to = b};
	unsigned mtu = 255, rate = UINT32_MAX, back_mtu = 255, back_rate = UINT32_MAX, code = 0;
	uint16_t slid = (uint16_t)(x->lid + s), dlid = (uint16_t)(y->lid + d);

	if (!travels(w, x->port, y->port, dlid, &mtu, &rate))
		return;
	while (rates[code] != rate)
		assert_true(++code < RATES);
	p.rate = rate;
	p.r = (struct iba_sa_path){.dlid = dlid,
				   .slid = slid,
				   .pkey = 0xffff,
				   .sl = sl_of(w, x->port, y->port, dlid),
				   .mtu_selector = 2,
				   .mtu = (uint8_t)mtu,
				   .rate_selector = 2,
				   .rate = (uint8_t)code,
				   .life_selector = 2,
				   .life = a == b ? 0 : 18,
				   .preference = s == d ? 0 : 2};
	p.r.reversible = travels(w, y->port, x->port, slid, &back_mtu, &back_rate) &&
			 sl_of(w, y->port, x->port, slid) == p.r.sl;
	p.r.sgid[0] = p.r.dgid[0] = 0xfe;
	p.r.sgid[1] = p.r.dgid[1] = 0x80;
	for (unsigned i = 0; i < 8; i++) {
		p.r.sgid[8 + i] = (uint8_t)(x->guid >> (56 - 8 * i));
		p.r.dgid[8 + i] = (uint8_t)(y->guid >> (56 - 8 * i));
	}
	vec_push(&w->paths, p);
}

static void pair(struct world *w, unsigned a, unsigned b)
{
	for (unsigned s = 0; s < w->ends.at[a].nlids; s++)
		for (unsigned d = 0; d < w->ends.at[b].nlids; d++)
			add_path(w, a, b, s, d);
}

/* ---- a moment ---- */

static void forget(struct world *w)
{
	for (unsigned i = 0; i < KINDS; i++) {
		vec_free(&w->kinds[i].all);
		w->kinds[i] = (struct kind){0};
	}
	vec_free(&w->ends);
	vec_free(&w->paths);
}

static void look(struct world *w)
{
	forget(w);
	w->f = lab_fabric(w->rig.lab);
	w->sim = lab_sim(w->rig.lab);
	for (port_id p = 0; p < w->f->nports; p++) {
		const struct fab_port *x = &w->f->ports[p];
		bool sw = fab_is_switch(w->f, x->node);

		if (!is_there(w, p) || (!sw && !x->num))
			continue;
		port_and_link(w, p);
		if (p != endport(w, p))
			continue;
		node_and_guids(w, p);
		vec_push(&w->ends, (struct end){p, sim_port_guid(w->sim, p), lid(w, p),
						(uint16_t)(1u << sim_port_info(w->sim, p)->lmc)});
		if (sw)
			switch_and_tables(w, x->node);
	}
	for (unsigned a = 0; a < w->ends.n; a++)
		for (unsigned b = 0; b < w->ends.n; b++)
			pair(w, a, b);
}

/* ---- what a request should find ---- */

static uint64_t value(const uint8_t *data, unsigned bit, unsigned width)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v = v << 1 | (data[(bit + i) / 8] >> (7 - (bit + i) % 8) & 1);
	return v;
}

static bool same_bits(const struct iba_sa_component *c, const uint8_t *a, const uint8_t *b)
{
	for (unsigned i = 0; i < c->width; i += 32) {
		unsigned width = MIN(c->width - i, 32u);

		if (value(a, c->bit + i, width) != value(b, c->bit + i, width))
			return false;
	}
	return true;
}

static bool in_range(const struct world *w, uint64_t asked, uint64_t base)
{
	for (size_t i = 0; i < w->ends.n; i++)
		if (w->ends.at[i].lid == base)
			return asked >= base && asked < base + w->ends.at[i].nlids;
	return false;
}

static bool wanted(const struct world *w, const struct sa_ask *a, const uint8_t *record)
{
	const struct iba_sa_layout *l = iba_sa_layout(a->attr_id);

	for (unsigned i = 0; i < l->ncomponents; i++) {
		const struct iba_sa_component *c = &l->components[i];
		uint64_t x = value(a->query, c->bit, MIN(c->width, 64));
		uint64_t y = value(record, c->bit, MIN(c->width, 64));

		if (!(a->mask >> i & 1) || c->reserved || !strcmp(c->name, "options"))
			continue;
		if (!strcmp(c->name, "lid") || !strcmp(c->name, "from_lid") ||
		    !strcmp(c->name, "to_lid")) {
			if (!in_range(w, x, y))
				return false;
		} else if (!strcmp(c->name, "cap_mask") && a->attr_mod >> 31) {
			if (x & ~y)
				return false;
		} else if (!strcmp(c->name, "cap_mask2") && a->attr_mod >> 30 & 1) {
			if (x & ~y)
				return false;
		} else if (!same_bits(c, a->query, record)) {
			return false;
		}
	}
	return true;
}

/* ---- comparing ---- */

static size_t record_size;

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, record_size);
}

static void text_of(const struct sa_ask *a, char *out, size_t len)
{
	const struct iba_sa_layout *l = iba_sa_layout(a->attr_id);
	size_t at = (size_t)snprintf(out, len, "%s method %#x mod %#x trusted %d:", l->name,
				     a->method, a->attr_mod, a->trusted);

	for (unsigned i = 0; i < l->ncomponents && at < len; i++)
		if (a->mask >> i & 1)
			at += (size_t)snprintf(
				out + at, len - at, " %s=%llx", l->components[i].name,
				(unsigned long long)value(a->query, l->components[i].bit,
							  MIN(l->components[i].width, 64)));
}

static void compare(const struct sa_ask *a, struct sa_reply *r, bytes *want, uint32_t n,
		    size_t size)
{
	char text[2048];

	text_of(a, text, sizeof(text));
	for (uint32_t i = 0; a->attr_id == IBA_SA_PORT && i < r->n; i++)
		r->records[i * size + LOCAL_PORT] = 0;
	if (a->method == IBA_GET && n != 1) {
		if (r->status != (n ? IBA_SA_TOO_MANY : IBA_SA_NO_RECORDS))
			fail_msg("status %#x for %u records: %s", r->status, n, text);
		return;
	}
	if (r->status || r->n != n)
		fail_msg("status %#x, %u records instead of %u: %s", r->status, r->n, n, text);
	record_size = size;
	if (n > 1) {
		qsort(r->records, n, size, by_bytes);
		qsort(want->at, n, size, by_bytes);
	}
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(r->records + i * size, want->at + i * size, size)) {
			for (size_t k = 0; k < size; k++)
				if (r->records[i * size + k] != want->at[i * size + k])
					fail_msg("byte %zu of record %u is %#x, not %#x: %s", k, i,
						 r->records[i * size + k], want->at[i * size + k],
						 text);
		}
}

/* ---- requests at random ---- */

static uint64_t mask_at_random(struct world *w, unsigned components)
{
	static const unsigned per_mille[] = {0, 30, 100, 500};
	unsigned p = per_mille[rng_below(&w->rng, 4)];
	uint64_t mask = 0;

	for (unsigned i = 0; i < components; i++)
		mask |= (uint64_t)(rng_below(&w->rng, 1000) < p) << i;
	return mask;
}

static void spoil(struct world *w, const struct iba_sa_layout *l, uint8_t *query)
{
	const struct iba_sa_component *c = &l->components[rng_below(&w->rng, l->ncomponents)];
	unsigned bit = c->bit + (unsigned)rng_below(&w->rng, c->width);

	query[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static void ask_records(struct world *w)
{
	struct kind *k = &w->kinds[rng_below(&w->rng, KINDS)];
	const struct iba_sa_layout *l;
	struct sa_ask a;
	struct sa_reply r;
	bytes want = {0};
	uint32_t n = 0;

	if (!k->n)
		return;
	l = iba_sa_layout(k->attr_id);
	a = (struct sa_ask){.attr_id = k->attr_id,
			    .method = rng_below(&w->rng, 3) ? IBA_SA_GET_TABLE : IBA_GET,
			    .trusted = k->attr_id == IBA_SA_PKEY || rng_below(&w->rng, 2),
			    .attr_mod = (uint32_t)rng_below(&w->rng, 4) << 30,
			    .mask = mask_at_random(w, l->ncomponents)};
	if (k->attr_id == IBA_SA_PORT)
		a.mask &= ~IBA_SA_BIT(port, local_port);
	memcpy(a.query, k->all.at + rng_below(&w->rng, k->n) * k->size, k->size);
	if (!rng_below(&w->rng, 3))
		spoil(w, l, a.query);
	for (uint32_t i = 0; i < k->n; i++)
		if (wanted(w, &a, k->all.at + i * k->size)) {
			vec_room(&want, want.n + k->size);
			memcpy(want.at + want.n, k->all.at + i * k->size, k->size);
			if (k->attr_id == IBA_SA_PORT && a.mask & IBA_SA_BIT(port, options))
				want.at[want.n + 3] = a.query[3];
			want.n += k->size;
			n++;
		}
	r = sa_rig_ask(&w->rig, &a);
	compare(&a, &r, &want, n, k->size);
	sa_reply_free(&r);
	vec_free(&want);
}

/* ---- paths at random ---- */

#define ASKS(a, component) ((a)->mask & IBA_SA_BIT(path, component))

static bool mtu_serves(const struct sa_ask *a, const struct iba_sa_path *q, struct iba_sa_path *p)
{
	if (!ASKS(a, mtu) || !ASKS(a, mtu_selector) || q->mtu_selector == 3)
		return true;
	if (!q->mtu || q->mtu > 5 || (q->mtu_selector == 0 && p->mtu <= q->mtu) ||
	    (q->mtu_selector == 2 && p->mtu < q->mtu) || (q->mtu_selector == 1 && q->mtu == 1))
		return false;
	if (q->mtu_selector == 2)
		p->mtu = q->mtu;
	else if (q->mtu_selector == 1 && p->mtu >= q->mtu)
		p->mtu = q->mtu - 1;
	return true;
}

static bool rate_serves(const struct sa_ask *a, const struct iba_sa_path *q, unsigned rate,
			struct iba_sa_path *p)
{
	unsigned asked = q->rate < RATES ? rates[q->rate] : 0, best = 0;

	if (!ASKS(a, rate) || !ASKS(a, rate_selector) || q->rate_selector == 3)
		return true;
	if (!asked || (q->rate_selector == 0 && rate <= asked) ||
	    (q->rate_selector == 2 && rate != asked))
		return false;
	if (q->rate_selector != 1 || rate < asked)
		return true;
	for (unsigned i = 0; i < RATES; i++)
		if (rates[i] && rates[i] < asked && rates[i] > rates[best])
			best = i;
	p->rate = (uint8_t)best;
	return best;
}

/* A path as it is answered to this request; false: it is not wanted. */
static bool path_serves(const struct sa_ask *a, const struct iba_sa_path *q, const struct path *x,
			struct iba_sa_path *p)
{
	*p = x->r;
	if ((ASKS(a, sgid) && memcmp(q->sgid, p->sgid, 16)) ||
	    (ASKS(a, dgid) && memcmp(q->dgid, p->dgid, 16)) ||
	    (ASKS(a, slid) && q->slid != p->slid) || (ASKS(a, dlid) && q->dlid != p->dlid) ||
	    (ASKS(a, sl) && q->sl != p->sl) ||
	    (ASKS(a, reversible) && q->reversible > p->reversible))
		return false;
	if (ASKS(a, pkey)) {
		if ((q->pkey & 0x7fff) != 0x7fff)
			return false;
		p->pkey = q->pkey;
	}
	if (ASKS(a, life) && ASKS(a, life_selector) &&
	    ((q->life_selector == 0 && p->life <= q->life) ||
	     (q->life_selector == 1 && p->life >= q->life) ||
	     (q->life_selector == 2 && p->life != q->life)))
		return false;
	return mtu_serves(a, q, p) && rate_serves(a, q, x->rate, p);
}

static bool no_such_gid(const struct world *w, const uint8_t gid[16])
{
	if (gid[0] != 0xfe || gid[1] != 0x80 || value(gid, 16, 48))
		return true;
	for (size_t i = 0; i < w->ends.n; i++)
		if (w->ends.at[i].guid == value(gid, 64, 64))
			return false;
	return true;
}

static bool no_such_lid(const struct world *w, uint16_t lid)
{
	for (size_t i = 0; i < w->ends.n; i++)
		if (lid >= w->ends.at[i].lid && lid < w->ends.at[i].lid + w->ends.at[i].nlids)
			return false;
	return true;
}

/* Whether a request for paths may end with this status before any path is looked at; 0: it has no fault. */
static bool refusal(const struct world *w, const struct sa_ask *a, const struct iba_sa_path *q,
		    uint16_t status)
{
	bool bad_gid = (ASKS(a, sgid) && no_such_gid(w, q->sgid)) ||
		       (ASKS(a, dgid) && no_such_gid(w, q->dgid));
	bool bad_lid = (ASKS(a, slid) && no_such_lid(w, q->slid)) ||
		       (ASKS(a, dlid) && no_such_lid(w, q->dlid)) ||
		       (ASKS(a, sgid) && ASKS(a, slid)) || (ASKS(a, dgid) && ASKS(a, dlid));
	bool bad_mtu = ASKS(a, mtu) && ASKS(a, mtu_selector) && q->mtu_selector != 3 &&
		       (!q->mtu || q->mtu > 5);
	bool bad_rate = ASKS(a, rate) && ASKS(a, rate_selector) && q->rate_selector != 3 &&
			(q->rate >= RATES || !rates[q->rate]);
	bool few = a->method == IBA_GET &&
		   ((!ASKS(a, sgid) && !ASKS(a, slid)) || (!ASKS(a, dgid) && !ASKS(a, dlid)));

	if (bad_mtu || bad_rate)
		return status == IBA_SA_INVALID;
	switch (status) {
	case 0:
		return !bad_gid && !few;
	case IBA_SA_BAD_GID:
		return bad_gid;
	case IBA_SA_NO_RECORDS:
		return a->method == IBA_GET && (bad_lid || !few);
	case IBA_SA_FEW_COMPONENTS:
		return few;
	}
	return false;
}

/* The paths of one pair of ends that are wanted, preferred ones first, as many as are asked for. */
static void pair_wanted(const struct world *w, const struct sa_ask *a, const struct iba_sa_path *q,
			size_t first, size_t last, bytes *want, uint32_t *n)
{
	unsigned left = a->method == IBA_GET ? 1 : ASKS(a, num_paths) ? q->num_paths : UINT32_MAX;

	for (unsigned preference = 0; preference < 4; preference += 2)
		for (size_t i = first; i < last && left; i++) {
			const struct path *x = &w->paths.at[i];
			unsigned s = ASKS(a, slid) ? 0 : x->r.slid - w->ends.at[x->from].lid;
			unsigned d = ASKS(a, dlid) ? 0 : x->r.dlid - w->ends.at[x->to].lid;
			struct iba_sa_path p;

			if ((s == d) != (preference == 0) || !path_serves(a, q, x, &p))
				continue;
			p.preference = (uint8_t)preference;
			vec_room(want, want->n + 64);
			iba_sa_path_put(&p, want->at + want->n);
			want->n += 64;
			left--;
			++*n;
		}
}

static void all_wanted(const struct world *w, const struct sa_ask *a, const struct iba_sa_path *q,
		       bytes *want, uint32_t *n)
{
	for (size_t i = 0, k; i < w->paths.n; i = k) {
		for (k = i; k < w->paths.n && w->paths.at[k].from == w->paths.at[i].from &&
			    w->paths.at[k].to == w->paths.at[i].to;)
			k++;
		pair_wanted(w, a, q, i, k, want, n);
	}
}

static void path_query(struct world *w, struct iba_sa_path *q)
{
	static const uint8_t lives[] = {0, 17, 18, 19};
	static const uint16_t keys[] = {0xffff, 0x7fff, 0x1234, 0};

	q->mtu_selector = (uint8_t)rng_below(&w->rng, 4);
	q->rate_selector = (uint8_t)rng_below(&w->rng, 4);
	q->life_selector = (uint8_t)rng_below(&w->rng, 4);
	q->life = lives[rng_below(&w->rng, 4)];
	q->pkey = keys[rng_below(&w->rng, rng_below(&w->rng, 3) ? 2 : 4)];
	q->num_paths = (uint8_t)rng_below(&w->rng, 6);
	q->reversible = (uint8_t)rng_below(&w->rng, 2);
	if (rng_below(&w->rng, 2))
		q->mtu = (uint8_t)rng_below(&w->rng, 7);
	if (rng_below(&w->rng, 2))
		q->rate = (uint8_t)rng_below(&w->rng, 27);
	if (!rng_below(&w->rng, 8))
		q->sl ^= 1;
	if (!rng_below(&w->rng, 16))
		q->sgid[rng_below(&w->rng, 16)] ^= 1;
	if (!rng_below(&w->rng, 16))
		q->dgid[8 + rng_below(&w->rng, 8)] ^= 1;
	if (!rng_below(&w->rng, 16))
		q->dlid = (uint16_t)rng_below(&w->rng, 0x10000);
	q->service_id_low = rng_below(&w->rng, 1000);
	q->traffic_class = (uint8_t)rng_below(&w->rng, 256);
	q->qos_class = (uint16_t)rng_below(&w->rng, 16);
	q->hop_limit = (uint8_t)rng_below(&w->rng, 256);
	q->flow_label = (uint32_t)rng_below(&w->rng, 1000);
}

/* Preference is not a component that a request selects by. */
static uint64_t path_mask(struct world *w)
{
	uint64_t mask = mask_at_random(w, iba_sa_layout(IBA_SA_PATH)->ncomponents), ends = 0;

	while (!ends && rng_below(&w->rng, 20))
		ends = (rng_below(&w->rng, 2) ? IBA_SA_BIT(path, sgid) : 0) |
		       (rng_below(&w->rng, 3) ? 0 : IBA_SA_BIT(path, slid)) |
		       (rng_below(&w->rng, 2) ? IBA_SA_BIT(path, dgid) : 0) |
		       (rng_below(&w->rng, 3) ? 0 : IBA_SA_BIT(path, dlid));
	mask &= ~(IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, slid) | IBA_SA_BIT(path, dgid) |
		  IBA_SA_BIT(path, dlid) | IBA_SA_BIT(path, preference));
	return mask | ends;
}

static void ask_path(struct world *w)
{
	struct sa_ask a = {.attr_id = IBA_SA_PATH,
			   .method = rng_below(&w->rng, 2) ? IBA_SA_GET_TABLE : IBA_GET,
			   .mask = path_mask(w)};
	struct iba_sa_path q = w->paths.at[rng_below(&w->rng, w->paths.n)].r;
	struct sa_reply r;
	bytes want = {0};
	uint32_t n = 0;
	char text[2048];

	path_query(w, &q);
	iba_sa_path_put(&q, a.query);
	r = sa_rig_ask(&w->rig, &a);
	if (!refusal(w, &a, &q, r.status)) {
		text_of(&a, text, sizeof(text));
		fail_msg("status %#x: %s", r.status, text);
	}
	if (!r.status || r.status == IBA_SA_NO_RECORDS) {
		all_wanted(w, &a, &q, &want, &n);
		compare(&a, &r, &want, n, 64);
	}
	sa_reply_free(&r);
	vec_free(&want);
}

/* ---- subnets ---- */

static unsigned requests(void)
{
	const char *n = getenv("SA_REQUESTS");

	return n ? (unsigned)strtoul(n, NULL, 10) / 8 : 3000;
}

static void ask_all(struct world *w, unsigned n)
{
	look(w);
	assert_true(w->paths.n >= w->ends.n);
	for (unsigned i = 0; i < n; i++) {
		if (rng_below(&w->rng, 2))
			ask_path(w);
		else
			ask_records(w);
	}
}

/* The link between two switches with the smallest port ids goes, and comes back. */
static void change(struct world *w)
{
	struct sim *sim = lab_sim(w->rig.lab);

	for (port_id p = 0; p < w->f->nports; p++) {
		port_id far = sim_port_peer(sim, p);

		if (!w->f->ports[p].num || far == FAB_NONE ||
		    !fab_is_switch(w->f, w->f->ports[p].node) ||
		    !fab_is_switch(w->f, w->f->ports[far].node))
			continue;
		sim_uncable(sim, p);
		return;
	}
}

static void run(struct fab *f, unsigned lmc, const char *engine, uint64_t seed)
{
	struct world w = {.f = NULL};

	rng_seed(&w.rng, seed, 0);
	sa_rig_open(&w.rig, f, lmc, engine);
	ask_all(&w, requests() * 2 / 3);
	change(&w);
	sa_rig_settle(&w.rig);
	ask_all(&w, requests() / 3);
	forget(&w);
	sa_rig_close(&w.rig);
}

TEST(a_tree)
{
	run(fabric_make(GEN("mtree", 4, 2)), 0, NULL, 1);
}

TEST(a_tree_with_many_lids)
{
	run(fabric_make(GEN("mtree", 4, 2)), 2, NULL, 2);
}

TEST(an_irregular_subnet)
{
	struct fab_gen g = GEN("irregular", 10);

	g.has_hosts = true;
	g.hosts = 12;
	g.seed = 5;
	run(fabric_make(g), 0, NULL, 3);
}

TEST(a_torus_with_lanes)
{
	run(fabric_make(GEN("torus", 3, 3)), 0, "nue", 4);
}

TEST(a_torus_with_lanes_and_lids)
{
	run(fabric_make(GEN("torus", 3, 3)), 1, "torus", 5);
}

TEST(links_of_different_rate)
{
	struct fab *f = fabric_make(GEN("mtree", 4, 2));

	for (port_id p = 0; p < f->nports; p++) /* both ends of a link alike */
		if (f->ports[p].peer != FAB_NONE) {
			static const uint8_t speeds[] = {FAB_SDR, FAB_DDR, FAB_QDR, FAB_FDR,
							 FAB_EDR};
			uint32_t link = MIN(p, f->ports[p].peer);

			f->ports[p].speed = speeds[link * 7 % 5];
			f->ports[p].width = link % 3 ? 4 : 1;
		}
	run(f, 0, NULL, 6);
}

/* No link between switches is slower than an end: routes are those of their ends. */
TEST(hosts_of_different_rate)
{
	struct fab *f = fabric_make(GEN("mtree", 4, 3));

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE) {
			static const uint8_t speeds[] = {FAB_SDR, FAB_DDR, FAB_QDR, FAB_FDR};
			port_id q = f->ports[p].peer,
				host = fab_is_switch(f, f->ports[p].node) ? q : p;
			bool trunk = fab_is_switch(f, f->ports[host].node);

			f->ports[p].speed = trunk ? FAB_EDR : speeds[host * 5 % 4];
			f->ports[p].width = trunk || host % 3 ? 4 : 1;
		}
	run(f, 0, NULL, 9);
}

TEST(one_slow_link_between_switches)
{
	struct fab *f = fabric_make(GEN("mtree", 4, 3));

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer > p && f->ports[p].peer != FAB_NONE &&
		    fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[f->ports[p].peer].node)) {
			f->ports[p].width = f->ports[f->ports[p].peer].width = 1;
			break;
		}
	run(f, 0, NULL, 10);
}

TEST(a_dragonfly)
{
	run(fabric_make(GEN("dragonfly", 2, 4, 2)), 0, NULL, 7);
}

/* The manager keeps names printable: these are. */
static struct fab *odd_with_names(void)
{
	struct fab *odd = fabric_odd();
	struct fab_builder *b = fab_builder_from(odd);
	char name[32];

	for (node_id n = 0; n < odd->nnodes; n++) {
		snprintf(name, sizeof(name), "node %u", n);
		fab_builder_rename(b, n, name);
	}
	fab_free(odd);
	return fab_build(b);
}

TEST(odd_nodes)
{
	run(odd_with_names(), 1, NULL, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree),
		cmocka_unit_test(a_tree_with_many_lids),
		cmocka_unit_test(an_irregular_subnet),
		cmocka_unit_test(a_torus_with_lanes),
		cmocka_unit_test(a_torus_with_lanes_and_lids),
		cmocka_unit_test(links_of_different_rate),
		cmocka_unit_test(hosts_of_different_rate),
		cmocka_unit_test(one_slow_link_between_switches),
		cmocka_unit_test(a_dragonfly),
		cmocka_unit_test(odd_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
