/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a schedule from text. State: struct reader, for one text. Way in: schedule_read(), schedule_load().
 * Does not run it, and trusts nothing: every word is checked, and every fault has its line.
 */
#include "base/rng.h"
#include "base/units.h"
#include "trial/schedule.h"

enum { WORDS_MAX = 256, DIMS_PRODUCT = 4096 };

struct reader {
	struct schedule *s;
	struct fab *fab; /* NULL until the first line that needs it */
	const char *name;
	unsigned line;
	char *word[WORDS_MAX];
	unsigned n, next;
	struct err *e;
};

static int bad(struct reader *r, const char *fmt, ...) PRINTF(2, 3);

static int bad(struct reader *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(r->e, -EINVAL, "%.100s:%u: %s", r->name, r->line, text);
}

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Words of a line, in place; a word in quotes may hold blanks. */
static int split(struct reader *r, char *p)
{
	r->n = r->next = 0;
	for (;;) {
		bool quoted;

		while (is_blank(*p))
			*p++ = 0;
		if (!*p || *p == '#')
			return 0;
		if (r->n == WORDS_MAX)
			return bad(r, "expected no more than %d words", WORDS_MAX);
		quoted = *p == '"';
		r->word[r->n++] = p += quoted;
		while (*p && (quoted ? *p != '"' : !is_blank(*p)))
			p++;
		if (quoted && !*p)
			return bad(r, "expected a closing quote after '%.40s'", r->word[r->n - 1]);
		if (*p)
			*p++ = 0;
	}
}

static const char *peek(const struct reader *r)
{
	return r->next < r->n ? r->word[r->next] : NULL;
}

/* The next word; NULL with a message. */
static char *take(struct reader *r, const char *what)
{
	if (r->next < r->n)
		return r->word[r->next++];
	bad(r, "expected %s after '%.40s'", what, r->n ? r->word[r->n - 1] : "");
	return NULL;
}

static int take_u64(struct reader *r, const char *what, uint64_t min, uint64_t max, uint64_t *v)
{
	char *w;

	w = take(r, what);
	if (!w)
		return -EINVAL;
	if (parse_u64(w, v) || *v < min || *v > max)
		return bad(r, "expected %s from %llu to %llu, found '%.40s'", what,
			   (unsigned long long)min, (unsigned long long)max, w);
	return 0;
}

static int take_time(struct reader *r, time_ps *t)
{
	char *w;

	w = take(r, "a time such as 2.5ms");
	if (!w)
		return -EINVAL;
	if (parse_time(w, t) || *t > 86400 * PS_PER_S)
		return bad(r, "expected a time such as 2.5ms, found '%.40s'", w);
	return 0;
}

static int take_share(struct reader *r, uint64_t *millionths)
{
	double v;
	char *w;

	w = take(r, "a share such as 5%");
	if (!w)
		return -EINVAL;
	if (parse_share(w, &v))
		return bad(r, "expected a share such as 5%% or 0.05, found '%.40s'", w);
	*millionths = (uint64_t)(v * 1e6 + 0.5);
	return 0;
}

/* ---- nodes and ports ---- */

static int need_fabric(struct reader *r)
{
	struct err why;

	if (r->fab)
		return 0;
	if (!r->s->gen.kind && !r->s->netlist)
		return bad(r, "expected a line 'fabric ...' or 'netlist FILE' before this one");
	r->fab = schedule_fabric(r->s, &why);
	if (!r->fab)
		return bad(r, "no fabric: %.200s", why.text);
	return 0;
}

static int find_node(struct reader *r, const char *text, node_id *n)
{
	if (need_fabric(r))
		return -EINVAL;
	*n = fab_node_by_text(r->fab, text);
	if (*n == FAB_NONE)
		return bad(
			r,
			"'%.60s' is not in the fabric: expected a node GUID, an S-/H- id or a name",
			text);
	return 0;
}

static int take_node(struct reader *r, uint64_t *guid)
{
	char *w;
	node_id n;

	w = take(r, "a node");
	if (!w || find_node(r, w, &n))
		return -EINVAL;
	*guid = r->fab->nodes[n].guid;
	return 0;
}

/* S-0002000000000001[3] */
static int take_port(struct reader *r, struct schedule_port *p)
{
	char *w, *bracket, *end;
	unsigned long num;
	node_id n;

	w = take(r, "a port such as S-0002000000000001[3]");
	if (!w)
		return -EINVAL;
	bracket = strrchr(w, '[');
	num = bracket ? strtoul(bracket + 1, &end, 10) : 0;
	if (!bracket || end == bracket + 1 || strcmp(end, "]"))
		return bad(r, "expected a port such as S-0002000000000001[3], found '%.40s'", w);
	*bracket = 0;
	if (find_node(r, w, &n))
		return -EINVAL;
	if (!num || num > r->fab->nodes[n].nports)
		return bad(r, "'%.60s' has ports 1 to %u, found %lu", w, r->fab->nodes[n].nports,
			   num);
	*p = (struct schedule_port){r->fab->nodes[n].guid, (unsigned)num};
	return 0;
}

/* ---- the head ---- */

static int gen_option(struct reader *r, struct fab_gen *g, const char *w)
{
	uint64_t v;

	if (!strcmp(w, "seed"))
		return take_u64(r, "a seed", 0, UINT64_MAX, &g->seed);
	if (!strcmp(w, "ports") && !take_u64(r, "a number of ports", 1, 254, &v))
		g->ports = (unsigned)v;
	else if (!strcmp(w, "hosts") && !take_u64(r, "a number of hosts", 0, 1024, &v)) {
		g->hosts = (unsigned)v;
		g->has_hosts = true;
	} else if (!strcmp(w, "links") && !take_u64(r, "a number of links", 1, 4096, &v))
		g->links = (unsigned)v;
	else if (strcmp(w, "ports") && strcmp(w, "hosts") && strcmp(w, "links"))
		return bad(r, "expected a size, ports, hosts, links or seed, found '%.40s'", w);
	else
		return -EINVAL;
	return 0;
}

static int read_fabric(struct reader *r)
{
	struct fab_gen *g = &r->s->gen;
	uint64_t v, all = 1;
	char *w;

	if (r->s->kind || r->s->netlist)
		return bad(r, "expected one line 'fabric' or 'netlist', found another");
	w = take(r, "a topology such as irregular 6");
	if (!w)
		return -EINVAL;
	r->s->kind = mem_strdup(w);
	g->kind = r->s->kind;
	while (peek(r)) {
		w = r->word[r->next++];
		if (parse_u64(w, &v)) {
			if (gen_option(r, g, w))
				return -EINVAL;
			continue;
		}
		all = v <= DIMS_PRODUCT ? all * MAX(v, 1u) : UINT32_MAX;
		if (g->ndims == ARRAY_LEN(g->dims) || all > DIMS_PRODUCT)
			return bad(r, "expected a smaller fabric, found size %.40s", w);
		g->dims[g->ndims++] = (unsigned)v;
	}
	return need_fabric(r);
}

/* A netlist beside the schedule, unless its path is absolute. */
static int read_netlist(struct reader *r)
{
	const char *slash = strrchr(r->name, '/');
	struct strbuf path = {0};
	char *w;

	if (r->s->kind || r->s->netlist)
		return bad(r, "expected one line 'fabric' or 'netlist', found another");
	w = take(r, "a file");
	if (!w)
		return -EINVAL;
	if (!*w || !strcmp(w, "-"))
		return bad(r, "expected a file, found '%s'", w);
	if (slash && *w != '/')
		strbuf_addn(&path, r->name, (size_t)(slash + 1 - r->name));
	strbuf_add(&path, w);
	r->s->netlist = path.s;
	return need_fabric(r);
}

static int read_without(struct reader *r)
{
	if (r->s->managers.n || r->s->events.n)
		return bad(r, "expected 'without' before managers and events");
	while (peek(r)) {
		uint64_t guid;

		if (take_node(r, &guid))
			return -EINVAL;
		vec_push(&r->s->without, guid);
	}
	fab_free(r->fab);
	r->fab = NULL;
	return need_fabric(r);
}

static int read_switch(struct reader *r, bool *on)
{
	char *w;

	w = take(r, "on or off");
	if (!w)
		return -EINVAL;
	*on = !strcmp(w, "on");
	return *on || !strcmp(w, "off") ? 0 : bad(r, "expected on or off, found '%.40s'", w);
}

/* ---- managers ---- */

static int set_option(struct reader *r, struct schedule_manager *m, const struct schedule_option *o)
{
	void *at = (char *)m + o->at;
	time_ps t;
	uint64_t v;

	switch (o->type) {
	case SCHEDULE_UINT:
		if (take_u64(r, o->word, o->min, o->max, &v))
			return -EINVAL;
		*(unsigned *)at = (unsigned)v;
		return 0;
	case SCHEDULE_HEX:
		return take_u64(r, o->word, o->min, o->max, at);
	case SCHEDULE_BOOL:
		return read_switch(r, at);
	case SCHEDULE_TIME:
		if (take_time(r, &t))
			return -EINVAL;
		if (t < o->min || t > o->max)
			return bad(r, "expected another time for %s", o->word);
		*(time_ps *)at = t;
		return 0;
	}
	return -EINVAL;
}

static int manager_option(struct reader *r, struct schedule_manager *m)
{
	char *w = r->word[r->next++], *name;
	const struct sm_mechanism *mech;

	if (!strcmp(w, "mechanism")) {
		name = take(r, "a mechanism");
		if (!name)
			return -EINVAL;
		mech = sm_mechanism_find(name);
		if (!mech)
			return bad(r, "no mechanism is called '%.40s'", name);
		m->sm.mechanism = *mech;
		return 0;
	}
	for (const struct schedule_option *o = schedule_options; o->word; o++)
		if (!strcmp(o->word, w))
			return set_option(r, m, o);
	return bad(r, "expected an option of a manager such as priority, found '%.40s'", w);
}

static int read_manager(struct reader *r)
{
	struct schedule_manager m;

	schedule_manager_default(&m);
	if (take_node(r, &m.guid))
		return -EINVAL;
	for (size_t i = 0; i < r->s->managers.n; i++)
		if (r->s->managers.at[i].guid == m.guid)
			return bad(r, "expected another node: this one has a manager already");
	while (peek(r))
		if (manager_option(r, &m))
			return -EINVAL;
	vec_push(&r->s->managers, m);
	return 0;
}

/* ---- events ---- */

static int take_knows(struct reader *r, enum schedule_knows *k)
{
	const char *w = r->word[r->next++];

	for (unsigned i = SCHEDULE_LIDS; i <= SCHEDULE_TORN_STATE; i++)
		if (!strcmp(schedule_knows_words[i], w)) {
			*k = (enum schedule_knows)i;
			return 0;
		}
	return bad(
		r,
		"expected with-lids, with-state, with-old-state or with-torn-state, found '%.40s'",
		w);
}

static int take_order(struct reader *r, enum schedule_order *o)
{
	const char *w = take(r, "an order such as disable");

	for (unsigned i = SCHEDULE_ORDER_HANDOVER; w && i < SCHEDULE_NORDERS; i++)
		if (!strcmp(schedule_order_words[i], w)) {
			*o = (enum schedule_order)i;
			return 0;
		}
	return w ? bad(r,
		       "expected handover, acknowledge, disable, standby, discover or unknown, found '%.40s'",
		       w)
		 : -EINVAL;
}

static int take_operand(struct reader *r, char what, struct schedule_event *ev)
{
	uint64_t v;

	switch (what) {
	case 'M':
		if (!r->s->managers.n)
			return bad(r, "expected a line 'manager' before this one");
		if (take_u64(r, "a manager", 0, r->s->managers.n - 1, &v))
			return -EINVAL;
		ev->manager = (unsigned)v;
		return 0;
	case 'N':
		return take_node(r, &ev->port.guid);
	case 'P':
		return take_port(r, &ev->port);
	case 'S':
		return take_share(r, &ev->share);
	case 'T':
		return take_time(r, &ev->time);
	case 'K':
		return take_knows(r, &ev->knows);
	case 'O':
		return take_order(r, &ev->order);
	default: /* 'L': one node or more */
		do {
			if (take_node(r, &v))
				return -EINVAL;
			vec_push(&ev->nodes, v);
		} while (peek(r));
		return 0;
	}
}

static int read_operands(struct reader *r, struct schedule_event *ev)
{
	const char *o = schedule_words[ev->kind].operands;

	ev->time = ev->kind == SCHEDULE_REBOOT ? PS_PER_MS : 0;
	for (; *o; o++) {
		bool optional = o[1] == '?';

		if ((!optional || peek(r)) && take_operand(r, *o, ev))
			return -EINVAL;
		o += optional;
	}
	return 0;
}

static int read_event(struct reader *r)
{
	struct schedule_event ev = {0};
	unsigned k = 0;
	char *w;

	w = take_time(r, &ev.at) ? NULL : take(r, "a fault such as crash 0");
	if (!w)
		return -EINVAL;
	while (k < SCHEDULE_NKINDS && strcmp(schedule_words[k].word, w))
		k++;
	if (k == SCHEDULE_NKINDS)
		return bad(r, "expected a fault such as crash or unlink, found '%.40s'", w);
	ev.kind = (enum schedule_kind)k;
	if (r->s->events.n && r->s->events.at[r->s->events.n - 1].at > ev.at)
		return bad(r, "expected a time that is not before that of the line above");
	if (read_operands(r, &ev)) {
		vec_free(&ev.nodes);
		return -EINVAL;
	}
	vec_push(&r->s->events, ev);
	return 0;
}

/* ---- lines ---- */

static int read_line(struct reader *r, char *text)
{
	const char *w;
	int rc;

	if (split(r, text))
		return -EINVAL;
	if (!r->n)
		return 0;
	w = r->word[r->next++];
	rc = !strcmp(w, "at")	     ? read_event(r)
	     : !strcmp(w, "manager") ? read_manager(r)
	     : !strcmp(w, "fabric")  ? read_fabric(r)
	     : !strcmp(w, "netlist") ? read_netlist(r)
	     : !strcmp(w, "without") ? read_without(r)
	     : !strcmp(w, "seed")    ? take_u64(r, "a seed", 0, UINT64_MAX, &r->s->seed)
	     : !strcmp(w, "traps")   ? read_switch(r, &r->s->traps)
	     : !strcmp(w, "traffic")
		     ? take_time(r, &r->s->traffic)
		     : bad(r,
			   "expected fabric, netlist, without, seed, traps, traffic, "
			   "manager or at, found '%.40s'",
			   w);
	if (!rc && r->next < r->n)
		return bad(r, "expected no more words, found '%.40s'", r->word[r->next]);
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
	if (need_fabric(r))
		return -EINVAL;
	return r->s->managers.n ? 0 : bad(r, "expected a line 'manager NODE'");
}

int schedule_read(struct schedule *s, struct fab **fab, const char *name, const char *text,
		  size_t len, struct err *e)
{
	struct reader *r = mem_zalloc(sizeof(*r));
	char *copy = mem_alloc(len + 1);
	int rc;

	memcpy(copy, text, len);
	copy[len] = 0;
	schedule_init(s);
	*r = (struct reader){.s = s, .name = name, .e = e};
	rc = memchr(text, 0, len) ? err_set(e, -EINVAL, "%.100s: expected text, found a NUL", name)
				  : read_all(r, copy);
	if (rc) {
		schedule_free(s);
		fab_free(r->fab);
	} else {
		*fab = r->fab;
	}
	free(copy);
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
