/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command vm: machines on VFs of HCAs in vSwitch mode, set by hand as a manager sets them. Keeps no state: LIDs
 * and GUIDs are in the devices. Way in: con_vm. Does not compute routes: vm move copies those to the other host.
 */
#include "emu/console.h"

#include <strings.h>

enum vm_word { VM_LIST, VM_ATTACH, VM_DETACH, VM_MOVE, VM_NWORDS };

static const struct {
	const char *name, *args;
	unsigned min, max; /* words behind it */
} words[VM_NWORDS] = {
	[VM_LIST] = {"list", "", 0, 0},
	[VM_ATTACH] = {"attach", "HOST SLOT LID [GUID]", 3, 4},
	[VM_DETACH] = {"detach", "HOST SLOT", 2, 2},
	[VM_MOVE] = {"move", "HOST SLOT HOST SLOT", 4, 4},
};

/* ---- parsing ---- */

static int slot_parse(const struct emu *m, const struct line_word *w, struct target *t,
		      uint64_t *slot, struct err *e)
{
	const struct fab_node *n;
	struct names_buf b;

	if (names_target(m->fab, &w[0], NAMES_NODE, t, e))
		return -EINVAL;
	n = &m->fab->nodes[t->node];
	if (!(n->flags & FAB_VSWITCH))
		return err_set(e, -EINVAL, "expected an HCA in vSwitch mode, found %s",
			       names_node(m->fab, t->node, &b));
	if (w[1].port >= 0 || parse_u64(w[1].text, slot) || !*slot ||
	    *slot > (unsigned)n->nports - FAB_SLOT0_PORT)
		return err_set(e, -EINVAL, "expected a slot from 1 to %u, found '%.40s'",
			       n->nports - FAB_SLOT0_PORT, w[1].from);
	return 0;
}

static int attach_parse(const struct line *l, struct emu_op *op, struct err *e)
{
	if (con_number(&l->at[4], IBA_LID_MAX_UNICAST, "a LID", &op->m, e))
		return -EINVAL;
	if (!op->m)
		return err_set(e, -EINVAL, "expected a LID from 1 on, found 0");
	if (l->n > 5 && (l->at[5].port >= 0 || parse_u64(l->at[5].text, &op->guid)))
		return err_set(e, -EINVAL,
			       "expected a GUID such as 0x2c9000100000005, found '%.40s'",
			       l->at[5].from);
	return 0;
}

static int vm_parse(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	unsigned w = 0;

	while (w < VM_NWORDS && strcasecmp(words[w].name, l->at[1].text))
		w++;
	if (w == VM_NWORDS)
		return err_set(e, -EINVAL,
			       "expected vm list, attach, detach or move, found '%.40s'",
			       l->at[1].from);
	if (l->n - 2 < words[w].min || l->n - 2 > words[w].max)
		return err_set(e, -EINVAL, "expected vm %s%s%s", words[w].name,
			       *words[w].args ? " " : "", words[w].args);
	op->word = w;
	if (w != VM_LIST && slot_parse(m, &l->at[2], &op->a, &op->n, e))
		return -EINVAL;
	if (w == VM_MOVE)
		return slot_parse(m, &l->at[4], &op->b, &op->m, e);
	return w == VM_ATTACH ? attach_parse(l, op, e) : 0;
}

/* ---- what is there ---- */

static port_id vf_port(const struct emu *m, node_id hca, uint64_t slot)
{
	return m->fab->ports[fab_port_id(m->fab, hca, FAB_SLOT0_PORT + (unsigned)slot)].peer;
}

static int vm_list(const struct emu *m, struct strbuf *out)
{
	for (node_id n = 0; n < m->fab->nnodes; n++) {
		if (!(m->fab->nodes[n].flags & FAB_VSWITCH))
			continue;
		for (unsigned slot = 1; slot + FAB_SLOT0_PORT <= m->fab->nodes[n].nports; slot++) {
			port_id p = vf_port(m, n, slot);
			const struct iba_port_info *pi = sim_port_info(m->sim, p);

			if (pi->lid)
				strbuf_addf(out, "\"%s\" %u lid %u guid 0x%016llx %s\n",
					    fab_node_name(m->fab, n), slot, pi->lid,
					    (unsigned long long)sim_port_guid(m->sim, p),
					    iba_port_state_name(pi->state));
		}
	}
	return 0;
}

/* ---- VFInfo ---- */

static bool vf_set(struct emu *m, node_id hca, uint64_t slot, uint16_t lid, uint64_t guid)
{
	struct iba_vf_info v = {.count = 1, .lid = {lid}, .guid = {guid}};
	uint8_t data[IBA_SMP_DATA_SIZE];

	iba_vf_info_put(&v, data);
	return emu_ask(m, fab_port_id(m->fab, hca, 0), IBA_SET, IBA_ATTR_VF_INFO, (uint32_t)slot,
		       data);
}

static int vm_attach(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	if (vf_set(m, op->a.node, op->n, (uint16_t)op->m, op->guid))
		return 0;
	return con_refuse(
		out,
		"the HCA refused it: another function has this LID or GUID, or the HCA is off");
}

static int vm_detach(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	if (!sim_port_info(m->sim, vf_port(m, op->a.node, op->n))->lid)
		return con_refuse(out, "no machine is in slot %llu", (unsigned long long)op->n);
	return vf_set(m, op->a.node, op->n, 0, 0) ? 0 : con_refuse(out, "the HCA refused it");
}

/* ---- move: off here, tables, on there ---- */

/* One entry of a linear table; true: it was another one. */
static bool entry_set(struct emu *m, node_id sw, uint16_t lid, unsigned port)
{
	uint8_t data[IBA_SMP_DATA_SIZE] = {0};
	port_id p = fab_port_id(m->fab, sw, 0);

	if (sim_lft(m->sim, sw, lid) == port || !sim_node_on(m->sim, sw) ||
	    !emu_ask(m, p, IBA_GET, IBA_ATTR_LFT, lid / IBA_LFT_BLOCK, data))
		return false;
	data[lid % IBA_LFT_BLOCK] = (uint8_t)port;
	return emu_ask(m, p, IBA_SET, IBA_ATTR_LFT, lid / IBA_LFT_BLOCK, data);
}

/* Each switch forwards the LID as it forwards that of the other host. */
static unsigned tables_copy(struct emu *m, uint16_t lid, node_id hca)
{
	uint16_t host = sim_port_info(m->sim, vf_port(m, hca, 0))->lid;
	unsigned smps = 0;

	for (uint32_t i = 0; host && i < m->fab->nswitches; i++) {
		node_id sw = m->fab->switches[i];
		unsigned port = sim_lft(m->sim, sw, host);

		if (!(m->fab->nodes[sw].flags & FAB_VSWITCH))
			smps += entry_set(m, sw, lid, port);
	}
	return smps;
}

static int vm_move(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	port_id from = vf_port(m, op->a.node, op->n), to = vf_port(m, op->b.node, op->m);
	uint16_t lid = sim_port_info(m->sim, from)->lid;
	uint64_t guid = sim_port_guid(m->sim, from);
	unsigned smps = 0;

	if (!lid)
		return con_refuse(out, "no machine is in slot %llu", (unsigned long long)op->n);
	if (from == to)
		return con_refuse(out, "the machine is there already");
	if (sim_port_info(m->sim, to)->lid)
		return con_refuse(out, "another machine is in slot %llu",
				  (unsigned long long)op->m);
	if (!sim_node_on(m->sim, op->b.node))
		return con_refuse(out, "the other host is off");
	if (!vf_set(m, op->a.node, op->n, 0, 0))
		return con_refuse(out, "the HCA refused it");
	if (op->a.node != op->b.node)
		smps = tables_copy(m, lid, op->b.node);
	if (!vf_set(m, op->b.node, op->m, lid, guid)) {
		vf_set(m, op->a.node, op->n, lid, guid);
		return con_refuse(out, "the HCA refused it: another function has LID %u", lid);
	}
	strbuf_addf(out, "LID %u moved: 2 SMPs to HCAs, %u to switches\n", lid, smps);
	return 0;
}

static int vm_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	switch ((enum vm_word)op->word) {
	case VM_LIST:
		return vm_list(m, out);
	case VM_ATTACH:
		return vm_attach(m, op, out);
	case VM_DETACH:
		return vm_detach(m, op, out);
	case VM_MOVE:
		return vm_move(m, op, out);
	case VM_NWORDS:
		break;
	}
	return -EINVAL;
}

const struct emu_cmd con_vm = {"vm",
			       "list|attach|detach|move ...",
			       "machines on VFs of an HCA, by hand: see docs/fabric.md",
			       1,
			       5,
			       vm_parse,
			       vm_run};
