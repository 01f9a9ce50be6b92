/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HCAs with virtual functions in both views. Keeps no state. Ways in: fab_wire() makes of each HCA in
 * vSwitch mode a switch with functions behind it, as devices show them; fab_fold() goes back. Does not give
 * LIDs. HCAs with a shared port look the same in both views.
 */
#include "fabric/fabric.h"

bool fab_is_virtual(const struct fab *f)
{
	for (node_id n = 0; n < f->nnodes; n++)
		if (f->nodes[n].sriov)
			return true;
	return false;
}

struct fab *fab_with_vfs(const struct fab *f, enum fab_sriov sriov, unsigned vfs)
{
	struct fab_builder *b = fab_builder_from(f);

	assert(vfs <= FAB_MAX_VFS && !vfs == !sriov);
	fab_builder_drop_vlids(b);
	for (node_id n = 0; n < f->nnodes; n++) {
		if (f->nodes[n].type != IBA_NODE_CA || f->nodes[n].nports != 1 ||
		    f->nodes[n].flags & FAB_FUNCTION)
			continue;
		fab_builder_node(b, n)->sriov = (uint8_t)sriov;
		fab_builder_node(b, n)->vfs = (uint8_t)vfs;
	}
	return fab_build(b);
}

/* ---- compact to wire ---- */

enum { MAX_PORTS = 1 << 24 }; /* as in a netlist: a short text cannot ask for all memory */

struct wire {
	const struct fab *f;
	struct fab_builder *b;
	struct map64 guids; /* of nodes and ports -> node of f */
	struct err *e;
};

static void take_guids(struct wire *w)
{
	const struct fab *f = w->f;

	for (node_id n = 0; n < f->nnodes; n++)
		map64_put(&w->guids, f->nodes[n].guid, n);
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid)
			map64_put(&w->guids, f->ports[p].guid, f->ports[p].node);
}

/* Nodes of f keep their ids; ports get others, because a vSwitch has more of them. */
static void add_node(struct wire *w, node_id n)
{
	const struct fab_node *s = &w->f->nodes[n];
	const struct fab_port *p = &w->f->ports[s->first_port];
	bool vswitch = s->sriov == FAB_SRIOV_VSWITCH;
	unsigned nports = vswitch ? FAB_SLOT0_PORT + s->vfs : s->nports;
	struct fab_node *d, copy = *s;

	assert(!s->sriov ||
	       (s->type == IBA_NODE_CA && s->nports == 1 && s->vfs && s->vfs <= FAB_MAX_VFS));
	fab_add_node(w->b, vswitch ? IBA_NODE_SWITCH : s->type, s->guid, nports,
		     fab_node_name(w->f, n));
	d = fab_builder_node(w->b, n);
	copy.first_port = d->first_port;
	copy.name = d->name;
	copy.nports = d->nports;
	copy.type = d->type;
	if (vswitch) {
		copy.device_id = IBA_DEVICE_VSWITCH;
		copy.flags = FAB_VSWITCH;
		copy.sriov = copy.vfs = 0;
	}
	*d = copy;
	for (unsigned i = 0; i <= s->nports; i++) {
		struct fab_port *q = fab_builder_port(w->b, n, i), end = p[i];

		end.node = n;
		end.peer = FAB_NONE;
		if (vswitch) { /* the addresses are on port 0 */
			end.guid = i ? 0 : p[1].guid;
			end.lid = i ? 0 : p[1].lid;
			end.lmc = i ? 0 : p[1].lmc;
		}
		*q = end;
	}
}

static void add_cables(struct wire *w)
{
	const struct fab *f = w->f;

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *a = &f->ports[p];

		if (a->peer != FAB_NONE && a->peer > p)
			fab_add_link(w->b, a->node, a->num, f->ports[a->peer].node,
				     f->ports[a->peer].num);
	}
}

static void function_name(struct strbuf *out, const char *hca, unsigned slot)
{
	out->len = 0;
	strbuf_addf(out, "%s%s", hca, *hca ? " " : "");
	if (slot)
		strbuf_addf(out, "VF%u", slot);
	else
		strbuf_add(out, "PF");
}

static int function_guid(struct wire *w, node_id hca, unsigned slot, uint64_t *guid)
{
	uint32_t other;
	char a[32], b[32];

	*guid = fab_function_guid(w->f->nodes[hca].guid, slot);
	other = map64_get(&w->guids, *guid);
	if (*guid && other == MAP_NONE) {
		map64_put(&w->guids, *guid, hca);
		return 0;
	}
	fab_node_ident(w->f, hca, a);
	if (!*guid)
		return err_set(w->e, -EEXIST, "function %u of %s would have GUID 0", slot, a);
	fab_node_ident(w->f, other, b);
	return err_set(w->e, -EEXIST, "GUID 0x%016llx of function %u of %s is in use at %s",
		       (unsigned long long)*guid, slot, a, b);
}

/* The LIDs of one slot in v; the PF has that of the HCA when it has none of its own. */
static void function_lid(struct fab_port *p, const struct fab_port *hca, const struct fab_vlid *v,
			 uint32_t n, unsigned slot)
{
	uint32_t lids = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (v[i].slot != slot)
			continue;
		if (!lids++) {
			p->lid = v[i].lid;
			p->guid = v[i].guid;
		}
	}
	while (lids > 1u << p->lmc)
		p->lmc++;
	if (!slot && !lids) {
		p->lid = hca->lid;
		p->lmc = hca->lmc;
	}
}

static int add_functions(struct wire *w, node_id hca)
{
	const struct fab_node *h = &w->f->nodes[hca];
	const struct fab_port *up = &w->f->ports[h->first_port + 1];
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(w->f, h->first_port + 1, &v);
	struct strbuf name = {0};
	uint64_t guid;
	int rc = 0;

	for (unsigned slot = 0; slot <= h->vfs && !(rc = function_guid(w, hca, slot, &guid));
	     slot++) {
		struct fab_port *p, *q;
		struct fab_node *d;
		node_id n;

		function_name(&name, fab_node_name(w->f, hca), slot);
		n = fab_add_node(w->b, IBA_NODE_CA, guid, 1, name.s);
		d = fab_builder_node(w->b, n);
		d->sys_guid = h->sys_guid;
		d->vendor_id = h->vendor_id;
		d->device_id = IBA_DEVICE_FUNCTION;
		d->flags = FAB_FUNCTION;
		fab_add_link(w->b, hca, FAB_SLOT0_PORT + slot, n, 1);
		p = fab_builder_port(w->b, n, 1);
		q = fab_builder_port(w->b, hca, FAB_SLOT0_PORT + slot);
		p->guid = guid;
		p->width = q->width = up->width;
		p->speed = q->speed = up->speed;
		function_lid(p, up, v, nv, slot);
	}
	strbuf_free(&name);
	return rc;
}

/* Ports in all, port 0 of each node included. */
static int check_size(const struct fab *f, struct err *e)
{
	uint64_t ports = f->nports;

	for (node_id n = 0; n < f->nnodes; n++)
		if (f->nodes[n].sriov == FAB_SRIOV_VSWITCH)
			ports += 1 + f->nodes[n].vfs + 2 * (1u + f->nodes[n].vfs);
	if (ports <= MAX_PORTS)
		return 0;
	return err_set(e, -E2BIG, "the functions of all HCAs need %llu ports; at most %u are made",
		       (unsigned long long)ports, (unsigned)MAX_PORTS);
}

struct fab *fab_wire(const struct fab *f, struct err *e)
{
	struct wire w = {.f = f, .e = e};
	int rc = check_size(f, e);

	if (rc)
		return NULL;
	w.b = fab_builder_new();
	take_guids(&w);
	for (node_id n = 0; n < f->nnodes; n++)
		add_node(&w, n);
	add_cables(&w);
	for (node_id n = 0; n < f->nnodes && !rc; n++)
		if (f->nodes[n].sriov == FAB_SRIOV_VSWITCH)
			rc = add_functions(&w, n);
	map64_free(&w.guids);
	if (!rc)
		return fab_build(w.b);
	fab_builder_free(w.b);
	return NULL;
}

/* ---- wire to compact ---- */

static bool is_vswitch(const struct fab *f, node_id n)
{
	return f->nodes[n].flags & FAB_VSWITCH && f->nodes[n].nports > FAB_SLOT0_PORT;
}

/* Does the node disappear into the vSwitch? A link that is down counts as one to it. */
static bool folds_away(const struct fab *f, node_id n)
{
	const struct fab_node *s = &f->nodes[n];
	port_id far = s->nports ? f->ports[s->first_port + 1].peer : FAB_NONE;

	return s->flags & FAB_FUNCTION && s->nports == 1 &&
	       (far == FAB_NONE ||
		(is_vswitch(f, f->ports[far].node) && f->ports[far].num >= FAB_SLOT0_PORT));
}

static void fold_node(const struct fab *f, node_id n, struct fab_builder *b)
{
	const struct fab_node *s = &f->nodes[n];
	const struct fab_port *p = &f->ports[s->first_port];
	bool vswitch = is_vswitch(f, n);
	unsigned nports = vswitch ? 1 : s->nports;
	node_id id = fab_add_node(b, vswitch ? IBA_NODE_CA : s->type, s->guid, nports,
				  fab_node_name(f, n));
	struct fab_node *d = fab_builder_node(b, id), copy = *s;

	copy.first_port = d->first_port;
	copy.name = d->name;
	copy.nports = d->nports;
	copy.type = d->type;
	if (vswitch) {
		copy.flags = 0;
		copy.sriov = FAB_SRIOV_VSWITCH;
		copy.vfs = (uint8_t)(s->nports - FAB_SLOT0_PORT);
	}
	*d = copy;
	for (unsigned i = 0; i <= nports; i++) {
		struct fab_port *q = fab_builder_port(b, id, i), end = p[i];

		end.node = id;
		end.peer = FAB_NONE;
		if (vswitch) {
			end.guid = i ? p[0].guid : 0;
			end.lid = i ? p[0].lid : 0;
			end.lmc = i ? p[0].lmc : 0;
		}
		*q = end;
	}
}

/* What the functions behind vSwitch n have. A PF whose vSwitch has no LID gives its own to the HCA. */
static void fold_lids(const struct fab *f, node_id n, struct fab_builder *b, node_id hca)
{
	struct fab_port *up = fab_builder_port(b, hca, 1);

	for (unsigned num = FAB_SLOT0_PORT; num <= f->nodes[n].nports; num++) {
		port_id far = f->ports[fab_port_id(f, n, num)].peer;
		const struct fab_port *p = far == FAB_NONE ? NULL : &f->ports[far];
		unsigned slot = num - FAB_SLOT0_PORT;

		if (!p || !p->lid || !folds_away(f, p->node))
			continue;
		if (!slot && !up->lid) {
			up->lid = p->lid;
			up->lmc = p->lmc;
		}
		if (!slot && up->lid == p->lid)
			continue;
		for (unsigned i = 0; i < 1u << p->lmc; i++)
			fab_add_vlid(b, hca, slot, (uint16_t)(p->lid + i), p->guid);
	}
}

struct fab *fab_fold(const struct fab *wire)
{
	struct fab_builder *b = fab_builder_new();
	node_id *to = mem_array(wire->nnodes, sizeof(*to)), next = 0;

	for (node_id n = 0; n < wire->nnodes; n++) {
		to[n] = folds_away(wire, n) ? FAB_NONE : next++;
		if (to[n] == FAB_NONE)
			continue;
		fold_node(wire, n, b);
		if (is_vswitch(wire, n))
			fold_lids(wire, n, b, to[n]);
	}
	for (port_id p = 0; p < wire->nports; p++) {
		const struct fab_port *x = &wire->ports[p], *y;

		if (x->peer == FAB_NONE || x->peer < p)
			continue;
		y = &wire->ports[x->peer];
		if (to[x->node] != FAB_NONE && to[y->node] != FAB_NONE)
			fab_add_link(b, to[x->node], x->num, to[y->node], y->num);
	}
	free(to);
	return fab_build(b);
}

/* ---- any view to wire ---- */

static bool shows_functions(const struct fab *f)
{
	for (node_id n = 0; n < f->nnodes; n++)
		if (f->nodes[n].flags & (FAB_VSWITCH | FAB_FUNCTION))
			return true;
	return false;
}

struct fab *fab_devices(const struct fab *f, struct err *e)
{
	struct fab *compact, *wire;

	if (!shows_functions(f))
		return fab_is_virtual(f) ? fab_wire(f, e) : fab_build(fab_builder_from(f));
	compact = fab_fold(f);
	wire = fab_wire(compact, e);
	fab_free(compact);
	return wire;
}
