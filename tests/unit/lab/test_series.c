/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples over time: intervals add up to the run, levels follow a failure and its repair, sampling changes
 * nothing. State: one lab for each test.
 */
#include "unit_test.h"

#include "lab/series.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/traffic/sim_traffic.h"

static struct fab *ring_of_six(void)
{
	struct fab_gen g = {.kind = "ring", .dims = {6}, .ndims = 1, .width = 1, .speed = FAB_SDR};
	struct err e;
	struct fab *f = fab_generate(&g, &e);

	assert_non_null(f);
	return f;
}

static struct lab *bring_up(const struct fab *f)
{
	struct lab_config c;
	struct lab *l;
	struct err e;

	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("basic");
	c.sim.plane.on = true;
	c.sim.traps = true;
	c.threads = 1;
	l = lab_new(f, &c, &e);
	assert_non_null(l);
	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, PS_PER_S));
	return l;
}

static void send(struct lab *l, time_ps for_ps)
{
	time_ps now = sim_now(lab_sim(l));
	struct traffic_config t = {.interval_ps = 10 * PS_PER_US,
				   .payload = 256,
				   .start_ps = now,
				   .stop_ps = now + for_ps,
				   .seed = 5};
	struct err e;

	assert_int_equal(sim_traffic(lab_sim(l), &t, &e), 0);
}

TEST(intervals_add_up_to_the_run)
{
	struct fab *f = ring_of_six();
	struct lab *l = bring_up(f);
	struct lab_series s;
	uint64_t made = 0, got = 0;

	lab_series_start(&s, l, 100 * PS_PER_US, true);
	send(l, PS_PER_MS);
	lab_run_until(l, sim_now(lab_sim(l)) + 2 * PS_PER_MS);
	lab_series_stop(&s);
	assert_int_equal(s.samples.n, 20);
	for (size_t i = 0; i < s.samples.n; i++) {
		made += s.samples.at[i].generated;
		got += s.samples.at[i].delivered;
		assert_int_equal(s.samples.at[i].connectivity, 1000000);
		assert_int_equal(s.samples.at[i].deadlock, 0);
	}
	assert_int_equal(made, sim_plane_stats(lab_sim(l))->generated);
	assert_int_equal(got, made);
	assert_true(s.samples.at[3].link_use > 0 &&
		    s.samples.at[3].link_use_max > s.samples.at[3].link_use);
	assert_int_equal(s.samples.at[19].link_use, 0);
	lab_free(l);
	lab_series_free(&s);
	fab_free(f);
}

TEST(the_last_interval_may_be_shorter)
{
	struct fab *f = ring_of_six();
	struct lab *l = bring_up(f);
	struct lab_series s;
	uint64_t made = 0;

	lab_series_start(&s, l, 100 * PS_PER_US, false);
	send(l, PS_PER_MS);
	lab_run_until(l, sim_now(lab_sim(l)) + 250 * PS_PER_US);
	lab_series_stop(&s);
	lab_series_stop(&s);
	assert_int_equal(s.samples.n, 3);
	assert_int_equal(s.samples.at[0].span, 100 * PS_PER_US);
	assert_in_range(s.samples.at[2].span, 40 * PS_PER_US, 50 * PS_PER_US);
	for (size_t i = 0; i < s.samples.n; i++)
		made += s.samples.at[i].generated;
	assert_int_equal(made, sim_plane_stats(lab_sim(l))->generated);
	lab_free(l);
	lab_series_free(&s);
	fab_free(f);
}

/* ---- by node and link ---- */

struct heard {
	uint64_t generated, received, sent, packets, nodes, links, lost;
	uint32_t use_max;
};

static void hear_node(void *ctx, const struct lab_node_sample *x)
{
	struct heard *h = ctx;

	h->nodes++;
	h->generated += x->generated;
	h->received += x->received;
	h->sent += x->sent;
	h->lost += x->discarded;
	assert_true(!x->received == !x->latency_ps);
}

static void hear_link(void *ctx, const struct lab_link_sample *x)
{
	struct heard *h = ctx;

	h->links++;
	h->packets += x->packets;
	h->use_max = MAX(h->use_max, x->use);
	assert_true(x->use + x->wait <= 1000001);
}

TEST(samples_of_nodes_and_links_add_up)
{
	struct fab *f = ring_of_six();
	struct lab *l = bring_up(f);
	const struct sim_plane_stats *st = sim_plane_stats(lab_sim(l));
	struct heard h = {0};
	uint32_t use_max = 0;
	struct lab_series s;

	lab_series_start(&s, l, 100 * PS_PER_US, false);
	lab_series_sink(&s, (struct lab_series_sink){hear_node, hear_link, &h});
	send(l, PS_PER_MS);
	lab_run_until(l, sim_now(lab_sim(l)) + 2 * PS_PER_MS);
	assert_int_equal(h.nodes, 20 * f->nnodes);
	assert_int_equal(h.links, 20 * 2 * f->nlinks);
	assert_int_equal(h.generated, st->generated);
	assert_int_equal(h.received, st->delivered);
	assert_int_equal(h.packets, st->hops);
	assert_int_equal(h.sent, st->hops);
	for (size_t i = 0; i < s.samples.n; i++)
		use_max = MAX(use_max, s.samples.at[i].link_use_max);
	assert_int_equal(h.use_max, use_max);
	lab_free(l);
	lab_series_free(&s);
	fab_free(f);
}

/* A link is cut under traffic: each discard has an interval, a reason and a node; SMPs have a purpose; the
 * header arrives before the packet. */
TEST(discards_by_reason_and_smps_by_purpose)
{
	struct fab *f = ring_of_six();
	struct lab *l = bring_up(f);
	const struct sim_plane_stats *st = sim_plane_stats(lab_sim(l));
	uint64_t by_cause[SIM_NDISCARDS] = {0}, found = 0;
	struct heard h = {0};
	struct lab_series s;

	lab_series_start(&s, l, 200 * PS_PER_US, false);
	lab_series_sink(&s, (struct lab_series_sink){hear_node, NULL, &h});
	send(l, 40 * PS_PER_MS);
	sim_uncable(lab_sim(l), fab_port_id(f, f->switches[2], 3));
	lab_run_until(l, sim_now(lab_sim(l)) + 50 * PS_PER_MS);
	for (size_t i = 0; i < s.samples.n; i++) {
		const struct lab_sample *x = &s.samples.at[i];
		uint64_t lost = 0, smps = 0;

		for (unsigned c = 0; c < SIM_NDISCARDS; c++) {
			by_cause[c] += x->discarded_by[c];
			lost += x->discarded_by[c];
		}
		for (unsigned c = 0; c < SM_NPURPOSES; c++)
			smps += x->smps_by[c];
		found += x->smps_by[SM_FOR_DISCOVERY];
		assert_int_equal(lost, x->discarded);
		assert_int_equal(smps, x->smps);
		assert_true(x->header_ps <= x->latency_ps || !x->delivered);
		assert_true(x->latency_ps <= x->latency_p99_ps * 2);
	}
	assert_memory_equal(by_cause, st->discarded, sizeof(by_cause));
	assert_true(st->discarded[SIM_DISCARD_DEACTIVATED_PORT] > 0);
	assert_true(found > 0);
	assert_int_equal(h.lost + st->in_flight + st->delivered, st->generated);
	lab_free(l);
	lab_series_free(&s);
	fab_free(f);
}

TEST(levels_follow_a_failure_and_its_repair)
{
	struct fab *f = ring_of_six();
	struct lab *l = bring_up(f);
	uint32_t lowest = 1000000;
	struct lab_series s;

	lab_series_start(&s, l, 20 * PS_PER_US, true);
	sim_uncable(lab_sim(l),
		    fab_port_id(f, f->switches[2], 3)); /* the link to the next switch */
	lab_run_until(l, sim_now(lab_sim(l)) + 50 * PS_PER_MS);
	for (size_t i = 0; i < s.samples.n; i++)
		lowest = MIN(lowest, s.samples.at[i].connectivity);
	assert_int_equal(lowest, 0); /* full deactivation takes everything down for a while */
	assert_int_equal(s.samples.at[s.samples.n - 1].connectivity, 1000000);
	lab_series_stop(&s);
	lab_free(l);
	lab_series_free(&s);
	fab_free(f);
}

static uint64_t hash_of_run(bool watched)
{
	struct fab *f = ring_of_six();
	struct lab *l = bring_up(f);
	struct lab_series s = {0};
	const struct sim_plane_stats *st;
	uint64_t h;

	if (watched)
		lab_series_start(&s, l, 30 * PS_PER_US, false);
	send(l, PS_PER_MS);
	lab_run_until(l, sim_now(lab_sim(l)) + 2 * PS_PER_MS);
	st = sim_plane_stats(lab_sim(l));
	h = st->delivered * 1000003 + (uint64_t)st->latency.sum + st->hops;
	lab_free(l);
	lab_series_free(&s);
	fab_free(f);
	return h;
}

TEST(sampling_does_not_change_the_run)
{
	assert_int_equal(hash_of_run(false), hash_of_run(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_add_up_to_the_run),
		cmocka_unit_test(the_last_interval_may_be_shorter),
		cmocka_unit_test(samples_of_nodes_and_links_add_up),
		cmocka_unit_test(discards_by_reason_and_smps_by_purpose),
		cmocka_unit_test(levels_follow_a_failure_and_its_repair),
		cmocka_unit_test(sampling_does_not_change_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
