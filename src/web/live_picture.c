/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture of a live subnet. State: nodes and links as the FABRIC frame numbers them, what is known of each. Ways in:
 * live_picture_topology(), live_picture_state(). Asks nobody: answers are handed in.
 */
#include "web/live_picture.h"

#include "base/json.h"
#include "fabric/fabric.h"
#include "web/frames.h"
#include "window/window.h"

enum { FABRIC_HEAD = 28, FABRIC_NODE = 28, FABRIC_LINK = 12 };
enum { NODE_ON = 1, NODE_LID = 2, NODE_KNOWN = 4 };
enum { LINK_DOWN, LINK_INIT, LINK_ARMED, LINK_ACTIVE, LINK_GONE, LINK_UNKNOWN };

struct picture_link {
	uint32_t a, b;
	uint8_t pa, pb;
	uint8_t state;
};

struct picture_manager {
	uint32_t node;
	uint8_t state, priority, flags;
};

struct live_picture {
	void (*emit)(void *ctx, const uint8_t *frame, size_t len);
	void *ctx;
	struct window *w;
	char *netlist;
	struct fab_netlist parsed; /* of that text */
	struct fab
		*devices; /* the same with functions of HCAs as devices, as the engine draws it */
	uint32_t version, nnodes, nlinks;
	uint8_t *nodes;	      /* bits, by node */
	bool *inner;	      /* by node: a function, which the manager does not count as a node */
	uint32_t *first_port; /* by node, into link_of */
	uint32_t *link_of;    /* by port: link + 1 */
	size_t nports;
	struct picture_link *links;
	struct map64 by_guid;	   /* node GUID -> node */
	struct map64 by_port_guid; /* of the last topology: port GUID -> node */
	struct map64 by_lid;	   /* the same, LID -> node */
	VEC(struct picture_manager) managers;
	bool fresh;	     /* the engine has emitted FABRIC */
	struct frame *shown; /* the last STATE */
};

/* ---- from a FABRIC frame ---- */

static void picture_clear(struct live_picture *p)
{
	free(p->nodes);
	free(p->inner);
	free(p->first_port);
	free(p->link_of);
	free(p->links);
	map64_clear(&p->by_guid);
	p->nodes = NULL;
	p->inner = NULL;
	p->first_port = p->link_of = NULL;
	p->links = NULL;
	p->nnodes = p->nlinks = 0;
	p->managers.n = 0;
}

static uint32_t *port_slot(struct live_picture *p, uint32_t node, unsigned port)
{
	size_t at;

	if (node >= p->nnodes)
		return NULL;
	at = (size_t)p->first_port[node] + port;
	return at < p->first_port[node + 1] ? &p->link_of[at] : NULL;
}

static void read_nodes(struct live_picture *p, const uint8_t *at)
{
	p->nodes = mem_zalloc(p->nnodes + 1);
	p->inner = mem_zarray(p->nnodes + 1, sizeof(*p->inner));
	p->first_port = mem_zarray(p->nnodes + 1, sizeof(*p->first_port));
	for (uint32_t n = 0; n < p->nnodes; n++, at += FABRIC_NODE) {
		map64_put(&p->by_guid, frame_u64(at), n);
		p->first_port[n + 1] = p->first_port[n] + 1u + at[20] + at[21] * 256u;
	}
	p->nports = p->first_port[p->nnodes];
	p->link_of = mem_zarray(p->nports + 1, sizeof(*p->link_of));
}

static void read_links(struct live_picture *p, const uint8_t *at)
{
	p->links = mem_zarray(p->nlinks + 1, sizeof(*p->links));
	for (uint32_t i = 0; i < p->nlinks; i++, at += FABRIC_LINK) {
		struct picture_link l = {frame_u32(at), frame_u32(at + 4), at[8], at[9], 0};
		uint32_t *a = port_slot(p, l.a, l.pa), *b = port_slot(p, l.b, l.pb);

		p->links[i] = l;
		if (a)
			*a = i + 1;
		if (b)
			*b = i + 1;
	}
}

static void picture_read(struct live_picture *p, const uint8_t *f, size_t len)
{
	uint64_t nodes, links;

	picture_clear(p);
	if (len < FABRIC_HEAD)
		return;
	nodes = frame_u32(f + 12);
	links = frame_u32(f + 16);
	if (FABRIC_HEAD + nodes * FABRIC_NODE + links * FABRIC_LINK > len)
		return;
	p->version = frame_u32(f + 8);
	p->nnodes = (uint32_t)nodes;
	p->nlinks = (uint32_t)links;
	read_nodes(p, f + FABRIC_HEAD);
	read_links(p, f + FABRIC_HEAD + nodes * FABRIC_NODE);
	p->fresh = true;
}

/* Of what the engine says only the picture is of interest. */
static void engine_emits(void *ctx, const uint8_t *frame, size_t len)
{
	struct live_picture *p = ctx;

	if (len < FRAME_HEAD || frame[4] != FRAME_FABRIC)
		return;
	picture_read(p, frame, len);
	p->emit(p->ctx, frame, len);
}

/* ---- a topology ---- */

static uint32_t link_between(struct live_picture *p, const struct fab *f, port_id a)
{
	const struct fab_port *x = &f->ports[a], *y = &f->ports[x->peer];
	const uint32_t *i = port_slot(p, map64_get(&p->by_guid, f->nodes[x->node].guid), x->num);
	const uint32_t *k = port_slot(p, map64_get(&p->by_guid, f->nodes[y->node].guid), y->num);

	return i && k && *i == *k ? *i : 0;
}

/* The picture has every node and link of f. */
static bool picture_has(struct live_picture *p, const struct fab *f)
{
	if (!p->nnodes)
		return false;
	for (node_id n = 0; n < f->nnodes; n++)
		if (map64_get(&p->by_guid, f->nodes[n].guid) == MAP_NONE)
			return false;
	for (port_id a = 0; a < f->nports; a++)
		if (f->ports[a].peer != FAB_NONE && !link_between(p, f, a))
			return false;
	return true;
}

/* Nodes that only the view of devices has. */
static void mark_functions(struct live_picture *p, const struct fab *f, const struct fab *devices)
{
	for (node_id n = 0; n < devices->nnodes; n++) {
		uint32_t i = map64_get(&p->by_guid, devices->nodes[n].guid);

		if (i != MAP_NONE)
			p->inner[i] = fab_node_by_guid(f, devices->nodes[n].guid) == FAB_NONE;
	}
}

static bool has_lid(const struct fab *f, node_id n)
{
	for (unsigned i = 0; i <= f->nodes[n].nports; i++)
		if (f->ports[fab_port_id(f, n, i)].lid)
			return true;
	return false;
}

/* Marks what is there. Links keep their state, those that come back are Down until ports are known. */
static void picture_mark(struct live_picture *p, const struct fab *f)
{
	uint8_t *seen = mem_zalloc(p->nlinks + 1);

	memset(p->nodes, 0, p->nnodes);
	map64_clear(&p->by_port_guid);
	map64_clear(&p->by_lid);
	for (node_id n = 0; n < f->nnodes; n++) {
		uint32_t i = map64_get(&p->by_guid, f->nodes[n].guid);

		if (i != MAP_NONE)
			p->nodes[i] = NODE_ON | NODE_KNOWN | (has_lid(f, n) ? NODE_LID : 0);
	}
	for (port_id a = 0; a < f->nports; a++) {
		uint32_t node = map64_get(&p->by_guid, f->nodes[f->ports[a].node].guid);

		if (f->ports[a].guid && node != MAP_NONE)
			map64_put(&p->by_port_guid, f->ports[a].guid, node);
		for (unsigned i = 0;
		     f->ports[a].lid && node != MAP_NONE && i < 1u << MIN(f->ports[a].lmc, 7); i++)
			map64_put(&p->by_lid, f->ports[a].lid + i, node);
		if (f->ports[a].peer != FAB_NONE)
			seen[link_between(p, f, a)] = 1;
	}
	for (uint32_t i = 0; i < f->nvlids; i++)
		map64_put(&p->by_lid, f->vlids[i].lid,
			  map64_get(&p->by_guid, f->nodes[f->ports[f->vlids[i].port].node].guid));
	for (uint32_t i = 0; i < p->nlinks; i++)
		if (!seen[i + 1])
			p->links[i].state = LINK_GONE;
		else if (p->links[i].state == LINK_GONE)
			p->links[i].state = LINK_DOWN;
	free(seen);
}

static void engine_opens(struct live_picture *p, const char *netlist)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", "open");
	json_str(&j, "name", "live");
	json_str(&j, "netlist", netlist);
	json_close(&j);
	window_command(p->w, j.out.s, j.out.len);
	json_free(&j);
}

int live_picture_topology(struct live_picture *p, const char *netlist, size_t len, struct err *e)
{
	struct fab_netlist n = {0};
	int rc = fab_netlist_parse(&n, "topology", netlist, len, e);
	struct fab *devices = rc ? NULL : fab_devices(n.fab, e);

	if (!rc && !devices) {
		fab_netlist_free(&n);
		rc = -EINVAL;
	}
	if (rc)
		return rc;
	p->fresh = picture_has(p, devices);
	if (!p->fresh)
		engine_opens(p, netlist);
	if (p->fresh) {
		picture_mark(p, devices);
		mark_functions(p, n.fab, devices);
		free(p->netlist);
		p->netlist = mem_strdup(netlist);
		fab_netlist_free(&p->parsed);
		fab_free(p->devices);
		p->parsed = n;
		p->devices = devices;
	} else {
		rc = err_set(e, -EINVAL, "the topology cannot be drawn");
		fab_netlist_free(&n);
		fab_free(devices);
	}
	return rc;
}

/* ---- ports and managers ---- */

static uint64_t guid_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	uint64_t v = 0;

	return s && !parse_u64(s, &v) ? v : 0;
}

/* PortState of IBA, as a digit. */
static uint8_t link_state(char digit)
{
	return digit >= '2' && digit <= '4' ? (uint8_t)(LINK_INIT + digit - '2') : LINK_DOWN;
}

/* Of a link inside an HCA no port's state is known: it is in use where the function has a LID. */
static uint8_t function_link(const struct live_picture *p, const struct picture_link *l)
{
	return p->inner[l->a] || p->inner[l->b]
		       ? ((p->nodes[l->a] & p->nodes[l->b] & NODE_LID) ? LINK_ACTIVE : LINK_DOWN)
		       : LINK_DOWN;
}

/* A link is in the lower state of its two ports. */
void live_picture_states(struct live_picture *p, const char *digits)
{
	const struct fab *f = p->parsed.fab;

	for (uint32_t k = 0; k < p->nlinks; k++)
		if (p->links[k].state != LINK_GONE)
			p->links[k].state = LINK_UNKNOWN;
	for (port_id a = 0; f && a < f->nports && *digits; a++) {
		const uint32_t *slot;

		if (f->ports[a].peer == FAB_NONE)
			continue;
		slot = port_slot(p, map64_get(&p->by_guid, f->nodes[f->ports[a].node].guid),
				 f->ports[a].num);
		if (slot && *slot && p->links[*slot - 1].state != LINK_GONE)
			p->links[*slot - 1].state =
				MIN(p->links[*slot - 1].state, link_state(*digits));
		digits++;
	}
	for (uint32_t k = 0; k < p->nlinks; k++)
		if (p->links[k].state == LINK_UNKNOWN)
			p->links[k].state = function_link(p, &p->links[k]);
}

static uint8_t manager_state(const char *word)
{
	return !word || !strncmp(word, "Not", 3) ? 0
	       : !strcmp(word, "Discovering")	 ? 1
	       : !strcmp(word, "Standby")	 ? 2
	       : !strcmp(word, "Master")	 ? 3
						 : 0;
}

void live_picture_managers(struct live_picture *p, const json_t *managers)
{
	const json_t *o;
	size_t i;

	p->managers.n = 0;
	json_array_foreach(managers, i, o)
	{
		struct picture_manager m = {
			.node = map64_get(&p->by_port_guid, guid_of(o, "guid")),
			.state = manager_state(json_string_value(json_object_get(o, "state"))),
			.priority = (uint8_t)json_integer_value(json_object_get(o, "priority")),
			.flags = json_is_false(json_object_get(o, "answers")) ? 2 : 0};

		if (m.node != MAP_NONE)
			vec_push(&p->managers, m);
	}
}

/* But for the time. */
static bool is_shown(const struct live_picture *p, const struct frame *f)
{
	size_t from = FRAME_HEAD + 16;

	return p->shown && p->shown->len == f->len &&
	       !memcmp(p->shown->data + from, f->data + from, f->len - from);
}

void live_picture_state(struct live_picture *p, time_ps now)
{
	size_t nodes = (p->nnodes + 3u) & ~3u, links = (p->nlinks * 3u + 3u) & ~3u;
	size_t len = 20 + nodes + links + 8 * p->managers.n;
	struct frame *f;
	uint8_t *at;

	if (!p->nnodes)
		return;
	f = frame_new(FRAME_STATE, NULL, len);
	at = f->data + FRAME_HEAD;
	memset(at, 0, len);
	frame_put_u32(at, (uint32_t)now);
	frame_put_u32(at + 4, (uint32_t)(now >> 32));
	frame_put_u32(at + 16, p->version);
	memcpy(at + 20, p->nodes, p->nnodes);
	for (uint32_t i = 0; i < p->nlinks; i++)
		at[20 + nodes + 3 * i] = p->links[i].state;
	at += 20 + nodes + links;
	for (size_t i = 0; i < p->managers.n; i++, at += 8) {
		frame_put_u32(at, p->managers.at[i].node);
		at[4] = p->managers.at[i].state;
		at[6] = p->managers.at[i].flags;
		at[7] = p->managers.at[i].priority;
	}
	if (is_shown(p, f)) {
		frame_unref(f);
		return;
	}
	frame_unref(p->shown);
	p->shown = f;
	p->emit(p->ctx, f->data, f->len);
}

uint32_t live_picture_node(const struct live_picture *p, const char *guid)
{
	uint64_t v;

	return guid && !parse_u64(guid, &v) ? map64_get(&p->by_guid, v) : LIVE_NONE;
}

uint32_t live_picture_node_of(const struct live_picture *p, uint64_t guid)
{
	return map64_get(&p->by_guid, guid);
}

const struct fab *live_picture_fab(const struct live_picture *p)
{
	return p->parsed.fab;
}

/* Routes by link and direction, in the numbers of the picture. */
uint64_t live_picture_loads(struct live_picture *p, const uint32_t *load)
{
	struct frame *f = frame_new(FRAME_LOADS, NULL, 4 + 8 * (size_t)p->nlinks);
	uint8_t *at = f->data + FRAME_HEAD;
	const struct fab *fab = p->parsed.fab;
	uint64_t most = 0;

	memset(at, 0, 4 + 8 * (size_t)p->nlinks);
	frame_put_u32(at, p->version);
	for (port_id a = 0; fab && a < fab->nports; a++) {
		uint32_t node = map64_get(&p->by_guid, fab->nodes[fab->ports[a].node].guid);
		const uint32_t *slot = load[a] ? port_slot(p, node, fab->ports[a].num) : NULL;
		const struct picture_link *l = slot && *slot ? &p->links[*slot - 1] : NULL;

		if (!l)
			continue;
		most = MAX(most, load[a]);
		frame_put_u32(at + 4 + 8 * (size_t)(*slot - 1) +
				      (l->a == node && l->pa == fab->ports[a].num ? 0 : 4),
			      load[a]);
	}
	p->emit(p->ctx, f->data, f->len);
	frame_unref(f);
	return most;
}

uint32_t live_picture_link(struct live_picture *p, uint32_t node, unsigned port)
{
	const uint32_t *slot = port_slot(p, node, port);

	return slot && *slot ? *slot - 1 : LIVE_NONE;
}

uint32_t live_picture_lid(const struct live_picture *p, unsigned lid)
{
	return map64_get(&p->by_lid, lid);
}

const char *live_picture_netlist(const struct live_picture *p)
{
	return p->netlist;
}

struct live_picture *live_picture_new(void (*emit)(void *ctx, const uint8_t *frame, size_t len),
				      void *ctx)
{
	struct live_picture *p = mem_zalloc(sizeof(*p));

	p->emit = emit;
	p->ctx = ctx;
	p->w = window_new(engine_emits, p);
	return p;
}

void live_picture_free(struct live_picture *p)
{
	picture_clear(p);
	frame_unref(p->shown);
	map64_free(&p->by_guid);
	map64_free(&p->by_port_guid);
	map64_free(&p->by_lid);
	vec_free(&p->managers);
	free(p->netlist);
	fab_netlist_free(&p->parsed);
	fab_free(p->devices);
	window_free(p->w);
	free(p);
}
