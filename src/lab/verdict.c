/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict on a subnet. Keeps no state. Way in: lab_judge(). Does not trust the manager: its verification
 * counts only where the tables in the devices equal the manager's byte for byte; other tables are verified
 * here.
 */
#include "lab/verdict_priv.h"
#include "lab/lab_priv.h"

void lab_fail(char why[LAB_WHY], const char *fmt, ...)
{
	va_list ap;

	if (why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(why, LAB_WHY, fmt, ap);
	va_end(ap);
}

static bool any_in(const struct fab *f, node_id n, const bool *in)
{
	bool any = false;

	for (unsigned p = 0; p <= f->nodes[n].nports; p++)
		any |= in[fab_port_id(f, n, p)];
	return any;
}

/* What is in the subnet of one port, in the order of f. Of a host with ports in other subnets, too, the
 * other ports stay without LID and link: they are not this manager's. */
static struct fab *subnet_of(const struct fab *f, port_id from)
{
	bool *in = mem_array(f->nports, sizeof(*in));
	node_id *id = mem_array(f->nnodes, sizeof(*id));
	struct fab_builder *b = fab_builder_new();

	fab_subnet(f, from, in);
	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_node *s = &f->nodes[n];

		if (!any_in(f, n, in))
			continue;
		id[n] = fab_add_node(b, s->type, s->guid, s->nports, fab_node_name(f, n));
		fab_builder_node(b, id[n])->flags = s->flags;
		fab_builder_node(b, id[n])->sriov = s->sriov;
		fab_builder_node(b, id[n])->vfs = s->vfs;
		for (unsigned p = 0; p <= s->nports; p++) {
			const struct fab_port *q = &f->ports[s->first_port + p];
			struct fab_port *d = fab_builder_port(b, id[n], p);

			d->guid = q->guid;
			if (in[s->first_port + p]) {
				d->lid = q->lid;
				d->lmc = q->lmc;
			}
		}
	}
	for (port_id p = 0; p < f->nports; p++) {
		port_id q = f->ports[p].peer;

		if (q != FAB_NONE && q > p && in[p])
			fab_add_link(b, id[f->ports[p].node], f->ports[p].num, id[f->ports[q].node],
				     f->ports[q].num);
	}
	free(in);
	free(id);
	return fab_build(b);
}

/* ---- what the manager knows and what exists ---- */

static bool same_port(const struct fab *a, port_id p, const struct fab *b, port_id q)
{
	const struct fab_port *x = &a->ports[p], *y = &b->ports[q];

	if (x->lid != y->lid || x->lmc != y->lmc || (x->peer == FAB_NONE) != (y->peer == FAB_NONE))
		return false;
	if (x->peer == FAB_NONE)
		return true;
	x = &a->ports[x->peer];
	y = &b->ports[y->peer];
	return x->num == y->num && a->nodes[x->node].guid == b->nodes[y->node].guid;
}

/* The LIDs of attached VFs. A manager may keep LIDs for slots without a machine. */
static bool same_functions(const struct fab *a, port_id p, const struct fab *b, port_id q)
{
	const struct fab_vlid *x, *y;
	uint32_t nx = fab_vlids_of(a, p, &x), ny = fab_vlids_of(b, q, &y), k = 0;

	for (uint32_t i = 0; i < nx; i++) {
		while (k < ny && (y[k].slot != x[i].slot || y[k].lid != x[i].lid))
			k++;
		if (k == ny || y[k].guid != x[i].guid)
			return false;
	}
	return true;
}

static bool same_fabric(const struct fab *is, const struct fab *known)
{
	if (!known || is->nnodes != known->nnodes || is->nlinks != known->nlinks)
		return false;
	for (node_id n = 0; n < is->nnodes; n++) {
		node_id k = fab_node_by_guid(known, is->nodes[n].guid);

		if (k == FAB_NONE || known->nodes[k].nports != is->nodes[n].nports)
			return false;
		for (unsigned p = 0; p <= is->nodes[n].nports; p++)
			if (!same_port(is, fab_port_id(is, n, p), known,
				       fab_port_id(known, k, p)) ||
			    !same_functions(is, fab_port_id(is, n, p), known,
					    fab_port_id(known, k, p)))
				return false;
	}
	return true;
}

static node_id sim_id(const struct lab *l, const struct fab *f, node_id n)
{
	return fab_node_by_guid(l->fab, f->nodes[n].guid);
}

/* The port to which a switch forwards a LID, by its linear table or by its random table. */
static uint8_t forwards(const struct lab *l, node_id n, uint32_t lid)
{
	if (sim_switch_info(l->sim, n)->linear_cap)
		return sim_lft(l->sim, n, lid);
	return (uint8_t)sim_route(l->sim, n, (uint16_t)lid);
}

static bool same_tables(const struct lab *l, const struct fab *known, const struct rt_tables *t)
{
	if (!t || t->nswitches != known->nswitches)
		return false;
	for (uint32_t sw = 0; sw < t->nswitches; sw++) {
		node_id n = sim_id(l, known, known->switches[sw]);
		bool linear = sim_switch_info(l->sim, n)->linear_cap;

		/* A random table forwards unassigned LIDs to its DefaultPort. */
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			if ((linear || rt_row(t, sw)[lid] != IBA_PORT_NONE) &&
			    forwards(l, n, lid) != rt_row(t, sw)[lid])
				return false;
	}
	return true;
}

/* ---- the verdict ---- */

static struct rt_tables *device_tables(const struct lab *l, const struct fab *f)
{
	struct rt_tables *t = rt_tables_new(f->nswitches, fab_top_lid(f));

	for (uint32_t sw = 0; sw < f->nswitches; sw++) {
		node_id n = sim_id(l, f, f->switches[sw]);

		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			rt_row(t, sw)[lid] = forwards(l, n, lid);
	}
	return t;
}

static void judge_ports(const struct lab *l, const struct fab *f, struct lab_verdict *v)
{
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];
		node_id n = sim_id(l, f, q->node);
		const struct iba_port_info *pi =
			sim_port_info(l->sim, fab_port_id(l->fab, n, q->num));

		if (q->lid)
			v->lids += 1u << q->lmc;
		if (q->peer == FAB_NONE || pi->state == IBA_PORT_ACTIVE)
			continue;
		v->ports_inactive++;
		lab_fail(v->why, "port %u of %016llx is %s, not Active", q->num,
			 (unsigned long long)f->nodes[q->node].guid,
			 iba_port_state_name(pi->state));
	}
	v->lids += f->nvlids;
	v->active = !v->ports_inactive;
}

static void judge_lids(const struct fab *f, struct lab_verdict *v)
{
	port_id *table;
	uint32_t top;
	struct err e;

	v->lids_unique = fab_lid_table(f, &table, &top, &e) == 0;
	if (v->lids_unique)
		free(table);
	else
		lab_fail(v->why, "%s", e.text);
}

static void judge_tables(const struct lab *l, const struct fab *f, struct lab_verdict *v)
{
	struct rt_verify_opts o = {.threads = l->cfg.threads};
	struct rt_tables *t;
	struct err e;

	if (v->complete && !l->cfg.given &&
	    same_tables(l, sm_fabric(l->lead->sm), sm_tables(l->lead->sm))) {
		/* the manager writes verified tables only */
		v->verified =
			lab_lanes_same(l, sm_fabric(l->lead->sm), sm_tables(l->lead->sm), v->why);
		return;
	}
	if (!v->lids_unique)
		return;
	t = device_tables(l, f);
	lab_lanes_read(l, f, t);
	o.hosts_only = t->lanes; /* switches have learnt no service levels */
	v->verified = rt_verify(f, t, &o, &v->report, &e) == 0 && v->report.ok;
	if (!v->verified)
		lab_fail(v->why, "tables in the switches: %s",
			 v->report.nproblems ? v->report.problem[0] : e.text);
	rt_tables_free(t);
}

/* Does this manager see HCAs with their functions, or vSwitches as ordinary switches? */
static bool folds(const struct fab *known, const struct fab *f)
{
	for (node_id n = 0; known && n < f->nnodes; n++) {
		node_id k = f->nodes[n].flags & FAB_VSWITCH
				    ? fab_node_by_guid(known, f->nodes[n].guid)
				    : FAB_NONE;

		if (k != FAB_NONE)
			return !fab_is_switch(known, k);
	}
	return false;
}

static void fold(struct fab **f)
{
	struct fab *folded = fab_fold(*f);

	fab_free(*f);
	*f = folded;
}

static void judge_functions(const struct lab *l, struct lab_verdict *v)
{
	struct sm_status st;

	sm_status(l->lead->sm, &st);
	if (!st.vfs_without_lid)
		return;
	v->complete = false;
	lab_fail(v->why, "%u virtual functions have no LID: all %u are in use", st.vfs_without_lid,
		 (unsigned)IBA_LID_MAX_UNICAST);
}

void lab_judge(struct lab *l, struct lab_verdict *v)
{
	struct fab *all = sim_snapshot(l->sim);
	node_id own = fab_node_by_guid(all, l->fab->nodes[l->lead->node].guid);
	struct fab *f = subnet_of(all, fab_port_id(all, own, l->lead->cfg.port));

	memset(v, 0, sizeof(*v));
	if (folds(sm_fabric(l->lead->sm), f)) {
		fold(&all);
		fold(&f);
	}
	v->nodes = f->nnodes;
	v->unreached = all->nnodes - f->nnodes;
	fab_free(all);
	v->complete = same_fabric(f, sm_fabric(l->lead->sm));
	judge_ports(l, f, v);
	judge_lids(f, v);
	judge_tables(l, f, v);
	if (!v->complete)
		lab_fail(v->why, "the manager's topology differs from the fabric");
	judge_functions(l, v);
	fab_free(f);
}
