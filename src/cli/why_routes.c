/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worst link of the routes to a node. State: none. Way in: why_worst_link(). Computes no route: the manager's tables say where
 * each switch sends.
 */
#include "cli/why.h"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The port by which each switch sends, by its position among switches in the order of GUIDs. -1: none. */
static int out_of(const char *out, uint32_t i)
{
	int high = hex_digit(out[2 * (size_t)i]), low = hex_digit(out[2 * (size_t)i + 1]);

	return high < 0 || low < 0 || (high == 15 && low == 15) ? -1 : high * 16 + low;
}

static uint64_t rate(const struct fab_port *p)
{
	return p->width * fab_lane_bps(p->speed);
}

/* Walks from a host to the node, and counts it at each port that sends. False: it does not arrive. */
static bool walk(const struct fab *f, const uint32_t *place, const char *out, node_id from,
		 node_id to, uint32_t *uses)
{
	port_id way[64];
	unsigned n = 0;
	node_id at = from;
	unsigned first = 1;

	while (first <= f->nodes[from].nports &&
	       f->ports[fab_port_id(f, from, first)].peer == FAB_NONE)
		first++;
	while (at != to && n < ARRAY_LEN(way)) {
		int num = fab_is_switch(f, at) ? out_of(out, place[f->switch_index[at]])
			  : at == from	       ? (int)first
					       : -1;

		if (num < 1 || num > f->nodes[at].nports ||
		    f->ports[fab_port_id(f, at, (unsigned)num)].peer == FAB_NONE)
			return false;
		way[n] = fab_port_id(f, at, (unsigned)num);
		at = f->ports[f->ports[way[n++]].peer].node;
	}
	for (unsigned i = 0; at == to && i < n; i++)
		uses[way[i]]++;
	return at == to;
}

struct place {
	uint64_t guid;
	uint32_t index;
};

static int by_guid(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* Position in the order of GUIDs, by switch. */
static uint32_t *places(const struct fab *f)
{
	uint32_t *place = mem_zarray(f->nswitches + 1, sizeof(*place));
	struct place *order = mem_zarray(f->nswitches + 1, sizeof(*order));

	for (uint32_t s = 0; s < f->nswitches; s++)
		order[s] = (struct place){f->nodes[f->switches[s]].guid, s};
	qsort(order, f->nswitches, sizeof(*order), by_guid);
	for (uint32_t s = 0; s < f->nswitches; s++)
		place[order[s].index] = s;
	free(order);
	return place;
}

static json_t *end_json(const struct fab *f, port_id p)
{
	char id[32];

	fab_node_ident(f, f->ports[p].node, id);
	return json_pack("{s:s, s:s, s:i}", "name", fab_node_name(f, f->ports[p].node), "id", id,
			 "port", (int)f->ports[p].num);
}

/* The fastest of a node's own links. */
static uint64_t own_rate(const struct fab *f, node_id n)
{
	uint64_t best = 0;

	for (unsigned i = 1; i <= f->nodes[n].nports; i++)
		if (f->ports[fab_port_id(f, n, i)].peer != FAB_NONE)
			best = MAX(best, rate(&f->ports[fab_port_id(f, n, i)]));
	return best;
}

/* Of several the one with most hosts. A slow link of a host is that host's matter: those count if asked for only. */
static port_id slowest(const struct fab *f, const uint32_t *uses, bool of_hosts)
{
	port_id worst = FAB_NONE;

	for (port_id p = 0; p < f->nports; p++)
		if (uses[p] && (of_hosts || fab_is_switch(f, f->ports[p].node)) &&
		    (worst == FAB_NONE || rate(&f->ports[p]) < rate(&f->ports[worst]) ||
		     (rate(&f->ports[p]) == rate(&f->ports[worst]) && uses[p] > uses[worst])))
			worst = p;
	return worst;
}

json_t *why_worst_link(const struct fab *f, node_id to, const char *out)
{
	uint32_t *uses = mem_zarray(f->nports + 1, sizeof(*uses)), *place = places(f), arrive = 0;
	json_t *w = NULL;
	port_id worst;
	bool shared;
	char text[24];

	for (node_id n = 0; n < f->nnodes && strlen(out) >= 2 * (size_t)f->nswitches; n++)
		if (!fab_is_switch(f, n) && n != to)
			arrive += walk(f, place, out, n, to, uses);
	worst = slowest(f, uses, false);
	shared = worst != FAB_NONE;
	if (!shared)
		worst = slowest(f, uses, true);
	if (worst != FAB_NONE) {
		why_rate_text((struct why_rate){f->ports[worst].width, f->ports[worst].speed},
			      text);
		w = json_pack("{s:i, s:b, s:{s:o, s:o, s:s, s:i}}", "hosts", (int)arrive, "slower",
			      shared && rate(&f->ports[worst]) < own_rate(f, to), "worst", "from",
			      end_json(f, worst), "to", end_json(f, f->ports[worst].peer), "rate",
			      text, "hosts", (int)uses[worst]);
	}
	free(uses);
	free(place);
	return w;
}
