/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A policy as lists of a weft.yaml. State: none. Ways in: pol_print_partitions(), pol_print_qos(). Does not read YAML:
 * src/run does.
 */
#include "policy/policy_priv.h"

static void quoted(struct strbuf *out, const char *s)
{
	strbuf_add(out, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_add(out, "\\");
		strbuf_addn(out, s, 1);
	}
	strbuf_add(out, "\"");
}

/* ---- partitions ---- */

static void print_scopes(unsigned scopes, const char *indent, struct strbuf *out)
{
	const char *comma = "";

	if (!scopes)
		return;
	strbuf_addf(out, "%sscopes: [", indent);
	for (unsigned s = 1; s < 16; s++)
		if (scopes >> s & 1) {
			strbuf_addf(out, "%s%u", comma, s);
			comma = ", ";
		}
	strbuf_add(out, "]\n");
}

static void print_flags(const struct pol_group_flags *f, const char *indent, struct strbuf *out)
{
	struct pol_group_flags d;

	pol_group_flags_default(&d);
	if (f->rate != d.rate)
		strbuf_addf(out, "%srate: %u\n", indent, f->rate);
	if (f->mtu != d.mtu)
		strbuf_addf(out, "%smtu: %u\n", indent, f->mtu);
	if (f->has_sl)
		strbuf_addf(out, "%ssl: %u\n", indent, f->sl);
	print_scopes(f->scopes, indent, out);
	if (f->qkey)
		strbuf_addf(out, "%sqkey: 0x%x\n", indent, f->qkey);
	if (f->tclass)
		strbuf_addf(out, "%stclass: %u\n", indent, f->tclass);
	if (f->flow_label)
		strbuf_addf(out, "%sflow_label: 0x%x\n", indent, f->flow_label);
}

static void print_group(const struct pol_group *g, struct strbuf *out)
{
	char gid[48];

	pol_gid_text(g->mgid, gid);
	strbuf_addf(
		out,
		"        - mgid: \"%s\"\n          rate: %u\n          mtu: %u\n          sl: %u\n"
		"          scopes: [%u]\n          qkey: 0x%x\n          tclass: %u\n"
		"          flow_label: 0x%x\n",
		gid, g->rate, g->mtu, g->sl, g->scope, g->qkey, g->tclass, g->flow_label);
}

static void print_groups(const struct pol_partition *t, struct strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < t->groups.n; i++) {
		if (t->groups.at[i].broadcast)
			continue;
		if (!any)
			strbuf_add(out, "      groups:\n");
		any = true;
		print_group(&t->groups.at[i], out);
	}
}

static void print_members(const struct pol_partition *t, size_t from, struct strbuf *out)
{
	if (from < t->members.n)
		strbuf_add(out, "      members:\n");
	for (size_t i = from; i < t->members.n; i++) {
		const struct pol_member *m = &t->members.at[i];

		strbuf_add(out, "        - ");
		if (m->who == POL_GUID)
			strbuf_addf(out, "0x%016llx", (unsigned long long)m->guid);
		else if (m->who == POL_NAMED)
			quoted(out, m->name);
		else
			strbuf_add(out, pol_who_name(m->who));
		strbuf_addf(out, ": %s\n", pol_membership_name(m->as));
	}
}

/* The default partition has two members from the beginning. */
static size_t own_members(const struct pol_partition *t)
{
	return t->pkey == POL_DEFAULT_KEY ? 2 : 0;
}

static void print_name(const struct pol_partition *t, struct strbuf *out)
{
	strbuf_add(out, "    - name: ");
	quoted(out, t->name);
	strbuf_addf(out, "\n      pkey: 0x%04x\n", t->pkey);
}

/* The groups of IPoIB that the flags of the last definition make. */
static struct pol_partition as_flags_say(const struct pol_partition *t)
{
	struct pol_partition like = {.pkey = t->pkey, .flags = t->flags};

	if (t->ipoib)
		pol_ipoib_groups(&like);
	return like;
}

static bool same_group(const struct pol_group *a, const struct pol_group *b)
{
	return !memcmp(a->mgid, b->mgid, sizeof(a->mgid)) && a->pkey == b->pkey &&
	       a->qkey == b->qkey && a->sl == b->sl && a->rate == b->rate && a->mtu == b->mtu &&
	       a->tclass == b->tclass && a->flow_label == b->flow_label;
}

/* Whether one definition with the flags of the last one makes the groups. */
static bool one_makes_all(const struct pol_partition *t)
{
	struct pol_partition like = as_flags_say(t);
	size_t n = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < t->groups.n; i++) {
		const struct pol_group *g = &t->groups.at[i];

		if (g->broadcast)
			ok = n < like.groups.n && same_group(g, &like.groups.at[n++]);
		else if (pol_ip_signature(g->mgid))
			ok = g->rate == t->flags.rate && g->mtu == t->flags.mtu;
	}
	ok &= n == like.groups.n;
	vec_free(&like.groups);
	return ok;
}

/* A definition of its own for one group, or for those of IPoIB of one scope. */
static void print_definition(const struct pol_partition *t, const struct pol_group *g,
			     struct strbuf *out)
{
	struct pol_group_flags f = {.rate = g->rate,
				    .mtu = g->mtu,
				    .sl = g->sl,
				    .has_sl = g->broadcast && t->flags.has_sl,
				    .scopes = g->broadcast ? (uint16_t)(1u << g->scope) : 0,
				    .qkey = g->broadcast ? g->qkey : 0,
				    .tclass = g->broadcast ? g->tclass : 0,
				    .flow_label = g->broadcast ? g->flow_label : 0};

	print_name(t, out);
	if (g->broadcast)
		strbuf_add(out, "      ipoib: true\n");
	print_flags(&f, "      ", out);
	if (g->broadcast)
		return;
	strbuf_add(out, "      groups:\n");
	print_group(g, out);
}

/* The group of IPv6 comes with that of IPv4 for the same scope. */
static bool comes_along(const struct pol_partition *t, const struct pol_group *g)
{
	uint8_t v4[16] = {0xff, g->mgid[1], 0x40, 0x1b, g->mgid[4], g->mgid[5]};

	memset(v4 + 12, 0xff, 4);
	for (size_t i = 0; g->broadcast && i < t->groups.n; i++)
		if (g != &t->groups.at[i] && !memcmp(t->groups.at[i].mgid, v4, sizeof(v4)))
			return true;
	return false;
}

/* Before the last definition, whose flags stay. */
static void print_earlier(const struct pol_partition *t, struct strbuf *out)
{
	for (size_t i = 0; i < t->groups.n; i++)
		if (!comes_along(t, &t->groups.at[i]))
			print_definition(t, &t->groups.at[i], out);
}

static void print_partition(const struct pol_partition *t, struct strbuf *out)
{
	bool one = one_makes_all(t);

	if (!one)
		print_earlier(t, out);
	print_name(t, out);
	if (t->indx0)
		strbuf_add(out, "      indx0: true\n");
	if (t->ipoib && one)
		strbuf_add(out, "      ipoib: true\n");
	print_flags(&t->flags, "      ", out);
	if (one)
		print_groups(t, out);
	print_members(t, own_members(t), out);
}

void pol_print_partitions(const struct pol *p, struct strbuf *out)
{
	if (!p->configured)
		return;
	strbuf_add(out, "  list:\n");
	for (size_t i = 0; i < p->partitions.n; i++)
		print_partition(&p->partitions.at[i], out);
}

/* ---- quality of service ---- */

static void print_ranges(const char *key, const pol_ranges *r, bool hex, struct strbuf *out)
{
	if (!r->n)
		return;
	strbuf_addf(out, "      %s: [", key);
	for (size_t i = 0; i < r->n; i++) {
		const char *form = hex ? "%s0x%llx" : "%s%llu";

		strbuf_addf(out, form, i ? ", " : "", (unsigned long long)r->at[i].from);
		if (r->at[i].to != r->at[i].from)
			strbuf_addf(out, hex ? "-0x%llx" : "-%llu",
				    (unsigned long long)r->at[i].to);
	}
	strbuf_add(out, "]\n");
}

static void print_words(const char *key, const char *const *words, size_t n, struct strbuf *out)
{
	if (!n)
		return;
	strbuf_addf(out, "      %s: [", key);
	for (size_t i = 0; i < n; i++) {
		strbuf_add(out, i ? ", " : "");
		quoted(out, words[i]);
	}
	strbuf_add(out, "]\n");
}

static void print_port_group(const struct pol_port_group *g, struct strbuf *out)
{
	VEC(const char *) names = {0}, types = {0}, partitions = {0};

	for (size_t i = 0; i < g->members.n; i++)
		if (g->members.at[i].who == POL_NAMED)
			vec_push(&names, g->members.at[i].name);
		else
			vec_push(&types, pol_who_name(g->members.at[i].who));
	for (size_t i = 0; i < g->partitions.n; i++)
		vec_push(&partitions, g->partitions.at[i].name);
	strbuf_add(out, "    - name: ");
	quoted(out, g->name);
	strbuf_add(out, "\n");
	print_ranges("guids", &g->guids, true, out);
	print_words("names", names.at, names.n, out);
	print_words("types", types.at, types.n, out);
	print_ranges("pkeys", &g->pkeys, true, out);
	print_words("partitions", partitions.at, partitions.n, out);
	vec_free(&names);
	vec_free(&types);
	vec_free(&partitions);
}

static void print_level(const struct pol_level *l, struct strbuf *out)
{
	strbuf_add(out, "    - name: ");
	quoted(out, l->name);
	strbuf_add(out, "\n");
	if (l->has & POL_HAS_SL)
		strbuf_addf(out, "      sl: %u\n", l->sl);
	if (l->has & POL_HAS_MTU)
		strbuf_addf(out, "      mtu: %u\n", l->mtu);
	if (l->has & POL_HAS_RATE)
		strbuf_addf(out, "      rate: %u\n", l->rate);
	if (l->has & POL_HAS_LIFE)
		strbuf_addf(out, "      life: %u\n", l->life);
	if (l->has & POL_HAS_PKEY)
		strbuf_addf(out, "      pkey: 0x%04x\n", l->pkey);
	print_ranges("path_bits", &l->path_bits, false, out);
}

static void print_names_of(const char *key, const struct pol *p, const uint32_t *groups, size_t n,
			   struct strbuf *out)
{
	VEC(const char *) names = {0};

	for (size_t i = 0; i < n; i++)
		vec_push(&names, p->port_groups.at[groups[i]].name);
	print_words(key, names.at, names.n, out);
	vec_free(&names);
}

static void print_rule(const struct pol *p, const struct pol_rule *r, struct strbuf *out)
{
	strbuf_add(out, "    - level: ");
	quoted(out, p->levels.at[r->level].name);
	strbuf_add(out, "\n");
	print_names_of("sources", p, r->sources.at, r->sources.n, out);
	print_names_of("destinations", p, r->destinations.at, r->destinations.n, out);
	print_ranges("qos_classes", &r->qos_classes, false, out);
	print_ranges("service_ids", &r->service_ids, true, out);
	print_ranges("pkeys", &r->pkeys, true, out);
}

static void print_vlarb(const char *key, const struct pol_vlarb *t, unsigned n, struct strbuf *out)
{
	strbuf_addf(out, "      %s: \"", key);
	for (unsigned i = 0; i < n; i++)
		strbuf_addf(out, "%s%u:%u", i ? "," : "", t[i].vl, t[i].weight);
	strbuf_add(out, "\"\n");
}

static void print_class(enum pol_class c, const struct pol_vls *v, struct strbuf *out)
{
	strbuf_addf(out, "    %s:\n", pol_class_name(c));
	if (v->has & POL_HAS_HIGH_LIMIT)
		strbuf_addf(out, "      high_limit: %u\n", v->high_limit);
	if (v->has & POL_HAS_HIGH)
		print_vlarb("vlarb_high", v->high, v->nhigh, out);
	if (v->has & POL_HAS_LOW)
		print_vlarb("vlarb_low", v->low, v->nlow, out);
	if (!(v->has & POL_HAS_SL2VL))
		return;
	strbuf_add(out, "      sl2vl: \"");
	for (unsigned i = 0; i < 16; i++)
		strbuf_addf(out, "%s%u", i ? "," : "", v->sl2vl[i]);
	strbuf_add(out, "\"\n");
}

static void print_classes(const struct pol *p, struct strbuf *out)
{
	bool any = false;

	for (unsigned c = 0; c < POL_NCLASSES; c++) {
		if (!p->vls[c].has)
			continue;
		strbuf_add(out, any ? "" : "  classes:\n");
		any = true;
		print_class((enum pol_class)c, &p->vls[c], out);
	}
}

void pol_print_qos(const struct pol *p, struct strbuf *out)
{
	print_classes(p, out);
	if (p->port_groups.n)
		strbuf_add(out, "  groups:\n");
	for (size_t i = 0; i < p->port_groups.n; i++)
		print_port_group(&p->port_groups.at[i], out);
	if (p->levels.n)
		strbuf_add(out, "  levels:\n");
	for (size_t i = 0; i < p->levels.n; i++)
		print_level(&p->levels.at[i], out);
	if (p->rules.n)
		strbuf_add(out, "  rules:\n");
	for (size_t i = 0; i < p->rules.n; i++)
		print_rule(p, &p->rules.at[i], out);
}
