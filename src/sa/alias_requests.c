/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Set and Delete of GUIDInfoRecord: a port gets alias GUIDs and loses them (IBA 15.2.5.18). No state. Way in:
 * sa_alias_request(). GUIDs of an HCA with virtual functions belong to its machines, and are not set here.
 */
#include "base/rng.h"
#include "sa/aliases.h"
#include "sa/records.h"

enum { GUIDS = 8 };

static bool is_taken(const struct sa *sa, uint64_t guid)
{
	struct sa_end shared;

	return sa_end_by_guid(&sa->view, guid, &shared) || sm_guid_known(sa->view.sm, guid) ||
	       sa_alias_port(&sa->aliases, guid);
}

/* From the port's GUID and the place, so that a port gets the same again after all was lost. */
static uint64_t choose(const struct sa *sa, uint64_t port_guid, unsigned place)
{
	enum { LOCAL = 2 }; /* EUI-64 of local administration */
	uint64_t h = hash64_add(hash64_add(0, port_guid), place), guid;

	do {
		h = hash64(h);
		guid = (uint64_t)LOCAL << 56 | h >> 8;
	} while (is_taken(sa, guid));
	return guid;
}

/* An entry that cannot be as it is asked for stays as it is: the answer shows that. */
static uint16_t set_one(struct sa *sa, const struct sa_end *e, unsigned place, uint64_t guid)
{
	uint64_t was = sa_alias_at(sa, e->guid, place);

	if (was && (!guid || guid == was))
		return 0;
	if (!guid)
		guid = choose(sa, e->guid, place);
	else if (is_taken(sa, guid))
		return 0;
	if (!sa_alias_put(sa, e->guid, place, guid))
		return IBA_SA_NO_RESOURCES;
	if (was)
		sa_registry_gid_gone(sa, was);
	sa_registry_gid_came(sa, guid, e->lid);
	return 0;
}

static void delete_one(struct sa *sa, const struct sa_end *e, unsigned place)
{
	uint64_t was = sa_alias_at(sa, e->guid, place);

	if (!was)
		return;
	sa_alias_drop(sa, e->guid, place);
	sa_registry_gid_gone(sa, was);
}

/* The port that the request names, if the requester may change its GUIDs; 0 or a status. */
static uint16_t named_port(const struct sa *sa, const struct sa_request *q,
			   const struct iba_sa_guid *ask, const struct sa_end **e, unsigned *cap)
{
	const struct sa_view *v = &sa->view;
	const struct fab_port *p;
	struct iba_port_info pi;

	if (!sa_asks(q, guid, lid) || !sa_asks(q, guid, block))
		return IBA_SA_FEW_COMPONENTS;
	*e = sa_end_by_lid(v, ask->lid);
	if (!*e || !sa_port_info(v, (*e)->port, &pi) || ask->block * GUIDS >= pi.guid_cap)
		return IBA_SA_NO_RECORDS;
	p = &v->fab->ports[(*e)->port];
	*cap = pi.guid_cap;
	return (q->trusted || sa_end_by_lid(v, q->lid) == *e) && p->guid == (*e)->guid &&
			       v->fab->nodes[p->node].sriov == FAB_SRIOV_NONE
		       ? 0
		       : IBA_SA_INVALID;
}

port_id sa_alias_request(struct sa *sa, const struct sa_request *q, const struct iba_sa_guid *ask,
			 struct sa_answer *a)
{
	const uint64_t guid[GUIDS] = {ask->guid0, ask->guid1, ask->guid2, ask->guid3,
				      ask->guid4, ask->guid5, ask->guid6, ask->guid7};
	const uint64_t first = IBA_SA_BIT(guid, guid0);
	const struct sa_end *e;
	unsigned cap;

	a->status = named_port(sa, q, ask, &e, &cap);
	if (!a->status && !ask->block && q->hdr.mask & first) /* the port's own GUID */
		a->status = IBA_SA_INVALID;
	for (unsigned i = 0; !a->status && i < GUIDS && ask->block * GUIDS + i < cap; i++) {
		if (!(q->hdr.mask & first << i))
			continue;
		if (q->method == SA_SET)
			a->status = set_one(sa, e, ask->block * GUIDS + i, guid[i]);
		else
			delete_one(sa, e, ask->block * GUIDS + i);
	}
	return a->status ? FAB_NONE : e->port;
}
