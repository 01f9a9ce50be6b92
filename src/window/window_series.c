/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures over time: one sample for each interval of the run. State: struct window_series. Way in:
 * window_series_begin(). Does not change the run, except for its number of events.
 */
#include "window/window_priv.h"

#define PERIOD (100 * PS_PER_US)

/* Of a scan: above 2,000 hosts not all of them are destinations. */
enum { SCAN_PAIRS = 4000000 };
/* In a subnet at rest there are few events: so many are counted for each sample, or the last scan would be shown for long. */
enum { SAMPLE_EVENTS = 500 };

static const char *const names[WINDOW_NVALUES] = {
	[WINDOW_SMPS_SENT] = "SMPs",	  [WINDOW_DELIVERED] = "delivered",
	[WINDOW_LOST] = "lost",		  [WINDOW_CONNECTIVITY] = "connectivity",
	[WINDOW_IN_FLIGHT] = "in flight",
};

void window_series_names(struct json *reply)
{
	char text[100];

	json_open(reply, "phases", '[');
	for (unsigned i = 0; i < SM_NPHASES; i++)
		json_str(reply, NULL, sm_phase_name((enum sm_phase)i));
	json_close(reply);
	json_open(reply, "series", '[');
	for (unsigned i = 0; i < WINDOW_NVALUES; i++) {
		if (i < WINDOW_LOST_FIRST || i > WINDOW_LOST_LAST) {
			json_str(reply, NULL, names[i]);
			continue;
		}
		snprintf(text, sizeof(text), "lost: %s",
			 sim_discard_name((enum sim_discard)(i - WINDOW_LOST_FIRST)));
		json_str(reply, NULL, text);
	}
	json_close(reply);
}

static void count(const struct window_run *r, uint64_t *now)
{
	const struct sim_plane_stats *st = sim_plane_stats(r->sim);

	memset(now, 0, WINDOW_NVALUES * sizeof(*now));
	now[WINDOW_SMPS_SENT] = sim_stats(r->sim)->sent;
	if (!st)
		return;
	now[WINDOW_DELIVERED] = st->delivered;
	for (unsigned i = 0; i < SIM_NDISCARDS; i++) {
		now[WINDOW_LOST_FIRST + i] = st->discarded[i];
		now[WINDOW_LOST] += st->discarded[i];
	}
}

/* For each event that is run, ten table entries may be read, or as much done: all machines scan at the same moments, and scans take a
 * bounded share of the time. */
static float connectivity(struct window_run *r)
{
	struct window_series *s = &r->series;
	uint64_t events = schedule_play_events(r->play), before;

	if (!s->scan) {
		s->scan = lab_scan_new(r->lab);
		lab_scan_connectivity(s->scan, SCAN_PAIRS);
	}
	if (s->changed && events + SAMPLE_EVENTS * s->waited++ >= s->scan_from) {
		before = lab_scan_cost(s->scan);
		lab_scan_run(s->scan, &s->levels);
		s->scan_from = events + (lab_scan_cost(s->scan) - before) / 10;
		s->changed = false;
		s->waited = 0;
	}
	return (float)s->levels.connectivity / 10000;
}

static struct window_sample *new_sample(struct window_series *s)
{
	if (!s->kept)
		s->kept = mem_array(WINDOW_SAMPLES, sizeof(*s->kept));
	if (s->nkept < WINDOW_SAMPLES)
		return &s->kept[(s->first + s->nkept++) % WINDOW_SAMPLES];
	s->first = (s->first + 1) % WINDOW_SAMPLES;
	return &s->kept[(s->first + WINDOW_SAMPLES - 1) % WINDOW_SAMPLES];
}

static void take_sample(struct window_run *r)
{
	struct window_series *s = &r->series;
	struct window_sample *x = new_sample(s);
	uint64_t now[WINDOW_NVALUES];

	window_lanes_look(r);
	count(r, now);
	x->at = sim_now(r->sim);
	for (unsigned i = 0; i <= WINDOW_LOST_LAST; i++)
		x->value[i] = (float)(now[i] - s->counted[i]);
	memcpy(s->counted, now, sizeof(s->counted));
	x->value[WINDOW_CONNECTIVITY] = connectivity(r);
	x->value[WINDOW_IN_FLIGHT] =
		r->schedule.traffic ? (float)sim_plane_stats(r->sim)->in_flight : 0;
	if (r->mode != WINDOW_GOING)
		s->unshown = MIN(s->unshown + 1, s->nkept);
}

static void on_time(void *ctx, uint64_t cookie)
{
	struct window_run *r = ctx;

	(void)cookie;
	take_sample(r);
	sim_call(r->sim, sim_now(r->sim) + PERIOD, on_time, r, 0);
}

static void on_change(void *ctx, node_id n, enum sim_change what)
{
	struct window_run *r = ctx;

	(void)n;
	(void)what;
	r->series.changed = true;
}

void window_series_begin(struct window_run *r)
{
	r->series.changed = true;
	sim_watch_changes(r->sim, (struct sim_change_watch){on_change, r});
	sim_call(r->sim, PERIOD, on_time, r, 0);
}

void window_series_free(struct window_run *r)
{
	lab_scan_free(r->series.scan);
	free(r->series.kept);
}

/* The newest n samples. */
static void emit(struct window *w, uint32_t n, unsigned flags)
{
	const struct window_series *s = &w->run->series;
	struct window_out o = {0};

	window_frame_begin(&o, WINDOW_SERIES);
	o.at[5] = (uint8_t)flags;
	for (uint32_t i = s->nkept - n; i < s->nkept; i++) {
		const struct window_sample *x = &s->kept[(s->first + i) % WINDOW_SAMPLES];

		window_put_u64(&o, x->at);
		for (unsigned k = 0; k < WINDOW_NVALUES; k++)
			window_put_f32(&o, x->value[k]);
	}
	window_frame_emit(w, &o);
}

void window_series_emit(struct window *w)
{
	struct window_series *s = &w->run->series;

	if (s->unshown)
		emit(w, s->unshown, 0);
	s->unshown = 0;
}

int window_cmd_series(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	(void)args;
	if (!window_run_on(w, e))
		return -EINVAL;
	window_series_names(reply);
	json_u64(reply, "samples", w->run->series.nkept);
	window_journal_write(w, reply);
	window_lanes_write(w->run, reply);
	emit(w, w->run->series.nkept, 1);
	w->run->series.unshown = 0;
	return 0;
}
