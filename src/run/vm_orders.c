/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about virtual machines between the control socket and the manager. State: struct run_vm_orders, with the lines
 * that are not answered yet. Ways in: run_vm_orders_add(), run_vm_orders_result(). Parses nothing and renders no member:
 * control_vm.c does.
 */
#include "run/vm_orders.h"

#include "run/control_priv.h"

/* ---- lines that have ended ---- */

static void order_free(struct run_vm_order *x)
{
	free(x->items);
	free(x);
}

static void order_reply(struct run_vm_orders *o, const struct run_vm_order *x)
{
	const struct sm *sm = o->call.sm(o->call.ctx);
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	if (x->many) {
		json_bool(&j, "ok", true);
		json_open(&j, "results", '[');
	}
	for (size_t i = 0; i < x->n; i++) {
		if (x->many)
			json_open(&j, NULL, '{');
		ctl_vm_members(&j, sm, &x->items[i].req, &x->items[i].res);
		if (x->many)
			json_close(&j);
	}
	if (x->many)
		json_close(&j);
	json_close(&j);
	o->call.reply(o->call.ctx, x->ticket, &j.out);
}

/* The next requests must not take a place of which the state file says that another VM has it. */
static void manager_goes_on(struct run_vm_orders *o, uint64_t saved)
{
	if (!o->waits || !o->flushed || o->waits_for > saved)
		return;
	o->waits = o->flushed = false;
	o->call.all_saved(o->call.ctx);
}

/* In the order in which they arrived, so that a client sees its own answers in time. */
void run_vm_orders_saved(struct run_vm_orders *o)
{
	uint64_t saved = o->call.saved(o->call.ctx);
	size_t kept = 0;

	for (size_t i = 0; i < o->orders.n; i++) {
		struct run_vm_order *x = o->orders.at[i];

		if (x->open || x->saved_at > saved) {
			o->orders.at[kept++] = x;
			continue;
		}
		order_reply(o, x);
		order_free(x);
	}
	o->orders.n = kept;
	manager_goes_on(o, saved);
}

/* ---- results ---- */

static void on_timer(uv_timer_t *t);

/* At the next turn of the loop: requests go to the manager, answers to clients. */
static void due(struct run_vm_orders *o)
{
	uv_timer_start(&o->timer, on_timer, 0, 0);
}

static struct run_vm_order *order_of(const struct run_vm_orders *o, uint32_t token)
{
	size_t low = 0, high = o->orders.n;

	while (low < high) { /* tokens may wrap */
		size_t mid = low + (high - low) / 2;
		const struct run_vm_order *x = o->orders.at[mid];

		if ((int32_t)(token - x->token) < 0)
			high = mid;
		else if (token - x->token >= x->n)
			low = mid + 1;
		else
			return o->orders.at[mid];
	}
	return NULL;
}

static void count(struct run_vm_totals *t, const struct run_vm_item *x)
{
	if (x->res.rc)
		t->refused[x->req.op]++;
	else
		t->done[x->req.op]++;
	t->smps_hypervisors += x->res.smps_hypervisors;
	t->smps_tables += x->res.smps_tables;
}

static void item_end(struct run_vm_orders *o, struct run_vm_order *x, struct run_vm_item *i)
{
	i->ended = true;
	x->open--;
	o->open--;
	count(&o->totals, i);
	run_vm_log(o->log, o->call.sm(o->call.ctx), &i->req, &i->res);
	if (!x->open)
		x->saved_at = o->call.changed(o->call.ctx);
}

void run_vm_orders_result(struct run_vm_orders *o, const struct sm_vm_result *r)
{
	struct run_vm_order *x = order_of(o, r->token);
	struct run_vm_item *i = x ? &x->items[r->token - x->token] : NULL;

	if (!i || i->ended)
		return;
	i->res = *r;
	item_end(o, x, i);
	o->waits |= !r->rc;
	o->flushed &= r->rc != 0; /* this one is not among those yet */
	if (!x->open || o->waits)
		due(o);
}

static void refuse(struct run_vm_orders *o, struct run_vm_order *x, struct run_vm_item *i, int rc,
		   const char *why)
{
	i->res = (struct sm_vm_result){.token = i->req.token, .rc = rc};
	snprintf(i->res.why, sizeof(i->res.why), "%s", why);
	item_end(o, x, i);
}

static void refuse_all(struct run_vm_orders *o, bool sent, const char *why)
{
	for (size_t i = 0; i < o->orders.n; i++) {
		struct run_vm_order *x = o->orders.at[i];

		for (size_t k = 0; k < x->n; k++)
			if (!x->items[k].ended && x->items[k].sent == sent)
				refuse(o, x, &x->items[k], -ENOTCONN, why);
	}
}

/* ---- to the manager ---- */

static void submit(struct run_vm_orders *o)
{
	VEC(struct sm_vm_request) all = {0};

	for (size_t i = 0; i < o->orders.n; i++)
		for (size_t k = 0; k < o->orders.at[i]->n; k++) {
			struct run_vm_item *x = &o->orders.at[i]->items[k];

			if (x->sent || x->ended)
				continue;
			x->sent = true;
			vec_push(&all, x->req);
		}
	if (all.n && !o->call.submit(o->call.ctx, all.at, all.n))
		refuse_all(o, true, "not connected to a fabric");
	vec_free(&all);
}

static void on_timer(uv_timer_t *t)
{
	struct run_vm_orders *o = t->data;

	submit(o);
	if (o->waits && !o->flushed) {
		o->waits_for = o->call.changed(o->call.ctx);
		o->flushed = true;
	}
	run_vm_orders_saved(o);
}

int run_vm_orders_check(const struct run_vm_orders *o, size_t n, struct err *e)
{
	if (o->open + n <= RUN_VMS_MOST)
		return 0;
	return err_set(e, -EBUSY, "%zu requests about VMs wait already: at most %d at a time",
		       o->open, RUN_VMS_MOST);
}

void run_vm_orders_add(struct run_vm_orders *o, uint64_t ticket, const struct run_vm_ask *asks,
		       size_t n, bool many)
{
	struct run_vm_order *x = mem_zalloc(sizeof(*x));

	*x = (struct run_vm_order){.ticket = ticket,
				   .token = o->token,
				   .n = n,
				   .open = n,
				   .many = many,
				   .items = mem_zarray(n, sizeof(*x->items))};
	o->token += (uint32_t)n;
	o->open += n;
	vec_push(&o->orders, x);
	for (size_t i = 0; i < n; i++) {
		x->items[i].req = asks[i].req;
		x->items[i].req.token = x->token + (uint32_t)i;
		if (asks[i].why[0])
			refuse(o, x, &x->items[i], -EINVAL, asks[i].why);
	}
	due(o);
}

/* ---- begin and end ---- */

void run_vm_orders_lost(struct run_vm_orders *o)
{
	refuse_all(
		o, true,
		"the connection to the fabric is lost; 'weft vm list' shows whether this was carried "
		"out");
	due(o);
}

void run_vm_orders_init(struct run_vm_orders *o, uv_loop_t *loop, struct run_log *log,
			const struct run_vm_calls *call)
{
	*o = (struct run_vm_orders){.log = log, .call = *call, .token = 1};
	uv_timer_init(loop, &o->timer);
	o->timer.data = o;
}

void run_vm_orders_free(struct run_vm_orders *o)
{
	for (size_t i = 0; i < o->orders.n; i++)
		order_free(o->orders.at[i]);
	vec_free(&o->orders);
}
