/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier with several lanes. State: struct lane_walk, of one walker; the way in is
 * lane_walk_lid(). Does not count routes or loads: verify.c does.
 *
 * On its way to one LID a packet's future depends on where it came in and on its SL alone. So routes
 * that meet are followed once: what is known of (port where it came in, SL) is never walked again.
 */
#include "route/verify_priv.h"

struct lane_walk *lane_walk_new(const struct fab *f)
{
	struct lane_walk *l = mem_zalloc(sizeof(*l));

	l->seen = mem_array(f->nports, sizeof(*l->seen));
	l->lost = mem_array(f->nports, sizeof(*l->lost));
	l->path = mem_array(f->nports, sizeof(*l->path));
	return l;
}

void lane_walk_free(struct lane_walk *l)
{
	if (!l)
		return;
	free(l->seen);
	free(l->lost);
	free(l->path);
	free(l);
}

/* The VL by which a packet leaves switch s, RT_VL_NONE when the switch discards it. A packet to the
 * switch itself, or to nothing, takes no link and so needs none. */
static unsigned vl_out(const struct verifier *v, const struct walker *w, uint32_t s, unsigned in,
		       unsigned sl)
{
	unsigned out = w->out[s] - v->first[s], vl;

	if (w->next[s] == BEHIND_NOTHING || !out)
		return 0;
	vl = rt_vl(v->t, s, in, out, sl);
	return vl < v->t->lanes->nvls ? vl : RT_VL_NONE;
}

/*
 * Follow a packet that comes in at port `in` of switch s until it leaves, is discarded or comes to
 * what is known; add what it holds and waits for on the way. Returns whether it is discarded.
 */
static bool follow(struct verifier *v, struct walker *w, uint32_t s, unsigned in, unsigned sl,
		   uint32_t lid)
{
	struct lane_walk *l = w->lanes;
	uint16_t bit = (uint16_t)(1u << sl);
	unsigned held_vl = RT_VL_NONE;
	port_id held = FAB_NONE;
	uint32_t n = 0;
	bool lost;

	for (;;) {
		port_id at = v->first[s] + in;
		unsigned vl = vl_out(v, w, s, in, sl);

		if (held != FAB_NONE && vl != RT_VL_NONE && is_switch_index(w->next[s]))
			cdg_add(&v->cdg, held, held_vl, w->out[s] - v->first[s], vl);
		lost = l->lost[at] & bit;
		if (l->seen[at] & bit)
			break;
		l->seen[at] |= bit;
		l->path[n++] = at;
		lost = vl == RT_VL_NONE;
		if (lost)
			sample_add(&w->samples, DISCARDED,
				   (struct sample){lid, s, (uint8_t)in, (uint8_t)sl});
		if (lost || !is_switch_index(w->next[s]))
			break;
		held = w->out[s];
		held_vl = vl;
		in = v->f->ports[v->f->ports[held].peer].num;
		s = w->next[s];
	}
	while (lost && n)
		l->lost[l->path[--n]] |= bit;
	return lost;
}

/* Whether packets to dest enter the subnet at port `in` of switch s. */
static bool is_ingress(const struct verifier *v, uint32_t s, unsigned in, port_id dest)
{
	uint32_t behind = v->behind[v->first[s] + in];
	port_id sender = behind & ~BEHIND_PORT;

	if (!in)
		return v->speaks[s] && dest != v->first[s];
	return behind != BEHIND_NOTHING && behind & BEHIND_PORT && v->f->ports[sender].lid &&
	       sender != dest;
}

void lane_walk_lid(struct verifier *v, struct walker *w, uint32_t lid)
{
	const struct fab *f = v->f;
	port_id dest = v->lid_port[lid];

	memset(w->lanes->seen, 0, f->nports * sizeof(*w->lanes->seen));
	memset(w->lanes->lost, 0, f->nports * sizeof(*w->lanes->lost));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		if (!v->hosts[s] && !v->speaks[s])
			continue;
		for (unsigned in = 0; in <= v->nports[s]; in++)
			if (is_ingress(v, s, in, dest) &&
			    follow(v, w, s, in, rt_sl(v->t, s, in, lid), lid))
				w->discarded += w->end[s] >= 0;
	}
}
