/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a schedule from text. State: struct reader, for one text. Way in: schedule_read(), schedule_load(),
 * schedule_read_on(), schedule_read_fabric(). Does not run it, and trusts nothing: every word is checked, and every
 * fault has its line.
 */
#include "trial/schedule_read_priv.h"

enum { DIMS_PRODUCT = 4096 };

/* ---- the head ---- */

static int gen_number(struct reader *r, const char *what, uint64_t min, uint64_t max, unsigned *to)
{
	uint64_t v;

	if (reader_u64(r, what, min, max, &v))
		return -EINVAL;
	*to = (unsigned)v;
	return 0;
}

static int gen_option(struct reader *r, struct fab_gen *g, const char *w)
{
	if (!strcmp(w, "seed"))
		return reader_u64(r, "a seed", 0, UINT64_MAX, &g->seed);
	if (!strcmp(w, "ports"))
		return gen_number(r, "a number of ports", 1, 254, &g->ports);
	if (!strcmp(w, "links"))
		return gen_number(r, "a number of links", 1, 4096, &g->links);
	if (!strcmp(w, "hosts")) {
		g->has_hosts = true;
		return gen_number(r, "a number of hosts", 0, 1024, &g->hosts);
	}
	if (!strcmp(w, "vfs")) {
		g->sriov = FAB_SRIOV_VSWITCH;
		return gen_number(r, "a number of VFs", 1, FAB_MAX_VFS, &g->vfs);
	}
	return reader_bad(r, "expected a size, ports, hosts, links, vfs or seed, found '%.40s'", w);
}

static int has_fabric(struct reader *r)
{
	if (r->given)
		return reader_bad(r, "expected no line 'fabric' or 'netlist': the fabric is given");
	if (r->s->kind || r->s->netlist)
		return reader_bad(r, "expected one line 'fabric' or 'netlist', found another");
	return 0;
}

static int read_fabric(struct reader *r)
{
	struct fab_gen *g = &r->s->gen;
	uint64_t v, all = 1;
	char *w;

	if (has_fabric(r))
		return -EINVAL;
	w = reader_take(r, "a topology such as irregular 6");
	if (!w)
		return -EINVAL;
	r->s->kind = mem_strdup(w);
	g->kind = r->s->kind;
	while (reader_peek(r)) {
		w = r->word[r->next++];
		if (parse_u64(w, &v)) {
			if (gen_option(r, g, w))
				return -EINVAL;
			continue;
		}
		all = v <= DIMS_PRODUCT ? all * MAX(v, 1u) : UINT32_MAX;
		if (g->ndims == ARRAY_LEN(g->dims) || all > DIMS_PRODUCT)
			return reader_bad(r, "expected a smaller fabric, found size %.40s", w);
		g->dims[g->ndims++] = (unsigned)v;
	}
	return reader_need_fabric(r);
}

/* A netlist beside the schedule, unless its path is absolute. */
static int read_netlist(struct reader *r)
{
	const char *slash = strrchr(r->name, '/');
	struct strbuf path = {0};
	char *w;

	if (has_fabric(r))
		return -EINVAL;
	w = reader_take(r, "a file");
	if (!w)
		return -EINVAL;
	if (!*w || !strcmp(w, "-"))
		return reader_bad(r, "expected a file, found '%s'", w);
	if (slash && *w != '/')
		strbuf_addn(&path, r->name, (size_t)(slash + 1 - r->name));
	strbuf_add(&path, w);
	r->s->netlist = path.s;
	return reader_need_fabric(r);
}

static int read_without(struct reader *r)
{
	if (r->s->managers.n || r->s->events.n || r->given)
		return reader_bad(r, "expected 'without' before managers and events");
	while (reader_peek(r)) {
		uint64_t guid;

		if (reader_node(r, &guid))
			return -EINVAL;
		vec_push(&r->s->without, guid);
	}
	fab_free(r->fab);
	r->fab = NULL;
	return reader_need_fabric(r);
}

static int read_switch(struct reader *r, bool *on)
{
	char *w;

	w = reader_take(r, "on or off");
	if (!w)
		return -EINVAL;
	*on = !strcmp(w, "on");
	return *on || !strcmp(w, "off") ? 0 : reader_bad(r, "expected on or off, found '%.40s'", w);
}

/* ---- managers ---- */

static int set_option(struct reader *r, struct schedule_manager *m, const struct schedule_option *o)
{
	void *at = (char *)m + o->at;
	time_ps t;
	uint64_t v;

	switch (o->type) {
	case SCHEDULE_UINT:
		if (reader_u64(r, o->word, o->min, o->max, &v))
			return -EINVAL;
		*(unsigned *)at = (unsigned)v;
		return 0;
	case SCHEDULE_HEX:
		return reader_u64(r, o->word, o->min, o->max, at);
	case SCHEDULE_BOOL:
		return read_switch(r, at);
	case SCHEDULE_TIME:
		if (reader_time(r, &t))
			return -EINVAL;
		if (t < o->min || t > o->max)
			return reader_bad(r, "expected another time for %s", o->word);
		*(time_ps *)at = t;
		return 0;
	}
	return -EINVAL;
}

static int take_mechanism(struct reader *r, struct schedule_manager *m)
{
	char *name = reader_take(r, "a mechanism");
	const struct sm_mechanism *mech = name ? sm_mechanism_find(name) : NULL;

	if (!mech)
		return name ? reader_bad(r, "no mechanism is called '%.40s'", name) : -EINVAL;
	m->sm.mechanism = *mech;
	return 0;
}

/* Whose final routes these are; after the mechanism, which has its own. */
static int take_engine(struct reader *r, struct schedule_manager *m)
{
	char *name = reader_take(r, "an engine");
	const struct sm_supply *s = name ? sm_supply_find(name) : NULL;
	struct err e;

	if (!s)
		return name ? reader_bad(r, "no engine is called '%.40s'", name) : -EINVAL;
	m->sm.mechanism.routes = s;
	return sm_mechanism_check(&m->sm.mechanism, &e) ? reader_bad(r, "%s", e.text) : 0;
}

static int manager_option(struct reader *r, struct schedule_manager *m)
{
	char *w = r->word[r->next++];

	if (!strcmp(w, "mechanism"))
		return take_mechanism(r, m);
	if (!strcmp(w, "routes"))
		return take_engine(r, m);
	for (const struct schedule_option *o = schedule_options; o->word; o++)
		if (!strcmp(o->word, w))
			return set_option(r, m, o);
	return reader_bad(r, "expected an option of a manager such as priority, found '%.40s'", w);
}

static int read_manager(struct reader *r)
{
	struct schedule_manager m;

	schedule_manager_default(&m);
	if (reader_node(r, &m.guid))
		return -EINVAL;
	for (size_t i = 0; i < r->s->managers.n; i++)
		if (r->s->managers.at[i].guid == m.guid)
			return reader_bad(r,
					  "expected another node: this one has a manager already");
	while (reader_peek(r))
		if (manager_option(r, &m))
			return -EINVAL;
	vec_push(&r->s->managers, m);
	return 0;
}

/* ---- lines ---- */

static int read_line(struct reader *r, char *text)
{
	const char *w;
	int rc;

	if (reader_split(r, text))
		return -EINVAL;
	if (!r->n)
		return 0;
	w = r->word[r->next++];
	rc = !strcmp(w, "at")	     ? reader_event(r)
	     : !strcmp(w, "manager") ? read_manager(r)
	     : !strcmp(w, "fabric")  ? read_fabric(r)
	     : !strcmp(w, "netlist") ? read_netlist(r)
	     : !strcmp(w, "without") ? read_without(r)
	     : !strcmp(w, "seed")    ? reader_u64(r, "a seed", 0, UINT64_MAX, &r->s->seed)
	     : !strcmp(w, "traps")   ? read_switch(r, &r->s->traps)
	     : !strcmp(w, "traffic") ? reader_time(r, &r->s->traffic)
	     : !strcmp(w, "until")
		     ? reader_time(r, &r->s->until)
		     : reader_bad(r,
				  "expected fabric, netlist, without, seed, traps, traffic, "
				  "until, manager or at, found '%.40s'",
				  w);
	if (!rc && r->next < r->n)
		return reader_bad(r, "expected no more words, found '%.40s'", r->word[r->next]);
	return rc;
}

static int read_all(struct reader *r, char *text)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		r->line++;
		if (read_line(r, line))
			return -EINVAL;
	}
	if (reader_need_fabric(r))
		return -EINVAL;
	return r->s->managers.n ? 0 : reader_bad(r, "expected a line 'manager NODE'");
}

/* Frees what was read when it is not whole. */
static int read_text(struct reader *r, const char *text, size_t len,
		     int (*read)(struct reader *r, char *text))
{
	char *copy = mem_alloc(len + 1);
	int rc;

	memcpy(copy, text, len);
	copy[len] = 0;
	schedule_init(r->s);
	rc = memchr(text, 0, len)
		     ? err_set(r->e, -EINVAL, "%.100s: expected text, found a NUL", r->name)
		     : read(r, copy);
	if (rc) {
		schedule_free(r->s);
		if (!r->given)
			fab_free(r->fab);
	}
	free(copy);
	return rc;
}

int schedule_read(struct schedule *s, struct fab **fab, const char *name, const char *text,
		  size_t len, struct err *e)
{
	struct reader *r = mem_zalloc(sizeof(*r));
	int rc;

	*r = (struct reader){.s = s, .name = name, .e = e};
	rc = read_text(r, text, len, read_all);
	if (!rc)
		*fab = r->fab;
	free(r);
	return rc;
}

int schedule_read_on(struct schedule *s, const struct fab *f, const char *name, const char *text,
		     size_t len, struct err *e)
{
	struct reader *r = mem_zalloc(sizeof(*r));
	int rc;

	*r = (struct reader){.s = s, .fab = (struct fab *)f, .given = true, .name = name, .e = e};
	rc = read_text(r, text, len, read_all);
	free(r);
	return rc;
}

static int read_only_fabric(struct reader *r, char *text)
{
	if (strchr(text, '\n'))
		return reader_bad(r, "expected one line");
	if (reader_split(r, text))
		return -EINVAL;
	return read_fabric(r);
}

int schedule_read_fabric(struct schedule *s, struct fab **fab, const char *words, struct err *e)
{
	struct reader *r = mem_zalloc(sizeof(*r));
	int rc;

	*r = (struct reader){.s = s, .name = "fabric", .e = e};
	rc = read_text(r, words, strlen(words), read_only_fabric);
	if (!rc)
		*fab = r->fab;
	free(r);
	return rc;
}

int schedule_load(struct schedule *s, struct fab **fab, const char *path, struct err *e)
{
	char *text;
	size_t len;
	int rc = file_read(path, &text, &len, e);

	if (rc)
		return rc;
	rc = schedule_read(s, fab, path, text, len, e);
	free(text);
	return rc;
}
