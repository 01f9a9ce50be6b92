/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects the states of managers over time and draws them. State: struct replay_drawing. Way in: replay_drawing_*().
 * Does not run anything, and does not choose what is marked.
 */
#include "cli/replay_drawing.h"

/* States of a manager in the drawing: those of IBA, then those of its process. */
enum { STOPPED = IBA_SM_MASTER + 1, PAUSED, NSTATES };

static const char *const state_names[NSTATES] = {
	[IBA_SM_NOT_ACTIVE] = "NotActive", [IBA_SM_DISCOVERING] = "Discovering",
	[IBA_SM_STANDBY] = "Standby",	   [IBA_SM_MASTER] = "Master",
	[STOPPED] = "not running",	   [PAUSED] = "paused",
};

static const char *const state_colours[NSTATES] = {
	[IBA_SM_NOT_ACTIVE] = "#d9c9a5", [IBA_SM_DISCOVERING] = "#fbd98a",
	[IBA_SM_STANDBY] = "#cfe0f3",	 [IBA_SM_MASTER] = "#7cc796",
	[STOPPED] = "#e4e4e4",		 [PAUSED] = "#c9a3d6",
};

void replay_drawing_init(struct replay_drawing *d, unsigned managers)
{
	*d = (struct replay_drawing){.n = managers};
	d->state = mem_array(managers, sizeof(*d->state));
	d->since = mem_zarray(managers, sizeof(*d->since));
	for (unsigned i = 0; i < managers; i++)
		d->state[i] = STOPPED;
}

static unsigned state_of(const struct lab *l, unsigned i)
{
	/* One that starts later exists, but does nothing yet. */
	if (!lab_manager_sm(l, i) || lab_manager_status(l, i)->phase == SM_OFF)
		return STOPPED;
	return lab_manager_paused(l, i) ? PAUSED : lab_manager_status(l, i)->state;
}

static void close_span(struct replay_drawing *d, unsigned i, time_ps now)
{
	if (now > d->since[i])
		vec_push(&d->spans, (struct lanes_span){i, d->state[i], d->since[i], now});
	d->since[i] = now;
}

void replay_drawing_see(struct replay_drawing *d, const struct lab *l, time_ps now)
{
	for (unsigned i = 0; i < d->n; i++) {
		unsigned is = state_of(l, i);

		if (is == d->state[i])
			continue;
		close_span(d, i, now);
		d->state[i] = is;
	}
}

void replay_drawing_mark(struct replay_drawing *d, time_ps now, int manager,
			 enum lanes_mark_kind kind, const char *text)
{
	vec_push(&d->marks, (struct lanes_mark){now, manager, kind, mem_strdup(text)});
}

void replay_drawing_svg(struct replay_drawing *d, time_ps end, const char *const *names,
			struct lanes_chart texts, struct strbuf *out)
{
	struct lanes_chart c = texts;

	for (unsigned i = 0; i < d->n; i++)
		close_span(d, i, end);
	c.x_label = "simulated time in ms";
	c.x_unit = PS_PER_MS;
	c.to = end;
	c.lanes = names;
	c.nlanes = d->n;
	c.states = state_names;
	c.colours = state_colours;
	c.nstates = NSTATES;
	c.spans = d->spans.at;
	c.nspans = d->spans.n;
	c.mark_names[LANES_FAULT] = "fault or order";
	c.mark_names[LANES_END] = "end of a fault";
	c.marks = d->marks.at;
	c.nmarks = d->marks.n;
	lanes_chart_svg(&c, out);
}

void replay_drawing_free(struct replay_drawing *d)
{
	for (size_t i = 0; i < d->marks.n; i++)
		free((char *)d->marks.at[i].text);
	vec_free(&d->marks);
	vec_free(&d->spans);
	free(d->state);
	free(d->since);
}
