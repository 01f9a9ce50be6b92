/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the netlist text of ibnetdiscover and ibsim: one pass over the lines, a cursor (at, end) in
 * struct nl, statements collected in order. Way in: fab_netlist_parse() and fab_netlist_load().
 * Does not judge whether the two ends of a link agree (netlist_build.c) and does not write.
 */
#include "fabric/netlist_priv.h"
#include "base/rng.h"

#include <strings.h>

/* ---- ids ---- */

static uint64_t text_hash(const char *s, size_t n)
{
	uint64_t h = n;

	for (; n >= 8; s += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, s, 8);
		h = hash64_add(h, w);
	}
	for (; n; s++, n--)
		h = hash64_add(h, (unsigned char)*s);
	return h;
}

/* The number of a text id; the module's prefix belongs to it unless it names a module itself. */
static uint32_t intern(struct nl *l, struct nl_span id)
{
	uint32_t at = (uint32_t)l->sym_text.len, sym;
	const char *text;
	uint64_t h;

	if (l->module.n && !memchr(id.s, '#', id.n)) {
		strbuf_addn(&l->sym_text, l->module.s, l->module.n);
		strbuf_add(&l->sym_text, "#");
	}
	strbuf_addn(&l->sym_text, id.s, id.n);
	strbuf_addn(&l->sym_text, "", 1);
	text = l->sym_text.s + at;
	for (h = text_hash(text, strlen(text));; h++) {
		sym = map64_get(&l->sym_map, h);
		if (sym == MAP_NONE)
			break;
		if (!strcmp(l->sym_text.s + l->syms.at[sym], text)) {
			l->sym_text.len = at;
			return sym;
		}
	}
	sym = (uint32_t)l->syms.n;
	map64_put(&l->sym_map, h, sym);
	vec_push(&l->syms, at);
	vec_push(&l->sym_node, FAB_NONE);
	return sym;
}

/* S-, H- or R- and 16 digits, the way ibnetdiscover writes ids. GUID 0 is no name for anything. */
static bool take_guid_id(struct nl *l, struct nl_id *id)
{
	const char *s = l->at + 2;
	unsigned len;
	uint64_t v;

	if (l->end - l->at < 18 || l->at[1] != '-' || !memchr("SHRshr", *l->at, 6))
		return false;
	if (!nl_take_hex(&s, l->end, &v) || s != l->at + 18 || !v)
		return false;
	if (s < l->end && !nl_space_at(s, l->end) && !memchr("[(#", *s, 3) &&
	    !nl_quote_at(s, l->end, &len))
		return false;
	*id = (struct nl_id){.guid = v, .sym = FAB_NONE, .letter = (char)(*l->at & ~0x20)};
	l->at = s;
	return true;
}

static int take_id(struct nl *l, struct nl_id *id)
{
	struct nl_span text;
	unsigned len;
	enum nl_quote open;
	const char *start, *close;

	nl_skip_space(l);
	start = l->at;
	open = nl_quote_at(l->at, l->end, &len);
	if (open)
		l->at += len;
	if (take_guid_id(l, id)) {
		if (nl_quote_at(l->at, l->end, &len))
			l->at += len;
		return 0;
	}
	text.s = l->at;
	if (open) {
		close = nl_quote_find(l->at, l->end, open, false, &len);
		if (!close)
			return nl_fail_found(l, "a second one", "one quotation mark around the id");
		l->at = close + len;
	} else {
		while (l->at < l->end && !nl_space_at(l->at, l->end) &&
		       !memchr("[]()#=", *l->at, 6) && !nl_quote_at(l->at, l->end, &len))
			l->at++;
		close = l->at;
	}
	text.n = (size_t)(close - text.s);
	if (!text.n)
		l->at = start; /* show the marks with nothing between them */
	if (!text.n)
		return nl_fail(l, "a node's id like \"S-0002000000000001\"");
	*id = (struct nl_id){.sym = intern(l, text)};
	return 0;
}

uint32_t nl_find(const struct nl *l, const struct nl_id *id)
{
	return id->guid ? map64_get(&l->by_guid, id->guid) : l->sym_node.at[id->sym];
}

/* ---- node lines ---- */

static const char *const type_words[] = {"", "Ca", "Switch", "Rt"};

/* Where "base port 0 ..." begins, searched from the end because a name may say anything. */
static const char *port0_phrase(const char *s, const char *end)
{
	static const char *const phrases[] = {"base port 0", "enhanced port 0"};

	for (const char *t = end; t-- > s;)
		for (size_t i = 0; (*t == 'b' || *t == 'e') && i < ARRAY_LEN(phrases); i++)
			if ((size_t)(end - t) >= strlen(phrases[i]) &&
			    !memcmp(t, phrases[i], strlen(phrases[i])))
				return t;
	return end;
}

static struct nl_span trimmed(const char *s, const char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct nl_span){s, (size_t)(end - s)};
}

/* `# "name" enhanced port 0 lid 5 lmc 0`: the name runs to the last mark of the line, so it may
 * hold any character; where marks are missing it runs to the phrase about port 0. */
static int node_comment(struct nl *l, struct nl_node *n)
{
	struct nl_facts f = {0};
	const char *tail = NULL;
	enum nl_quote open;
	unsigned len, close_len = 0;

	nl_skip_space(l);
	if (l->at == l->end)
		return 0;
	if (!nl_take(l, '#') && !nl_quote_at(l->at, l->end, &len))
		return nl_fail(l, "a comment or the end of the line");
	nl_skip_space(l);
	open = nl_quote_at(l->at, l->end, &len);
	if (open) {
		l->at += len;
		tail = nl_quote_find(l->at, l->end, open, true, &close_len);
	}
	if (tail) {
		n->name = (struct nl_span){l->at, (size_t)(tail - l->at)};
	} else {
		tail = n->type == IBA_NODE_SWITCH ? port0_phrase(l->at, l->end) : l->end;
		n->name = trimmed(l->at, tail);
	}
	n->has_name = open || n->name.n;
	if (n->type != IBA_NODE_SWITCH)
		return 0;
	nl_scan_facts(tail + close_len, l->end, &f);
	n->has_lid = nl_lid_of(l, &f, &n->lid);
	n->lmc = nl_lmc_of(l, &f);
	n->flags = f.enhanced ? FAB_ENHANCED_PORT0 : 0;
	return 0;
}

/* The assignments above a node line are about it. */
static void apply_pending(struct nl *l, struct nl_node *n)
{
	const struct nl_pending *p = &l->pending;
	bool fits = p->type == n->type && (!n->id.guid || n->id.guid == p->guid);

	n->guid = n->id.guid ? n->id.guid : fits ? p->guid : 0;
	if (p->type && !fits)
		nl_warn(l, p->line,
			"GUID 0x%016llx is not that of the %s of line %u; it is ignored",
			(unsigned long long)p->guid, type_words[n->type], l->line);
	n->sys_guid = p->sys_guid;
	n->has_sys_guid = p->has_sys_guid;
	n->port0_guid = p->port0_guid;
	n->has_port0_guid = fits && p->has_port0_guid && n->type == IBA_NODE_SWITCH;
	n->vendor_id = p->vendor_id;
	n->device_id = p->device_id;
	/* Like ibsim: a GUID given once is counted on from for the nodes called by text that
	 * follow. */
	if (fits && !n->id.guid)
		l->next_guid[n->type] = p->guid + (n->type == IBA_NODE_SWITCH ? 1 : n->nports + 1u);
	l->pending = (struct nl_pending){0};
}

/* The same node once more: the first line is kept, what it left open is filled in. */
static int node_again(struct nl *l, uint32_t at, const struct nl_node *n)
{
	struct nl_node *first = &l->nodes.at[at];
	char expected[96];

	if (first->type != n->type || first->nports != n->nports) {
		snprintf(expected, sizeof(expected), "%s with %u ports as in line %u",
			 type_words[first->type], first->nports, first->line);
		return nl_fail_found(l, expected, "the same node as %s with %u ports",
				     type_words[n->type], n->nports);
	}
	nl_warn(l, l->line, "the node of line %u is defined once more; both are taken as one",
		first->line);
	if (!first->has_name) {
		first->name = n->name;
		first->has_name = n->has_name;
	}
	if (!first->has_lid && n->has_lid) {
		first->lid = n->lid;
		first->lmc = n->lmc;
		first->has_lid = true;
	}
	return 0;
}

static int node_new(struct nl *l, struct nl_node *n)
{
	uint32_t at = (uint32_t)l->nodes.n;
	uint32_t other = n->guid ? map64_get(&l->by_guid, n->guid) : MAP_NONE;
	char expected[64];

	if (other != MAP_NONE) {
		snprintf(expected, sizeof(expected), "another than the node of line %u has",
			 l->nodes.at[other].line);
		return nl_fail_found(l, expected, "GUID 0x%016llx", (unsigned long long)n->guid);
	}
	if (!n->guid) {
		n->guid_wish = l->next_guid[n->type];
		l->next_guid[n->type] += n->type == IBA_NODE_SWITCH ? 1 : n->nports + 1u;
	}
	l->nslots += n->nports + 1u;
	if (l->nslots > NL_MAX_SLOTS)
		return nl_fail_found(l, "fewer", "more than %u ports in all", NL_MAX_SLOTS);
	if (n->guid)
		map64_put(&l->by_guid, n->guid, at);
	if (!n->id.guid)
		l->sym_node.at[n->id.sym] = at;
	vec_push(&l->nodes, *n);
	return 0;
}

static int node_line(struct nl *l, int type)
{
	struct nl_node n = {.line = l->line, .type = (uint8_t)type};
	const char *start;
	uint64_t nports;
	uint32_t first;
	int rc;

	nl_skip_space(l);
	start = l->at;
	if (!nl_take_dec(&l->at, l->end, &nports))
		return nl_fail(l, "the number of ports");
	if (nports > 254)
		return nl_fail_found(l, "at most 254", "%.*s ports", nl_shown(start, l->at), start);
	n.nports = (uint8_t)nports;
	if ((rc = take_id(l, &n.id)) || (rc = node_comment(l, &n)))
		return rc;
	apply_pending(l, &n);
	first = nl_find(l, &n.id);
	if (first != FAB_NONE && l->nodes.at[first].id.guid == n.id.guid)
		rc = node_again(l, first, &n);
	else
		rc = node_new(l, &n);
	l->node = first != FAB_NONE ? first : (uint32_t)l->nodes.n - 1;
	return rc;
}

/* ---- port lines ---- */

static int take_port(struct nl *l, uint8_t *num)
{
	const char *start;
	uint64_t v;

	nl_skip_space(l);
	start = l->at;
	if (!nl_take_dec(&l->at, l->end, &v))
		return nl_fail(l, "a port number");
	if (v > 254)
		return nl_fail_found(l, "at most 254", "port %.*s", nl_shown(start, l->at), start);
	*num = (uint8_t)v;
	nl_skip_space(l);
	return nl_take(l, ']') ? 0 : nl_fail(l, "']'");
}

/* What may follow a port: (GUID), and [ext 3], the number on the chassis that `-g` shows. */
static int take_port_extras(struct nl *l, uint64_t *guid, bool *has_guid)
{
	for (;;) {
		nl_skip_space(l);
		if (nl_take(l, '(')) {
			nl_skip_space(l);
			if (!nl_take_hex(&l->at, l->end, guid))
				return nl_fail(l, "a port GUID of up to 16 hexadecimal digits");
			*has_guid = true;
			nl_skip_space(l);
			if (!nl_take(l, ')'))
				return nl_fail(l, "')'");
		} else if (l->end - l->at > 4 && !strncasecmp(l->at, "[ext", 4)) {
			const char *close = memchr(l->at, ']', (size_t)(l->end - l->at));

			if (!close)
				return nl_fail(l, "']' behind the external port");
			l->at = close + 1;
		} else {
			return 0;
		}
	}
}

/* The name of the far node in a port's comment, marks included: [from, to). Without marks, what
 * stands before the name is recognised as "lid 5 lmc 0". */
static void comment_split(const char *s, const char *end, const char **from, const char **to)
{
	unsigned len;
	struct nl_facts f = {0};
	const char *t, *open = nl_quote_find(s, end, QUOTE_DOUBLE, false, &len);

	if (open) {
		*from = open;
		*to = nl_quote_find(open, end, QUOTE_DOUBLE, true, &len) + len;
		return;
	}
	while (s < end && (nl_space_at(s, end) || *s == '#'))
		s++;
	for (t = s; t < end && nl_is_alpha(*t); t++)
		;
	if (!nl_word_is((struct nl_span){s, (size_t)(t - s)}, "lid")) {
		*from = *to = s;
		return;
	}
	nl_scan_word((struct nl_span){s, 3}, &t, end, &f);
	*from = *to = t;
	while (t < end && nl_space_at(t, end))
		t++;
	if (f.has_lid && end - t > 3 && !strncasecmp(t, "lmc", 3)) {
		t += 3;
		nl_scan_word((struct nl_span){t - 3, 3}, &t, end, &f);
		*from = *to = t;
	}
}

/* A CA's line: `# lid 5 lmc 0 "switch" lid 2 4xEDR`. A switch's: `# "host" lid 7 4xEDR`. */
static void port_comment(struct nl *l, struct nl_end *d)
{
	bool is_switch = l->nodes.at[l->node].type == IBA_NODE_SWITCH;
	struct nl_facts own = {0}, far = {0};
	const char *from, *to;

	comment_split(l->at, l->end, &from, &to);
	nl_scan_facts(l->at, from, &own);
	nl_scan_facts(to, l->end, &far);
	if (is_switch && !far.has_lid) { /* without marks the first LID is the far one's */
		far.has_lid = own.has_lid;
		far.lid = own.lid;
	} else if (!is_switch) {
		d->has_lid = nl_lid_of(l, &own, &d->lid);
		d->lmc = nl_lmc_of(l, &own);
	}
	d->has_far_lid = nl_lid_of(l, &far, &d->far_lid);
	if (far.width || far.speed) {
		d->width = far.width;
		d->speed = far.speed;
	} else if (own.width || own.speed) {
		d->width = own.width;
		d->speed = own.speed;
	} else {
		d->width = far.mask_width ? far.mask_width : own.mask_width;
		d->speed = far.mask_speed ? far.mask_speed : own.mask_speed;
	}
	d->cable_cm = far.cable_cm ? far.cable_cm : own.cable_cm;
	if (!d->width && !d->speed) {
		d->width = l->width;
		d->speed = l->speed;
	}
}

/* Without the '#' the comment must look like one. */
static bool comment_follows(const struct nl *l)
{
	const char *s = l->at;
	unsigned len;
	uint64_t v;

	if (s == l->end || *s == '#' || nl_quote_at(s, l->end, &len))
		return true;
	if (nl_is_digit(*s))
		return nl_take_dec(&s, l->end, &v) && s < l->end && (*s | 0x20) == 'x';
	if (l->end - s >= 2 && s[1] == '=')
		return *s == 'w' || *s == 's' || *s == 'e' || *s == 'v';
	return l->end - s >= 3 && (!strncasecmp(s, "lid", 3) || !strncasecmp(s, "lmc", 3));
}

static int port_line(struct nl *l)
{
	struct nl_end d = {.line = l->line, .node = l->node, .far_num = 1};
	int rc;

	if (l->node == FAB_NONE)
		return nl_fail(l, "a Switch, Ca or Rt line before the ports");
	l->at++;
	if ((rc = take_port(l, &d.num)) || (rc = take_port_extras(l, &d.guid, &d.has_guid)) ||
	    (rc = take_id(l, &d.far_id)))
		return rc;
	nl_skip_space(l);
	if (nl_take(l, '[') && (rc = take_port(l, &d.far_num)))
		return rc; /* without brackets it is port 1, as in ibsim */
	if ((rc = take_port_extras(l, &d.far_guid, &d.has_far_guid)))
		return rc;
	if (!comment_follows(l))
		return nl_fail(l, "a comment or the end of the line");
	port_comment(l, &d);
	vec_push(&l->ends, d);
	return 0;
}

/* Any comment is passed over, except the note fab_netlist_write() leaves about a port that has a
 * GUID, a LID or a rate but no cable: `#[2](8f1040396055a)  # lid 0 lmc 0 4xQDR`. */
static int comment_line(struct nl *l)
{
	struct nl_end d = {.line = l->line, .node = l->node, .unlinked = true};
	struct nl_facts f = {0};
	uint64_t num;

	l->at++;
	if (l->node == FAB_NONE || !nl_take(l, '[') || !nl_take_dec(&l->at, l->end, &num) ||
	    !nl_take(l, ']'))
		return 0;
	if (!num || num > l->nodes.at[l->node].nports || !nl_take(l, '(') ||
	    !nl_take_hex(&l->at, l->end, &d.guid) || !nl_take(l, ')'))
		return 0;
	nl_skip_space(l);
	if (!nl_take(l, '#'))
		return 0;
	nl_scan_facts(l->at, l->end, &f);
	d.num = (uint8_t)num;
	d.has_guid = true;
	d.has_lid = nl_lid_of(l, &f, &d.lid);
	d.lmc = nl_lmc_of(l, &f);
	d.width = f.width;
	d.speed = f.speed;
	vec_push(&l->ends, d);
	return 0;
}

/* ---- assignments and the rest ---- */

enum assignment {
	SET_VENDOR,
	SET_DEVICE,
	SET_SYSTEM,
	SET_SWITCH,
	SET_CA,
	SET_ROUTER,
	SET_WIDTH,
	SET_SPEED,
	SET_SPEED_EXT,
	SET_NOTHING,
};

static int line_ends(struct nl *l)
{
	nl_skip_space(l);
	return l->at == l->end || *l->at == '#' ? 0
						: nl_fail(l, "a comment or the end of the line");
}

static int take_value(struct nl *l, bool hex, uint64_t max, uint64_t *v)
{
	const char *start;
	char expected[64];
	bool ok;

	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	start = l->at;
	hex = hex || (l->end - l->at > 2 && l->at[0] == '0' && (l->at[1] | 0x20) == 'x');
	ok = hex ? nl_take_hex(&l->at, l->end, v) : nl_take_dec(&l->at, l->end, v);
	if (!ok)
		return nl_fail(l, hex ? "a number of up to 16 hexadecimal digits" : "a number");
	if (*v <= max)
		return 0;
	snprintf(expected, sizeof(expected), hex ? "at most 0x%llx" : "at most %llu",
		 (unsigned long long)max);
	return nl_fail_found(l, expected, "%.*s", nl_shown(start, l->at), start);
}

static int assign_guid(struct nl *l, int type)
{
	struct nl_pending *p = &l->pending;
	int rc = take_value(l, true, UINT64_MAX, &p->guid);

	if (rc)
		return rc;
	p->line = l->line;
	p->type = p->guid ? (uint8_t)type : 0;
	if ((rc = take_port_extras(l, &p->port0_guid, &p->has_port0_guid)))
		return rc;
	return line_ends(l);
}

static int assign(struct nl *l, int what)
{
	static const uint64_t max[] = {
		[SET_VENDOR] = UINT32_MAX, [SET_DEVICE] = UINT16_MAX, [SET_SYSTEM] = UINT64_MAX,
		[SET_WIDTH] = 31,	   [SET_SPEED] = 15,	      [SET_SPEED_EXT] = 31,
		[SET_NOTHING] = UINT64_MAX};
	uint64_t v;
	int rc;

	if (what <= SET_ROUTER)
		l->node = FAB_NONE; /* a lost node line must not give its ports to the one before */
	if (what >= SET_SWITCH && what <= SET_ROUTER)
		return assign_guid(l, what == SET_CA	   ? IBA_NODE_CA
				      : what == SET_SWITCH ? IBA_NODE_SWITCH
							   : IBA_NODE_ROUTER);
	if ((rc = take_value(l, what == SET_SYSTEM, max[what], &v)))
		return rc;
	if (what == SET_VENDOR)
		l->pending.vendor_id = (uint32_t)v;
	else if (what == SET_DEVICE)
		l->pending.device_id = (uint16_t)v;
	else if (what == SET_WIDTH)
		l->width = nl_mask_width(v);
	else if (what == SET_SPEED)
		l->speed = nl_mask_speed(v);
	else if (what == SET_SPEED_EXT)
		l->speed = nl_mask_speed_ext(v) ? nl_mask_speed_ext(v) : l->speed;
	else if (what == SET_SYSTEM) {
		l->pending.sys_guid = v;
		l->pending.has_sys_guid = true;
	}
	return line_ends(l);
}

static int module_line(struct nl *l, int arg UNUSED)
{
	const char *close;
	unsigned len;

	nl_skip_space(l);
	if (!nl_take(l, '='))
		return nl_fail(l, "'='");
	nl_skip_space(l);
	if (!nl_quote_at(l->at, l->end, &len))
		return nl_fail(l, "a name in quotes");
	l->at += len;
	close = nl_quote_find(l->at, l->end, nl_quote_at(l->at - len, l->end, &len), false, &len);
	if (!close)
		return nl_fail_found(l, "a second one", "one quotation mark around the name");
	l->module = (struct nl_span){l->at, (size_t)(close - l->at)};
	l->at = close + len;
	return line_ends(l);
}

static int include_line(struct nl *l, int arg UNUSED)
{
	return nl_fail_found(l, "the whole fabric in one file", "an include line");
}

static int command_line(struct nl *l, int arg UNUSED)
{
	struct strbuf b = {0};

	nl_skip_space(l);
	strbuf_add(&b, "");
	nl_printable(&b, l->at, (size_t)(l->end - l->at), 60);
	nl_warn(l, l->line, "the ibsim command '%s' is not carried out", b.s);
	strbuf_free(&b);
	return 0;
}

static const struct keyword {
	const char *word;
	int (*parse)(struct nl *l, int arg);
	int arg;
} keywords[] = {
	{"Switch", node_line, IBA_NODE_SWITCH},
	{"Ca", node_line, IBA_NODE_CA},
	{"Hca", node_line, IBA_NODE_CA},
	{"Rt", node_line, IBA_NODE_ROUTER},
	{"Router", node_line, IBA_NODE_ROUTER},
	{"vendid", assign, SET_VENDOR},
	{"devid", assign, SET_DEVICE},
	{"sysimgguid", assign, SET_SYSTEM},
	{"switchguid", assign, SET_SWITCH},
	{"switchguids", assign, SET_SWITCH},
	{"caguid", assign, SET_CA},
	{"hcaguid", assign, SET_CA},
	{"hcaguids", assign, SET_CA},
	{"rtguid", assign, SET_ROUTER},
	{"numports", assign, SET_NOTHING},
	{"width", assign, SET_WIDTH},
	{"speed", assign, SET_SPEED},
	{"extspeed", assign, SET_SPEED_EXT},
	{"pdebug", assign, SET_NOTHING},
	{"module", module_line, 0},
	{"include", include_line, 0},
	{"do", command_line, 0},
};

/* Lines that the tools print around the topology, with or without a '#'. */
static bool is_banner(const struct nl *l)
{
	static const char *const banners[] = {
		"Chassis ",   "Non-Chassis Nodes", "Topology file", "Max of ", "Initiated from",
		"Total MADs", "Reported max hops", "Hostname:",	    "ibwarn:", "ibdebug:"};

	for (size_t i = 0; i < ARRAY_LEN(banners); i++)
		if ((size_t)(l->end - l->at) >= strlen(banners[i]) &&
		    !strncasecmp(l->at, banners[i], strlen(banners[i])))
			return true;
	return false;
}

/* `src/query_smp.c:199; umad (DR path ...) bad status 110; Connection timed out`: what the tool
 * printed on standard error, in a file that caught both. */
static bool is_complaint(const struct nl *l)
{
	const char *s = memmem(l->at, (size_t)(l->end - l->at), ".c:", 3);
	uint64_t v;

	if (!s || memchr(l->at, ' ', (size_t)(s - l->at)))
		return false;
	s += 3;
	return nl_take_dec(&s, l->end, &v) && s < l->end && *s == ';';
}

/* A node that did not answer may be missing from the file, so that is worth a warning. */
static int complaint_line(struct nl *l)
{
	struct strbuf b = {0};

	nl_printable(&b, l->at, (size_t)(l->end - l->at), 160);
	nl_warn(l, l->line, "whoever wrote the file had trouble, so something may be missing: %s",
		b.s);
	strbuf_free(&b);
	return 0;
}

static int parse_line(struct nl *l)
{
	struct nl_span w;

	nl_skip_space(l);
	if (l->at == l->end)
		return 0;
	if (*l->at == '#')
		return comment_line(l);
	if (*l->at == '[')
		return port_line(l);
	if (*l->at == '@')
		return nl_fail(l, "a port without an alias");
	for (w = (struct nl_span){l->at, 0}; w.s + w.n < l->end && nl_is_alpha(w.s[w.n]); w.n++)
		;
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if (nl_word_is(w, keywords[i].word)) {
			l->at += w.n;
			return keywords[i].parse(l, keywords[i].arg);
		}
	if (is_banner(l))
		return 0;
	if (is_complaint(l))
		return complaint_line(l);
	return nl_fail(l, "a node, a port, an assignment or a comment");
}

static int parse_text(struct nl *l, const char *text, size_t len)
{
	const char *zero = len ? memchr(text, 0, len) : NULL, *end = text + len, *next;

	if (len > UINT32_MAX)
		return nl_fail_found(l, "at most 4 GiB", "%zu bytes", len);
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (; text < end; text = next) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		int rc;

		l->line++;
		l->at = text;
		l->end = eol ? eol : end;
		next = eol ? eol + 1 : end;
		if (zero && zero >= text && zero < l->end)
			return nl_fail_found(l, "plain text", "a zero byte");
		while (l->end > l->at && l->end[-1] == '\r')
			l->end--;
		if ((rc = parse_line(l)))
			return rc;
	}
	if (l->pending.type)
		nl_warn(l, l->pending.line, "GUID 0x%016llx is not followed by its node",
			(unsigned long long)l->pending.guid);
	l->line = MAX(l->line, 1u); /* of a file without any */
	return l->nodes.n ? 0 : nl_fail_found(l, "a Switch, Ca or Rt line", "no node in the file");
}

static void nl_free(struct nl *l)
{
	vec_free(&l->nodes);
	vec_free(&l->ends);
	vec_free(&l->syms);
	vec_free(&l->sym_node);
	strbuf_free(&l->sym_text);
	map64_free(&l->sym_map);
	map64_free(&l->by_guid);
}

int fab_netlist_parse(struct fab_netlist *out, const char *name, const char *text, size_t len,
		      struct err *e)
{
	struct nl l = {
		.file = name,
		.e = e,
		.node = FAB_NONE,
		.next_guid = {0, 0x100000, 0x200000, 0x300000}}; /* the first two as in ibsim */
	int rc = parse_text(&l, text, len);

	if (!rc)
		rc = nl_build(&l);
	nl_free(&l);
	if (rc)
		fab_netlist_free(&l.out);
	else
		*out = l.out;
	return rc;
}

int fab_netlist_load(struct fab_netlist *out, const char *path, struct err *e)
{
	char *text;
	size_t len;
	int rc = file_read(path, &text, &len, e);

	if (rc)
		return rc;
	rc = fab_netlist_parse(out, strcmp(path, "-") ? path : "standard input", text, len, e);
	free(text);
	return rc;
}

void fab_netlist_free(struct fab_netlist *n)
{
	for (size_t i = 0; i < n->warnings.n; i++)
		free(n->warnings.at[i].text);
	vec_free(&n->warnings);
	fab_free(n->fab);
	n->fab = NULL;
}
