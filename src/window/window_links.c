/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links of the FABRIC frame, and cables that move during a run. State: the links of struct window_fabric. Way in:
 * window_links_number(), window_links_follow(). Does not make the fabric: window_fabric.c does.
 */
#include "window/window_priv.h"

void window_fabric_free(struct window *w)
{
	struct window_fabric *wf = &w->fabric;

	if (wf->fab != wf->base)
		fab_free(wf->fab);
	fab_free(wf->base);
	vec_free(&wf->links);
	free(wf->link_of);
	wf->fab = wf->base = NULL;
	wf->link_of = NULL;
}

static void add_link(struct window_fabric *wf, port_id a, port_id b)
{
	wf->link_of[a] = wf->link_of[b] = (uint32_t)wf->links.n;
	vec_push(&wf->links, (struct window_link){a, b});
}

void window_links_number(struct window *w)
{
	struct window_fabric *wf = &w->fabric;
	const struct fab *f = wf->fab;

	wf->version++;
	wf->links.n = 0;
	free(wf->link_of);
	wf->link_of = mem_array(f->nports, sizeof(*wf->link_of));
	memset(wf->link_of, 0xff, f->nports * sizeof(*wf->link_of));
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && f->ports[p].peer > p)
			add_link(wf, p, f->ports[p].peer);
}

void window_fabric_extend(struct window *w, struct fab *f)
{
	struct window_fabric *wf = &w->fabric;

	if (wf->fab != wf->base)
		fab_free(wf->fab);
	wf->fab = f ? f : wf->base;
	window_links_number(w);
}

static bool joins(struct window_link l, port_id a, port_id b)
{
	return (l.a == a && l.b == b) || (l.a == b && l.b == a);
}

/* Links of the fabric come first; the others are few. */
static uint32_t find_link(const struct window_fabric *wf, port_id a, port_id b)
{
	for (size_t i = wf->links.n; i--;)
		if (joins(wf->links.at[i], a, b))
			return (uint32_t)i;
	return FAB_NONE;
}

bool window_links_follow(struct window *w)
{
	struct window_fabric *wf = &w->fabric;
	size_t before = wf->links.n;

	for (port_id p = 0; p < wf->fab->nports; p++) {
		port_id q = sim_port_peer(w->run->sim, p);
		uint32_t l;

		if (q == FAB_NONE || q < p ||
		    (wf->link_of[p] != FAB_NONE && joins(wf->links.at[wf->link_of[p]], p, q)))
			continue;
		l = find_link(wf, p, q);
		if (l == FAB_NONE)
			add_link(wf, p, q);
		else
			wf->link_of[p] = wf->link_of[q] = l;
	}
	if (wf->links.n > before)
		wf->version++;
	return wf->links.n > before;
}
