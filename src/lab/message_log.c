/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in the words of Kim et al., Fig. 6. Keeps no state. Way in: lab_message_line(). Does not print and does
 * not write times.
 */
#include "lab/lab_priv.h"
#include "lab/message_log.h"

/* The figure writes GetInfo(NodeInfo) and GetResp(NodeInfo). */
static const char *method_word(unsigned method)
{
	switch (method) {
	case IBA_GET:
		return "GetInfo";
	case IBA_SET:
		return "SetInfo";
	case IBA_GET_RESP:
		return "GetResp";
	case IBA_TRAP:
		return "Trap";
	case IBA_TRAP_REPRESS:
		return "TrapRepress";
	default:
		return "Unknown";
	}
}

static void add_message(struct strbuf *b, const uint8_t *mad)
{
	strbuf_addf(b, "%s(%s)", method_word(iba_smp_method(mad)),
		    iba_attr_name(iba_smp_attr_id(mad)));
}

/* ---- which node is meant ---- */

static port_id port_of_lid(struct lab *l, uint16_t lid)
{
	for (port_id p = 0; lid && p < l->fab->nports; p++) {
		const struct iba_port_info *pi = sim_port_info(l->sim, p);

		if (pi->lid && (lid & ~((1u << pi->lmc) - 1)) == pi->lid)
			return p;
	}
	return FAB_NONE;
}

static node_id node_of_lid(struct lab *l, uint16_t lid)
{
	port_id p = port_of_lid(l, lid);

	return p == FAB_NONE ? FAB_NONE : l->fab->ports[p].node;
}

static node_id one_hop(struct lab *l, node_id at, unsigned out)
{
	port_id far = FAB_NONE;

	if (at != FAB_NONE && out <= l->fab->nodes[at].nports)
		far = sim_port_peer(l->sim, fab_port_id(l->fab, at, out));
	return far == FAB_NONE ? FAB_NONE : l->fab->ports[far].node;
}

/* Over the cables of now: by the initial path as far as the target, or back by the return path. */
static node_id far_end(struct lab *l, node_id at, const uint8_t *mad, bool back)
{
	uint8_t copy[IBA_MAD_SIZE];
	unsigned hops = iba_smp_hop_cnt(mad);

	memcpy(copy, mad, sizeof(copy));
	for (unsigned i = 1; i <= hops && hops <= IBA_MAX_HOPS; i++)
		at = one_hop(l, at,
			     back ? iba_smp_return_path(copy)[hops + 1 - i]
				  : iba_smp_initial_path(copy)[i]);
	return at;
}

/* A request leads along its initial path; so does the way to the node that a response came from. */
static node_id other_end(struct lab *l, node_id n, const struct sim_smp *smp, bool sent)
{
	bool dr = iba_smp_is_dr(smp->mad), response = iba_smp_method(smp->mad) == IBA_GET_RESP;

	if (!dr)
		return node_of_lid(l, sent ? smp->dlid : smp->slid);
	return far_end(l, n, smp->mad, sent == response);
}

/* The port through which a message that arrived at `port` left its sender. */
static unsigned port_of_sender(struct lab *l, unsigned port, const struct sim_smp *smp)
{
	uint8_t copy[IBA_MAD_SIZE];
	unsigned hops = MIN(iba_smp_hop_cnt(smp->mad), (unsigned)IBA_MAX_HOPS);
	port_id p = port_of_lid(l, smp->slid);

	if (!iba_smp_is_dr(smp->mad))
		return p == FAB_NONE ? 0 : l->fab->ports[p].num;
	memcpy(copy, smp->mad, sizeof(copy));
	if (!hops)
		return port;
	return iba_smp_method(smp->mad) == IBA_GET_RESP ? iba_smp_return_path(copy)[hops]
							: iba_smp_initial_path(copy)[1];
}

static void add_node(struct strbuf *b, node_id n)
{
	if (n == FAB_NONE)
		strbuf_addf(b, "an unknown node");
	else
		strbuf_addf(b, "node %u", n + 1);
}

/* ---- lines ---- */

static bool is_manager_at(const struct lab *l, node_id n)
{
	for (size_t i = 0; i < l->managers.n; i++)
		if (l->managers.at[i]->node == n && l->managers.at[i]->sm)
			return true;
	return false;
}

/* Managers send requests, and respond to SMInfo and traps. */
static bool sent_by_manager(const struct lab *l, node_id n, const uint8_t *mad)
{
	unsigned method = iba_smp_method(mad);

	if (!is_manager_at(l, n) || method == IBA_TRAP)
		return false;
	return method != IBA_GET_RESP || iba_smp_attr_id(mad) == IBA_ATTR_SM_INFO;
}

static void add_transfer(struct strbuf *b, struct lab *l, node_id n, unsigned port,
			 const struct sim_smp *smp, bool sent, bool manager)
{
	if (manager)
		strbuf_addf(b, "SM %u port %u : ", n + 1, port);
	else
		strbuf_addf(b, "SMA %u : ", n + 1);
	strbuf_addf(b, sent ? "sent a message " : "received a message ");
	add_message(b, smp->mad);
	if (!manager)
		return;
	if (sent)
		strbuf_addf(b, " to ");
	else
		strbuf_addf(b, " from port %u on ", port_of_sender(l, port, smp));
	add_node(b, other_end(l, n, smp, sent));
}

static void add_smi(struct strbuf *b, const struct sim_smp *smp, bool own)
{
	bool dr = iba_smp_is_dr(smp->mad);

	strbuf_addf(b, "received a message %s %s%s packet", dr ? "DR" : "LID-routed",
		    own ? "outbound" : "inbound",
		    !dr				  ? ""
		    : iba_smp_is_return(smp->mad) ? " returning"
						  : " outgoing");
}

static bool goes_to_manager(const struct lab *l, node_id n, const uint8_t *mad)
{
	unsigned method = iba_smp_method(mad);

	return method == IBA_GET_RESP || method == IBA_TRAP ||
	       (is_manager_at(l, n) && iba_smp_attr_id(mad) == IBA_ATTR_SM_INFO);
}

bool lab_message_line(struct strbuf *b, struct lab *l, enum sim_seen what, node_id n, unsigned port,
		      const struct sim_smp *smp, unsigned detail)
{
	switch (what) {
	case SIM_SEEN_SEND:
		add_transfer(b, l, n, port, smp, true, sent_by_manager(l, n, smp->mad));
		return true;
	case SIM_SEEN_RECV:
		add_transfer(b, l, n, port, smp, false, detail);
		return true;
	case SIM_SEEN_SMI_IN:
		strbuf_addf(b, "SMI %u : ", n + 1);
		add_smi(b, smp, detail);
		return true;
	case SIM_SEEN_SMI_OUT:
		if (port)
			strbuf_addf(b, "SMI %u : sent a message through port %u", n + 1, port);
		else
			strbuf_addf(b, "SMI %u : sent a message by the forwarding table", n + 1);
		return true;
	case SIM_SEEN_SMI_UP:
		strbuf_addf(b, "SMI %u : sent a message - passing to the %s on port %u", n + 1,
			    goes_to_manager(l, n, smp->mad) ? "SM" : "SMA", port);
		return true;
	case SIM_SEEN_DROP:
		strbuf_addf(b, "SMI %u : discarded a message : %s", n + 1,
			    sim_drop_name((enum sim_drop)detail));
		return true;
	case SIM_SEEN_PORT:
	case SIM_SEEN_NODE:
		return false;
	}
	return false;
}
