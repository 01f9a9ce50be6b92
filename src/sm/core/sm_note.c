/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes: what happened is appended to the actions of the running step. State: none. Way in:
 * sm_note_put(). Their words are in note_table.c.
 */
#include "sm/manager.h"

static const char *const purpose_names[SM_NPURPOSES] = {
	[SM_FOR_SWEEP] = "sweep",
	[SM_FOR_DISCOVERY] = "discovery",
	[SM_FOR_CONFIGURATION] = "configuration",
	[SM_FOR_DISTRIBUTION] = "distribution",
	[SM_FOR_ACTIVATION] = "activation",
	[SM_FOR_AUDIT] = "audit",
	[SM_FOR_TRAP] = "trap",
	[SM_FOR_NAMES] = "names",
	[SM_FOR_MIRROR] = "mirror",
};

const char *sm_purpose_name(enum sm_purpose p)
{
	return p < SM_NPURPOSES ? purpose_names[p] : "?";
}

void sm_note_put(struct sm *sm, struct sm_note n)
{
	if (!sm->core.out) /* no step is running */
		return;
	n.when = sm->core.now;
	n.smps = 0;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n.smps += sm->core.st.smps[i];
	vec_push(&sm->core.out->notes, n);
}

void sm_note_failed(struct sm *sm, const struct sm_txn *t)
{
	if (!t->status)
		sm_note(sm, .kind = SM_NOTE_UNREACHABLE, .about = sm_about_target(sm, &t->target),
			.request = {.attribute = t->attr_id});
}

/* ---- subjects ---- */

static struct sm_port_ref ref(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return (struct sm_port_ref){sm->topo.nodes.at[p->node].guid, p->num};
}

struct sm_subject sm_about_node(const struct sm *sm, uint32_t node)
{
	if (node >= sm->topo.nodes.n)
		return SM_ABOUT_NOTHING;
	return (struct sm_subject){.kind = SM_ABOUT_DEVICE,
				   .a = {.guid = sm->topo.nodes.at[node].guid}};
}

/* Port 0 is the switch itself. */
struct sm_subject sm_about_port(const struct sm *sm, uint32_t port)
{
	if (port >= sm->topo.ports.n)
		return SM_ABOUT_NOTHING;
	if (!sm->topo.ports.at[port].num)
		return sm_about_node(sm, sm->topo.ports.at[port].node);
	return (struct sm_subject){.kind = SM_ABOUT_PORT, .a = ref(sm, port)};
}

struct sm_subject sm_about_link(const struct sm *sm, uint32_t port)
{
	uint32_t peer = port < sm->topo.ports.n ? sm->topo.ports.at[port].peer : NONE;

	if (peer == NONE)
		return sm_about_port(sm, port);
	return (struct sm_subject){.kind = SM_ABOUT_LINK, .a = ref(sm, port), .b = ref(sm, peer)};
}

/* During a full discovery the last snapshot knows more than the topology database. */
struct sm_subject sm_about_switch(const struct sm *sm, uint16_t lid)
{
	const struct fab *f = sm->topo.fab;
	uint32_t node = sm_node_by_lid(sm, lid);

	for (uint32_t s = 0; node == NONE && f && s < f->nswitches; s++)
		if (f->ports[f->nodes[f->switches[s]].first_port].lid == lid)
			return (struct sm_subject){.kind = SM_ABOUT_DEVICE,
						   .a = {.guid = f->nodes[f->switches[s]].guid}};
	return sm_about_node(sm, node);
}

struct sm_subject sm_about_lid(const struct sm *sm, uint16_t lid)
{
	struct sm_subject s = sm_about_switch(sm, lid);

	return s.kind == SM_ABOUT_NONE ? (struct sm_subject){.kind = SM_ABOUT_LID, .lid = lid} : s;
}

struct sm_subject sm_about_target(const struct sm *sm, const struct sm_target *t)
{
	struct sm_subject s = SM_ABOUT_NOTHING;

	switch (t->kind) {
	case SM_TARGET_NONE:
		break;
	case SM_TARGET_NODE:
	case SM_TARGET_BLOCK:
	case SM_TARGET_TURN:
		s = sm_about_node(sm, t->node);
		break;
	case SM_TARGET_PORT:
		s = sm_about_port(sm, t->port);
		break;
	case SM_TARGET_BEHIND:
		s = sm_about_port(sm, t->port);
		s.kind = s.kind == SM_ABOUT_PORT ? SM_ABOUT_BEHIND : s.kind;
		break;
	}
	if (s.kind == SM_ABOUT_NONE)
		s.kind = SM_ABOUT_OWN;
	return s;
}
