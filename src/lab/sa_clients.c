/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulated hosts as clients of subnet administration. State: struct lab_clients, one request under way for each host. Ways in:
 * timers and MADs from the simulator. Knows nothing of the manager: hosts have what PortInfo of their port says.
 */
#include "lab/sa_clients.h"

#include "base/rng.h"
#include "iba/sa_wire.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"

enum { REFUSALS_MOST = 1000 };	 /* one after another, then it gives up */
#define POLL_PS (1 * PS_PER_MS)	 /* between looks at a port that is not Active, and after "busy" */
#define WAIT_PS (20 * PS_PER_MS) /* for an answer */

enum { STEP_CLASS_PORT_INFO, STEP_JOIN, STEP_PATHS }; /* paths are steps from this one on */

static const uint8_t broadcast[16] = {0xff, 0x12,	 0x40, 0x1b, 0xff,
				      0xff, [12] = 0xff, 0xff, 0xff, 0xff};

struct client {
	struct lab_clients *all;
	port_id port;
	unsigned step;
	bool waits;	   /* for the answer to its request */
	uint64_t tid;	   /* of it; each repetition has the same */
	uint32_t turn;	   /* of its timer: earlier ones are over */
	time_ps asked;	   /* when it was first sent */
	uint16_t mlid;	   /* 0: it is no member yet */
	unsigned refusals; /* of its request, one after another */
};

struct path {
	port_id from, to;
	uint16_t slid, dlid; /* 0: not answered yet */
};

struct lab_clients {
	struct lab *lab;
	unsigned npaths; /* of each client */
	VEC(struct client) list;
	VEC(struct path) paths;
	struct lab_clients_count count;
	time_ps sum;
};

static const struct iba_port_info *info(const struct lab_clients *c, port_id p)
{
	return sim_port_info(c->lab->sim, p);
}

static void gid_of(const struct lab_clients *c, port_id p, uint8_t gid[16])
{
	iba_be64_put(gid, info(c, p)->gid_prefix);
	iba_be64_put(gid + 8, sim_port_guid(c->lab->sim, p));
}

static struct path *path_of(struct client *h)
{
	size_t at = (size_t)(h - h->all->list.at) * h->all->npaths + (h->step - STEP_PATHS);

	return &h->all->paths.at[at];
}

static bool is_done(const struct client *h)
{
	return h->step >= STEP_PATHS + h->all->npaths;
}

/* ---- requests ---- */

static void head(const struct client *h, unsigned method, uint16_t attr_id, uint64_t mask,
		 uint8_t *mad)
{
	struct iba_sa_hdr hdr = {.mask = mask};

	memset(mad, 0, IBA_MAD_SIZE);
	iba_smp_set_base_version(mad, 1);
	iba_smp_set_mgmt_class(mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(mad, (uint8_t)method);
	iba_smp_set_attr_id(mad, attr_id);
	iba_smp_set_tid(mad, h->tid);
	iba_sa_hdr_put(&hdr, mad);
}

static void make_join(const struct client *h, uint8_t *mad)
{
	struct iba_sa_member r = {.join_state = 1};

	memcpy(r.mgid, broadcast, sizeof(broadcast));
	gid_of(h->all, h->port, r.port_gid);
	head(h, IBA_SET, IBA_SA_MEMBER,
	     IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) |
		     IBA_SA_BIT(member, join_state),
	     mad);
	iba_sa_member_put(&r, mad + IBA_SA_DATA_OFF);
}

static void make_path(struct client *h, uint8_t *mad)
{
	struct iba_sa_path r = {.num_paths = 1};

	gid_of(h->all, h->port, r.sgid);
	gid_of(h->all, path_of(h)->to, r.dgid);
	head(h, IBA_GET, IBA_SA_PATH,
	     IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, dgid) | IBA_SA_BIT(path, num_paths), mad);
	iba_sa_path_put(&r, mad + IBA_SA_DATA_OFF);
}

static void request_send(struct client *h)
{
	const struct lab_clients *c = h->all;
	const struct fab_port *p = &c->lab->fab->ports[h->port];
	struct sim_smp smp = {.slid = info(c, h->port)->lid,
			      .dlid = info(c, h->port)->sm_lid,
			      .sl = info(c, h->port)->sm_sl};

	if (h->step == STEP_CLASS_PORT_INFO)
		head(h, IBA_GET, IBA_SA_CLASS_PORT_INFO, 0, smp.mad);
	else if (h->step == STEP_JOIN)
		make_join(h, smp.mad);
	else
		make_path(h, smp.mad);
	h->all->count.requests++;
	sim_send(c->lab->sim, p->node, p->num, &smp);
}

static void on_turn(void *ctx, uint64_t cookie);

static void turn_at(struct client *h, time_ps t)
{
	sim_call(h->all->lab->sim, t, on_turn, h->all,
		 (uint64_t)(h - h->all->list.at) << 32 | ++h->turn);
}

/* Its port can send, and knows where the manager is. */
static bool may_ask(const struct client *h)
{
	const struct iba_port_info *pi = info(h->all, h->port);

	return sim_node_on(h->all->lab->sim, h->all->lab->fab->ports[h->port].node) &&
	       pi->state == IBA_PORT_ACTIVE && pi->lid && pi->sm_lid;
}

static void on_turn(void *ctx, uint64_t cookie)
{
	struct lab_clients *c = ctx;
	struct client *h = &c->list.at[cookie >> 32];
	time_ps now = sim_now(c->lab->sim);

	if ((uint32_t)cookie != h->turn || is_done(h))
		return;
	if (!may_ask(h)) {
		turn_at(h, now + POLL_PS);
		return;
	}
	c->count.repeated += h->waits;
	if (!h->waits) {
		h->tid++;
		h->asked = now;
		h->waits = true;
	}
	request_send(h);
	turn_at(h, now + WAIT_PS);
}

/* ---- answers ---- */

static void take_path(struct client *h, const uint8_t *mad)
{
	struct path *p = path_of(h);
	struct iba_sa_path r;

	iba_sa_path_get(&r, mad + IBA_SA_DATA_OFF, IBA_SA_DATA_SIZE);
	p->slid = r.slid;
	p->dlid = r.dlid;
}

static void take(struct client *h, const uint8_t *mad)
{
	struct iba_sa_member m;

	if (h->step == STEP_JOIN) {
		iba_sa_member_get(&m, mad + IBA_SA_DATA_OFF, IBA_SA_DATA_SIZE);
		h->mlid = m.mlid;
	} else if (h->step >= STEP_PATHS) {
		take_path(h, mad);
	}
	h->step++;
}

/* Some refusals end: the manager does not know the host yet. Others do not: a link is slower than the group. */
static void refused(struct client *h, unsigned status)
{
	struct lab_clients_count *n = &h->all->count;

	if (status == IBA_STATUS_BUSY)
		return;
	n->refused++;
	if (++h->refusals < REFUSALS_MOST)
		return;
	n->gave_up++;
	n->last_status = status;
}

/* A refusal is repeated as "busy" is: the other host may not be there yet. */
static void on_mad(void *ctx, const struct sim_smp *smp)
{
	struct client *h = ctx;
	struct lab_clients_count *n = &h->all->count;
	time_ps now = sim_now(h->all->lab->sim);
	unsigned status = iba_smp_status(smp->mad);

	if (!h->waits || iba_smp_tid(smp->mad) != h->tid ||
	    iba_smp_mgmt_class(smp->mad) != IBA_CLASS_SUBN_ADM ||
	    iba_smp_method(smp->mad) != IBA_GET_RESP)
		return;
	h->waits = false;
	if (status) {
		n->busy += status == IBA_STATUS_BUSY;
		refused(h, status);
		if (h->refusals < REFUSALS_MOST)
			turn_at(h, now + POLL_PS);
		return;
	}
	h->refusals = 0;
	n->answers++;
	n->longest_ps = MAX(n->longest_ps, now - h->asked);
	h->all->sum += now - h->asked;
	take(h, smp->mad);
	n->done += is_done(h);
	turn_at(h, now);
}

/* ---- which hosts ---- */

static bool has_manager(const struct lab *l, node_id n)
{
	for (size_t i = 0; i < l->managers.n; i++)
		if (l->managers.at[i]->node == n)
			return true;
	return false;
}

/* Ports of hosts; functions of HCAs in vSwitch mode are machines that come and go. */
static bool is_host_port(const struct fab *f, port_id p)
{
	const struct fab_node *n = &f->nodes[f->ports[p].node];

	return n->type == IBA_NODE_CA && !(n->flags & (FAB_FUNCTION | FAB_SHARP_AN)) &&
	       f->ports[p].num == 1 && f->ports[p].peer != FAB_NONE;
}

static void draw_paths(struct lab_clients *c, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed, 0);
	for (size_t i = 0; i < c->list.n; i++)
		for (unsigned k = 0; k < c->npaths; k++) {
			uint32_t to = (uint32_t)rng_below(&rng, (uint32_t)c->list.n - 1);

			vec_push(&c->paths, (struct path){.from = c->list.at[i].port,
							  .to = c->list.at[to + (to >= i)].port});
		}
}

struct lab_clients *lab_clients_new(struct lab *l, const struct lab_clients_config *cfg)
{
	struct lab_clients *c = mem_zalloc(sizeof(*c));

	assert(l->cfg.sa);
	c->lab = l;
	for (port_id p = 0; p < l->fab->nports && c->list.n < cfg->clients; p++)
		if (is_host_port(l->fab, p) && !has_manager(l, l->fab->ports[p].node))
			vec_push(&c->list, (struct client){.all = c, .port = p});
	c->npaths = c->list.n > 1 ? cfg->paths : 0;
	draw_paths(c, cfg->seed);
	for (size_t i = 0; i < c->list.n; i++) {
		const struct fab_port *p = &l->fab->ports[c->list.at[i].port];

		c->list.at[i].tid = (uint64_t)(i + 1) << 16;
		sim_attach_port(l->sim, p->node, p->num, on_mad, &c->list.at[i]);
		turn_at(&c->list.at[i], sim_now(l->sim) + POLL_PS);
	}
	c->count.clients = (unsigned)c->list.n;
	return c;
}

void lab_clients_free(struct lab_clients *c)
{
	for (size_t i = 0; c && i < c->list.n; i++) {
		const struct fab_port *p = &c->lab->fab->ports[c->list.at[i].port];

		sim_attach_port(c->lab->sim, p->node, p->num, NULL, NULL);
		c->list.at[i].turn++; /* its timer is over */
	}
	if (!c)
		return;
	vec_free(&c->list);
	vec_free(&c->paths);
	free(c);
}

bool lab_clients_run(struct lab_clients *c, time_ps limit)
{
	time_ps now = sim_now(c->lab->sim);

	while (c->count.done + c->count.gave_up < c->count.clients && now < limit) {
		now = MIN(now + POLL_PS, limit);
		lab_run_to(c->lab, now);
	}
	return lab_run_ready(c->lab, limit) && c->count.done == c->count.clients;
}

/* ---- what devices hold ---- */

static bool leads_there(const struct lab_clients *c, const struct path *p)
{
	const struct fab *f = c->lab->fab;
	struct sim *s = c->lab->sim;
	port_id at = sim_port_peer(s, p->from);

	if (info(c, p->from)->lid != p->slid || info(c, p->to)->lid != p->dlid)
		return false;
	for (uint32_t hops = 0; at != FAB_NONE && hops <= f->nswitches; hops++) {
		node_id n = f->ports[at].node;
		unsigned out;

		if (!fab_is_switch(f, n))
			return at == p->to;
		out = sim_route(s, n, p->dlid);
		if (!out || out > f->nodes[n].nports)
			return false;
		at = sim_port_peer(s, fab_port_id(f, n, out));
	}
	return at == p->to;
}

/* Copies of a packet from here on that arrive at each port; a tree has no more hops than switches. */
static void copies(const struct lab_clients *c, port_id at, uint16_t mlid, uint32_t hops,
		   uint8_t *arrived)
{
	const struct fab *f = c->lab->fab;
	node_id n = at == FAB_NONE ? FAB_NONE : f->ports[at].node;
	uint64_t mask[4];

	if (n == FAB_NONE || hops > f->nswitches)
		return;
	if (!fab_is_switch(f, n)) {
		arrived[at] = (uint8_t)MIN(arrived[at] + 1, 2);
		return;
	}
	if (!sim_mft(c->lab->sim, n, mlid, mask))
		return;
	for (unsigned out = 1; out <= f->nodes[n].nports; out++)
		if (mask[out / 64] >> out % 64 & 1 && out != f->ports[at].num)
			copies(c, sim_port_peer(c->lab->sim, fab_port_id(f, n, out)), mlid,
			       hops + 1, arrived);
}

static uint64_t wrong_trees(const struct lab_clients *c)
{
	uint8_t *arrived = mem_zarray(c->lab->fab->nports, 1);
	uint64_t wrong = 0;

	for (size_t i = 0; i < c->list.n; i++) {
		const struct client *h = &c->list.at[i];

		if (!h->mlid)
			continue;
		memset(arrived, 0, c->lab->fab->nports);
		copies(c, sim_port_peer(c->lab->sim, h->port), h->mlid, 0, arrived);
		for (size_t k = 0; k < c->list.n; k++)
			wrong += k != i && c->list.at[k].mlid && arrived[c->list.at[k].port] != 1;
	}
	free(arrived);
	return wrong;
}

void lab_clients_result(const struct lab_clients *c, struct lab_clients_count *out)
{
	*out = c->count;
	out->mean_ps = out->answers ? c->sum / out->answers : 0;
	for (size_t i = 0; i < c->paths.n; i++) {
		out->paths += c->paths.at[i].dlid != 0;
		out->wrong_paths += c->paths.at[i].dlid && !leads_there(c, &c->paths.at[i]);
	}
	for (size_t i = 0; i < c->list.n; i++)
		out->members += c->list.at[i].mlid != 0;
	out->wrong_trees = wrong_trees(c);
}
