/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change under load: packets by cause, levels, a picture over time. State: none. Way in:
 * change_report_*(). Does not run anything.
 */
#include "cli/change_report.h"
#include "cli/group_opts.h"
#include "draw/panels.h"
#include "cli/cli.h"
#include "cli/load_report.h"
#include "cli/sim_report.h"

static const char *percent(uint32_t millionths, char buf[16])
{
	snprintf(buf, 16, "%u.%02u %%", millionths / 10000, millionths / 100 % 100);
	return buf;
}

/* ---- text ---- */

static void row(struct cli_table *t, const char *name, uint64_t n)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(n));
}

static void print_packets(const struct lab_change_result *r)
{
	struct cli_table t;

	cli_table_init(&t, "lr", "packets since the change", "number");
	row(&t, "in flight at the change", r->in_flight_before);
	row(&t, "sent", r->sent);
	if (r->copies)
		row(&t, "copied in switches", r->copies);
	row(&t, "received", r->received);
	row(&t, "in flight at the end", r->in_flight);
	row(&t, "discarded", r->lost);
	row(&t, "  to hosts that are gone", r->futile);
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		if (r->discarded[i]) {
			cli_table_add(&t, "  %s", sim_discard_name((enum sim_discard)i));
			cli_table_add(&t, "%s", cli_count(r->discarded[i]));
		}
	cli_table_print(&t, stdout);
}

void change_report_text(const struct sim_report *rep)
{
	const struct lab_change_result *r = rep->result;
	char buf[16];

	if (!r->changed_at)
		return;
	printf("\ntraffic: %s\nwarm-up %s, then the change; settled after %s, %s more\n\n",
	       rep->what, cli_duration(r->changed_at - r->traffic_at),
	       cli_duration(r->settled_at - r->changed_at),
	       cli_duration(r->ended_at - r->settled_at));
	print_packets(r);
	printf("\nconnectivity at least %s, ", percent(r->watch.connectivity_min, buf));
	printf("below 100 %% for %s; ", cli_duration(r->watch.below));
	if (r->watch.unsafe_at == TIME_NEVER)
		printf("no cycle of dependencies at any time");
	else
		printf("CYCLES OF DEPENDENCIES, deadlock level up to %s",
		       percent(r->watch.deadlock_max, buf));
	printf(" (%s checks at %s changes)\n", cli_count(r->watch.looks),
	       cli_count(r->watch.changes));
	if (r->watch.nring)
		printf("DEADLOCK: packets wait for each other at %zu ports, seen %s after the "
		       "change\n",
		       r->watch.nring, cli_duration(r->watch.locked_at - r->changed_at));
	if (!r->conserved)
		printf("NOT ALL PACKETS ARE ACCOUNTED FOR\n");
	putchar('\n');
	group_text(&r->multicast);
	if (rep->show_series)
		load_series_text(&r->series);
}

/* ---- JSON ---- */

static void json_ports(struct json *j, const char *key, const struct fab *f, const port_id *at,
		       size_t n)
{
	char name[48];

	if (!n) {
		json_bool(j, key, false);
		return;
	}
	json_open(j, key, '[');
	for (size_t i = 0; i < n; i++) {
		load_port_name(f, at[i], name);
		json_str(j, NULL, name);
	}
	json_close(j);
}

void change_report_json(const struct sim_report *rep, struct json *j)
{
	const struct lab_change_result *r = rep->result;

	json_str(j, "traffic", rep->what);
	json_open(j, "packets", '{');
	json_u64(j, "in_flight_before", r->in_flight_before);
	json_u64(j, "sent", r->sent);
	json_u64(j, "copies", r->copies);
	json_u64(j, "received", r->received);
	json_u64(j, "in_flight", r->in_flight);
	json_open(j, "discarded", '{');
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		json_u64(j, sim_discard_name((enum sim_discard)i), r->discarded[i]);
	json_u64(j, "total", r->lost);
	json_close(j);
	json_u64(j, "futile", r->futile);
	json_u64(j, "lost", r->lost - r->futile);
	json_close(j);
	json_bool(j, "conserved", r->conserved);
	group_json(&r->multicast, j);
	json_ports(j, "deadlock", rep->fab, r->watch.ring, r->watch.nring);
	json_ports(j, "dependency_cycle", rep->fab, r->watch.cycle, r->watch.ncycle);
	json_fixed(j, "deadlock_level_max", r->watch.deadlock_max, 6);
	json_fixed(j, "connectivity_min", r->watch.connectivity_min, 6);
	json_seconds(j, "connectivity_below_s", r->watch.below);
	json_open(j, "levels", '{');
	json_u64(j, "changes", r->watch.changes);
	json_u64(j, "looks", r->watch.looks);
	json_bool(j, "every_change", !r->watch.gap);
	json_close(j);
	json_open(j, "times_s", '{');
	json_seconds(j, "traffic", r->traffic_at);
	json_seconds(j, "change", r->changed_at);
	json_seconds(j, "settled", r->settled_at);
	json_seconds(j, "end", r->ended_at);
	json_close(j);
	if (rep->show_series)
		load_series_json(&r->series, j);
}

/* ---- the picture ---- */

typedef VEC(struct plot_point) points;
typedef VEC(struct panels_band) bands;

enum line { SMPS, LOST, SENT, RECEIVED, CONNECTED, NLINES };

/* Large numbers are shown in thousands. */
static struct panels_panel panel(const char *label, const char *thousands,
				 const struct panels_line *l, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < l[i].n; k++)
			most = MAX(most, l[i].at[k].y);
	return (struct panels_panel){most > 20000 ? thousands : label, most > 20000 ? 1000 : 1, 0,
				     l, n};
}

/* The picture ends shortly after the last round, not at the sweep that finds nothing new. */
static time_ps picture_end(const struct lab_change_result *r)
{
	time_ps done = r->sum.rounds ? r->sum.last_end : r->ended_at;
	time_ps more = MAX((done - r->traffic_at) / 8, r->changed_at - r->traffic_at);

	return MIN(done + more, r->ended_at);
}

static void collect_series(const struct lab_change_result *r, points at[NLINES])
{
	const struct lab_series *s = &r->series;
	uint64_t smps = 0, lost = 0;

	for (size_t i = 0; i < s->samples.n; i++) {
		const struct lab_sample *x = &s->samples.at[i];

		smps += x->at > r->changed_at ? x->smps : 0;
		lost += x->at > r->changed_at ? x->discarded : 0;
		vec_push(&at[SMPS], (struct plot_point){.x = x->at, .y = smps});
		vec_push(&at[LOST], (struct plot_point){.x = x->at, .y = lost});
		vec_push(&at[SENT], (struct plot_point){.x = x->at,
							.y = x->generated * PS_PER_MS / s->period});
		vec_push(
			&at[RECEIVED],
			(struct plot_point){.x = x->at, .y = x->delivered * PS_PER_MS / s->period});
	}
	vec_push(&at[CONNECTED], (struct plot_point){.x = r->traffic_at, .y = 10000});
	for (size_t i = 0; i < r->watch.points.n; i++)
		vec_push(&at[CONNECTED],
			 (struct plot_point){.x = r->watch.points.at[i].at,
					     .y = r->watch.points.at[i].connectivity / 100});
}

/* From the change until it is detected, then every phase in which the manager handles it. */
static void collect_bands(const struct sim_report *r, bands *b)
{
	const struct lab_change_result *res = r->result;

	if (res->sum.rounds)
		vec_push(b, (struct panels_band){res->changed_at, res->sum.first_start,
						 "not detected", 1});
	for (size_t i = 0; i + 1 < r->phases.n; i++) {
		const struct sim_phase *p = &r->phases.at[i];

		if (p->at < res->changed_at || p->phase == SM_OFF || p->phase == SM_READY ||
		    p->phase == SM_SWEEP)
			continue;
		if (r->phases.at[i + 1].at > p->at)
			vec_push(b, (struct panels_band){p->at, r->phases.at[i + 1].at,
							 sm_phase_name(p->phase), 1 + p->phase});
	}
}

static void draw(const struct sim_report *r, const char *title, const points *at, const bands *b,
		 struct strbuf *out)
{
	const struct lab_change_result *res = r->result;
	const struct panels_line lines[NLINES] = {
		[SMPS] = {"SMPs", at[SMPS].at, at[SMPS].n, true},
		[LOST] = {"discarded", at[LOST].at, at[LOST].n, true},
		[SENT] = {"sent", at[SENT].at, at[SENT].n, false},
		[RECEIVED] = {"received", at[RECEIVED].at, at[RECEIVED].n, false},
		[CONNECTED] = {"connected", at[CONNECTED].at, at[CONNECTED].n, true},
	};
	const struct panels_panel panels[] = {
		panel("SMPs", "thousand SMPs", &lines[SMPS], 1),
		panel("packets lost", "thousand lost", &lines[LOST], 1),
		panel("packets/ms", "packets/us", &lines[SENT], 2),
		{"pairs, %", 100, 10000, &lines[CONNECTED], 1},
	};
	const struct panels p = {
		.title = title,
		.note = r->what,
		.x_label = "milliseconds since the change",
		.x_unit = PS_PER_MS,
		.from = res->traffic_at,
		.to = picture_end(res),
		.zero = res->changed_at,
		.zero_name = "change",
		.bands = b->at,
		.nbands = b->n,
		.panels = panels,
		.n = ARRAY_LEN(panels),
	};

	panels_svg(&p, out);
}

void change_report_svg(const struct sim_report *r, const char *title, struct strbuf *out)
{
	points at[NLINES] = {0};
	bands b = {0};

	collect_series(r->result, at);
	collect_bands(r, &b);
	draw(r, title, at, &b, out);
	for (unsigned i = 0; i < NLINES; i++)
		vec_free(&at[i]);
	vec_free(&b);
}
