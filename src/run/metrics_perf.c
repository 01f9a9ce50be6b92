/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of the performance manager: rounds, sick links, sums of counters over all ports, and series of single ports where
 * metrics.ports allows them. State: none. Way in: metrics_perf(). Reads no counter: src/perf does.
 */
#include "run/metrics_priv.h"

/* ---- rounds, links ---- */

static void rounds(struct strbuf *out, const struct perf_status *st)
{
	metrics_gauge(out, "perf_devices", "Devices whose counters are read.", st->devices);
	metrics_gauge(out, "perf_ports", "Ports whose counters are read.", st->ports);
	metrics_gauge(out, "perf_silent_devices", "Devices that do not answer these queries.",
		      st->silent);
	metrics_gauge(out, "perf_full_counters", "Ports with a counter at its maximum.",
		      st->saturated);
	metrics_counter(out, "perf_rounds", "Rounds over all ports that were completed.",
			st->rounds);
	metrics_counter(out, "perf_rounds_late", "Rounds that took longer than their period.",
			st->late_rounds);
	metrics_family(out, "perf_round_seconds", "gauge", "seconds",
		       "Duration of the last complete round.");
	strbuf_add(out, "weft_perf_round_seconds ");
	metrics_seconds(out, st->round_us * PS_PER_US);
	strbuf_add(out, "\n");
	metrics_counter(out, "perf_queries", "Queries of counters that were sent.", st->queries);
	metrics_counter(out, "perf_timeouts", "Queries of counters without an answer.",
			st->timeouts);
	metrics_gauge(out, "sick_ports", "Ports of links with too many errors.", st->sick);
	metrics_gauge(out, "isolated_links", "Links that no route uses, because they are sick.",
		      st->isolated);
}

/* ---- counters ---- */

/* One family: a sum over some counters, or one of them, each as a sample with a label. */
struct shown {
	const char *name, *unit, *help, *label;
	unsigned scale; /* of what devices count */
	enum perf_counter first, last;
	const char *words[2]; /* of the label; NULL: names of the counters */
};

static const struct shown families[] = {
	{"data_bytes",
	 "bytes",
	 "Bytes in packets",
	 "direction",
	 4,
	 PERF_XMIT_DATA,
	 PERF_RCV_DATA,
	 {"sent", "received"}},
	{"packets",
	 NULL,
	 "Packets",
	 "direction",
	 1,
	 PERF_XMIT_PKTS,
	 PERF_RCV_PKTS,
	 {"sent", "received"}},
	{"wait_ticks",
	 NULL,
	 "Ticks during which packets waited for credits",
	 NULL,
	 1,
	 PERF_XMIT_WAIT,
	 PERF_XMIT_WAIT,
	 {0}},
	{"errors",
	 NULL,
	 "Error counters, by counter",
	 "counter",
	 1,
	 PERF_SYMBOL_ERROR,
	 (enum perf_counter)PERF_LAST_ERROR,
	 {0}},
	{"fec_blocks",
	 NULL,
	 "Blocks that forward error correction handled, where devices count them",
	 "result",
	 1,
	 PERF_FEC_CORRECTED,
	 PERF_FEC_UNCORRECTED,
	 {"corrected", "uncorrected"}},
};

static void samples(struct strbuf *out, const char *prefix, const struct shown *f,
		    const char *labels, const uint64_t *count)
{
	for (unsigned c = f->first; c <= f->last; c++) {
		strbuf_addf(out, "weft_%s_%s_total", prefix, f->name);
		if (*labels || f->label)
			strbuf_addf(out, "{%s", labels);
		if (f->label)
			strbuf_addf(out, "%s%s=\"%s\"", *labels ? "," : "", f->label,
				    f->words[0] ? f->words[c - f->first] : perf_counter_name(c));
		strbuf_addf(out, "%s %llu\n", *labels || f->label ? "}" : "",
			    (unsigned long long)(count[c] * f->scale));
	}
}

static void family_of(struct strbuf *out, const char *prefix, const struct shown *f,
		      const char *where)
{
	char name[64], help[160];

	snprintf(name, sizeof(name), "%s_%s", prefix, f->name);
	snprintf(help, sizeof(help), "%s, %s.", f->help, where);
	metrics_family(out, name, "counter", f->unit, help);
}

static void sums(struct strbuf *out, const struct run_view *v)
{
	uint64_t total[PERF_NCOUNTERS];

	perf_totals(v->perf, total);
	for (unsigned i = 0; i < ARRAY_LEN(families); i++) {
		family_of(out, "fabric", &families[i],
			  "sum over all ports since the first read of each");
		samples(out, "fabric", &families[i], "", total);
	}
}

/* ---- single ports ---- */

static void labels_make(struct strbuf *b, const struct run_view *v, const struct perf_view *p)
{
	b->len = 0;
	strbuf_add(b, "node=\"");
	metrics_label(b, sm_node_desc(v->sm, p->guid));
	strbuf_addf(b, "\",guid=\"0x%016llx\",port=\"%u\",peer=\"", (unsigned long long)p->guid,
		    p->port);
	metrics_label(b, p->peer ? sm_node_desc(v->sm, p->peer) : "");
	strbuf_addf(b, "\",peer_port=\"%u\"", p->peer_port);
}

/* Sick ones first: a bound must not hide these. */
static uint32_t ports_choose(const struct run_view *v, struct perf_view *ports, uint32_t most)
{
	uint32_t sick = perf_list(v->perf, PERF_BY_NAME, PERF_IS_SICK, ports, most, v->now),
		 n = sick;
	struct perf_view *all = mem_array(most, sizeof(*all));
	uint32_t count = perf_list(v->perf, PERF_BY_NAME, 0, all, most, v->now);

	for (uint32_t i = 0; i < count && n < most; i++)
		if (!(all[i].flags & PERF_IS_SICK))
			ports[n++] = all[i];
	free(all);
	return n;
}

static void ports_gauge(struct strbuf *out, const char *name, const char *help,
			const struct strbuf *labels, const struct perf_view *p, uint32_t n,
			uint64_t (*value)(const struct perf_view *))
{
	metrics_family(out, name, "gauge", NULL, help);
	for (uint32_t i = 0; i < n; i++)
		strbuf_addf(out, "weft_%s{%s} %llu\n", name, labels[i].s,
			    (unsigned long long)value(&p[i]));
}

static uint64_t is_sick(const struct perf_view *p)
{
	return (p->flags & PERF_IS_SICK) != 0;
}

static uint64_t is_isolated(const struct perf_view *p)
{
	return (p->flags & PERF_IS_ISOLATED) != 0;
}

static void single_ports(struct strbuf *out, const struct run_view *v, uint32_t ports)
{
	uint32_t most = MIN(v->cfg->metrics_ports, ports), n;
	struct perf_view *p = mem_array(MAX(most, 1u), sizeof(*p));
	struct strbuf *labels;

	n = ports_choose(v, p, most);
	labels = mem_zarray(MAX(n, 1u), sizeof(*labels));
	for (uint32_t i = 0; i < n; i++)
		labels_make(&labels[i], v, &p[i]);
	metrics_gauge(out, "perf_ports_without_series", "Ports beyond metrics.ports.", ports - n);
	for (unsigned i = 0; i < ARRAY_LEN(families); i++) {
		family_of(out, "port", &families[i], "of a port since its first read");
		for (uint32_t k = 0; k < n; k++)
			samples(out, "port", &families[i], labels[k].s, p[k].count);
	}
	ports_gauge(out, "port_sick", "Whether the link at this port has too many errors.", labels,
		    p, n, is_sick);
	ports_gauge(out, "port_isolated", "Whether no route uses this link, because it is sick.",
		    labels, p, n, is_isolated);
	for (uint32_t i = 0; i < n; i++)
		strbuf_free(&labels[i]);
	free(labels);
	free(p);
}

void metrics_perf(struct strbuf *out, const struct run_view *v)
{
	struct perf_status st;

	if (!v->perf || !v->sm)
		return;
	perf_status(v->perf, &st);
	if (!st.on)
		return;
	rounds(out, &st);
	sums(out, v);
	if (v->cfg->metrics_ports)
		single_ports(out, v, st.ports);
}
