/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables of a live subnet. State: struct live_tables. Ways in: live_tables_take(), live_tables_loads(),
 * live_tables_users(). Asks nobody: answers are handed in.
 */
#include "web/live_tables.h"

enum { HOPS = 64, LID_END = 0xc000, NO_PORT = 255 };

void live_tables_clear(struct live_tables *t)
{
	free(t->out);
	*t = (struct live_tables){0};
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int live_hex(const char *two)
{
	int high = digit(two[0]), low = high < 0 ? -1 : digit(two[1]);

	return low < 0 ? -1 : high * 16 + low;
}

/* ---- answers ---- */

static bool row_take(struct live_tables *t, const json_t *row)
{
	const char *text = json_string_value(row);
	uint8_t *out = t->out + (size_t)t->known * (t->top_lid + 1);

	if (!text || t->known >= t->nswitches ||
	    json_string_length(row) != 2 * ((size_t)t->top_lid + 1))
		return false;
	for (uint32_t lid = 0; lid <= t->top_lid; lid++) {
		int v = live_hex(text + 2 * (size_t)lid);

		if (v < 0)
			return false;
		out[lid] = (uint8_t)v;
	}
	t->known++;
	return true;
}

bool live_tables_take(struct live_tables *t, const json_t *answer)
{
	const char *version = json_string_value(json_object_get(answer, "version"));
	json_int_t switches = json_integer_value(json_object_get(answer, "switches"));
	json_int_t top = json_integer_value(json_object_get(answer, "top_lid"));
	json_int_t first = json_integer_value(json_object_get(answer, "first"));
	const json_t *row;
	size_t i;

	if (!version || strlen(version) >= sizeof(t->version) || switches < 1 ||
	    switches > LID_END || top < 1 || top >= LID_END)
		return false;
	if (strcmp(t->version, version) || t->nswitches != (uint32_t)switches ||
	    t->top_lid != (uint32_t)top) {
		live_tables_clear(t);
		snprintf(t->version, sizeof(t->version), "%s", version);
		t->nswitches = (uint32_t)switches;
		t->top_lid = (uint32_t)top;
		t->out = mem_zarray((size_t)switches, (size_t)top + 1);
	}
	if ((uint32_t)first != t->known)
		return true; /* of an earlier version: these rows are asked for again */
	json_array_foreach(json_object_get(answer, "tables"), i, row) if (!row_take(t, row))
	{
		live_tables_clear(t);
		return false;
	}
	return true;
}

/* ---- routes ---- */

struct census {
	const struct live_tables *t;
	const struct fab *f;
	port_id *port;	 /* by node: of a host, where it has its cable and its LID */
	uint32_t *hosts; /* by switch: hosts that have their LID there */
};

static port_id first_port(const struct fab *f, node_id n)
{
	if (fab_is_switch(f, n))
		return FAB_NONE;
	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		port_id p = fab_port_id(f, n, i);

		if (f->ports[p].peer != FAB_NONE && f->ports[p].lid)
			return p;
	}
	return FAB_NONE;
}

/* The switch of a host; FAB_NONE: it is at another host. */
static node_id leaf_of(const struct fab *f, port_id p)
{
	node_id n = f->ports[f->ports[p].peer].node;

	return fab_is_switch(f, n) ? n : FAB_NONE;
}

/* The ports by which switches send a packet; 0: it does not arrive. */
static unsigned follow(const struct census *c, node_id from, port_id dest, port_id path[HOPS])
{
	uint16_t lid = c->f->ports[dest].lid;
	node_id at = from;

	for (unsigned n = 0; n < HOPS; n++) {
		uint32_t row = c->f->switch_index[at];
		uint8_t out = lid <= c->t->top_lid
				      ? c->t->out[(size_t)row * (c->t->top_lid + 1) + lid]
				      : NO_PORT;
		port_id p, q;

		if (!out || out > c->f->nodes[at].nports)
			return 0;
		p = fab_port_id(c->f, at, out);
		q = c->f->ports[p].peer;
		path[n] = p;
		if (q == dest)
			return n + 1;
		if (q == FAB_NONE || !fab_is_switch(c->f, c->f->ports[q].node))
			return 0;
		at = c->f->ports[q].node;
	}
	return 0;
}

static bool census_begin(struct census *c, const struct live_tables *t, const struct fab *f)
{
	*c = (struct census){.t = t, .f = f};
	if (!live_tables_whole(t) || t->nswitches != f->nswitches)
		return false;
	c->hosts = mem_zarray(f->nswitches, sizeof(*c->hosts));
	c->port = mem_array(f->nnodes, sizeof(*c->port));
	for (node_id n = 0; n < f->nnodes; n++) {
		port_id p = c->port[n] = first_port(f, n);

		if (p != FAB_NONE && leaf_of(f, p) != FAB_NONE)
			c->hosts[f->switch_index[leaf_of(f, p)]]++;
	}
	return true;
}

static void census_end(struct census *c)
{
	free(c->hosts);
	free(c->port);
}

/* Routes to one host: along the ways of switches that have hosts, and from each of these into its switch. */
static void add_destination(const struct census *c, port_id dest, uint32_t *load, bool *reaches)
{
	const struct fab *f = c->f;
	node_id own = leaf_of(f, dest);
	port_id path[HOPS];

	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t hosts = c->hosts[s] - (f->switches[s] == own);
		unsigned n = hosts ? follow(c, f->switches[s], dest, path) : 0;

		reaches[s] = n;
		for (unsigned i = 0; i < n; i++)
			load[path[i]] += hosts;
	}
	for (node_id n = 0; n < f->nnodes; n++) {
		port_id p = c->port[n];
		node_id leaf = p == FAB_NONE || p == dest ? FAB_NONE : leaf_of(f, p);

		if (leaf != FAB_NONE && reaches[f->switch_index[leaf]])
			load[p]++;
	}
}

uint32_t *live_tables_loads(const struct live_tables *t, const struct fab *f)
{
	uint32_t *load = mem_zarray(f->nports + 1, sizeof(*load));
	bool *reaches = mem_zarray(f->nswitches + 1, sizeof(*reaches));
	struct census c;

	if (census_begin(&c, t, f))
		for (node_id n = 0; n < f->nnodes; n++)
			if (c.port[n] != FAB_NONE)
				add_destination(&c, c.port[n], load, reaches);
	census_end(&c);
	free(reaches);
	return load;
}

/* ---- routes over one link ---- */

static bool passes(const struct census *c, port_id from, port_id dest, port_id p)
{
	node_id leaf = leaf_of(c->f, from);
	port_id path[HOPS];
	unsigned n = leaf == FAB_NONE || from == dest ? 0 : follow(c, leaf, dest, path);

	if (n && from == p)
		return true;
	for (unsigned i = 0; i < n; i++)
		if (path[i] == p)
			return true;
	return false;
}

/* Whether the node at p sends packets for this destination out of p. */
static bool leads_out(const struct census *c, port_id p, port_id dest)
{
	node_id n = c->f->ports[p].node;
	port_id path[HOPS];

	if (!fab_is_switch(c->f, n))
		return p != dest && c->port[n] == p;
	return follow(c, n, dest, path) && path[0] == p;
}

void live_tables_users(const struct live_tables *t, const struct fab *f, port_id p,
		       live_users *users)
{
	struct census c;

	if (census_begin(&c, t, f))
		for (node_id n = 0; n < f->nnodes && users->n < LIVE_USERS_MOST; n++) {
			port_id dest = c.port[n];

			if (dest == FAB_NONE || !leads_out(&c, p, dest))
				continue;
			for (node_id m = 0; m < f->nnodes && users->n < LIVE_USERS_MOST; m++) {
				port_id from = c.port[m];

				if (from != FAB_NONE && passes(&c, from, dest, p))
					vec_push(users, (struct live_user){m, n});
			}
		}
	census_end(&c);
}
