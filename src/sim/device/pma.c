/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The performance management agent of every node (IBA 16.1): ClassPortInfo, PortCounters,
 * PortCountersExtended and PortExtendedSpeedsCounters. State: none of its own, the counters are port_counters.c's. Way in:
 * pma_answer(). Does not have samples, or counters by VL, SL or cause: it refuses them.
 */
#include "sim/device/device_priv.h"

enum { ALL_PORTS = 0xff };

/* One counter in an attribute: its offset and size in the host struct, its width, and its bit in
 * CounterSelect; bits from 16 on are those of CounterSelect2. */
struct place {
	uint16_t offset;
	uint8_t size, bits, select;
	enum sim_counter counter;
};

#define PLACE(stem, field, bits, select, counter)                                                  \
	{                                                                                          \
		offsetof(struct iba_##stem, field), sizeof(((struct iba_##stem *)0)->field), bits, \
			select, counter                                                            \
	}
#define NARROW(field, bits, select, counter) PLACE(port_counters, field, bits, select, counter)
#define WIDE(field, select, counter)	     PLACE(port_counters_ext, field, 64, select, counter)
#define LANE(field, select, counter)                                                               \
	{                                                                                          \
		offsetof(struct iba_ext_speeds_counters, field), 4, 32, select, counter            \
	}

static const struct place narrow[] = {
	NARROW(symbol_error, 16, 0, SIM_CNT_SYMBOL_ERROR),
	NARROW(link_recovery, 8, 1, SIM_CNT_LINK_RECOVERY),
	NARROW(link_downed, 8, 2, SIM_CNT_LINK_DOWNED),
	NARROW(rcv_errors, 16, 3, SIM_CNT_RCV_ERRORS),
	NARROW(rcv_remote_phys, 16, 4, SIM_CNT_RCV_REMOTE_PHYS),
	NARROW(rcv_switch_relay, 16, 5, SIM_CNT_RCV_SWITCH_RELAY),
	NARROW(xmit_discards, 16, 6, SIM_CNT_XMIT_DISCARDS),
	NARROW(xmit_constraint, 8, 7, SIM_CNT_XMIT_CONSTRAINT),
	NARROW(rcv_constraint, 8, 8, SIM_CNT_RCV_CONSTRAINT),
	NARROW(local_integrity, 4, 9, SIM_CNT_LOCAL_INTEGRITY),
	NARROW(buffer_overrun, 4, 10, SIM_CNT_BUFFER_OVERRUN),
	NARROW(vl15_dropped, 16, 11, SIM_CNT_VL15_DROPPED),
	NARROW(xmit_data, 32, 12, SIM_CNT_XMIT_DATA),
	NARROW(rcv_data, 32, 13, SIM_CNT_RCV_DATA),
	NARROW(xmit_pkts, 32, 14, SIM_CNT_XMIT_PKTS),
	NARROW(rcv_pkts, 32, 15, SIM_CNT_RCV_PKTS),
	NARROW(xmit_wait, 32, 16, SIM_CNT_XMIT_WAIT),
};

static const struct place wide[] = {
	WIDE(xmit_data, 0, SIM_CNT_XMIT_DATA),
	WIDE(rcv_data, 1, SIM_CNT_RCV_DATA),
	WIDE(xmit_pkts, 2, SIM_CNT_XMIT_PKTS),
	WIDE(rcv_pkts, 3, SIM_CNT_RCV_PKTS),
	WIDE(uni_xmit, 4, SIM_CNT_UNI_XMIT),
	WIDE(uni_rcv, 5, SIM_CNT_UNI_RCV),
	WIDE(multi_xmit, 6, SIM_CNT_MULTI_XMIT),
	WIDE(multi_rcv, 7, SIM_CNT_MULTI_RCV),
	WIDE(symbol_error, 16, SIM_CNT_SYMBOL_ERROR),
	WIDE(link_recovery, 17, SIM_CNT_LINK_RECOVERY),
	WIDE(link_downed, 18, SIM_CNT_LINK_DOWNED),
	WIDE(rcv_errors, 19, SIM_CNT_RCV_ERRORS),
	WIDE(rcv_remote_phys, 20, SIM_CNT_RCV_REMOTE_PHYS),
	WIDE(rcv_switch_relay, 21, SIM_CNT_RCV_SWITCH_RELAY),
	WIDE(xmit_discards, 22, SIM_CNT_XMIT_DISCARDS),
	WIDE(xmit_constraint, 23, SIM_CNT_XMIT_CONSTRAINT),
	WIDE(rcv_constraint, 24, SIM_CNT_RCV_CONSTRAINT),
	WIDE(local_integrity, 25, SIM_CNT_LOCAL_INTEGRITY),
	WIDE(buffer_overrun, 26, SIM_CNT_BUFFER_OVERRUN),
	WIDE(vl15_dropped, 27, SIM_CNT_VL15_DROPPED),
	WIDE(xmit_wait, 28, SIM_CNT_XMIT_WAIT),
};

/* Bits of CounterSelect: two counters of the port, then errors, corrected and uncorrected blocks of twelve lanes. */
static const struct place quality[] = {
	LANE(lane_corrected, 14, SIM_CNT_FEC_CORRECTED),
	LANE(lane_uncorrected, 26, SIM_CNT_FEC_UNCORRECTED),
};

/* ---- the ports a request is about ---- */

struct range {
	struct sim *s;
	port_id first, last;
};

static bool ports_of(struct sim *s, node_id n, unsigned select, struct range *r)
{
	const struct fab_node *fn = &s->fab->nodes[n];
	unsigned least = sim_is_switch(s, n) ? 0 : 1;

	*r = (struct range){s, fn->first_port + least, fn->first_port + fn->nports};
	if (select == ALL_PORTS)
		return true;
	r->first = r->last = fn->first_port + select;
	return select >= least && select <= fn->nports;
}

static uint64_t sum(const struct range *r, enum sim_counter c)
{
	uint64_t total = 0;

	for (port_id p = r->first; p <= r->last; p++) {
		uint64_t v = sim_counted(r->s, p, c);

		total = v > UINT64_MAX - total ? UINT64_MAX : total + v;
	}
	return total;
}

/* ---- counters out of and into an attribute's host struct ---- */

static void fill(const struct range *r, const struct place *t, size_t n, void *host)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = sum(r, t[i].counter), most = UINT64_MAX >> (64 - t[i].bits);

		v = MIN(v, most); /* counters stop at their maximum (IBA 16.1.3.5) */
		memcpy((uint8_t *)host + t[i].offset, &v, t[i].size);
	}
}

static void take(const struct range *r, const struct place *t, size_t n, const void *host,
		 uint64_t select)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;

		if (!(select >> t[i].select & 1))
			continue;
		memcpy(&v, (const uint8_t *)host + t[i].offset, t[i].size);
		for (port_id p = r->first; p <= r->last; p++)
			r->s->dev.counters[p].c[t[i].counter] = v;
	}
}

/* ---- attributes: each returns a MAD status and replaces the request's data by the response's
 * ---- */

/* IBA_PERF2_EXT_ERRORS is supported but, unless asked for, not announced: libumad2sim copies only the first 224
 * bytes of a MAD, so that a program would read VL15Dropped and PortXmitWait from uninitialised
 * memory. */
static unsigned class_port_info(struct sim *s, node_id n, bool set, uint8_t *data)
{
	struct iba_class_port_info v = {.base_version = 1,
					.class_version = 1,
					.cap_mask = IBA_PERF_ALL_PORTS | IBA_PERF_EXT_WIDTH |
						    IBA_PERF_XMIT_WAIT,
					.resp_time = s->cfg.resp_time};

	if (set) /* no traps and no redirection: there is nothing to set */
		return IBA_STATUS_BAD_METHOD_ATTR;
	if (sim_agent(s, n) == SIM_AGENT_NARROW)
		v.cap_mask = IBA_PERF_ALL_PORTS;
	if (sim_agent(s, n) == SIM_AGENT_FULL)
		v.cap_mask2 = IBA_PERF2_EXT_ERRORS;
	iba_class_port_info_put(&v, data);
	return IBA_STATUS_OK;
}

static unsigned port_counters(struct sim *s, node_id n, bool set, uint8_t *data)
{
	struct iba_port_counters v;
	struct range r;

	iba_port_counters_get(&v, data, IBA_PERF_DATA_SIZE);
	if (!ports_of(s, n, v.port_select, &r))
		return IBA_STATUS_BAD_FIELD;
	if (set)
		take(&r, narrow, ARRAY_LEN(narrow), &v,
		     (uint64_t)v.counter_select2 << 16 | v.counter_select);
	fill(&r, narrow, ARRAY_LEN(narrow), &v);
	iba_port_counters_put(&v, data);
	return IBA_STATUS_OK;
}

static unsigned port_counters_ext(struct sim *s, node_id n, bool set, uint8_t *data)
{
	struct iba_port_counters_ext v;
	struct range r;

	if (sim_agent(s, n) == SIM_AGENT_NARROW)
		return IBA_STATUS_BAD_METHOD_ATTR;
	iba_port_counters_ext_get(&v, data, IBA_PERF_DATA_SIZE);
	if (!ports_of(s, n, v.port_select, &r))
		return IBA_STATUS_BAD_FIELD;
	if (set)
		take(&r, wide, ARRAY_LEN(wide), &v,
		     (uint64_t)v.counter_select2 << 16 | v.counter_select);
	v.qp1_dropped = 0;
	fill(&r, wide, ARRAY_LEN(wide), &v);
	iba_port_counters_ext_put(&v, data);
	return IBA_STATUS_OK;
}

static unsigned ext_speeds_counters(struct sim *s, node_id n, bool set, uint8_t *data)
{
	struct iba_ext_speeds_counters v;
	struct range r;

	if (sim_agent(s, n) != SIM_AGENT_FULL)
		return IBA_STATUS_BAD_METHOD_ATTR;
	iba_ext_speeds_counters_get(&v, data, IBA_PERF_DATA_SIZE);
	if (!ports_of(s, n, v.port_select, &r))
		return IBA_STATUS_BAD_FIELD;
	if (set)
		take(&r, quality, ARRAY_LEN(quality), &v, v.counter_select);
	v = (struct iba_ext_speeds_counters){.port_select = v.port_select,
					     .counter_select = v.counter_select};
	fill(&r, quality, ARRAY_LEN(quality), &v);
	iba_ext_speeds_counters_put(&v, data);
	return IBA_STATUS_OK;
}

static const struct {
	uint16_t attr_id;
	unsigned (*answer)(struct sim *s, node_id n, bool set, uint8_t *data);
} attributes[] = {
	{IBA_PERF_PORT_COUNTERS, port_counters},
	{IBA_PERF_PORT_COUNTERS_EXT, port_counters_ext},
	{IBA_PERF_EXT_SPEEDS_COUNTERS, ext_speeds_counters},
	{IBA_PERF_CLASS_PORT_INFO, class_port_info},
};

unsigned pma_answer(struct sim *s, node_id n, uint8_t *mad)
{
	unsigned method = iba_smp_method(mad);

	if (iba_smp_base_version(mad) != 1 || iba_smp_class_version(mad) != 1)
		return IBA_STATUS_BAD_VERSION;
	if (method != IBA_GET && method != IBA_SET)
		return IBA_STATUS_BAD_METHOD;
	for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
		if (attributes[i].attr_id == iba_smp_attr_id(mad))
			return attributes[i].answer(s, n, method == IBA_SET, iba_smp_data(mad));
	return IBA_STATUS_BAD_METHOD_ATTR;
}
