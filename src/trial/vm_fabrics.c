/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnets of trials of virtual machines: one that has a name, or a small one that the seed draws; most hosts have VFs.
 * Keeps no state. Way in: vm_fabric_draw(). Does not run anything.
 */
#include "trial/vm_world.h"

const char *const vm_fabrics[] = {"tree", "torus", "dragonfly", "irregular", "odd", NULL};

static const struct fab_gen named[] = {
	{.kind = "mtree", .dims = {4, 3}, .ndims = 2},
	{.kind = "torus", .dims = {4, 3}, .ndims = 2, .hosts = 2, .has_hosts = true},
	{.kind = "dragonfly", .dims = {2, 3, 1}, .ndims = 3},
	{.kind = "irregular", .dims = {14}, .ndims = 1, .ports = 6},
	{.kind = "odd", .dims = {10}, .ndims = 1},
};

static struct fab_gen draw_small(struct vm_world *t)
{
	struct fab_gen g = {.kind = "irregular", .ndims = 1};

	if (rng_below(&t->rng, 3) == 0)
		return (struct fab_gen){.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	g.dims[0] = 2 + rng_below(&t->rng, MAX(t->opts.max_switches, 3u) - 1);
	g.ports = 4 + rng_below(&t->rng, 3);
	return g;
}

static struct fab_gen draw_kind(struct vm_world *t)
{
	for (unsigned i = 0; t->opts.fabric && vm_fabrics[i]; i++)
		if (!strcmp(t->opts.fabric, vm_fabrics[i]))
			return named[i];
	return draw_small(t);
}

/* Nodes that packets from this one reach. */
static uint32_t reach(const struct fab *f, node_id from, bool *seen)
{
	node_id *queue = mem_array(f->nnodes, sizeof(*queue));
	uint32_t n = 0;

	memset(seen, 0, f->nnodes * sizeof(*seen));
	seen[from] = true;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		node_id at = queue[i];

		for (unsigned p = 1; p <= f->nodes[at].nports; p++) {
			port_id far = f->ports[fab_port_id(f, at, p)].peer;
			node_id next = far == FAB_NONE ? at : f->ports[far].node;

			if (seen[next] || (i && !fab_is_switch(f, at)))
				continue;
			seen[next] = true;
			queue[n++] = next;
		}
	}
	free(queue);
	return n;
}

static bool is_host(const struct fab *f, node_id n)
{
	return f->nodes[n].type == IBA_NODE_CA && f->nodes[n].nports == 1 &&
	       f->ports[fab_port_id(f, n, 1)].peer != FAB_NONE;
}

static bool has_host(const struct fab *f)
{
	for (node_id n = 0; n < f->nnodes; n++)
		if (is_host(f, n))
			return true;
	return false;
}

/* Each host alike, or of both kinds; a few without VFs. */
static struct fab *with_vfs(struct vm_world *t, struct fab *plain, enum fab_sriov sriov)
{
	struct fab_builder *b = fab_builder_from(plain);
	unsigned vfs = 1 + rng_below(&t->rng, 8);
	bool mixed = rng_below(&t->rng, 10) == 0;

	for (node_id n = 0; n < plain->nnodes; n++) {
		if (!is_host(plain, n) || rng_below(&t->rng, 6) == 0)
			continue;
		fab_builder_node(b, n)->sriov = (uint8_t)sriov;
		if (mixed && rng_below(&t->rng, 2))
			fab_builder_node(b, n)->sriov =
				sriov == FAB_SRIOV_SHARED ? FAB_SRIOV_VSWITCH : FAB_SRIOV_SHARED;
		fab_builder_node(b, n)->vfs = (uint8_t)vfs;
	}
	t->out->vfs = vfs;
	fab_free(plain);
	return fab_build(b);
}

struct fab *vm_fabric_draw(struct vm_world *t, enum fab_sriov sriov, struct err *e)
{
	struct fab_gen g = draw_kind(t);
	struct fab *plain = NULL;

	do { /* odd ones may have no host for a manager */
		fab_free(plain);
		g.seed = rng_u64(&t->rng);
		plain = fab_generate(&g, e);
	} while (plain && !has_host(plain));
	return plain ? with_vfs(t, plain, sriov) : NULL;
}

/* The first is on a host of the largest part, the others on further hosts of it. */
unsigned vm_seats_draw(struct vm_world *t, unsigned n)
{
	const struct fab *f = t->fab;
	bool *seen = mem_array(f->nnodes, sizeof(*seen));
	uint32_t best = 0;
	unsigned found = 0;

	for (node_id i = 0; i < f->nnodes; i++)
		if (is_host(f, i) && reach(f, i, seen) > best) {
			best = reach(f, i, seen);
			t->seats[0] = i;
			found = 1;
		}
	if (found)
		reach(f, t->seats[0], seen);
	for (unsigned tries = 0; found && found < n && tries < 100; tries++) {
		node_id i = rng_below(&t->rng, f->nnodes);
		bool used = !is_host(f, i) || !seen[i];

		for (unsigned k = 0; k < found; k++)
			used |= t->seats[k] == i;
		if (!used)
			t->seats[found++] = i;
	}
	free(seen);
	return found;
}
