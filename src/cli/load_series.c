/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Series over time as a table, JSON, CSV and a picture. State: none. Does not sample: see
 * lab/series.c.
 */
#include "draw/plot.h"
#include "cli/cli.h"
#include "cli/load_report.h"

static uint64_t a_second(uint64_t n, time_ps span)
{
	return span ? (uint64_t)((unsigned __int128)n * PS_PER_S / span) : 0;
}

/* ---- text ---- */

static void percent_cell(struct cli_table *t, uint32_t millionths)
{
	cli_table_add(t, "%u.%u %%", millionths / 10000, millionths / 1000 % 10);
}

static void time_cell(struct cli_table *t, time_ps v)
{
	cli_table_add(t, "%s", v ? cli_duration(v) : "-");
}

static void text_row(struct cli_table *t, const struct lab_series *s, const struct lab_sample *x)
{
	cli_table_add(t, "%s", cli_duration(x->at));
	cli_table_add(t, "%s", cli_count(x->generated));
	cli_table_add(t, "%s", cli_count(x->delivered));
	cli_table_add(t, "%s", cli_count(x->discarded));
	cli_table_add(t, "%s", cli_count(x->in_flight));
	time_cell(t, x->latency_ps);
	time_cell(t, x->latency_p99_ps);
	time_cell(t, x->header_ps);
	percent_cell(t, x->link_use);
	percent_cell(t, x->link_use_max);
	percent_cell(t, x->buffer_use);
	cli_table_add(t, "%s", cli_count(x->smps));
	if (s->levels) {
		percent_cell(t, x->connectivity);
		percent_cell(t, x->deadlock);
	}
}

void load_series_text(const struct lab_series *s)
{
	struct cli_table t;

	if (!s->samples.n)
		return;
	cli_table_init(&t, s->levels ? "rrrrrrrrrrrrrr" : "rrrrrrrrrrrr", "until", "sent",
		       "received", "lost", "in flight", "latency", "p99", "header", "links",
		       "busiest", "buffers", "SMPs", "connected", "deadlock");
	for (size_t i = 0; i < s->samples.n; i++)
		text_row(&t, s, &s->samples.at[i]);
	cli_table_print(&t, stdout);
	putchar('\n');
}

/* ---- JSON ---- */

static void json_causes(struct json *j, const struct lab_sample *x)
{
	json_open(j, "discarded_by", '{');
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		json_u64(j, sim_discard_name((enum sim_discard)i), x->discarded_by[i]);
	json_close(j);
	json_open(j, "smps_by", '{');
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		json_u64(j, sm_purpose_name((enum sm_purpose)i), x->smps_by[i]);
	json_close(j);
}

static void json_sample(struct json *j, const struct lab_series *s, const struct lab_sample *x)
{
	json_open(j, NULL, '{');
	json_seconds(j, "time_s", x->at);
	json_seconds(j, "interval_s", x->span);
	json_u64(j, "generated", x->generated);
	json_u64(j, "delivered", x->delivered);
	json_u64(j, "discarded", x->discarded);
	json_u64(j, "in_flight", x->in_flight);
	json_u64(j, "smps", x->smps);
	json_causes(j, x);
	json_u64(j, "bits_s", a_second(x->bytes * 8, x->span));
	json_fixed(j, "latency_ns", x->latency_ps, 3);
	json_fixed(j, "latency_p99_ns", x->latency_p99_ps, 3);
	json_fixed(j, "header_latency_ns", x->header_ps, 3);
	json_fixed(j, "header_latency_p99_ns", x->header_p99_ps, 3);
	json_fixed(j, "link_use", x->link_use, 6);
	json_fixed(j, "link_use_max", x->link_use_max, 6);
	json_fixed(j, "no_credit", x->no_credit, 6);
	json_fixed(j, "no_credit_max", x->no_credit_max, 6);
	json_fixed(j, "buffer_use", x->buffer_use, 6);
	json_fixed(j, "buffer_use_max", x->buffer_use_max, 6);
	if (s->levels) {
		json_fixed(j, "connectivity", x->connectivity, 6);
		json_fixed(j, "deadlock_level", x->deadlock, 6);
	}
	json_close(j);
}

void load_series_json(const struct lab_series *s, struct json *j)
{
	if (!s->period)
		return;
	json_open(j, "series", '[');
	for (size_t i = 0; i < s->samples.n; i++)
		json_sample(j, s, &s->samples.at[i]);
	json_close(j);
}

/* ---- CSV ---- */

static void csv_u64(struct strbuf *b, uint64_t v)
{
	strbuf_addf(b, ",%llu", (unsigned long long)v);
}

static void csv_time(struct strbuf *b, time_ps t)
{
	strbuf_addf(b, "%llu.%012llu", (unsigned long long)(t / PS_PER_S),
		    (unsigned long long)(t % PS_PER_S));
}

static void csv_ns(struct strbuf *b, time_ps t)
{
	strbuf_addf(b, ",%llu.%03llu", (unsigned long long)(t / PS_PER_NS),
		    (unsigned long long)(t % PS_PER_NS));
}

static void csv_share(struct strbuf *b, uint32_t millionths)
{
	strbuf_addf(b, ",%u.%06u", millionths / 1000000, millionths % 1000000);
}

static void csv_heading(const struct lab_series *s, struct strbuf *b)
{
	strbuf_add(b, "time_s,interval_s,generated,delivered,discarded,in_flight,bits_s,latency_ns,"
		      "latency_p99_ns,"
		      "header_latency_ns,header_latency_p99_ns,link_use,link_use_max,no_credit,"
		      "no_credit_max,buffer_use,buffer_use_max");
	if (s->levels)
		strbuf_add(b, ",connectivity,deadlock_level");
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		strbuf_addf(b, ",discarded_%s", sim_discard_name((enum sim_discard)i));
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		strbuf_addf(b, ",smps_%s", sm_purpose_name((enum sm_purpose)i));
	strbuf_add(b, "\n");
}

static void csv_row(const struct lab_series *s, const struct lab_sample *x, struct strbuf *b)
{
	csv_time(b, x->at);
	strbuf_add(b, ",");
	csv_time(b, x->span);
	csv_u64(b, x->generated);
	csv_u64(b, x->delivered);
	csv_u64(b, x->discarded);
	csv_u64(b, x->in_flight);
	csv_u64(b, a_second(x->bytes * 8, x->span));
	csv_ns(b, x->latency_ps);
	csv_ns(b, x->latency_p99_ps);
	csv_ns(b, x->header_ps);
	csv_ns(b, x->header_p99_ps);
	csv_share(b, x->link_use);
	csv_share(b, x->link_use_max);
	csv_share(b, x->no_credit);
	csv_share(b, x->no_credit_max);
	csv_share(b, x->buffer_use);
	csv_share(b, x->buffer_use_max);
	if (s->levels) {
		csv_share(b, x->connectivity);
		csv_share(b, x->deadlock);
	}
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		csv_u64(b, x->discarded_by[i]);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		csv_u64(b, x->smps_by[i]);
	strbuf_add(b, "\n");
}

void load_series_csv(const struct lab_series *s, struct strbuf *out)
{
	csv_heading(s, out);
	for (size_t i = 0; i < s->samples.n; i++)
		csv_row(s, &s->samples.at[i], out);
}

void load_series_node_csv(const struct fab *f, const struct lab_node_sample *x, struct strbuf *out)
{
	char ident[32];

	if (!x) {
		strbuf_add(
			out,
			"time_s,node,generated,sent,received,discarded,latency_ns,queue,buffer_use\n");
		return;
	}
	fab_node_ident(f, x->node, ident);
	csv_time(out, x->at);
	strbuf_addf(out, ",%s", ident);
	csv_u64(out, x->generated);
	csv_u64(out, x->sent);
	csv_u64(out, x->received);
	csv_u64(out, x->discarded);
	csv_ns(out, x->latency_ps);
	csv_u64(out, x->queue);
	csv_share(out, x->buffer_use);
	strbuf_add(out, "\n");
}

void load_series_link_csv(const struct fab *f, const struct lab_link_sample *x, struct strbuf *out)
{
	char ident[32];

	if (!x) {
		strbuf_add(out, "time_s,node,port,packets,bytes,use,wait,no_credit,buffer_use\n");
		return;
	}
	fab_node_ident(f, f->ports[x->port].node, ident);
	csv_time(out, x->at);
	strbuf_addf(out, ",%s,%u", ident, f->ports[x->port].num);
	csv_u64(out, x->packets);
	csv_u64(out, x->bytes);
	csv_share(out, x->use);
	csv_share(out, x->wait);
	csv_share(out, x->no_credit);
	csv_share(out, x->buffer_use);
	strbuf_add(out, "\n");
}

/* ---- the picture ---- */

enum { LINES = 5, PANELS = 3 };

enum what {
	W_SENT,
	W_RECEIVED,
	W_LOST,
	W_LATENCY,
	W_P99,
	W_HEADER,
	W_LINKS,
	W_BUSIEST,
	W_BUFFERS,
	W_CONNECTED,
	W_DEADLOCK,
	W_COUNT
};

static uint64_t value_of(const struct lab_sample *x, enum what w)
{
	switch (w) {
	case W_SENT:
		return a_second(x->generated, x->span);
	case W_RECEIVED:
		return a_second(x->delivered, x->span);
	case W_LOST:
		return a_second(x->discarded, x->span);
	case W_LATENCY:
		return x->latency_ps / PS_PER_NS;
	case W_P99:
		return x->latency_p99_ps / PS_PER_NS;
	case W_HEADER:
		return x->header_ps / PS_PER_NS;
	case W_LINKS:
		return x->link_use;
	case W_BUSIEST:
		return x->link_use_max;
	case W_BUFFERS:
		return x->buffer_use;
	case W_CONNECTED:
		return x->connectivity;
	case W_DEADLOCK:
		return x->deadlock;
	case W_COUNT:
		break;
	}
	return 0;
}

/* Intervals without packets have no latency. */
static size_t line_points(const struct lab_series *s, enum what w, struct plot_point *at)
{
	time_ps start = s->samples.n ? s->samples.at[0].at - s->samples.at[0].span : 0;
	size_t n = 0;

	for (size_t i = 0; i < s->samples.n; i++) {
		const struct lab_sample *x = &s->samples.at[i];
		uint64_t v = value_of(x, w);

		if (v || w < W_LATENCY || w > W_HEADER)
			at[n++] = (struct plot_point){.x = (x->at - start) / PS_PER_NS, .y = v};
	}
	return n;
}

static const char *const line_names[W_COUNT] = {
	"sent",	       "received",     "discarded", "mean",	    "p99",	     "header, mean",
	"links, mean", "busiest link", "buffers",   "connectivity", "deadlock level"};

void load_series_svg(const struct lab_series *s, struct strbuf *out)
{
	struct plot_axis x = {.label = "time since the traffic began, \xc2\xb5s", .unit = 1000};
	struct plot_series lines[W_COUNT];
	struct plot_point *at[W_COUNT];
	struct plot p[PANELS] = {
		{.title = "Packets",
		 .y = {.label = "thousand packets/s", .unit = 1000},
		 .series = lines,
		 .n = 3},
		{.title = "Latency",
		 .y = {.label = "latency, \xc2\xb5s", .unit = 1000},
		 .series = lines + W_LATENCY,
		 .n = 3},
		{.title = "Occupation",
		 .y = {.label = "per cent", .unit = 10000},
		 .series = lines + W_LINKS,
		 .n = s->levels ? LINES : 3},
	};

	if (s->samples.n * s->period >= 10 * PS_PER_MS)
		x = (struct plot_axis){.label = "time since the traffic began, ms",
				       .unit = 1000000};
	for (unsigned i = 0; i < W_COUNT; i++) {
		at[i] = mem_array(s->samples.n + 1, sizeof(*at[i]));
		lines[i] = (struct plot_series){.name = line_names[i],
						.at = at[i],
						.n = line_points(s, (enum what)i, at[i])};
	}
	for (unsigned i = 0; i < PANELS; i++)
		p[i].x = x;
	plot_svg_stack(p, PANELS, out);
	for (unsigned i = 0; i < W_COUNT; i++)
		free(at[i]);
}
