/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opensm.conf into settings: lines of a key and its value, by the table of opensm_keys.c. State: struct reader, for one
 * text. Way in: settings_from_opensm(). A key at OpenSM's default stays at Weft's, unless OpenSM's has an effect on
 * devices that Weft's has not. Does not open the files that it finds named.
 */
#include "settings/from_opensm.h"

#include <strings.h>

#include "base/spelling.h"

enum { OPENSM_PERF_PERIOD = 180 }; /* seconds, unless perfmgr_sweep_time_s says otherwise */

/* What depends on the engine, which a later line may name. */
struct late {
	const struct opensm_key *key; /* NULL: not in the text */
	unsigned line;
	char value[256];
};

enum { LATE_ROOTS, LATE_COMPUTE, LATE_IO, LATE_LFTS, NLATE };

struct reader {
	const char *file;
	unsigned line, engine_line, protect_line;
	struct late late[NLATE];
	bool perfmgr;
	uint64_t perf_seconds;
	unsigned perf_line;
	struct opensm_result *r;
	struct err *e;
};

/* ---- faults ---- */

static int expected(const struct reader *x, const char *key, const char *what, const char *found)
{
	return err_set(x->e, -EINVAL, "%.80s:%u: %.60s: expected %.200s; found '%.60s'", x->file,
		       x->line, key, what, found);
}

static void left(const struct reader *x, const char *key, const char *value, const char *why)
{
	struct strbuf s = {0};

	strbuf_addf(&s, "%s:%u: %s %s: %s", x->file, x->line, key, value, why);
	vec_push(&x->r->left, s.s);
}

/* ---- values ---- */

static const struct setting *setting_at(const char *place)
{
	char section[32];
	const char *dot = strchr(place, '.');

	snprintf(section, sizeof(section), "%.*s", (int)(dot - place), place);
	return setting_find(section, dot + 1);
}

static int set(const struct reader *x, const struct opensm_key *k, const char *value)
{
	const struct setting *to = setting_at(k->to);
	struct err why;

	assert(to);
	if (!setting_set(to, &x->r->s, value, &why))
		return 0;
	return err_set(x->e, -EINVAL, "%.80s:%u: %s: as %s, %.300s", x->file, x->line, k->name,
		       k->to, why.text);
}

static int set_number(const struct reader *x, const struct opensm_key *k, const char *value,
		      const char *unit)
{
	char text[48];
	uint64_t v;

	if (parse_u64(value, &v))
		return expected(x, k->name, "a number", value);
	snprintf(text, sizeof(text), unit[0] == 'x' ? "0x%llx" : "%llu%s", (unsigned long long)v,
		 unit);
	return set(x, k, text);
}

static int truth(const struct reader *x, const struct opensm_key *k, const char *value, bool *v)
{
	*v = !strcasecmp(value, "TRUE") || !strcasecmp(value, "yes") || !strcmp(value, "1");
	if (*v || !strcasecmp(value, "FALSE") || !strcasecmp(value, "no") || !strcmp(value, "0"))
		return 0;
	return expected(x, k->name, "TRUE or FALSE", value);
}

static int set_bool(const struct reader *x, const struct opensm_key *k, const char *value,
		    bool invert)
{
	bool v;
	int rc = truth(x, k, value, &v);

	return rc ? rc : set(x, k, v != invert ? "true" : "false");
}

/* ---- words ---- */

/* Engines of OpenSM, the first one of a list, and those that take their place. */
static int set_engine(struct reader *x, const struct opensm_key *k, const char *value)
{
	static const struct {
		const char *theirs, *ours;
		bool same; /* or as near as there is */
	} engines[] = {{"minhop", "auto", false},     {"updn", "updn", true},
		       {"ftree", "tree", true},	      {"nue", "nue", true},
		       {"torus-2QoS", "torus", true}, {"dor", "torus", false},
		       {"dfsssp", "balanced", false}, {"sssp", "balanced", false},
		       {"lash", "balanced", false},   {"dnup", "updn", false},
		       {"file", "file", true}};
	char first[32], why[96];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, ", \t"), value);
	for (unsigned i = 0; i < ARRAY_LEN(engines); i++) {
		if (strcmp(engines[i].theirs, first))
			continue;
		snprintf(why, sizeof(why), "engine %s takes its place (routes.engine)",
			 engines[i].ours);
		if (!engines[i].same || strcmp(first, value))
			left(x, k->name, value, why);
		x->engine_line = x->line;
		return set(x, k, engines[i].ours);
	}
	left(x, k->name, value, "Weft has no such engine: auto chooses one");
	return 0;
}

static int set_words(struct reader *x, const struct opensm_key *k, const char *value)
{
	bool v;
	int rc;

	if (!strcmp(k->to, "routes.engine"))
		return set_engine(x, k, value);
	rc = truth(x, k, value, &v);
	if (rc)
		return rc;
	if (!strcmp(k->to, "partitions.enforce"))
		return v ? set(x, k, "off") : 0;
	return set(x, k, v ? "traps" : "sweeps");
}

static int set_class(const struct reader *x, const struct opensm_key *k, const char *value)
{
	const char *key = k->name + strlen("qos_");
	struct err why;
	unsigned c = 0;
	int rc;

	while (strcmp(pol_class_name((enum pol_class)c), k->to))
		c++;
	if (c)
		key += strlen(k->to) + 1;
	rc = pol_vls_set(&x->r->p->vls[c], key, value, &why);
	assert(rc != -ENOENT);
	return rc ? err_set(x->e, -EINVAL, "%.80s:%u: %s: %.300s", x->file, x->line, k->name,
			    why.text)
		  : 0;
}

static int set_file(const struct reader *x, const struct opensm_key *k, const char *value)
{
	char *to = strcmp(k->to, "qos.policy") ? x->r->partitions : x->r->qos_policy;

	if (strlen(value) >= sizeof(x->r->partitions))
		return expected(x, k->name, "a path of up to 255 bytes", value);
	snprintf(to, sizeof(x->r->partitions), "%s", value);
	*(to == x->r->qos_policy ? &x->r->qos_policy_line : &x->r->partitions_line) =
		strcmp(value, k->dflt) ? x->line : 0;
	return 0;
}

static int keep(struct reader *x, const struct opensm_key *k, const char *value)
{
	static const char *const to[NLATE] = {[LATE_ROOTS] = "routes.roots",
					      [LATE_COMPUTE] = "routes.compute_nodes",
					      [LATE_IO] = "routes.io_nodes",
					      [LATE_LFTS] = "routes.file"};
	unsigned i = 0;

	while (strcmp(to[i], k->to))
		i++;
	if (strlen(value) + 2 > sizeof(x->late[i].value))
		return expected(x, k->name, "a path of up to 254 bytes", value);
	x->late[i] = (struct late){.key = k, .line = x->line};
	snprintf(x->late[i].value, sizeof(x->late[i].value), "%s%s",
		 k->how == OPENSM_LIST ? "@" : "", value);
	return 0;
}

/* Why the engine has no use for it; NULL: it has. */
static const char *why_not(const struct sm_supply *engine, unsigned i)
{
	bool given = engine->engine && engine->engine->given;

	if (i == LATE_LFTS)
		return given ? NULL : "it has no effect without routing_engine file";
	if (i == LATE_ROOTS)
		return NULL;
	return engine->choose || (engine->engine && engine->engine->groups)
		       ? NULL
		       : "the engine does not balance groups of hosts (routes.engine)";
}

static int late_set(struct reader *x)
{
	const struct sm_supply *const *engine = &x->r->s.sm.mechanism.routes;
	int rc = 0;

	for (unsigned i = 0; !rc && i < NLATE; i++) {
		const struct late *l = &x->late[i];
		const char *why = l->key ? why_not(*engine, i) : NULL;

		x->line = l->line;
		if (why)
			left(x, l->key->name, l->value + (i != LATE_LFTS), why);
		else if (l->key)
			rc = set(x, l->key, l->value);
	}
	if (!rc && (*engine)->engine && (*engine)->engine->given && !x->late[LATE_LFTS].key) {
		struct opensm_key engine_key = {.name = "routing_engine", .to = "routes.engine"};

		x->line = x->engine_line;
		left(x, "routing_engine", "file", "without lfts_file: auto chooses an engine");
		rc = set(x, &engine_key, "auto");
	}
	return rc;
}

/* One key says whether, the other one how often. */
static int perf_read(struct reader *x, const struct opensm_key *k, const char *value)
{
	if (!strcmp(k->name, "perfmgr"))
		return truth(x, k, value, &x->perfmgr);
	x->perf_line = x->line;
	return parse_u64(value, &x->perf_seconds) ? expected(x, k->name, "a number", value) : 0;
}

static int perf_set(struct reader *x)
{
	const struct opensm_key *k = opensm_keys;
	char text[32];

	snprintf(text, sizeof(text), "%llus", (unsigned long long)x->perf_seconds);
	while (k->how != OPENSM_PERF)
		k++;
	if (x->perfmgr)
		return set(x, k, text);
	x->line = x->perf_line;
	text[strlen(text) - 1] = 0;
	if (x->line)
		left(x, "perfmgr_sweep_time_s", text, "it has no effect while perfmgr is FALSE");
	return 0;
}

/* OpenSM writes bits that protect nothing. */
static void protect_set(struct reader *x)
{
	struct sm_config *c = &x->r->s.sm;
	char level[2] = {(char)('0' + c->m_key_protect), 0};

	if (!c->m_key_protect || c->m_key)
		return;
	x->line = x->protect_line;
	left(x, "m_key_protection_level", level, "it has no effect without m_key");
	c->m_key_protect = 0;
}

/* What settings together may not be, without a line. */
static int check(const struct reader *x)
{
	struct err why;

	return settings_check(&x->r->s, NULL, &why)
		       ? err_set(x->e, -EINVAL, "%.80s: %.400s", x->file, why.text)
		       : 0;
}

/* ---- lines ---- */

static int apply(struct reader *x, const struct opensm_key *k, const char *value)
{
	bool none = !strcmp(value, "(null)");

	if (!strcasecmp(value, k->dflt) && !k->always)
		return 0;
	if (!strcmp(k->to, "keys.protect"))
		x->protect_line = x->line;
	switch (k->how) {
	case OPENSM_NUMBER:
		return set_number(x, k, value, "");
	case OPENSM_HEX:
		return set_number(x, k, value, "x");
	case OPENSM_SECONDS:
		return set_number(x, k, value, "s");
	case OPENSM_MS:
		return set_number(x, k, value, "ms");
	case OPENSM_BOOL:
	case OPENSM_NOT:
		return set_bool(x, k, value, k->how == OPENSM_NOT);
	case OPENSM_TEXT:
		return none ? 0 : set(x, k, value);
	case OPENSM_CHOICE:
		return set(x, k, value);
	case OPENSM_WORDS:
		return none ? 0 : set_words(x, k, value);
	case OPENSM_CLASS:
		return none ? 0 : set_class(x, k, value);
	case OPENSM_FILE:
		return none ? 0 : set_file(x, k, value);
	case OPENSM_LIST:
	case OPENSM_LFTS:
		return none ? 0 : keep(x, k, value);
	case OPENSM_PERF:
		return perf_read(x, k, value);
	case OPENSM_LEFT:
		left(x, k->name, value, k->to);
		return 0;
	}
	return 0;
}

static void unknown(const struct reader *x, const char *key, const char *value)
{
	struct spelling near = {.word = key};
	char why[128];

	for (const struct opensm_key *k = opensm_keys; k->name; k++)
		spelling_offer(&near, k->name, k->name);
	snprintf(why, sizeof(why), "not a key of OpenSM 3.3.23%s%s%s",
		 near.best ? ", did you mean '" : "", near.best ? near.best : "",
		 near.best ? "'?" : "");
	left(x, key, value, why);
}

static int line_read(struct reader *x, char *s)
{
	char *value = s + strcspn(s, " \t=");

	if (*value)
		*value++ = 0;
	value += strspn(value, " \t=");
	for (size_t n = strlen(value); n && strchr(" \t\r", value[n - 1]); n--)
		value[n - 1] = 0;
	if (!*value)
		return expected(x, s, "a value after the key", "");
	for (const struct opensm_key *k = opensm_keys; k->name; k++)
		if (!strcmp(k->name, s))
			return apply(x, k, value);
	unknown(x, s, value);
	return 0;
}

static bool is_text(const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		unsigned n = s[i] == '\t' || s[i] == '\r' ? 1 : utf8_len(s + i, len - i);

		if (!n)
			return false;
		i += n;
	}
	return true;
}

int settings_from_opensm(const char *file, const char *text, size_t len, struct opensm_result *r,
			 struct err *e)
{
	struct reader x = {.file = file, .r = r, .e = e, .perf_seconds = OPENSM_PERF_PERIOD};
	const char *end = text + len;
	int rc = 0;

	*r = (struct opensm_result){.p = pol_new()};
	settings_default(&r->s);
	while (!rc && text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text)), *stop = nl ? nl : end;
		const char *hash = memchr(text, '#', (size_t)(stop - text));
		size_t n = (size_t)((hash ? hash : stop) - text);
		char *line = mem_alloc(n + 1), *s = line;

		x.line++;
		memcpy(line, text, n);
		line[n] = 0;
		if (!is_text(line, n))
			rc = expected(&x, "line", "UTF-8 text", "other bytes");
		s += strspn(s, " \t\r");
		if (!rc && *s)
			rc = line_read(&x, s);
		free(line);
		text = stop + 1;
	}
	if (!rc)
		rc = late_set(&x);
	if (!rc)
		rc = perf_set(&x);
	protect_set(&x);
	x.line = r->qos_policy_line;
	if (!r->s.sm.qos && r->qos_policy_line)
		left(&x, "qos_policy_file", r->qos_policy, "it has no effect while qos is FALSE");
	return rc ? rc : check(&x);
}

void opensm_result_free(struct opensm_result *r)
{
	for (size_t i = 0; i < r->left.n; i++)
		free(r->left.at[i]);
	vec_free(&r->left);
	pol_free(r->p);
}

/* ---- out ---- */

static void section_print(const struct settings *s, const struct settings *d, const char *section,
			  struct strbuf *out)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if (!strcmp(k->section, section) && !setting_same(k, s, d)) {
			strbuf_addf(out, "  %s: ", k->key);
			setting_text(k, s, out);
			strbuf_add(out, "\n");
		}
}

void settings_print_changed(const struct settings *s, const struct pol *p, struct strbuf *out)
{
	struct settings d;

	settings_default(&d);
	for (const struct settings_section *x = settings_sections; x->name; x++) {
		struct strbuf body = {0};

		section_print(s, &d, x->name, &body);
		if (!strcmp(x->name, "partitions"))
			pol_print_partitions(p, &body);
		if (!strcmp(x->name, "qos"))
			pol_print_qos(p, &body);
		if (body.len)
			strbuf_addf(out, "%s:\n%s", x->name, body.s);
		strbuf_free(&body);
	}
}
