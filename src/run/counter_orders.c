/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gets of performance management for requests of the control socket. State: struct run_counter_orders. Ways in:
 * run_counter_orders_add(), run_counter_orders_mad(), its timer. Does not look nodes up: control_node.c does.
 */
#include "run/counter_orders.h"

enum { TICK_MS = 20 };

/* ---- answers ---- */

static uint64_t value_of(const char *name, const char *stem, const void *host, bool has)
{
	const struct iba_layout *l = iba_layout_by_name(stem);

	for (unsigned i = 0; has && i < l->nfields; i++)
		if (!strcmp(l->fields[i].name, name))
			return iba_field_value(&l->fields[i], host, 0);
	return 0;
}

/* Narrow counters stop at their maximum, and old devices have no wide errors: the larger value is right. */
static void add_counters(struct json *j, const struct run_counter_port *p)
{
	const char *stem = p->has_wide ? "port_counters_ext" : "port_counters";
	const struct iba_layout *l = iba_layout_by_name(stem);

	json_open(j, "counters", '[');
	for (unsigned i = 0; i < l->nfields; i++) {
		const char *name = l->fields[i].name;

		if (strstr(name, "_select"))
			continue;
		json_pair_u64(j, name,
			      MAX(value_of(name, "port_counters", &p->narrow, p->has_narrow),
				  value_of(name, "port_counters_ext", &p->wide, p->has_wide)));
	}
	json_close(j);
}

static void add_ports(struct json *j, const struct run_counter_order *x)
{
	json_open(j, "ports", '[');
	for (unsigned i = 0; i < x->ask.nports; i++) {
		const struct run_counter_port *p = &x->ports[i];

		if (!p->has_narrow && !p->has_wide)
			continue;
		json_open(j, NULL, '{');
		json_u64(j, "port", p->num);
		add_counters(j, p);
		json_close(j);
	}
	json_close(j);
}

static void order_end(struct run_counter_orders *o, const char *why)
{
	struct run_counter_order x = o->orders.at[0];
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_bool(&j, "ok", !why);
	if (why) {
		json_str(&j, "error", why);
	} else {
		json_hex64(&j, "guid", x.ask.guid);
		json_str(&j, "name", x.ask.name);
		add_ports(&j, &x);
	}
	json_close(&j);
	o->orders.n--;
	memmove(o->orders.at, o->orders.at + 1, o->orders.n * sizeof(*o->orders.at));
	memset(o->gets, 0, sizeof(o->gets));
	o->call.reply(o->call.ctx, x.ticket, &j.out);
	free(x.ports);
}

/* ---- Gets ---- */

static bool get_send(struct run_counter_orders *o, const struct run_counter_order *x,
		     struct run_counter_get *g)
{
	struct tp_mad m = {.slid = x->ask.slid, .dlid = x->ask.dlid, .qp = 1};
	struct iba_port_counters_ext wide = {.port_select = g->port};
	struct iba_port_counters narrow = {.port_select = g->port};

	iba_smp_init(m.mad, IBA_CLASS_PERF, IBA_GET,
		     g->wide ? IBA_PERF_PORT_COUNTERS_EXT : IBA_PERF_PORT_COUNTERS, 0);
	iba_smp_set_tid(m.mad, g->tid);
	if (g->wide)
		iba_port_counters_ext_put(&wide, m.mad + IBA_SMP_DATA_OFF);
	else
		iba_port_counters_put(&narrow, m.mad + IBA_SMP_DATA_OFF);
	g->tries++;
	g->deadline = o->call.now_ms(o->call.ctx) + RUN_COUNTERS_TIMEOUT;
	return o->call.send(o->call.ctx, &m);
}

static bool next_gets(struct run_counter_orders *o, struct run_counter_order *x)
{
	for (unsigned i = 0; i < RUN_COUNTERS_WINDOW && x->next < 2u * x->ask.nports; i++) {
		struct run_counter_get *g = &o->gets[i];

		if (g->open)
			continue;
		*g = (struct run_counter_get){.port = x->ask.ports[x->next / 2],
					      .wide = x->next % 2,
					      .open = true,
					      .tid = ++o->tid};
		x->next++;
		if (!get_send(o, x, g))
			return false;
	}
	return true;
}

static bool is_done(const struct run_counter_orders *o, const struct run_counter_order *x)
{
	for (unsigned i = 0; i < RUN_COUNTERS_WINDOW; i++)
		if (o->gets[i].open)
			return false;
	return x->next >= 2u * x->ask.nports;
}

/* NULL, or why the order ends. */
static const char *repeat_overdue(struct run_counter_orders *o, const struct run_counter_order *x)
{
	uint64_t now = o->call.now_ms(o->call.ctx);

	for (unsigned i = 0; i < RUN_COUNTERS_WINDOW; i++) {
		struct run_counter_get *g = &o->gets[i];

		if (!g->open || now < g->deadline)
			continue;
		if (g->tries >= RUN_COUNTERS_TRIES)
			return "the node does not respond to requests for its counters";
		if (!get_send(o, x, g))
			return "not connected to a fabric";
	}
	return NULL;
}

static void work(struct run_counter_orders *o)
{
	while (o->orders.n) {
		struct run_counter_order *x = &o->orders.at[0];
		const char *why = NULL;

		if (!x->began)
			x->began = o->call.now_ms(o->call.ctx);
		if (o->call.is_busy(o->call.ctx)) {
			if (o->call.now_ms(o->call.ctx) < x->began + RUN_COUNTERS_PATIENCE)
				break;
			why = "the manager works on a change; try again";
		} else if (!next_gets(o, x)) {
			why = "not connected to a fabric";
		} else {
			why = repeat_overdue(o, x);
		}
		if (!why && !is_done(o, x))
			break;
		order_end(o, why);
	}
	if (!o->orders.n)
		uv_timer_stop(&o->timer);
}

static void on_timer(uv_timer_t *t)
{
	work(t->data);
}

/* ---- responses ---- */

static struct run_counter_port *port_of(struct run_counter_order *x, uint8_t num)
{
	for (unsigned i = 0; i < x->ask.nports; i++)
		if (x->ports[i].num == num)
			return &x->ports[i];
	return NULL;
}

/* A device that does not have an attribute says so, which is an answer as well. */
static void take(struct run_counter_order *x, const struct run_counter_get *g, const uint8_t *mad)
{
	struct run_counter_port *p = port_of(x, g->port);

	if (!p || iba_smp_status(mad))
		return;
	if (g->wide)
		p->has_wide = !iba_port_counters_ext_get(&p->wide, mad + IBA_SMP_DATA_OFF,
							 IBA_PERF_DATA_SIZE);
	else
		p->has_narrow = !iba_port_counters_get(&p->narrow, mad + IBA_SMP_DATA_OFF,
						       IBA_PERF_DATA_SIZE);
}

void run_counter_orders_mad(struct run_counter_orders *o, const uint8_t *mad)
{
	uint16_t attr = iba_smp_attr_id(mad);

	if (!o->orders.n || iba_smp_method(mad) != IBA_GET_RESP)
		return;
	for (unsigned i = 0; i < RUN_COUNTERS_WINDOW; i++) {
		struct run_counter_get *g = &o->gets[i];

		if (!g->open || g->tid != (uint32_t)iba_smp_tid(mad) ||
		    attr != (g->wide ? IBA_PERF_PORT_COUNTERS_EXT : IBA_PERF_PORT_COUNTERS))
			continue;
		g->open = false;
		take(&o->orders.at[0], g, mad);
		/* Further Gets go out from the timer: not within the turn of the manager's MADs. */
		uv_timer_start(&o->timer, on_timer, 0, TICK_MS);
		return;
	}
}

/* ---- begin and end ---- */

int run_counter_orders_check(const struct run_counter_orders *o, struct err *e)
{
	if (o->orders.n < RUN_COUNTERS_WAITING)
		return 0;
	return err_set(e, -EBUSY,
		       "counters of %d other nodes are being read; try again in a moment",
		       RUN_COUNTERS_WAITING);
}

void run_counter_orders_add(struct run_counter_orders *o, uint64_t ticket,
			    const struct run_counter_ask *ask)
{
	struct run_counter_order x = {.ticket = ticket, .ask = *ask};

	x.ports = mem_zarray(MAX(ask->nports, 1u), sizeof(*x.ports));
	for (unsigned i = 0; i < ask->nports; i++)
		x.ports[i].num = ask->ports[i];
	vec_push(&o->orders, x);
	/* Not at once: the caller's line is answered after its own turn. */
	if (!uv_is_active((uv_handle_t *)&o->timer))
		uv_timer_start(&o->timer, on_timer, 0, TICK_MS);
}

void run_counter_orders_lost(struct run_counter_orders *o)
{
	while (o->orders.n)
		order_end(o, "the connection to the fabric is lost");
}

void run_counter_orders_init(struct run_counter_orders *o, uv_loop_t *loop,
			     const struct run_counter_calls *call)
{
	*o = (struct run_counter_orders){.call = *call};
	uv_timer_init(loop, &o->timer);
	o->timer.data = o;
}

void run_counter_orders_free(struct run_counter_orders *o)
{
	for (size_t i = 0; i < o->orders.n; i++)
		free(o->orders.at[i].ports);
	vec_free(&o->orders);
}
