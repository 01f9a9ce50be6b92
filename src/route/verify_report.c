/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the verifier found, as sentences. State: struct samples, of a walker or a run; the ways in
 * are sample_add() and problems_report(). Walks nothing: verify.c does.
 */
#include "route/verify_priv.h"

/* ---- samples: the smallest of each kind, whichever thread finds them ---- */

static bool sample_before(struct sample a, struct sample b)
{
	if (a.lid != b.lid)
		return a.lid < b.lid;
	if (a.sw != b.sw)
		return a.sw < b.sw;
	return a.in != b.in ? a.in < b.in : a.sl < b.sl;
}

void sample_add(struct samples *x, int kind, struct sample new)
{
	unsigned k = (unsigned)(UNASSIGNED - kind), i;

	for (i = x->n[k]; i > 0 && sample_before(new, x->at[k][i - 1]); i--)
		if (i < SAMPLES)
			x->at[k][i] = x->at[k][i - 1];
	if (i < SAMPLES)
		x->at[k][i] = new;
	x->n[k] = MIN(x->n[k] + 1, (uint32_t)SAMPLES);
}

/* ---- sentences ---- */

static void text_port(const struct fab *f, struct strbuf *b, port_id p)
{
	char id[32];

	fab_node_ident(f, f->ports[p].node, id);
	strbuf_addf(b, "%s[%u]", id, f->ports[p].num);
}

static void text_loop(const struct verifier *v, struct strbuf *b, struct sample x)
{
	uint32_t s = x.sw;

	strbuf_add(b, "loops: ");
	do {
		unsigned port = rt_row(v->t, s)[x.lid];

		text_port(v->f, b, v->first[s] + port);
		strbuf_add(b, " -> ");
		s = v->behind[v->first[s] + port];
	} while (s != x.sw && b->len < 256);
	strbuf_add(b, "...");
}

static void text_sample(const struct verifier *v, struct strbuf *b, int kind, struct sample x)
{
	unsigned port = x.lid <= v->t->top_lid ? rt_row(v->t, x.sw)[x.lid] : IBA_PORT_NONE;
	uint32_t behind;
	char id[32];

	fab_node_ident(v->f, v->f->switches[x.sw], id);
	strbuf_addf(b, "LID %u (", x.lid);
	text_port(v->f, b, v->lid_port[x.lid]);
	strbuf_add(b, "): ");
	switch (kind) {
	case UNASSIGNED:
		strbuf_addf(b, "no entry in %s", id);
		break;
	case DEAD:
		strbuf_addf(b, "%s sends it to port %u, where nothing is connected", id, port);
		break;
	case WRONG:
		behind = v->behind[v->first[x.sw] + port];
		strbuf_addf(b, "%s[%u] delivers it to ", id, port);
		text_port(v->f, b, behind & ~BEHIND_PORT);
		break;
	case LOOP:
		text_loop(v, b, x);
		break;
	case TURN:
		strbuf_addf(b, "turns up after down at %s (port %u)", id, port);
		break;
	case DISCARDED:
		strbuf_addf(b, "%s discards SL %u from port %u to port %u: no VL", id, x.sl, x.in,
			    port);
		break;
	}
}

static void text_cycle(const struct verifier *v, struct strbuf *b, const struct rt_report *r)
{
	strbuf_add(b, "credit loop: ");
	for (size_t i = 0; i <= r->cycle.n && b->len < 256; i++) {
		if (i)
			strbuf_add(b, " -> ");
		text_port(v->f, b, r->cycle.at[i % r->cycle.n].port);
		if (v->t->lanes)
			strbuf_addf(b, " VL %u", r->cycle.at[i % r->cycle.n].vl);
	}
}

static void problem_add(struct rt_report *r, struct strbuf *b)
{
	size_t room = sizeof(r->problem[0]) - 1;

	if (r->nproblems < ARRAY_LEN(r->problem)) {
		char *to = r->problem[r->nproblems++];

		memcpy(to, b->s, MIN(b->len, room) + 1);
		if (b->len > room)
			memcpy(to + room - 3, "...", 4);
	}
	strbuf_free(b);
}

/* One of each kind first, then second ones while there is room. */
void problems_report(const struct verifier *v, const struct samples *x, struct rt_report *r)
{
	struct strbuf b = {0};

	if (v->no_lid) {
		text_port(v->f, &b, v->no_lid_first);
		strbuf_addf(&b, " has no LID");
		if (v->no_lid > 1)
			strbuf_addf(&b, ", and %u other connected ports have none", v->no_lid - 1);
		problem_add(r, &b);
	}
	if (r->cycles) {
		text_cycle(v, &b, r);
		problem_add(r, &b);
	}
	for (uint32_t i = 0; i < SAMPLES; i++)
		for (int k = 0; k < NKINDS; k++)
			if (i < x->n[k]) {
				text_sample(v, &b, UNASSIGNED - k, x->at[k][i]);
				problem_add(r, &b);
			}
}
