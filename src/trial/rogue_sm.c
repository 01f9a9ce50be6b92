/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rogue program on a host: it answers that it is a master of the highest priority, and sends orders and Sets to all
 * managers and devices in turn, with keys that are not theirs. State: struct run_rogue. Way in: run_rogue_toggle().
 * Does not discover: it knows the fabric.
 */
#include "trial/run_priv.h"

#define PERIOD	  (2 * PS_PER_MS)
#define WRONG_KEY 0xbad0bad0bad0bad0ull

/* A directed path over links that are up: its length, or -1. */
static int find_path(const struct run *r, node_id from, unsigned port, node_id to, uint8_t *path)
{
	const struct fab *f = r->fab;
	port_id *by = mem_array(f->nnodes, sizeof(*by)); /* output port that led there */
	node_id *queue = mem_array(f->nnodes, sizeof(*queue));
	uint32_t head = 0, tail = 0;
	int hops = 0;

	memset(by, 0xff, f->nnodes * sizeof(*by));
	queue[tail++] = from;
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			port_id q = sim_port_peer(r->sim, fab_port_id(f, n, p));
			node_id m = q == FAB_NONE ? FAB_NONE : f->ports[q].node;

			if (m == FAB_NONE || m == from || by[m] != FAB_NONE ||
			    (n == from ? port && p != port : !fab_is_switch(f, n)))
				continue;
			by[m] = fab_port_id(f, n, p);
			queue[tail++] = m;
		}
	}
	for (node_id n = to; n != from; n = f->ports[by[n]].node) {
		if (by[n] == FAB_NONE || hops >= IBA_MAX_HOPS) {
			hops = -1;
			break;
		}
		hops++;
	}
	for (node_id n = to, k = (node_id)hops; hops > 0 && n != from; n = f->ports[by[n]].node)
		path[k--] = f->ports[by[n]].num;
	free(by);
	free(queue);
	return hops;
}

static void claim(const struct run *r, struct iba_sm_info *si)
{
	port_id p = fab_port_id(r->fab, r->rogue.node, r->rogue.port);
	uint64_t guid = r->fab->ports[p].guid;

	*si = (struct iba_sm_info){.guid = guid ? guid
						: r->fab->nodes[r->rogue.node].guid + r->rogue.port,
				   .sm_key = WRONG_KEY,
				   .act_count = r->rogue.count,
				   .priority = 15,
				   .state = IBA_SM_MASTER};
}

/* By a directed route. */
static void send_from(struct run *r, node_id from, unsigned port, node_id to, const uint8_t *mad)
{
	struct sim_smp smp = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};
	uint8_t path[IBA_MAX_HOPS + 1] = {0};
	int hops = find_path(r, from, port, to, path);

	if (hops <= 0)
		return;
	memcpy(smp.mad, mad, sizeof(smp.mad));
	memcpy(iba_smp_initial_path(smp.mad), path, (size_t)hops + 1);
	iba_smp_set_hop_cnt(smp.mad, (uint8_t)hops);
	iba_smp_set_dr_slid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_tid(smp.mad, ++r->rogue.count);
	sim_send(r->sim, from, port, &smp);
}

static void send_to(struct run *r, node_id to, const uint8_t *mad)
{
	send_from(r, r->rogue.node, r->rogue.port, to, mad);
}

/* What it says of itself is true, but for the state; only a master gives orders. */
void run_order(struct run *r, unsigned manager, enum schedule_order what)
{
	struct iba_sm_info si = {.sm_key = lab_manager_cfg(r->lab, manager)->sm_key,
				 .state = IBA_SM_MASTER};
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_SET, IBA_ATTR_SM_INFO, what);
	for (unsigned i = 0; i < lab_managers(r->lab); i++) {
		unsigned port = r->fab->ports[lab_manager_port(r->lab, i)].num;

		if (i == manager || !lab_manager_sm(r->lab, i) || lab_manager_paused(r->lab, i))
			continue;
		si.guid = lab_manager_guid(r->lab, i);
		si.priority = (uint8_t)lab_manager_cfg(r->lab, i)->priority;
		iba_sm_info_put(&si, iba_smp_data(mad));
		send_from(r, lab_manager_node(r->lab, i), port, lab_manager_node(r->lab, manager),
			  mad);
		return;
	}
}

static void order(struct run *r, unsigned manager)
{
	struct iba_sm_info si;
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_SET, IBA_ATTR_SM_INFO,
		     IBA_SM_HANDOVER + r->rogue.count % IBA_SM_DISCOVER);
	claim(r, &si);
	iba_sm_info_put(&si, iba_smp_data(mad));
	send_to(r, lab_manager_node(r->lab, manager), mad);
}

/* A device with an M_Key must refuse this; one without a key cannot. */
static void seize(struct run *r, node_id n)
{
	port_id p = fab_port_id(r->fab, n, fab_is_switch(r->fab, n) ? 0 : 1);
	struct iba_port_info pi = *sim_port_info(r->sim, p);
	uint8_t mad[IBA_MAD_SIZE];

	if (!pi.m_key || !sim_node_on(r->sim, n))
		return;
	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_SET, IBA_ATTR_PORT_INFO, 0);
	iba_smp_set_m_key(mad, WRONG_KEY);
	pi.lid = 0x77;
	pi.sm_lid = 0x77;
	iba_port_info_put(&pi, iba_smp_data(mad));
	send_to(r, n, mad);
}

static void on_turn(void *ctx, uint64_t cookie)
{
	struct run *r = ctx;

	if (!r->rogue.runs || (uint32_t)cookie != r->rogue.generation)
		return;
	order(r, r->rogue.count % lab_managers(r->lab));
	seize(r, r->rogue.count % r->fab->nnodes);
	sim_call(r->sim, sim_now(r->sim) + PERIOD, on_turn, r, cookie);
}

/* Get(SMInfo) and orders: it is the master, whatever it is told. */
static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct run *r = ctx;
	struct sim_smp out = *smp;
	unsigned method = iba_smp_method(smp->mad);
	struct iba_sm_info si;

	if ((method != IBA_GET && method != IBA_SET) ||
	    iba_smp_attr_id(smp->mad) != IBA_ATTR_SM_INFO)
		return;
	claim(r, &si);
	iba_smp_set_method(out.mad, IBA_GET_RESP);
	iba_smp_set_status(out.mad, iba_smp_is_dr(out.mad) ? IBA_STATUS_DR_RETURN : 0);
	iba_sm_info_put(&si, iba_smp_data(out.mad));
	out.slid = smp->dlid;
	out.dlid = smp->slid;
	sim_send(r->sim, r->rogue.node, r->rogue.port, &out);
}

static bool is_seat(const struct run *r, node_id n)
{
	for (unsigned i = 0; i < lab_managers(r->lab); i++)
		if (lab_manager_node(r->lab, i) == n)
			return true;
	return false;
}

void run_rogue_end(struct run *r)
{
	if (!r->rogue.runs)
		return;
	sim_attach(r->sim, r->rogue.node, r->rogue.port, NULL, NULL);
	r->rogue.runs = false;
	r->rogue.generation++;
}

void run_rogue_toggle(struct run *r, node_id n)
{
	bool ran = r->rogue.runs && r->rogue.node == n;

	run_rogue_end(r);
	if (ran || n == FAB_NONE || fab_is_switch(r->fab, n) || is_seat(r, n))
		return;
	r->rogue.node = n;
	r->rogue.port = 1;
	r->rogue.runs = true;
	sim_attach(r->sim, n, r->rogue.port, on_smp, r);
	sim_call(r->sim, sim_now(r->sim), on_turn, r, r->rogue.generation);
}
