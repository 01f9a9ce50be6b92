/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's partitions.conf: [NAME][=P_KEY][,FLAG]... : MEMBER[=MEMBERSHIP], ... ; where a line may also be a
 * multicast group, mgid=GID[,FLAG]... State: struct reader, for one text. Way in: pol_read_partitions(). What
 * OpenSM ignores with a remark in its log, such as a flag that it does not know, is a fault here.
 */
#include "base/spelling.h"
#include "policy/policy_priv.h"

struct reader {
	struct pol *p;
	struct pol_place at;
	struct err *e;
	size_t current;	    /* partition that is being defined; SIZE_MAX: none */
	bool ipoib;	    /* this definition has the flag */
	const char *member; /* its default membership, a word */
};

/* ---- flags ---- */

struct flag_row {
	const char *name, *expects;
	uint64_t min, max;
};

static const struct flag_row flag_rows[] = {
	{"rate", "a code of a rate from 2 to 22", 2, 22},
	{"mtu", "a code of an MTU from 1 to 5", 1, 5},
	{"sl", "a service level from 0 to 15", 0, 15},
	{"scope", "a scope from 1 to 15", 1, 15},
	{"Q_Key", "a Q_Key of 32 bits", 0, UINT32_MAX},
	{"TClass", "a number from 0 to 255", 0, 255},
	{"FlowLabel", "a number of 20 bits", 0, 0xfffff},
};

static void flag_store(struct pol_group_flags *f, unsigned row, uint64_t v)
{
	switch (row) {
	case 0:
		f->rate = (uint8_t)v;
		break;
	case 1:
		f->mtu = (uint8_t)v;
		break;
	case 2:
		f->sl = (uint8_t)v;
		f->has_sl = true;
		break;
	case 3:
		f->scopes |= (uint16_t)(1u << v);
		break;
	case 4:
		f->qkey = (uint32_t)v;
		break;
	case 5:
		f->tclass = (uint8_t)v;
		break;
	case 6:
		f->flow_label = (uint32_t)v;
		break;
	default:
		assert(!"a flag without a field");
	}
}

int pol_group_flag(struct pol_group_flags *f, const char *flag, const char *value, struct err *e)
{
	uint64_t v;

	for (unsigned i = 0; i < ARRAY_LEN(flag_rows); i++) {
		const struct flag_row *r = &flag_rows[i];

		if (strcmp(r->name, flag))
			continue;
		if (!value || pol_number(value, r->min, r->max, &v))
			return err_set(e, -EINVAL, "expected %s for %s, found %s%.40s%s",
				       r->expects, flag, value ? "'" : "nothing",
				       value ? value : "", value ? "'" : "");
		flag_store(f, i, v);
		return 0;
	}
	return -ENOENT;
}

static int flag_unknown(struct reader *r, const char *flag, const char *what)
{
	static const char *const others[] = {"indx0", "ipoib", "defmember"};
	struct spelling near = {.word = flag};

	for (unsigned i = 0; i < ARRAY_LEN(flag_rows); i++)
		spelling_offer(&near, flag_rows[i].name, flag_rows[i].name);
	for (unsigned i = 0; i < ARRAY_LEN(others); i++)
		spelling_offer(&near, others[i], others[i]);
	return pol_fault(&r->at, r->e, "expected a flag of %s, found '%.40s'%s%s%s", what, flag,
			 near.best ? ", did you mean '" : "", near.best ? near.best : "",
			 near.best ? "'?" : "");
}

/* ---- words ---- */

/* Cuts the text at the next separator; the rest, or NULL. */
static char *cut(char *s, char separator)
{
	char *at = strchr(s, separator);

	if (at)
		*at++ = 0;
	return at;
}

/* name [= value], both trimmed; *value NULL: there is none. */
static char *pair(char *s, char **value)
{
	*value = cut(s, '=');
	if (*value)
		*value = pol_trim(*value);
	return pol_trim(s);
}

static int fault_of(struct reader *r, const struct err *why)
{
	return pol_fault(&r->at, r->e, "%s", why->text);
}

/* ---- the definition ---- */

static int definition_flag(struct reader *r, char *token)
{
	struct pol_partition *t = &r->p->partitions.at[r->current];
	struct pol_member probe;
	struct err why;
	char *value, *flag = pair(token, &value);
	int rc = pol_group_flag(&t->flags, flag, value, &why);

	if (!rc)
		return 0;
	if (rc == -EINVAL)
		return fault_of(r, &why);
	if (!strcmp(flag, "indx0")) {
		t->indx0 = true;
	} else if (!strcmp(flag, "ipoib")) {
		t->ipoib = r->ipoib = true;
	} else if (!strcmp(flag, "defmember")) {
		if (!value || pol_member_parse(&probe, "ALL", value, &why))
			return pol_fault(
				&r->at, r->e,
				"expected full, limited or both for defmember, found '%.40s'",
				value ? value : "");
		r->member = pol_membership_name(probe.as);
	} else {
		return flag_unknown(r, flag, "a partition");
	}
	return 0;
}

static int definition_name(struct reader *r, char *token)
{
	char *id, *name = pair(token, &id);
	const struct pol_partition *t;
	uint64_t key = 0;

	if (!id && *name >= '0' && *name <= '9') {
		id = name;
		name = (char *)"";
	}
	if (id && (pol_number(id, 1, 0xffff, &key) || !(key & POL_DEFAULT_KEY)))
		return pol_fault(
			&r->at, r->e,
			"expected a P_Key from 0x0001 to 0x7fff after the partition's name, found '%.40s'",
			id);
	t = pol_partition(r->p, name, (uint16_t)key);
	if (!t)
		return pol_fault(&r->at, r->e,
				 "expected at most 32766 partitions: no P_Key is free for '%.40s'",
				 name);
	r->current = (size_t)(t - r->p->partitions.at);
	return 0;
}

static int definition(struct reader *r, char *head)
{
	char *next = cut(head, ',');
	int rc = definition_name(r, head);

	r->member = "limited";
	r->ipoib = false;
	if (!rc)
		pol_definition_begin(&r->p->partitions.at[r->current]);
	while (!rc && next) {
		char *token = next;

		next = cut(token, ',');
		rc = definition_flag(r, token);
	}
	if (!rc && r->ipoib)
		pol_ipoib_groups(&r->p->partitions.at[r->current]);
	return rc;
}

/* ---- what follows it ---- */

static int group_line(struct reader *r, const char *gid, char *rest)
{
	struct pol_partition *t = &r->p->partitions.at[r->current];
	struct pol_group_flags f = t->flags;
	uint8_t mgid[16];
	struct err why;

	if (pol_gid_parse(gid, mgid))
		return pol_fault(&r->at, r->e,
				 "expected a GID such as ff12:401b::16 after mgid=, found '%.48s'",
				 gid);
	while (rest) {
		char *token = rest, *value, *flag;
		int rc;

		rest = cut(token, ',');
		flag = pair(token, &value);
		if (!*flag)
			continue;
		if (!strcmp(flag, "scope") && f.scopes == t->flags.scopes)
			f.scopes = 0; /* its own scopes replace those of the partition */
		rc = pol_group_flag(&f, flag, value, &why);
		if (rc)
			return rc == -EINVAL ? fault_of(r, &why) : flag_unknown(r, flag, "a group");
	}
	return pol_group_add(t, mgid, &f, &why) ? fault_of(r, &why) : 0;
}

static int member(struct reader *r, const char *who, const char *as)
{
	struct pol_partition *t = &r->p->partitions.at[r->current];
	struct pol_member m;
	struct err why;

	if (!*who || !strcmp(who, "NONE"))
		return 0;
	if (pol_member_parse(&m, who, as ? as : r->member, &why))
		return fault_of(r, &why);
	if (m.who == POL_NAMED)
		return pol_fault(
			&r->at, r->e,
			"expected a port GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF as member "
			"of '%.40s', found '%.40s'",
			t->name, who);
	vec_push(&t->members, m);
	return 0;
}

static int body(struct reader *r, char *s)
{
	while (s) {
		char *token = s, *value, *name;
		int rc;

		s = cut(token, ',');
		name = pair(token, &value);
		if (!strcmp(name, "mgid"))
			return group_line(r, value ? value : "", s);
		rc = member(r, name, value);
		if (rc)
			return rc;
	}
	return 0;
}

/* One definition, or a piece of one, up to ';' or the end of the line. */
static int piece(struct reader *r, char *s)
{
	char *rest;
	int rc;

	if (r->current != SIZE_MAX)
		return body(r, s);
	rest = cut(s, ':');
	if (!rest)
		return pol_fault(
			&r->at, r->e,
			"expected ':' after the name, P_Key and flags of a partition, found '%.40s'",
			pol_trim(s));
	pol_partitions_begin(r->p);
	rc = definition(r, s);
	return rc ? rc : body(r, rest);
}

int pol_read_partitions(struct pol *p, const char *file, const char *text, size_t len,
			struct err *e)
{
	struct reader r = {.p = p, .at = {.file = file}, .e = e, .current = SIZE_MAX};
	const char *end = text + len;
	struct strbuf line = {0};
	int rc = 0;

	while (!rc && pol_line(&text, end, &r.at, &line)) {
		char *s = line.s;

		rc = pol_line_check(&r.at, line.s, line.len, e);
		while (!rc && s && *pol_trim(s)) {
			char *token = s;

			s = cut(token, ';');
			rc = *pol_trim(token) ? piece(&r, token) : 0;
			if (s)
				r.current = SIZE_MAX;
		}
	}
	strbuf_free(&line);
	return rc;
}
