/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated run as one JSON object (docs/json.md). Keeps no state. Way in: sim_report_json(). Does
 * not run anything.
 */
#include "cli/sim_report.h"
#include "cli/change_report.h"
#include "cli/cli.h"
#include "cli/given_tables_opts.h"
#include "cli/managers_report.h"
#include "cli/thesis_report.h"
#include "sim/kernel/sim_kernel.h"

static void json_smps(struct json *j, const struct lab_sum *s, bool change)
{
	struct sim_figure at[SIM_FIGURES];
	unsigned n = sim_change_smps(s, at);

	json_open(j, "smps", '{');
	for (unsigned i = 0; i < n; i++)
		json_u64(j, i || change ? at[i].key : "sweep", at[i].value);
	json_close(j);
}

static void json_method(struct json *j, const char *key, const uint64_t n[LAB_ATTRS])
{
	uint64_t all = 0;

	json_open(j, key, '{');
	for (uint16_t a = 0; a < LAB_ATTRS; a++) {
		all += n[a];
		if (iba_layout_by_attr(a))
			json_u64(j, iba_layout_by_attr(a)->name, n[a]);
	}
	json_u64(j, "total", all);
	json_close(j);
}

static void json_requests(struct json *j, const struct lab_sum *s)
{
	json_open(j, "requests", '{');
	json_method(j, "get", s->requests.get);
	json_method(j, "set", s->requests.set);
	json_close(j);
}

/* What one SMP of the discovery takes the manager, and an agent (thesis Fig. 59). */
static void json_cpu(struct json *j, const struct sim_report *r)
{
	const struct lab_sum *s = r->changed_at ? &r->change : &r->up;
	const struct lab_cpu *cpu = lab_config(r->lab)->cpu;

	json_open(j, "cpu", '{');
	json_str(j, "model", cpu->name);
	json_u64(j, "smps", s->processed);
	json_seconds(j, "sm_s", s->processed ? s->processing / s->processed : 0);
	json_seconds(j, "sma_s", cpu->sma_ps);
	json_seconds(j, "smi_s", cpu->smi_ps);
	json_close(j);
}

static void json_times(struct json *j, const struct lab_sum *s, time_ps since, bool change)
{
	struct sim_figure at[SIM_FIGURES];
	unsigned n = sim_change_times(s, since, at);

	json_open(j, "time_s", '{');
	for (unsigned i = 0; i < n; i++)
		if (change || (strcmp(at[i].key, "detection") && strcmp(at[i].key, "provisional") &&
			       strcmp(at[i].key, "final")))
			json_seconds(j, at[i].key, at[i].value);
	json_close(j);
}

static void json_net(struct json *j, const struct sim_report *r)
{
	const struct sim_stats *s = sim_stats(lab_sim(r->lab));

	json_open(j, "net", '{');
	json_u64(j, "sent", s->sent);
	json_u64(j, "delivered", s->delivered);
	json_u64(j, "delivered_bytes", s->delivered * IBA_MAD_SIZE);
	json_u64(j, "hops", s->hops);
	json_u64(j, "traps", s->traps);
	json_u64(j, "delayed", s->delayed);
	json_u64(j, "duplicated", s->duplicated);
	json_u64(j, "in_flight", s->in_flight);
	json_open(j, "dropped", '{');
	for (unsigned i = 0; i < SIM_NDROPS; i++)
		json_u64(j, sim_drop_name((enum sim_drop)i), s->dropped[i]);
	json_close(j);
	json_close(j);
}

/* Shares of all entries that there are: those that changed, those that were sent (thesis Table 10). */
static void json_tables(struct json *j, const struct sim_report *r)
{
	const struct rt_tables *t = sm_tables(lab_sm(r->lab));
	uint64_t switches = t ? t->nswitches : 0, all = switches * r->v.lids;
	uint64_t room = t ? switches * t->stride : 0, sent = r->change.sent_blocks * IBA_LFT_BLOCK;

	json_open(j, "tables", '{');
	json_u64(j, "blocks_sent", r->change.sent_blocks);
	json_u64(j, "entries", all);
	json_u64(j, "entries_changed", r->change.entries);
	json_fixed(j, "changed", all ? r->change.entries * 1000000 / all : 0, 6);
	json_fixed(j, "sent", room ? sent * 1000000 / room : 0, 6);
	json_close(j);
}

static void json_change(struct json *j, const struct sim_report *r)
{
	json_open(j, "change", '{');
	json_str(j, "noticed_by", r->change.rounds ? sm_cause_name(r->change.cause) : "none");
	json_u64(j, "rounds", r->change.rounds);
	json_u64(j, "restarts", r->change.restarts);
	json_smps(j, &r->change, true);
	json_requests(j, &r->change);
	json_times(j, &r->change, r->changed_at, true);
	json_tables(j, r);
	sim_report_events(r, j);
	json_close(j);
	if (r->result) {
		json_u64(j, "lids_moved", r->lids_moved);
		thesis_report_json(r->result, j);
	}
}

static void json_lanes(struct json *j, const struct sm *sm)
{
	unsigned most, used = sm_lanes(sm, &most);

	json_open(j, "lanes", '{');
	json_u64(j, "used", used);
	json_u64(j, "most", most);
	json_close(j);
}

static void json_clients(struct json *j, const struct lab_clients_count *n)
{
	if (!n->clients)
		return;
	json_open(j, "clients", '{');
	json_u64(j, "hosts", n->clients);
	json_u64(j, "done", n->done);
	json_u64(j, "requests", n->requests);
	json_u64(j, "repeated", n->repeated);
	json_u64(j, "answers", n->answers);
	json_u64(j, "busy", n->busy);
	json_u64(j, "refused", n->refused);
	json_u64(j, "gave_up", n->gave_up);
	json_u64(j, "paths", n->paths);
	json_u64(j, "members", n->members);
	json_u64(j, "wrong_paths", n->wrong_paths);
	json_u64(j, "wrong_pairs", n->wrong_trees);
	json_seconds(j, "mean_s", n->mean_ps);
	json_seconds(j, "longest_s", n->longest_ps);
	json_close(j);
}

static void json_counts(struct json *j, const struct sim_report *r, const struct sm_status *st)
{
	json_u64(j, "held", r->held);
	json_u64(j, "released", r->released);
	json_u64(j, "retries", st->retries);
	json_u64(j, "timeouts", st->timeouts);
	json_u64(j, "late_responses", st->late);
	json_u64(j, "sweeps", st->sweeps);
}

void sim_report_json(struct sim_report *r, struct json *j, uint64_t seed)
{
	struct sm_status st;

	sm_status(lab_sm(r->lab), &st);
	json_open(j, NULL, '{');
	json_str(j, "state", sim_report_state(r));
	json_bool(j, "verified", r->v.verified);
	json_str(j, "why", r->v.why);
	json_u64(j, "nodes", r->v.nodes);
	json_u64(j, "switches", st.switches);
	json_lanes(j, lab_sm(r->lab));
	given_json(j);
	json_u64(j, "unreached", r->v.unreached);
	json_u64(j, "lids", r->v.lids);
	json_hex64(j, "sm_guid", r->fab->nodes[lab_sm_node(r->lab)].guid);
	json_u64(j, "sm_lid", st.lid);
	managers_json(j, r->lab);
	json_smps(j, &r->up, false);
	json_requests(j, &r->up);
	json_times(j, &r->up, r->up.first_start, false);
	json_cpu(j, r);
	if (r->changed_at)
		json_change(j, r);
	if (r->result && r->result->traffic_at)
		change_report_json(r, j);
	json_clients(j, &r->clients);
	json_counts(j, r, &st);
	json_net(j, r);
	json_u64(j, "events", sim_events(lab_sim(r->lab)));
	json_u64(j, "seed", seed);
	json_double(j, "wall_s", cli_wall_s() - r->wall_start);
	json_double(j, "rss_mib", cli_rss_mib());
	json_hex64(j, "trace_hash", sim_hash(lab_sim(r->lab)));
	json_close(j);
}
