/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What weft route compute and weft route verify share. State: route_o, the options of the one command
 * that runs. Ways in: route_root_find(), route_report_print(), route_report_json(). Verifies nothing.
 */
#include "cli/route_report.h"
#include "route/node_groups.h"
#include "route/quality.h"

const char route_engine_default[] = "auto";
struct route_opts route_o = {.engine = route_engine_default};

const char *const route_directions[] = {"distance", "bfs", "dfs", NULL};

const char *const route_ties[] = {"spread", "first", "random", NULL};

static int root_find(const struct fab *f, const char *file, const char *name, node_id *root)
{
	if (!name || !strcmp(name, "centre")) {
		*root = rt_root_choose(f, NULL, 0, FAB_NONE);
		return CLI_OK;
	}
	*root = fab_node_by_text(f, name);
	if (*root == FAB_NONE)
		return cli_bad("%s: no node with the GUID or name '%s' given with --root", file,
			       name);
	return CLI_OK;
}

int route_root_find(const struct fab *f, const char *file, node_id *root)
{
	return root_find(f, file, route_o.root, root);
}

typedef VEC(node_id) root_list;

/* All switches that share the name, as those without a management processor do; an engine with one root takes the first. */
static int roots_add(const struct fab *f, const char *file, const char *name, root_list *roots)
{
	node_id n;

	if (root_find(f, file, name, &n))
		return CLI_BAD;
	vec_push(roots, n);
	if (n == FAB_NONE || strcmp(fab_node_name(f, n), name))
		return CLI_OK;
	for (node_id i = n + 1; i < f->nnodes; i++)
		if (!strcmp(fab_node_name(f, i), name))
			vec_push(roots, i);
	return CLI_OK;
}

int route_roots_find(const struct fab *f, const char *file, struct rt_opts *o)
{
	const cli_strings *names = &route_o.roots;
	const struct rt_engine *g = rt_engine_find(route_o.engine);
	root_list roots = {0};

	if (!names->n || (names->n == 1 && !strcmp(names->at[0], "auto")))
		return root_find(f, file, NULL, &o->root);
	if (names->n > 1 && g && g != &rt_updn)
		return cli_bad("engine %s takes one --root, found %zu; updn takes several", g->name,
			       names->n);
	for (size_t i = 0; i < names->n; i++)
		if (roots_add(f, file, names->at[i], &roots)) {
			vec_free(&roots);
			return CLI_BAD;
		}
	o->root = roots.at[0];
	o->roots = roots.at;
	o->nroots = (uint32_t)roots.n;
	return CLI_OK;
}

enum rt_directions route_directions_find(void)
{
	unsigned d = 0;

	while (route_o.directions && strcmp(route_directions[d], route_o.directions))
		d++;
	return (enum rt_directions)d;
}

enum rt_ties route_ties_find(void)
{
	unsigned t = 0;

	while (route_o.ties && strcmp(route_ties[t], route_o.ties))
		t++;
	return (enum rt_ties)t;
}

/* ---- the engine ---- */

/* Parts of one --groups: separated by commas. */
static int group_find(const struct fab *f, const char *text, const rt_hosts *all, rt_hosts *out)
{
	char *copy = mem_strdup(text), *rest = copy;
	cli_strings parts = {0};
	int rc;

	for (char *at; (at = strsep(&rest, ","));)
		vec_push(&parts, at);
	rc = host_groups_find(f, "--groups", &parts, all, out);
	vec_free(&parts);
	free(copy);
	return rc;
}

static int groups_mark(const struct fab *f, const rt_hosts *all, uint8_t *group)
{
	int rc = CLI_OK;

	for (size_t i = 0; i < route_o.groups.n && !rc; i++) {
		rt_hosts some = {0};

		rc = group_find(f, route_o.groups.at[i], all, &some);
		for (size_t k = 0; k < some.n && !rc; k++) {
			if (group[some.at[k]])
				rc = cli_bad("--groups: %s is in two groups",
					     fab_node_name(f, f->ports[some.at[k]].node));
			group[some.at[k]] = (uint8_t)(i + 1);
		}
		vec_free(&some);
	}
	return rc;
}

int route_groups_find(const struct fab *f, const char *file, struct rt_opts *o)
{
	const struct rt_engine *engine = rt_engine_find(route_o.engine);
	rt_hosts all = {0};
	uint8_t *group;
	int rc;

	if (!route_o.groups.n)
		return CLI_OK;
	if (engine && !engine->groups)
		return cli_bad("%s: engine %s does not balance groups of hosts; tree, updn and "
			       "balanced do",
			       file, engine->name);
	if (route_o.groups.n >= RT_MAX_GROUPS)
		return cli_bad("--groups: at most %u groups", RT_MAX_GROUPS - 1u);
	group = mem_zarray(f->nports + 1, 1);
	rt_quality_hosts(f, &all);
	rc = groups_mark(f, &all, group);
	o->group = group;
	vec_free(&all);
	return rc;
}

int route_compute_by(const struct fab *f, const struct rt_opts *o, struct rt_choice *c,
		     const struct rt_engine **engine, struct rt_tables **t, struct err *e)
{
	int rc;

	*c = (struct rt_choice){0};
	*engine = rt_engine_find(route_o.engine);
	if (*engine)
		return rt_compute(*engine, f, o, t, e);
	rc = rt_choose(f, o, c, e);
	if (rc)
		return rc;
	*engine = c->engine;
	*t = c->tables;
	c->tables = NULL;
	free(c->rank);
	c->rank = NULL;
	rt_report_free(&c->report);
	return 0;
}

void route_choice_json(struct json *j, const struct rt_choice *c)
{
	json_open(j, "tried", '[');
	for (unsigned i = 0; i < c->ntried; i++) {
		const struct rt_try *t = &c->tried[i];

		json_open(j, NULL, '{');
		json_str(j, "engine", t->engine->name);
		if (t->routed) {
			json_fixed(j, "bisection", t->bisection, 9);
			json_fixed(j, "shifts", t->shifts, 9);
			json_u64(j, "lanes", t->lanes);
		} else {
			json_str(j, "refused", t->refused.text);
		}
		json_close(j);
	}
	json_close(j);
}

void route_choice_print(FILE *to, const struct rt_choice *c)
{
	for (unsigned i = 0; i < c->ntried; i++) {
		const struct rt_try *t = &c->tried[i];

		fprintf(to, "%-14s %-9s ", i ? "" : "tried", t->engine->name);
		if (t->routed)
			fprintf(to, "bisections %.3f, shifts %.3f, %u lane%s\n",
				(double)t->bisection / RT_SHARE_ONE,
				(double)t->shifts / RT_SHARE_ONE, t->lanes,
				t->lanes == 1 ? "" : "s");
		else
			fprintf(to, "%s\n", t->refused.text);
	}
}

/* ---- figures ---- */

static uint64_t thousandths(uint64_t sum, uint64_t n)
{
	return n ? (sum / n) * 1000 + (sum % n * 1000 + n / 2) / n : 0;
}

static uint64_t hops_mean(const struct rt_report *r)
{
	return thousandths(r->hops_sum, r->pairs - r->apart - r->unreachable - r->loops);
}

static void json_spread(struct json *j, const char *key, uint64_t max, uint64_t mean)
{
	json_open(j, key, '{');
	json_u64(j, "max", max);
	json_fixed(j, "mean", mean, 3);
	json_close(j);
}

void route_islands_json(struct json *j, const struct rt_report *r)
{
	json_u64(j, "not_connected", r->apart);
	json_u64(j, "islands", r->islands);
}

void route_islands_print(FILE *to, const struct rt_report *r)
{
	if (r->apart)
		fprintf(to, "%-14s %s pairs: no cables join the %u islands of this fabric\n",
			"not connected", cli_count(r->apart), r->islands);
}

void route_report_json(struct json *j, const struct rt_report *r)
{
	json_spread(j, "hops", r->hops_max, hops_mean(r));
	json_spread(j, "link_load", r->link_load_max, thousandths(r->link_load_sum, r->nlinks));
	json_open(j, "problems", '[');
	for (uint32_t i = 0; i < r->nproblems; i++)
		json_str(j, NULL, r->problem[i]);
	json_close(j);
}

static void print_spread(FILE *to, const char *label, uint64_t max, uint64_t mean)
{
	fprintf(to, "%-14s max %s, mean %llu.%03llu\n", label, cli_count(max),
		(unsigned long long)(mean / 1000), (unsigned long long)(mean % 1000));
}

void route_report_print(FILE *to, const struct rt_report *r)
{
	print_spread(to, "hops", r->hops_max, hops_mean(r));
	print_spread(to, "link load", r->link_load_max, thousandths(r->link_load_sum, r->nlinks));
	for (uint32_t i = 0; i < r->nproblems; i++)
		fprintf(to, "%-14s %s\n", i ? "" : "problems", r->problem[i]);
}
