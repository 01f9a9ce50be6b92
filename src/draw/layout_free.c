/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any island: distances in the drawing follow distances in hops. Distances to a number of pivots (all switches when
 * there are few) give the first places (pivot MDS, Brandes and Pich 2007), then each switch moves to where its
 * neighbours and the pivots want it (sparse stress, Ortmann, Klimenta and Brandes 2017), and circles around switches
 * with their hosts are pushed apart. State: struct spread, for one call. Way in: lay_free().
 */
#include <math.h>

#include "base/rng.h"
#include "draw/layout_free_priv.h"

enum {
	ALL_PIVOTS = 256, /* with so many switches all are pivots */
	MOST_PIVOTS = 64,
	MOST_TERMS = 4000000, /* in the table of distances */
	WORK = 12000000,      /* terms computed in all rounds together */
	POWER_ROUNDS = 60,
};

struct spread {
	struct lay_part *p;
	uint32_t n, npivots;
	uint32_t *pivot;
	uint16_t *dist; /* npivots x n, hops */
	double *weight; /* of a pivot: switches that it stands for */
	double *x, *y;
};

/* ---- pivots ---- */

static void distances(const struct lay_part *p, uint32_t from, uint16_t *dist, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	memset(dist, 0xff, p->n * sizeof(*dist));
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			if (dist[p->adj[k]] == UINT16_MAX) {
				dist[p->adj[k]] = (uint16_t)MIN(dist[s] + 1u, UINT16_MAX - 1u);
				queue[tail++] = p->adj[k];
			}
	}
}

/* Each pivot is the switch farthest from those before it. */
static void find_pivots(struct spread *d)
{
	uint32_t n = d->n, *queue = mem_array(n, sizeof(*queue)), next = 0;
	uint16_t *near = mem_array(n, sizeof(*near));

	memset(near, 0xff, n * sizeof(*near));
	for (uint32_t i = 0; i < d->npivots; i++) {
		uint16_t *dist = d->dist + (size_t)i * n;

		d->pivot[i] = next;
		distances(d->p, next, dist, queue);
		for (uint32_t s = 0; s < n; s++)
			near[s] = MIN(near[s], dist[s]);
		next = 0;
		for (uint32_t s = 0; s < n; s++)
			next = near[s] > near[next] ? s : next;
	}
	for (uint32_t s = 0; s < n; s++) { /* which pivot is nearest? */
		uint32_t best = 0;

		for (uint32_t i = 0; i < d->npivots; i++)
			if (d->dist[(size_t)i * n + s] < d->dist[(size_t)best * n + s])
				best = i;
		d->weight[best] += 1;
	}
	free(queue);
	free(near);
}

/* ---- first places ---- */

/* The table of squared distances, centred in both directions: row by pivot. */
static double *centred(const struct spread *d)
{
	uint32_t n = d->n, k = d->npivots;
	double *c = mem_array((size_t)n * k, sizeof(*c)), *row = mem_zarray(k, sizeof(*row)),
	       all = 0;
	double *col = mem_zarray(n, sizeof(*col));

	for (uint32_t i = 0; i < k; i++)
		for (uint32_t s = 0; s < n; s++) {
			double v = d->dist[(size_t)i * n + s];

			c[(size_t)i * n + s] = v * v;
			row[i] += v * v;
			col[s] += v * v;
			all += v * v;
		}
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t s = 0; s < n; s++)
			c[(size_t)i * n + s] -= row[i] / n + col[s] / k - all / n / k;
	free(row);
	free(col);
	return c;
}

static void to_length_1(double *v, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += v[i] * v[i];
	sum = sum > 0 ? sqrt(sum) : 1;
	for (uint32_t i = 0; i < n; i++)
		v[i] /= sum;
}

static void take_away(double *v, const double *other, uint32_t n)
{
	double dot = 0;

	for (uint32_t i = 0; i < n; i++)
		dot += v[i] * other[i];
	for (uint32_t i = 0; i < n; i++)
		v[i] -= dot * other[i];
}

/* out[] = c v, by switch */
static void project(const struct spread *d, const double *c, const double *v, double *out)
{
	memset(out, 0, d->n * sizeof(*out));
	for (uint32_t i = 0; i < d->npivots; i++)
		for (uint32_t s = 0; s < d->n; s++)
			out[s] += v[i] * c[(size_t)i * d->n + s];
}

/* A main axis of the table, at a right angle to `other`, by power iteration. */
static void find_axis(const struct spread *d, const double *c, double *v, const double *other,
		      double *out)
{
	for (uint32_t i = 0; i < d->npivots; i++)
		v[i] = (double)(hash64(i + (other ? 1000003 : 7)) % 2001) - 1000;
	for (int round = 0; round < POWER_ROUNDS; round++) {
		if (other)
			take_away(v, other, d->npivots);
		to_length_1(v, d->npivots);
		project(d, c, v, out);
		for (uint32_t i = 0; i < d->npivots; i++) {
			double sum = 0;

			for (uint32_t s = 0; s < d->n; s++)
				sum += out[s] * c[(size_t)i * d->n + s];
			v[i] = sum;
		}
	}
	if (other)
		take_away(v, other, d->npivots);
	to_length_1(v, d->npivots);
	project(d, c, v, out);
}

/* Hops between neighbours become 1 on average; what lies on one place is set apart a little. */
static void scale_to_hops(struct spread *d)
{
	const struct lay_part *p = d->p;
	double sum = 0;

	for (uint32_t s = 0; s < d->n; s++)
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++) {
			double dx = d->x[s] - d->x[p->adj[k]], dy = d->y[s] - d->y[p->adj[k]];

			sum += sqrt(dx * dx + dy * dy);
		}
	sum /= p->first[d->n] - p->first[0];
	for (uint32_t s = 0; s < d->n; s++) {
		uint64_t h = hash64(s);

		d->x[s] = (sum > 0 ? d->x[s] / sum : 0) + (double)(h % 1024) / 16384;
		d->y[s] = (sum > 0 ? d->y[s] / sum : 0) + (double)(h / 1024 % 1024) / 16384;
	}
}

static void first_places(struct spread *d)
{
	double *c = centred(d), *v = mem_array(d->npivots, 2 * sizeof(*v));

	find_axis(d, c, v, NULL, d->x);
	find_axis(d, c, v + d->npivots, v, d->y);
	scale_to_hops(d);
	free(c);
	free(v);
}

static void on_circle(struct spread *d)
{
	for (uint32_t s = 0; s < d->n; s++) {
		d->x[s] = d->n / 6.0 * lay_sin((double)s / d->n);
		d->y[s] = -(double)d->n / 6.0 * lay_cos((double)s / d->n);
	}
}

/* ---- stress ---- */

struct pull {
	double x, y, w;
};

/* s wants to be `hops` away from t. */
static void pull_to(const struct spread *d, uint32_t s, uint32_t t, double hops, double weight,
		    struct pull *u)
{
	double dx = d->x[s] - d->x[t], dy = d->y[s] - d->y[t], len = sqrt(dx * dx + dy * dy);
	double w = weight / (hops * hops), to = len > 1e-9 ? hops / len : 0;

	u->x += w * (d->x[t] + dx * to);
	u->y += w * (d->y[t] + dy * to);
	u->w += w;
}

static void settle(struct spread *d, uint32_t rounds)
{
	const struct lay_part *p = d->p;

	while (rounds-- > 0)
		for (uint32_t s = 0; s < d->n; s++) {
			struct pull u = {0, 0, 0};

			for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
				pull_to(d, s, p->adj[k], 1, 1, &u);
			for (uint32_t i = 0; i < d->npivots; i++) {
				uint32_t hops = d->dist[(size_t)i * d->n + s];

				if (hops > 1)
					pull_to(d, s, d->pivot[i], hops, d->weight[i], &u);
			}
			d->x[s] = u.x / u.w;
			d->y[s] = u.y / u.w;
		}
}

static double stress(const struct spread *d)
{
	double sum = 0;

	for (uint32_t i = 0; i < d->npivots; i++)
		for (uint32_t s = 0; s < d->n; s++) {
			double dx = d->x[s] - d->x[d->pivot[i]], dy = d->y[s] - d->y[d->pivot[i]];
			double hops = d->dist[(size_t)i * d->n + s], off;

			if (hops < 1)
				continue;
			off = sqrt(dx * dx + dy * dy) - hops;
			sum += d->weight[i] * off * off / (hops * hops);
		}
	return sum;
}

/* From both first places when there are few switches; the better result stays. */
static void spread_best(struct spread *d)
{
	uint64_t terms = (uint64_t)d->n * d->npivots + d->p->first[d->n] - d->p->first[0];
	uint32_t rounds = (uint32_t)MIN(MAX(WORK / terms, 8), 250);
	double *x = mem_array(d->n, sizeof(*x)), *y = mem_array(d->n, sizeof(*y)), first;

	first_places(d);
	settle(d, rounds);
	if (d->n <= ALL_PIVOTS) {
		first = stress(d);
		memcpy(x, d->x, d->n * sizeof(*x));
		memcpy(y, d->y, d->n * sizeof(*y));
		on_circle(d);
		settle(d, rounds);
		if (first <= stress(d)) {
			memcpy(d->x, x, d->n * sizeof(*x));
			memcpy(d->y, y, d->n * sizeof(*y));
		}
	}
	free(x);
	free(y);
}

/* ---- hosts ---- */

/* Hosts go where the fewest links leave: away from the mean direction of the neighbours. */
static void face_away(struct lay_part *p, uint32_t s)
{
	double ux = 0, uy = 0, len;

	for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++) {
		double dx = p->x[s] - p->x[p->adj[k]], dy = p->y[s] - p->y[p->adj[k]];

		len = sqrt(dx * dx + dy * dy);
		ux += len > 0 ? dx / len : 0;
		uy += len > 0 ? dy / len : 0;
	}
	len = sqrt(ux * ux + uy * uy);
	p->seat[s] = (struct lay_seat){.style = LAY_FAN, .ux = 0, .uy = 1};
	if (len > 0.1) {
		p->seat[s].ux = ux / len;
		p->seat[s].uy = uy / len;
	}
}

/* From hops to units: a hop is longer than two circles beside each other, and all circles fit into the whole. */
static void scale_to_units(struct lay_part *p)
{
	double cx = 0, cy = 0, spread = 0, mean = 0, area = 0, by;

	for (uint32_t s = 0; s < p->n; s++) {
		double disc = lay_disc(p->hosts[s]) + 0.3;

		cx += p->x[s] / p->n;
		cy += p->y[s] / p->n;
		mean += disc / p->n;
		area += disc * disc;
	}
	for (uint32_t s = 0; s < p->n; s++)
		spread +=
			((p->x[s] - cx) * (p->x[s] - cx) + (p->y[s] - cy) * (p->y[s] - cy)) / p->n;
	by = 2 * mean + 2.4;
	if (spread > 0) /* places spread evenly over a circle of radius 1 have 1/2 */
		by = MAX(by, sqrt(1.6 * area / (2 * spread)));
	for (uint32_t s = 0; s < p->n; s++) {
		p->x[s] = (p->x[s] - cx) * by;
		p->y[s] = (p->y[s] - cy) * by;
	}
}

void lay_free(struct lay_part *p)
{
	struct spread d = {.p = p, .n = p->n, .x = p->x, .y = p->y};

	d.npivots = p->n <= ALL_PIVOTS ? p->n : MIN(MOST_PIVOTS, MAX(MOST_TERMS / p->n, 4));
	d.pivot = mem_array(d.npivots, sizeof(*d.pivot));
	d.dist = mem_array((size_t)d.npivots * p->n, sizeof(*d.dist));
	d.weight = mem_zarray(d.npivots, sizeof(*d.weight));
	find_pivots(&d);
	spread_best(&d);
	free(d.pivot);
	free(d.dist);
	free(d.weight);
	scale_to_units(p);
	lay_push_apart(p);
	for (uint32_t s = 0; s < p->n; s++)
		face_away(p, s);
	p->out->shape = LAYOUT_FREE;
}
