/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connected clients, each at a port of a node. State: struct emu_client, struct emu_port. Way in:
 * clients_attach(). Does not read or send MADs: socket_loop.c and mad_dispatch.c do.
 */
#include "emu/emu_priv.h"
#include "emu/target_names.h"

/* ---- ports in use ---- */

unsigned clients_port_num(const struct emu *m, port_id p)
{
	return fab_is_switch(m->fab, m->fab->ports[p].node) ? 0 : m->fab->ports[p].num;
}

static struct emu_port *port_find(const struct emu *m, port_id p)
{
	struct emu_port *h = m->ports;

	while (h && h->port != p)
		h = h->next;
	return h;
}

struct emu_port *clients_port_open(struct emu *m, port_id p)
{
	struct emu_port *h = port_find(m, p);

	if (h)
		return h;
	h = mem_zalloc(sizeof(*h));
	*h = (struct emu_port){m, p, CLIENT_NONE, m->ports};
	m->ports = h;
	sim_attach_port(m->sim, m->fab->ports[p].node, clients_port_num(m, p), m->receive, h);
	return h;
}

void clients_port_close(struct emu *m, port_id p)
{
	struct emu_port **at = &m->ports, *h;

	while ((*at)->port != p)
		at = &(*at)->next;
	h = *at;
	if (h->first != CLIENT_NONE)
		return;
	sim_attach_port(m->sim, m->fab->ports[p].node, clients_port_num(m, p), NULL, NULL);
	*at = h->next;
	free(h);
}

static void port_is_sm(struct emu *m, port_id p)
{
	bool on = false;

	for (uint32_t c = clients_port_open(m, p)->first; c != CLIENT_NONE;
	     c = m->clients[c].next_at_port)
		on |= m->clients[c].is_sm;
	sim_set_is_sm(m->sim, m->fab->ports[p].node, clients_port_num(m, p), on);
}

static uint32_t sm_at(const struct emu *m, port_id p)
{
	const struct emu_port *h = port_find(m, p);
	uint32_t c = h ? h->first : CLIENT_NONE;

	while (c != CLIENT_NONE && !m->clients[c].is_sm)
		c = m->clients[c].next_at_port;
	return c;
}

/* A manager that was killed and is started again comes before the next probe: the place of the killed one is free. */
bool clients_sm_place_taken(struct emu *m, port_id p)
{
	uint32_t c = sm_at(m, p);

	if (c == CLIENT_NONE || wire_alive(m, c))
		return c != CLIENT_NONE;
	clients_detach(m, c, "process ended");
	return false;
}

/* ---- machines ---- */

uint64_t clients_machine(const struct emu *m, port_id p)
{
	const struct fab_port *fp = &m->fab->ports[p];

	if (!fp->num || !(m->fab->nodes[fp->node].flags & FAB_FUNCTION) || fp->peer == FAB_NONE ||
	    m->fab->ports[fp->peer].num == FAB_SLOT0_PORT)
		return 0;
	return sim_port_guid(m->sim, p);
}

/* A machine that was detached, or whose VF another one has now, is stopped until it is attached elsewhere. */
bool clients_runs(const struct emu *m, uint32_t c)
{
	const struct emu_client *cl = &m->clients[c];

	return !cl->vguid || cl->vguid == sim_port_guid(m->sim, cl->port);
}

/* ---- the port of a client ---- */

static port_id linked_port(const struct fab *f, node_id n)
{
	if (fab_is_switch(f, n))
		return fab_port_id(f, n, 0);
	for (unsigned p = 1; p <= f->nodes[n].nports; p++)
		if (f->ports[fab_port_id(f, n, p)].peer != FAB_NONE)
			return fab_port_id(f, n, p);
	return fab_port_id(f, n, 1);
}

/* A VF by the GUID that it has now; FAB_NONE. */
static port_id machine_find(const struct emu *m, const char *text)
{
	uint64_t guid;

	if (parse_u64(text, &guid) || !guid)
		return FAB_NONE;
	for (port_id p = 0; p < m->fab->nports; p++)
		if (clients_machine(m, p) == guid)
			return p;
	return FAB_NONE;
}

/* SIM_HOST: a node, with or without a port as in H-0001[2], or the GUID of a machine; empty: the default. An
 * HCA in vSwitch mode means its PF. */
static int find_place(struct emu *m, const char *text, port_id *p, struct err *e)
{
	struct line_word w = {.port = -1};
	struct target t;
	char *bracket, *end;

	*p = *text ? machine_find(m, text) : m->default_port;
	if (*p != FAB_NONE)
		return 0;
	snprintf(w.text, sizeof(w.text), "%s", text);
	bracket = fab_node_by_text(m->fab, w.text) == FAB_NONE ? strrchr(w.text, '[') : NULL;
	if (bracket) {
		w.port = (int)(strtoul(bracket + 1, &end, 10) & 0xff);
		*bracket = 0;
	}
	if (names_target(m->fab, &w, NAMES_ANY, &t, e))
		return -EINVAL;
	*p = linked_port(m->fab, t.node);
	if (m->fab->nodes[t.node].flags & FAB_VSWITCH)
		*p = m->fab->ports[fab_port_id(m->fab, t.node, FAB_SLOT0_PORT)].peer;
	if (t.port >= 0 && !fab_is_switch(m->fab, t.node))
		*p = fab_port_id(m->fab, t.node, (unsigned)t.port);
	return 0;
}

/* ---- attach and detach ---- */

static uint32_t free_slot(const struct emu *m)
{
	for (uint32_t c = 0; c < m->cfg.clients; c++)
		if (!m->clients[c].used)
			return c;
	return CLIENT_NONE;
}

/*
 * A process has one address: when it connects again, its old connection ends. The address of its
 * control socket contains its id, so that no process can connect or disconnect in place of another;
 * with UDP this cannot be checked.
 */
static int forget_double(struct emu *m, uint32_t id, const struct emu_addr *from, bool udp,
			 struct err *e)
{
	for (uint32_t c = 0; c < m->cfg.clients; c++) {
		if (!m->clients[c].used || m->clients[c].id != id || m->clients[c].udp != udp)
			continue;
		if (!udp && !emu_addr_same(&m->clients[c].ctl, from))
			return err_set(e, -EADDRINUSE, "another client has this id");
		clients_detach(m, c, "connected again");
	}
	return 0;
}

static int admit(struct emu *m, port_id port, bool is_sm, struct err *e)
{
	node_id n = m->fab->ports[port].node;
	struct names_buf b;

	if (!sim_node_on(m->sim, n))
		return err_set(e, -EHOSTDOWN, "%s is off", names_node(m->fab, n, &b));
	if (is_sm && clients_sm_place_taken(m, port))
		return err_set(e, -EBUSY, "%s already has an SM", names_port(m->fab, port, &b));
	return 0;
}

static void join_port(struct emu *m, uint32_t c)
{
	uint32_t *at = &clients_port_open(m, m->clients[c].port)->first;

	while (*at != CLIENT_NONE)
		at = &m->clients[*at].next_at_port;
	*at = c;
	m->clients[c].next_at_port = CLIENT_NONE;
}

uint32_t clients_attach(struct emu *m, const struct ibsim_client_info *i,
			const struct emu_addr *from, bool udp, struct err *e)
{
	struct names_buf b;
	char node[sizeof(i->node) + 1] = {0};
	port_id port;
	uint32_t c;

	memcpy(node, i->node, sizeof(i->node));
	if (find_place(m, node, &port, e) || admit(m, port, i->is_sm, e))
		return CLIENT_NONE;
	if (forget_double(m, i->id, from, udp, e))
		return CLIENT_NONE;
	c = free_slot(m);
	if (c == CLIENT_NONE) {
		err_set(e, -EMFILE, "the limit of %u clients is reached", m->cfg.clients);
		return CLIENT_NONE;
	}
	m->clients[c] = (struct emu_client){.used = true,
					    .udp = udp,
					    .id = i->id,
					    .port = port,
					    .vguid = clients_machine(m, port),
					    .ctl = *from,
					    .timeout_ms = m->cfg.timeout_ms,
					    .retries = m->cfg.retries,
					    .since = emu_now(m)};
	if (wire_connect(m, c, e)) {
		m->clients[c].used = false;
		return CLIENT_NONE;
	}
	join_port(m, c);
	if (i->is_sm)
		clients_set_is_sm(m, c, true);
	m->stats.connects++;
	events_say(m, "client %u (%s %u) at %s", c, udp ? "UDP port" : "pid", i->id,
		   names_port(m->fab, port, &b));
	return c;
}

static void leave_port(struct emu *m, uint32_t c)
{
	struct emu_client *cl = &m->clients[c];
	uint32_t *at = &clients_port_open(m, cl->port)->first;

	while (*at != c)
		at = &m->clients[*at].next_at_port;
	*at = cl->next_at_port;
	if (cl->is_sm)
		port_is_sm(m, cl->port);
	clients_port_close(m, cl->port);
}

void clients_move(struct emu *m, uint32_t c, port_id to)
{
	struct emu_client *cl = &m->clients[c];
	struct names_buf b;

	leave_port(m, c);
	cl->port = to;
	pend_move(&m->pend, c, to);
	join_port(m, c);
	if (cl->is_sm)
		port_is_sm(m, to);
	events_say(m, "client %u goes to %s", c, names_port(m->fab, to, &b));
}

void clients_detach(struct emu *m, uint32_t c, const char *why)
{
	struct emu_client *cl = &m->clients[c];

	leave_port(m, c);
	cl->is_sm = false;
	pend_del_client(&m->pend, c);
	wire_disconnect(m, c);
	cl->used = false;
	events_say(m, "client %u (%s %u) detached: %s", c, cl->udp ? "UDP port" : "pid", cl->id,
		   why);
}

void clients_set_is_sm(struct emu *m, uint32_t c, bool on)
{
	struct names_buf b;

	if (m->clients[c].is_sm == on)
		return;
	m->clients[c].is_sm = on;
	port_is_sm(m, m->clients[c].port);
	events_say(m, "client %u %s an SM at %s", c, on ? "is" : "is no longer",
		   names_port(m->fab, m->clients[c].port, &b));
}

void clients_probe(struct emu *m)
{
	for (uint32_t c = 0; c < m->cfg.clients; c++)
		if (m->clients[c].used && !wire_alive(m, c))
			clients_detach(m, c, "process ended");
}

void clients_free(struct emu *m)
{
	for (uint32_t c = 0; m->clients && c < m->cfg.clients; c++)
		if (m->clients[c].used)
			clients_detach(m, c, "emulator stopped");
	free(m->clients);
	free(m->ready);
	free(m->unsent);
}
