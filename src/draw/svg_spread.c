/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions of switches that do not form a tree: distances in the drawing follow distances in hops (stress
 * majorisation). State: struct spread, for one call. Way in: pic_spread(). Does not use floating point, so that
 * every machine draws the same.
 */
#include "draw/svg_priv.h"

enum {
	UNIT = 64,	      /* steps in a pixel, for computing */
	HALF_HOP = 55 * UNIT, /* length of half a hop in the drawing */
	MOST = 300,	      /* more switches than this are drawn on a circle */
	WEIGHT = 1 << 14,
};

struct spread {
	struct pic *p;
	uint32_t n;
	uint16_t *dist; /* n x n, in halves of a hop */
	int64_t *x, *y;
};

static bool adjacent(const struct pic *p, uint32_t u, uint32_t v)
{
	for (uint32_t k = p->first[u]; k < p->first[u + 1]; k++)
		if (p->adj[k] == v)
			return true;
	return false;
}

static bool in_triangle(const struct pic *p, uint32_t u, uint32_t v)
{
	for (uint32_t k = p->first[u]; k < p->first[u + 1]; k++)
		if (p->adj[k] != v && adjacent(p, p->adj[k], v))
			return true;
	return false;
}

/* Where many links are part of a triangle, the others connect groups (the global links of a dragonfly):
 * drawn longer, they make the groups visible. Lengths are in halves of a hop. */
static void measure_links(struct spread *s)
{
	uint32_t all = s->p->first[s->n], inside = 0;
	uint8_t *tri = mem_zarray(all, 1);
	unsigned bridge;

	for (uint32_t u = 0; u < s->n; u++)
		for (uint32_t k = s->p->first[u]; k < s->p->first[u + 1]; k++)
			inside += tri[k] = in_triangle(s->p, u, s->p->adj[k]);
	bridge = inside * 3 >= all ? 6 : 2;
	memset(s->dist, 0xff, (size_t)s->n * s->n * sizeof(*s->dist));
	for (uint32_t u = 0; u < s->n; u++) {
		s->dist[(size_t)u * s->n + u] = 0;
		for (uint32_t k = s->p->first[u]; k < s->p->first[u + 1]; k++)
			s->dist[(size_t)u * s->n + s->p->adj[k]] = (uint16_t)(tri[k] ? 2 : bridge);
	}
	free(tri);
}

/* All distances from the lengths of links (Floyd-Warshall); disconnected parts are kept apart. */
static void measure(struct spread *s)
{
	uint32_t n = s->n, far = 0;

	measure_links(s);
	for (uint32_t k = 0; k < n; k++) {
		const uint16_t *dk = s->dist + (size_t)k * n;

		for (uint32_t i = 0; i < n; i++) {
			uint16_t *di = s->dist + (size_t)i * n;
			uint32_t ik = di[k];

			for (uint32_t j = 0; j < n && ik != UINT16_MAX; j++)
				if (ik + dk[j] < di[j])
					di[j] = (uint16_t)(ik + dk[j]);
		}
	}
	for (size_t i = 0; i < (size_t)n * n; i++)
		if (s->dist[i] != UINT16_MAX)
			far = MAX(far, s->dist[i]);
	for (size_t i = 0; i < (size_t)n * n; i++)
		s->dist[i] = MIN(s->dist[i], (uint16_t)(far / 2 + 6));
}

/* sin(d/2^16 turns) times 2^14, by a quotient of parabolas: within 0.2 %. */
static int64_t sine(uint32_t turn)
{
	int64_t x = turn & 0x7fff, q = x * (0x8000 - x), sign = turn & 0x8000 ? -1 : 1;

	return sign * 16384 * 4 * q * 4 / (5 * ((int64_t)1 << 30) - 4 * q);
}

static void on_circle(struct spread *s, int64_t radius)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t turn = (uint32_t)((uint64_t)i * 65536 / s->n);

		s->x[i] = radius * sine(turn) / 16384;
		s->y[i] = -radius * sine(turn + 0x4000) / 16384;
	}
}

/* The switch farthest from `from`; the first of several. */
static uint32_t farthest(const struct spread *s, uint32_t from, uint32_t also)
{
	uint32_t best = 0, most = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t a = s->dist[(size_t)from * s->n + i], b = s->dist[(size_t)also * s->n + i];

		if (MIN(a, b) > most) {
			most = MIN(a, b);
			best = i;
		}
	}
	return best;
}

/* Two pairs of distant switches define the axes; a small offset separates equal positions. */
static void on_axes(struct spread *s)
{
	uint32_t a = farthest(s, 0, 0), b = farthest(s, a, a), c = farthest(s, a, b);
	uint32_t d = farthest(s, c, c);
	const uint16_t *da = s->dist + (size_t)a * s->n, *db = s->dist + (size_t)b * s->n;
	const uint16_t *dc = s->dist + (size_t)c * s->n, *dd = s->dist + (size_t)d * s->n;

	for (uint32_t i = 0; i < s->n; i++) {
		s->x[i] = (int64_t)(da[i] - db[i]) * HALF_HOP / 2 +
			  (int64_t)(i * 37 % 101) * UNIT / 4;
		s->y[i] = (int64_t)(dc[i] - dd[i]) * HALF_HOP / 2 +
			  (int64_t)(i * 53 % 103) * UNIT / 4;
	}
}

/* Move switch i to the position that fits its distances to the others. */
static void pull(struct spread *s, uint32_t i)
{
	int64_t sx = 0, sy = 0, sw = 0;

	for (uint32_t j = 0; j < s->n; j++) {
		int64_t d = s->dist[(size_t)i * s->n + j], w, dx, dy, len;

		if (j == i)
			continue;
		w = MAX(WEIGHT / (d * d), 1);
		dx = s->x[i] - s->x[j];
		dy = s->y[i] - s->y[j];
		len = pic_isqrt((uint64_t)(dx * dx + dy * dy));
		if (!len) {
			dx = i < j ? 1 : -1;
			len = 1;
		}
		sx += w * (s->x[j] + d * HALF_HOP * dx / len);
		sy += w * (s->y[j] + d * HALF_HOP * dy / len);
		sw += w;
	}
	s->x[i] = sx / sw;
	s->y[i] = sy / sw;
}

static uint64_t stress(const struct spread *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t j = 0; j < i; j++) {
			int64_t dx = s->x[i] - s->x[j], dy = s->y[i] - s->y[j];
			int64_t d = s->dist[(size_t)i * s->n + j];
			int64_t off = pic_isqrt((uint64_t)(dx * dx + dy * dy)) - d * HALF_HOP;

			sum += (uint64_t)(off * off / (d * d)) >> 8;
		}
	return sum;
}

static uint64_t settle(struct spread *s)
{
	uint64_t rounds = 6000000 / ((uint64_t)s->n * s->n);

	rounds = MIN(MAX(rounds, 20), 300);
	for (uint64_t r = 0; r < rounds; r++)
		for (uint32_t i = 0; i < s->n; i++)
			pull(s, i);
	return stress(s);
}

/* ---- scaling ---- */

/* Space for two boxes side by side, or one below the other with hosts between them. */
static void enlarge(struct spread *s)
{
	int64_t scale = 256; /* in 1/256 */

	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t j = 0; j < i; j++) {
			int64_t dx = llabs(s->x[i] - s->x[j]), dy = llabs(s->y[i] - s->y[j]);
			int64_t far = MAX(dx, dy * 3 / 2);

			if (far * scale / 256 < 78 * UNIT)
				scale = MIN(78 * UNIT * 256 / MAX(far, 1), 1024);
		}
	for (uint32_t i = 0; i < s->n; i++) {
		s->x[i] = s->x[i] * scale / 256;
		s->y[i] = s->y[i] * scale / 256;
	}
}

static void put_down(struct spread *s)
{
	int64_t left = INT64_MAX, top = INT64_MAX;
	int edge = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		node_id sw = s->p->f->switches[i];

		left = MIN(left, s->x[i]);
		top = MIN(top, s->y[i]);
		edge = MAX(edge, MAX(s->p->half[sw],
				     (int)pic_host_cols(s->p->nhosts[sw]) * PIC_CELL / 2));
	}
	for (uint32_t i = 0; i < s->n; i++) {
		node_id sw = s->p->f->switches[i];

		s->p->x[sw] = (int)((s->x[i] - left) / UNIT) + PIC_MARGIN + edge;
		s->p->y[sw] = (int)((s->y[i] - top) / UNIT) + PIC_HEAD + 30;
	}
}

/* In a full mesh no position is better than another, but a circle is easiest to read. */
static bool all_joined(const struct spread *s)
{
	for (size_t i = 0; i < (size_t)s->n * s->n; i++)
		if (s->dist[i] > 2)
			return false;
	return true;
}

static void spread_best(struct spread *s)
{
	size_t bytes = s->n * sizeof(*s->x);
	int64_t *x = mem_alloc(bytes), *y = mem_alloc(bytes);
	uint64_t circle, axes;

	s->dist = mem_array((size_t)s->n * s->n, sizeof(*s->dist));
	measure(s);
	on_circle(s, MAX((int64_t)s->n * HALF_HOP / 4, HALF_HOP * 3 / 2));
	circle = all_joined(s) ? 0 : settle(s);
	memcpy(x, s->x, bytes);
	memcpy(y, s->y, bytes);
	on_axes(s);
	axes = circle ? settle(s) : 0;
	if (circle <= axes + axes / 64) { /* the circle wins a tie */
		memcpy(s->x, x, bytes);
		memcpy(s->y, y, bytes);
	}
	free(x);
	free(y);
	free(s->dist);
}

void pic_spread(struct pic *p)
{
	struct spread s = {.p = p, .n = p->f->nswitches};

	s.x = mem_zarray(s.n, sizeof(*s.x));
	s.y = mem_zarray(s.n, sizeof(*s.y));
	if (s.n > MOST) {
		on_circle(&s, (int64_t)s.n * 50 * UNIT / 6);
	} else {
		spread_best(&s);
		enlarge(&s);
	}
	put_down(&s);
	free(s.x);
	free(s.y);
}
