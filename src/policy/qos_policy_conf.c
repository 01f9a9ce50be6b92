/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's qos-policy.conf: blocks of lines, each begun by its name and ended by end-NAME, with "key: value" inside.
 * State: struct qos_reader, for one text. Way in: pol_read_qos(). The section qos-setup is checked and has no effect, as
 * in OpenSM.
 */
#include <strings.h>

#include "policy/qos_policy_priv.h"

enum block {
	TOP,
	PORT_GROUPS,
	PORT_GROUP,
	SETUP,
	VLARB_TABLES,
	VLARB_SCOPE,
	SL2VL_TABLES,
	SL2VL_SCOPE,
	LEVELS,
	LEVEL,
	RULES,
	RULE,
	ULPS,
	NBLOCKS
};

static const struct {
	const char *name;
	enum block inside;
} blocks[NBLOCKS] = {
	[TOP] = {"", NBLOCKS},
	[PORT_GROUPS] = {"port-groups", TOP},
	[PORT_GROUP] = {"port-group", PORT_GROUPS},
	[SETUP] = {"qos-setup", TOP},
	[VLARB_TABLES] = {"vlarb-tables", SETUP},
	[VLARB_SCOPE] = {"vlarb-scope", VLARB_TABLES},
	[SL2VL_TABLES] = {"sl2vl-tables", SETUP},
	[SL2VL_SCOPE] = {"sl2vl-scope", SL2VL_TABLES},
	[LEVELS] = {"qos-levels", TOP},
	[LEVEL] = {"qos-level", LEVELS},
	[RULES] = {"qos-match-rules", TOP},
	[RULE] = {"qos-match-rule", RULES},
	[ULPS] = {"qos-ulps", TOP},
};

static enum block inside(const struct qos_reader *r)
{
	return r->depth ? (enum block)r->open[r->depth - 1] : TOP;
}

int qos_fault(struct qos_reader *r, const char *expected, const char *found)
{
	return pol_fault(&r->at, r->e, "expected %s, found '%.60s'", expected, found);
}

/* ---- values ---- */

int qos_ranges(struct qos_reader *r, char *text, uint64_t max, pol_ranges *to)
{
	while (text) {
		char *next = strchr(text, ','), *dash;
		struct pol_range v;

		if (next)
			*next++ = 0;
		text = pol_trim(text);
		dash = strchr(text, '-');
		if (dash)
			*dash++ = 0;
		if (pol_number(pol_trim(text), 0, max, &v.from) ||
		    (dash && pol_number(pol_trim(dash), v.from, max, &v.to)))
			return qos_fault(r, "numbers and ranges such as 1-3, 7",
					 dash ? dash : text);
		v.to = dash ? v.to : v.from;
		vec_push(to, v);
		text = next;
	}
	return 0;
}

static char *unquoted(char *s)
{
	size_t n = strlen(s);

	if (n < 2 || s[0] != '"' || s[n - 1] != '"')
		return s;
	s[n - 1] = 0;
	return s + 1;
}

static int name_value(struct qos_reader *r, const char *value, char name[POL_NAME])
{
	if (*name)
		return qos_fault(r, "one name", value);
	if (!*value || strlen(value) >= POL_NAME)
		return qos_fault(r, "a name of 1 to 79 bytes", value);
	pol_name_set(name, value);
	return 0;
}

/* ---- port groups ---- */

static int node_types(struct qos_reader *r, char *value, struct pol_port_group *g)
{
	static const struct {
		const char *word;
		enum pol_who who;
	} types[] = {{"ca", POL_ALL_CAS},
		     {"switch", POL_ALL_SWITCHES},
		     {"router", POL_ALL_ROUTERS},
		     {"all", POL_ALL},
		     {"self", POL_SELF}};

	for (char *next; value; value = next) {
		unsigned i = 0;

		next = strchr(value, ',');
		if (next)
			*next++ = 0;
		value = pol_trim(value);
		while (i < ARRAY_LEN(types) && strcasecmp(types[i].word, value))
			i++;
		if (i == ARRAY_LEN(types))
			return qos_fault(r, "CA, SWITCH, ROUTER, ALL or SELF", value);
		vec_push(&g->members, (struct pol_member){.who = types[i].who, .as = POL_FULL});
	}
	return 0;
}

static int port_names(struct qos_reader *r, char *value, struct pol_port_group *g)
{
	for (char *next; value; value = next) {
		struct pol_member m = {.who = POL_NAMED, .as = POL_FULL};

		next = strchr(value, ',');
		if (next)
			*next++ = 0;
		value = unquoted(pol_trim(value));
		if (!*value || strlen(value) >= POL_NAME)
			return qos_fault(r, "names such as node description/P1", value);
		pol_name_set(m.name, value);
		vec_push(&g->members, m);
	}
	return 0;
}

static int port_group_key(struct qos_reader *r, const char *key, char *value)
{
	struct pol_port_group *g = &r->p->port_groups.at[r->p->port_groups.n - 1];

	if (!strcmp(key, "name"))
		return name_value(r, unquoted(value), g->name);
	if (!strcmp(key, "port-guid"))
		return qos_ranges(r, value, UINT64_MAX, &g->guids);
	if (!strcmp(key, "port-name"))
		return port_names(r, value, g);
	if (!strcmp(key, "node-type"))
		return node_types(r, value, g);
	if (!strcmp(key, "pkey"))
		return qos_ranges(r, value, POL_DEFAULT_KEY, &g->pkeys);
	if (strcmp(key, "partition"))
		return qos_fault(r, "name, use, port-guid, port-name, pkey, partition or node-type",
				 key);
	vec_room(&g->partitions, g->partitions.n + 1);
	pol_name_set(g->partitions.at[g->partitions.n++].name, unquoted(value));
	return 0;
}

/* ---- levels ---- */

static int level_number(struct qos_reader *r, const char *key, const char *value,
			struct pol_level *l)
{
	static const struct {
		const char *key, *expects;
		unsigned has;
		uint64_t min, max;
	} rows[] = {
		{"sl", "a service level from 0 to 15", POL_HAS_SL, 0, 15},
		{"mtu-limit", "a code of an MTU from 1 to 5", POL_HAS_MTU, 1, 5},
		{"rate-limit", "a code of a rate from 2 to 22", POL_HAS_RATE, 2, 22},
		{"packet-life", "a code of a time from 0 to 63", POL_HAS_LIFE, 0, 63},
		{"pkey", "one P_Key from 0x0001 to 0xffff", POL_HAS_PKEY, 1, 0xffff},
	};
	unsigned i = 0;
	uint64_t v;

	while (i < ARRAY_LEN(rows) && strcmp(rows[i].key, key))
		i++;
	if (i == ARRAY_LEN(rows))
		return qos_fault(
			r, "name, use, sl, mtu-limit, rate-limit, packet-life, pkey or path-bits",
			key);
	if (l->has & rows[i].has)
		return qos_fault(r, "each key once in a qos-level", key);
	if (pol_number(value, rows[i].min, rows[i].max, &v))
		return qos_fault(r, rows[i].expects, value);
	l->has |= rows[i].has;
	if (rows[i].has == POL_HAS_PKEY)
		l->pkey = (uint16_t)v;
	else
		*(rows[i].has == POL_HAS_SL	? &l->sl
		  : rows[i].has == POL_HAS_MTU	? &l->mtu
		  : rows[i].has == POL_HAS_RATE ? &l->rate
						: &l->life) = (uint8_t)v;
	return 0;
}

static int level_key(struct qos_reader *r, const char *key, char *value)
{
	struct pol_level *l = &r->p->levels.at[r->p->levels.n - 1];

	if (!strcmp(key, "name"))
		return name_value(r, unquoted(value), l->name);
	if (!strcmp(key, "path-bits"))
		return qos_ranges(r, value, 127, &l->path_bits);
	return level_number(r, key, value, l);
}

/* ---- rules ---- */

static int reference(struct qos_reader *r, int kind, char *value)
{
	while (value) {
		struct qos_reference f = {.rule = r->p->rules.n - 1, .line = r->at.line};
		char *next = kind == QOS_LEVEL ? NULL : strchr(value, ',');
		int rc;

		if (next)
			*next++ = 0;
		rc = name_value(r, unquoted(pol_trim(value)), f.name);
		if (rc)
			return rc;
		f.kind = kind;
		vec_push(&r->references, f);
		value = next;
	}
	return 0;
}

static int rule_key(struct qos_reader *r, const char *key, char *value)
{
	struct pol_rule *x = &r->p->rules.at[r->p->rules.n - 1];

	if (!strcmp(key, "source"))
		return reference(r, QOS_SOURCE, value);
	if (!strcmp(key, "destination"))
		return reference(r, QOS_DESTINATION, value);
	if (!strcmp(key, "qos-class"))
		return qos_ranges(r, value, 0xfff, &x->qos_classes);
	if (!strcmp(key, "service-id"))
		return qos_ranges(r, value, UINT64_MAX, &x->service_ids);
	if (!strcmp(key, "pkey"))
		return qos_ranges(r, value, POL_DEFAULT_KEY, &x->pkeys);
	if (strcmp(key, "qos-level-name"))
		return qos_fault(
			r,
			"use, source, destination, qos-class, service-id, pkey or qos-level-name",
			key);
	if (r->has_level_name)
		return qos_fault(r, "one qos-level-name in a rule", value);
	r->has_level_name = true;
	return reference(r, QOS_LEVEL, value);
}

/* ---- lines ---- */

static int setup_key(struct qos_reader *r, const char *key)
{
	static const char *const keys[] = {"group",	    "across",	  "vlarb-high", "vlarb-low",
					   "vl-high-limit", "to",	  "from",	"across-to",
					   "across-from",   "sl2vl-table"};

	for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i], key))
			return 0;
	return qos_fault(r, "a key of vlarb-scope or sl2vl-scope", key);
}

static int key_line(struct qos_reader *r, char *line)
{
	char *colon = strchr(line, ':'), *value;

	if (!colon || inside(r) == TOP)
		return qos_fault(r,
				 inside(r) == TOP
					 ? "port-groups, qos-setup, qos-levels, qos-match-rules or "
					   "qos-ulps"
					 : "'key: value', or the end of the block",
				 line);
	*colon = 0;
	line = pol_trim(line);
	value = pol_trim(colon + 1);
	if (!strcmp(line, "use"))
		return 0;
	if (inside(r) == PORT_GROUP)
		return port_group_key(r, line, value);
	if (inside(r) == LEVEL)
		return level_key(r, line, value);
	if (inside(r) == RULE)
		return rule_key(r, line, value);
	if (inside(r) == VLARB_SCOPE || inside(r) == SL2VL_SCOPE)
		return setup_key(r, line);
	return qos_fault(r, "the beginning or the end of a block", line);
}

static void block_begin(struct qos_reader *r, enum block b)
{
	r->open_line[r->depth] = r->at.line;
	r->open[r->depth++] = b;
	if (b == PORT_GROUP)
		vec_push(&r->p->port_groups, (struct pol_port_group){0});
	else if (b == LEVEL)
		vec_push(&r->p->levels, (struct pol_level){0});
	else if (b == RULE)
		vec_push(&r->p->rules, (struct pol_rule){0});
	r->has_level_name = false;
	r->p->qos_setup |= b == SETUP;
}

static int block_end(struct qos_reader *r)
{
	enum block b = inside(r);
	const struct pol *p = r->p;

	r->depth--;
	if (b == PORT_GROUP && !*p->port_groups.at[p->port_groups.n - 1].name)
		return qos_fault(r, "'name' in the port-group", "end-port-group");
	if (b == LEVEL && !*p->levels.at[p->levels.n - 1].name)
		return qos_fault(r, "'name' in the qos-level", "end-qos-level");
	if (b == LEVEL && !(p->levels.at[p->levels.n - 1].has & POL_HAS_SL))
		return qos_fault(r, "'sl' in the qos-level", "end-qos-level");
	if (b == RULE && !r->has_level_name)
		return qos_fault(r, "'qos-level-name' in the rule", "end-qos-match-rule");
	return 0;
}

static int read_line(struct qos_reader *r, char *line)
{
	if (r->depth && !strncmp(line, "end-", 4) && !strcmp(line + 4, blocks[inside(r)].name))
		return block_end(r);
	for (unsigned b = 1; b < NBLOCKS; b++)
		if (!strcmp(line, blocks[b].name) && blocks[b].inside == inside(r)) {
			block_begin(r, (enum block)b);
			return 0;
		}
	return inside(r) == ULPS ? qos_ulp_line(r, line) : key_line(r, line);
}

/* ---- names ---- */

static uint32_t group_named(const struct pol *p, const char *name)
{
	for (size_t i = 0; i < p->port_groups.n; i++)
		if (!strcmp(p->port_groups.at[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static uint32_t level_named(const struct pol *p, const char *name)
{
	for (size_t i = 0; i < p->levels.n; i++)
		if (!strcmp(p->levels.at[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static int references_resolve(struct qos_reader *r)
{
	for (size_t i = 0; i < r->references.n; i++) {
		const struct qos_reference *f = &r->references.at[i];
		struct pol_rule *x = &r->p->rules.at[f->rule];
		uint32_t id = f->kind == QOS_LEVEL ? level_named(r->p, f->name)
						   : group_named(r->p, f->name);

		r->at.line = f->line;
		if (id == UINT32_MAX)
			return qos_fault(r,
					 f->kind == QOS_LEVEL ? "the name of a qos-level"
							      : "the name of a port-group",
					 f->name);
		if (f->kind == QOS_LEVEL)
			x->level = id;
		else if (f->kind == QOS_SOURCE)
			vec_push(&x->sources, id);
		else
			vec_push(&x->destinations, id);
	}
	return 0;
}

static int default_level(struct qos_reader *r)
{
	struct pol *p = r->p;

	p->default_level = level_named(p, "DEFAULT");
	if (p->default_level == UINT32_MAX && r->ulp_default) {
		struct pol_level l = {
			.name = "DEFAULT", .has = POL_HAS_SL, .sl = (uint8_t)(r->ulp_default - 1)};

		p->default_level = (uint32_t)p->levels.n;
		vec_push(&p->levels, l);
	}
	return p->default_level == UINT32_MAX
		       ? pol_fault(
				 &r->at, r->e,
				 "expected a qos-level with the name DEFAULT, or default in qos-ulps, found "
				 "neither")
		       : 0;
}

static int finish(struct qos_reader *r)
{
	int rc;

	if (r->depth)
		return pol_fault(
			&r->at, r->e,
			"expected end-%s for the block of line %u, found the end of the file",
			blocks[inside(r)].name, r->open_line[r->depth - 1]);
	rc = references_resolve(r);
	if (!rc)
		rc = default_level(r);
	for (size_t i = 0; !rc && i < r->ulps.n; i++)
		vec_push(&r->p->rules, r->ulps.at[i]);
	if (!rc)
		r->ulps.n = 0;
	return rc;
}

static void reader_free(struct qos_reader *r)
{
	for (size_t i = 0; i < r->ulps.n; i++) {
		vec_free(&r->ulps.at[i].service_ids);
		vec_free(&r->ulps.at[i].pkeys);
		vec_free(&r->ulps.at[i].sources);
		vec_free(&r->ulps.at[i].destinations);
	}
	vec_free(&r->ulps);
	vec_free(&r->references);
}

int pol_read_qos(struct pol *p, const char *file, const char *text, size_t len, struct err *e)
{
	struct qos_reader r = {.p = p, .at = {.file = file}, .e = e};
	const char *end = text + len;
	struct strbuf line = {0};
	int rc = 0;

	while (!rc && pol_line(&text, end, &r.at, &line)) {
		char *s = line.s;

		rc = pol_line_check(&r.at, line.s, line.len, e);
		s = rc ? s : pol_trim(s);
		if (!rc && *s)
			rc = read_line(&r, s);
	}
	if (!rc)
		rc = finish(&r);
	strbuf_free(&line);
	reader_free(&r);
	return rc;
}
