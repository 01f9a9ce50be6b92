/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines as senders and receivers of packets: which host of the data plane is which machine, and where it is.
 * State: machines, members, and away of struct plane. Ways in: host_machine() and host_alias(), by devices;
 * machines_join(), when traffic starts. Does not start or move machines.
 *
 * A machine behind a vSwitch is the host of its VF's port, and two such hosts change places when it moves. A machine on a
 * shared port is a host of its own, behind those that are ports.
 */
#include "sim/plane/plane_priv.h"

/* ---- devices report ---- */

/* The host at a port is the machine that runs there: two of them change places, with what they send. */
void host_machine(struct sim *s, port_id port, uint64_t guid)
{
	struct plane *pl = s->plane;
	uint32_t here = pl->host_of[port], host = map64_get(&pl->machines, guid);
	port_id before;

	if (here == UINT32_MAX)
		return;
	if (host == MAP_NONE) {
		map64_put(&pl->machines, guid, here);
		host = here;
	}
	if (!s->ports[port].vguid)
		return; /* a VF without a machine has its own GUID: nothing came */
	before = pl->hosts.at[host];
	pl->machine_guid[host] = guid;
	if (host == here)
		return;
	pl->hosts.at[host] = port;
	pl->hosts.at[here] = before;
	pl->host_of[port] = host;
	pl->host_of[before] = here;
}

/* The host that is this machine on a shared port; MAP_NONE: it takes no part. */
static uint32_t alias_of(const struct plane *pl, uint64_t guid)
{
	uint32_t host = guid ? map64_get(&pl->machines, guid) : MAP_NONE;

	return host != MAP_NONE && host >= pl->nports_hosts ? host : MAP_NONE;
}

void host_alias(struct sim *s, port_id port, uint64_t was, uint64_t now)
{
	struct plane *pl = s->plane;
	uint32_t left = alias_of(pl, was), came = alias_of(pl, now);

	if (left != MAP_NONE && pl->hosts.at[left] == port)
		pl->away[left] = true;
	if (came == MAP_NONE)
		return;
	pl->hosts.at[came] = port;
	pl->away[came] = false;
}

void sim_machine_told(struct sim *s, uint64_t guid)
{
	uint32_t host = s->plane ? alias_of(s->plane, guid) : MAP_NONE;

	if (host != MAP_NONE)
		s->plane->known[host] = s->ports[s->plane->hosts.at[host]].pi.lid;
}

/* ---- traffic starts ---- */

/* The PF is slot 0. */
static bool is_vf(const struct fab *f, port_id port)
{
	return f->nodes[f->ports[port].node].flags & FAB_FUNCTION &&
	       f->ports[f->ports[port].peer].num > FAB_SLOT0_PORT;
}

/* A VF that a manager has set, without a machine. */
static bool is_empty(const struct shard *sh, port_id port)
{
	return sh->ports[port].by_vswitch && !sh->ports[port].vguid && is_vf(sh->fab, port);
}

static void alias_join(struct sim *s, port_id port, uint64_t guid)
{
	struct plane *pl = s->plane;
	uint32_t host = map64_get(&pl->machines, guid);

	if (host == MAP_NONE) {
		host = (uint32_t)pl->hosts.n;
		map64_put(&pl->machines, guid, host);
		vec_push(&pl->hosts, port);
		pl->known = mem_resize(pl->known, pl->hosts.n, sizeof(*pl->known));
		pl->silent = mem_resize(pl->silent, pl->hosts.n, sizeof(*pl->silent));
		pl->away = mem_resize(pl->away, pl->hosts.n, sizeof(*pl->away));
		pl->machine_guid =
			mem_resize(pl->machine_guid, pl->hosts.n, sizeof(*pl->machine_guid));
	}
	pl->hosts.at[host] = port;
	pl->known[host] = s->ports[port].pi.lid;
	pl->silent[host] = pl->away[host] = false;
	pl->machine_guid[host] = guid;
	vec_push(&pl->members, host);
}

static void aliases_join(struct sim *s, port_id port)
{
	const struct fab_node *n = &s->fab->nodes[s->fab->ports[port].node];
	const struct sim_port *p = &s->ports[port];

	for (unsigned i = 1; n->sriov == FAB_SRIOV_SHARED && p->guids && i < p->pi.guid_cap; i++)
		if (p->guids[i] && p->guids[i] != fab_function_guid(n->guid, i))
			alias_join(s, port, p->guids[i]);
}

void machines_join(struct sim *s)
{
	struct plane *pl = s->plane;

	free(pl->allowed); /* its size is by the number of hosts */
	pl->allowed = NULL;
	for (uint32_t h = 0; h < pl->nports_hosts; h++) {
		port_id p = pl->hosts.at[h];

		if (!is_vf(s->fab, p) || s->ports[p].vguid)
			vec_push(&pl->members, h);
	}
	for (uint32_t h = 0; h < pl->nports_hosts; h++)
		aliases_join(s, pl->hosts.at[h]);
	free(pl->member_of);
	pl->member_of = mem_zarray(pl->hosts.n, sizeof(*pl->member_of));
	for (uint32_t i = 0; i < pl->members.n; i++)
		pl->member_of[pl->members.at[i]] = i;
}

/* ---- packets ---- */

bool machine_is_away(const struct shard *sh, uint32_t host)
{
	const struct plane *pl = sh->plane;

	if (host >= pl->nports_hosts)
		return pl->away[host];
	return pl->machine_guid[host] &&
	       sh->ports[pl->hosts.at[host]].vguid != pl->machine_guid[host];
}

bool machine_is_for(const struct shard *sh, port_id port, const struct dpkt *d)
{
	const struct plane *pl = sh->plane;
	uint32_t host = pl->nports_hosts + d->machine - 1;

	if (!d->machine)
		return !is_empty(sh, port);
	return pl->hosts.at[host] == port && !pl->away[host];
}
