/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is in the devices of a fabric, read by directed routes, independently of the manager: LIDs, port states,
 * tables. State: struct census. Way in: main(). Believes no SM and judges nothing: it writes files, which
 * scripts compare and `weft route verify` judges.
 *
 *	lids    port GUID, LID, LMC, of every endport, in GUID order
 *	ports   every port with a link: node GUID, number, state
 *	lfts    tables as OpenSM dumps them
 *	off     switch, input port, output port of every turn whose SL2VL table discards SL 0
 */
#include "peer.h"

#include <getopt.h>
#include <unistd.h>

#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"

enum { LIDS = IBA_LID_MAX_UNICAST + 1 };

struct node {
	struct iba_node_info ni;
	uint8_t path[IBA_PATH_SIZE]; /* entry 0 is not used */
	uint8_t hops;
};

struct end {
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc, type;
};

struct census {
	struct peer peer;
	struct rng rng;
	VEC(struct node) nodes;
	struct map64 by_guid;
	VEC(struct end) ends;
	struct strbuf lids, ports, lfts, off;
	bool turns;
};

static void get(struct census *c, const struct node *n, uint16_t attr, uint32_t mod,
		uint8_t data[IBA_SMP_DATA_SIZE])
{
	struct ibsim_packet p;
	int rc;

	peer_directed(&p, IBA_GET, attr, mod, n->path, n->hops);
	rc = peer_ask(&c->peer, &p, rng_u64(&c->rng), PEER_WAIT_MS);
	if (rc)
		soak_fail("census: 0x%llx, %u hops away, does not answer Get(%s): %s",
			  (unsigned long long)n->ni.node_guid, n->hops, iba_attr_name(attr),
			  strerror(-rc));
	if (iba_smp_status(p.mad) & 0x7fff)
		soak_fail("census: 0x%llx answers Get(%s) %u with status 0x%x",
			  (unsigned long long)n->ni.node_guid, iba_attr_name(attr), mod,
			  iba_smp_status(p.mad) & 0x7fffu);
	memcpy(data, iba_smp_data(p.mad), IBA_SMP_DATA_SIZE);
}

static struct iba_port_info port_info(struct census *c, const struct node *n, unsigned port)
{
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct iba_port_info pi;

	get(c, n, IBA_ATTR_PORT_INFO, port, data);
	iba_port_info_get(&pi, data, sizeof(data));
	return pi;
}

static bool is_switch(const struct node *n)
{
	return n->ni.node_type == IBA_NODE_SWITCH;
}

/* ---- the walk ---- */

static void end_add(struct census *c, const struct node *n, const struct iba_port_info *pi)
{
	vec_push(&c->ends, (struct end){n->ni.port_guid, pi->lid, pi->lmc, n->ni.node_type});
}

/* The node at the end of this route, unless it is known. */
static void visit(struct census *c, struct node n)
{
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct iba_port_info pi;

	get(c, &n, IBA_ATTR_NODE_INFO, 0, data);
	iba_node_info_get(&n.ni, data, sizeof(data));
	if (!is_switch(&n)) {
		pi = port_info(c, &n, n.ni.local_port);
		end_add(c, &n, &pi);
		strbuf_addf(&c->ports, "0x%016llx %u %s\n", (unsigned long long)n.ni.node_guid,
			    n.ni.local_port, iba_port_state_name(pi.state));
		return; /* each port of a host is another way to it */
	}
	if (map64_get(&c->by_guid, n.ni.node_guid) != MAP_NONE)
		return;
	pi = port_info(c, &n, 0);
	end_add(c, &n, &pi);
	map64_put(&c->by_guid, n.ni.node_guid, (uint32_t)c->nodes.n);
	vec_push(&c->nodes, n);
}

static void neighbours(struct census *c, uint32_t i)
{
	struct node n = c->nodes.at[i];

	for (unsigned p = 1; p <= n.ni.num_ports; p++) {
		struct iba_port_info pi = port_info(c, &n, p);
		struct node next = n;

		if (pi.state <= IBA_PORT_DOWN)
			continue;
		strbuf_addf(&c->ports, "0x%016llx %u %s\n", (unsigned long long)n.ni.node_guid, p,
			    iba_port_state_name(pi.state));
		if (next.hops == IBA_MAX_HOPS)
			continue;
		next.path[++next.hops] = (uint8_t)p;
		visit(c, next);
	}
}

/* Our own port first: the way back to it is one of its switch's. */
static void walk(struct census *c)
{
	struct node home = {.hops = 0};
	uint8_t data[IBA_SMP_DATA_SIZE];

	get(c, &home, IBA_ATTR_NODE_INFO, 0, data);
	iba_node_info_get(&home.ni, data, sizeof(data));
	if (!is_switch(&home)) {
		home.path[1] = home.ni.local_port;
		home.hops = 1;
	}
	visit(c, home);
	if (!c->nodes.n) { /* two hosts back to back, or a host cabled to itself: nothing leads back */
		home.hops = 0;
		visit(c, home);
	}
	for (uint32_t i = 0; i < c->nodes.n; i++)
		neighbours(c, i);
}

/* ---- tables ---- */

static void table(struct census *c, const struct node *n, const struct end *const owner[LIDS])
{
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct iba_switch_info si;
	unsigned lines = 0;

	get(c, n, IBA_ATTR_SWITCH_INFO, 0, data);
	iba_switch_info_get(&si, data, sizeof(data));
	strbuf_addf(&c->lfts, "Unicast lids [0-%u] of switch Lid %u guid 0x%016llx (''):\n",
		    si.linear_top, port_info(c, n, 0).lid, (unsigned long long)n->ni.node_guid);
	for (unsigned l = 0; l <= si.linear_top && l < LIDS; l++) {
		uint8_t out;

		if (l % IBA_LFT_BLOCK == 0)
			get(c, n, IBA_ATTR_LFT, l / IBA_LFT_BLOCK, data);
		out = data[l % IBA_LFT_BLOCK];
		if (!owner[l] || out == IBA_PORT_NONE)
			continue; /* on no route */
		strbuf_addf(&c->lfts, "0x%04x %03u : (%s portguid 0x%016llx: '')\n", l, out,
			    owner[l]->type == IBA_NODE_SWITCH ? "Switch" : "Channel Adapter",
			    (unsigned long long)owner[l]->guid);
		lines++;
	}
	strbuf_addf(&c->lfts, "%u valid lids dumped \n", lines);
}

static void turns(struct census *c, const struct node *n)
{
	uint8_t data[IBA_SMP_DATA_SIZE];

	for (unsigned out = 1; c->turns && out <= n->ni.num_ports; out++) {
		unsigned live = iba_vl_count(port_info(c, n, out).oper_vls);

		for (unsigned in = 0; in <= n->ni.num_ports; in++) {
			get(c, n, IBA_ATTR_SLVL_TABLE, in << 8 | out, data);
			if (data[0] >> 4 >= live)
				strbuf_addf(&c->off, "0x%016llx %u %u\n",
					    (unsigned long long)n->ni.node_guid, in, out);
		}
	}
}

static int by_guid(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static void tables(struct census *c)
{
	static const struct end *owner[LIDS];

	qsort(c->ends.at, c->ends.n, sizeof(*c->ends.at), by_guid);
	for (size_t i = 0; i < c->ends.n; i++) {
		const struct end *e = &c->ends.at[i];

		strbuf_addf(&c->lids, "0x%016llx %u %u\n", (unsigned long long)e->guid, e->lid,
			    e->lmc);
		for (unsigned l = e->lid; l < e->lid + (1u << e->lmc) && l < LIDS; l++)
			if (l && owner[l])
				soak_fail("census: 0x%llx and 0x%llx both have LID %u",
					  (unsigned long long)owner[l]->guid,
					  (unsigned long long)e->guid, l);
			else if (l)
				owner[l] = e;
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		table(c, &c->nodes.at[i], owner);
		turns(c, &c->nodes.at[i]);
	}
}

/* ---- files ---- */

static void put(const char *dir, const char *name, const struct strbuf *b)
{
	char path[512];
	struct err e;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (file_write(path, b->s ? b->s : "", b->len, &e))
		soak_fail("census: %s", e.text);
}

int main(int argc, char **argv)
{
	static struct census c;
	const char *server = NULL, *node = "", *dir = ".";
	int o, rc;

	while ((o = getopt(argc, argv, "s:n:d:t")) >= 0) {
		if (o == 's')
			server = optarg;
		else if (o == 'n')
			node = optarg;
		else if (o == 'd')
			dir = optarg;
		else if (o == 't')
			c.turns = true;
	}
	if (!server)
		soak_fail("usage: census -s SERVER [-n NODE] [-d DIRECTORY] [-t]");
	rng_seed(&c.rng, (uint64_t)getpid(), 1);
	rc = peer_open(&c.peer, server, node, 0, false);
	if (rc)
		soak_fail("census: cannot connect to '%s': %s", server, strerror(-rc));
	walk(&c);
	tables(&c);
	peer_close(&c.peer, true);
	put(dir, "lids", &c.lids);
	put(dir, "ports", &c.ports);
	put(dir, "lfts", &c.lfts);
	put(dir, "off", &c.off);
	printf("# census: %zu switches, %zu hosts\n", c.nodes.n, c.ends.n - c.nodes.n);
	vec_free(&c.nodes);
	vec_free(&c.ends);
	map64_free(&c.by_guid);
	strbuf_free(&c.lids);
	strbuf_free(&c.ports);
	strbuf_free(&c.lfts);
	strbuf_free(&c.off);
	return 0;
}
