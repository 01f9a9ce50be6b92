/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SMA's inside: one request, and the functions that answer attributes. Each returns a MAD
 * status.
 */
#ifndef WEFT_SMA_PRIV_H
#define WEFT_SMA_PRIV_H

#include "sim/device/device_priv.h"

struct req {
	struct sim *s;
	node_id n;
	unsigned in_port; /* where the request arrived; 0: the switch's own */
	uint32_t mod;
	const uint8_t *in; /* the request's attribute */
	uint8_t *out;	   /* the response's attribute; holds the request's at first */
};

static inline const struct fab_node *req_node(const struct req *r)
{
	return &r->s->fab->nodes[r->n];
}

static inline struct sim_port *req_port(const struct req *r, unsigned num)
{
	return node_port(r->s, r->n, num);
}

static inline bool req_is_uplink(const struct req *r, unsigned num)
{
	return num == FAB_UPLINK && r->s->nodes[r->n].vswitch;
}

/* The port of an endport attribute: modifier 0 means the port at which the request arrived. */
static inline bool sma_pick_port(const struct req *r, uint32_t num, unsigned *port)
{
	if (sim_is_switch(r->s, r->n)) {
		*port = num;
		return num <= req_node(r)->nports;
	}
	*port = num ? num : r->in_port;
	return *port >= 1 && *port <= req_node(r)->nports;
}

/* sma_port.c: nodes and ports */
uint64_t sma_port_guid(const struct req *r, unsigned num);
unsigned sma_node_desc_get(struct req *r);
unsigned sma_node_desc_set(struct req *r);
unsigned sma_node_info_get(struct req *r);
unsigned sma_switch_info_get(struct req *r);
unsigned sma_switch_info_set(struct req *r);
unsigned sma_port_info_get(struct req *r);
unsigned sma_port_info_set(struct req *r);
unsigned sma_port_info_ext_get(struct req *r);
unsigned sma_mlnx_ext_get(struct req *r);
unsigned sma_mlnx_ext_set(struct req *r);
void sma_endport_take(struct iba_port_info *pi, const struct iba_port_info *v);

/* sma_virtual.c: HCAs in vSwitch mode */
unsigned sma_vf_info_get(struct req *r);
unsigned sma_vf_info_set(struct req *r);
uint8_t sma_vswitch_entry(const struct req *r, uint32_t lid); /* of its linear table, as shown */
void sma_uplink_show(const struct req *r, struct iba_port_info *pi);
bool sma_uplink_ok(const struct req *r, const struct iba_port_info *v);
void sma_uplink_take(struct req *r, const struct iba_port_info *v);
/* Set(PortInfo) of port 0 of a vSwitch, or of a function by its own SMA, was taken. */
void sma_virtual_set(struct req *r, const struct iba_port_info *old,
		     const struct iba_port_info *now);

/* sma_tables.c: tables of ports and switches */
unsigned sma_guid_info_get(struct req *r);
unsigned sma_guid_info_set(struct req *r);
unsigned sma_pkey_get(struct req *r);
unsigned sma_pkey_set(struct req *r);
unsigned sma_slvl_get(struct req *r);
unsigned sma_slvl_set(struct req *r);
unsigned sma_vlarb_get(struct req *r);
unsigned sma_vlarb_set(struct req *r);
unsigned sma_lft_get(struct req *r);
unsigned sma_lft_set(struct req *r);
unsigned sma_rft_get(struct req *r);
unsigned sma_rft_set(struct req *r);
unsigned sma_mft_get(struct req *r);
unsigned sma_mft_set(struct req *r);

#endif
