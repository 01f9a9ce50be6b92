/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command that shows the tree of a multicast group: the ports of each switch, by the multicast forwarding tables that
 * switches acknowledged. State: none. Way in: the table of control_commands.c. Queries no device; members of groups are in
 * control_sa.c.
 */
#include "run/control_priv.h"

enum { PORTS_A_MASK = 16 };

/* The ports of a switch that get copies of this MLID, as far as its blocks are known. */
static void ports_of(const struct ctl_ask *a, const struct fab *f, node_id n, uint16_t mlid,
		     uint64_t ports[4])
{
	unsigned entry = mlid - IBA_LID_MCAST_FIRST;
	uint16_t masks[IBA_MFT_BLOCK];

	memset(ports, 0, 4 * sizeof(*ports));
	for (unsigned pos = 0; pos <= f->nodes[n].nports / PORTS_A_MASK; pos++) {
		if (!sm_mft_block(a->v->sm, f->nodes[n].guid, entry / IBA_MFT_BLOCK, pos, masks))
			continue;
		ports[pos / 4] |= (uint64_t)masks[entry % IBA_MFT_BLOCK]
				  << PORTS_A_MASK * (pos % 4);
	}
}

static void switch_row(struct json *j, const struct fab *f, node_id n, const uint64_t ports[4])
{
	if (!(ports[0] | ports[1] | ports[2] | ports[3]))
		return;
	json_open(j, NULL, '{');
	json_hex64(j, "guid", f->nodes[n].guid);
	json_open(j, "ports", '[');
	for (unsigned p = 0; p <= f->nodes[n].nports; p++)
		if (ports[p / 64] >> p % 64 & 1)
			json_u64(j, NULL, p);
	json_close(j);
	json_close(j);
}

static int mlid_take(const char *text, uint16_t *mlid, struct err *e)
{
	uint64_t v;

	if (parse_u64(text, &v) || v < IBA_LID_MCAST_FIRST || v > 0xfffe)
		return err_set(e, -EINVAL,
			       "'mlid': expected a multicast LID, 0xc000 to 0xfffe; found '%.60s'",
			       text);
	*mlid = (uint16_t)v;
	return 0;
}

int ctl_group_tree(const struct ctl_ask *a, struct json *j, struct err *e)
{
	uint64_t first = a->number[1] == UINT64_MAX ? 0 : a->number[1], ports[4], end;
	const struct fab *f;
	uint16_t mlid = 0;

	if (ctl_subnet(a, &f, e) || mlid_take(a->text[0], &mlid, e))
		return -EINVAL;
	if (ctl_busy(a, a->number[3], j))
		return 0;
	first = MIN(first, f->nswitches);
	end = MIN(first + MIN(a->number[2], (uint64_t)CTL_PART_NODES), f->nswitches);
	ctl_version(a, j);
	json_u64(j, "mlid", mlid);
	json_u64(j, "switches", f->nswitches);
	json_u64(j, "next", end);
	json_open(j, "tree", '[');
	for (uint64_t s = first; s < end; s++) {
		ports_of(a, f, f->switches[s], mlid, ports);
		switch_row(j, f, f->switches[s], ports);
	}
	json_close(j);
	return 0;
}
