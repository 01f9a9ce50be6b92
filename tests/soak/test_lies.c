/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager that is lied to, in simulated time: a share of what comes to it is changed, doubled, late or
 * invented, from the first SMP on or once it is up; then all is true, and the subnet must come up whole.
 * State: struct world, one a seed. Does not use sockets: liar.c tells the same lies over those.
 * usage: test_lies FIRST COUNT
 */
#include <arpa/inet.h>

#include "seeds.h"
#include "lab/forwarding_scan.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "liar.h"
#include "sim/kernel/kernel_priv.h" /* replaces the receive callback that the lab attached */
#include "sm/notes.h"

static unsigned misled; /* of a batch */

struct world {
	struct lab *lab;
	struct lies lies;
	struct port_client hook; /* the manager's own */
	struct fab *fab;
	struct lab_config cfg;
	uint16_t *lid;	 /* by port, before the lies; 0: none */
	uint64_t resync; /* every so many lies the manager reads everything again; 0: never */
};

static uint64_t now_ms(const struct world *w)
{
	return sim_now(lab_sim(w->lab)) / PS_PER_MS;
}

/* ---- between the fabric and the manager ---- */

static void to_manager(void *ctx, uint32_t to, const void *bytes, size_t len)
{
	struct world *w = ctx;
	struct ibsim_packet p;
	struct sim_smp smp = {0};

	(void)to;
	if (len != sizeof(p))
		return;
	memcpy(&p, bytes, sizeof(p));
	if (p.status)
		return; /* found no way */
	memcpy(smp.mad, p.mad, IBA_MAD_SIZE);
	smp.slid = ntohs((uint16_t)p.slid);
	w->hook.recv(w->hook.ctx, &smp);
}

static void on_late(void *ctx, uint64_t cookie)
{
	struct world *w = ctx;

	(void)cookie;
	lies_due(&w->lies, now_ms(w));
}

static void from_fabric(void *ctx, const struct sim_smp *smp)
{
	struct world *w = ctx;
	struct ibsim_packet p = {.slid = htons(smp->slid), .dlid = htons(smp->dlid)};
	size_t late = w->lies.late.n;

	memcpy(p.mad, smp->mad, IBA_MAD_SIZE);
	lies_pass(&w->lies, 0, &p, now_ms(w));
	if (w->lies.late.n > late)
		sim_call(lab_sim(w->lab), w->lies.late.at[late].due_ms * PS_PER_MS, on_late, w, 0);
}

static void come_between(struct world *w)
{
	struct sim *s = lab_sim(w->lab);

	assert(s->dev.clients.n == 1);
	w->hook = s->dev.clients.at[0];
	s->dev.clients.at[0].recv = from_fabric;
	s->dev.clients.at[0].ctx = w;
}

/* ---- one seed ---- */

/* With TRACE in the environment, what happened, on standard error. */
static void on_note(void *ctx, const struct sm_note *n)
{
	struct strbuf text = {0};

	(void)ctx;
	sm_note_text(n, NULL, &text);
	fprintf(stderr, "%14.6f ms %s: %s\n", (double)n->when / (double)PS_PER_MS,
		sm_note_name(n->kind), text.s);
	strbuf_free(&text);
}

static struct fab *draw_fabric(struct rng *r)
{
	struct fab_gen g = {
		.kind = "irregular", .ndims = 1, .ports = 4 + rng_below(r, 3), .seed = rng_u64(r)};
	struct err e;
	struct fab *f;

	g.dims[0] = 2 + rng_below(r, 11);
	f = fab_generate(&g, &e);
	if (!f)
		soak_fail("test_lies: %s", e.text);
	return f;
}

static void draw_config(struct rng *r, struct lab_config *c)
{
	unsigned n = 0;

	lab_config_default(c);
	while (sm_mechanisms[n].name)
		n++;
	c->sm.mechanism = sm_mechanisms[rng_below(r, n)];
	c->sm.window = 1 + rng_below(r, 64);
	c->sm.plain = rng_below(r, 2);
	c->sm.timeout_ps = 20 * PS_PER_MS;
	c->sm.names = rng_below(r, 2);
	c->sm.read_back = rng_below(r, 2);
	c->sm.settle = rng_below(r, 2);
	c->sim.traps = rng_below(r, 2);
	c->threads = 1;
}

/* As `weft ctl resync` has it: another manager with the LIDs of the last, which trusts no device. */
static void read_anew(struct world *w)
{
	lab_manager_stop(w->lab, 0);
	w->cfg.sm.read_back = w->cfg.sm.distrust = true;
	lab_manager_config(w->lab, 0, &w->cfg.sm);
	lab_manager_start(w->lab, 0, true);
}

/* Until the lies are all told, with a sweep now and then so that there is something to lie about. */
static void lie(struct world *w)
{
	time_ps limit = sim_now(lab_sim(w->lab)) + 600 * PS_PER_S;
	uint64_t next = w->resync ? w->lies.left - MIN(w->lies.left, w->resync) : 0;

	while (w->lies.left && sim_next(lab_sim(w->lab)) <= limit) {
		sim_step(lab_sim(w->lab));
		if (!next || w->lies.left > next)
			continue;
		read_anew(w);
		come_between(w);
		next -= MIN(next, w->resync);
	}
	w->lies.left = 0;
}

static bool comes_to_rest(struct world *w, struct seed_run *r)
{
	time_ps now = sim_now(lab_sim(w->lab));
	struct sm_status st;

	if (lab_run_settled(w->lab, now, now + 3600 * PS_PER_S))
		return true;
	sm_status(lab_sm(w->lab), &st);
	snprintf(r->why, sizeof(r->why), "does not come to rest: phase %s",
		 sm_phase_name(st.phase));
	return false;
}

/* Each LID from before the lies is the same after them. */
static void lids_read(struct world *w)
{
	w->lid = mem_array(w->fab->nports, sizeof(*w->lid));
	for (port_id p = 0; p < w->fab->nports; p++)
		w->lid[p] = sim_port_info(lab_sim(w->lab), p)->lid;
}

static bool lids_kept(struct world *w, struct seed_run *r)
{
	for (port_id p = 0; p < w->fab->nports; p++) {
		unsigned now = sim_port_info(lab_sim(w->lab), p)->lid;

		if (!w->lid[p] || w->lid[p] == now)
			continue;
		snprintf(r->why, sizeof(r->why), "port %u of %016llx had LID %u and has %u",
			 w->fab->ports[p].num,
			 (unsigned long long)w->fab->nodes[w->fab->ports[p].node].guid, w->lid[p],
			 now);
		return false;
	}
	return true;
}

/* By tables, port states and SL-to-VL mappings: some mechanisms leave turns off that no route takes. */
static bool is_connected(struct world *w, struct seed_run *r)
{
	struct lab_levels v;

	lab_levels(w->lab, &v);
	if (v.connected == v.pairs && !v.cyclic)
		return true;
	snprintf(r->why, sizeof(r->why), "%llu of %llu pairs are connected, %u links may deadlock",
		 (unsigned long long)v.connected, (unsigned long long)v.pairs, v.cyclic);
	return false;
}

static bool is_whole(struct world *w, struct seed_run *r)
{
	struct lab_verdict v;

	lab_judge(w->lab, &v);
	snprintf(r->why, sizeof(r->why), "%s", v.why);
	rt_report_free(&v.report);
	return v.active && v.verified && v.lids_unique && v.complete && lids_kept(w, r) &&
	       is_connected(w, r);
}

/* A lie that was believed and that nothing speaks against is found when all is read again. */
static void judge(struct world *w, struct seed_run *r)
{
	r->ok = comes_to_rest(w, r);
	if (!r->ok || is_whole(w, r))
		return;
	misled++;
	read_anew(w);
	r->ok = comes_to_rest(w, r) && is_whole(w, r);
}

static void run(struct seed_run *r)
{
	struct world w = {0};
	struct rng rng;
	struct err e;

	rng_seed(&rng, r->seed, 11);
	rng_seed(&w.lies.rng, r->seed, 12);
	w.fab = draw_fabric(&rng);
	draw_config(&rng, &w.cfg);
	w.lab = lab_new(w.fab, &w.cfg, &e);
	w.lies.deliver = to_manager;
	w.lies.ctx = &w;
	w.lies.one_in = 2 + rng_below(&rng, 40);
	if (getenv("TRACE"))
		lab_on_note(w.lab, on_note, NULL);
	lab_power_on(w.lab, NULL);
	if (rng_below(&rng, 2))
		lab_run_ready(w.lab, 60 * PS_PER_S);
	lids_read(&w);
	come_between(&w);
	w.lies.left = 1 + rng_below(&rng, 5000);
	w.resync = r->seed % 2 ? 100 + rng_below(&rng, 1000) : 0;
	lie(&w);
	if (getenv("TRACE"))
		fprintf(stderr, "%14.6f ms the truth from now on\n",
			(double)sim_now(lab_sim(w.lab)) / (double)PS_PER_MS);
	judge(&w, r);
	r->hash = sim_hash(lab_sim(w.lab));
	r->size = sim_stats(lab_sim(w.lab))->sent;
	lies_free(&w.lies);
	lab_free(w.lab);
	fab_free(w.fab);
	free(w.lid);
}

static void sums(char *text, size_t len)
{
	snprintf(text, len, "%u read all again", misled);
	misled = 0;
}

int main(int argc, char **argv)
{
	static const struct seeds lies = {
		.name = "test_lies",
		.replay = NULL,
		.batch = 100,
		.again = 4,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &lies);
}
