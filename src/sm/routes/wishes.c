/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the configuration names for routes (cfg.inputs), as nodes of a snapshot: roots and groups of hosts. State: struct
 * sm_wishes. Names of devices are read at rest, after the first tables, and settings change at a reload: when tables in force
 * were made for other roots, groups, tables or another engine than are named now, others are requested at rest
 * (balance.c). Computes no routes.
 */
#include "base/rng.h"
#include "route/named_nodes.h"
#include "route/node_groups.h"
#include "sm/manager.h"

/* Calls put() for each line of a list; NULL is an empty one. */
static void each_line(const char *list, void (*put)(void *ctx, const char *text), void *ctx)
{
	char *copy = mem_strdup(list ? list : ""), *rest = copy;

	for (char *at; (at = strsep(&rest, "\n"));)
		if (*at)
			put(ctx, at);
	free(copy);
}

static const char *name_of(const void *ctx, node_id n)
{
	const struct sm *sm = ctx;

	return sm_node_desc(sm, sm->topo.nodes.at[sm->topo.node_of[n]].guid);
}

/* Names by node of the snapshot; another fabric is looked up by GUID. */
struct other {
	const struct sm *sm;
	const struct fab *f;
};

static const char *name_in(const void *ctx, node_id n)
{
	const struct other *x = ctx;

	return sm_node_desc(x->sm, x->f->nodes[n].guid);
}

/* ---- roots ---- */

typedef VEC(node_id) nodes;

struct rooting {
	struct rt_naming naming;
	nodes found;
};

static void root_add_once(struct rooting *x, node_id n)
{
	for (size_t i = 0; i < x->found.n; i++)
		if (x->found.at[i] == n)
			return;
	vec_push(&x->found, n);
}

/* All switches that share the name, as those without a management processor do. */
static void root_add(void *ctx, const char *text)
{
	struct rooting *x = ctx;
	node_id n = rt_node_named(&x->naming, text);

	if (n == FAB_NONE)
		return;
	root_add_once(x, n);
	if (!rt_node_has_name(&x->naming, n, text))
		return;
	for (node_id i = n + 1; i < x->naming.f->nnodes; i++)
		if (rt_node_has_name(&x->naming, i, text))
			root_add_once(x, i);
}

static nodes roots_find(const struct sm *sm, const struct fab *f)
{
	const struct other o = {sm, f};
	struct rooting x = {0};

	if (!sm->cfg.inputs || !sm->cfg.inputs->roots || !*sm->cfg.inputs->roots)
		return x.found;
	rt_naming_init(&x.naming, f, name_in, &o);
	each_line(sm->cfg.inputs->roots, root_add, &x);
	rt_naming_free(&x.naming);
	return x.found;
}

node_id sm_root_named(const struct sm *sm, const struct fab *f)
{
	nodes found = roots_find(sm, f);
	node_id n = found.n ? found.at[0] : FAB_NONE;

	vec_free(&found);
	return n;
}

/* ---- groups ---- */

struct grouping {
	struct rt_naming naming;
	bool *in;
};

static void group_add(void *ctx, const char *text)
{
	struct grouping *x = ctx;

	rt_hosts_named(&x->naming, text, x->in);
}

static bool has_groups(const struct sm_inputs *in)
{
	bool any = false;

	for (unsigned g = 0; in && g < SM_NODE_GROUPS; g++)
		any |= in->group[g] && *in->group[g];
	return any;
}

/* A host that is in several groups is in the first of them. NULL: there are no groups. */
static uint8_t *groups_find(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab;
	struct grouping x = {0};
	uint8_t *group;
	bool any = false;

	if (!has_groups(sm->cfg.inputs))
		return NULL;
	rt_naming_init(&x.naming, f, name_of, sm);
	group = mem_zarray((size_t)f->nports + 1, 1);
	for (unsigned g = 0; g < SM_NODE_GROUPS; g++) {
		x.in = mem_zarray((size_t)f->nports + 1, sizeof(*x.in));
		each_line(sm->cfg.inputs->group[g], group_add, &x);
		for (port_id p = 0; p < f->nports; p++)
			if (x.in[p] && !group[p]) {
				group[p] = (uint8_t)(g + 1);
				any = true;
			}
		free(x.in);
	}
	rt_naming_free(&x.naming);
	if (any)
		return group;
	free(group); /* no name is known so far */
	return NULL;
}

/* ---- names ---- */

struct name_use {
	const char *text;
	bool used;
	bool names; /* some are no GUIDs */
};

static void name_compare(void *ctx, const char *text)
{
	struct name_use *x = ctx;
	uint64_t guid;

	x->names |= strncmp(text, "0x", 2) || !rt_guid_text(text, &guid);
	x->used |= x->text && (!strcmp(text, x->text) || rt_pattern_matches(text, x->text));
}

static struct name_use use_of(const struct sm *sm, const char *text)
{
	const struct sm_inputs *in = sm->cfg.inputs;
	struct name_use x = {.text = text};

	if (!in)
		return x;
	each_line(in->roots, name_compare, &x);
	for (unsigned g = 0; g < SM_NODE_GROUPS; g++)
		each_line(in->group[g], name_compare, &x);
	return x;
}

/* Of devices that were there, too: a host that goes is no other wish. */
static uint64_t names_digest(const struct sm *sm)
{
	uint64_t h = 0;

	for (size_t i = 0; i < sm->names.list.n; i++) {
		const struct sm_name *x = &sm->names.list.at[i];

		if (!x->known || !use_of(sm, x->text).used)
			continue;
		h = hash64_add(h, x->guid);
		for (const char *at = x->text; *at; at++)
			h = hash64_add(h, (unsigned char)*at);
	}
	return h;
}

static void names_look(struct sm *sm)
{
	struct sm_wishes *x = &sm->routes.wishes;

	if (!x->by_name || x->looked == sm->names.changes)
		return;
	x->looked = sm->names.changes;
	x->names = names_digest(sm);
}

void sm_wishes_configured(struct sm *sm)
{
	sm->routes.wishes.by_name = use_of(sm, NULL).names;
	sm->routes.wishes.asked = 0;
	sm->routes.wishes.looked = UINT32_MAX;
	sm->routes.wishes.compared = false;
}

/* ---- what no device matches ---- */

struct comparison {
	struct rt_naming naming;
	bool *in; /* hosts by port; NULL: switches are named */
	struct sm_note note;
};

static void entry_compare(void *ctx, const char *text)
{
	struct comparison *x = ctx;

	if (x->in ? rt_hosts_named(&x->naming, text, x->in) > 0
		  : rt_node_named(&x->naming, text) != FAB_NONE)
		return;
	if (!x->note.unknown.entries++)
		snprintf(x->note.unknown.first, sizeof(x->note.unknown.first), "%s", text);
}

static void list_compare(struct sm *sm, struct comparison *x, const char *key, const char *list)
{
	x->note = (struct sm_note){.kind = SM_NOTE_UNKNOWN_NAMES, .about = SM_ABOUT_NOTHING};
	each_line(list, entry_compare, x);
	if (!x->note.unknown.entries)
		return;
	snprintf(x->note.unknown.list, sizeof(x->note.unknown.list), "routes.%s", key);
	sm_note_put(sm, x->note);
}

/* A device may come later, but an entry may also be a mistake, which nothing else shows. */
void sm_wishes_compare(struct sm *sm)
{
	static const char *const keys[SM_NODE_GROUPS] = {"compute_nodes", "io_nodes",
							 "service_nodes"};
	const struct sm_inputs *in = sm->cfg.inputs;
	const struct fab *f = sm->topo.fab;
	struct comparison x = {0};

	if (sm->routes.wishes.compared || !in || !f || !sm->routes.tables || sm->core.incomplete ||
	    sm_is_doubtful(&sm->disc) || !sm_names_settled(sm))
		return;
	sm->routes.wishes.compared = true;
	rt_naming_init(&x.naming, f, name_of, sm);
	list_compare(sm, &x, "roots", in->roots);
	x.in = mem_zarray((size_t)f->nports + 1, sizeof(*x.in));
	for (unsigned g = 0; g < SM_NODE_GROUPS; g++)
		list_compare(sm, &x, keys[g], in->group[g]);
	free(x.in);
	rt_naming_free(&x.naming);
}

/* ---- the request ---- */

static uint64_t digest(const struct sm *sm)
{
	const struct sm_supply *s = sm->cfg.mechanism.routes;
	uint64_t h = sm->cfg.inputs ? sm->cfg.inputs->number : 0;

	for (const char *at = s->name; *at; at++)
		h = hash64_add(h, (unsigned char)*at);
	return hash64_add(h, sm->routes.wishes.names);
}

void sm_wishes_tell(struct sm *sm, struct sm_compute *c)
{
	struct sm_wishes *x = &sm->routes.wishes;
	nodes found = roots_find(sm, sm->topo.fab);

	sm_retire_memory(sm, x->roots);
	sm_retire_memory(sm, x->group);
	x->roots = found.at;
	x->group = groups_find(sm);
	names_look(sm);
	x->requested = digest(sm);
	c->roots = x->roots;
	c->nroots = (uint32_t)found.n;
	c->group = x->group;
	c->given = sm->cfg.inputs ? &sm->cfg.inputs->tables : NULL;
	c->auto_lanes = sm->cfg.auto_lanes;
}

void sm_wishes_taken(struct sm *sm)
{
	sm->routes.wishes.in_force = sm->routes.wishes.requested;
	sm->routes.wishes.known = true;
}

/* Plans alone lead from tables in force to others while traffic flows: other mechanisms wait for the next change. */
bool sm_wishes_due(struct sm *sm)
{
	const struct sm_wishes *x = &sm->routes.wishes;
	uint64_t now;

	if (!x->known || !sm->cfg.mechanism.second->plan || !sm_names_settled(sm))
		return false;
	names_look(sm);
	now = digest(sm);
	return now != x->in_force && now != x->asked;
}

uint64_t sm_wishes_asked(struct sm *sm)
{
	sm->routes.wishes.asked = sm->routes.wishes.requested;
	return sm->routes.wishes.asked;
}

void sm_wishes_free(struct sm *sm)
{
	free(sm->routes.wishes.roots);
	free(sm->routes.wishes.group);
}
