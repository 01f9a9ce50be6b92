/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a snapshot as the netlist text that ibnetdiscover prints and ibsim reads. Keeps no state.
 * Ways in: fab_netlist_write(), fab_netlist_write_part(). Does not sort: nodes and ports come out in the snapshot's order, and
 * what it writes reads back to the same snapshot.
 */
#include "fabric/fabric.h"

enum {
	FAR_NAME_MAX = 64
}; /* a NodeDescription's size; the copy in a port's comment needs no more */

/* A name may hold anything but the end of the line. */
static void add_name(struct strbuf *out, const char *name, size_t max)
{
	size_t len = strlen(name), n = MIN(len, max);

	strbuf_add(out, "\"");
	for (const char *nl; (nl = memchr(name, '\n', n)); name = nl + 1) {
		strbuf_addn(out, name, (size_t)(nl - name));
		strbuf_add(out, " ");
		n -= (size_t)(nl - name) + 1;
	}
	strbuf_addn(out, name, n);
	strbuf_add(out, "\"");
}

/* " 4xEDR 3m", with '?' for the half of the rate that is not known; nothing when nothing is. */
static void add_rate(struct strbuf *out, const struct fab_port *p)
{
	char cable[16];

	if (!p->width && !p->speed && !p->cable_cm)
		return;
	if (p->width)
		strbuf_addf(out, " %ux%s", p->width, fab_speed_name(p->speed));
	else
		strbuf_addf(out, " ?x%s", fab_speed_name(p->speed));
	if (!p->cable_cm)
		return;
	fab_cable_text(cable, p->cable_cm);
	strbuf_addf(out, " %s", cable);
}

/* LIDs of virtual functions, and GUIDs that are not their own. */
static void add_vfs(struct strbuf *out, const struct fab *f, node_id id)
{
	const struct fab_node *n = &f->nodes[id];
	const struct fab_vlid *v;
	uint32_t count;

	strbuf_addf(out, "\nsriov=%s vfs=%u", fab_sriov_name(n->sriov), n->vfs);
	count = fab_vlids_of(f, n->first_port + 1, &v);
	for (; count; count--, v++) {
		strbuf_addf(out, "\nvf=%u lid=%u", v->slot, v->lid);
		if (v->guid != fab_function_guid(n->guid, v->slot))
			strbuf_addf(out, " guid=0x%llx", (unsigned long long)v->guid);
	}
}

/* Sizes of tables that are given. */
static void add_caps(struct strbuf *out, const struct fab_node *n)
{
	if (n->linear_cap)
		strbuf_addf(out, "\nlinearcap=%u", n->linear_cap);
	if (n->random_cap)
		strbuf_addf(out, "\nrandomcap=%u", n->random_cap);
	if (n->mcast_cap)
		strbuf_addf(out, "\nmcastcap=%u", n->mcast_cap);
}

static const char *name_of(const struct fab *f, const struct fab_netlist_look *look, node_id id)
{
	return look ? look->name(look->ctx, id) : fab_node_name(f, id);
}

static void add_head(struct strbuf *out, const struct fab *f, const struct fab_netlist_look *look,
		     node_id id)
{
	static const char *const words[] = {"Ca", "Ca", "Switch", "Rt"};
	static const char *const guids[] = {"ca", "ca", "switch", "rt"};
	const struct fab_port *p = &f->ports[f->nodes[id].first_port];
	struct fab_node copy = f->nodes[id], *n = &copy;
	char ident[32];

	if (look)
		look->node(look->ctx, n);
	fab_node_ident(f, id, ident);
	strbuf_addf(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%llx\n%sguid=0x%llx",
		    n->vendor_id, n->device_id, (unsigned long long)n->sys_guid, guids[n->type & 3],
		    (unsigned long long)n->guid);
	if (n->type == IBA_NODE_SWITCH)
		strbuf_addf(out, "(%llx)", (unsigned long long)p->guid);
	if (n->sriov)
		add_vfs(out, f, id);
	add_caps(out, n);
	strbuf_addf(out, "\n%s\t%u \"%s\"\t\t# ", words[n->type & 3], n->nports, ident);
	add_name(out, name_of(f, look, id), SIZE_MAX);
	if (n->type == IBA_NODE_SWITCH)
		strbuf_addf(out, " %s port 0 lid %u lmc %u",
			    n->flags & FAB_ENHANCED_PORT0 ? "enhanced" : "base", p->lid, p->lmc);
	strbuf_add(out, "\n");
}

static void add_link(struct strbuf *out, const struct fab *f, const struct fab_netlist_look *look,
		     const struct fab_port *p)
{
	const struct fab_port *q = &f->ports[p->peer];
	const struct fab_port *addressed = fab_is_switch(f, q->node) ? q - q->num : q;
	char ident[32];

	fab_node_ident(f, q->node, ident);
	strbuf_addf(out, "[%u]", p->num);
	if (!fab_is_switch(f, p->node))
		strbuf_addf(out, "(%llx)", (unsigned long long)p->guid);
	strbuf_addf(out, "\t\"%s\"[%u]", ident, q->num);
	if (!fab_is_switch(f, q->node))
		strbuf_addf(out, "(%llx)", (unsigned long long)q->guid);
	strbuf_add(out, "\t\t# ");
	if (!fab_is_switch(f, p->node))
		strbuf_addf(out, "lid %u lmc %u ", p->lid, p->lmc);
	add_name(out, name_of(f, look, q->node), FAR_NAME_MAX);
	strbuf_addf(out, " lid %u", addressed->lid);
	add_rate(out, p);
	strbuf_add(out, "\n");
}

/* A port without a cable has no line in this format. What is known of it goes into a comment. */
static void add_unlinked(struct strbuf *out, const struct fab *f, const struct fab_port *p)
{
	bool end_port = !fab_is_switch(f, p->node);

	if (!p->width && !p->speed && !(end_port && (p->guid || p->lid || p->lmc)))
		return;
	strbuf_addf(out, "#[%u](%llx)\t# lid %u lmc %u", p->num,
		    end_port ? (unsigned long long)p->guid : 0, end_port ? p->lid : 0,
		    end_port ? p->lmc : 0);
	add_rate(out, p);
	strbuf_add(out, "\n");
}

static void add_port(struct strbuf *out, const struct fab *f, const struct fab_netlist_look *look,
		     port_id id)
{
	struct fab_port p = f->ports[id];

	if (look && p.peer != FAB_NONE)
		look->port(look->ctx, &p);
	if (p.peer != FAB_NONE)
		add_link(out, f, look, &p);
	else
		add_unlinked(out, f, &p);
}

void fab_netlist_write_part(const struct fab *f, const struct fab_netlist_look *look, node_id first,
			    uint32_t count, struct strbuf *out)
{
	if (!first)
		strbuf_addf(out, "# %u switches, %u hosts, %u routers, %u links\n", f->nswitches,
			    f->nhosts, f->nrouters, f->nlinks);
	for (node_id id = first; id < f->nnodes && id - first < count; id++) {
		add_head(out, f, look, id);
		for (unsigned num = 1; num <= f->nodes[id].nports; num++)
			add_port(out, f, look, f->nodes[id].first_port + num);
	}
}

void fab_netlist_write(const struct fab *f, struct strbuf *out)
{
	fab_netlist_write_part(f, NULL, 0, UINT32_MAX, out);
}
