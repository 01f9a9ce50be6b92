/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The devices and ports that are read, from the manager's snapshot. State: the devices of struct perf. Way in:
 * perf_devices_update(), with each new snapshot. A device that leaves the subnet is kept for an hour: its counters and
 * samples are there when it returns. Sends nothing.
 */
#include "perf/perf_priv.h"

enum { KEPT_S = 3600 };

struct perf_port *perf_port_find(const struct perf *p, uint64_t guid, unsigned port,
				 const struct perf_device **of)
{
	uint32_t i = map64_get(&p->by_guid, guid);

	if (i == MAP_NONE || !port || port > p->devices.at[i].nports)
		return NULL;
	if (of)
		*of = &p->devices.at[i];
	return &p->devices.at[i].ports[port - 1];
}

bool perf_port_wanted(const struct perf_port *q)
{
	return q->lid && (q->linked || q->isolated);
}

size_t perf_port_bytes(bool day)
{
	return sizeof(struct perf_port) +
	       (PERF_SLOTS + (day ? PERF_MINUTES : 0)) * sizeof(uint64_t);
}

/* ---- a device comes and goes ---- */

static void device_free(struct perf *p, uint32_t i)
{
	struct perf_device *d = &p->devices.at[i];

	perf_queries_drop(p, i);
	for (unsigned k = 0; k < d->nports; k++) {
		struct perf_port *q = &d->ports[k];

		p->st.sick -= q->sick;
		p->st.saturated -= q->saturated != 0;
		if (!q->order_port)
			continue;
		p->st.isolated--; /* what is not watched any more is not isolated for ever */
		perf_tell(p, &(struct perf_event){.kind = PERF_REINSTATE,
						  .guid = q->order_guid,
						  .port = q->order_port,
						  .peer = q->peer,
						  .peer_port = q->peer_port});
	}
	p->st.silent -= d->silent;
	map64_del(&p->by_guid, d->guid);
	p->held -= d->nports;
	p->st.bytes -= d->nports * perf_port_bytes(d->with_day);
	free(d->ports);
	free(d->samples);
	*d = (struct perf_device){0};
	vec_push(&p->places, i);
}

static uint32_t place(struct perf *p)
{
	if (p->places.n)
		return p->places.at[--p->places.n];
	vec_push(&p->devices, (struct perf_device){0});
	return (uint32_t)p->devices.n - 1;
}

static void ports_init(const struct perf_device *d, unsigned each)
{
	for (unsigned k = 0; k < d->nports; k++) {
		struct perf_port *q = &d->ports[k];

		q->num = (uint8_t)(k + 1);
		q->read_narrow = q->read_wide = q->read_quality = q->sick_at = q->calm_at =
			PERF_NEVER;
		q->hour.at = d->samples + (size_t)k * each;
		q->day.at = d->with_day ? q->hour.at + PERF_SLOTS : NULL;
	}
}

/* PERF_NOBODY: there are too many ports. */
static uint32_t device_new(struct perf *p, const struct fab_node *n)
{
	unsigned each = PERF_SLOTS + (p->cfg.day ? PERF_MINUTES : 0);
	struct perf_device *d;
	uint32_t i;

	if (p->held + n->nports > PERF_PORTS)
		return PERF_NOBODY;
	i = place(p);
	d = &p->devices.at[i];
	*d = (struct perf_device){.guid = n->guid,
				  .nports = n->nports,
				  .is_switch = n->type == IBA_NODE_SWITCH,
				  .used = true,
				  .with_day = p->cfg.day,
				  .gone = PERF_NEVER};
	d->ports = mem_zarray(n->nports, sizeof(*d->ports));
	d->samples = mem_zarray((size_t)n->nports * each, sizeof(*d->samples));
	ports_init(d, each);
	p->held += n->nports;
	p->st.bytes += n->nports * perf_port_bytes(d->with_day);
	map64_put(&p->by_guid, n->guid, i);
	return i;
}

/* A GUID with other ports, or days that are to be kept or not: another one. */
static uint32_t device_of(struct perf *p, const struct fab_node *n)
{
	uint32_t i = map64_get(&p->by_guid, n->guid);

	if (i != MAP_NONE && p->devices.at[i].nports == n->nports &&
	    p->devices.at[i].with_day == p->cfg.day)
		return i;
	if (i != MAP_NONE)
		device_free(p, i);
	return device_new(p, n);
}

/* ---- from the snapshot ---- */

/* Data bits a second of the link at this port; 0: not known. From FDR on, errors may be corrected. */
static uint64_t rate_of(const struct sm *sm, uint64_t guid, unsigned port, bool *corrects)
{
	static const enum fab_speed slow[16] = {[1] = FAB_SDR, [2] = FAB_DDR, [4] = FAB_QDR};
	static const enum fab_speed fast[16] = {
		[1] = FAB_FDR, [2] = FAB_EDR, [4] = FAB_HDR, [8] = FAB_NDR};
	static const uint8_t lanes[32] = {[IBA_WIDTH_1X] = 1,
					  [IBA_WIDTH_2X] = 2,
					  [IBA_WIDTH_4X] = 4,
					  [IBA_WIDTH_8X] = 8,
					  [IBA_WIDTH_12X] = 12};
	struct iba_port_info pi;

	*corrects = false;
	if (!sm_port_info(sm, guid, port, &pi))
		return 0;
	*corrects = pi.speed_ext_active != 0;
	return lanes[pi.width_active & 31] * fab_lane_bps(fast[pi.speed_ext_active & 15]
								  ? fast[pi.speed_ext_active & 15]
								  : slow[pi.speed_active & 15]);
}

static void port_update(struct perf *p, const struct sm *sm, struct perf_device *d, port_id at)
{
	const struct fab *f = sm_fabric(sm);
	const struct fab_port *fp = &f->ports[at];
	struct perf_port *q = &d->ports[fp->num - 1];
	port_id sw = fab_port_id(f, fp->node, 0);

	q->linked = fp->peer != FAB_NONE;
	if (!q->linked)
		return; /* an isolated one keeps what was known */
	p->nports++;
	q->lid = d->is_switch ? f->ports[sw].lid : fp->lid;
	q->bps = rate_of(sm, d->guid, fp->num, &q->corrects);
	q->peer = f->nodes[f->ports[fp->peer].node].guid;
	q->peer_port = f->ports[fp->peer].num;
	q->peer_is_switch = fab_is_switch(f, f->ports[fp->peer].node);
	if (!d->lid)
		d->lid = q->lid;
}

static void node_update(struct perf *p, const struct sm *sm, node_id n)
{
	const struct fab *f = sm_fabric(sm);
	uint32_t i = device_of(p, &f->nodes[n]);
	struct perf_device *d;

	if (i == PERF_NOBODY)
		return;
	d = &p->devices.at[i];
	d->lid = fab_is_switch(f, n) ? f->ports[fab_port_id(f, n, 0)].lid : 0;
	d->seen = p->snapshot;
	d->gone = PERF_NEVER;
	for (unsigned k = 1; k <= d->nports; k++)
		port_update(p, sm, d, fab_port_id(f, n, k));
	if (d->lid)
		vec_push(&p->order, i);
}

static void others_go(struct perf *p)
{
	for (uint32_t i = 0; i < p->devices.n; i++) {
		struct perf_device *d = &p->devices.at[i];

		if (!d->used || d->seen == p->snapshot)
			continue;
		if (d->gone == PERF_NEVER)
			d->gone = p->now;
		p->st.silent -= d->silent;
		d->silent = false;
		for (unsigned k = 0; k < d->nports; k++)
			d->ports[k].linked = false;
		d->next = UINT32_MAX;
		if (p->now > d->gone + KEPT_S * US_PER_S)
			device_free(p, i);
	}
}

/* Service levels from the manager's own port. */
static void sls_update(struct perf *p, const struct sm *sm, const struct fab *f)
{
	const uint8_t *sls = NULL;
	uint32_t top = 0;

	free(p->sls);
	p->sls = NULL;
	p->sls_number = sm_sls_number(sm);
	for (port_id at = 0; at < f->nports && p->own_lid && !sls; at++) {
		const struct fab_port *q = &f->ports[at];
		bool own = fab_is_switch(f, q->node);

		if (q->lid != p->own_lid || (!own && q->peer == FAB_NONE))
			continue;
		sls = sm_sls_from(sm, f->nodes[own ? q->node : f->ports[q->peer].node].guid,
				  own ? 0 : f->ports[q->peer].num, &top);
		break;
	}
	if (!sls)
		return;
	p->sls = mem_array(top + 1, 1);
	memcpy(p->sls, sls, top + 1);
	p->top_lid = top;
}

void perf_devices_update(struct perf *p, const struct sm *sm, const struct sm_standing *st)
{
	const struct fab *f = sm_fabric(sm);

	if (!f || (p->has_snapshot && p->snapshot == st->snapshot && p->own_lid == st->lid)) {
		if (f && p->sls_number != sm_sls_number(sm))
			sls_update(p, sm, f);
		return;
	}
	p->snapshot = st->snapshot;
	p->has_snapshot = true;
	p->own_lid = st->lid;
	p->order.n = 0;
	p->nports = 0;
	for (node_id n = 0; n < f->nnodes; n++)
		node_update(p, sm, n);
	others_go(p);
	sls_update(p, sm, f);
	perf_queue_resize(p);
}

void perf_devices_free(struct perf *p)
{
	for (uint32_t i = 0; i < p->devices.n; i++)
		if (p->devices.at[i].used)
			device_free(p, i);
	vec_free(&p->devices);
	vec_free(&p->places);
	vec_free(&p->order);
	map64_free(&p->by_guid);
	free(p->sls);
}
