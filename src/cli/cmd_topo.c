/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo: make, show, check, compare and draw fabrics. State: the options of the running
 * command. Way in: the cmd_topo_* tables. Does no work of its own on fabrics; fabric/ does.
 */
#include "cli/cmds.h"
#include "draw/draw.h"

#include <limits.h>
#include <strings.h>

static const char *out_path = "-";

/* ---- topo gen ---- */

static unsigned gen_switches, gen_ports, gen_hosts = UINT_MAX, gen_links;
static uint64_t gen_seed = 1;
static const char *gen_rate, *gen_cable, *gen_trunk;

/* "4xEDR", "4x EDR", "12xqdr", or a speed alone for 4 lanes. */
static int rate_parse(const char *s, unsigned *width, unsigned *speed, struct err *e)
{
	const char *x = strpbrk(s, "xX");
	const char *word = s;
	char *end;

	*width = 4;
	if (*s >= '0' && *s <= '9' && x) {
		*width = (unsigned)strtoul(s, &end, 10);
		word = end == x ? x + 1 + (x[1] == ' ') : "";
	}
	for (*speed = FAB_SDR; *speed < FAB_NSPEEDS; ++*speed)
		if (!strcasecmp(word, fab_speed_name(*speed)))
			break;
	if (*speed == FAB_NSPEEDS || !strchr("\1\2\4\10\14", (int)MIN(*width, 255)) || !*width)
		return err_set(
			e, -EINVAL,
			"--rate: expected lanes (1, 2, 4, 8 or 12), x and a speed (SDR to XDR) as "
			"in 4xEDR, found '%s'",
			s);
	return 0;
}

static int cable_parse(const char *option, const char *s, uint32_t *cm, struct err *e)
{
	const char *at = s, *end = s + strlen(s);

	if (fab_cable_take(&at, end, cm) && at == end)
		return 0;
	return err_set(e, -EINVAL,
		       "--%s: expected a length of 1cm to 100km such as 3m or 0.5m, found '%.60s'",
		       option, s);
}

static int sizes_parse(struct fab_gen *g, char **args, unsigned nargs, struct err *e)
{
	for (unsigned i = 1; i < nargs; i++) {
		uint64_t v;

		if (parse_u64(args[i], &v) || v > UINT32_MAX)
			return err_set(e, -EINVAL, "%s: expected a size, found '%s'", g->kind,
				       args[i]);
		if (g->ndims == ARRAY_LEN(g->dims))
			return err_set(e, -EINVAL, "%s: expected at most %zu sizes, found %u",
				       g->kind, ARRAY_LEN(g->dims), nargs - 1);
		g->dims[g->ndims++] = (unsigned)v;
	}
	if (gen_switches && g->ndims)
		return err_set(e, -EINVAL, "%s: give the sizes or --switches, not both", g->kind);
	if (gen_switches)
		g->dims[g->ndims++] = gen_switches;
	return 0;
}

/* --switches stands for the one size of those families whose size is a number of switches. */
static int switches_check(const struct fab_gen *g, struct err *e)
{
	static const char *const by_count[] = {"irregular", "ring", "fullmesh"};

	for (size_t i = 0; i < ARRAY_LEN(by_count); i++)
		if (!gen_switches || !strcmp(g->kind, by_count[i]))
			return 0;
	return err_set(e, -EINVAL, "%s: its sizes give the switches; leave out --switches",
		       g->kind);
}

/* A paragraph of at most 78 columns, indented by 4. */
static void wrap(struct strbuf *b, const char *text)
{
	size_t col = 0;

	while (*text) {
		size_t n = strcspn(text, " ");
		bool turn = !col || col + 1 + n > 78;

		strbuf_addf(b, "%s%.*s", !col ? "    " : turn ? "\n    " : " ", (int)n, text);
		col = (turn ? 4 : col + 1) + n;
		text += n + strspn(text + n, " ");
	}
	strbuf_add(b, ".\n");
}

static void families_text(struct strbuf *b)
{
	for (const struct fab_family *f = fab_families; f->kind; f++) {
		strbuf_addf(b, "%s%s %s\n", f == fab_families ? "" : "\n", f->kind, f->dims_help);
		wrap(b, f->summary);
		strbuf_addf(b, "    %s\n", f->example);
	}
}

static int families_print(void)
{
	struct json j = {0};

	if (!cli_json) {
		struct strbuf b = {0};

		families_text(&b);
		return cli_write("-", &b);
	}
	json_open(&j, NULL, '[');
	for (const struct fab_family *f = fab_families; f->kind; f++) {
		json_open(&j, NULL, '{');
		json_str(&j, "kind", f->kind);
		json_str(&j, "sizes", f->dims_help);
		json_str(&j, "summary", f->summary);
		json_str(&j, "example", f->example);
		json_close(&j);
	}
	json_close(&j);
	return cli_print_json(&j);
}

static int written_json(const struct fab *f)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "file", out_path);
	json_u64(&j, "switches", f->nswitches);
	json_u64(&j, "hosts", f->nhosts);
	json_u64(&j, "links", f->nlinks);
	json_close(&j);
	return cli_print_json(&j);
}

static int gen_run(char **args, unsigned nargs)
{
	struct fab_gen g = {.kind = nargs ? args[0] : NULL,
			    .ports = gen_ports,
			    .has_hosts = gen_hosts != UINT_MAX,
			    .hosts = gen_hosts,
			    .links = gen_links,
			    .seed = gen_seed};
	struct strbuf text = {0};
	struct err e = {""};
	struct fab *f;
	int rc;

	if (!nargs)
		return families_print();
	if (cli_json && !strcmp(out_path, "-"))
		return cli_bad("--json goes with -o FILE: the netlist itself is not JSON");
	if (switches_check(&g, &e) || sizes_parse(&g, args, nargs, &e) ||
	    (gen_rate && rate_parse(gen_rate, &g.width, &g.speed, &e)) ||
	    (gen_cable && cable_parse("cable", gen_cable, &g.cable_cm, &e)) ||
	    (gen_trunk && cable_parse("trunk", gen_trunk, &g.trunk_cm, &e)))
		return cli_bad("%s", e.text);
	f = fab_generate(&g, &e);
	if (!f)
		return cli_bad("%s", e.text);
	fab_netlist_write(f, &text);
	rc = cli_write(out_path, &text);
	if (rc == CLI_OK && cli_json)
		rc = written_json(f);
	fab_free(f);
	return rc;
}

static const struct cli_opt gen_opts[] = {
	{"switches", 's', CLI_UINT, &gen_switches, "N", "the size of irregular, ring and fullmesh",
	 NULL, 1, 1 << 20},
	{"ports", 'p', CLI_UINT, &gen_ports, "N",
	 "ports a switch (default: 4 for irregular, else as many as the shape needs)", NULL, 1,
	 254},
	{"hosts", 0, CLI_UINT, &gen_hosts, "N",
	 "irregular: hosts in all; other kinds: hosts a switch that bears hosts", NULL, 0, 1 << 20},
	{"links", 'l', CLI_UINT, &gen_links, "N",
	 "irregular: links between switches (default: as many as fit)", NULL, 1, 1 << 24},
	{"seed", 0, CLI_U64, &gen_seed, "N", "what the random kinds draw from (default 1)", NULL, 0,
	 0},
	{"rate", 'r', CLI_STR, &gen_rate, "RATE", "of every link, as 4xEDR (default 4xQDR)", NULL,
	 0, 0},
	{"cable", 0, CLI_STR, &gen_cable, "LENGTH", "of every cable, as 3m (default: not known)",
	 NULL, 0, 0},
	{"trunk", 0, CLI_STR, &gen_trunk, "LENGTH",
	 "of the cables between switches, as 30m (default: as --cable)", NULL, 0, 0},
	{"output", 'o', CLI_STR, &out_path, "FILE", "where to write (default: standard output)",
	 NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_topo_gen = {
	.name = "topo gen",
	.args = "[KIND SIZE...]",
	.summary = "generate a fabric as a netlist",
	.about =
		"Kinds: irregular N; mtree M N (M-port N-tree); kary K N (K-ary N-tree); clos M N R (M "
		"middle switches, N hosts on each of R edge switches); mesh and torus X Y ...; "
		"hypercube N; dragonfly P A H [G]; fullmesh N; ring N; star N. Without KIND, what "
		"each takes is listed.\n\n"
		"The same kind, sizes, options and seed give the same netlist everywhere.",
	.examples = "weft topo gen irregular 16 --hosts 14 --seed 7 -o net.txt\n"
		    "weft topo gen mtree 8 3 --rate 4xHDR -o tree.txt\n"
		    "weft topo gen mtree 8 3 --cable 2m --trunk 30m -o hall.txt\n"
		    "weft topo gen dragonfly 2 4 2 | weft topo svg - -o dragonfly.svg",
	.opts = gen_opts,
	.max_args = 64, /* more than any kind takes: sizes_parse() explains that better */
	.run = gen_run,
};

/* ---- topo show ---- */

static void warning_text(const struct fab_warning *w, struct strbuf *b)
{
	b->len = 0;
	if (w->line)
		strbuf_addf(b, "line %u: ", w->line);
	strbuf_add(b, w->text);
}

static uint64_t lids_count(const struct fab *f)
{
	uint64_t n = 0;

	for (port_id p = 0; p < f->nports; p++)
		n += f->ports[p].lid ? 1u << f->ports[p].lmc : 0;
	return n;
}

/* Connected ports a switch, in hundredths. */
static uint64_t degree_mean(const struct fab_stats *s)
{
	return s->switches ? (s->degree_sum * 100 + s->switches / 2) / s->switches : 0;
}

static void rate_text(char buf[32], unsigned width, unsigned speed)
{
	if (width && speed)
		snprintf(buf, 32, "%ux %s", width, fab_speed_name(speed));
	else
		snprintf(buf, 32, "unknown");
}

static void rates_json(struct json *j, const struct fab_stats *s)
{
	char name[32];

	json_open(j, "rates", '[');
	for (unsigned i = 0; i < FAB_NSPEEDS * 13; i++) {
		unsigned speed = i / 13, width = i % 13;

		if (!s->rate[speed][width])
			continue;
		rate_text(name, width, speed);
		json_open(j, NULL, '{');
		json_str(j, "rate", name);
		json_u64(j, "width", width);
		json_str(j, "speed", fab_speed_name(speed));
		json_u64(j, "links", s->rate[speed][width]);
		json_close(j);
	}
	json_close(j);
}

static void cables_json(struct json *j, const struct fab_stats *s)
{
	json_open(j, "cables", '{');
	json_u64(j, "known", s->cables);
	json_fixed(j, "min_m", s->cable_min_cm, 2);
	json_fixed(j, "max_m", s->cable_max_cm, 2);
	json_fixed(j, "total_m", s->cable_sum_cm, 2);
	json_close(j);
}

static void warnings_json(struct json *j, const struct fab_netlist *net)
{
	struct strbuf b = {0};

	json_open(j, "warnings", '[');
	for (size_t i = 0; i < net->warnings.n; i++) {
		warning_text(&net->warnings.at[i], &b);
		json_str(j, NULL, b.s);
	}
	json_close(j);
	strbuf_free(&b);
}

static int show_json(const struct fab *f, const struct fab_stats *s, const struct fab_netlist *net)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "switches", s->switches);
	json_u64(&j, "hosts", s->hosts);
	json_u64(&j, "routers", s->routers);
	json_u64(&j, "links", s->links);
	json_u64(&j, "switch_links", s->switch_links);
	json_u64(&j, "diameter", s->diameter);
	json_u64(&j, "host_diameter", s->host_diameter);
	json_u64(&j, "levels", s->levels);
	json_open(&j, "degrees", '{');
	json_u64(&j, "min", s->degree_min);
	json_fixed(&j, "mean", degree_mean(s), 2);
	json_u64(&j, "max", s->degree_max);
	json_close(&j);
	json_u64(&j, "ports_free", s->ports_free);
	json_u64(&j, "components", s->components);
	json_u64(&j, "isolated", s->isolated);
	rates_json(&j, s);
	cables_json(&j, s);
	json_u64(&j, "lids", lids_count(f));
	warnings_json(&j, net);
	json_close(&j);
	return cli_print_json(&j);
}

static void count_row(struct cli_table *t, const char *name, uint64_t v, const char *note)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(v));
	cli_table_add(t, "%s", note);
}

static void show_rates(const struct fab_stats *s)
{
	struct cli_table t;
	char name[32];

	if (!s->links)
		return;
	putchar('\n');
	cli_table_init(&t, "lr", "rate", "links");
	for (unsigned i = 0; i < FAB_NSPEEDS * 13; i++) {
		if (!s->rate[i / 13][i % 13])
			continue;
		rate_text(name, i % 13, i / 13);
		cli_table_add(&t, "%s", name);
		cli_table_add(&t, "%s", cli_count(s->rate[i / 13][i % 13]));
	}
	cli_table_print(&t, stdout);
}

static void show_cables(const struct fab_stats *s)
{
	char min[16], max[16];

	if (!s->cables)
		return;
	fab_cable_text(min, s->cable_min_cm);
	fab_cable_text(max, s->cable_max_cm);
	printf("\n%s of %s cables have a known length: %s to %s, %s m in all\n",
	       cli_count(s->cables), cli_count(s->links), min, max,
	       cli_count((s->cable_sum_cm + 50) / 100));
}

static void show_text(const struct fab *f, const struct fab_stats *s, const struct fab_netlist *net)
{
	uint64_t mean = degree_mean(s);
	struct strbuf b = {0};
	struct cli_table t;
	char degrees[64];

	snprintf(degrees, sizeof(degrees), "connected a switch: %u to %u, mean %llu.%02llu",
		 s->degree_min, s->degree_max, (unsigned long long)mean / 100,
		 (unsigned long long)mean % 100);
	cli_table_init(&t, "lrl", "switches", cli_count(s->switches), ""); /* no headings */
	count_row(&t, "hosts", s->hosts, "");
	count_row(&t, "routers", s->routers, "");
	count_row(&t, "links", s->links, "");
	count_row(&t, "  between switches", s->switch_links, "");
	count_row(&t, "switch ports free", s->ports_free, degrees);
	count_row(&t, "diameter", s->diameter, "hops between switches");
	count_row(&t, "host diameter", s->host_diameter, "links between hosts");
	count_row(&t, "levels", s->levels, "distances of switches from the nearest with hosts");
	count_row(&t, "parts", s->components,
		  s->components > 1 ? "not connected with each other" : "");
	count_row(&t, "isolated nodes", s->isolated, "");
	count_row(&t, "LIDs", lids_count(f), "");
	cli_table_print(&t, stdout);
	show_rates(s);
	show_cables(s);
	if (net->warnings.n)
		printf("\n%s warnings\n", cli_count(net->warnings.n));
	for (size_t i = 0; i < net->warnings.n; i++) {
		warning_text(&net->warnings.at[i], &b);
		printf("  %s\n", b.s);
	}
	strbuf_free(&b);
}

static int show_run(char **args, unsigned nargs UNUSED)
{
	struct fab_netlist net;
	struct fab *f = cli_load_quiet(args[0], &net);
	struct fab_stats s;
	int rc = CLI_OK;

	if (!f)
		return CLI_BAD;
	fab_stats(f, &s);
	if (cli_json)
		rc = show_json(f, &s, &net);
	else
		show_text(f, &s, &net);
	fab_netlist_free(&net);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_topo_show = {
	.name = "topo show",
	.args = "FILE",
	.summary = "sizes, distances and rates of a netlist",
	.about =
		"FILE is what ibnetdiscover prints or ibsim reads; '-' is standard input. Warnings about "
		"the file are part of the answer here and do not change the exit status.",
	.examples = "ibnetdiscover | weft topo show -\nweft topo show net.txt --json",
	.min_args = 1,
	.max_args = 1,
	.run = show_run,
};

/* ---- topo check ---- */

typedef VEC(char *) text_list;

static void problem(text_list *l, const char *fmt, ...) PRINTF(2, 3);
static void problem(text_list *l, const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = mem_strdup("out of memory");
	va_end(ap);
	vec_push(l, s);
}

static void check_nodes(const struct fab *f, text_list *l)
{
	struct fab_stats s;
	char ident[32];

	if (!f->nnodes)
		problem(l, "no nodes");
	for (node_id n = 0; n < f->nnodes; n++) {
		bool linked = false;

		for (unsigned i = 1; i <= f->nodes[n].nports && !linked; i++)
			linked = f->ports[fab_port_id(f, n, i)].peer != FAB_NONE;
		fab_node_ident(f, n, ident);
		if (!linked)
			problem(l, "%s \"%s\" has no link", ident, fab_node_name(f, n));
	}
	fab_stats(f, &s);
	if (s.components > 1)
		problem(l, "the fabric falls into %u parts, not connected with each other",
			s.components);
}

static void check_lids(const struct fab *f, text_list *l)
{
	port_id *owner = mem_array(0x10000 + 128, sizeof(*owner));
	char a[32], b[32];

	memset(owner, 0xff, (0x10000 + 128) * sizeof(*owner));
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];

		for (unsigned i = 0; q->lid && i < 1u << MIN(q->lmc, 7); i++) {
			port_id *o = &owner[q->lid + i];

			fab_node_ident(f, q->node, b);
			if (*o != FAB_NONE) {
				fab_node_ident(f, f->ports[*o].node, a);
				problem(l, "LID %u belongs to both %s[%u] and %s[%u]", q->lid + i,
					a, f->ports[*o].num, b, q->num);
			} else {
				*o = p;
			}
		}
	}
	free(owner);
}

struct guid_use {
	uint64_t guid;
	port_id port;
};

static int by_guid(const void *a, const void *b)
{
	const struct guid_use *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static void check_guids(const struct fab *f, text_list *l)
{
	VEC(struct guid_use) v = {0};
	char a[32], b[32];

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid)
			vec_push(&v, (struct guid_use){f->ports[p].guid, p});
	if (v.n)
		qsort(v.at, v.n, sizeof(*v.at), by_guid);
	for (size_t i = 1; i < v.n; i++) {
		const struct fab_port *p = &f->ports[v.at[i - 1].port],
				      *q = &f->ports[v.at[i].port];

		if (v.at[i].guid != v.at[i - 1].guid || p->node == q->node)
			continue;
		fab_node_ident(f, p->node, a);
		fab_node_ident(f, q->node, b);
		problem(l, "port GUID 0x%016llx belongs to both %s[%u] and %s[%u]",
			(unsigned long long)v.at[i].guid, a, p->num, b, q->num);
	}
	vec_free(&v);
}

static int check_report(const char *path, const text_list *l)
{
	struct json j = {0};
	int rc = CLI_OK;

	if (cli_json) {
		json_open(&j, NULL, '{');
		json_bool(&j, "clean", !l->n);
		json_open(&j, "problems", '[');
		for (size_t i = 0; i < l->n; i++)
			json_str(&j, NULL, l->at[i]);
		json_close(&j);
		json_close(&j);
		rc = cli_print_json(&j);
	} else {
		for (size_t i = 0; i < l->n; i++)
			printf("%s: %s\n", path, l->at[i]);
		if (l->n)
			printf("%s problem%s\n", cli_count(l->n), l->n == 1 ? "" : "s");
		else
			printf("%s: clean\n", path);
	}
	return rc != CLI_OK ? rc : l->n ? CLI_NO : CLI_OK;
}

static int check_run(char **args, unsigned nargs UNUSED)
{
	struct fab_netlist net;
	struct fab *f = cli_load_quiet(args[0], &net);
	text_list l = {0};
	struct strbuf b = {0};
	int rc;

	if (!f)
		return CLI_BAD;
	for (size_t i = 0; i < net.warnings.n; i++) {
		warning_text(&net.warnings.at[i], &b);
		problem(&l, "%s", b.s);
	}
	check_nodes(f, &l);
	check_guids(f, &l);
	check_lids(f, &l);
	rc = check_report(strcmp(args[0], "-") ? args[0] : "standard input", &l);
	for (size_t i = 0; i < l.n; i++)
		free(l.at[i]);
	vec_free(&l);
	strbuf_free(&b);
	fab_netlist_free(&net);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_topo_check = {
	.name = "topo check",
	.args = "FILE",
	.summary = "find what is wrong with a netlist",
	.about =
		"Lists links that only one end knows, nodes without links, parts that are not connected "
		"with each other, and LIDs or GUIDs used twice. The status is 0 when there is nothing to "
		"list, 1 when there is, 2 when FILE cannot be read as a netlist.",
	.examples = "ibnetdiscover | weft topo check -",
	.min_args = 1,
	.max_args = 1,
	.run = check_run,
};

/* ---- topo diff ---- */

static const struct {
	const char *word, *sign;
} diff_kinds[] = {
	[FAB_NODE_ADDED] = {"node added", "+"},	    [FAB_NODE_GONE] = {"node removed", "-"},
	[FAB_LINK_ADDED] = {"link added", "+"},	    [FAB_LINK_GONE] = {"link removed", "-"},
	[FAB_NODE_CHANGED] = {"node changed", "~"},
};

/* The node's identity and name, from whichever of the two snapshots has it. */
static void node_text(struct strbuf *b, const struct fab *const f[2], uint64_t guid)
{
	for (int i = 1; i >= 0; i--) {
		node_id n = fab_node_by_guid(f[i], guid);
		char ident[32];

		if (n == FAB_NONE)
			continue;
		fab_node_ident(f[i], n, ident);
		strbuf_addf(b, "%s \"%s\"", ident, fab_node_name(f[i], n));
		return;
	}
	strbuf_addf(b, "0x%016llx", (unsigned long long)guid);
}

static const char *node_name(const struct fab *const f[2], uint64_t guid)
{
	for (int i = 1; i >= 0; i--) {
		node_id n = fab_node_by_guid(f[i], guid);

		if (n != FAB_NONE)
			return fab_node_name(f[i], n);
	}
	return "";
}

static int diff_json(const struct fab *const f[2], const fab_diff_list *l)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_bool(&j, "equal", !l->n);
	json_open(&j, "changes", '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct fab_diff_item *d = &l->at[i];

		json_open(&j, NULL, '{');
		json_str(&j, "kind", diff_kinds[d->kind].word);
		json_hex64(&j, "guid", d->guid_a);
		json_str(&j, "name", node_name(f, d->guid_a));
		if (d->kind == FAB_LINK_ADDED || d->kind == FAB_LINK_GONE) {
			json_u64(&j, "port", d->port_a);
			json_hex64(&j, "peer_guid", d->guid_b);
			json_str(&j, "peer_name", node_name(f, d->guid_b));
			json_u64(&j, "peer_port", d->port_b);
		}
		if (d->text)
			json_str(&j, "what", d->text);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

static int diff_text(const struct fab *const f[2], const fab_diff_list *l)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < l->n; i++) {
		const struct fab_diff_item *d = &l->at[i];

		strbuf_addf(&b, "%s %-12s  ", diff_kinds[d->kind].sign, diff_kinds[d->kind].word);
		node_text(&b, f, d->guid_a);
		if (d->kind == FAB_LINK_ADDED || d->kind == FAB_LINK_GONE) {
			strbuf_addf(&b, "[%u] - ", d->port_a);
			node_text(&b, f, d->guid_b);
			strbuf_addf(&b, "[%u]", d->port_b);
		} else if (d->kind == FAB_NODE_CHANGED && d->port_a) {
			strbuf_addf(&b, "[%u]", d->port_a);
		}
		strbuf_addf(&b, "%s%s\n", d->text ? ": " : "", d->text ? d->text : "");
	}
	if (!l->n)
		strbuf_add(&b, "no difference\n");
	return cli_write("-", &b);
}

static int diff_run(char **args, unsigned nargs UNUSED)
{
	struct fab *f[2] = {NULL, NULL};
	fab_diff_list l = {0};
	int rc = CLI_BAD;

	if (!strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one of the two can be standard input");
	f[0] = cli_load(args[0]);
	f[1] = f[0] ? cli_load(args[1]) : NULL;
	if (f[1]) {
		const struct fab *const both[2] = {f[0], f[1]};

		fab_diff(f[0], f[1], &l);
		rc = cli_json ? diff_json(both, &l) : diff_text(both, &l);
		if (rc == CLI_OK && l.n)
			rc = CLI_NO;
		fab_diff_free(&l);
	}
	fab_free(f[0]);
	fab_free(f[1]);
	return rc;
}

const struct cli_cmd cmd_topo_diff = {
	.name = "topo diff",
	.args = "BEFORE AFTER",
	.summary = "what changed between two netlists",
	.about =
		"Nodes are the same when their GUIDs are, whatever the order in the files. The status is 0 "
		"when nothing differs and 1 when something does.",
	.examples =
		"weft topo diff yesterday.txt today.txt\nibnetdiscover | weft topo diff plan.txt -",
	.min_args = 2,
	.max_args = 2,
	.run = diff_run,
};

/* ---- topo dot, topo svg ---- */

static int draw(const char *path, void (*render)(const struct fab *f, struct strbuf *out))
{
	struct strbuf b = {0};
	struct fab *f;

	int rc;

	if (cli_json && !strcmp(out_path, "-"))
		return cli_bad("--json goes with -o FILE: the drawing itself is not JSON");
	f = cli_load(path);
	if (!f)
		return CLI_BAD;
	cli_stage("drawing");
	render(f, &b);
	cli_progress_end();
	rc = cli_write(out_path, &b);
	if (rc == CLI_OK && cli_json)
		rc = written_json(f);
	fab_free(f);
	return rc;
}

static int dot_run(char **args, unsigned nargs UNUSED)
{
	return draw(args[0], draw_fabric_dot);
}

static int svg_run(char **args, unsigned nargs UNUSED)
{
	return draw(args[0], draw_fabric_svg);
}

static const struct cli_opt draw_opts[] = {
	{"output", 'o', CLI_STR, &out_path, "FILE", "where to write (default: standard output)",
	 NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_topo_dot = {
	.name = "topo dot",
	.args = "FILE",
	.summary = "a netlist as a Graphviz graph",
	.examples = "weft topo dot net.txt | neato -Tpdf -o net.pdf",
	.opts = draw_opts,
	.min_args = 1,
	.max_args = 1,
	.run = dot_run,
};

const struct cli_cmd cmd_topo_svg = {
	.name = "topo svg",
	.args = "FILE",
	.summary = "a netlist as a picture",
	.about =
		"Trees are drawn in layers with their hosts below; other shapes so that distances on paper "
		"follow distances in hops. Links are coloured by speed. Names, GUIDs, LIDs and port "
		"numbers "
		"show when the pointer rests on a node or link.",
	.examples = "weft topo gen mtree 8 3 | weft topo svg - -o tree.svg",
	.opts = draw_opts,
	.min_args = 1,
	.max_args = 1,
	.run = svg_run,
};
