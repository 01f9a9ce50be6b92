/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads events of a schedule. State: struct reader. Way in: reader_event(), schedule_event_read(). Does not apply
 * them: faults.c does.
 */
#include "trial/schedule_read_priv.h"

/* ---- events ---- */

static int take_knows(struct reader *r, enum schedule_knows *k)
{
	const char *w = r->word[r->next++];

	for (unsigned i = SCHEDULE_LIDS; i <= SCHEDULE_TORN_STATE; i++)
		if (!strcmp(schedule_knows_words[i], w)) {
			*k = (enum schedule_knows)i;
			return 0;
		}
	return reader_bad(
		r,
		"expected with-lids, with-state, with-old-state or with-torn-state, found '%.40s'",
		w);
}

static int take_order(struct reader *r, enum schedule_order *o)
{
	const char *w = reader_take(r, "an order such as disable");

	for (unsigned i = SCHEDULE_ORDER_HANDOVER; w && i < SCHEDULE_NORDERS; i++)
		if (!strcmp(schedule_order_words[i], w)) {
			*o = (enum schedule_order)i;
			return 0;
		}
	return w ? reader_bad(
			   r,
			   "expected handover, acknowledge, disable, standby, discover or unknown, found '%.40s'",
			   w)
		 : -EINVAL;
}

static bool is_node_name(const char *s)
{
	if (strlen(s) > SCHEDULE_NAME)
		return false;
	for (; *s; s++)
		if (*s == '"' || (unsigned char)*s < ' ')
			return false;
	return true;
}

static bool guid_is_used(const struct fab *f, uint64_t guid)
{
	if (fab_node_by_guid(f, guid) != FAB_NONE)
		return true;
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid == guid)
			return true;
	return false;
}

/* A fabric that was given may have it already, as the window's has. */
static bool is_there(const struct reader *r, const struct schedule_event *ev)
{
	node_id n = r->given ? fab_node_by_guid(r->fab, ev->port.guid) : FAB_NONE;

	return n != FAB_NONE && r->fab->nodes[n].flags & FAB_LATER &&
	       r->fab->nodes[n].type == ev->type && r->fab->nodes[n].nports == ev->port.port;
}

static int take_type(struct reader *r, uint8_t *type)
{
	const char *w = reader_take(r, "switch, host or router");

	for (uint8_t i = IBA_NODE_CA; w && i < ARRAY_LEN(schedule_type_words); i++)
		if (!strcmp(schedule_type_words[i], w)) {
			*type = i;
			return 0;
		}
	return w ? reader_bad(r, "expected switch, host or router, found '%.40s'", w) : -EINVAL;
}

/* switch 0x0002000000000009 8 "leaf 9" */
static int take_new_node(struct reader *r, struct schedule_event *ev)
{
	uint64_t ports;

	if (take_type(r, &ev->type) ||
	    reader_u64(r, "a GUID", 1, UINT64_MAX - 255, &ev->port.guid) ||
	    reader_u64(r, "a number of ports", 1, 254, &ports) || reader_need_fabric(r))
		return -EINVAL;
	ev->port.port = (unsigned)ports;
	for (uint64_t i = 0; !is_there(r, ev) && i <= (ev->type == IBA_NODE_SWITCH ? 0 : ports);
	     i++)
		if (guid_is_used(r->fab, ev->port.guid + i))
			return reader_bad(r, "GUID 0x%016llx is in the fabric: expected a new one",
					  (unsigned long long)(ev->port.guid + i));
	if (reader_peek(r)) {
		const char *name = r->word[r->next++];

		if (!is_node_name(name))
			return reader_bad(r, "expected a name of at most %d characters",
					  SCHEDULE_NAME);
		snprintf(ev->name, sizeof(ev->name), "%s", name);
	}
	return 0;
}

static int take_operand(struct reader *r, char what, struct schedule_event *ev)
{
	uint64_t v;

	switch (what) {
	case 'M':
		if (!r->s->managers.n)
			return reader_bad(r, "expected a line 'manager' before this one");
		if (reader_u64(r, "a manager", 0, r->s->managers.n - 1, &v))
			return -EINVAL;
		ev->manager = (unsigned)v;
		return 0;
	case 'N':
		return reader_node(r, &ev->port.guid);
	case 'P':
		return reader_port(r, &ev->port);
	case 'Q':
		return reader_port(r, &ev->far);
	case 'A':
		return take_new_node(r, ev);
	case 'S':
		return reader_share(r, &ev->share);
	case 'T':
		return reader_time(r, &ev->time);
	case 'K':
		return take_knows(r, &ev->knows);
	case 'O':
		return take_order(r, &ev->order);
	default: /* 'L': one node or more */
		do {
			if (reader_node(r, &v))
				return -EINVAL;
			vec_push(&ev->nodes, v);
		} while (reader_peek(r));
		return 0;
	}
}

static int read_operands(struct reader *r, struct schedule_event *ev)
{
	const char *o = schedule_words[ev->kind].operands;

	ev->time = ev->kind == SCHEDULE_REBOOT ? PS_PER_MS : 0;
	for (; *o; o++) {
		bool optional = o[1] == '?';

		if ((!optional || reader_peek(r)) && take_operand(r, *o, ev))
			return -EINVAL;
		o += optional;
	}
	return 0;
}

/* The words after the time. On failure nothing is left to free. */
static int read_words(struct reader *r, struct schedule_event *ev)
{
	char *w = reader_take(r, "a fault such as crash 0");
	unsigned k = 0;

	if (!w)
		return -EINVAL;
	while (k < SCHEDULE_NKINDS && strcmp(schedule_words[k].word, w))
		k++;
	if (k == SCHEDULE_NKINDS)
		return reader_bad(r, "expected a fault such as crash or unlink, found '%.40s'", w);
	ev->kind = (enum schedule_kind)k;
	if (!read_operands(r, ev))
		return 0;
	vec_free(&ev->nodes);
	return -EINVAL;
}

/* Later lines may name the node. */
static int add_node(struct reader *r, const struct schedule_event *ev)
{
	struct fab *more;

	if (r->given)
		return reader_bad(r, "expected no 'add' here: the fabric is given");
	if (++r->added > SCHEDULE_ADDED)
		return reader_bad(r, "expected at most %d nodes that are added", SCHEDULE_ADDED);
	more = schedule_fabric_with(r->fab, ev);
	fab_free(r->fab);
	r->fab = more;
	return 0;
}

int reader_event(struct reader *r)
{
	struct schedule_event ev = {0};

	if (reader_time(r, &ev.at))
		return -EINVAL;
	if (r->s->events.n && r->s->events.at[r->s->events.n - 1].at > ev.at)
		return reader_bad(r, "expected a time that is not before that of the line above");
	if (read_words(r, &ev))
		return -EINVAL;
	vec_push(&r->s->events, ev);
	return ev.kind == SCHEDULE_ADD ? add_node(r, &ev) : 0;
}

static int read_alone(struct reader *r, struct schedule_event *ev, char *text)
{
	if (reader_split(r, text) || read_words(r, ev))
		return -EINVAL;
	if (r->next == r->n)
		return 0;
	vec_free(&ev->nodes);
	return reader_bad(r, "expected no more words, found '%.40s'", r->word[r->next]);
}

int schedule_event_read(struct schedule_event *ev, const struct schedule *s, const struct fab *f,
			const char *text, struct err *e)
{
	struct schedule around = *s; /* the reader asks it for its managers, and changes nothing */
	struct reader *r = mem_zalloc(sizeof(*r));
	char *copy = mem_strdup(text);
	int rc;

	*r = (struct reader){
		.s = &around, .fab = (struct fab *)f, .given = true, .name = "event", .e = e};
	*ev = (struct schedule_event){0};
	rc = strpbrk(text, "\n") ? reader_bad(r, "expected one line") : read_alone(r, ev, copy);
	free(copy);
	free(r);
	return rc;
}
