/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel dependencies of tables in force, with the number of LIDs that have each, kept up to date
 * while LIDs move; and which further dependencies would close a cycle. State: struct rt_move_deps, for as
 * long as nothing but moves changes the tables. Does not know which dependencies a move needs.
 *
 * The channels are kept in a topological order. A dependency that agrees with it costs nothing. Any other
 * is looked for between the places of its two channels only, and the channels found there change places
 * (Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic graphs, 2006).
 */
#include "route/moves_priv.h"

/* ---- dependencies of tables ---- */

static uint16_t *count_of(const struct rt_move_deps *d, port_id from, unsigned out)
{
	return &d->count[(size_t)from * d->width + out];
}

static void count_add(struct rt_move_deps *d, port_id from, unsigned out)
{
	if (!(*count_of(d, from, out))++)
		d->bits[(size_t)from * d->words + out / 64] |= 1ull << out % 64;
}

static void count_remove(struct rt_move_deps *d, port_id from, unsigned out)
{
	assert(*count_of(d, from, out));
	if (!--*count_of(d, from, out))
		d->bits[(size_t)from * d->words + out / 64] &= ~(1ull << out % 64);
}

static void tables_count(struct rt_move_deps *d, const struct rt_tables *t)
{
	for (uint32_t s = 0; s < t->nswitches; s++) {
		const uint8_t *row = rt_row(t, s);

		for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
			port_id from = deps_channel(d, s, moves_port(t, s, row[lid]));
			uint32_t to = from == FAB_NONE ? FAB_NONE : d->next[from];
			unsigned out;

			if (to == FAB_NONE)
				continue;
			out = moves_port(t, to, rt_row(t, to)[lid]);
			if (deps_channel(d, to, out) != FAB_NONE)
				count_add(d, from, out);
		}
	}
}

/* ---- the order ---- */

/* Calls for each dependency of channel c in turn: its next channel from *out on, FAB_NONE at the end. */
static port_id edge_next(const struct rt_move_deps *d, port_id c, unsigned *out)
{
	const uint64_t *row = d->bits + (size_t)c * d->words;

	while (*out < d->words * 64) {
		uint64_t rest = row[*out / 64] >> *out % 64;

		if (!rest) {
			*out = (*out / 64 + 1) * 64;
			continue;
		}
		*out += (unsigned)__builtin_ctzll(rest);
		return d->first[d->next[c]] + (*out)++;
	}
	return FAB_NONE;
}

/* Kahn's algorithm: channels in the order of the longest way that leads to them. */
static void order_make(struct rt_move_deps *d)
{
	uint32_t n = d->f->nports, channels = 0, head = 0, tail = 0;
	uint32_t *before = mem_zarray(n, sizeof(*before)), *queue = mem_array(n, sizeof(*queue));
	unsigned out;

	for (port_id c = 0, w; c < n; c++) {
		channels += d->next[c] != FAB_NONE;
		for (out = 0; d->next[c] != FAB_NONE && (w = edge_next(d, c, &out)) != FAB_NONE;)
			before[w]++;
	}
	for (port_id c = 0; c < n; c++)
		if (d->next[c] != FAB_NONE && !before[c])
			queue[tail++] = c;
	for (; head < tail; head++) {
		d->place[queue[head]] = head;
		out = 0;
		for (port_id w; (w = edge_next(d, queue[head], &out)) != FAB_NONE;)
			if (!--before[w])
				queue[tail++] = w;
	}
	d->cyclic = tail < channels;
	free(before);
	free(queue);
}

static void channels_make(struct rt_move_deps *d)
{
	const struct fab *f = d->f;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		d->first[s] = f->nodes[f->switches[s]].first_port;
		d->width = MAX(d->width, f->nodes[f->switches[s]].nports + 1u);
	}
	for (port_id p = 0; p < f->nports; p++) {
		port_id peer = f->ports[p].peer;

		d->next[p] = peer != FAB_NONE && fab_is_switch(f, f->ports[p].node)
				     ? f->switch_index[f->ports[peer].node]
				     : FAB_NONE;
	}
}

struct rt_move_deps *rt_move_deps_new(const struct fab *f, const struct rt_tables *t)
{
	struct rt_move_deps *d = mem_zalloc(sizeof(*d));

	d->f = f;
	d->width = 1;
	d->first = mem_array(f->nswitches, sizeof(*d->first));
	d->next = mem_array(f->nports, sizeof(*d->next));
	channels_make(d);
	d->words = (d->width + 63) / 64;
	d->count = mem_zarray(f->nports, d->width * sizeof(*d->count));
	d->bits = mem_zarray(f->nports, d->words * sizeof(*d->bits));
	d->refused = mem_zarray(f->nports, d->words * sizeof(*d->refused));
	d->place = mem_zarray(f->nports, sizeof(*d->place));
	d->seen = mem_zarray(f->nports, sizeof(*d->seen));
	tables_count(d, t);
	order_make(d);
	return d;
}

void rt_move_deps_free(struct rt_move_deps *d)
{
	if (!d)
		return;
	free(d->first);
	free(d->next);
	free(d->count);
	free(d->bits);
	free(d->refused);
	free(d->place);
	free(d->seen);
	vec_free(&d->tried);
	vec_free(&d->turned_down);
	vec_free(&d->moved);
	vec_free(&d->stack);
	vec_free(&d->ahead);
	vec_free(&d->behind);
	vec_free(&d->places);
	free(d);
}

/* ---- following moves ---- */

void moves_lids_make(struct moves_lids *l, const rt_move_entries *e)
{
	uint32_t *slot = mem_zarray(65536, sizeof(*slot)), top = 0, at = 0;

	for (size_t i = 0; i < e->n; i++) {
		slot[e->at[i].lid]++;
		top = MAX(top, e->at[i].lid);
	}
	l->n = 0;
	for (uint32_t lid = 0; lid <= top; lid++)
		l->n += slot[lid] > 0;
	l->first = mem_array(l->n + 1, sizeof(*l->first));
	l->entry = mem_array(e->n, sizeof(*l->entry));
	l->n = 0;
	for (uint32_t lid = 0; lid <= top; lid++) {
		uint32_t n = slot[lid];

		if (!n)
			continue;
		l->first[l->n++] = slot[lid] = at;
		at += n;
	}
	l->first[l->n] = at;
	for (size_t i = 0; i < e->n; i++)
		l->entry[slot[e->at[i].lid]++] = (uint32_t)i;
	free(slot);
}

void moves_lids_free(struct moves_lids *l)
{
	free(l->first);
	free(l->entry);
}

/* The dependency of packets that leave switch s by a column of ports; false when there is none. */
static bool column_dep(const struct rt_move_deps *d, const uint8_t *column, uint32_t s,
		       struct dep_edge *x)
{
	port_id from = deps_channel(d, s, column[s]);
	uint32_t to = from == FAB_NONE ? FAB_NONE : d->next[from];

	if (to == FAB_NONE || deps_channel(d, to, column[to]) == FAB_NONE)
		return false;
	*x = (struct dep_edge){from, column[to]};
	return true;
}

static void column_follow(struct rt_move_deps *d, uint32_t n, const uint8_t *old,
			  const uint8_t *new)
{
	struct dep_edge was, is;

	for (uint32_t s = 0; s < n; s++) {
		bool had = column_dep(d, old, s, &was), has = column_dep(d, new, s, &is);

		if (had && has && was.from == is.from && was.out == is.out)
			continue;
		if (has)
			count_add(d, is.from, is.out);
		if (had)
			count_remove(d, was.from, was.out);
	}
}

void rt_move_deps_apply(struct rt_move_deps *d, const struct rt_tables *t, const rt_move_entries *e)
{
	uint8_t *old = mem_array(t->nswitches, 1), *new = mem_array(t->nswitches, 1);
	struct moves_lids l;

	moves_lids_make(&l, e);
	for (uint32_t k = 0; k < l.n; k++) {
		uint32_t lid = e->at[l.entry[l.first[k]]].lid;

		for (uint32_t s = 0; s < t->nswitches; s++)
			old[s] = new[s] = moves_port(
				t, s, lid <= t->top_lid ? rt_row(t, s)[lid] : IBA_PORT_NONE);
		for (uint32_t i = l.first[k]; i < l.first[k + 1]; i++) {
			const struct rt_move_entry *x = &e->at[l.entry[i]];

			old[x->sw] = moves_port(t, x->sw, x->from);
			new[x->sw] = moves_port(t, x->sw, x->to);
		}
		column_follow(d, t->nswitches, old, new);
	}
	moves_lids_free(&l);
	free(old);
	free(new);
}

/* ---- trials ---- */

void deps_begin(struct rt_move_deps *d, uint64_t effort)
{
	d->effort = 0;
	d->most_effort = effort;
	d->tried.n = d->turned_down.n = d->moved.n = 0;
}

void deps_end(struct rt_move_deps *d)
{
	for (size_t i = 0; i < d->tried.n; i++)
		d->bits[(size_t)d->tried.at[i].from * d->words + d->tried.at[i].out / 64] &=
			~(1ull << d->tried.at[i].out % 64);
	for (size_t i = 0; i < d->turned_down.n; i++)
		memset(d->refused + (size_t)d->turned_down.at[i].from * d->words, 0,
		       d->words * sizeof(*d->refused));
	/* without what was tried, the order before holds again: results never depend on former plans */
	for (size_t i = d->moved.n; i-- > 0;)
		d->place[d->moved.at[i].channel] = d->moved.at[i].place;
}

static void meet(struct rt_move_deps *d, port_id c)
{
	if (d->seen[c] != d->look) {
		d->seen[c] = d->look;
		vec_push(&d->stack, c);
	}
}

static uint64_t placed(const struct rt_move_deps *d, port_id c)
{
	return (uint64_t)d->place[c] << 32 | c;
}

/* Channels that follow c, up to the place of `end`; false when that is one of them. */
static bool look_ahead(struct rt_move_deps *d, port_id c, port_id end)
{
	d->look++;
	d->stack.n = d->ahead.n = 0;
	meet(d, c);
	while (d->stack.n) {
		port_id v = d->stack.at[--d->stack.n];
		unsigned out = 0;

		vec_push(&d->ahead, placed(d, v));
		for (port_id w; (w = edge_next(d, v, &out)) != FAB_NONE; d->effort++)
			if (d->place[w] <= d->place[end])
				meet(d, w);
		if (d->seen[end] == d->look)
			return false;
	}
	return true;
}

/* Channels that lead to c, down to the place of `end`. */
static void look_behind(struct rt_move_deps *d, port_id c, port_id end)
{
	const struct fab *f = d->f;

	d->look++;
	d->stack.n = d->behind.n = 0;
	meet(d, c);
	while (d->stack.n) {
		port_id v = d->stack.at[--d->stack.n], first;
		unsigned nports;

		vec_push(&d->behind, placed(d, v));
		first = f->nodes[f->ports[v].node].first_port;
		nports = f->nodes[f->ports[v].node].nports;
		d->effort += nports;
		for (unsigned in = 1; in <= nports; in++) {
			port_id w = f->ports[first + in].peer;

			if (w != FAB_NONE && d->next[w] != FAB_NONE &&
			    d->place[w] >= d->place[end] && deps_has(d, d->bits, w, v - first))
				meet(d, w);
		}
	}
}

static int u64_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void place_set(struct rt_move_deps *d, port_id c, uint32_t place)
{
	vec_push(&d->moved, (struct dep_place){c, d->place[c]});
	d->place[c] = place;
}

/* The channels behind come first, then those ahead, in the places that both have now. */
static void reorder(struct rt_move_deps *d)
{
	size_t a = 0, b = 0, k = 0;

	qsort(d->ahead.at, d->ahead.n, sizeof(*d->ahead.at), u64_cmp);
	qsort(d->behind.at, d->behind.n, sizeof(*d->behind.at), u64_cmp);
	d->places.n = 0;
	while (a < d->ahead.n || b < d->behind.n)
		if (b == d->behind.n || (a < d->ahead.n && d->ahead.at[a] < d->behind.at[b]))
			vec_push(&d->places, (uint32_t)(d->ahead.at[a++] >> 32));
		else
			vec_push(&d->places, (uint32_t)(d->behind.at[b++] >> 32));
	for (b = 0; b < d->behind.n; b++)
		place_set(d, (port_id)d->behind.at[b], d->places.at[k++]);
	for (a = 0; a < d->ahead.n; a++)
		place_set(d, (port_id)d->ahead.at[a], d->places.at[k++]);
}

bool deps_try(struct rt_move_deps *d, port_id from, unsigned out)
{
	uint64_t *row = d->bits + (size_t)from * d->words, bit = 1ull << out % 64;
	port_id to = d->first[d->next[from]] + out;

	if (row[out / 64] & bit)
		return true;
	if (deps_has(d, d->refused, from, out))
		return false;
	if (d->place[from] >= d->place[to]) {
		if (from == to || d->effort > d->most_effort || !look_ahead(d, to, from)) {
			d->refused[(size_t)from * d->words + out / 64] |= bit;
			vec_push(&d->turned_down, (struct dep_edge){from, (uint8_t)out});
			return false;
		}
		look_behind(d, from, to);
		reorder(d);
	}
	row[out / 64] |= bit;
	vec_push(&d->tried, (struct dep_edge){from, (uint8_t)out});
	return true;
}
