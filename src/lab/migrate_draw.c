/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws the VMs that migrate, and their hosts. State: rng and used of struct migrate_run. Way in: migrate_host_draw(),
 * migrate_host_next(), migrate_draw_together(). Does not ask the manager.
 */
#include "lab/migrate_priv.h"

static bool has_room(const struct migrate_run *x, node_id n)
{
	return x->used[n].n < x->p->fab->nodes[n].vfs;
}

struct lab_place migrate_place_take(struct migrate_run *x, struct lab_place at)
{
	struct migrate_slots *u = &x->used[at.host];

	for (unsigned s = 1; !at.slot && s <= x->p->fab->nodes[at.host].vfs; s++)
		if (!(u->bits[s / 64] >> s % 64 & 1))
			at.slot = s;
	u->n += !(u->bits[at.slot / 64] >> at.slot % 64 & 1);
	u->bits[at.slot / 64] |= 1ull << at.slot % 64;
	return at;
}

void migrate_place_free(struct migrate_run *x, struct lab_place at)
{
	struct migrate_slots *u = &x->used[at.host];

	u->n -= u->bits[at.slot / 64] >> at.slot % 64 & 1;
	u->bits[at.slot / 64] &= ~(1ull << at.slot % 64);
}

node_id migrate_host_draw(struct migrate_run *x, node_id but)
{
	for (unsigned tries = 0; tries < 1000; tries++) {
		node_id n = x->hosts.at[rng_below(&x->rng, (uint32_t)x->hosts.n)];

		if (n != but && has_room(x, n))
			return n;
	}
	return FAB_NONE;
}

static void hosts_shuffle(struct migrate_run *x)
{
	for (size_t i = x->hosts.n; i > 1; i--) {
		size_t j = rng_below(&x->rng, (uint32_t)i);
		node_id n = x->hosts.at[j];

		x->hosts.at[j] = x->hosts.at[i - 1];
		x->hosts.at[i - 1] = n;
	}
}

node_id migrate_host_next(struct migrate_run *x, size_t vm)
{
	if (!vm)
		hosts_shuffle(x);
	for (size_t i = 0; i < x->hosts.n; i++) {
		node_id n = x->hosts.at[(vm + i) % x->hosts.n];

		if (has_room(x, n))
			return n;
	}
	return FAB_NONE;
}

/* Each VM goes where the next one was, if that is another host with a free VF. */
void migrate_draw_together(struct migrate_run *x, size_t *vms, struct lab_place *to, size_t n)
{
	size_t *all = mem_array(x->vms.n, sizeof(*all));

	for (size_t i = 0; i < x->vms.n; i++)
		all[i] = i;
	for (size_t i = 0; i < n; i++) {
		size_t j = i + rng_below(&x->rng, (uint32_t)(x->vms.n - i));

		vms[i] = all[j];
		all[j] = all[i];
	}
	for (size_t i = 0; i < n; i++) {
		node_id from = x->vms.at[vms[i]].at.host,
			next = x->vms.at[vms[(i + 1) % n]].at.host;

		to[i].slot = 0;
		to[i].host = next != from && has_room(x, next) ? next : migrate_host_draw(x, from);
		if (to[i].host != FAB_NONE)
			to[i] = migrate_place_take(x, to[i]);
	}
	free(all);
}
