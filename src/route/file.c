/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "file": tables that another program made, from dumps in OpenSM's formats. Keeps no state between calls; the way in
 * is rt_file.route(). Judges only whether the dumps are about this fabric: the verifier judges the routes.
 *
 * LIDs of the dump need not be those of the fabric. Each LID of a port gets the entries and service levels that the dump has
 * for this port, found by GUID: with the number of the LID among those of the port, as far as the dump has so many. A
 * virtual function that the dump does not have is reached as its HCA.
 */
#include "route/route.h"

struct file {
	const struct fab *f, *g; /* g: the same with the dump's LIDs */
	const struct rt_tables *from;
	uint8_t *filled; /* by LID of the dump: some switch has an entry */
	uint32_t *lid;	 /* by LID of f: LID of the dump; 0: none */
};

/* ---- LIDs ---- */

static void filled_mark(struct file *x)
{
	x->filled = mem_zarray((size_t)x->from->top_lid + 1, 1);
	for (uint32_t s = 0; s < x->from->nswitches; s++)
		for (uint32_t lid = 1; lid <= x->from->top_lid; lid++)
			x->filled[lid] |= rt_row(x->from, s)[lid] != IBA_PORT_NONE;
}

/* LID number i of a port in the dump, or its base LID; 0: there are no routes to it. */
static uint32_t lid_in_dump(const struct file *x, port_id p, unsigned i)
{
	const struct fab_port *q = &x->g->ports[p];
	uint32_t lid = q->lid + (i & ((1u << q->lmc) - 1));

	if (!q->lid)
		return 0;
	if (lid <= x->from->top_lid && x->filled[lid])
		return lid;
	return q->lid <= x->from->top_lid && x->filled[q->lid] ? q->lid : 0;
}

static uint32_t vlid_in_dump(const struct file *x, const struct fab_vlid *v)
{
	const struct fab_vlid *w;
	uint32_t n = fab_vlids_of(x->g, v->port, &w);

	for (uint32_t i = 0; i < n; i++)
		if (w[i].slot == v->slot && w[i].lid <= x->from->top_lid && x->filled[w[i].lid])
			return w[i].lid;
	return lid_in_dump(x, v->port, 0);
}

static int no_routes_to(const struct file *x, const char *name, port_id p, uint32_t n,
			struct err *e)
{
	char id[32], more[48] = "";

	fab_node_ident(x->f, x->f->ports[p].node, id);
	if (n > 1)
		snprintf(more, sizeof(more), ", nor to %u other LIDs", n - 1);
	return err_set(e, -EINVAL, "file: %.100s has no routes to %s (%s)%s", name,
		       fab_node_name(x->f, x->f->ports[p].node), id, more);
}

static int lids_find(struct file *x, const char *name, struct err *e)
{
	uint32_t missing = 0;
	port_id first = FAB_NONE;

	x->lid = mem_zarray((size_t)fab_top_lid(x->f) + 1, sizeof(*x->lid));
	for (port_id p = 0; p < x->f->nports; p++) {
		const struct fab_port *q = &x->f->ports[p];

		for (unsigned i = 0; q->lid && i < 1u << q->lmc; i++) {
			uint32_t lid = lid_in_dump(x, p, i);

			x->lid[q->lid + i] = lid;
			missing += !lid;
			first = !lid && first == FAB_NONE ? p : first;
		}
	}
	for (uint32_t i = 0; i < x->f->nvlids; i++)
		x->lid[x->f->vlids[i].lid] = vlid_in_dump(x, &x->f->vlids[i]);
	return missing ? no_routes_to(x, name, first, missing, e) : 0;
}

/* ---- tables ---- */

/* Every switch with a table of its own: those without are not in the dump. */
static int rows_copy(const struct file *x, const char *name, struct rt_tables *t, struct err *e)
{
	for (uint32_t s = 0; s < t->nswitches; s++) {
		uint32_t n = 0;

		for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
			uint8_t port =
				x->lid[lid] ? rt_row(x->from, s)[x->lid[lid]] : IBA_PORT_NONE;

			rt_row(t, s)[lid] = port;
			n += port != IBA_PORT_NONE;
		}
		if (!n) {
			char id[32];

			fab_node_ident(x->f, x->f->switches[s], id);
			return err_set(e, -EINVAL, "file: %.100s has no table of switch %s (%s)",
				       name, fab_node_name(x->f, x->f->switches[s]), id);
		}
		t->entries += n;
	}
	return 0;
}

static void maps_copy(const struct file *x, struct rt_tables *t, uint32_t sw)
{
	const struct rt_lanes *l = x->from->lanes;
	unsigned ports = x->f->nodes[x->f->switches[sw]].nports + 1u;

	rt_sl2vl_use(t, sw, RT_ANY_PORT, RT_ANY_PORT, rt_sl2vl_map(t, &l->maps.at[l->map[sw]]));
	for (unsigned in = 0; l->by_pair[sw] && in < ports; in++)
		for (unsigned out = 0; out < ports; out++)
			rt_sl2vl_use(
				t, sw, in, out,
				rt_sl2vl_map(t, &l->maps.at[l->by_pair[sw][in * ports + out]]));
}

static void lanes_copy(const struct file *x, struct rt_tables *t)
{
	const struct rt_lanes *l = x->from->lanes;

	rt_lanes_add(t, x->f, l->nvls, l->nrows);
	memcpy(t->lanes->sl_row, l->sl_row, l->first[t->nswitches] * sizeof(*l->sl_row));
	for (uint32_t row = 0; row < l->nrows; row++)
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			rt_sl_row(t, row)[lid] =
				x->lid[lid] ? rt_sl_row(x->from, row)[x->lid[lid]] : 0;
	for (uint32_t s = 0; s < t->nswitches; s++)
		maps_copy(x, t, s);
	rt_lanes_pack(t);
}

static int take(struct file *x, const struct rt_opts *o, struct rt_tables *t, struct err *e)
{
	const char *name = o->given->lfts.name;
	int rc;

	if (o->lanes && rt_nvls(x->from) > o->lanes)
		return err_set(e, -EINVAL, "file: the tables of %.100s use %u lanes; there are %u",
			       name, rt_nvls(x->from), o->lanes);
	filled_mark(x);
	rc = lids_find(x, name, e);
	if (!rc)
		rc = rows_copy(x, name, t, e);
	if (!rc && x->from->lanes)
		lanes_copy(x, t);
	free(x->filled);
	free(x->lid);
	return rc;
}

/* Without the other dumps tables use SL 0 and one lane. */
static int lanes_read(const struct rt_given *d, const struct fab *g, struct rt_tables *from,
		      struct err *e)
{
	if (!d->sls.text && !d->sl2vl.text)
		return 0;
	return rt_lanes_parse(g, from, d->sls.text ? &d->sls : NULL,
			      d->sl2vl.text ? &d->sl2vl : NULL, e);
}

static int file_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
		      struct err *e)
{
	struct file x = {.f = f};
	struct rt_tables *from;
	struct fab *g;
	struct err why;
	int rc;

	if (!o->given || !o->given->lfts.text)
		return err_set(e, -EINVAL, "file: no tables are given");
	if (rt_lfts_read(f, &o->given->lfts, &g, &from, &why))
		return err_set(e, -EINVAL, "file: %.400s", why.text);
	x.g = g;
	x.from = from;
	rc = lanes_read(o->given, g, from, &why);
	rc = rc ? err_set(e, -EINVAL, "file: %.400s", why.text) : take(&x, o, t, e);
	rt_tables_free(from);
	fab_free(g);
	return rc;
}

const struct rt_engine rt_file = {
	.name = "file",
	.summary = "tables of another program, from dumps in OpenSM's formats",
	.about =
		"Engine file takes the tables of an opensm-lfts.dump (--routes-file), with service levels\n"
		"and SL-to-VL maps where there are any (--routes-sls, --routes-sl2vl). Ports are found by\n"
		"GUID, so LIDs may differ. They are verified as those of any engine; dumps that lack a\n"
		"switch or a host of the fabric are refused.",
	.route = file_route,
	.lanes = true,
	.given = true,
	.cost = {.cell_ps = 40000},
};
