/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "torus": meshes, tori and hypercubes in dimension order, with datelines. Keeps no state between calls; the way
 * in is rt_torus.route(). Coordinates are found by torus_shape.c, routes by torus_ways.c, lanes by torus_lanes.c.
 */
#include "route/channel_order.h"
#include "route/lmc_ways.h"
#include "route/torus.h"

static int lanes_refuse(unsigned need, unsigned most, struct err *e)
{
	if (need > CHANNEL_VLS)
		return err_set(
			e, -ENOSPC,
			"torus: these routes need more than %u lanes, of which %u may be used",
			(unsigned)CHANNEL_VLS, most);
	return err_set(e, -ENOSPC, "torus: these routes need %u lanes, of which %u may be used",
		       need, most);
}

/* Further LIDs of a port leave dimension order where lanes allow it. Returns how many lanes are needed. */
static unsigned further_lanes(struct torus *t, struct rt_tables *tables, unsigned most)
{
	size_t size = (size_t)tables->nswitches * tables->stride;
	uint8_t *was = lmc_in_use(t->g.f) ? mem_array(size + 1, 1) : NULL;
	unsigned need;

	if (!was)
		return torus_lanes(t, tables, most);
	memcpy(was, tables->lft, size);
	lmc_spread(&t->g, tables, &(struct lmc_rules){.extra = 0});
	need = torus_lanes(t, tables, most);
	if (need > most) {
		memcpy(tables->lft, was, size);
		need = torus_lanes(t, tables, most);
	}
	free(was);
	return need;
}

static int torus_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *tables,
		       struct err *e)
{
	unsigned most = o->lanes ? o->lanes : CHANNEL_VLS, need = 1;
	int rc = rt_tables_fit(tables, f, "torus", e);
	struct torus t = {.nparts = 0};

	if (rc)
		return rc;
	graph_init(&t.g, f, tables->top_lid);
	rc = torus_shape(&t, e);
	if (!rc) {
		torus_ways(&t, tables);
		need = further_lanes(&t, tables, most);
		rc = need > most ? lanes_refuse(need, most, e) : 0;
	}
	torus_shape_free(&t);
	graph_free(&t.g);
	return rc;
}

const struct rt_engine rt_torus = {
	.name = "torus",
	.summary = "meshes, tori and hypercubes in dimension order, with dateline lanes",
	.about =
		"Engine torus routes meshes, tori and hypercubes of up to 16 dimensions, recognised from\n"
		"the wiring: shortest paths in dimension order, two lanes for rings. Links and switches\n"
		"may be missing: paths round them take further lanes where they need them. A fabric that\n"
		"is no mesh or torus is refused, with a link or switch that shows it.",
	.route = torus_route,
	.lanes = true,
	.update = rt_reroute_lanes,
	.use = RT_USE_SHAPE,
	.cost = {.search_ps = 300, .cell_ps = 40000},
};
