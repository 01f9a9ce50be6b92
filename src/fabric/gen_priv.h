/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the generators share: checked sizes first, then a struct gen that numbers nodes and sets the
 * rate of every link. The gen_check_*() functions return 0 or -EINVAL with e filled; nothing is
 * allocated before all of them have passed, so that a bad request costs nothing.
 */
#ifndef WEFT_FABRIC_GEN_PRIV_H
#define WEFT_FABRIC_GEN_PRIV_H

#include "fabric/fabric.h"

enum {
	GEN_MAX_PORTS = 254,
	GEN_MAX_NODES = 1 << 20,
	GEN_MAX_SLOTS = 1 << 25, /* ports in all, 32 bytes each */
};

struct gen {
	const struct fab_gen *spec;
	struct fab_builder *b;
	uint32_t nswitches, nhosts;
};

/* The number of sizes, each at least 1. */
int gen_check_dims(const struct fab_gen *g, unsigned min, unsigned max, struct err *e);
/* No --hosts where a size already says it; no --links where the shape does. */
int gen_check_no_hosts(const struct fab_gen *g, struct err *e);
int gen_check_no_links(const struct fab_gen *g, struct err *e);
/* Ports a switch: `need`, or the spec's when that is enough. */
int gen_check_ports(const struct fab_gen *g, uint64_t need, unsigned *ports, struct err *e);
int gen_check_size(const struct fab_gen *g, uint64_t switches, uint64_t ports, uint64_t hosts,
		   struct err *e);

static inline unsigned gen_hosts_each(const struct fab_gen *g, unsigned otherwise)
{
	return g->has_hosts ? g->hosts : otherwise;
}

uint64_t gen_mul(uint64_t a, uint64_t b); /* stops at UINT32_MAX */
uint64_t gen_pow(uint64_t base, unsigned n);

void gen_begin(struct gen *G, const struct fab_gen *g);
node_id gen_switch(struct gen *G, unsigned ports, const char *fmt, ...) PRINTF(3, 4);
void gen_hosts(struct gen *G, node_id sw, unsigned n); /* new hosts on ports 1..n of sw */
void gen_link(struct gen *G, node_id a, unsigned pa, node_id b, unsigned pb);
struct fab *gen_end(struct gen *G);

/* One function a family. */
struct fab *gen_irregular(const struct fab_gen *g, struct err *e);
struct fab *gen_mtree(const struct fab_gen *g, struct err *e);
struct fab *gen_kary(const struct fab_gen *g, struct err *e);
struct fab *gen_clos(const struct fab_gen *g, struct err *e);
struct fab *gen_star(const struct fab_gen *g, struct err *e);
struct fab *gen_mesh(const struct fab_gen *g, struct err *e);
struct fab *gen_torus(const struct fab_gen *g, struct err *e);
struct fab *gen_hypercube(const struct fab_gen *g, struct err *e);
struct fab *gen_ring(const struct fab_gen *g, struct err *e);
struct fab *gen_fullmesh(const struct fab_gen *g, struct err *e);
struct fab *gen_dragonfly(const struct fab_gen *g, struct err *e);
struct fab *gen_odd(const struct fab_gen *g, struct err *e);

#endif
