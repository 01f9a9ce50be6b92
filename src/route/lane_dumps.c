/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels and SL-to-VL maps as text, in the formats of OpenSM's path-record and sl2vl dumps;
 * ibdmchk reads what is written here with -c and -d. State: struct lane_reader, of one reading; the
 * ways in are rt_path_sls_each(), rt_sl2vl_each() and rt_lanes_parse(). Judges nothing.
 *
 *	Channel Adapter 0x0000000000000101, base LID 7, "name", port 1
 *	# LID  : SL
 *	0x0001 : 0
 *
 *	Switch 0x0000000000000100, base LID 1, "name"
 *	#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *	1   2   : 0  1  0  1  0  1  0  1  0  1  0  1  0  1  0  1
 *
 * Reading also takes what ibdmchk's manual page describes: "node GUID, destination LID, SL" and
 * "switch GUID, in, out, 0x01 0x23 ...", one line each.
 */
#include "route/dump_lines.h"

/* ---- writing ---- */

static void add_source(struct strbuf *b, const struct fab *f, port_id p)
{
	const struct fab_port *x = &f->ports[p];

	strbuf_addf(b, "%s 0x%016llx, base LID %u, \"", dump_type_name(f->nodes[x->node].type),
		    (unsigned long long)dump_port_guid(f, p), x->lid);
	dump_add_name(b, fab_node_name(f, x->node));
	strbuf_add(b, "\"");
}

/* Where packets of port p enter the subnet: false when p sends nothing into it. */
static bool ingress_of(const struct fab *f, port_id p, uint32_t *sw, unsigned *in)
{
	const struct fab_port *x = &f->ports[p], *at;

	if (fab_is_switch(f, x->node)) {
		*sw = f->switch_index[x->node];
		*in = 0;
		return !x->num;
	}
	if (!x->num || x->peer == FAB_NONE)
		return false;
	at = &f->ports[x->peer];
	*sw = f->switch_index[at->node];
	*in = at->num;
	return *sw != FAB_NONE;
}

/* Whether a switch has an entry for a LID: tables tell of no others. */
static bool is_routed(const struct rt_tables *t, uint32_t lid)
{
	for (uint32_t s = 0; s < t->nswitches; s++)
		if (rt_row(t, s)[lid] != IBA_PORT_NONE)
			return true;
	return false;
}

void rt_path_sls_each(const struct fab *f, const struct rt_tables *t,
		      void (*put)(void *ctx, const char *text, size_t len), void *ctx)
{
	struct strbuf b = {0};
	uint8_t *used = mem_zarray((size_t)t->top_lid + 1, 1);
	uint32_t sw;
	unsigned in;

	for (port_id p = 0; p < f->nports; p++)
		for (unsigned i = 0; f->ports[p].lid && i < 1u << f->ports[p].lmc; i++)
			if (f->ports[p].lid + i <= t->top_lid)
				used[f->ports[p].lid + i] = 1;
	for (uint32_t i = 0; i < f->nvlids; i++)
		if (f->vlids[i].lid <= t->top_lid)
			used[f->vlids[i].lid] = 1;
	for (uint32_t lid = 1; lid <= t->top_lid; lid++)
		used[lid] = used[lid] && is_routed(t, lid);
	for (port_id p = 0; p < f->nports; p++) {
		if (!f->ports[p].lid || !ingress_of(f, p, &sw, &in))
			continue;
		b.len = 0;
		add_source(&b, f, p);
		strbuf_addf(&b, ", port %u\n# LID  : SL\n", f->ports[p].num);
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			if (used[lid])
				strbuf_addf(&b, "0x%04x : %u\n", lid, rt_sl(t, sw, in, lid));
		put(ctx, b.s, b.len);
	}
	free(used);
	strbuf_free(&b);
}

static void add_map(struct strbuf *b, const struct rt_tables *t, uint32_t sw, unsigned in,
		    unsigned out)
{
	strbuf_addf(b, "%-3u %-3u :", in, out);
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		strbuf_addf(b, " %-2u", rt_vl(t, sw, in, out, sl));
	strbuf_add(b, "\n");
}

void rt_sl2vl_each(const struct fab *f, const struct rt_tables *t,
		   void (*put)(void *ctx, const char *text, size_t len), void *ctx)
{
	struct strbuf b = {0};

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];
		port_id base = f->nodes[n].first_port;

		b.len = 0;
		add_source(&b, f, base);
		strbuf_add(&b, "\n#in out :");
		for (unsigned sl = 0; sl < RT_SLS; sl++)
			strbuf_addf(&b, " %-2u", sl);
		strbuf_add(&b, "\n");
		for (unsigned in = 0; in <= f->nodes[n].nports; in++)
			for (unsigned out = 1; out <= f->nodes[n].nports; out++)
				if ((!in || f->ports[base + in].peer != FAB_NONE) &&
				    f->ports[base + out].peer != FAB_NONE)
					add_map(&b, t, s, in, out);
		put(ctx, b.s, b.len);
	}
	strbuf_free(&b);
}

/* ---- reading ---- */

struct lane_reader {
	const struct fab *f;
	struct rt_tables *t;
	struct dump_line l;
	struct map64 by_guid; /* port GUID -> port id */
	port_id source;	      /* of the section, FAB_NONE before the first */
	bool part, skip;      /* sections of devices that f has not are left out; this is one */
	unsigned top_vl, top_sl;
};

/* The port of a GUID, which may be a node's: then its port 0 on a switch, else its first. */
static port_id port_of(const struct lane_reader *r, uint64_t guid, bool node)
{
	node_id n = fab_node_by_guid(r->f, guid);
	port_id p = map64_get(&r->by_guid, guid);

	if (!node && p != MAP_NONE)
		return p;
	if (n != FAB_NONE)
		return fab_port_id(r->f, n, fab_is_switch(r->f, n) ? 0 : 1);
	return node ? FAB_NONE : dump_port_by_node_guid(r->f, guid);
}

static int unknown(const struct lane_reader *r, uint64_t guid)
{
	return err_set(r->l.e, -EINVAL, "%s:%u: 0x%016llx is not in the topology", r->l.name,
		       r->l.line, (unsigned long long)guid);
}

/* "Switch 0x...", "Channel Adapter 0x...", "Router 0x...": 1 when the line is such a heading. */
static int heading_take(struct lane_reader *r)
{
	const char *start = r->l.at;
	uint64_t guid;

	if (!dump_take(&r->l, "Switch ") && !dump_take(&r->l, "Channel Adapter ") &&
	    !dump_take(&r->l, "Router "))
		return 0;
	if (!dump_take(&r->l, "0x") || !dump_number(&r->l, 16, 16, &guid))
		return dump_bad_from(&r->l, start, "a port GUID of up to 16 hexadecimal digits");
	r->source = port_of(r, guid, false);
	r->skip = r->part && r->source == FAB_NONE;
	return r->source == FAB_NONE && !r->skip ? unknown(r, guid) : 1;
}

/* A row of its own for an ingress, at its first line. */
static uint8_t *row_of(struct lane_reader *r, uint32_t sw, unsigned in)
{
	struct rt_lanes *l = r->t->lanes;

	if (!l->sl_row[l->first[sw] + in]) {
		l->sl = mem_resize(l->sl, l->nrows + 1, r->t->stride);
		memset(l->sl + (size_t)l->nrows * r->t->stride, 0, r->t->stride);
		rt_sl_row_use(r->t, sw, in, l->nrows++);
	}
	return rt_sl_row(r->t, l->sl_row[l->first[sw] + in]);
}

static int sl_set(struct lane_reader *r, port_id p, uint64_t lid, uint64_t sl)
{
	uint32_t sw;
	unsigned in;

	if (!lid || lid > r->t->top_lid)
		return err_set(r->l.e, -EINVAL, "%s:%u: expected a LID up to %u, found %llu",
			       r->l.name, r->l.line, r->t->top_lid, (unsigned long long)lid);
	if (sl >= RT_SLS)
		return err_set(r->l.e, -EINVAL,
			       "%s:%u: expected a service level up to 15, found %llu", r->l.name,
			       r->l.line, (unsigned long long)sl);
	r->top_sl = MAX(r->top_sl, (unsigned)sl);
	if (ingress_of(r->f, p, &sw, &in))
		row_of(r, sw, in)[lid] = (uint8_t)sl;
	return 0;
}

/* ibdmchk's own form names the node, and so all its ports. */
static int sl_node_set(struct lane_reader *r, uint64_t guid, uint64_t lid, uint64_t sl)
{
	port_id p = port_of(r, guid, true);
	const struct fab_node *n;
	int rc = 0;

	if (p == FAB_NONE)
		return r->part ? 0 : unknown(r, guid);
	n = &r->f->nodes[r->f->ports[p].node];
	for (port_id q = n->first_port; q <= n->first_port + n->nports && !rc; q++)
		if (!r->f->ports[q].num == (n->type == IBA_NODE_SWITCH))
			rc = sl_set(r, q, lid, sl);
	return rc;
}

static int sl_line(void *ctx)
{
	static const char what[] = "'0x0001 : 0', '0x<node GUID> LID SL' or a heading like "
				   "'Channel Adapter 0x<port GUID>, ...'";
	struct lane_reader *r = ctx;
	const char *start = r->l.at;
	uint64_t first, lid, sl;
	int rc;

	if (dump_at_end(&r->l) || *r->l.at == '#')
		return 0;
	rc = heading_take(r);
	if (rc)
		return MIN(rc, 0);
	if (!dump_take(&r->l, "0x") || !dump_number(&r->l, 16, 16, &first))
		return dump_bad_from(&r->l, start, what);
	dump_skip_blanks(&r->l);
	if (dump_take(&r->l, ":")) {
		dump_skip_blanks(&r->l);
		if (r->skip)
			return 0;
		if (r->source == FAB_NONE)
			return dump_bad_from(&r->l, start, "a heading before the first entry");
		if (dump_take(&r->l, "UNREACHABLE"))
			return 0;
		return dump_number(&r->l, 10, 3, &sl) ? sl_set(r, r->source, first, sl)
						      : dump_bad(&r->l, "a service level");
	}
	if (!dump_number(&r->l, 10, 5, &lid))
		return dump_bad_from(&r->l, start, what);
	dump_skip_blanks(&r->l);
	return dump_number(&r->l, 10, 3, &sl) ? sl_node_set(r, first, lid, sl)
					      : dump_bad(&r->l, "a service level");
}

/* Sixteen VLs: "0 1 2 ..." or, two in a word, "0x01 0x23 ...". */
static int map_take(struct lane_reader *r, bool words, struct rt_sl2vl *m)
{
	for (unsigned sl = 0; sl < RT_SLS; sl += 1 + words) {
		uint64_t v;

		dump_skip_blanks(&r->l);
		if (words && dump_take(&r->l, "0x") && dump_number(&r->l, 16, 2, &v)) {
			m->vl[sl] = (uint8_t)(v >> 4);
			m->vl[sl + 1] = (uint8_t)(v & 15);
		} else if (!words && dump_number(&r->l, 10, 2, &v) && v < 16) {
			m->vl[sl] = (uint8_t)v;
		} else {
			return dump_bad(&r->l, words ? "eight pairs of VLs like 0x01"
						     : "sixteen VLs up to 15");
		}
	}
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		if (m->vl[sl] != RT_VL_NONE)
			r->top_vl = MAX(r->top_vl, m->vl[sl]);
	return 0;
}

static int map_line(void *ctx)
{
	struct lane_reader *r = ctx;
	const char *start = r->l.at;
	bool words = dump_take(&r->l, "0x");
	uint64_t guid, in, out;
	struct rt_sl2vl m;
	node_id n;
	int rc;

	if (dump_at_end(&r->l) || *r->l.at == '#')
		return 0;
	rc = heading_take(r);
	if (rc)
		return MIN(rc, 0);
	if (words && dump_number(&r->l, 16, 16, &guid)) {
		r->source = port_of(r, guid, true);
		r->skip = r->part && r->source == FAB_NONE;
		if (r->source == FAB_NONE && !r->skip)
			return unknown(r, guid);
		dump_skip_blanks(&r->l);
	}
	if (r->skip)
		return 0;
	if (r->source == FAB_NONE)
		return dump_bad_from(&r->l, start, "a heading like 'Switch 0x<GUID>, ...'");
	n = r->f->ports[r->source].node;
	if (!fab_is_switch(r->f, n))
		return 0; /* a host's map is in no credit loop */
	if (!dump_number(&r->l, 10, 3, &in) || in > r->f->nodes[n].nports)
		return dump_bad_from(&r->l, start, "an input port of the switch");
	dump_skip_blanks(&r->l);
	if (!dump_number(&r->l, 10, 3, &out) || out > r->f->nodes[n].nports)
		return dump_bad_from(&r->l, start, "an output port after the input port");
	dump_skip_blanks(&r->l);
	if (!words && !dump_take(&r->l, ":"))
		return dump_bad(&r->l, "':'");
	rc = map_take(r, words, &m);
	if (!rc)
		rt_sl2vl_use(r->t, r->f->switch_index[n], (unsigned)in, (unsigned)out,
			     rt_sl2vl_map(r->t, &m));
	return rc;
}

static int file_read_lines(struct lane_reader *r, const struct rt_dump *d, int (*read)(void *ctx))
{
	if (!d)
		return 0;
	r->source = FAB_NONE;
	r->part = d->part;
	r->skip = false;
	r->l.name = d->name;
	r->l.line = 0;
	return dump_lines_each(&r->l, d->text, d->len, read, r);
}

int rt_lanes_parse(const struct fab *f, struct rt_tables *t, const struct rt_dump *sls,
		   const struct rt_dump *sl2vl, struct err *e)
{
	struct lane_reader r = {.f = f, .t = t, .l = {.e = e}};
	int rc;

	rt_lanes_drop(t);
	rt_lanes_add(t, f, RT_MAX_VLS, 1);
	for (unsigned sl = 0; sl < RT_SLS; sl++) /* VL = SL where the dump gives no map */
		t->lanes->maps.at[0].vl[sl] = (uint8_t)sl;
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid && map64_get(&r.by_guid, f->ports[p].guid) == MAP_NONE)
			map64_put(&r.by_guid, f->ports[p].guid, p);
	rc = file_read_lines(&r, sls, sl_line);
	if (!rc)
		rc = file_read_lines(&r, sl2vl, map_line);
	map64_free(&r.by_guid);
	if (rc) {
		rt_lanes_drop(t);
		return rc;
	}
	t->lanes->nvls = MIN((sl2vl ? r.top_vl : r.top_sl) + 1, (unsigned)RT_MAX_VLS);
	rt_lanes_pack(t);
	return 0;
}
