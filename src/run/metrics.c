/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of the daemon and its manager, as OpenMetrics text. State: none; the counters are the manager's
 * and the daemon's. Way in: run_metrics(). Does not serve them: http.c and metrics_file.c do.
 *
 * Counters of the manager start at 0 with each connection: readers take that for a restart.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "run/metrics_priv.h"
#include "sm/notes.h"

void metrics_family(struct strbuf *out, const char *name, const char *type, const char *unit,
		    const char *help)
{
	strbuf_addf(out, "# TYPE weft_%s %s\n", name, type);
	if (unit)
		strbuf_addf(out, "# UNIT weft_%s %s\n", name, unit);
	strbuf_addf(out, "# HELP weft_%s %s\n", name, help);
}

void metrics_gauge(struct strbuf *out, const char *name, const char *help, uint64_t v)
{
	metrics_family(out, name, "gauge", NULL, help);
	strbuf_addf(out, "weft_%s %llu\n", name, (unsigned long long)v);
}

void metrics_counter(struct strbuf *out, const char *name, const char *help, uint64_t v)
{
	metrics_family(out, name, "counter", NULL, help);
	strbuf_addf(out, "weft_%s_total %llu\n", name, (unsigned long long)v);
}

/* Without floating point: exact. */
void metrics_seconds(struct strbuf *out, time_ps t)
{
	strbuf_addf(out, "%llu.%012llu", (unsigned long long)(t / PS_PER_S),
		    (unsigned long long)(t % PS_PER_S));
}

/* A label's value, escaped: names of devices may have any bytes. */
void metrics_label(struct strbuf *out, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		len = utf8_len(s, n);
		if (*s == '\\' || *s == '"')
			strbuf_addf(out, "\\%c", *s);
		else if (*s == '\n')
			strbuf_add(out, "\\n");
		else
			strbuf_addn(out, len ? s : "?", len ? len : 1);
		len = MAX(len, (size_t)1);
	}
}

/* ---- families ---- */

static void build_info(struct strbuf *out, const struct run_view *v)
{
	metrics_family(out, "build", "info", NULL, "Version, mechanism and port.");
	strbuf_addf(out, "weft_build_info{version=\"%s\",mechanism=\"%s\",port=\"", WEFT_VERSION,
		    v->cfg->sm.mechanism.name);
	metrics_label(out, v->port.name);
	strbuf_addf(out, "\",port_guid=\"0x%016llx\"} 1\n", (unsigned long long)v->port.port_guid);
}

static void state_set(struct strbuf *out, const struct sm_status *st, bool there)
{
	static const struct {
		const char *name;
		enum iba_sm_state state;
	} states[] = {{"not_active", IBA_SM_NOT_ACTIVE},
		      {"discovering", IBA_SM_DISCOVERING},
		      {"standby", IBA_SM_STANDBY},
		      {"master", IBA_SM_MASTER}};

	metrics_family(out, "state", "stateset", NULL, "SM state, as in SMInfo.");
	for (unsigned i = 0; i < ARRAY_LEN(states); i++)
		strbuf_addf(out, "weft_state{weft_state=\"%s\"} %d\n", states[i].name,
			    there ? st->state == states[i].state
				  : states[i].state == IBA_SM_NOT_ACTIVE);
}

static void phase_set(struct strbuf *out, const struct sm_status *st)
{
	metrics_family(out, "phase", "stateset", NULL, "Phase of the manager.");
	for (unsigned p = 0; p < SM_NPHASES; p++)
		strbuf_addf(out, "weft_phase{weft_phase=\"%s\"} %d\n", sm_phase_name(p),
			    st->phase == p);
}

static void subnet(struct strbuf *out, const struct run_view *v, const struct sm_status *st)
{
	const struct fab *f = v->sm ? sm_fabric(v->sm) : NULL;

	metrics_gauge(out, "switches", "Switches in the subnet.", st->switches);
	metrics_gauge(out, "hosts", "Channel adapters in the subnet.", f ? f->nhosts : 0);
	metrics_gauge(out, "routers", "Routers in the subnet.", f ? f->nrouters : 0);
	metrics_gauge(out, "links", "Links in the subnet.", f ? f->nlinks : 0);
	metrics_gauge(out, "lids", "LIDs assigned to ports.", st->lids);
	metrics_gauge(out, "held_ports",
		      "Ports that change state too often and are treated as Down.", st->held);
	metrics_gauge(out, "change_pending", "Whether a detected change is not completed yet.",
		      st->change_pending);
}

static void smps(struct strbuf *out, const struct sm_status *st)
{
	metrics_family(out, "smps", "counter", NULL,
		       "SMP requests sent, retries included, by purpose.");
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		strbuf_addf(out, "weft_smps_total{purpose=\"%s\"} %llu\n", sm_purpose_name(i),
			    (unsigned long long)st->smps[i]);
	metrics_counter(out, "smp_retries", "SMP requests sent again after a timeout.",
			st->retries);
	metrics_counter(out, "smp_timeouts", "SMP requests without a response after all retries.",
			st->timeouts);
	metrics_counter(out, "smps_late", "Responses that arrived after the request timed out.",
			st->late);
	metrics_counter(out, "smps_bad", "Received SMPs that were invalid.", st->bad);
	metrics_counter(out, "traps", "Traps received.", st->traps);
	metrics_counter(out, "sweeps", "Sweeps completed.", st->sweeps);
	metrics_counter(out, "sweeps_clean", "Sweeps that found no change.", st->clean_sweeps);
}

static void mirror(struct strbuf *out, const struct run_view *v)
{
	struct sm_mirror_status m = {0};

	if (v->sm)
		sm_mirror_status(v->sm, &m);
	metrics_gauge(out, "mirror_complete",
		      "Whether this standby has a whole copy of what the master knows.",
		      m.complete);
	metrics_gauge(out, "mirror_bytes", "Size of that copy.", m.bytes);
	metrics_family(out, "mirror_age_seconds", "gauge", "seconds",
		       "Time since the master last confirmed that copy.");
	strbuf_add(out, "weft_mirror_age_seconds ");
	metrics_seconds(out, m.complete ? v->now - MIN(v->now, m.confirmed_at) : 0);
	strbuf_add(out, "\n");
	metrics_gauge(out, "mirrors", "Standbys that have a copy of what this master knows now.",
		      m.mirrors);
	metrics_counter(out, "mirror_gmps", "GMPs sent to other managers.", m.gmps);
	metrics_counter(out, "mirror_gmps_bad",
			"GMPs received with a wrong SM_Key, or with invalid content.", m.gmps_bad);
}

/* Counted one by one: there may be many VMs, but this is asked for a few times a minute. */
static void vms(struct strbuf *out, const struct run_view *v)
{
	struct sm_vm vm;
	uint64_t all = 0, running = 0;

	for (; v->sm && sm_vm_get(v->sm, all, &vm); all++)
		running += vm.running;
	metrics_gauge(out, "vms", "Virtual machines.", all);
	metrics_gauge(out, "vms_running", "Virtual machines that run.", running);
	if (!v->vms)
		return;
	metrics_family(out, "vm_requests", "counter", NULL,
		       "Requests about virtual machines, by kind and result.");
	for (unsigned op = 0; op < RUN_VM_OPS; op++) {
		strbuf_addf(out, "weft_vm_requests_total{op=\"%s\",result=\"done\"} %llu\n",
			    sm_vm_op_name(op), (unsigned long long)v->vms->done[op]);
		strbuf_addf(out, "weft_vm_requests_total{op=\"%s\",result=\"refused\"} %llu\n",
			    sm_vm_op_name(op), (unsigned long long)v->vms->refused[op]);
	}
	metrics_counter(out, "vm_migrations", "Migrations of virtual machines.",
			v->vms->done[SM_VM_MIGRATE]);
	metrics_family(out, "vm_smps", "counter", NULL,
		       "SMPs that these requests took, by device.");
	strbuf_addf(out, "weft_vm_smps_total{to=\"hypervisors\"} %llu\n",
		    (unsigned long long)v->vms->smps_hypervisors);
	strbuf_addf(out, "weft_vm_smps_total{to=\"tables\"} %llu\n",
		    (unsigned long long)v->vms->smps_tables);
}

/* ---- subnet administration ---- */

static const char *const sa_results[SA_NRESULTS] = {[SA_ANSWERED] = "answered",
						    [SA_REFUSED] = "refused",
						    [SA_UNTRUSTED] = "untrusted",
						    [SA_DROPPED] = "dropped"};

static void sa_by_attribute(struct strbuf *out, const struct sa *sa)
{
	struct sa_count c;

	metrics_family(out, "sa_requests", "counter", NULL,
		       "Requests to subnet administration, by attribute and result.");
	for (size_t i = 0; sa_count_at(sa, i, &c); i++)
		for (unsigned r = 0; r < SA_NRESULTS; r++)
			strbuf_addf(out,
				    "weft_sa_requests_total{attribute=\"%s\",result=\"%s\"} %llu\n",
				    c.name, sa_results[r], (unsigned long long)c.results[r]);
}

static void sa_errors(struct strbuf *out, const struct sa_status *st)
{
	metrics_family(out, "sa_errors", "counter", NULL,
		       "Requests to subnet administration that were refused, by status.");
	for (unsigned i = 0; i < ARRAY_LEN(st->by_status); i++)
		strbuf_addf(out, "weft_sa_errors_total{status=\"%s\"} %llu\n", run_sa_refusal(i),
			    (unsigned long long)st->by_status[i]);
}

static void sa_registered(struct strbuf *out, const struct sa_status *st)
{
	metrics_gauge(out, "sa_groups", "Multicast groups.", st->groups);
	metrics_gauge(out, "sa_members", "Members of multicast groups.", st->members);
	metrics_gauge(out, "sa_services", "Services that hosts have registered.", st->services);
	metrics_gauge(out, "sa_subscriptions", "Subscriptions to notices.", st->subscriptions);
	metrics_gauge(out, "sa_aliases", "Alias GUIDs of ports.", st->aliases);
	metrics_counter(out, "sa_reports", "Notices sent to subscribers.", st->reports);
	metrics_counter(out, "sa_reports_unanswered", "Notices that subscribers did not answer.",
			st->reports_unanswered);
	metrics_gauge(out, "sa_reports_waiting", "Notices that wait for an answer.",
		      st->reports_waiting);
}

static void administration(struct strbuf *out, const struct run_view *v)
{
	struct sa_status st = {0};

	if (!v->sa)
		return;
	sa_status(v->sa, &st);
	metrics_gauge(out, "sa_serving", "Whether subnet administration answers requests.",
		      st.serving);
	sa_by_attribute(out, v->sa);
	sa_errors(out, &st);
	metrics_counter(out, "sa_responses", "Responses of subnet administration.", st.responses);
	metrics_counter(out, "sa_requests_bad", "Requests that were malformed.", st.bad);
	metrics_counter(out, "sa_requests_silent",
			"Requests not answered because this is no master.", st.silent);
	metrics_counter(out, "sa_requests_busy", "Requests answered with busy.", st.busy);
	metrics_gauge(out, "sa_transfers", "Messages in segments that are under way.",
		      st.transfers);
	metrics_family(out, "sa_transfer_bytes", "gauge", "bytes", "Size of these messages.");
	strbuf_addf(out, "weft_sa_transfer_bytes %llu\n", (unsigned long long)st.transfer_bytes);
	metrics_counter(out, "sa_transfers_failed", "Messages in segments that were given up.",
			st.transfers_failed);
	metrics_counter(out, "sa_segments", "Segments sent.", st.segments_sent);
	sa_registered(out, &st);
}

/* What happened, by the stable name of the note: link_down, node_gone, unreachable, ... */
static void notes(struct strbuf *out, const struct run_view *v)
{
	if (!v->notes)
		return;
	metrics_family(out, "notes", "counter", NULL,
		       "Notes of the manager since the start, by kind.");
	for (unsigned k = 0; k < SM_NOTE_NKINDS; k++)
		strbuf_addf(out, "weft_notes_total{note=\"%s\"} %llu\n", sm_note_name(k),
			    (unsigned long long)v->notes[k]);
}

static void last_round(struct strbuf *out, const struct sm_round *r)
{
	metrics_family(out, "round_phase_seconds", "gauge", "seconds",
		       "Duration of the last change, by phase.");
	for (unsigned p = 0; p < SM_NPHASES; p++) {
		strbuf_addf(out, "weft_round_phase_seconds{phase=\"%s\"} ", sm_phase_name(p));
		metrics_seconds(out, r->time[p]);
		strbuf_add(out, "\n");
	}
	metrics_family(out, "round_seconds", "gauge", "seconds",
		       "Duration of the last change, from detection to completion.");
	strbuf_add(out, "weft_round_seconds ");
	metrics_seconds(out, r->end - r->start);
	strbuf_add(out, "\n");
	metrics_family(out, "round_smps", "gauge", NULL,
		       "SMP requests of the last change, by purpose.");
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		strbuf_addf(out, "weft_round_smps{purpose=\"%s\"} %llu\n", sm_purpose_name(i),
			    (unsigned long long)r->smps[i]);
	metrics_gauge(out, "round_entries",
		      "Forwarding table entries that differ after the last change.", r->entries);
	metrics_gauge(out, "round_blocks", "Forwarding table blocks written by the last change.",
		      r->sent_blocks);
	metrics_gauge(out, "round_clean",
		      "Whether every request of the last change got a response.", r->clean);
}

static void daemon_itself(struct strbuf *out, const struct run_view *v)
{
	metrics_counter(out, "changes", "Changes completed since the start.",
			v->nchanges ? v->changes[v->nchanges - 1].number : 0);
	metrics_family(out, "mads", "counter", NULL, "MADs received and sent by the transport.");
	strbuf_addf(out, "weft_mads_total{direction=\"in\"} %llu\n",
		    (unsigned long long)v->mads_in);
	strbuf_addf(out, "weft_mads_total{direction=\"out\"} %llu\n",
		    (unsigned long long)v->mads_out);
	metrics_gauge(out, "mads_waiting", "MADs that the transport has not accepted yet.",
		      v->mads_waiting);
	metrics_counter(out, "reconnects", "Connections to the fabric opened after a lost one.",
			v->reconnects);
	metrics_counter(out, "routes_computed", "Route computations.", v->routes_computed);
	metrics_family(out, "compute_seconds", "counter", "seconds",
		       "Time spent computing routes.");
	strbuf_addf(out, "weft_compute_seconds_total %llu.%03llu\n",
		    (unsigned long long)(v->compute_ms / 1000),
		    (unsigned long long)(v->compute_ms % 1000));
	metrics_family(out, "uptime_seconds", "gauge", "seconds", "Time since the daemon started.");
	strbuf_addf(out, "weft_uptime_seconds %llu.%03llu\n",
		    (unsigned long long)(v->uptime_ms / 1000),
		    (unsigned long long)(v->uptime_ms % 1000));
}

static void process(struct strbuf *out)
{
	struct rusage u = {0};
	uint64_t pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f) {
		if (fscanf(f, "%*u %llu", (unsigned long long *)&pages) == 1)
			resident = pages * (uint64_t)sysconf(_SC_PAGESIZE);
		fclose(f);
	}
	getrusage(RUSAGE_SELF, &u);
	metrics_family(out, "resident_memory_bytes", "gauge", "bytes",
		       "Resident memory of the process.");
	strbuf_addf(out, "weft_resident_memory_bytes %llu\n", (unsigned long long)resident);
	metrics_family(out, "cpu_seconds", "counter", "seconds", "CPU time of the process.");
	strbuf_addf(out, "weft_cpu_seconds_total %lld.%06lld\n",
		    (long long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec +
				(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000000),
		    (long long)((u.ru_utime.tv_usec + u.ru_stime.tv_usec) % 1000000));
}

void run_metrics(const struct run_view *v, struct strbuf *out)
{
	struct sm_status st = {.phase = SM_OFF};

	if (v->sm)
		sm_status(v->sm, &st);
	build_info(out, v);
	metrics_gauge(out, "up", "Whether the manager is connected to a fabric.", v->connected);
	state_set(out, &st, v->sm != NULL);
	phase_set(out, &st);
	subnet(out, v, &st);
	smps(out, &st);
	mirror(out, v);
	notes(out, v);
	vms(out, v);
	administration(out, v);
	metrics_perf(out, v);
	last_round(out, &st.last);
	daemon_itself(out, v);
	process(out);
	strbuf_add(out, "# EOF\n");
}
