/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: the builder that makes them and the questions they answer. A builder owns growing
 * arrays; fab_build() turns them into an immutable struct fab. Does not read or write text, and does not
 * give LIDs: lid_table.c does.
 */
#include "fabric/fabric.h"

struct fab_builder {
	VEC(struct fab_node) nodes;
	VEC(struct fab_port) ports;
	VEC(struct fab_vlid) vlids;
	struct strbuf strings;
	struct map64 by_guid;
};

struct fab_builder *fab_builder_new(void)
{
	struct fab_builder *b = mem_zalloc(sizeof(*b));

	strbuf_addn(&b->strings, "", 1); /* offset 0 is the empty name */
	return b;
}

void fab_builder_free(struct fab_builder *b)
{
	if (!b)
		return;
	vec_free(&b->nodes);
	vec_free(&b->ports);
	vec_free(&b->vlids);
	strbuf_free(&b->strings);
	map64_free(&b->by_guid);
	free(b);
}

static uint32_t string_add(struct fab_builder *b, const char *s)
{
	uint32_t at = (uint32_t)b->strings.len;

	if (!*s)
		return 0;
	strbuf_addn(&b->strings, s, strlen(s) + 1);
	return at;
}

node_id fab_add_node(struct fab_builder *b, enum iba_node_type type, uint64_t guid, unsigned nports,
		     const char *name)
{
	node_id n = (node_id)b->nodes.n;

	assert(nports <= 254);
	vec_push(&b->nodes, (struct fab_node){.guid = guid,
					      .sys_guid = guid,
					      .first_port = (port_id)b->ports.n,
					      .name = string_add(b, name),
					      .type = (uint8_t)type,
					      .nports = (uint8_t)nports});
	for (unsigned p = 0; p <= nports; p++)
		vec_push(&b->ports,
			 (struct fab_port){.node = n, .peer = FAB_NONE, .num = (uint8_t)p});
	if (type == IBA_NODE_SWITCH)
		fab_builder_port(b, n, 0)->guid = guid;
	if (map64_get(&b->by_guid, guid) == MAP_NONE) /* of two nodes with one GUID, the first */
		map64_put(&b->by_guid, guid, n);
	return n;
}

struct fab_node *fab_builder_node(struct fab_builder *b, node_id n)
{
	return &b->nodes.at[n];
}

struct fab_port *fab_builder_port(struct fab_builder *b, node_id n, unsigned num)
{
	assert(num <= b->nodes.at[n].nports);
	return &b->ports.at[b->nodes.at[n].first_port + num];
}

node_id fab_builder_find(const struct fab_builder *b, uint64_t guid)
{
	return map64_get(&b->by_guid, guid);
}

void fab_builder_rename(struct fab_builder *b, node_id n, const char *name)
{
	b->nodes.at[n].name = string_add(b, name);
}

int fab_add_link(struct fab_builder *b, node_id a, unsigned pa, node_id c, unsigned pc)
{
	struct fab_port *x, *y;

	if (a >= b->nodes.n || c >= b->nodes.n || !pa || !pc || pa > b->nodes.at[a].nports ||
	    pc > b->nodes.at[c].nports || (a == c && pa == pc))
		return -EINVAL;
	x = fab_builder_port(b, a, pa);
	y = fab_builder_port(b, c, pc);
	if (x->peer != FAB_NONE || y->peer != FAB_NONE)
		return -EEXIST;
	x->peer = (port_id)(y - b->ports.at);
	y->peer = (port_id)(x - b->ports.at);
	return 0;
}

/* Locally administered, with the slot in the second byte: VF 1 of 0x0002c90300a1b2c3 has 0x0200c90300a1b2c3. */
uint64_t fab_function_guid(uint64_t hca, unsigned slot)
{
	return hca ^ 0x02ull << 56 ^ (uint64_t)(slot + 1) << 48;
}

void fab_add_vlid(struct fab_builder *b, node_id n, unsigned slot, uint16_t lid, uint64_t guid)
{
	const struct fab_node *hca = &b->nodes.at[n];

	assert(slot <= hca->vfs);
	if (!lid)
		return;
	vec_push(&b->vlids,
		 (struct fab_vlid){.guid = guid ? guid : fab_function_guid(hca->guid, slot),
				   .port = hca->first_port + 1,
				   .lid = lid,
				   .slot = (uint8_t)slot});
}

void fab_builder_drop_vlids(struct fab_builder *b)
{
	b->vlids.n = 0;
}

static int vlid_order(const void *a, const void *b)
{
	const struct fab_vlid *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->slot != y->slot ? x->slot - y->slot : x->lid - y->lid;
}

static void count(struct fab *f)
{
	f->switches = mem_array(f->nnodes, sizeof(*f->switches));
	f->switch_index = mem_array(f->nnodes, sizeof(*f->switch_index));
	for (node_id n = 0; n < f->nnodes; n++) {
		f->switch_index[n] = FAB_NONE;
		if (fab_is_switch(f, n)) {
			f->switch_index[n] = f->nswitches;
			f->switches[f->nswitches++] = n;
		} else if (f->nodes[n].type == IBA_NODE_ROUTER) {
			f->nrouters++;
		} else {
			f->nhosts++;
		}
	}
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && f->ports[p].peer > p)
			f->nlinks++;
}

struct fab *fab_build(struct fab_builder *b)
{
	struct fab *f = mem_zalloc(sizeof(*f));

	f->nnodes = (uint32_t)b->nodes.n;
	f->nports = (uint32_t)b->ports.n;
	f->nodes = mem_resize(b->nodes.at, f->nnodes, sizeof(*f->nodes));
	f->ports = mem_resize(b->ports.at, f->nports, sizeof(*f->ports));
	f->nvlids = (uint32_t)b->vlids.n;
	f->vlids = b->vlids.at;
	if (f->nvlids)
		qsort(f->vlids, f->nvlids, sizeof(*f->vlids), vlid_order);
	f->strings = b->strings.s;
	f->by_guid = b->by_guid;
	count(f);
	free(b);
	return f;
}

void fab_free(struct fab *f)
{
	if (!f)
		return;
	free(f->nodes);
	free(f->ports);
	free(f->vlids);
	free(f->switches);
	free(f->switch_index);
	free(f->strings);
	map64_free(&f->by_guid);
	free(f);
}

struct fab_builder *fab_builder_from(const struct fab *f)
{
	struct fab_builder *b = fab_builder_new();

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_node *s = &f->nodes[n];
		node_id c = fab_add_node(b, s->type, s->guid, s->nports, fab_node_name(f, n));
		struct fab_node *d = fab_builder_node(b, c);
		struct fab_node copy = *s;

		copy.first_port = d->first_port;
		copy.name = d->name;
		*d = copy;
	}
	if (f->nports)
		memcpy(b->ports.at, f->ports, f->nports * sizeof(*f->ports));
	for (uint32_t i = 0; i < f->nvlids; i++)
		vec_push(&b->vlids, f->vlids[i]);
	return b;
}

node_id fab_node_by_guid(const struct fab *f, uint64_t guid)
{
	return map64_get(&f->by_guid, guid);
}

/* "T12-0001000000000010": node 12, whose GUID an earlier node has. */
static node_id twin_by_text(const struct fab *f, const char *s)
{
	char ident[32], *end;
	unsigned long n;

	if (s[0] != 'T' || s[1] < '0' || s[1] > '9')
		return FAB_NONE;
	n = strtoul(s + 1, &end, 10);
	if (n >= f->nnodes)
		return FAB_NONE;
	fab_node_ident(f, (node_id)n, ident);
	return strcmp(ident, s) ? FAB_NONE : (node_id)n;
}

node_id fab_node_by_text(const struct fab *f, const char *s)
{
	node_id twin = twin_by_text(f, s);
	const char *hex = s;
	char *end;
	uint64_t guid;

	if (twin != FAB_NONE)
		return twin;
	if ((s[0] == 'S' || s[0] == 'H' || s[0] == 'R') && s[1] == '-')
		hex = s + 2;
	errno = 0;
	guid = strtoull(hex, &end, 16);
	if (*hex && !*end && !errno) {
		node_id n = fab_node_by_guid(f, guid);

		if (n != FAB_NONE)
			return n;
		for (port_id p = 0; p < f->nports; p++)
			if (guid && f->ports[p].guid == guid)
				return f->ports[p].node;
	}
	for (node_id n = 0; n < f->nnodes; n++)
		if (!strcmp(fab_node_name(f, n), s))
			return n;
	return FAB_NONE;
}

void fab_node_ident(const struct fab *f, node_id n, char buf[32])
{
	static const char letter[] = {'?', 'H', 'S', 'R'};
	node_id first = fab_node_by_guid(f, f->nodes[n].guid);

	if (first != n && first != FAB_NONE) {
		snprintf(buf, 32, "T%u-%016llx", n, (unsigned long long)f->nodes[n].guid);
		return;
	}
	snprintf(buf, 32, "%c-%016llx", letter[f->nodes[n].type & 3],
		 (unsigned long long)f->nodes[n].guid);
}

static const struct {
	const char *name;
	uint64_t lane_bps; /* after 8b/10b, 64b/66b or PAM4 with its forward error correction */
} speeds[FAB_NSPEEDS] = {
	[FAB_SPEED_UNKNOWN] = {"?", 2000000000ull}, [FAB_SDR] = {"SDR", 2000000000ull},
	[FAB_DDR] = {"DDR", 4000000000ull},	    [FAB_QDR] = {"QDR", 8000000000ull},
	[FAB_FDR10] = {"FDR10", 10000000000ull},    [FAB_FDR] = {"FDR", 13636363636ull},
	[FAB_EDR] = {"EDR", 25000000000ull},	    [FAB_HDR] = {"HDR", 50000000000ull},
	[FAB_NDR] = {"NDR", 100000000000ull},	    [FAB_XDR] = {"XDR", 200000000000ull},
};

const char *fab_speed_name(unsigned speed)
{
	return speed < FAB_NSPEEDS ? speeds[speed].name : "?";
}

uint64_t fab_lane_bps(unsigned speed)
{
	return speeds[speed < FAB_NSPEEDS ? speed : 0].lane_bps;
}

uint32_t fab_vlids_of(const struct fab *f, port_id p, const struct fab_vlid **first)
{
	uint32_t low = 0, high = f->nvlids, n = 0;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (f->vlids[mid].port < p)
			low = mid + 1;
		else
			high = mid;
	}
	while (low + n < f->nvlids && f->vlids[low + n].port == p)
		n++;
	*first = n ? &f->vlids[low] : NULL;
	return n;
}
