/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables as the text of opensm-lfts.dump, and the near-identical text of dump_lfts. The
 * state of a reading lives in struct reader; the ways in are rt_lfts_write() and rt_lfts_parse().
 * Does not judge tables: that is the verifier's work.
 *
 *	Unicast lids [0-15] of switch Lid 2 guid 0x0000000000000100 ('name'):
 *	0x0001 003 # Channel Adapter portguid 0x0000000000000201: 'name'
 *	15 lids dumped
 *
 * dump_lfts has "DR path ..." in place of "Lid 2", two lines of headings, and ": (...)" in place of
 * "# ...".
 */
#include "route/dump_owners.h"

enum { LIDS = IBA_LID_MAX_UNICAST + 1 };

/* ---- writing ---- */

/* What follows the port in a line about this LID; it is the same in every switch's table. */
static void tail_make(struct strbuf *b, const struct fab *f, port_id p)
{
	if (p == FAB_NONE) {
		strbuf_add(b, " # unknown node and type\n");
		return;
	}
	strbuf_addf(b, " # %s portguid 0x%016llx: '",
		    dump_type_name(f->nodes[f->ports[p].node].type),
		    (unsigned long long)dump_port_guid(f, p));
	dump_add_name(b, fab_node_name(f, f->ports[p].node));
	strbuf_add(b, "'\n");
}

static void tail_of_function(struct strbuf *b, const struct fab *f, const struct fab_vlid *v)
{
	strbuf_addf(b, " # %s portguid 0x%016llx: '", dump_type_name(IBA_NODE_CA),
		    (unsigned long long)v->guid);
	dump_add_function(b, f, v->port, v->slot);
	strbuf_add(b, "'\n");
}

struct tails {
	struct strbuf text;
	size_t *at; /* of LID l: [at[l], at[l + 1]) */
};

static void tails_make(struct tails *x, const struct fab *f, uint32_t top)
{
	port_id *owner = mem_array(top + 1, sizeof(*owner));
	const struct fab_vlid **v = mem_zarray(top + 1, sizeof(*v));

	memset(owner, 0xff, (top + 1) * sizeof(*owner));
	for (uint32_t i = 0; i < f->nvlids; i++)
		if (f->vlids[i].lid <= top)
			v[f->vlids[i].lid] = &f->vlids[i];
	for (port_id p = 0; p < f->nports; p++)
		for (unsigned i = 0; f->ports[p].lid && i < 1u << f->ports[p].lmc; i++)
			if (f->ports[p].lid + i <= top)
				owner[f->ports[p].lid + i] = p;
	x->at = mem_array(top + 2, sizeof(*x->at));
	for (uint32_t l = 0; l <= top; l++) {
		x->at[l] = x->text.len;
		if (v[l])
			tail_of_function(&x->text, f, v[l]);
		else
			tail_make(&x->text, f, owner[l]);
	}
	x->at[top + 1] = x->text.len;
	free(owner);
	free(v);
}

static void write_switch(const struct fab *f, const struct rt_tables *t, uint32_t s,
			 const struct tails *x, struct strbuf *out)
{
	const uint8_t *row = rt_row(t, s);
	node_id n = f->switches[s];
	unsigned lines = 0;
	char head[16];

	strbuf_addf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016llx ('", t->top_lid,
		    f->ports[fab_port_id(f, n, 0)].lid, (unsigned long long)f->nodes[n].guid);
	dump_add_name(out, fab_node_name(f, n));
	strbuf_add(out, "'):\n");
	for (uint32_t l = 1; l <= t->top_lid; l++) {
		if (row[l] == IBA_PORT_NONE)
			continue;
		strbuf_addn(
			out, head,
			(size_t)snprintf(head, sizeof(head), "0x%04x %03u", l & 0xffff, row[l]));
		strbuf_addn(out, x->text.s + x->at[l], x->at[l + 1] - x->at[l]);
		lines++;
	}
	strbuf_addf(out, "%u lids dumped\n", lines);
}

void rt_lfts_each(const struct fab *f, const struct rt_tables *t,
		  void (*put)(void *ctx, const char *text, size_t len), void *ctx)
{
	struct strbuf out = {0};
	struct tails x = {0};

	tails_make(&x, f, t->top_lid);
	for (uint32_t s = 0; s < t->nswitches; s++) {
		out.len = 0;
		write_switch(f, t, s, &x, &out);
		put(ctx, out.s, out.len);
	}
	strbuf_free(&out);
	strbuf_free(&x.text);
	free(x.at);
}

static void put_strbuf(void *ctx, const char *text, size_t len)
{
	strbuf_addn(ctx, text, len);
}

void rt_lfts_write(const struct fab *f, const struct rt_tables *t, struct strbuf *out)
{
	rt_lfts_each(f, t, put_strbuf, out);
}

/* ---- reading ---- */

struct reader {
	const struct fab *f;
	struct dump_line l;
	struct rt_tables *t; /* grows with the LIDs */
	uint32_t top;	     /* largest LID met */
	uint32_t sw;	     /* whose table this is, FAB_NONE before the first */
	bool part, skip;     /* tables of switches that f has not are left out; this is one */
	uint32_t *heading;   /* by switch: line of its heading, 0: none yet */
	struct dump_owners owners;
	uint64_t *lid_guid;	      /* by LID: port GUID it was seen with */
	struct dump_owner *lid_owner; /* by LID: what has that GUID */
	uint32_t *lid_line;	      /* by LID: the line that first named it, 0: none yet */
	uint16_t *lid_min, *lid_max;  /* by port id; 0: none */
};

/* Remember that the dump gives `lid` to the port with this GUID. */
static int lid_note(struct reader *r, uint32_t lid, uint64_t guid, const char *name, size_t len)
{
	struct dump_owner o;
	port_id p;

	if (!lid || (r->lid_line[lid] && r->lid_guid[lid] == guid))
		return 0;
	o = dump_owner_find(&r->owners, guid, name, len);
	p = o.port;
	if (!r->lid_line[lid]) {
		r->lid_line[lid] = r->l.line;
		r->lid_guid[lid] = guid;
		r->lid_owner[lid] = o;
	} else if (!dump_owner_same(r->lid_owner[lid], o) || p == FAB_NONE) {
		return err_set(r->l.e, -EINVAL,
			       "%s:%u: LID 0x%04x belongs to port 0x%016llx here, but to port "
			       "0x%016llx in line %u",
			       r->l.name, r->l.line, lid, (unsigned long long)guid,
			       (unsigned long long)r->lid_guid[lid], r->lid_line[lid]);
	}
	if (p == FAB_NONE || o.slot != DUMP_PORT_ITSELF)
		return 0;
	if (!r->lid_min[p] || lid < r->lid_min[p])
		r->lid_min[p] = (uint16_t)lid;
	r->lid_max[p] = (uint16_t)MAX(lid, r->lid_max[p]);
	return 0;
}

/* "portguid 0x...: 'name'" or "path #2 out of 2: portguid 0x...)" somewhere in the rest, or
 * nothing. */
static int owner_read(struct reader *r, uint32_t lid)
{
	const char *name = NULL, *quote;
	uint64_t guid;

	if (!dump_find(&r->l, "portguid 0x"))
		return 0;
	if (!dump_number(&r->l, 16, 16, &guid))
		return dump_bad(&r->l, "a port GUID of up to 16 hexadecimal digits");
	quote = memrchr(r->l.at, '\'', (size_t)(r->l.end - r->l.at));
	if (dump_take(&r->l, ": '") && quote && quote >= r->l.at)
		name = r->l.at;
	return lid_note(r, lid, guid, name, name ? (size_t)(quote - name) : 0);
}

static void tables_fit(struct reader *r, uint32_t top)
{
	struct rt_tables *t = rt_tables_new(r->f->nswitches, top);

	for (uint32_t s = 0; r->t && s < t->nswitches; s++)
		memcpy(rt_row(t, s), rt_row(r->t, s), MIN(r->t->top_lid, top) + 1);
	if (r->t)
		t->entries = r->t->entries;
	rt_tables_free(r->t);
	r->t = t;
}

static int entry_read(struct reader *r)
{
	const char *start = r->l.at;
	uint64_t lid, port;
	uint8_t *at;

	if (r->skip)
		return 0;
	if (r->sw == FAB_NONE)
		return dump_bad(&r->l, "'Unicast lids ... guid 0x...' before the first entry");
	if (!dump_take(&r->l, "0x") || !dump_number(&r->l, 16, 8, &lid) || lid >= LIDS)
		return dump_bad_from(&r->l, start, "a unicast LID up to 0xbfff");
	dump_skip_blanks(&r->l);
	start = r->l.at;
	if (!dump_number(&r->l, 10, 3, &port) || port > 255 ||
	    (r->l.at < r->l.end && *r->l.at != ' ' && *r->l.at != '\t'))
		return dump_bad_from(&r->l, start, "a port number up to 255 after the LID");
	if (lid > r->t->top_lid)
		tables_fit(r, (uint32_t)MAX(lid, MIN(2ull * r->t->top_lid, LIDS - 1ull)));
	r->top = MAX(r->top, (uint32_t)lid);
	at = rt_row(r->t, r->sw) + lid;
	if (*at != IBA_PORT_NONE && *at != port)
		return err_set(r->l.e, -EINVAL,
			       "%s:%u: LID 0x%04x goes to port %u here, but to port %u above",
			       r->l.name, r->l.line, (unsigned)lid, (unsigned)port, *at);
	if (lid && port != IBA_PORT_NONE) {
		r->t->entries += *at == IBA_PORT_NONE;
		*at = (uint8_t)port;
	}
	return owner_read(r, (uint32_t)lid);
}

static int heading_read(struct reader *r)
{
	const char *start = r->l.at;
	uint64_t guid, lid = 0;
	node_id n;

	if (dump_find(&r->l, "of switch Lid ") && (!dump_number(&r->l, 10, 8, &lid) || lid >= LIDS))
		return dump_bad(&r->l, "the switch's LID");
	if (!dump_find(&r->l, "guid 0x") || !dump_number(&r->l, 16, 16, &guid))
		return dump_bad_from(&r->l, start, "'... guid 0x<GUID of the switch>'");
	n = fab_node_by_guid(r->f, guid);
	r->skip = r->part && n == FAB_NONE;
	if (r->skip)
		return 0;
	if (n == FAB_NONE || !fab_is_switch(r->f, n))
		return err_set(r->l.e, -EINVAL, "%s:%u: switch 0x%016llx is %s", r->l.name,
			       r->l.line, (unsigned long long)guid,
			       n == FAB_NONE ? "not in the topology" : "no switch in the topology");
	r->sw = r->f->switch_index[n];
	if (r->heading[r->sw])
		return err_set(
			r->l.e, -EINVAL,
			"%s:%u: a second table for switch 0x%016llx, the first is in line %u",
			r->l.name, r->l.line, (unsigned long long)guid, r->heading[r->sw]);
	r->heading[r->sw] = r->l.line;
	r->top = MAX(r->top, (uint32_t)lid);
	return lid_note(r, (uint32_t)lid, r->f->ports[fab_port_id(r->f, n, 0)].guid, NULL, 0);
}

static int line_read(void *ctx)
{
	struct reader *r = ctx;
	const char *start = r->l.at;
	uint64_t count;

	if (r->l.at == r->l.end || *r->l.at == '#' || dump_take(&r->l, "***"))
		return 0;
	if (dump_take(&r->l, "Unicast lids "))
		return heading_read(r);
	if (r->l.end - r->l.at > 1 && r->l.at[0] == '0' && r->l.at[1] == 'x')
		return entry_read(r);
	if (dump_take(&r->l, "Lid  Out") || dump_take(&r->l, "Port     Info"))
		return 0;
	if (dump_number(&r->l, 10, 8, &count) &&
	    (dump_take(&r->l, " lids dumped") || dump_take(&r->l, " valid lids dumped")))
		return 0;
	return dump_bad_from(&r->l, start,
			     "'Unicast lids ...', an entry like '0x0001 003' or 'N lids dumped'");
}

static int lines_read(struct reader *r, const char *text, size_t len)
{
	int rc = dump_lines_each(&r->l, text, len, line_read, r);

	if (rc)
		return rc;
	if (r->sw == FAB_NONE && r->f->nswitches)
		return err_set(
			r->l.e, -EINVAL,
			"%s: expected 'Unicast lids ...', found no forwarding table in the file",
			r->l.name);
	return 0;
}

/* ---- the dump's LIDs ---- */

static int port_take(const struct reader *r, struct fab_port *x, port_id p)
{
	uint32_t low = r->lid_min[p], high = r->lid_max[p];
	unsigned lmc = 0;

	while (low >> lmc != high >> lmc)
		lmc++;
	if (lmc > 7 || !(low >> lmc << lmc))
		return err_set(r->l.e, -EINVAL,
			       "%s:%u: LIDs 0x%04x and 0x%04x both belong to port 0x%016llx, which "
			       "no LMC allows",
			       r->l.name, r->lid_line[high], low, high,
			       (unsigned long long)r->lid_guid[high]);
	x->lid = (uint16_t)(low >> lmc << lmc);
	x->lmc = (uint8_t)lmc;
	return 0;
}

/* A port that the dump does not name keeps its LIDs, unless the dump gives one of them to
 * another port. */
static void port_keep(const struct reader *r, struct fab_port *x)
{
	for (unsigned i = 0; x->lid && i < 1u << x->lmc; i++)
		if (x->lid + i >= LIDS || r->lid_line[x->lid + i]) {
			x->lid = 0;
			x->lmc = 0;
		}
}

/* No switch leads to a port whose cable leads to another host, so a dump names none of its LIDs: it gets one behind all others. */
static void loose_give(const struct reader *r, struct fab_builder *b)
{
	const struct fab *f = r->f;
	uint32_t top = MAX(r->top, fab_top_lid(f));

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];
		struct fab_port *to = fab_builder_port(b, x->node, x->num);

		if (!to->lid && x->num && x->peer != FAB_NONE && !fab_is_switch(f, x->node) &&
		    !fab_is_switch(f, f->ports[x->peer].node) && top + 1 < LIDS)
			to->lid = (uint16_t)++top;
	}
}

/* LIDs of VFs: those of the dump, and of VFs that it does not name those which are free. */
static void vlids_apply(const struct reader *r, struct fab_builder *b)
{
	const struct fab *f = r->f;
	struct map64 named = {0};

	fab_builder_drop_vlids(b);
	for (uint32_t lid = 1; lid < LIDS; lid++) {
		struct dump_owner o = r->lid_owner[lid];

		if (!r->lid_line[lid] || o.port == FAB_NONE || o.slot == DUMP_PORT_ITSELF)
			continue;
		map64_put(&named, (uint64_t)o.port << 8 | o.slot, lid);
		fab_add_vlid(b, f->ports[o.port].node, o.slot, (uint16_t)lid, r->lid_guid[lid]);
	}
	for (uint32_t i = 0; i < f->nvlids; i++) {
		const struct fab_vlid *v = &f->vlids[i];

		if (v->lid < LIDS && !r->lid_line[v->lid] &&
		    map64_get(&named, (uint64_t)v->port << 8 | v->slot) == MAP_NONE)
			fab_add_vlid(b, f->ports[v->port].node, v->slot, v->lid, v->guid);
	}
	map64_free(&named);
}

static int lids_apply(const struct reader *r, struct fab **out)
{
	struct fab_builder *b = fab_builder_from(r->f);
	port_id *table = NULL;
	struct fab *f;
	uint32_t top;
	struct err e;
	int rc = 0;

	for (port_id p = 0; p < r->f->nports && !rc; p++) {
		struct fab_port *x = fab_builder_port(b, r->f->ports[p].node, r->f->ports[p].num);

		if (r->lid_min[p])
			rc = port_take(r, x, p);
		else
			port_keep(r, x);
	}
	loose_give(r, b);
	vlids_apply(r, b);
	f = fab_build(b);
	if (!rc && fab_lid_table(f, &table, &top, &e))
		rc = err_set(r->l.e, -EINVAL, "%s: %s", r->l.name, e.text);
	free(table);
	if (rc)
		fab_free(f);
	else
		*out = f;
	return rc;
}

static void reader_init(struct reader *r)
{
	const struct fab *f = r->f;

	r->sw = FAB_NONE;
	r->heading = mem_zarray(f->nswitches, sizeof(*r->heading));
	r->lid_guid = mem_zarray(LIDS, sizeof(*r->lid_guid));
	r->lid_owner = mem_zarray(LIDS, sizeof(*r->lid_owner));
	r->lid_line = mem_zarray(LIDS, sizeof(*r->lid_line));
	r->lid_min = mem_zarray(f->nports, sizeof(*r->lid_min));
	r->lid_max = mem_zarray(f->nports, sizeof(*r->lid_max));
	dump_owners_init(&r->owners, f);
	tables_fit(r, MAX(fab_top_lid(f), 63u));
}

static void reader_free(struct reader *r)
{
	free(r->heading);
	free(r->lid_guid);
	free(r->lid_owner);
	free(r->lid_line);
	free(r->lid_min);
	free(r->lid_max);
	dump_owners_free(&r->owners);
	rt_tables_free(r->t);
}

int rt_lfts_parse(const struct fab *f, const char *name, const char *text, size_t len,
		  struct fab **with_lids, struct rt_tables **t, struct err *e)
{
	return rt_lfts_read(f, &(struct rt_dump){.name = name, .text = text, .len = len}, with_lids,
			    t, e);
}

int rt_lfts_read(const struct fab *f, const struct rt_dump *d, struct fab **with_lids,
		 struct rt_tables **t, struct err *e)
{
	struct reader r = {.f = f, .part = d->part, .l = {.name = d->name, .e = e}};
	int rc;

	reader_init(&r);
	rc = lines_read(&r, d->text, d->len);
	if (!rc)
		rc = lids_apply(&r, with_lids);
	if (!rc) {
		tables_fit(&r, MAX(r.top, fab_top_lid(*with_lids)));
		*t = r.t;
		r.t = NULL;
	}
	reader_free(&r);
	return rc;
}
