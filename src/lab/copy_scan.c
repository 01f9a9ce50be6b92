/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of multicast packets as the masks of switches lead them. State: struct copy_scan, what masks of two neighbours said when
 * they were last read; it is read again when one of them changed. Ways in: copy_scan_links(), and scan_copies() where lanes
 * count. Does not search for cycles.
 */
#include "lab/scan_priv.h"

/* At an input port: packets for any MLID that the switch before it sends there go on to these ports. */
struct copy_scan {
	uint64_t to[4];
	uint32_t mlids;	       /* with copies there, for the cost of a scan */
	uint32_t here, before; /* changes of the masks of both switches until they were read */
	port_id from;	       /* FAB_NONE: not read yet */
};

static bool has(const uint64_t mask[4], unsigned port)
{
	return mask[port / 64] >> port % 64 & 1;
}

static bool leads_on(const struct lab_scan *s, port_id out)
{
	return s->to[out] != FAB_NONE && s->channel[s->to[out]];
}

/* Whether the switch before channel p sends copies there. */
static bool comes_by(const struct lab_scan *s, port_id p, uint16_t mlid)
{
	const struct fab_port *from = &s->f->ports[sim_port_peer(s->lab->sim, p)];
	uint64_t mask[4];

	return sim_mft(s->lab->sim, from->node, mlid, mask) && has(mask, from->num);
}

static void copies_of(struct lab_scan *s, node_id n, uint16_t mlid, scan_copy copy)
{
	const struct fab_node *node = &s->f->nodes[n];
	uint64_t mask[4];

	if (!sim_mft(s->lab->sim, n, mlid, mask))
		return;
	for (unsigned in = 1; in <= node->nports; in++) {
		port_id p = node->first_port + in;

		if (!s->channel[p] || !comes_by(s, p, mlid))
			continue;
		s->steps++;
		for (unsigned out = 1; out <= node->nports; out++)
			if (has(mask, out) && out != in && leads_on(s, node->first_port + out))
				copy(s, p, out, mlid);
	}
}

void scan_copies(struct lab_scan *s, scan_copy copy)
{
	for (uint32_t i = 0; i < s->f->nswitches; i++) {
		node_id n = s->f->switches[i];
		uint32_t used = sim_mlids_used(s->lab->sim, n);

		for (uint32_t k = 0; k < used; k++)
			copies_of(s, n, (uint16_t)(IBA_LID_MCAST_FIRST + k), copy);
	}
}

/* ---- links alone ---- */

static void masks_read(struct lab_scan *s, port_id p, port_id from)
{
	struct copy_scan *x = &s->masks[p];
	node_id n = s->f->ports[p].node;
	uint32_t used = sim_mlids_used(s->lab->sim, n);
	uint64_t mask[4];

	*x = (struct copy_scan){.here = sim_mft_changes(s->lab->sim, n),
				.before = sim_mft_changes(s->lab->sim, s->f->ports[from].node),
				.from = from};
	for (uint32_t k = 0; k < used; k++) {
		uint16_t mlid = (uint16_t)(IBA_LID_MCAST_FIRST + k);

		if (!sim_mft(s->lab->sim, n, mlid, mask) || !comes_by(s, p, mlid))
			continue;
		x->mlids++;
		for (unsigned w = 0; w < 4; w++)
			x->to[w] |= mask[w];
	}
}

static void channel_copies(struct lab_scan *s, port_id p)
{
	const struct fab_port *in = &s->f->ports[p];
	const struct fab_node *n = &s->f->nodes[in->node];
	port_id from = sim_port_peer(s->lab->sim, p);
	struct copy_scan *x = &s->masks[p];

	if (x->from != from || x->here != sim_mft_changes(s->lab->sim, in->node) ||
	    x->before != sim_mft_changes(s->lab->sim, s->f->ports[from].node))
		masks_read(s, p, from);
	s->steps += x->mlids;
	for (unsigned out = 1; x->mlids && out <= n->nports; out++)
		if (has(x->to, out) && out != in->num && leads_on(s, n->first_port + out) &&
		    !sim_turn_off(s->lab->sim, in->node, in->num, out))
			s->next[p][out / 64] |= 1ull << out % 64;
}

void copy_scan_links(struct lab_scan *s)
{
	if (!s->masks) {
		s->masks = mem_zarray(s->f->nports + 1u, sizeof(*s->masks));
		for (port_id p = 0; p < s->f->nports; p++)
			s->masks[p].from = FAB_NONE;
	}
	for (port_id p = 0; p < s->f->nports; p++)
		if (s->channel[p])
			channel_copies(s, p);
}

void copy_scan_free(struct lab_scan *s)
{
	free(s->masks);
	s->masks = NULL;
}
