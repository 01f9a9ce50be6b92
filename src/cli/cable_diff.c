/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of cables. State: none. Way in: cable_diff(). Knows links by their ends alone: a device that was exchanged for
 * another one has another GUID, and its cables are gone.
 */
#include "cli/cable_diff.h"

/* An end of a link that one side lacks. */
struct end_of {
	struct cable_end at;
	size_t item;
	bool second; /* it is b of the item */
};
typedef VEC(struct end_of) end_list;

static int end_order(const struct cable_end *x, const struct cable_end *y)
{
	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static int by_end(const void *a, const void *b)
{
	return end_order(&((const struct end_of *)a)->at, &((const struct end_of *)b)->at);
}

static void ends_list(const fab_diff_list *d, enum fab_diff_kind kind, end_list *out)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct fab_diff_item *x = &d->at[i];

		if (x->kind != kind)
			continue;
		vec_push(out, (struct end_of){{x->guid_a, x->port_a}, i, false});
		vec_push(out, (struct end_of){{x->guid_b, x->port_b}, i, true});
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_end);
}

static const struct end_of *end_find(const end_list *l, const struct cable_end *e)
{
	const struct end_of want = {.at = *e};

	return l->n ? bsearch(&want, l->at, l->n, sizeof(*l->at), by_end) : NULL;
}

static struct cable_end far_end(const fab_diff_list *d, const struct end_of *e)
{
	const struct fab_diff_item *x = &d->at[e->item];

	return e->second ? (struct cable_end){x->guid_a, x->port_a}
			 : (struct cable_end){x->guid_b, x->port_b};
}

struct finder {
	fab_diff_list *d;
	end_list gone, added;
	bool *explained; /* by item */
	cable_list *out;
};

/* The cable from a to b is now at a and c. The port c had a cable to e: is that one at b now? */
static bool swap_find(struct finder *f, struct cable_end a, struct cable_end b, struct cable_end c,
		      const struct end_of *now)
{
	const struct end_of *was = end_find(&f->gone, &c), *other;
	struct cable_end e;

	if (!was || f->explained[was->item])
		return false;
	e = far_end(f->d, was);
	other = end_find(&f->added, &e);
	if (!other || f->explained[other->item] || other->item == now->item)
		return false;
	if (end_order(&(struct cable_end){far_end(f->d, other).guid, far_end(f->d, other).port},
		      &b))
		return false;
	f->explained[was->item] = f->explained[other->item] = true;
	vec_push(f->out, (struct cable_item){.fate = CABLE_SWAPPED,
					     .was = {{a, b}, {e, c}},
					     .now = {{a, c}, {e, b}}});
	return true;
}

/* One end of a cable that is gone: where does it lead now? */
static bool end_explain(struct finder *f, size_t item, struct cable_end a, struct cable_end b)
{
	const struct end_of *now = end_find(&f->added, &a);
	struct cable_end c;

	if (!now || f->explained[now->item])
		return false;
	c = far_end(f->d, now);
	if (!swap_find(f, a, b, c, now)) {
		if (end_find(&f->gone,
			     &c)) /* that port lost a cable, too: a third one is involved */
			return false;
		vec_push(f->out, (struct cable_item){
					 .fate = CABLE_MOVED, .was = {{a, b}}, .now = {{a, c}}});
	}
	f->explained[item] = f->explained[now->item] = true;
	return true;
}

static void explain(struct finder *f)
{
	for (size_t i = 0; i < f->d->n; i++) {
		const struct fab_diff_item *x = &f->d->at[i];
		struct cable_end a = {x->guid_a, x->port_a}, b = {x->guid_b, x->port_b};

		if (x->kind == FAB_LINK_GONE && !f->explained[i] && !end_explain(f, i, a, b))
			end_explain(f, i, b, a);
	}
}

static void explained_drop(struct finder *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->d->n; i++)
		if (!f->explained[i])
			f->d->at[kept++] = f->d->at[i];
	f->d->n = kept; /* links have no text to free */
}

/* ---- rates ---- */

static uint64_t rate(const struct fab_port *p)
{
	return p->width * fab_lane_bps(p->speed);
}

static void rates_compare(const struct fab *before, const struct fab *after, cable_list *out)
{
	for (port_id p = 0; p < before->nports; p++) {
		const struct fab_port *x = &before->ports[p], *y, *z;
		node_id n = fab_node_by_guid(after, before->nodes[x->node].guid);
		struct cable_item it = {.fate = CABLE_SLOWER};

		if (x->peer == FAB_NONE || x->peer < p || n == FAB_NONE ||
		    x->num > after->nodes[n].nports)
			continue;
		y = &after->ports[fab_port_id(after, n, x->num)];
		z = &before->ports[x->peer];
		if (y->peer == FAB_NONE || !rate(x) || !rate(y) || rate(x) == rate(y) ||
		    after->nodes[after->ports[y->peer].node].guid != before->nodes[z->node].guid ||
		    after->ports[y->peer].num != z->num)
			continue;
		it.fate = rate(y) < rate(x) ? CABLE_SLOWER : CABLE_FASTER;
		it.was[0] = (struct cable){{before->nodes[x->node].guid, x->num},
					   {before->nodes[z->node].guid, z->num}};
		snprintf(it.text, sizeof(it.text), "%ux%s -> %ux%s", x->width,
			 fab_speed_name(x->speed), y->width, fab_speed_name(y->speed));
		vec_push(out, it);
	}
}

void cable_diff(const struct fab *before, const struct fab *after, fab_diff_list *diff,
		cable_list *out)
{
	struct finder f = {.d = diff, .out = out};

	f.explained = mem_zarray(diff->n + 1, sizeof(bool));
	ends_list(diff, FAB_LINK_GONE, &f.gone);
	ends_list(diff, FAB_LINK_ADDED, &f.added);
	explain(&f);
	explained_drop(&f);
	rates_compare(before, after, out);
	free(f.explained);
	vec_free(&f.gone);
	vec_free(&f.added);
}
