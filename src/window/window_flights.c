/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs and data packets on links, as a sample for the page. State: struct window_flights. Way in:
 * window_flights_begin(). Does not watch what nodes do with them: window_log.c does.
 */
#include "window/window_priv.h"

/* One in 2^shift is kept; when there is no room, every second one goes. */
void window_flights_add(struct window_flights *f, const struct window_flight *x)
{
	if (f->seen++ & ((1ull << f->shift) - 1))
		return;
	if (!f->at)
		f->at = mem_array(WINDOW_FLIGHTS, sizeof(*f->at));
	if (f->n == WINDOW_FLIGHTS) {
		for (uint32_t i = 0; i < WINDOW_FLIGHTS / 2; i++)
			f->at[i] = f->at[2 * i];
		f->n = WINDOW_FLIGHTS / 2;
		f->shift++;
	}
	f->at[f->n++] = *x;
}

static void on_hop(void *ctx, const struct sim_hop *h)
{
	struct window *w = ctx;
	struct window_run *r = w->run;
	uint32_t link = w->fabric.link_of[h->from];
	struct window_flight x = {.start = h->start, .end = h->end, .link = link};

	window_busy_begin(w);
	r->busy[h->from] += h->end - h->start;
	if (h->smp) {
		x.seq = window_log_hop(w, h);
		x.method = (uint8_t)iba_smp_method(h->smp->mad);
		x.attribute = iba_smp_attr_id(h->smp->mad);
	} else {
		x.seq = (uint32_t)r->packets++;
		x.method = h->vl;
		x.attribute = h->dlid;
	}
	if (link == FAB_NONE || r->mode == WINDOW_GOING)
		return;
	x.direction = w->fabric.links.at[link].a != h->from;
	window_flights_add(&r->flights[!h->smp], &x);
}

void window_flights_begin(struct window *w)
{
	sim_watch_hops(w->run->sim, (struct sim_hop_watch){on_hop, w});
}

void window_flights_emit(struct window *w, struct window_flights *f, enum window_frame kind)
{
	struct window_out o = {0};

	if (f->n) {
		window_frame_begin(&o, kind);
		o.at[5] = (uint8_t)MIN(f->shift, 255u);
		for (uint32_t i = 0; i < f->n; i++) {
			const struct window_flight *x = &f->at[i];

			window_put_u64(&o, x->start);
			window_put_u32(&o, (uint32_t)MIN((x->end - x->start) / PS_PER_NS,
							 (time_ps)UINT32_MAX));
			window_put_u32(&o, x->link);
			window_put_u8(&o, x->direction);
			window_put_u8(&o, x->method);
			window_put_u16(&o, x->attribute);
			window_put_u32(&o, x->seq);
		}
		window_frame_emit(w, &o);
	}
	f->n = f->shift = 0;
	f->seen = 0;
}

void window_flights_free(struct window_run *r)
{
	free(r->flights[0].at);
	free(r->flights[1].at);
}
