/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of switches that Slurm wants. State: none but the result. Way in: slurm_tree_find(). Writes no file.
 *
 * A switch's level is its distance to the nearest one with hosts. Switches up to a level that are connected to each other are one
 * switch of Slurm there: these parts contain each other or are disjoint, hence they are a tree for any fabric.
 */
#include "cli/slurm_tree.h"

#include <ctype.h>
#include <search.h>
#include <strings.h>

/* Room for a GUID behind a name: 80 bytes. */
enum { GUID_SIZE = 24, NAME_MOST = 80 - GUID_SIZE };

struct finder {
	const struct fab *f;
	struct slurm_tree *t;
	const bool *wanted; /* by node; NULL: all */
	uint32_t *level;    /* by switch */
	uint32_t *owner; /* by switch: the switch of Slurm that it is part of now; FAB_NONE: none */
	uint32_t *part, *queue;
	uint32_t levels;
	void *names; /* of nodes, for tsearch(): each is listed once */
};

/* ---- names ---- */

static bool is_adapter(const char *word)
{
	static const char *const words[] = {"hca", "mlx", "hfi", "ib", "qib", "connectx"};

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (!strncasecmp(word, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Letters, digits, '-', '_' and '.' of the name; without a last word that names the adapter. */
static void name_make(const char *from, char *to, size_t size)
{
	const char *last = strrchr(from, ' ');
	size_t len = last && last > from && is_adapter(last + 1) ? (size_t)(last - from)
								 : strlen(from),
	       n = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++)
		if (isalnum((unsigned char)from[i]) || strchr("-_.", from[i]))
			to[n++] = from[i];
	to[n] = 0;
}

static uint32_t switch_add(struct finder *w, const char *name, bool leaf)
{
	struct slurm_tree *t = w->t;

	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		t->at = mem_resize(t->at, t->cap, sizeof(*t->at));
	}
	t->at[t->n] = (struct slurm_switch){.leaf = leaf, .top = FAB_NONE};
	snprintf(t->at[t->n].name, sizeof(t->at[0].name), "%s", name);
	return (uint32_t)t->n++;
}

static void below_add(struct slurm_switch *s, const char *name)
{
	strbuf_addf(&s->below, "%s%s", s->below.len ? "," : "", name);
	s->count++;
}

/* ---- leaves ---- */

static int text_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* A node with several adapters has several hosts in the fabric: only the first counts. */
static bool is_new(struct finder *w, const char *name)
{
	char *copy = mem_strdup(name), **had = tsearch(copy, &w->names, text_order);

	if (!had)
		mem_none();
	if (*had == copy)
		return true;
	free(copy);
	return false;
}

static void leaf_fill(struct finder *w, node_id sw, struct slurm_switch *s)
{
	char name[80];

	for (unsigned i = 1; i <= w->f->nodes[sw].nports; i++) {
		port_id peer = w->f->ports[fab_port_id(w->f, sw, i)].peer;
		node_id host = peer == FAB_NONE ? FAB_NONE : w->f->ports[peer].node;

		if (host == FAB_NONE || w->f->nodes[host].type != IBA_NODE_CA ||
		    w->f->nodes[host].flags & FAB_SHARP_AN || (w->wanted && !w->wanted[host]))
			continue;
		name_make(fab_node_name(w->f, host), name, sizeof(name));
		if (*name && is_new(w, name))
			below_add(s, name);
	}
}

/* Switches that never got a name of their own have that of their maker, all the same: such a leaf is called by its GUID as well. */
static void leaves_tell_apart(struct finder *w)
{
	struct slurm_tree *t = w->t;
	bool *same = mem_zarray(t->n + 1, sizeof(*same));

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = i + 1; k < t->n; k++)
			if (!strcmp(t->at[i].name, t->at[k].name))
				same[i] = same[k] = true;
	for (uint32_t s = 0; s < w->f->nswitches; s++) {
		uint32_t leaf = w->owner[s];
		char *name;

		if (leaf == FAB_NONE || (!same[leaf] && *t->at[leaf].name))
			continue;
		name = t->at[leaf].name;
		snprintf(name + MIN(strlen(name), NAME_MOST), GUID_SIZE, "%s%016llx",
			 *name ? "-" : "switch-",
			 (unsigned long long)w->f->nodes[w->f->switches[s]].guid);
	}
	free(same);
}

static void leaves_add(struct finder *w)
{
	char name[80];

	for (uint32_t s = 0; s < w->f->nswitches; s++) {
		struct slurm_switch probe = {0};

		w->owner[s] = FAB_NONE;
		w->level[s] = FAB_NONE;
		leaf_fill(w, w->f->switches[s], &probe);
		if (!probe.count)
			continue;
		name_make(fab_node_name(w->f, w->f->switches[s]), name, sizeof(name));
		w->owner[s] = switch_add(w, name, true);
		w->level[s] = 0;
		w->t->at[w->owner[s]].below = probe.below;
		w->t->at[w->owner[s]].count = probe.count;
		w->t->least = w->t->least ? MIN(w->t->least, probe.count) : probe.count;
	}
	leaves_tell_apart(w);
}

/* ---- levels ---- */

static uint32_t neighbour(const struct finder *w, uint32_t s, unsigned port)
{
	port_id peer = w->f->ports[fab_port_id(w->f, w->f->switches[s], port)].peer;

	return peer == FAB_NONE ? FAB_NONE : w->f->switch_index[w->f->ports[peer].node];
}

static void levels_find(struct finder *w)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < w->f->nswitches; s++)
		if (!w->level[s])
			w->queue[tail++] = s;
	while (head < tail) {
		uint32_t s = w->queue[head++];

		for (unsigned i = 1; i <= w->f->nodes[w->f->switches[s]].nports; i++) {
			uint32_t n = neighbour(w, s, i);

			if (n == FAB_NONE || w->level[n] != FAB_NONE)
				continue;
			w->level[n] = w->level[s] + 1;
			w->levels = MAX(w->levels, w->level[n]);
			w->queue[tail++] = n;
		}
	}
	w->levels = MAX(w->levels, 1u); /* where all have hosts, one above them */
}

/* The part of switches up to a level that s belongs to; its length, in queue. */
static uint32_t part_walk(struct finder *w, uint32_t s, uint32_t level)
{
	uint32_t head = 0, tail = 0;

	w->queue[tail++] = s;
	w->part[s] = level;
	while (head < tail) {
		uint32_t at = w->queue[head++];

		for (unsigned i = 1; i <= w->f->nodes[w->f->switches[at]].nports; i++) {
			uint32_t n = neighbour(w, at, i);

			if (n == FAB_NONE || w->part[n] == level || w->level[n] > level)
				continue;
			w->part[n] = level;
			w->queue[tail++] = n;
		}
	}
	return tail;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* One switch of Slurm for those that the part has so far; none where there is only one. */
static void part_merge(struct finder *w, uint32_t n, uint32_t level, uint32_t *number)
{
	uint32_t *had = mem_zarray(n + 1, sizeof(*had)), k = 0, top;
	char name[80];

	for (uint32_t i = 0; i < n; i++)
		if (w->owner[w->queue[i]] != FAB_NONE)
			had[k++] = w->owner[w->queue[i]];
	qsort(had, k, sizeof(*had), by_number);
	top = k && had[0] == had[k - 1] ? had[0] : FAB_NONE;
	if (k && top == FAB_NONE) {
		snprintf(name, sizeof(name), "level%u-%u", level, (*number)++);
		top = switch_add(w, name, false);
		for (uint32_t i = 0; i < k; i++)
			if (!i || had[i] != had[i - 1]) {
				below_add(&w->t->at[top], w->t->at[had[i]].name);
				w->t->at[had[i]].top = top;
			}
	}
	for (uint32_t i = 0; i < n; i++)
		w->owner[w->queue[i]] = top;
	free(had);
}

static void levels_merge(struct finder *w)
{
	for (uint32_t level = 1; level <= w->levels; level++) {
		uint32_t number = 0;

		for (uint32_t s = 0; s < w->f->nswitches; s++)
			if (w->level[s] <= level && w->part[s] != level)
				part_merge(w, part_walk(w, s, level), level, &number);
	}
}

/* ---- all of it ---- */

static int name_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int names_check(const struct slurm_tree *t, struct err *e)
{
	const char **names = mem_zarray(t->n + 1, sizeof(*names));
	int rc = 0;

	for (size_t i = 0; i < t->n; i++)
		names[i] = t->at[i].name;
	qsort(names, t->n, sizeof(*names), name_order);
	for (size_t i = 0; i < t->n && !rc; i++)
		if (i && !strcmp(names[i], names[i - 1]))
			rc = err_set(e, -EINVAL,
				     "found two switches called '%s', expected different names",
				     names[i]);
	free(names);
	return rc;
}

int slurm_tree_find(const struct fab *f, const bool *wanted, struct slurm_tree *t, struct err *e)
{
	struct finder w = {.f = f, .t = t, .wanted = wanted};

	w.level = mem_zarray(f->nswitches + 1, sizeof(*w.level));
	w.owner = mem_zarray(f->nswitches + 1, sizeof(*w.owner));
	w.part = mem_zarray(f->nswitches + 1, sizeof(*w.part));
	w.queue = mem_zarray(f->nswitches + 1, sizeof(*w.queue));
	leaves_add(&w);
	levels_find(&w);
	levels_merge(&w);
	free(w.level);
	free(w.owner);
	free(w.part);
	free(w.queue);
	tdestroy(w.names, free);
	if (!t->n)
		return err_set(e, -EINVAL, "found no switch with hosts, expected one");
	return names_check(t, e);
}

void slurm_tree_free(struct slurm_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		strbuf_free(&t->at[i].below);
	free(t->at);
}
