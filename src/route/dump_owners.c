/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports and functions by the GUIDs and names of dumps. State: struct dump_owners, read-only after
 * dump_owners_init(); the way in is dump_owner_find(). Reads no lines: dump_lines.c does.
 */
#include "base/rng.h"
#include "route/dump_owners.h"

static uint64_t name_hash(const char *s, size_t n)
{
	uint64_t h = n;

	for (; n; s++, n--)
		h = hash64_add(h, (unsigned char)*s);
	return h;
}

static bool is_named(const struct fab *f, node_id n, const char *name, size_t len)
{
	const char *has = fab_node_name(f, n);

	return strlen(has) == len && !memcmp(has, name, len);
}

/* ---- functions ---- */

static void function_put(struct dump_owners *o, uint64_t guid, port_id port, unsigned slot)
{
	if (map64_get(&o->functions, guid) != MAP_NONE)
		return;
	map64_put(&o->functions, guid, (uint32_t)o->list.n);
	vec_push(&o->list, (struct dump_owner){port, (uint8_t)slot});
}

static void name_put(struct dump_owners *o, node_id n)
{
	const char *name = fab_node_name(o->f, n);
	uint64_t h = name_hash(name, strlen(name));

	for (uint32_t at; (at = map64_get(&o->names, h)) != MAP_NONE; h++)
		if (!strcmp(fab_node_name(o->f, at), name))
			return; /* of two with one name the first */
	map64_put(&o->names, h, n);
}

void dump_owners_init(struct dump_owners *o, const struct fab *f)
{
	*o = (struct dump_owners){.f = f};
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid && map64_get(&o->ports, f->ports[p].guid) == MAP_NONE)
			map64_put(&o->ports, f->ports[p].guid, p);
	for (uint32_t i = 0; i < f->nvlids; i++)
		function_put(o, f->vlids[i].guid, f->vlids[i].port, f->vlids[i].slot);
	for (node_id n = 0; n < f->nnodes; n++) {
		if (f->nodes[n].sriov != FAB_SRIOV_VSWITCH)
			continue;
		for (unsigned slot = 0; slot <= f->nodes[n].vfs; slot++)
			function_put(o, fab_function_guid(f->nodes[n].guid, slot),
				     fab_port_id(f, n, 1), slot);
		name_put(o, n);
	}
}

void dump_owners_free(struct dump_owners *o)
{
	map64_free(&o->ports);
	map64_free(&o->functions);
	map64_free(&o->names);
	vec_free(&o->list);
}

static node_id hca_named(const struct dump_owners *o, const char *name, size_t len)
{
	uint32_t n;

	for (uint64_t h = name_hash(name, len); (n = map64_get(&o->names, h)) != MAP_NONE; h++)
		if (is_named(o->f, n, name, len))
			return n;
	return FAB_NONE;
}

/* "host0 VF3": the GUID may be one that a virtual machine brought along. */
static struct dump_owner function_named(const struct dump_owners *o, const char *name, size_t len)
{
	static const struct dump_owner none = {FAB_NONE, DUMP_PORT_ITSELF};
	size_t digits = 0;
	unsigned slot = 0;
	node_id n;

	while (digits < MIN(len, (size_t)3) && name[len - digits - 1] >= '0' &&
	       name[len - digits - 1] <= '9')
		digits++;
	if (!digits || len < digits + 3 || memcmp(name + len - digits - 3, " VF", 3))
		return none;
	for (size_t i = len - digits; i < len; i++)
		slot = slot * 10 + (unsigned)(name[i] - '0');
	n = hca_named(o, name, len - digits - 3);
	if (n == FAB_NONE || !slot || slot > o->f->nodes[n].vfs)
		return none;
	return (struct dump_owner){fab_port_id(o->f, n, 1), (uint8_t)slot};
}

void dump_add_function(struct strbuf *b, const struct fab *f, port_id hca, unsigned slot)
{
	dump_add_name(b, fab_node_name(f, f->ports[hca].node));
	if (slot)
		strbuf_addf(b, " VF%u", slot);
	else
		strbuf_add(b, " PF");
}

/* ---- both ---- */

/* The port that a GUID and a name in the dump mean. The GUID decides, unless the port found by
 * node GUID is the one that has this name. A port found by node GUID alone counts only if its
 * name is the same or unknown. */
static port_id port_find(const struct dump_owners *o, uint64_t guid, const char *name, size_t len)
{
	const struct fab *f = o->f;
	port_id p = map64_get(&o->ports, guid), q;
	node_id n = fab_node_by_guid(f, guid);

	if (p == MAP_NONE && n != FAB_NONE && fab_is_switch(f, n)) /* ibsim: also port 0's */
		return fab_port_id(f, n, 0);
	if (p != MAP_NONE && (!len || is_named(f, f->ports[p].node, name, len)))
		return p;
	q = dump_port_by_node_guid(f, guid);
	if (q == FAB_NONE)
		return p;
	if (len && is_named(f, f->ports[q].node, name, len))
		return q;
	if (p != MAP_NONE)
		return p;
	return !len || !*fab_node_name(f, f->ports[q].node) ? q : FAB_NONE;
}

struct dump_owner dump_owner_find(const struct dump_owners *o, uint64_t guid, const char *name,
				  size_t len)
{
	uint32_t at = map64_get(&o->functions, guid);
	port_id p;

	if (at != MAP_NONE)
		return o->list.at[at];
	p = port_find(o, guid, name, len);
	if (p == FAB_NONE && len)
		return function_named(o, name, len);
	return (struct dump_owner){p, DUMP_PORT_ITSELF};
}
