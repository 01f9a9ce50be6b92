/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of the configuration: partitions.list, and qos.groups, levels, rules and classes, into a policy. State: struct
 * place, for one text. Ways in: cfg_policy_read(), run_policy_files(). Knows no single setting: config_read.c reads those.
 */
#include "base/spelling.h"
#include "policy/policy.h"
#include "run/config_priv.h"
#include "yaml/yaml_tree.h"

struct place {
	const char *file;
	struct pol *p;
	struct err *e;
};

/* ---- values ---- */

static int expected(const struct place *at, const struct yaml_node *n, const char *what)
{
	return yaml_fault(at->e, at->file, n, "expected %s; found %s%.60s%s", what,
			  n->kind == YAML_TEXT ? "'" : "",
			  n->kind == YAML_TEXT ? n->text : yaml_kind_name(n),
			  n->kind == YAML_TEXT ? "'" : "");
}

static int number(const struct place *at, const struct yaml_node *n, uint64_t min, uint64_t max,
		  const char *what, uint64_t *v)
{
	if (n->kind != YAML_TEXT || pol_number(n->text, min, max, v))
		return expected(at, n, what);
	return 0;
}

static int truth(const struct place *at, const struct yaml_node *n, bool *v)
{
	if (n->kind != YAML_TEXT || (strcmp(n->text, "true") && strcmp(n->text, "false")))
		return expected(at, n, "true or false");
	*v = !strcmp(n->text, "true");
	return 0;
}

static int name(const struct place *at, const struct yaml_node *n, char to[POL_NAME])
{
	if (n->kind != YAML_TEXT || !*n->text || strlen(n->text) >= POL_NAME)
		return expected(at, n, "a name of 1 to 79 bytes");
	pol_name_set(to, n->text);
	return 0;
}

static int ranges(const struct place *at, const struct yaml_node *n, uint64_t max, pol_ranges *to)
{
	static const char what[] = "a list of numbers and ranges such as [1-3, 7]";

	if (n->kind != YAML_LIST)
		return expected(at, n, what);
	for (size_t i = 0; i < n->items.n; i++) {
		const struct yaml_node *x = n->items.at[i];
		char text[64], *dash;
		struct pol_range r;

		if (x->kind != YAML_TEXT || strlen(x->text) >= sizeof(text))
			return expected(at, x, what);
		snprintf(text, sizeof(text), "%s", x->text);
		dash = strchr(text, '-');
		if (dash)
			*dash++ = 0;
		if (pol_number(text, 0, max, &r.from) ||
		    (dash && pol_number(dash, r.from, max, &r.to)))
			return expected(at, x, what);
		r.to = dash ? r.to : r.from;
		vec_push(to, r);
	}
	return 0;
}

/* ---- mappings ---- */

struct key {
	const char *name;
	int (*read)(const struct place *at, const struct yaml_node *n, void *to);
};

/* Each key of a mapping by its row; those of the first rows come first, whatever their order in the file. */
static int mapping(const struct place *at, const struct yaml_node *n, const struct key *keys,
		   const char *what, void *to)
{
	if (n->kind != YAML_MAP)
		return expected(at, n, what);
	for (size_t i = 0; i < n->keys.n; i++) {
		struct spelling near = {.word = n->keys.at[i]};
		const struct key *k = keys;

		for (; k->name && strcmp(k->name, n->keys.at[i]); k++)
			spelling_offer(&near, k->name, k->name);
		if (!k->name)
			return err_set(at->e, -EINVAL, "%s:%u:%u: unknown key '%.40s' in %s%s%s%s",
				       at->file, n->items.at[i]->key_line,
				       n->items.at[i]->key_column, n->keys.at[i], what,
				       near.best ? ", did you mean '" : "",
				       near.best ? near.best : "", near.best ? "'?" : "");
	}
	for (const struct key *k = keys; k->name; k++) {
		const struct yaml_node *x = yaml_get(n, k->name);
		int rc = x && k->read ? k->read(at, x, to) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int list(const struct place *at, const struct yaml_node *n, const char *what,
		int (*read)(const struct place *at, const struct yaml_node *n, void *to), void *to)
{
	if (n->kind != YAML_LIST)
		return expected(at, n, what);
	for (size_t i = 0; i < n->items.n; i++) {
		int rc = read(at, n->items.at[i], to);

		if (rc)
			return rc;
	}
	return 0;
}

/* ---- flags of groups ---- */

static int flag(const struct place *at, const struct yaml_node *n, const char *flag_name,
		struct pol_group_flags *f)
{
	struct err why;

	if (n->kind != YAML_TEXT)
		return expected(at, n, "a number");
	return pol_group_flag(f, flag_name, n->text, &why)
		       ? yaml_fault(at->e, at->file, n, "%s", why.text)
		       : 0;
}

#define FLAG(key, flag_name)                                                                       \
	static int flag_##key(const struct place *at, const struct yaml_node *n, void *to)         \
	{                                                                                          \
		return flag(at, n, flag_name, to);                                                 \
	}
FLAG(rate, "rate")
FLAG(mtu, "mtu")
FLAG(sl, "sl")
FLAG(scope, "scope")
FLAG(qkey, "Q_Key")
FLAG(tclass, "TClass")
FLAG(flow_label, "FlowLabel")
#undef FLAG

static int flag_scopes(const struct place *at, const struct yaml_node *n, void *to)
{
	return list(at, n, "a list of scopes", flag_scope, to);
}

#define GROUP_FLAGS                                                                                \
	{"rate", flag_rate}, {"mtu", flag_mtu}, {"sl", flag_sl}, {"scopes", flag_scopes},          \
		{"qkey", flag_qkey}, {"tclass", flag_tclass},                                      \
	{                                                                                          \
		"flow_label", flag_flow_label                                                      \
	}

/* ---- partitions ---- */

static int group_item(const struct place *at, const struct yaml_node *n, void *to)
{
	static const struct key keys[] = {{"mgid", NULL}, GROUP_FLAGS, {0}};
	struct pol_partition *t = to;
	struct pol_group_flags f = t->flags;
	const struct yaml_node *gid = n->kind == YAML_MAP ? yaml_get(n, "mgid") : NULL;
	uint8_t mgid[16];
	struct err why;

	if (n->kind == YAML_MAP && yaml_get(n, "scopes"))
		f.scopes = 0;
	if (mapping(at, n, keys, "a multicast group", &f))
		return -EINVAL;
	if (!gid || gid->kind != YAML_TEXT || pol_gid_parse(gid->text, mgid))
		return expected(at, gid ? gid : n, "an mgid such as \"ff12:401b::16\"");
	return pol_group_add(t, mgid, &f, &why) ? yaml_fault(at->e, at->file, gid, "%s", why.text)
						: 0;
}

static int member_item(const struct place *at, const struct yaml_node *n, void *to)
{
	struct pol_partition *t = to;
	struct pol_member m;
	struct err why;

	if (n->kind != YAML_MAP || n->keys.n != 1 || n->items.at[0]->kind != YAML_TEXT)
		return expected(at, n, "a member and its membership, such as ALL: full");
	if (pol_member_parse(&m, n->keys.at[0], n->items.at[0]->text, &why))
		return yaml_fault(at->e, at->file, n->items.at[0], "%s", why.text);
	vec_push(&t->members, m);
	return 0;
}

static int partition_indx0(const struct place *at, const struct yaml_node *n, void *to)
{
	return truth(at, n, &((struct pol_partition *)to)->indx0);
}

static int partition_ipoib(const struct place *at, const struct yaml_node *n, void *to)
{
	return truth(at, n, &((struct pol_partition *)to)->ipoib);
}

static int partition_members(const struct place *at, const struct yaml_node *n, void *to)
{
	return list(at, n, "a list of members", member_item, to);
}

static int partition_item(const struct place *at, const struct yaml_node *n, void *to)
{
	static const struct key own[] = {{"name", NULL},
					 {"pkey", NULL},
					 {"indx0", partition_indx0},
					 {"ipoib", partition_ipoib},
					 {"members", partition_members},
					 {"rate", NULL},
					 {"mtu", NULL},
					 {"sl", NULL},
					 {"scopes", NULL},
					 {"qkey", NULL},
					 {"tclass", NULL},
					 {"flow_label", NULL},
					 {"groups", NULL},
					 {0}};
	static const struct key flags[] = {
		GROUP_FLAGS,	 {"name", NULL},    {"pkey", NULL},   {"indx0", NULL},
		{"ipoib", NULL}, {"members", NULL}, {"groups", NULL}, {0}};
	const struct yaml_node *key = n->kind == YAML_MAP ? yaml_get(n, "pkey") : NULL,
			       *called = n->kind == YAML_MAP ? yaml_get(n, "name") : NULL,
			       *groups = n->kind == YAML_MAP ? yaml_get(n, "groups") : NULL;
	char text[POL_NAME] = "";
	struct pol_partition *t;
	uint64_t pkey = 0;
	bool earlier;

	(void)to;
	if (n->kind != YAML_MAP)
		return expected(at, n, "a partition: name, pkey, members and others");
	if ((called && name(at, called, text)) ||
	    (key && number(at, key, 1, POL_DEFAULT_KEY, "a P_Key from 0x0001 to 0x7fff", &pkey)))
		return -EINVAL;
	t = pol_partition(at->p, text, (uint16_t)pkey);
	if (!t)
		return expected(at, n, "at most 32766 partitions");
	pol_definition_begin(t);
	earlier = t->ipoib;
	t->ipoib = false;
	if (mapping(at, n, flags, "a partition", &t->flags) ||
	    mapping(at, n, own, "a partition", t))
		return -EINVAL;
	if (t->ipoib)
		pol_ipoib_groups(t);
	t->ipoib |= earlier;
	return groups ? list(at, groups, "a list of multicast groups", group_item, t) : 0;
}

/* ---- port groups ---- */

static int group_name(const struct place *at, const struct yaml_node *n, void *to)
{
	return name(at, n, ((struct pol_port_group *)to)->name);
}

static int group_guids(const struct place *at, const struct yaml_node *n, void *to)
{
	return ranges(at, n, UINT64_MAX, &((struct pol_port_group *)to)->guids);
}

static int group_pkeys(const struct place *at, const struct yaml_node *n, void *to)
{
	return ranges(at, n, POL_DEFAULT_KEY, &((struct pol_port_group *)to)->pkeys);
}

static int group_member(const struct place *at, const struct yaml_node *n, struct pol_port_group *g,
			bool named)
{
	struct pol_member m;
	struct err why;

	if (n->kind != YAML_TEXT || pol_member_parse(&m, n->text, "full", &why) ||
	    (m.who == POL_NAMED) != named || m.who == POL_GUID)
		return expected(at, n,
				named ? "a node description, with /P1 for one port"
				      : "ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF");
	vec_push(&g->members, m);
	return 0;
}

static int group_named(const struct place *at, const struct yaml_node *n, void *to)
{
	return group_member(at, n, to, true);
}

static int group_typed(const struct place *at, const struct yaml_node *n, void *to)
{
	return group_member(at, n, to, false);
}

static int group_names(const struct place *at, const struct yaml_node *n, void *to)
{
	return list(at, n, "a list of names", group_named, to);
}

static int group_types(const struct place *at, const struct yaml_node *n, void *to)
{
	return list(at, n, "a list of kinds of nodes", group_typed, to);
}

static int group_partition(const struct place *at, const struct yaml_node *n, void *to)
{
	struct pol_port_group *g = to;

	vec_room(&g->partitions, g->partitions.n + 1);
	return name(at, n, g->partitions.at[g->partitions.n++].name);
}

static int group_partitions(const struct place *at, const struct yaml_node *n, void *to)
{
	return list(at, n, "a list of names of partitions", group_partition, to);
}

static int port_group_item(const struct place *at, const struct yaml_node *n, void *to)
{
	static const struct key keys[] = {{"name", group_name},
					  {"guids", group_guids},
					  {"names", group_names},
					  {"types", group_types},
					  {"pkeys", group_pkeys},
					  {"partitions", group_partitions},
					  {0}};
	size_t i = at->p->port_groups.n;

	(void)to;
	vec_push(&at->p->port_groups, (struct pol_port_group){0});
	if (mapping(at, n, keys, "a port group", &at->p->port_groups.at[i]))
		return -EINVAL;
	return *at->p->port_groups.at[i].name ? 0 : expected(at, n, "a name of the port group");
}

/* ---- levels ---- */

static int level_name(const struct place *at, const struct yaml_node *n, void *to)
{
	return name(at, n, ((struct pol_level *)to)->name);
}

#define LEVEL(field, type, min, max, flag_, what)                                                  \
	static int level_##field(const struct place *at, const struct yaml_node *n, void *to)      \
	{                                                                                          \
		struct pol_level *l = to;                                                          \
		uint64_t v;                                                                        \
		int rc = number(at, n, min, max, what, &v);                                        \
                                                                                                   \
		if (!rc) {                                                                         \
			l->field = (type)v;                                                        \
			l->has |= flag_;                                                           \
		}                                                                                  \
		return rc;                                                                         \
	}
LEVEL(sl, uint8_t, 0, 15, POL_HAS_SL, "a service level from 0 to 15")
LEVEL(mtu, uint8_t, 1, 5, POL_HAS_MTU, "a code of an MTU from 1 to 5")
LEVEL(rate, uint8_t, 2, 22, POL_HAS_RATE, "a code of a rate from 2 to 22")
LEVEL(life, uint8_t, 0, 63, POL_HAS_LIFE, "a code of a time from 0 to 63")
LEVEL(pkey, uint16_t, 1, 0xffff, POL_HAS_PKEY, "a P_Key from 0x0001 to 0xffff")
#undef LEVEL

static int level_path_bits(const struct place *at, const struct yaml_node *n, void *to)
{
	return ranges(at, n, 127, &((struct pol_level *)to)->path_bits);
}

static int level_item(const struct place *at, const struct yaml_node *n, void *to)
{
	static const struct key keys[] = {{"name", level_name},
					  {"sl", level_sl},
					  {"mtu", level_mtu},
					  {"rate", level_rate},
					  {"life", level_life},
					  {"pkey", level_pkey},
					  {"path_bits", level_path_bits},
					  {0}};
	size_t i = at->p->levels.n;

	(void)to;
	vec_push(&at->p->levels, (struct pol_level){0});
	if (mapping(at, n, keys, "a level", &at->p->levels.at[i]))
		return -EINVAL;
	if (!*at->p->levels.at[i].name)
		return expected(at, n, "a name of the level");
	if (!strcmp(at->p->levels.at[i].name, "DEFAULT"))
		at->p->default_level = (uint32_t)i;
	return 0;
}

/* ---- rules ---- */

static int rule_level(const struct place *at, const struct yaml_node *n, void *to)
{
	for (uint32_t i = 0; n->kind == YAML_TEXT && i < at->p->levels.n; i++)
		if (!strcmp(at->p->levels.at[i].name, n->text)) {
			((struct pol_rule *)to)->level = i;
			return 0;
		}
	return expected(at, n, "the name of a level of qos.levels");
}

typedef VEC(uint32_t) group_ids;

static int rule_group(const struct place *at, const struct yaml_node *n, void *to)
{
	group_ids *ids = to;

	for (uint32_t i = 0; n->kind == YAML_TEXT && i < at->p->port_groups.n; i++)
		if (!strcmp(at->p->port_groups.at[i].name, n->text)) {
			vec_push(ids, i);
			return 0;
		}
	return expected(at, n, "the name of a group of qos.groups");
}

static int rule_groups(const struct place *at, const struct yaml_node *n, uint32_t **to,
		       size_t *count, size_t *cap)
{
	group_ids ids = {0};
	int rc = list(at, n, "a list of names of groups", rule_group, &ids);

	*to = ids.at;
	*count = ids.n;
	*cap = ids.cap;
	return rc;
}

static int rule_sources(const struct place *at, const struct yaml_node *n, void *to)
{
	struct pol_rule *r = to;

	return rule_groups(at, n, &r->sources.at, &r->sources.n, &r->sources.cap);
}

static int rule_destinations(const struct place *at, const struct yaml_node *n, void *to)
{
	struct pol_rule *r = to;

	return rule_groups(at, n, &r->destinations.at, &r->destinations.n, &r->destinations.cap);
}

static int rule_qos_classes(const struct place *at, const struct yaml_node *n, void *to)
{
	return ranges(at, n, 0xfff, &((struct pol_rule *)to)->qos_classes);
}

static int rule_service_ids(const struct place *at, const struct yaml_node *n, void *to)
{
	return ranges(at, n, UINT64_MAX, &((struct pol_rule *)to)->service_ids);
}

static int rule_pkeys(const struct place *at, const struct yaml_node *n, void *to)
{
	return ranges(at, n, POL_DEFAULT_KEY, &((struct pol_rule *)to)->pkeys);
}

static int rule_item(const struct place *at, const struct yaml_node *n, void *to)
{
	static const struct key keys[] = {{"level", rule_level},
					  {"sources", rule_sources},
					  {"destinations", rule_destinations},
					  {"qos_classes", rule_qos_classes},
					  {"service_ids", rule_service_ids},
					  {"pkeys", rule_pkeys},
					  {0}};
	size_t i = at->p->rules.n;

	(void)to;
	vec_push(&at->p->rules, (struct pol_rule){0});
	if (mapping(at, n, keys, "a rule", &at->p->rules.at[i]))
		return -EINVAL;
	return yaml_get(n, "level") ? 0 : expected(at, n, "a level in the rule");
}

/* ---- classes ---- */

static int class_read(const struct place *at, const struct yaml_node *n, struct pol_vls *v)
{
	if (n->kind != YAML_MAP)
		return expected(at, n, "high_limit, vlarb_high, vlarb_low and sl2vl");
	for (size_t i = 0; i < n->keys.n; i++) {
		const struct yaml_node *x = n->items.at[i];
		struct err why;
		int rc = x->kind == YAML_TEXT ? pol_vls_set(v, n->keys.at[i], x->text, &why)
					      : -ENOENT;

		if (rc == -EINVAL)
			return yaml_fault(at->e, at->file, x, "%s", why.text);
		if (rc)
			return yaml_fault(
				at->e, at->file, x,
				"expected high_limit, vlarb_high, vlarb_low or sl2vl and a text; found '%.40s'",
				n->keys.at[i]);
	}
	return 0;
}

static int classes_read(const struct place *at, const struct yaml_node *n)
{
	if (n->kind != YAML_MAP)
		return expected(at, n, "default, ca, sw0, swe and rtr");
	for (size_t i = 0; i < n->keys.n; i++) {
		unsigned c = 0;

		while (c < POL_NCLASSES && strcmp(pol_class_name((enum pol_class)c), n->keys.at[i]))
			c++;
		if (c == POL_NCLASSES)
			return yaml_fault(at->e, at->file, n->items.at[i],
					  "expected default, ca, sw0, swe or rtr; found '%.40s'",
					  n->keys.at[i]);
		if (class_read(at, n->items.at[i], &at->p->vls[c]))
			return -EINVAL;
	}
	return 0;
}

/* ---- the whole ---- */

static int lists_read(const struct place *at, const struct yaml_node *top)
{
	const struct yaml_node *parts = yaml_get(top, "partitions"), *qos = yaml_get(top, "qos");
	const struct yaml_node *x;

	if (parts && parts->kind == YAML_MAP && (x = yaml_get(parts, "list"))) {
		pol_partitions_begin(at->p);
		if (list(at, x, "a list of partitions", partition_item, NULL))
			return -EINVAL;
	}
	if (!qos || qos->kind != YAML_MAP)
		return 0;
	if (((x = yaml_get(qos, "groups")) &&
	     list(at, x, "a list of port groups", port_group_item, NULL)) ||
	    ((x = yaml_get(qos, "levels")) && list(at, x, "a list of levels", level_item, NULL)) ||
	    ((x = yaml_get(qos, "rules")) && list(at, x, "a list of rules", rule_item, NULL)) ||
	    ((x = yaml_get(qos, "classes")) && classes_read(at, x)))
		return -EINVAL;
	return 0;
}

int cfg_policy_read(const char *file, const char *text, size_t len, struct pol *p, struct err *e)
{
	const struct place at = {.file = file, .p = p, .e = e};
	struct yaml_node *top = yaml_tree_read(file, text, len, e);
	int rc;

	if (!top)
		return -EINVAL;
	rc = top->kind == YAML_MAP ? lists_read(&at, top) : 0;
	yaml_tree_free(top);
	return rc;
}

/* ---- OpenSM's files ---- */

enum { POLICY_MOST = 64 << 20 };

/* A file that cannot be read is named with the setting that names it. */
static int file_take(const char *key, const char *path, struct pol *p,
		     int (*read)(struct pol *p, const char *file, const char *text, size_t len,
				 struct err *e),
		     struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	struct err why;
	int rc = file_read_most(path, POLICY_MOST, &text, &len, &why);

	if (rc)
		return err_set(e, rc, "%s: %.400s", key, why.text);
	rc = read(p, path, text, len, e);
	free(text);
	return rc;
}

int run_policy_files(const struct settings *c, struct pol *p, struct err *e)
{
	int rc = 0;

	if (*c->partitions_file && p->configured)
		return err_set(e, -EINVAL, "partitions: expected file or list; found both");
	if (*c->qos_policy_file && (p->levels.n || p->rules.n))
		return err_set(e, -EINVAL, "qos: expected policy, or levels and rules; found both");
	if (*c->partitions_file)
		rc = file_take("partitions.file", c->partitions_file, p, pol_read_partitions, e);
	if (!rc && *c->qos_policy_file)
		rc = file_take("qos.policy", c->qos_policy_file, p, pol_read_qos, e);
	p->both = c->both_keys;
	p->qos = c->sm.qos;
	return rc;
}
