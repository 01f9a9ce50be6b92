/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "dragonfly": groups from the wiring alone. State: struct seek, for one call. Way in: groups_find(). Routes nothing.
 *
 * In a dragonfly nearly all switches of a group are joined with each other, so that the two ends of a link inside a group have
 * many common neighbours, and those of a link between groups have few. In Dragonfly+ a group has leaves, with hosts, and
 * spines, without: links inside a group join a leaf and a spine, links between groups two spines.
 */
#include "route/dragonfly.h"

enum {
	WHOLE_PERCENT = 60, /* of the links that a group would have, at least */
	LEAST_GROUPS = 3,
	JOINED_PERCENT = 50, /* of all pairs of groups, at least, have a link */
};

struct seek {
	const struct switch_graph *g;
	struct groups *out;
	uint32_t *common; /* by arc: common neighbours of both ends */
	uint32_t *mark;	  /* by switch: last switch whose neighbour it was */
	uint32_t *queue;
	uint32_t *first; /* by group: its first switch */
	uint32_t *size, *leaves, *links;
	uint32_t *joined; /* by group: others that it has a link to */
};

static bool is_leaf(const struct seek *k, uint32_t s)
{
	return k->g->senders[s] > 0;
}

/* Parallel links count once: the first one, by the mark of the far switch. */
static void common_count(struct seek *k)
{
	const struct switch_graph *g = k->g;
	uint32_t stamp = 1, *seen = mem_zarray((size_t)g->n + 1, sizeof(*seen));

	for (uint32_t s = 0; s < g->n; s++) {
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			k->mark[g->arc[a].to] = s + 1;
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++, stamp++) {
			uint32_t v = g->arc[a].to;

			for (uint32_t b = g->first[v]; b < g->first[v + 1]; b++) {
				uint32_t w = g->arc[b].to;

				k->common[a] += k->mark[w] == s + 1 && seen[w] != stamp;
				seen[w] = stamp;
			}
		}
	}
	free(seen);
}

/* least 0: leaves and spines. */
static bool is_local(const struct seek *k, uint32_t a, uint32_t least)
{
	const struct graph_arc *x = &k->g->arc[a];

	return least ? k->common[a] >= least : is_leaf(k, x->from) != is_leaf(k, x->to);
}

static void split(struct seek *k, uint32_t least)
{
	const struct switch_graph *g = k->g;
	struct groups *o = k->out;

	memset(o->of, 0xff, g->n * sizeof(*o->of));
	o->n = 0;
	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t tail = 0;

		if (o->of[s] != FAB_NONE)
			continue;
		k->first[o->n] = s;
		o->of[s] = o->n;
		k->queue[tail++] = s;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t a = g->first[k->queue[head]];
			     a < g->first[k->queue[head] + 1]; a++) {
				uint32_t v = g->arc[a].to;

				if (!is_local(k, a, least) || o->of[v] != FAB_NONE)
					continue;
				o->of[v] = o->n;
				k->queue[tail++] = v;
			}
		o->n++;
	}
}

/* Switches, leaves, and pairs of neighbours inside each group, each pair in both directions. */
static void groups_count(struct seek *k)
{
	const struct switch_graph *g = k->g;
	const uint32_t *of = k->out->of;
	size_t bytes = k->out->n * sizeof(uint32_t);

	memset(k->size, 0, bytes);
	memset(k->leaves, 0, bytes);
	memset(k->links, 0, bytes);
	memset(k->mark, 0, g->n * sizeof(*k->mark));
	for (uint32_t s = 0; s < g->n; s++) {
		k->size[of[s]]++;
		k->leaves[of[s]] += is_leaf(k, s);
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
			uint32_t v = g->arc[a].to;

			k->links[of[s]] += of[v] == of[s] && k->mark[v] != s + 1;
			k->mark[v] = s + 1;
		}
	}
}

/* Links that a whole group has, both directions. */
static uint64_t links_due(const struct seek *k, uint32_t i, bool spines)
{
	uint64_t n = k->size[i], leaves = k->leaves[i];

	return spines ? 2 * leaves * (n - leaves) : n * (n - 1);
}

/* The first group that is none, k->out->n: all are right. */
static uint32_t wrong_group(struct seek *k, bool spines)
{
	groups_count(k);
	for (uint32_t i = 0; i < k->out->n; i++) {
		uint64_t due = links_due(k, i, spines);

		if ((spines && (!k->leaves[i] || k->leaves[i] == k->size[i])) ||
		    k->links[i] * 100ull < due * WHOLE_PERCENT)
			return i;
	}
	return k->out->n;
}

/* ---- links between groups ---- */

static void joined_count(struct seek *k)
{
	const struct switch_graph *g = k->g;
	const uint32_t *of = k->out->of;
	uint32_t *at = k->queue, *next = mem_zarray((size_t)k->out->n + 2, sizeof(*next));

	memset(k->joined, 0, k->out->n * sizeof(*k->joined));
	memset(k->mark, 0, g->n * sizeof(*k->mark)); /* by group here */
	for (uint32_t s = 0; s < g->n; s++)
		next[of[s] + 1]++;
	for (uint32_t i = 0; i < k->out->n; i++)
		next[i + 1] += next[i];
	for (uint32_t s = 0; s < g->n; s++)
		at[next[of[s]]++] = s;
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t a = g->first[at[i]]; a < g->first[at[i] + 1]; a++) {
			uint32_t own = of[at[i]], other = of[g->arc[a].to];

			k->joined[own] += own != other && k->mark[other] != own + 1;
			k->mark[other] = own + 1;
		}
	free(next);
}

/* Pairs of groups, both ways, that cables join over any number of others. */
static uint64_t pairs_due(struct seek *k)
{
	uint32_t *dist = mem_array((size_t)k->g->n + 1, sizeof(*dist));
	bool *seen = mem_zarray((size_t)k->out->n + 1, sizeof(*seen));
	uint64_t due = 0;

	for (uint32_t s = 0; s < k->g->n; s++) {
		uint64_t groups = 0;
		uint32_t n = seen[k->out->of[s]] ? 0 : graph_distances(k->g, s, dist, k->queue);

		for (; n; n--) {
			uint32_t i = k->out->of[k->queue[n - 1]];

			groups += !seen[i];
			seen[i] = true;
		}
		due += groups ? groups * (groups - 1) : 0;
	}
	free(dist);
	free(seen);
	return due;
}

/* The group with the fewest links to others where groups have too few of them, k->out->n: they have enough. */
static uint32_t lone_group(struct seek *k)
{
	uint64_t have = 0;
	uint32_t least = 0;

	joined_count(k);
	for (uint32_t i = 0; i < k->out->n; i++) {
		have += k->joined[i];
		least = k->joined[i] < k->joined[least] ? i : least;
	}
	return have * 100 < pairs_due(k) * JOINED_PERCENT ? least : k->out->n;
}

/* A switch or two that lost their group may be left. */
static bool are_groups(struct seek *k, bool spines)
{
	uint32_t largest = 0, good = 0;

	if (k->out->n < LEAST_GROUPS || wrong_group(k, spines) < k->out->n)
		return false;
	for (uint32_t i = 0; i < k->out->n; i++)
		largest = MAX(largest, k->size[i]);
	for (uint32_t i = 0; i < k->out->n; i++)
		good += k->size[i] >= 2 && k->size[i] * 2 >= largest;
	return good >= LEAST_GROUPS && (k->out->n - good) * 5 <= good && lone_group(k) == k->out->n;
}

static bool mesh_groups(struct seek *k)
{
	uint32_t most = 0;

	common_count(k);
	for (uint32_t a = 0; a < k->g->narcs; a++)
		most = MAX(most, k->common[a]);
	for (uint32_t least = 1; least <= most; least++) {
		split(k, least);
		if (are_groups(k, false))
			return true;
	}
	return false;
}

static int refuse(struct seek *k, struct err *e)
{
	const struct fab *f = k->g->f;
	char buf[32];
	uint32_t i;

	split(k, 1);
	i = wrong_group(k, false);
	if (k->out->n >= LEAST_GROUPS && i == k->out->n && lone_group(k) < k->out->n) {
		i = lone_group(k);
		return err_set(
			e, -EINVAL,
			"dragonfly: not a dragonfly: %s and %u switches around it have links to %u of "
			"%u groups",
			rt_switch_text(f, k->first[i], buf), k->size[i] - 1, k->joined[i],
			k->out->n - 1);
	}
	if (k->out->n < LEAST_GROUPS || i == k->out->n)
		return err_set(
			e, -EINVAL,
			"dragonfly: not a dragonfly: %s is in one of %u groups of switches with common "
			"neighbours, expected three or more of about the same size",
			k->g->n ? rt_switch_text(f, 0, buf) : "no switch", k->out->n);
	return err_set(
		e, -EINVAL,
		"dragonfly: not a dragonfly: %s and %u switches around it have %u links, where a "
		"group has %llu",
		rt_switch_text(f, k->first[i], buf), k->size[i] - 1, k->links[i] / 2,
		(unsigned long long)links_due(k, i, false) / 2);
}

int groups_find(const struct switch_graph *g, struct groups *out, struct err *e)
{
	size_t n = (size_t)g->n + 1;
	struct seek k = {.g = g, .out = out};
	int rc = 0;

	out->of = mem_array(n, sizeof(*out->of));
	k.common = mem_zarray((size_t)g->narcs + 1, sizeof(*k.common));
	k.mark = mem_zarray(n, sizeof(*k.mark));
	k.queue = mem_array(n, sizeof(*k.queue));
	k.first = mem_array(n, sizeof(*k.first));
	k.size = mem_array(n, sizeof(*k.size));
	k.leaves = mem_array(n, sizeof(*k.leaves));
	k.links = mem_array(n, sizeof(*k.links));
	k.joined = mem_array(n, sizeof(*k.joined));
	split(&k, 0);
	if (!are_groups(&k, true) && !mesh_groups(&k))
		rc = refuse(&k, e);
	free(k.common);
	free(k.mark);
	free(k.queue);
	free(k.first);
	free(k.size);
	free(k.leaves);
	free(k.links);
	free(k.joined);
	return rc;
}
