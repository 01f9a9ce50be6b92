/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of generated families and the helpers they share. State: struct gen, one a call. Way
 * in: fab_generate(). Does not give LIDs (fab_assign_lids does) and knows no shape itself.
 */
#include "fabric/gen_priv.h"

const struct fab_family fab_families[] = {
	{"irregular", "N",
	 "N switches (4 ports unless --ports) joined at random: a spanning tree, then more links. "
	 "--links: links between switches; --hosts: hosts in all, one a switch first. With --links "
	 "alone every switch with a free port gets a host; with neither, every switch has one host "
	 "and the other ports are filled",
	 "weft topo gen irregular 8 --hosts 7 --links 11 --seed 1", gen_irregular},
	{"mtree", "M N",
	 "M-port N-tree, a fat tree: 2(M/2)^N hosts, (2N-1)(M/2)^(N-1) switches. "
	 "--hosts: hosts a leaf, at most M/2",
	 "weft topo gen mtree 8 3", gen_mtree},
	{"kary", "K N",
	 "K-ary N-tree: K^N hosts, N K^(N-1) switches of 2K ports, roots half used. "
	 "--hosts: hosts a leaf, at most K",
	 "weft topo gen kary 4 3", gen_kary},
	{"clos", "M N R",
	 "folded Clos network: M middle switches, R edge switches with N hosts each, one link "
	 "between every middle and every edge. 3 1 4 is 7 switches and 4 hosts, of which 2, 3 and "
	 "4 are the middle ones: half of the edge switches are numbered before the middle",
	 "weft topo gen clos 3 1 4", gen_clos},
	{"mesh", "X [Y ...]", "mesh of up to 8 dimensions; --hosts: hosts a switch (1)",
	 "weft topo gen mesh 4 4", gen_mesh},
	{"torus", "X [Y ...]",
	 "torus of up to 8 dimensions; a dimension of size 2 is one link, not two; "
	 "--hosts: hosts a switch (1)",
	 "weft topo gen torus 4 4 4 --hosts 2", gen_torus},
	{"hypercube", "N", "2^N switches; --hosts: hosts a switch (1)", "weft topo gen hypercube 4",
	 gen_hypercube},
	{"dragonfly", "P A H [G]",
	 "G groups (A*H+1) of A switches, each with P hosts and H links to other groups; inside a "
	 "group all are joined, and between any two groups there are as many links as divide evenly",
	 "weft topo gen dragonfly 2 4 2", gen_dragonfly},
	{"fullmesh", "N", "N switches, each joined to every other; --hosts: hosts a switch (1)",
	 "weft topo gen fullmesh 6", gen_fullmesh},
	{"ring", "N", "N switches in a ring; --hosts: hosts a switch (1)", "weft topo gen ring 8",
	 gen_ring},
	{"star", "N", "N leaf switches around a centre; --hosts: hosts a leaf (1)",
	 "weft topo gen star 8 --hosts 4", gen_star},
	{"odd", "[N]",
	 "what the seed makes of N switches (few unless given): parallel links, hosts with several "
	 "ports in one subnet or in two, switches cabled to themselves, chains, islands, routers, "
	 "switches of 1 to 254 ports, ports without cables, all link rates. --ports: at most so "
	 "many a switch; --duplicates: also nodes and ports that share a GUID or a LID",
	 "weft topo gen odd --seed 7", gen_odd},
	{0},
};

static const struct fab_family *family_find(const char *kind)
{
	for (const struct fab_family *f = fab_families; f->kind; f++)
		if (!strcmp(f->kind, kind))
			return f;
	return NULL;
}

static int unknown_kind(const char *kind, struct err *e)
{
	struct strbuf names = {0};
	int r;

	for (const struct fab_family *f = fab_families; f->kind; f++)
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", f->kind);
	r = err_set(e, -EINVAL, "no topology is called '%s'; expected one of %s", kind, names.s);
	strbuf_free(&names);
	return r;
}

static int check_rate(const struct fab_gen *g, struct err *e)
{
	static const unsigned widths[] = {0, 1, 2, 4, 8, 12};

	if (g->speed >= FAB_NSPEEDS)
		return err_set(e, -EINVAL, "%s: no link speed has the number %u", g->kind,
			       g->speed);
	for (size_t i = 0; i < ARRAY_LEN(widths); i++)
		if (g->width == widths[i])
			return 0;
	return err_set(e, -EINVAL, "%s: link width is %u, expected 1, 2, 4, 8 or 12", g->kind,
		       g->width);
}

static int check_vfs(const struct fab_gen *g, struct err *e)
{
	if (g->sriov ? g->vfs && g->vfs <= FAB_MAX_VFS : !g->vfs)
		return 0;
	return err_set(e, -EINVAL,
		       "%s: found %u VFs with SR-IOV mode %s, expected 1 to %u, or 0 without",
		       g->kind, g->vfs, fab_sriov_name(g->sriov), (unsigned)FAB_MAX_VFS);
}

struct fab *fab_generate(const struct fab_gen *g, struct err *e)
{
	const struct fab_family *f = g->kind ? family_find(g->kind) : NULL;
	struct fab *plain, *with_vfs;

	if (!f) {
		unknown_kind(g->kind ? g->kind : "", e);
		return NULL;
	}
	if (check_rate(g, e) || check_vfs(g, e))
		return NULL;
	plain = f->make(g, e);
	if (!plain || !g->sriov)
		return plain;
	with_vfs = fab_with_vfs(plain, g->sriov, g->vfs);
	fab_free(plain);
	return with_vfs;
}

/* ---- checks ---- */

int gen_check_dims(const struct fab_gen *g, unsigned min, unsigned max, struct err *e)
{
	const struct fab_family *f = family_find(g->kind);
	char want[32];

	if (min == max)
		snprintf(want, sizeof(want), "%u", min);
	else
		snprintf(want, sizeof(want), "%u to %u", min, max);
	if (g->ndims < min || g->ndims > max)
		return err_set(e, -EINVAL, "%s: expected %s size%s (%s), found %u", g->kind, want,
			       max == 1 ? "" : "s", f->dims_help, g->ndims);
	for (unsigned i = 0; i < g->ndims; i++)
		if (!g->dims[i])
			return err_set(e, -EINVAL, "%s: size %u is 0, expected at least 1 (%s)",
				       g->kind, i + 1, f->dims_help);
	return 0;
}

int gen_check_no_hosts(const struct fab_gen *g, struct err *e)
{
	if (g->has_hosts)
		return err_set(e, -EINVAL, "%s: %s already give%s the hosts; leave out --hosts",
			       g->kind, g->ndims ? "the sizes" : "the seed", g->ndims ? "" : "s");
	return 0;
}

int gen_check_no_links(const struct fab_gen *g, struct err *e)
{
	if (g->links || g->leaves || g->leaf_hosts)
		return err_set(e, -EINVAL, "%s: the shape gives the links; %s is for irregular",
			       g->kind, g->links ? "--links" : "--leaves");
	return 0;
}

int gen_check_ports(const struct fab_gen *g, uint64_t need, unsigned *ports, struct err *e)
{
	if (need > GEN_MAX_PORTS)
		return err_set(e, -EINVAL, "%s: a switch would need %llu ports; it can have %d",
			       g->kind, (unsigned long long)need, GEN_MAX_PORTS);
	if (g->ports > GEN_MAX_PORTS)
		return err_set(e, -EINVAL, "%s: %u ports a switch asked for; it can have %d",
			       g->kind, g->ports, GEN_MAX_PORTS);
	if (g->ports && g->ports < need)
		return err_set(e, -EINVAL, "%s: a switch needs %llu ports, --ports gives it %u",
			       g->kind, (unsigned long long)need, g->ports);
	*ports = g->ports ? g->ports : MAX((unsigned)need, 1);
	return 0;
}

int gen_check_size(const struct fab_gen *g, uint64_t switches, uint64_t ports, uint64_t hosts,
		   struct err *e)
{
	uint64_t slots = gen_mul(switches, ports + 1) + gen_mul(hosts, 2);

	if (switches + hosts > GEN_MAX_NODES || slots > GEN_MAX_SLOTS)
		return err_set(
			e, -EINVAL,
			"%s: too large: %s%llu switches and %s%llu hosts; at most %d nodes and "
			"%d ports are made",
			g->kind, switches >= UINT32_MAX ? "over " : "",
			(unsigned long long)switches, hosts >= UINT32_MAX ? "over " : "",
			(unsigned long long)hosts, GEN_MAX_NODES, GEN_MAX_SLOTS);
	return 0;
}

uint64_t gen_mul(uint64_t a, uint64_t b)
{
	a = MIN(a, UINT32_MAX);
	b = MIN(b, UINT32_MAX);
	return MIN(a * b, UINT32_MAX);
}

uint64_t gen_pow(uint64_t base, unsigned n)
{
	uint64_t v = 1;

	while (n-- && v < UINT32_MAX && base != 1)
		v = gen_mul(v, base);
	return v;
}

/* ---- making ---- */

void gen_begin(struct gen *G, const struct fab_gen *g)
{
	*G = (struct gen){.spec = g, .b = fab_builder_new()};
}

node_id gen_switch(struct gen *G, unsigned ports, const char *fmt, ...)
{
	char name[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	return fab_add_node(G->b, IBA_NODE_SWITCH, 0x0002000000000001ull + G->nswitches++, ports,
			    name);
}

void gen_hosts(struct gen *G, node_id sw, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t guid = 0x0001000000000010ull + 4ull * G->nhosts;
		char name[32];
		node_id h;

		snprintf(name, sizeof(name), "host %u", G->nhosts++);
		h = fab_add_node(G->b, IBA_NODE_CA, guid, 1, name);
		fab_builder_node(G->b, h)->sys_guid = guid + 3;
		fab_builder_port(G->b, h, 1)->guid = guid + 1;
		gen_link(G, sw, i + 1, h, 1);
	}
}

static void set_rate(struct gen *G, node_id n, unsigned num)
{
	struct fab_port *p = fab_builder_port(G->b, n, num);

	p->width = (uint8_t)(G->spec->width ? G->spec->width : 4);
	p->speed = (uint8_t)(G->spec->speed ? G->spec->speed : FAB_QDR);
}

/* Hosts stand beside their switch, the next switch may be a hall away. */
static uint32_t cable_of(struct gen *G, node_id a, node_id b)
{
	bool trunk = fab_builder_node(G->b, a)->type == IBA_NODE_SWITCH &&
		     fab_builder_node(G->b, b)->type == IBA_NODE_SWITCH;

	return trunk && G->spec->trunk_cm ? G->spec->trunk_cm : G->spec->cable_cm;
}

void gen_link(struct gen *G, node_id a, unsigned pa, node_id b, unsigned pb)
{
	int r = fab_add_link(G->b, a, pa, b, pb);

	assert(!r); /* a family that connects a port twice is wrong */
	(void)r;
	set_rate(G, a, pa);
	set_rate(G, b, pb);
	fab_builder_port(G->b, a, pa)->cable_cm = cable_of(G, a, b);
	fab_builder_port(G->b, b, pb)->cable_cm = cable_of(G, a, b);
}

struct fab *gen_end(struct gen *G)
{
	return fab_build(G->b);
}
