/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs of a snapshot: which port has which, and new ones for ports and virtual functions that have none.
 * State: struct lid_pool, for one call. Ways in: fab_lid_table(), fab_assign_lids(), fab_assign_vf_lids().
 * A running manager keeps LIDs itself (src/sm/addresses).
 */
#include "fabric/fabric.h"

uint32_t fab_top_lid(const struct fab *f)
{
	uint32_t top = 0;

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].lid)
			top = MAX(top, f->ports[p].lid + (1u << f->ports[p].lmc) - 1);
	for (uint32_t i = 0; i < f->nvlids; i++)
		top = MAX(top, f->vlids[i].lid);
	return top;
}

uint32_t fab_lid_count(const struct fab *f)
{
	uint32_t n = f->nvlids;

	for (port_id p = 0; p < f->nports; p++)
		n += f->ports[p].lid ? 1u << f->ports[p].lmc : 0;
	return n;
}

/* ---- the table ---- */

static bool is_pf_of(const struct fab *f, port_id p, port_id vswitch)
{
	const struct fab_port *far;

	if (f->ports[p].peer == FAB_NONE || !(f->nodes[f->ports[p].node].flags & FAB_FUNCTION))
		return false;
	far = &f->ports[f->ports[p].peer];
	return far->num == FAB_SLOT0_PORT && f->nodes[far->node].flags & FAB_VSWITCH &&
	       vswitch == fab_port_id(f, far->node, 0);
}

bool fab_may_share_lid(const struct fab *f, port_id a, port_id b)
{
	return is_pf_of(f, a, b) || is_pf_of(f, b, a);
}

/* 0 when port p may have this LID; *t is its place in the table. */
static int table_put(const struct fab *f, port_id *t, uint32_t lid, port_id p, struct err *e)
{
	char a[32], b[32];

	if (*t == FAB_NONE || fab_may_share_lid(f, *t, p)) {
		*t = *t == FAB_NONE || is_pf_of(f, *t, p) ? p : *t;
		return 0;
	}
	fab_node_ident(f, f->ports[p].node, a);
	fab_node_ident(f, f->ports[*t].node, b);
	return err_set(e, -EEXIST, "LID %u belongs to both %s and %s", lid, b, a);
}

int fab_lid_table(const struct fab *f, port_id **table, uint32_t *top_lid, struct err *e)
{
	uint32_t top = fab_top_lid(f);
	port_id *t = mem_array(top + 1, sizeof(*t));
	int rc = 0;

	memset(t, 0xff, (top + 1) * sizeof(*t));
	for (port_id p = 0; p < f->nports && !rc; p++) {
		const struct fab_port *q = &f->ports[p];

		for (unsigned i = 0; q->lid && i < 1u << q->lmc && !rc; i++)
			rc = table_put(f, &t[q->lid + i], q->lid + i, p, e);
	}
	for (uint32_t i = 0; i < f->nvlids && !rc; i++)
		rc = table_put(f, &t[f->vlids[i].lid], f->vlids[i].lid, f->vlids[i].port, e);
	if (rc) {
		free(t);
		return rc;
	}
	*table = t;
	*top_lid = top;
	return 0;
}

/* ---- giving LIDs ---- */

struct lid_pool {
	const struct fab *f;
	struct fab_builder *b;
	unsigned lmc;
	uint32_t next[2]; /* where the next search starts, for LMC 0 and for lmc */
	bool *kept;	  /* by index in f->vlids */
	uint8_t used[0x10000];
};

static bool range_free(const struct lid_pool *l, uint32_t lid, unsigned lmc)
{
	uint32_t n = 1u << lmc;

	if (!lid || lid % n || lid + n - 1 > IBA_LID_MAX_UNICAST)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (l->used[lid + i])
			return false;
	return true;
}

static void range_take(struct lid_pool *l, struct fab_port *p, uint32_t lid, unsigned lmc)
{
	memset(l->used + lid, 1, 1u << lmc);
	p->lid = (uint16_t)lid;
	p->lmc = (uint8_t)lmc;
}

/* The next free range; 0 when there is none. */
static uint32_t range_find(struct lid_pool *l, unsigned lmc)
{
	uint32_t *from = &l->next[lmc ? 1 : 0];

	while (*from <= IBA_LID_MAX_UNICAST && !range_free(l, *from, lmc))
		*from += 1u << lmc;
	return *from <= IBA_LID_MAX_UNICAST ? *from : 0;
}

static bool wants_lid(const struct fab *f, const struct fab_port *p)
{
	return fab_is_switch(f, p->node) ? p->num == 0 : p->num > 0 && p->peer != FAB_NONE;
}

/* Does the node have VFs that want a LID each? */
static bool has_vfs(const struct fab *f, node_id n)
{
	return f->nodes[n].sriov == FAB_SRIOV_VSWITCH &&
	       f->ports[fab_port_id(f, n, 1)].peer != FAB_NONE;
}

static unsigned lmc_of(const struct fab *f, node_id n, unsigned lmc)
{
	return fab_is_switch(f, n) && !(f->nodes[n].flags & FAB_ENHANCED_PORT0) ? 0 : lmc;
}

static struct fab_port *port_at(const struct lid_pool *l, port_id p)
{
	return fab_builder_port(l->b, l->f->ports[p].node, l->f->ports[p].num);
}

static void keep_valid(struct lid_pool *l)
{
	const struct fab *f = l->f;

	for (port_id i = 0; i < f->nports; i++) {
		struct fab_port *p = port_at(l, i);
		unsigned lmc = lmc_of(f, p->node, l->lmc);

		p->lid = 0;
		p->lmc = 0;
		if (wants_lid(f, p) && range_free(l, f->ports[i].lid, lmc))
			range_take(l, p, f->ports[i].lid, lmc);
	}
	fab_builder_drop_vlids(l->b);
	for (uint32_t i = 0; i < f->nvlids; i++) {
		const struct fab_vlid *v = &f->vlids[i];

		if (!range_free(l, v->lid, 0) || f->ports[v->port].peer == FAB_NONE)
			continue;
		l->used[v->lid] = 1;
		l->kept[i] = true;
		fab_add_vlid(l->b, f->ports[v->port].node, v->slot, v->lid, v->guid);
	}
}

static bool give_ports(struct lid_pool *l)
{
	for (port_id i = 0; i < l->f->nports; i++) {
		struct fab_port *p = port_at(l, i);
		unsigned lmc = lmc_of(l->f, p->node, l->lmc);
		uint32_t lid;

		if (p->lid || !wants_lid(l->f, p))
			continue;
		lid = range_find(l, lmc);
		if (!lid)
			return false;
		range_take(l, p, lid, lmc);
	}
	return true;
}

static bool give_vfs_of(struct lid_pool *l, node_id n)
{
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(l->f, fab_port_id(l->f, n, 1), &v), lid;
	bool has[FAB_MAX_VFS + 1] = {false};

	for (uint32_t i = 0; i < nv; i++)
		has[v[i].slot] |= l->kept[v + i - l->f->vlids];
	for (unsigned slot = 1; slot <= l->f->nodes[n].vfs; slot++) {
		if (has[slot])
			continue;
		lid = range_find(l, 0);
		if (!lid)
			return false;
		l->used[lid] = 1;
		fab_add_vlid(l->b, n, slot, (uint16_t)lid, 0);
	}
	return true;
}

static bool give_vfs(struct lid_pool *l)
{
	for (node_id n = 0; n < l->f->nnodes; n++)
		if (has_vfs(l->f, n) && !give_vfs_of(l, n))
			return false;
	return true;
}

/* ---- when there are too few ---- */

/* What the ports of a fabric take. */
struct demand {
	uint32_t switches, others;	       /* LIDs; others: hosts without VFs, routers */
	uint32_t hypervisors, hypervisor_lids; /* HCAs with VFs; their LIDs with those of VFs */
	uint32_t vfs;
	unsigned each; /* VFs of every hypervisor, 0 when they differ */
};

static struct demand demand_of(const struct fab *f, unsigned lmc)
{
	struct demand d = {0};

	for (port_id i = 0; i < f->nports; i++) {
		const struct fab_port *p = &f->ports[i];
		const struct fab_node *n = &f->nodes[p->node];
		uint32_t lids = 1u << lmc_of(f, p->node, lmc);

		if (!wants_lid(f, p))
			continue;
		if (fab_is_switch(f, p->node)) {
			d.switches += lids;
		} else if (!has_vfs(f, p->node)) {
			d.others += lids;
		} else {
			d.each = !d.hypervisors || d.each == n->vfs ? n->vfs : 0;
			d.hypervisors++;
			d.hypervisor_lids += lids + n->vfs;
			d.vfs += n->vfs;
		}
	}
	return d;
}

/* 49164 as "49,164". */
static const char *grouped(char buf[16], uint32_t v)
{
	if (v >= 1000000)
		snprintf(buf, 16, "%u,%03u,%03u", v / 1000000, v / 1000 % 1000, v % 1000);
	else if (v >= 1000)
		snprintf(buf, 16, "%u,%03u", v / 1000, v % 1000);
	else
		snprintf(buf, 16, "%u", v);
	return buf;
}

static void no_space(const struct lid_pool *l, bool vfs, struct err *e)
{
	struct demand d = demand_of(l->f, l->lmc);
	char text[6][16], others[48] = "", lmc[24] = "";

	if (!vfs || !d.vfs) {
		err_set(e, -ENOSPC, "the fabric needs more than the 49151 unicast LIDs (LMC %u)",
			l->lmc);
		return;
	}
	if (d.others)
		snprintf(others, sizeof(others), ", %s for other ports",
			 grouped(text[0], d.others));
	if (l->lmc)
		snprintf(lmc, sizeof(lmc), " (LMC %u)", l->lmc);
	err_set(e, -ENOSPC, "%s VFs on %s hosts need %s LIDs and %s for switches%s%s; 49,151 exist",
		grouped(text[1], d.each ? d.each : d.vfs), grouped(text[2], d.hypervisors),
		grouped(text[3], d.hypervisor_lids), grouped(text[4], d.switches), others, lmc);
}

static struct fab *assign(const struct fab *f, unsigned lmc, bool vfs, struct err *e)
{
	struct fab *with = NULL;
	struct lid_pool *l;
	bool ok;

	if (lmc > 7) {
		err_set(e, -EINVAL, "found LMC %u, expected 0 to 7", lmc);
		return NULL;
	}
	l = mem_zalloc(sizeof(*l));
	l->f = f;
	l->b = fab_builder_from(f);
	l->lmc = lmc;
	l->next[0] = 1;
	l->next[1] = 1u << lmc;
	l->kept = mem_zarray(f->nvlids, sizeof(*l->kept));
	keep_valid(l);
	ok = give_ports(l) && (!vfs || give_vfs(l));
	if (ok) {
		with = fab_build(l->b);
	} else {
		no_space(l, vfs, e);
		fab_builder_free(l->b);
	}
	free(l->kept);
	free(l);
	return with;
}

struct fab *fab_assign_lids(const struct fab *f, unsigned lmc, struct err *e)
{
	return assign(f, lmc, false, e);
}

struct fab *fab_assign_vf_lids(const struct fab *f, unsigned lmc, struct err *e)
{
	return assign(f, lmc, true, e);
}
