/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages: a client connects, disconnects, or asks about its port. Keeps no state. Way in:
 * ctl_answer(), which accepts any bytes from any sender. Does not touch sockets.
 */
#include "emu/emu_priv.h"

#include <netinet/in.h>

#include "emu/target_names.h"

static bool ctl_connect(struct emu *m, struct ibsim_ctl *msg, const struct emu_addr *from, bool udp)
{
	struct ibsim_client_info i;
	struct err e;
	uint32_t c;

	memcpy(&i, msg->data, sizeof(i));
	c = clients_attach(m, &i, from, udp, &e);
	if (c == CLIENT_NONE) {
		events_say(m, "%s %u refused: %s", udp ? "UDP port" : "pid", i.id, e.text);
		return false;
	}
	if (!i.node[0]) /* otherwise keep the name that the client gave */
		fab_node_ident(m->fab, m->fab->ports[m->clients[c].port].node, i.node);
	i.id = c;
	msg->client = c;
	memcpy(msg->data, &i, sizeof(i));
	return true;
}

/* libumad2sim adds the port number to the node GUID to get the port GUID: the node GUID is set
 * so that the sum is right. */
static bool ctl_node_info(struct emu *m, const struct emu_client *cl, uint8_t *data)
{
	struct iba_node_info ni;

	memset(data, 0, IBA_SMP_DATA_SIZE);
	if (!emu_ask(m, cl->port, IBA_GET, IBA_ATTR_NODE_INFO, 0, data))
		return false;
	iba_node_info_get(&ni, data, IBA_SMP_DATA_SIZE);
	if (ni.node_type != IBA_NODE_SWITCH)
		ni.node_guid = ni.port_guid - ni.local_port;
	iba_node_info_put(&ni, data);
	return true;
}

static bool ctl_vendor(struct emu *m, const struct emu_client *cl, uint8_t *data)
{
	const struct fab_node *n = &m->fab->nodes[m->fab->ports[cl->port].node];
	struct {
		uint32_t vendor, part, hardware;
		uint64_t firmware;
	} v = {.vendor = n->vendor_id, .part = n->device_id, .firmware = 1};

	memcpy(data, &v, sizeof(v));
	return true;
}

static bool ctl_port(struct emu *m, const struct emu_client *cl, uint8_t *data)
{
	const struct iba_port_info *pi = sim_port_info(m->sim, cl->port);
	struct {
		uint16_t lid;
		uint8_t state;
	} v = {pi->lid, pi->state};

	memcpy(data, &v, sizeof(v));
	return true;
}

static bool ctl_guid(struct emu *m, const struct emu_client *cl, uint8_t *data, bool gid)
{
	uint8_t info[IBA_SMP_DATA_SIZE] = {0};
	struct iba_node_info ni;

	if (!emu_ask(m, cl->port, IBA_GET, IBA_ATTR_NODE_INFO, 0, info))
		return false;
	iba_node_info_get(&ni, info, sizeof(info));
	if (gid) {
		iba_be64_put(data, sim_port_info(m->sim, cl->port)->gid_prefix);
		iba_be64_put(data + 8, ni.port_guid);
	} else {
		memcpy(data, &ni.node_guid, sizeof(ni.node_guid));
	}
	return true;
}

static bool ctl_port_info(struct emu *m, const struct emu_client *cl, uint8_t *data)
{
	unsigned num = data[0];

	if (num > m->fab->nodes[m->fab->ports[cl->port].node].nports)
		num = 0;
	memset(data, 0, IBA_SMP_DATA_SIZE);
	return emu_ask(m, cl->port, IBA_GET, IBA_ATTR_PORT_INFO, num, data);
}

static bool ctl_is_sm(struct emu *m, uint32_t c, const uint8_t *data)
{
	int32_t on;

	memcpy(&on, data, sizeof(on));
	if (on && !m->clients[c].is_sm && clients_sm_place_taken(m, m->clients[c].port))
		return false; /* like a device that is open already */
	clients_set_is_sm(m, c, on);
	return true;
}

static bool ctl_timeout(struct emu *m, uint32_t c, const uint8_t *data)
{
	uint32_t v[2];

	memcpy(v, data, sizeof(v));
	m->clients[c].timeout_ms = MIN(v[0], 60000u);
	m->clients[c].retries = MIN(v[1], 100u);
	return true;
}

static bool ctl_serves(struct emu *m, uint32_t c, uint8_t *data)
{
	uint32_t v[2], yes = IBSIM_SERVES;

	memcpy(v, data, sizeof(v));
	if (v[0] > UINT8_MAX)
		return false;
	if (v[1])
		m->clients[c].serves[v[0] / 8] |= (uint8_t)(1 << v[0] % 8);
	else
		m->clients[c].serves[v[0] / 8] &= (uint8_t) ~(1 << v[0] % 8);
	memcpy(data + sizeof(v), &yes, sizeof(yes));
	return true;
}

static bool ctl_known(struct emu *m, uint32_t c, struct ibsim_ctl *msg)
{
	const struct emu_client *cl = &m->clients[c];

	switch (msg->type) {
	case IBSIM_DISCONNECT:
		clients_detach(m, c, "disconnected");
		return true;
	case IBSIM_GET_PORT:
		return ctl_port(m, cl, msg->data);
	case IBSIM_GET_VENDOR:
		return ctl_vendor(m, cl, msg->data);
	case IBSIM_GET_GID:
		return ctl_guid(m, cl, msg->data, true);
	case IBSIM_GET_GUID:
		return ctl_guid(m, cl, msg->data, false);
	case IBSIM_GET_NODE_INFO:
		return ctl_node_info(m, cl, msg->data);
	case IBSIM_GET_PORT_INFO:
		return ctl_port_info(m, cl, msg->data);
	case IBSIM_SET_IS_SM:
		return ctl_is_sm(m, c, msg->data);
	case IBSIM_GET_PKEYS:
		memset(msg->data, 0, sizeof(msg->data));
		return emu_ask(m, cl->port, IBA_GET, IBA_ATTR_PKEY_TABLE, 0, msg->data);
	case IBSIM_SET_TIMEOUT:
		return ctl_timeout(m, c, msg->data);
	case IBSIM_SET_SERVES:
		return ctl_serves(m, c, msg->data);
	}
	return false;
}

bool ctl_answer(struct emu *m, struct ibsim_ctl *msg, const struct emu_addr *from, bool udp)
{
	uint32_t c = msg->client;
	bool ok;

	if (msg->magic != IBSIM_MAGIC)
		return false;
	if (msg->type == IBSIM_CONNECT)
		ok = ctl_connect(m, msg, from, udp);
	else if (c >= m->cfg.clients || !m->clients[c].used || m->clients[c].udp != udp ||
		 !emu_addr_same(&m->clients[c].ctl, from))
		ok = msg->type ==
		     IBSIM_DISCONNECT; /* it has left already; no client acts for another */
	else
		ok = ctl_known(m, c, msg);
	if (!ok)
		msg->type = IBSIM_ERROR;
	return true;
}
