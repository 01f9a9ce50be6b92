/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules in memory: their words, copies, the fabric they name. State: struct schedule, the caller's. Way in:
 * schedule_init(), schedule_fabric(). Does not run anything: schedule_run.c does.
 */
#include "trial/schedule.h"

#include "lab/change.h"

/* clang-format off */
const struct schedule_word schedule_words[SCHEDULE_NKINDS] = {
	[SCHEDULE_CRASH] = {"crash", "M", "the manager ends at once, as by kill -9"},
	[SCHEDULE_RESTART] = {"restart", "MK?", "a new manager starts there; it knows nothing, with-lids, "
		"with-state, with-old-state or with-torn-state"},
	[SCHEDULE_PAUSE] = {"pause", "M", "the process is stopped, as by SIGSTOP"},
	[SCHEDULE_CONTINUE] = {"continue", "M", "it goes on"},
	[SCHEDULE_HANDOVER] = {"handover", "M", "a user orders the manager to hand over to the best other one"},
	[SCHEDULE_RESYNC] = {"resync", "M", "a user orders it to read everything again"},
	[SCHEDULE_ORDER] = {"order", "MO", "another manager, with the right SM_Key, orders it to handover, acknowledge, "
		"disable, standby or discover, or something unknown"},
	[SCHEDULE_PULL] = {"pull", "M", "the cable of the manager's port is pulled"},
	[SCHEDULE_PLUG] = {"plug", "M", "and plugged in where it was at first"},
	[SCHEDULE_MOVE] = {"move", "MP", "the cable is plugged into another port, if that is free"},
	[SCHEDULE_OFF] = {"off", "N", "a node loses power; managers on it crash"},
	[SCHEDULE_ON] = {"on", "N", "it has power again; managers on it start with their LIDs"},
	[SCHEDULE_REBOOT] = {"reboot", "NT?", "off, and on after a time (1ms)"},
	[SCHEDULE_UNLINK] = {"unlink", "P", "a link goes down"},
	[SCHEDULE_RELINK] = {"relink", "P", "and comes back, if both ports are free"},
	[SCHEDULE_CUT] = {"cut", "L", "all links between these nodes and the others go down"},
	[SCHEDULE_JOIN] = {"join", "", "all links that were cut come back"},
	[SCHEDULE_LOSS] = {"loss", "SP?", "share of SMPs lost: everywhere, or on this link"},
	[SCHEDULE_LATENCY] = {"latency", "TP", "of this link, in each direction"},
	[SCHEDULE_DELAY] = {"delay", "S", "share of SMPs delayed by up to 2 ms"},
	[SCHEDULE_DUP] = {"dup", "S", "share of SMPs that arrive twice"},
	[SCHEDULE_ROGUE] = {"rogue", "N", "a program there says it is a master of priority 15 and sends orders and "
		"Sets, with wrong keys; a second time: it ends"},
	[SCHEDULE_LIE] = {"lie", "NS", "a share of the answers of this node's agent are wrong"},
	[SCHEDULE_ADD] = {"add", "A", "a switch, host or router with this GUID, this many ports and this name is there from now on"},
	[SCHEDULE_LINK] = {"link", "PQ", "a cable between two ports, if both are free"},
	[SCHEDULE_SEAT] = {"seat", "MN", "the manager ends, and starts with its LIDs on another node, if no manager is there"},
};

#define OPT(field) offsetof(struct schedule_manager, field)
const struct schedule_option schedule_options[] = {
	{"priority", SCHEDULE_UINT, OPT(sm.priority), 0, 15, "among managers"},
	{"start", SCHEDULE_TIME, OPT(start), 0, 3600 * PS_PER_S, "when it starts"},
	{"window", SCHEDULE_UINT, OPT(sm.window), 1, SM_MAX_WINDOW, "SMPs outstanding at once"},
	{"sweep", SCHEDULE_TIME, OPT(sm.sweep_period_ps), 10 * PS_PER_US, 3600 * PS_PER_S, "time between sweeps"},
	{"sweep-factor", SCHEDULE_UINT, OPT(sm.sweep_factor), 0, 1000, "the same, in durations of a sweep"},
	{"own-port", SCHEDULE_TIME, OPT(sm.own_port_ps), 0, 3600 * PS_PER_S, "between looks at its own port and known managers"},
	{"poll", SCHEDULE_TIME, OPT(sm.standby_poll_ps), PS_PER_US, 3600 * PS_PER_S, "of a standby"},
	{"tries", SCHEDULE_UINT, OPT(sm.standby_tries), 1, 100, "polls without a response before it takes over"},
	{"handover-wait", SCHEDULE_TIME, OPT(sm.settle_ps), PS_PER_MS, 3600 * PS_PER_S, "for a master of lower rank"},
	{"copy-wait", SCHEDULE_TIME, OPT(sm.copy_ps), 0, 3600 * PS_PER_S, "for the copy of a standby of higher priority"},
	{"stall", SCHEDULE_TIME, OPT(sm.stall_ps), 0, 3600 * PS_PER_S, "pause after which a master asks who is master"},
	{"retries", SCHEDULE_UINT, OPT(sm.retries), 0, 20, "of an SMP"},
	{"timeout", SCHEDULE_TIME, OPT(sm.timeout_ps), 0, 60 * PS_PER_S, "shortest, of an SMP"},
	{"lmc", SCHEDULE_UINT, OPT(sm.lmc), 0, 7, "of LIDs"},
	{"qos", SCHEDULE_BOOL, OPT(sm.qos), 0, 1, "SL-to-VL and arbitration tables are written"},
	{"plain", SCHEDULE_BOOL, OPT(sm.plain), 0, 1, "directed SMPs only"},
	{"settle", SCHEDULE_BOOL, OPT(sm.settle), 0, 1, "as the daemon does"},
	{"names", SCHEDULE_BOOL, OPT(sm.names), 0, 1, "NodeDescriptions are read"},
	{"mirror", SCHEDULE_BOOL, OPT(sm.mirror), 0, 1, "a standby copies what the master knows"},
	{"read-back", SCHEDULE_BOOL, OPT(sm.read_back), 0, 1, "tables in the switches are read at the start"},
	{"by-lid", SCHEDULE_BOOL, OPT(sm.activate_by_lid), 0, 1, "activation by LID-routed SMPs"},
	{"m-key", SCHEDULE_HEX, OPT(sm.m_key), 0, UINT64_MAX, "of devices"},
	{"protect", SCHEDULE_UINT, OPT(sm.m_key_protect), 0, 3, "M_KeyProtectBits"},
	{"old-key", SCHEDULE_HEX, OPT(sm.m_keys[0]), 0, UINT64_MAX, "an M_Key that devices may still hold"},
	{"sm-key", SCHEDULE_HEX, OPT(sm.sm_key), 0, UINT64_MAX, "SM_Key"},
	{"provoke", SCHEDULE_HEX, OPT(sm.provoke), 0, UINT64_MAX, "seed of rare branches, in builds that have them"},
	{0},
};
/* clang-format on */

const char *const schedule_knows_words[] = {
	[SCHEDULE_NOTHING] = NULL,
	[SCHEDULE_LIDS] = "with-lids",
	[SCHEDULE_STATE] = "with-state",
	[SCHEDULE_OLD_STATE] = "with-old-state",
	[SCHEDULE_TORN_STATE] = "with-torn-state",
};

const char *const schedule_type_words[4] = {NULL, "host", "switch", "router"};

const char *const schedule_order_words[SCHEDULE_NORDERS] = {
	[SCHEDULE_ORDER_HANDOVER] = "handover", [SCHEDULE_ORDER_ACKNOWLEDGE] = "acknowledge",
	[SCHEDULE_ORDER_DISABLE] = "disable",	[SCHEDULE_ORDER_STANDBY] = "standby",
	[SCHEDULE_ORDER_DISCOVER] = "discover", [SCHEDULE_ORDER_UNKNOWN] = "unknown",
};

void schedule_init(struct schedule *s)
{
	*s = (struct schedule){.seed = 1, .traps = true};
}

/* As several managers need it, with intervals that suit a small simulated fabric. */
void schedule_manager_default(struct schedule_manager *m)
{
	*m = (struct schedule_manager){0};
	sm_config_default(&m->sm);
	m->sm.contest = m->sm.read_back = true;
	m->sm.standby_poll_ps = 5 * PS_PER_MS;
	m->sm.standby_tries = 3;
	m->sm.settle_ps = 100 * PS_PER_MS;
	m->sm.copy_ps = 500 * PS_PER_MS;
	m->sm.stall_ps = 7 * PS_PER_MS; /* half the time after which a standby takes over */
	m->sm.sm_key = 1;
	m->sm.sweep_factor = 0;
	m->sm.sweep_period_ps = 20 * PS_PER_MS;
}

static char *copy_text(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

void schedule_copy(struct schedule *to, const struct schedule *from)
{
	*to = *from;
	to->kind = copy_text(from->kind);
	to->gen.kind = to->kind;
	to->netlist = copy_text(from->netlist);
	memset(&to->without, 0, sizeof(to->without));
	memset(&to->managers, 0, sizeof(to->managers));
	memset(&to->events, 0, sizeof(to->events));
	for (size_t i = 0; i < from->without.n; i++)
		vec_push(&to->without, from->without.at[i]);
	for (size_t i = 0; i < from->managers.n; i++)
		vec_push(&to->managers, from->managers.at[i]);
	for (size_t i = 0; i < from->events.n; i++) {
		struct schedule_event ev = from->events.at[i];

		memset(&ev.nodes, 0, sizeof(ev.nodes));
		for (size_t k = 0; k < from->events.at[i].nodes.n; k++)
			vec_push(&ev.nodes, from->events.at[i].nodes.at[k]);
		vec_push(&to->events, ev);
	}
}

void schedule_free(struct schedule *s)
{
	for (size_t i = 0; i < s->events.n; i++)
		vec_free(&s->events.at[i].nodes);
	vec_free(&s->events);
	vec_free(&s->managers);
	vec_free(&s->without);
	free(s->kind);
	free(s->netlist);
	schedule_init(s);
}

void schedule_event_remove(struct schedule *s, size_t i)
{
	vec_free(&s->events.at[i].nodes);
	memmove(&s->events.at[i], &s->events.at[i + 1],
		(s->events.n - i - 1) * sizeof(*s->events.at));
	s->events.n--;
}

void schedule_manager_remove(struct schedule *s, unsigned index)
{
	memmove(&s->managers.at[index], &s->managers.at[index + 1],
		(s->managers.n - index - 1) * sizeof(*s->managers.at));
	s->managers.n--;
	for (size_t i = s->events.n; i--;) {
		struct schedule_event *ev = &s->events.at[i];

		if (!strchr(schedule_words[ev->kind].operands, 'M'))
			continue;
		if (ev->manager == index)
			schedule_event_remove(s, i);
		else if (ev->manager > index)
			ev->manager--;
	}
}

static struct fab *load_netlist(const char *path, struct err *e)
{
	struct fab_netlist net;
	struct fab *f;

	if (fab_netlist_load(&net, path, e))
		return NULL;
	f = net.fab;
	net.fab = NULL;
	fab_netlist_free(&net);
	return f;
}

/* What devices show: HCAs with virtual functions are switches with a CA for each function. */
static struct fab *make_devices(const struct schedule *s, struct err *e)
{
	struct fab *f = s->netlist ? load_netlist(s->netlist, e) : fab_generate(&s->gen, e), *wire;

	if (!f || !fab_is_virtual(f))
		return f;
	wire = fab_devices(f, e);
	fab_free(f);
	return wire;
}

struct fab *schedule_fabric_with(const struct fab *f, const struct schedule_event *add)
{
	struct fab_builder *b = fab_builder_from(f);
	node_id n = fab_add_node(b, (enum iba_node_type)add->type, add->port.guid, add->port.port,
				 add->name);

	fab_builder_node(b, n)->flags = FAB_LATER;
	for (unsigned i = 0; i <= add->port.port; i++) {
		struct fab_port *p = fab_builder_port(b, n, i);

		p->width = 4;
		p->speed = FAB_QDR;
		if (i && add->type != IBA_NODE_SWITCH)
			p->guid = add->port.guid + i;
	}
	return fab_build(b);
}

static struct fab *with_added(const struct schedule *s, struct fab *f)
{
	for (size_t i = 0; f && i < s->events.n; i++)
		if (s->events.at[i].kind == SCHEDULE_ADD) {
			struct fab *more = schedule_fabric_with(f, &s->events.at[i]);

			fab_free(f);
			f = more;
		}
	return f;
}

struct fab *schedule_fabric(const struct schedule *s, struct err *e)
{
	struct fab *all = make_devices(s, e), *f;
	bool *gone;

	if (!all || !s->without.n)
		return with_added(s, all);
	gone = mem_zarray(all->nnodes, sizeof(*gone));
	for (size_t i = 0; i < s->without.n; i++) {
		node_id n = fab_node_by_guid(all, s->without.at[i]);

		if (n != FAB_NONE)
			gone[n] = true;
	}
	f = lab_without(all, gone);
	free(gone);
	fab_free(all);
	return with_added(s, f);
}
