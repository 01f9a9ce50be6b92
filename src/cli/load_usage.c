/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run by host, switch and link, as tables and JSON. State: none. Tables show the slowest or
 * busiest few; JSON has all of them in the fabric's order.
 */
#include "cli/cli.h"
#include "cli/load_report.h"
#include "lab/load.h"

enum { ROWS = 12 };

typedef unsigned __int128 u128;

static time_ps window(const struct load_report *r)
{
	return r->r.window_end - r->r.window_start;
}

static uint64_t bits_a_second(const struct load_report *r, uint64_t bytes)
{
	return window(r) ? (uint64_t)((u128)bytes * 8 * PS_PER_S / window(r)) : 0;
}

/* ---- which rows ---- */

/* The indexes of the largest keys, equal ones in their order; returns how many. */
static unsigned largest(const uint64_t *key, size_t n, size_t best[ROWS])
{
	unsigned kept = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned at = kept;

		while (at && key[best[at - 1]] < key[i])
			at--;
		if (at == ROWS)
			continue;
		kept = MIN(kept + 1, (unsigned)ROWS);
		memmove(best + at + 1, best + at, (kept - at - 1) * sizeof(*best));
		best[at] = i;
	}
	return kept;
}

static void host_name(const struct fab *f, port_id p, char buf[48])
{
	if (f->nodes[f->ports[p].node].nports > 1)
		load_port_name(f, p, buf);
	else
		fab_node_ident(f, f->ports[p].node, buf);
}

static void print_heading(const char *what, unsigned shown, size_t n)
{
	if (shown < n)
		printf("%s, %u of %s:\n", what, shown, cli_count(n));
	else
		printf("%s:\n", what);
}

/* ---- cells ---- */

static void percent_cell(struct cli_table *t, uint32_t millionths)
{
	cli_table_add(t, "%u.%u %%", millionths / 10000, millionths / 1000 % 10);
}

static void milli_cell(struct cli_table *t, uint64_t v)
{
	cli_table_add(t, "%s.%llu", cli_count(v / 1000), (unsigned long long)(v % 1000 / 100));
}

static void latency_cell(struct cli_table *t, const struct lab_latency *l, time_ps v)
{
	cli_table_add(t, "%s", l->n ? cli_duration(v) : "-");
}

/* "cleared 12, unroutable 3" */
static void causes_cell(struct cli_table *t, const uint64_t by[SIM_NDISCARDS])
{
	struct strbuf b = {0};

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		if (by[i])
			strbuf_addf(&b, "%s%s %s", b.len ? ", " : "",
				    sim_discard_name((enum sim_discard)i), cli_count(by[i]));
	cli_table_add(t, "%s", b.len ? b.s : "");
	strbuf_free(&b);
}

/* ---- tables ---- */

static void host_row(struct cli_table *t, const struct load_report *r, const struct lab_host_use *h)
{
	uint64_t mbps = (bits_a_second(r, h->window_bytes) + 500000) / 1000000;
	char name[48];

	host_name(r->fab, h->port, name);
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(h->generated));
	cli_table_add(t, "%s", cli_count(h->sent));
	cli_table_add(t, "%s", cli_count(h->received));
	cli_table_add(t, "%s", cli_count(h->lost));
	latency_cell(t, &h->latency, h->latency.mean);
	latency_cell(t, &h->latency, h->latency.p99);
	latency_cell(t, &h->latency, h->latency.max);
	latency_cell(t, &h->header, h->header.mean);
	cli_table_add(t, "%llu.%03llu", (unsigned long long)(mbps / 1000),
		      (unsigned long long)(mbps % 1000));
	milli_cell(t, h->queue_milli);
	cli_table_add(t, "%s", cli_count(h->queue_max));
	causes_cell(t, h->discarded);
}

static void print_hosts(const struct load_report *r)
{
	const struct lab_usage *u = &r->r.usage;
	uint64_t *key = mem_array(u->hosts.n, sizeof(*key));
	struct cli_table t;
	size_t best[ROWS];
	unsigned n;

	for (size_t i = 0; i < u->hosts.n; i++)
		key[i] = u->hosts.at[i].latency.mean;
	n = largest(key, u->hosts.n, best);
	print_heading("hosts, the slowest to reach first", n, u->hosts.n);
	cli_table_init(&t, "lrrrrrrrrrrrl", "host", "generated", "sent", "received", "lost",
		       "latency", "p99", "max", "header", "Gb/s in", "queue", "longest", "");
	for (unsigned i = 0; i < n; i++)
		host_row(&t, r, &u->hosts.at[best[i]]);
	cli_table_print(&t, stdout);
	putchar('\n');
	free(key);
}

static void print_switches(const struct load_report *r)
{
	const struct lab_usage *u = &r->r.usage;
	uint64_t *key = mem_array(u->switches.n, sizeof(*key));
	struct cli_table t;
	size_t best[ROWS];
	char ident[32];
	unsigned n;

	for (size_t i = 0; i < u->switches.n; i++)
		key[i] = u->switches.at[i].forwarded;
	n = largest(key, u->switches.n, best);
	print_heading("switches, the busiest first", n, u->switches.n);
	cli_table_init(&t, "lrrrrrrl", "switch", "forwarded", "discarded", "buffers", "fullest",
		       "no credit", "queued", "");
	for (unsigned i = 0; i < n; i++) {
		const struct lab_switch_use *x = &u->switches.at[best[i]];

		fab_node_ident(r->fab, x->node, ident);
		cli_table_add(&t, "%s", ident);
		cli_table_add(&t, "%s", cli_count(x->forwarded));
		cli_table_add(&t, "%s", cli_count(x->discarded_all));
		percent_cell(&t, x->buffer);
		percent_cell(&t, x->buffer_max);
		percent_cell(&t, x->no_credit);
		milli_cell(&t, x->queue_milli);
		causes_cell(&t, x->discarded);
	}
	cli_table_print(&t, stdout);
	putchar('\n');
	free(key);
}

/* Means and worst of a link's lanes, for one line of text. */
static struct sim_lane_detail lanes_of(const struct lab_usage *u, size_t link)
{
	struct sim_lane_detail all = {0};

	for (unsigned vl = 0; vl < u->nvl; vl++) {
		const struct sim_lane_detail *l = &u->lanes.at[link * u->nvl + vl];

		all.packets += l->packets;
		all.no_credit_share = MAX(all.no_credit_share, l->no_credit_share);
		all.credits += l->credits / u->nvl;
		all.buffer += l->buffer / u->nvl;
		all.buffer_max = MAX(all.buffer_max, l->buffer_max);
	}
	return all;
}

static void link_row(struct cli_table *t, const struct load_report *r, size_t i)
{
	const struct lab_link_use *x = &r->r.usage.links.at[i];
	struct sim_lane_detail lanes = lanes_of(&r->r.usage, i);
	char name[48];

	load_port_name(r->fab, x->port, name);
	cli_table_add(t, "%s", name);
	load_port_name(r->fab, r->fab->ports[x->port].peer, name);
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(lanes.packets));
	percent_cell(t, x->use.use);
	percent_cell(t, x->use.wait_share);
	percent_cell(t, lanes.no_credit_share);
	percent_cell(t, lanes.credits);
	percent_cell(t, lanes.buffer);
	percent_cell(t, lanes.buffer_max);
	cli_table_add(t, "%s", cli_count(x->counters.discarded));
}

static void print_links(const struct load_report *r)
{
	const struct lab_usage *u = &r->r.usage;
	uint64_t *key = mem_array(u->links.n, sizeof(*key));
	struct cli_table t;
	size_t best[ROWS];
	unsigned n;

	for (size_t i = 0; i < u->links.n; i++)
		key[i] = (uint64_t)u->links.at[i].use.use << 32 | lanes_of(u, i).no_credit_share;
	n = largest(key, u->links.n, best);
	print_heading("links, the busiest direction first", n, u->links.n);
	cli_table_init(&t, "llrrrrrrrr", "from", "to", "packets", "in use", "waiting", "no credit",
		       "credits", "buffers", "fullest", "discarded");
	for (unsigned i = 0; i < n; i++)
		link_row(&t, r, best[i]);
	cli_table_print(&t, stdout);
	putchar('\n');
	free(key);
}

void load_usage_text(const struct load_report *r)
{
	if (r->nodes && r->r.usage.hosts.n)
		print_hosts(r);
	if (r->nodes && r->r.usage.switches.n)
		print_switches(r);
	if (r->links && r->r.usage.links.n)
		print_links(r);
}

/* ---- JSON ---- */

static void json_latency(struct json *j, const char *key, const struct lab_latency *l)
{
	json_open(j, key, '{');
	json_fixed(j, "mean", l->mean, 3);
	json_fixed(j, "p50", l->p50, 3);
	json_fixed(j, "p99", l->p99, 3);
	json_fixed(j, "max", l->max, 3);
	json_u64(j, "packets", l->n);
	json_close(j);
}

static void json_port(struct json *j, const struct fab *f, port_id p)
{
	char ident[32];

	fab_node_ident(f, f->ports[p].node, ident);
	json_str(j, "node", ident);
	json_u64(j, "port", f->ports[p].num);
}

static void json_discarded(struct json *j, const uint64_t by[SIM_NDISCARDS], uint64_t all)
{
	json_open(j, "discarded", '{');
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		json_u64(j, sim_discard_name((enum sim_discard)i), by[i]);
	json_u64(j, "total", all);
	json_close(j);
}

static void json_host(struct json *j, const struct load_report *r, const struct lab_host_use *h)
{
	uint64_t span = window(r);

	json_open(j, NULL, '{');
	json_port(j, r->fab, h->port);
	json_u64(j, "generated", h->generated);
	json_u64(j, "sent", h->sent);
	json_u64(j, "received", h->received);
	json_u64(j, "lost", h->lost);
	json_discarded(j, h->discarded, h->discarded_all);
	json_latency(j, "latency_ns", &h->latency);
	json_latency(j, "header_latency_ns", &h->header);
	json_u64(j, "offered_packets_s",
		 span ? (uint64_t)((u128)h->window_generated * PS_PER_S / span) : 0);
	json_u64(j, "received_packets_s",
		 span ? (uint64_t)((u128)h->window_received * PS_PER_S / span) : 0);
	json_u64(j, "received_bits_s", bits_a_second(r, h->window_bytes));
	json_fixed(j, "queue", h->queue_milli, 3);
	json_u64(j, "queue_max", h->queue_max);
	json_close(j);
}

static void json_switch(struct json *j, const struct load_report *r, const struct lab_switch_use *x)
{
	char ident[32];

	fab_node_ident(r->fab, x->node, ident);
	json_open(j, NULL, '{');
	json_str(j, "node", ident);
	json_u64(j, "forwarded", x->forwarded);
	json_discarded(j, x->discarded, x->discarded_all);
	json_fixed(j, "buffer_use", x->buffer, 6);
	json_fixed(j, "buffer_use_max", x->buffer_max, 6);
	json_fixed(j, "no_credit", x->no_credit, 6);
	json_fixed(j, "queue", x->queue_milli, 3);
	json_close(j);
}

static void json_nodes(struct json *j, const struct load_report *r)
{
	json_open(j, "nodes", '{');
	json_open(j, "hosts", '[');
	for (size_t i = 0; i < r->r.usage.hosts.n; i++)
		json_host(j, r, &r->r.usage.hosts.at[i]);
	json_close(j);
	json_open(j, "switches", '[');
	for (size_t i = 0; i < r->r.usage.switches.n; i++)
		json_switch(j, r, &r->r.usage.switches.at[i]);
	json_close(j);
	json_close(j);
}

static void json_lane(struct json *j, unsigned vl, const struct sim_lane_detail *l)
{
	json_open(j, NULL, '{');
	json_u64(j, "vl", vl);
	json_u64(j, "packets", l->packets);
	json_u64(j, "bytes", l->bytes);
	json_fixed(j, "no_credit", l->no_credit_share, 6);
	json_fixed(j, "credits", l->credits, 6);
	json_fixed(j, "buffer_use", l->buffer, 6);
	json_fixed(j, "buffer_use_max", l->buffer_max, 6);
	json_fixed(j, "queue", l->queue_milli, 3);
	json_u64(j, "queue_max", l->queue_max);
	json_close(j);
}

static void json_link(struct json *j, const struct load_report *r, size_t i)
{
	const struct lab_link_use *x = &r->r.usage.links.at[i];

	json_open(j, NULL, '{');
	json_port(j, r->fab, x->port);
	json_open(j, "to", '{');
	json_port(j, r->fab, r->fab->ports[x->port].peer);
	json_close(j);
	json_u64(j, "tx_packets", x->counters.tx_packets);
	json_u64(j, "tx_bytes", x->counters.tx_bytes);
	json_u64(j, "rx_packets", x->counters.rx_packets);
	json_u64(j, "rx_bytes", x->counters.rx_bytes);
	json_u64(j, "errors", x->counters.errors);
	json_u64(j, "recoveries", x->counters.recoveries);
	json_u64(j, "downed", x->counters.downed);
	json_u64(j, "discarded", x->counters.discarded);
	json_fixed(j, "use", x->use.use, 6);
	json_fixed(j, "wait", x->use.wait_share, 6);
	json_fixed(j, "vl15", x->use.smp_share, 6);
	json_open(j, "lanes", '[');
	for (unsigned vl = 0; vl < r->r.usage.nvl; vl++)
		json_lane(j, vl, &r->r.usage.lanes.at[i * r->r.usage.nvl + vl]);
	json_close(j);
	json_close(j);
}

/* The share of link time that SMPs take: over all links, and at the ports of the manager's node (Fig. 64). */
static void json_vl15(struct json *j, const struct load_report *r)
{
	uint64_t all = 0, own = 0, n = 0;

	for (size_t i = 0; i < r->r.usage.links.n; i++) {
		const struct lab_link_use *x = &r->r.usage.links.at[i];

		all += x->use.smp_share;
		if (r->fab->ports[x->port].node != r->sm_node)
			continue;
		own += x->use.smp_share;
		n++;
	}
	json_open(j, "vl15", '{');
	json_fixed(j, "mean", all / MAX(r->r.usage.links.n, (size_t)1), 6);
	json_fixed(j, "manager", own / MAX(n, (uint64_t)1), 6);
	json_close(j);
}

void load_usage_json(const struct load_report *r, struct json *j)
{
	if (r->nodes)
		json_nodes(j, r);
	if (!r->links)
		return;
	json_vl15(j, r);
	json_open(j, "links", '[');
	for (size_t i = 0; i < r->r.usage.links.n; i++)
		json_link(j, r, i);
	json_close(j);
}
