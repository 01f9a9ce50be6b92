/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Keys that go with the VMs of a batch: before VMs leave, they are added where VMs go; when all are there, those that are not
 * needed any more are removed. State: moving of struct sm_partitions. Ways in: sm_vm_keys_begin(), sm_vm_keys_next(), from the
 * phase move. A batch that is interrupted leaves the rest to the round that follows: see pkey_updates.c.
 */
#include "sm/manager.h"

/* Tables that a request about a VM concerns, in this order. */
enum { AT_FROM, AT_FROM_SWITCH, AT_TO, AT_TO_SWITCH, PLACES };

static uint32_t uplink_of(const struct sm *sm, uint32_t host)
{
	return sm->topo.nodes.at[sm_vhost_node(sm, host)].first_port + 1;
}

/* False: there is no such table. A shared port has one for all its machines. */
static bool place_of(const struct sm *sm, const struct sm_job *j, unsigned which,
		     struct sm_pkey_place *at)
{
	bool to = which >= AT_TO;
	uint32_t host = to ? j->to : j->from;

	if (host == NONE || sm_vhost_node(sm, host) == NONE)
		return false;
	*at = (struct sm_pkey_place){uplink_of(sm, host), 0};
	if (which == AT_FROM || which == AT_TO) {
		if (sm->virtual.hosts.at[host].sriov == FAB_SRIOV_VSWITCH)
			at->slot = to ? j->to_slot : j->from_slot;
		return true;
	}
	at->port = sm->topo.ports.at[at->port].peer;
	return at->port != NONE &&
	       sm->topo.nodes.at[sm->topo.ports.at[at->port].node].type == IBA_NODE_SWITCH;
}

void sm_vm_keys_begin(struct sm *sm, bool removing)
{
	struct sm_partitions *s = &sm->partitions;
	const struct sm_batch *b = &sm->virtual.batch;

	s->moving.stage = s->serving ? SM_PKEYS_READ : SM_PKEYS_END;
	s->moving.at = 0;
	s->moving.removing = removing;
	s->written = s->asked = 0;
	for (size_t i = 0; s->serving && i < b->jobs.n * PLACES; i++) {
		struct sm_pkey_place at;

		if (!place_of(sm, &b->jobs.at[i / PLACES], i % PLACES, &at))
			continue;
		sm_pkeys_table_begin(sm, sm_pkey_table(sm, at));
		sm_pkey_table(sm, at)->given_up = false;
	}
}

/* A VF that nothing uses yet gets the keys at the indexes that the VM knows. */
static bool copy_next(struct sm *sm, const struct sm_job *j, struct sm_pkey_place to,
		      struct sm_req *r)
{
	struct sm_pkey_place from;
	const struct sm_pkey_table *t;

	if (!place_of(sm, j, AT_FROM, &from))
		return sm_pkeys_write(sm, to, NULL, r);
	t = sm_pkey_table(sm, from);
	return sm_pkeys_write(sm, to, sm_pkeys_known(t) ? t->held : NULL, r);
}

static bool place_next(struct sm *sm, const struct sm_job *j, unsigned which, struct sm_req *r)
{
	enum sm_pkeys_stage stage = sm->partitions.moving.stage;
	struct sm_pkey_place at;

	if (!place_of(sm, j, which, &at))
		return false;
	if (sm->partitions.moving.removing)
		return stage != SM_PKEYS_ADD && sm_pkeys_place_next(sm, at, stage, r);
	if (which == AT_TO && at.slot)
		return stage == SM_PKEYS_ADD && copy_next(sm, j, at, r);
	return (stage == SM_PKEYS_READ || (which >= AT_TO && stage != SM_PKEYS_REMOVE)) &&
	       sm_pkeys_place_next(sm, at, stage, r);
}

static bool stage_next(struct sm *sm, size_t *job, struct sm_req *r)
{
	const struct sm_batch *b = &sm->virtual.batch;
	uint32_t *at = &sm->partitions.moving.at;

	for (; *at < b->jobs.n * PLACES; ++*at) {
		*job = *at / PLACES;
		if (place_next(sm, &b->jobs.at[*job], *at % PLACES, r)) {
			*at += sm->partitions.moving.stage == SM_PKEYS_VALUES;
			return true;
		}
	}
	return false;
}

bool sm_vm_keys_next(struct sm *sm, size_t *job, struct sm_req *r)
{
	struct sm_partitions *s = &sm->partitions;

	while (s->moving.stage != SM_PKEYS_END) {
		if (stage_next(sm, job, r))
			return true;
		if (sm->txn.outstanding)
			return false;
		s->moving.stage++;
		s->moving.at = 0;
	}
	s->written = 0; /* the answer to the request tells */
	return false;
}
