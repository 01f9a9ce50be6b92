/* SPDX-License-Identifier: BSD-2-Clause */
/* GIDs of the subnet: ports, and virtual functions by the port of their HCA. No state. */
#include "sa/registry.h"

uint64_t sa_gid_guid(const uint8_t gid[16])
{
	return iba_be64(gid + 8);
}

bool sa_gid_is_local(const struct sa *sa, const uint8_t gid[16])
{
	uint64_t prefix = iba_be64(gid);

	return prefix == sa->cfg.prefix || prefix == SA_LINK_LOCAL;
}

void sa_gid_make(const struct sa *sa, uint64_t guid, uint8_t gid[16])
{
	iba_be64_put(gid, sa->cfg.prefix);
	iba_be64_put(gid + 8, guid);
}

static const struct fab_vlid *vlid_by(const struct fab *f, uint64_t guid, uint16_t lid)
{
	for (uint32_t i = 0; i < f->nvlids; i++)
		if ((guid && f->vlids[i].guid == guid) || (lid && f->vlids[i].lid == lid))
			return &f->vlids[i];
	return NULL;
}

bool sa_gid_of_lid(const struct sa *sa, uint16_t lid, uint8_t gid[16])
{
	const struct fab *f = sa->view.fab;
	port_id p = sa_port_by_lid(&sa->view, lid);
	const struct fab_vlid *v;

	memset(gid, 0, 16);
	if (p == FAB_NONE)
		return false;
	v = f->nvlids ? vlid_by(f, 0, lid) : NULL;
	sa_gid_make(sa, v ? v->guid : f->ports[p].guid, gid);
	return true;
}

port_id sa_gid_port(const struct sa *sa, const uint8_t gid[16])
{
	const struct fab *f = sa->view.fab;
	uint64_t guid = sa_gid_guid(gid);
	const struct fab_vlid *v;
	port_id p;

	if (!f || !guid || !sa_gid_is_local(sa, gid))
		return FAB_NONE;
	p = sa_port_by_guid(&sa->view, guid);
	if (p != FAB_NONE)
		return sa_lid_of(&sa->view, p) ? p : FAB_NONE;
	v = f->nvlids ? vlid_by(f, guid, 0) : NULL;
	return v ? v->port : FAB_NONE;
}
