/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a snapshot as the netlist text that ibnetdiscover prints and ibsim reads. Keeps no state.
 * Way in: fab_netlist_write(). Does not sort: nodes and ports come out in the snapshot's order, and
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

static void add_head(struct strbuf *out, const struct fab *f, node_id id)
{
	static const char *const words[] = {"Ca", "Ca", "Switch", "Rt"};
	static const char *const guids[] = {"ca", "ca", "switch", "rt"};
	const struct fab_node *n = &f->nodes[id];
	const struct fab_port *p = &f->ports[n->first_port];
	char ident[32];

	fab_node_ident(f, id, ident);
	strbuf_addf(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%llx\n%sguid=0x%llx",
		    n->vendor_id, n->device_id, (unsigned long long)n->sys_guid, guids[n->type & 3],
		    (unsigned long long)n->guid);
	if (n->type == IBA_NODE_SWITCH)
		strbuf_addf(out, "(%llx)", (unsigned long long)p->guid);
	if (n->sriov)
		add_vfs(out, f, id);
	strbuf_addf(out, "\n%s\t%u \"%s\"\t\t# ", words[n->type & 3], n->nports, ident);
	add_name(out, fab_node_name(f, id), SIZE_MAX);
	if (n->type == IBA_NODE_SWITCH)
		strbuf_addf(out, " %s port 0 lid %u lmc %u",
			    n->flags & FAB_ENHANCED_PORT0 ? "enhanced" : "base", p->lid, p->lmc);
	strbuf_add(out, "\n");
}

static void add_link(struct strbuf *out, const struct fab *f, const struct fab_port *p)
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
	add_name(out, fab_node_name(f, q->node), FAR_NAME_MAX);
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

void fab_netlist_write(const struct fab *f, struct strbuf *out)
{
	strbuf_addf(out, "# %u switches, %u hosts, %u routers, %u links\n", f->nswitches, f->nhosts,
		    f->nrouters, f->nlinks);
	for (node_id id = 0; id < f->nnodes; id++) {
		const struct fab_node *n = &f->nodes[id];

		add_head(out, f, id);
		for (unsigned num = 1; num <= n->nports; num++) {
			const struct fab_port *p = &f->ports[n->first_port + num];

			if (p->peer != FAB_NONE)
				add_link(out, f, p);
			else
				add_unlinked(out, f, p);
		}
	}
}
