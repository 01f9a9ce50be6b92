/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a list of links as ibdiagnet, OpenSM (opensm-subnet.lst) and ibdmchk have it, one link in a line:
 *
 *	{ CA Ports:01 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {host 1} LID:0003 PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10
 *
 * State: struct import. Way in: import_lst(). Numbers are hexadecimal. Nodes without a link are not in such a file.
 */
#include "fabric/import.h"

#include <strings.h>

struct lst_end {
	struct import_node v;
	uint64_t port_guid, lid, num;
	node_id n;
};

static bool take_word(struct nl *l, const char *word)
{
	size_t n = strlen(word);

	nl_skip_space(l);
	if ((size_t)(l->end - l->at) < n || strncasecmp(l->at, word, n))
		return false;
	l->at += n;
	return true;
}

static int take_type(struct nl *l, uint8_t *type)
{
	static const struct {
		const char *word;
		uint8_t type;
	} types[] = {{"CA", IBA_NODE_CA}, {"SW", IBA_NODE_SWITCH}, {"RT", IBA_NODE_ROUTER}};

	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (take_word(l, types[i].word)) {
			*type = types[i].type;
			take_word(l, "-SM"); /* a manager is there */
			return 0;
		}
	return nl_fail(l, "CA, SW or RT");
}

static int take_hex(struct nl *l, const char *key, uint64_t *v)
{
	if (!take_word(l, key) || !nl_take_hex(&l->at, l->end, v)) {
		char expected[64];

		snprintf(expected, sizeof(expected), "%s and a hexadecimal number", key);
		return nl_fail(l, expected);
	}
	return 0;
}

/* {any text} LID: */
static int take_name(struct nl *l, struct nl_span *name)
{
	const char *close;

	nl_skip_space(l);
	if (!nl_take(l, '{') || !(close = memmem(l->at, (size_t)(l->end - l->at), "} LID:", 6)))
		return nl_fail(l, "a name in braces, then LID:");
	*name = (struct nl_span){l->at, (size_t)(close - l->at)};
	l->at = close + 1;
	return 0;
}

static int take_end(struct nl *l, struct lst_end *x)
{
	uint64_t vendor, device, rev;
	int rc;

	nl_skip_space(l);
	if (!nl_take(l, '{'))
		return nl_fail(l, "'{' and an end of a link");
	if ((rc = take_type(l, &x->v.type)) || (rc = take_hex(l, "Ports:", &x->v.nports)) ||
	    (rc = take_hex(l, "SystemGUID:", &x->v.sys_guid)) ||
	    (rc = take_hex(l, "NodeGUID:", &x->v.guid)) ||
	    (rc = take_hex(l, "PortGUID:", &x->port_guid)) ||
	    (rc = take_hex(l, "VenID:", &vendor)) || (rc = take_hex(l, "DevID:", &device)) ||
	    (rc = take_hex(l, "Rev:", &rev)) || (rc = take_name(l, &x->v.name)) ||
	    (rc = take_hex(l, "LID:", &x->lid)) || (rc = take_hex(l, "PN:", &x->num)))
		return rc;
	x->v.vendor_id = (uint32_t)vendor;
	/* Older writers have it in the upper half. */
	x->v.device_id = (uint16_t)(device > 0xffff ? device >> 16 : device);
	nl_skip_space(l);
	return nl_take(l, '}') ? 0 : nl_fail(l, "'}'");
}

static void take_rate(struct nl *l, unsigned *width, unsigned *speed)
{
	uint64_t lanes = 0;
	const char *s;

	*width = 0;
	*speed = FAB_SPEED_UNKNOWN;
	if (take_word(l, "PHY=") && nl_take_dec(&l->at, l->end, &lanes) && lanes <= 12)
		*width = (unsigned)lanes;
	if (*width && *width != 1 && *width != 2 && *width != 4 && *width != 8 && *width != 12)
		*width = 0;
	s = memmem(l->at, (size_t)(l->end - l->at), "SPD=", 4);
	if (s)
		*speed = import_speed((struct nl_span){s + 4, (size_t)(l->end - s - 4)});
	else if (*width)
		*speed = FAB_SDR; /* files before DDR do not say it */
}

static int end_add(struct import *im, struct lst_end *x)
{
	int rc = import_node(im, &x->v, &x->n);

	if (rc)
		return rc;
	if (x->num && x->num <= x->v.nports && x->v.type != IBA_NODE_SWITCH)
		fab_builder_port(im->b, x->n, (unsigned)x->num)->guid = x->port_guid;
	import_lid(im, x->n, x->num, x->lid, 0);
	return 0;
}

int import_lst(struct import *im)
{
	struct lst_end a, b;
	unsigned width, speed;
	int rc = 0;

	while (!rc && import_line(im)) {
		nl_skip_space(&im->l);
		if (im->l.at == im->l.end || *im->l.at == '#')
			continue;
		a = b = (struct lst_end){0};
		if ((rc = take_end(&im->l, &a)) || (rc = take_end(&im->l, &b)))
			break;
		take_rate(&im->l, &width, &speed);
		if ((rc = end_add(im, &a)) || (rc = end_add(im, &b)))
			break;
		rc = import_link(im, (struct import_end){a.n, a.num},
				 (struct import_end){b.n, b.num}, width, speed);
	}
	return rc;
}
