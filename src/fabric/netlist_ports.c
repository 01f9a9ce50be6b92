/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Port lines of a netlist: a port, what its cable leads to, and what the comment behind it tells.
 * State: struct nl; the ways in are nl_port_line() and nl_comment_line(). Does not judge whether the
 * two ends of a link agree (netlist_build.c).
 */
#include "fabric/netlist_priv.h"

#include <strings.h>

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
int nl_take_port_extras(struct nl *l, uint64_t *guid, bool *has_guid)
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

int nl_port_line(struct nl *l)
{
	struct nl_end d = {.line = l->line, .node = l->node, .far_num = 1};
	int rc;

	if (l->node == FAB_NONE)
		return nl_fail(l, "a Switch, Ca or Rt line before the ports");
	l->at++;
	if ((rc = take_port(l, &d.num)) || (rc = nl_take_port_extras(l, &d.guid, &d.has_guid)) ||
	    (rc = nl_take_id(l, &d.far_id)))
		return rc;
	nl_skip_space(l);
	if (nl_take(l, '[') && (rc = take_port(l, &d.far_num)))
		return rc; /* without brackets it is port 1, as in ibsim */
	if ((rc = nl_take_port_extras(l, &d.far_guid, &d.has_far_guid)))
		return rc;
	if (!comment_follows(l))
		return nl_fail(l, "a comment or the end of the line");
	port_comment(l, &d);
	vec_push(&l->ends, d);
	return 0;
}

/* Any comment is passed over, except the note fab_netlist_write() leaves about a port that has a
 * GUID, a LID or a rate but no cable: `#[2](8f1040396055a)  # lid 0 lmc 0 4xQDR`. */
int nl_comment_line(struct nl *l)
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
