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

bool sa_gid_of_lid(const struct sa *sa, uint16_t lid, uint8_t gid[16])
{
	const struct sa_end *e = sa_end_by_lid(&sa->view, lid);

	memset(gid, 0, 16);
	if (!e)
		return false;
	sa_gid_make(sa, e->guid, gid);
	return true;
}

bool sa_gid_is_at(const struct sa *sa, const uint8_t gid[16], uint16_t lid)
{
	const struct sa_end *e = sa_end_by_lid(&sa->view, lid);

	return e && sa_gid_lid(sa, gid) == e->lid;
}

port_id sa_gid_port(const struct sa *sa, const uint8_t gid[16])
{
	struct sa_end shared;
	const struct sa_end *e = sa_gid_is_local(sa, gid)
					 ? sa_end_by_guid(&sa->view, sa_gid_guid(gid), &shared)
					 : NULL;

	return e ? e->port : FAB_NONE;
}

uint16_t sa_gid_lid(const struct sa *sa, const uint8_t gid[16])
{
	struct sa_end shared;
	const struct sa_end *e = sa->view.fab && sa_gid_is_local(sa, gid)
					 ? sa_end_by_guid(&sa->view, sa_gid_guid(gid), &shared)
					 : NULL;

	return e ? e->lid : 0;
}
