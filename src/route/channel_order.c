/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies between channels without cycles. State: struct channel_order; the way in is channel_add(). Knows no tables
 * and chooses no path.
 */
#include "route/channel_order.h"

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const uint64_t *key = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (key[x] != key[y])
		return key[x] < key[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* Channels that y leads to, as far as the place of x; 0 when x is one of them. */
static uint32_t search_ahead(struct channel_order *o, uint32_t x, uint32_t y)
{
	const struct switch_graph *g = o->g;
	uint32_t n = 1;

	o->mark[y] = ++o->search;
	o->ahead[0] = y;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = o->ahead[i], s = g->arc[c / CHANNEL_VLS].to;

		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
			uint64_t bits = *channel_bits(o, c / CHANNEL_VLS, a) >>
						(c % CHANNEL_VLS * CHANNEL_VLS) &
					0xff;

			for (; bits; bits &= bits - 1) {
				uint32_t z = channel(a, (unsigned)__builtin_ctzll(bits));

				if (z == x)
					return 0;
				if (o->mark[z] == o->search || o->place[z] > o->place[x])
					continue;
				o->mark[z] = o->search;
				o->ahead[n++] = z;
			}
		}
	}
	return n;
}

/* Channels that lead to x, as far back as the place of y. */
static uint32_t search_behind(struct channel_order *o, uint32_t x, uint32_t y)
{
	const struct switch_graph *g = o->g;
	uint32_t n = 1;

	o->mark[x] = ++o->search;
	o->behind[0] = x;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = o->behind[i], s = g->arc[c / CHANNEL_VLS].from;

		for (uint32_t j = g->in_first[s]; j < g->in_first[s + 1]; j++)
			for (unsigned vl = 0; vl < CHANNEL_VLS; vl++) {
				uint32_t z = channel(g->in[j], vl);

				if (!channel_has(o, z, c) || o->mark[z] == o->search ||
				    o->place[z] < o->place[y])
					continue;
				o->mark[z] = o->search;
				o->behind[n++] = z;
			}
	}
	return n;
}

static void sort_by_place(const struct channel_order *o, uint32_t *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		c[i] = o->place[c[i]];
	qsort(c, n, sizeof(*c), by_number);
	for (uint32_t i = 0; i < n; i++)
		c[i] = o->at[c[i]];
}

/* The places of both sets, given to what is behind first and then to what is ahead. */
static void places_deal(struct channel_order *o, uint32_t nbehind, uint32_t nahead)
{
	uint32_t n = 0;

	sort_by_place(o, o->behind, nbehind);
	sort_by_place(o, o->ahead, nahead);
	for (uint32_t i = 0; i < nbehind; i++)
		o->places[n++] = o->place[o->behind[i]];
	for (uint32_t i = 0; i < nahead; i++)
		o->places[n++] = o->place[o->ahead[i]];
	qsort(o->places, n, sizeof(*o->places), by_number);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = i < nbehind ? o->behind[i] : o->ahead[i - nbehind];

		o->place[c] = o->places[i];
		o->at[o->places[i]] = c;
	}
}

bool channel_add(struct channel_order *o, uint32_t x, uint32_t y)
{
	if (x == y)
		return false;
	if (o->place[x] > o->place[y]) {
		uint32_t nahead = search_ahead(o, x, y);

		if (!nahead)
			return false;
		places_deal(o, search_behind(o, x, y), nahead);
	}
	*channel_bits(o, x / CHANNEL_VLS, y / CHANNEL_VLS) |=
		channel_bit(x % CHANNEL_VLS, y % CHANNEL_VLS);
	return true;
}

void channel_remove(struct channel_order *o, uint32_t x, uint32_t y)
{
	*channel_bits(o, x / CHANNEL_VLS, y / CHANNEL_VLS) &=
		~channel_bit(x % CHANNEL_VLS, y % CHANNEL_VLS);
}

void channel_order_init(struct channel_order *o, const struct switch_graph *g, const uint64_t *key)
{
	uint32_t n = g->narcs * CHANNEL_VLS;

	*o = (struct channel_order){.g = g};
	o->has = mem_zarray((size_t)g->narcs + 1, MAX(g->ports, 1u) * sizeof(*o->has));
	o->place = mem_array((size_t)n + 1, sizeof(*o->place));
	o->at = mem_array((size_t)n + 1, sizeof(*o->at));
	o->mark = mem_zarray((size_t)n + 1, sizeof(*o->mark));
	o->ahead = mem_array((size_t)n + 1, sizeof(*o->ahead));
	o->behind = mem_array((size_t)n + 1, sizeof(*o->behind));
	o->places = mem_array(2 * (size_t)n + 1, sizeof(*o->places));
	for (uint32_t c = 0; c < n; c++)
		o->at[c] = c;
	if (key)
		qsort_r(o->at, n, sizeof(*o->at), by_key, (void *)(uintptr_t)key);
	for (uint32_t i = 0; i < n; i++)
		o->place[o->at[i]] = i;
}

void channel_order_free(struct channel_order *o)
{
	free(o->has);
	free(o->place);
	free(o->at);
	free(o->mark);
	free(o->ahead);
	free(o->behind);
	free(o->places);
}
