/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the performance manager found, for the log. State: none. Way in: run_perf_log(). Does not act on anything.
 */
#include "run/daemon.h"

static void name_of(const struct sm *sm, uint64_t guid, char *out, size_t size)
{
	const char *name = sm && guid ? sm_node_desc(sm, guid) : "";

	if (*name)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "0x%016llx", (unsigned long long)guid);
}

void run_perf_log(struct run_log *l, const struct sm *sm, const struct perf_event *ev)
{
	static const enum log_kind kinds[PERF_NEVENTS] = {
		[PERF_SICK] = LOG_LINK_SICK,	      [PERF_WELL] = LOG_LINK_WELL,
		[PERF_ISOLATE] = LOG_LINK_ISOLATED,   [PERF_REINSTATE] = LOG_LINK_REINSTATED,
		[PERF_KEPT] = LOG_LINK_KEPT,	      [PERF_SATURATED] = LOG_COUNTER_FULL,
		[PERF_CLEARED] = LOG_COUNTER_CLEARED, [PERF_SILENT] = LOG_COUNTERS_SILENT,
		[PERF_ANSWERS] = LOG_COUNTERS_ANSWER,
	};
	char node[72], peer[72] = "", link[176], ber[16];
	struct record_value errors = LOG_U("errors", ev->errors);
	bool rated = ev->kind == PERF_SICK || ev->kind == PERF_WELL;
	bool counted = ev->kind == PERF_SATURATED || ev->kind == PERF_CLEARED;

	name_of(sm, ev->guid, node, sizeof(node));
	if (ev->kind == PERF_SILENT || ev->kind == PERF_ANSWERS) {
		log_rec(l, kinds[ev->kind], LOG_T("node", node), LOG_G("guid", ev->guid));
		return;
	}
	if (ev->peer)
		name_of(sm, ev->peer, peer, sizeof(peer));
	snprintf(link, sizeof(link), "%s port %u%s%s", node, ev->port, *peer ? " <-> " : "", peer);
	if (*peer)
		snprintf(link + strlen(link), sizeof(link) - strlen(link), " port %u",
			 ev->peer_port);
	perf_ber_text(ev->errors, ev->bits, ber);
	log_rec(l, kinds[ev->kind], LOG_T("link", link), LOG_T("node", node),
		LOG_G("guid", ev->guid), LOG_U("port", ev->port), LOG_T("peer", peer),
		LOG_G("peer_guid", ev->peer), LOG_U("peer_port", ev->peer_port),
		counted ? LOG_T("counter", perf_counter_name(ev->counter)) : LOG_NOT("counter"),
		rated ? errors : LOG_NOT("errors"),
		rated ? LOG_TIME("over_us", ev->over_us) : LOG_NOT("over_us"),
		rated ? LOG_T("ber", ber) : LOG_NOT("ber"),
		rated ? LOG_U("round", ev->round) : LOG_NOT("round"));
}
