/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of fabrics under load: totals, discards, latency curves. State: none. Does not run anything;
 * by node and link see load_usage.c, over time load_series.c.
 */
#include "draw/plot.h"
#include "cli/cli.h"
#include "cli/group_opts.h"
#include "cli/given_tables_opts.h"
#include "cli/load_report.h"
#include "cli/managers_report.h"
#include "lab/saturation.h"

typedef unsigned __int128 u128;

enum { SHOWN_TIMES = 6 }; /* the picture ends at so many times the zero-load latency */

/* ---- a run ---- */

static uint64_t a_second(const struct lab_load_result *r, u128 n)
{
	time_ps span = r->window_end - r->window_start;

	return span ? (uint64_t)((n * PS_PER_S + span / 2) / span) : 0;
}

static uint64_t bits_a_second(const struct lab_load_result *r)
{
	return a_second(r, (u128)r->plane.window_bytes * 8);
}

static uint64_t packets_a_second(const struct lab_load_result *r)
{
	return a_second(r, r->plane.window_delivered);
}

static void print_packets(const struct lab_load_result *r)
{
	struct cli_table t;

	cli_table_init(&t, "lr", "packets", "number");
	cli_table_add(&t, "sent");
	cli_table_add(&t, "%s", cli_count(r->plane.generated));
	if (r->plane.copies) {
		cli_table_add(&t, "copied in switches");
		cli_table_add(&t, "%s", cli_count(r->plane.copies));
	}
	cli_table_add(&t, "received");
	cli_table_add(&t, "%s", cli_count(r->plane.delivered));
	cli_table_add(&t, "in flight");
	cli_table_add(&t, "%s", cli_count(r->plane.in_flight));
	cli_table_add(&t, "discarded");
	cli_table_add(&t, "%s", cli_count(r->discarded));
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		if (r->plane.discarded[i]) {
			cli_table_add(&t, "  %s", sim_discard_name((enum sim_discard)i));
			cli_table_add(&t, "%s", cli_count(r->plane.discarded[i]));
		}
	cli_table_print(&t, stdout);
}

static void latency_row(struct cli_table *t, const char *name, const struct hist *h)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", h->n ? cli_duration(hist_mean(h)) : "-");
	cli_table_add(t, "%s", h->n ? cli_duration(hist_percentile(h, 500)) : "-");
	cli_table_add(t, "%s", h->n ? cli_duration(hist_percentile(h, 900)) : "-");
	cli_table_add(t, "%s", h->n ? cli_duration(hist_percentile(h, 990)) : "-");
	cli_table_add(t, "%s", h->n ? cli_duration(hist_percentile(h, 999)) : "-");
	cli_table_add(t, "%s", h->n ? cli_duration(h->max) : "-");
}

static void print_rates(const struct lab_load_result *r)
{
	uint64_t mbps = (bits_a_second(r) + 500000) / 1000000;
	struct cli_table t;

	cli_table_init(&t, "lrrr", "rate", "packets/s/node", "packets/s", "Gb/s");
	cli_table_add(&t, "offered");
	cli_table_add(&t, "%s", cli_count(r->offered));
	cli_table_add(&t, "%s", cli_count(a_second(r, r->plane.window_generated)));
	cli_table_add(&t, "-");
	cli_table_add(&t, "delivered");
	cli_table_add(&t, "%s", cli_count(r->accepted));
	cli_table_add(&t, "%s", cli_count(packets_a_second(r)));
	cli_table_add(&t, "%llu.%03llu", (unsigned long long)(mbps / 1000),
		      (unsigned long long)(mbps % 1000));
	cli_table_print(&t, stdout);
}

void load_port_name(const struct fab *f, port_id p, char buf[48])
{
	char ident[32];

	fab_node_ident(f, f->ports[p].node, ident);
	snprintf(buf, 48, "%s[%u]", ident, f->ports[p].num);
}

enum { DISCARDS_SHOWN = 20 };

static void print_discards(const struct load_report *rep)
{
	struct cli_table t;
	char ident[32];

	if (!rep->discards.n)
		return;
	cli_table_init(&t, "rlrlrr", "discarded at", "node", "port", "cause", "from LID", "to LID");
	for (size_t i = 0; i < MIN(rep->discards.n, (size_t)DISCARDS_SHOWN); i++) {
		const struct load_discard *d = &rep->discards.at[i];

		fab_node_ident(rep->fab, d->node, ident);
		cli_table_add(&t, "%s", cli_duration(d->when));
		cli_table_add(&t, "%s", ident);
		cli_table_add(&t, "%u", d->port);
		cli_table_add(&t, "%s", sim_discard_name(d->why));
		cli_table_add(&t, "%u", d->slid);
		cli_table_add(&t, "%u", d->dlid);
	}
	cli_table_print(&t, stdout);
	putchar('\n');
}

/* 1,284 SMPs of the manager: discovery 712, ... */
static void print_smps(const struct lab_load_result *r)
{
	const char *before = ": ";

	printf("%s SMPs of the manager", cli_count(r->smps));
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		if (r->smps_by[i]) {
			printf("%s%s %s", before, sm_purpose_name((enum sm_purpose)i),
			       cli_count(r->smps_by[i]));
			before = ", ";
		}
	printf("; with responses %s bytes received\n", cli_count(r->net.delivered * IBA_MAD_SIZE));
}

static void print_latencies(const struct lab_load_result *r)
{
	struct cli_table t;

	cli_table_init(&t, "lrrrrrr", "latency", "mean", "p50", "p90", "p99", "p99.9", "max");
	latency_row(&t, "packet", &r->plane.latency);
	latency_row(&t, "header", &r->plane.header_latency);
	cli_table_print(&t, stdout);
}

/* Deadlock, levels, conservation of packets. */
static void print_verdict(const struct load_report *rep)
{
	const struct lab_load_result *r = &rep->r;
	char name[48];

	if (r->nring) {
		printf("DEADLOCK: packets wait for each other at %zu ports:", r->nring);
		for (size_t i = 0; i < r->nring; i++) {
			load_port_name(rep->fab, r->ring[i], name);
			printf(" %s", name);
		}
		putchar('\n');
	} else {
		printf("no deadlock\n");
	}
	if (rep->has_levels)
		printf("connectivity level %u.%u %%, deadlock level %u.%u %%\n",
		       rep->levels.connectivity / 10000, rep->levels.connectivity / 1000 % 10,
		       rep->levels.deadlock / 10000, rep->levels.deadlock / 1000 % 10);
	if (!r->conserved)
		printf("NOT ALL PACKETS ARE ACCOUNTED FOR\n");
}

void load_report_text(const struct load_report *rep)
{
	const struct lab_load_result *r = &rep->r;

	printf("%u hosts, %s\nup after %s, warm-up %s, measured for %s\n\n", r->hosts, rep->what,
	       cli_duration(r->start), cli_duration(r->window_start - r->start),
	       cli_duration(r->window_end - r->window_start));
	given_text();
	managers_text(rep->lab);
	print_packets(r);
	putchar('\n');
	print_latencies(r);
	putchar('\n');
	print_rates(r);
	putchar('\n');
	if (r->plane.recoveries || r->plane.downed)
		printf("after errors, links retrained %s times and went down %s times\n\n",
		       cli_count(r->plane.recoveries), cli_count(r->plane.downed));
	group_text(&r->multicast);
	load_series_text(&rep->series);
	load_usage_text(rep);
	print_discards(rep);
	print_verdict(rep);
	print_smps(r);
	printf("%s events, %s packet hops in %.2f s (%.1f million events/s), trace hash %016llx\n",
	       cli_count(r->events), cli_count(r->plane.hops), rep->wall_s,
	       rep->wall_s > 0 ? (double)r->events / rep->wall_s / 1e6 : 0.0,
	       (unsigned long long)r->hash);
}

static void json_packets(struct json *j, const struct lab_load_result *r)
{
	json_open(j, "packets", '{');
	json_u64(j, "sent", r->plane.generated);
	json_u64(j, "copies", r->plane.copies);
	json_u64(j, "received", r->plane.delivered);
	json_u64(j, "in_flight", r->plane.in_flight);
	json_open(j, "discarded", '{');
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		json_u64(j, sim_discard_name((enum sim_discard)i), r->plane.discarded[i]);
	json_u64(j, "total", r->discarded);
	json_close(j);
	json_close(j);
	json_bool(j, "conserved", r->conserved);
	group_json(&r->multicast, j);
}

/* Picoseconds as nanoseconds. */
static void json_ns(struct json *j, const char *key, time_ps t)
{
	json_fixed(j, key, t, 3);
}

static void json_latency(struct json *j, const char *key, const struct hist *h)
{
	json_open(j, key, '{');
	json_ns(j, "mean", hist_mean(h));
	json_ns(j, "p50", hist_percentile(h, 500));
	json_ns(j, "p90", hist_percentile(h, 900));
	json_ns(j, "p99", hist_percentile(h, 990));
	json_ns(j, "p999", hist_percentile(h, 999));
	json_ns(j, "max", h->max);
	json_ns(j, "sd", hist_sd(h));
	json_u64(j, "packets", h->n);
	json_close(j);
}

static void json_ring(struct json *j, const struct load_report *rep)
{
	char name[48];

	if (!rep->r.nring) {
		json_none(j, "deadlock");
		return;
	}
	json_open(j, "deadlock", '[');
	for (size_t i = 0; i < rep->r.nring; i++) {
		load_port_name(rep->fab, rep->r.ring[i], name);
		json_str(j, NULL, name);
	}
	json_close(j);
}

static void json_rates(struct json *j, const struct load_report *rep)
{
	const struct lab_load_result *r = &rep->r;

	json_open(j, "offered", '{');
	json_u64(j, "packets_s_node", r->offered);
	json_u64(j, "packets_s", a_second(r, r->plane.window_generated));
	json_u64(j, "interval_ps", rep->interval);
	json_close(j);
	json_open(j, "throughput", '{');
	json_u64(j, "packets_s_node", r->accepted);
	json_u64(j, "packets_s", packets_a_second(r));
	json_u64(j, "bits_s", bits_a_second(r));
	json_close(j);
	json_open(j, "window", '{');
	json_seconds(j, "warmup_s", r->window_start - r->start);
	json_seconds(j, "duration_s", r->window_end - r->window_start);
	json_u64(j, "sent", r->plane.window_generated);
	json_u64(j, "received", r->plane.window_delivered);
	json_close(j);
}

static void json_discards(struct json *j, const struct load_report *rep)
{
	char ident[32];

	if (!rep->discards.cap)
		return;
	json_open(j, "discards", '[');
	for (size_t i = 0; i < rep->discards.n; i++) {
		const struct load_discard *d = &rep->discards.at[i];

		fab_node_ident(rep->fab, d->node, ident);
		json_open(j, NULL, '{');
		json_seconds(j, "time_s", d->when);
		json_str(j, "node", ident);
		json_u64(j, "port", d->port);
		json_str(j, "cause", sim_discard_name(d->why));
		json_u64(j, "slid", d->slid);
		json_u64(j, "dlid", d->dlid);
		json_close(j);
	}
	json_close(j);
}

/* Requests of the manager by purpose, then what all SMIs and SMAs saw. */
static void json_smps(struct json *j, const struct lab_load_result *r)
{
	json_open(j, "smps", '{');
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		json_u64(j, sm_purpose_name((enum sm_purpose)i), r->smps_by[i]);
	json_u64(j, "total", r->smps);
	json_close(j);
	json_open(j, "net", '{');
	json_u64(j, "sent", r->net.sent);
	json_u64(j, "delivered", r->net.delivered);
	json_u64(j, "delivered_bytes", r->net.delivered * IBA_MAD_SIZE);
	json_u64(j, "hops", r->net.hops);
	json_u64(j, "traps", r->net.traps);
	json_u64(j, "in_flight", r->net.in_flight);
	json_open(j, "dropped", '{');
	for (unsigned i = 0; i < SIM_NDROPS; i++)
		json_u64(j, sim_drop_name((enum sim_drop)i), r->net.dropped[i]);
	json_close(j);
	json_close(j);
}

void load_report_json(const struct load_report *rep, struct json *j)
{
	const struct lab_load_result *r = &rep->r;

	json_open(j, NULL, '{');
	json_str(j, "traffic", rep->what);
	json_u64(j, "hosts", r->hosts);
	json_u64(j, "senders", r->senders);
	managers_json(j, rep->lab);
	given_json(j);
	json_packets(j, r);
	json_latency(j, "latency_ns", &r->plane.latency);
	json_latency(j, "header_latency_ns", &r->plane.header_latency);
	json_rates(j, rep);
	json_ring(j, rep);
	if (rep->has_levels) {
		json_fixed(j, "connectivity", rep->levels.connectivity, 6);
		json_fixed(j, "deadlock_level", rep->levels.deadlock, 6);
	}
	json_u64(j, "events", r->events);
	json_u64(j, "packet_hops", r->plane.hops);
	json_u64(j, "flow_control_packets", r->plane.fc_packets);
	json_u64(j, "link_recoveries", r->plane.recoveries);
	json_u64(j, "links_downed", r->plane.downed);
	json_double(j, "wall_s", rep->wall_s);
	json_double(j, "events_s", rep->wall_s > 0 ? (double)r->events / rep->wall_s : 0.0);
	json_open(j, "bring_up", '{');
	json_seconds(j, "time_s", r->start);
	json_u64(j, "events", rep->up_events);
	json_double(j, "wall_s", rep->up_wall_s);
	json_close(j);
	json_smps(j, r);
	load_series_json(&rep->series, j);
	load_usage_json(rep, j);
	json_discards(j, rep);
	json_u64(j, "seed", rep->seed);
	json_double(j, "rss_mib", cli_rss_mib());
	json_hex64(j, "trace_hash", r->hash);
	json_close(j);
}

/* ---- saturation ---- */

static uint64_t per_mille_of_link(const struct sat_report *r)
{
	return r->full ? (uint64_t)(((u128)r->s.rate * 1000 + r->full / 2) / r->full) : 0;
}

static void print_curve(const struct sat_report *r)
{
	struct cli_table t;

	cli_table_init(&t, "rrrrl", "offered", "delivered", "mean", "p99", "");
	for (size_t i = 0; i < r->s.curve.n; i++) {
		const struct lab_sat_point *p = &r->s.curve.at[i];

		cli_table_add(&t, "%s", cli_count(p->offered));
		cli_table_add(&t, "%s", cli_count(p->accepted));
		cli_table_add(&t, "%s", cli_duration(p->mean));
		cli_table_add(&t, "%s", cli_duration(p->p99));
		cli_table_add(&t, "%s", p->deadlock ? "DEADLOCK" : p->saturated ? "saturated" : "");
	}
	cli_table_print(&t, stdout);
}

void sat_report_text(const struct sat_report *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t share = per_mille_of_link(&r[i]);

		printf("%s%s: %u switches, %u hosts; %s\n", i ? "\n" : "", r[i].file, r[i].switches,
		       r[i].hosts, r[i].what);
		given_text();
		printf("saturation at %s packets/s/node, %llu.%llu %% of a host's link%s; "
		       "zero-load latency %s\n\n",
		       cli_count(r[i].s.rate), (unsigned long long)(share / 10),
		       (unsigned long long)(share % 10), r[i].s.full ? ", which is the limit" : "",
		       cli_duration(r[i].s.zero_load));
		print_curve(&r[i]);
		printf("\n%llu simulations, %s events in %.2f s%s\n",
		       (unsigned long long)r[i].s.runs, cli_count(r[i].s.events), r[i].wall_s,
		       r[i].s.sound ? "" : "; DEADLOCK, or packets that are not accounted for");
	}
}

static void json_curve(struct json *j, const struct lab_saturation *s)
{
	json_open(j, "curve", '[');
	for (size_t i = 0; i < s->curve.n; i++) {
		const struct lab_sat_point *p = &s->curve.at[i];

		json_open(j, NULL, '{');
		json_u64(j, "offered_packets_s_node", p->offered);
		json_u64(j, "accepted_packets_s_node", p->accepted);
		json_ns(j, "latency_ns_mean", p->mean);
		json_ns(j, "latency_ns_p99", p->p99);
		json_bool(j, "saturated", p->saturated);
		json_bool(j, "deadlock", p->deadlock);
		json_close(j);
	}
	json_close(j);
}

static void json_saturation(struct json *j, const struct sat_report *r)
{
	json_open(j, NULL, '{');
	json_str(j, "file", r->file);
	json_str(j, "traffic", r->what);
	json_u64(j, "switches", r->switches);
	json_u64(j, "hosts", r->hosts);
	given_json(j);
	json_u64(j, "saturation_packets_s_node", r->s.rate);
	json_fixed(j, "saturation_load", per_mille_of_link(r), 3);
	json_bool(j, "full_link", r->s.full);
	json_ns(j, "zero_load_latency_ns", r->s.zero_load);
	json_curve(j, &r->s);
	json_bool(j, "sound", r->s.sound);
	json_u64(j, "simulations", r->s.runs);
	json_u64(j, "events", r->s.events);
	json_u64(j, "seed", r->seed);
	json_double(j, "wall_s", r->wall_s);
	json_close(j);
}

void sat_report_json(const struct sat_report *r, unsigned n, struct json *j)
{
	if (n == 1) {
		json_saturation(j, r);
		return;
	}
	json_open(j, NULL, '{');
	json_open(j, "fabrics", '[');
	for (unsigned i = 0; i < n; i++)
		json_saturation(j, &r[i]);
	json_close(j);
	json_close(j);
}

/* ---- the picture ---- */

static struct plot_point *curve_points(const struct sat_report *r)
{
	struct plot_point *at = mem_array(r->s.curve.n, sizeof(*at));

	for (size_t i = 0; i < r->s.curve.n; i++) {
		const struct lab_sat_point *p = &r->s.curve.at[i];

		at[i] = (struct plot_point){
			.x = p->offered, .y = p->mean / PS_PER_NS, .hollow = p->saturated};
	}
	return at;
}

/* net/irregular-8.net: irregular-8 (7 hosts) */
static char *series_name(const struct sat_report *r)
{
	const char *base = strrchr(r->file, '/') ? strrchr(r->file, '/') + 1 : r->file;
	const char *dot = strrchr(base, '.');
	struct strbuf b = {0};

	strbuf_addn(&b, base,
		    MIN(dot && dot > base ? (size_t)(dot - base) : strlen(base), (size_t)40));
	strbuf_addf(&b, " (%u hosts)", r->hosts);
	return b.s;
}

void sat_report_svg(const struct sat_report *r, unsigned n, bool log_x, struct strbuf *out)
{
	struct plot_series *s = mem_zarray(n, sizeof(*s));
	struct plot p = {
		.title = "Latency against offered load",
		.x = {.label = "offered load, thousand packets/s/node", .unit = 1000, .log = log_x},
		.y = {.label = "mean latency, \xc2\xb5s", .unit = 1000},
		.series = s,
		.n = n};
	struct strbuf note = {0};

	strbuf_addf(&note, "%s. Hollow: saturated.", n ? r[0].what : "");
	p.note = note.s;
	for (unsigned i = 0; i < n; i++) {
		p.y.max = MAX(p.y.max, r[i].s.zero_load / PS_PER_NS * SHOWN_TIMES);
		s[i] = (struct plot_series){
			.name = series_name(&r[i]), .at = curve_points(&r[i]), .n = r[i].s.curve.n};
	}
	plot_svg(&p, out);
	for (unsigned i = 0; i < n; i++) {
		free((char *)s[i].name);
		free((struct plot_point *)s[i].at);
	}
	strbuf_free(&note);
	free(s);
}
