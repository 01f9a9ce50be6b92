/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts send: exact packets for fixed seeds, so that any change is noticed, and the statistics of
 * patterns and arrivals. Keeps no state. Integers only.
 * Covers: traffic.c, traffic_random.c, traffic_trace.c
 */
#include "unit_test.h"

#include "sim/traffic/traffic.h"
#include "sim/traffic/traffic_priv.h" /* the fixed-point functions that draw arrivals */

static struct traffic_config config(enum traffic_pattern p, enum traffic_arrivals a)
{
	return (struct traffic_config){
		.pattern = p,
		.arrivals = a,
		.interval_ps = PS_PER_US,
		.payload = 256,
		.hot_share_q32 = 1ull << 30,
		.shift = 3,
		.burst_packets = 8,
		.burst_gap_ps = 100 * PS_PER_NS,
		.stop_ps = TIME_NEVER,
		.seed = 1,
	};
}

static struct traffic *must_new(const struct traffic_config *c, uint32_t n)
{
	struct err e = {{0}};
	struct traffic *t = traffic_new(c, n, &e);

	if (!t)
		fail_msg("%s", e.text);
	return t;
}

static struct traffic_packet must_next(struct traffic *t, uint32_t host)
{
	struct traffic_packet p;

	assert_true(traffic_next(t, host, &p));
	return p;
}

/* ---- exact packets ---- */

/* "time>destination/SL", the first five of a host. */
static void assert_packets(const struct traffic_config *c, uint32_t n, uint32_t host,
			   const char *want)
{
	struct traffic *t = must_new(c, n);
	struct traffic_packet p;
	struct strbuf b = {0};

	for (unsigned i = 0; i < 5 && traffic_next(t, host, &p); i++)
		strbuf_addf(&b, "%s%llu>%u/%u", i ? " " : "", (unsigned long long)p.when_ps, p.dst,
			    p.sl);
	assert_string_equal(b.s ? b.s : "", want);
	strbuf_free(&b);
	traffic_free(t);
}

TEST(test_exact_arrivals)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_POISSON);

	c.sl_mask = 0xffff;
	assert_packets(&c, 16, 0,
		       "1828730>12/4 2250126>4/1 2611089>6/12 3181369>10/9 3262501>6/12");
	assert_packets(&c, 16, 15, "1085487>3/0 1123202>0/9 1144642>5/14 1607066>1/0 1893742>6/13");
	c.arrivals = TRAFFIC_CONSTANT;
	assert_packets(&c, 16, 0, "160617>12/4 1160617>11/9 2160617>7/4 3160617>6/12 4160617>3/9");
	c.arrivals = TRAFFIC_BURSTY;
	assert_packets(&c, 16, 0,
		       "11146698>7/4 11246698>6/12 11346698>3/9 11446698>7/12 15531396>6/12");
	assert_packets(&c, 16, 3,
		       "2533159>8/5 2633159>4/15 2733159>8/0 2833159>14/14 38006254>6/14");
	c.seed = 2;
	c.start_ps = 1000 * PS_PER_US;
	assert_packets(
		&c, 16, 3,
		"1003980415>6/7 1004080415>8/11 1004180415>11/11 1007507080>8/7 1007607080>5/8");
}

TEST(test_exact_patterns)
{
	struct traffic_config c = config(TRAFFIC_PERMUTATION, TRAFFIC_CONSTANT);

	c.stop_ps = 2 * PS_PER_US;
	assert_packets(&c, 16, 4, "285653>10/0 1285653>10/0");
	c.pattern = TRAFFIC_HOTSPOT;
	c.stop_ps = TIME_NEVER;
	assert_packets(&c, 16, 4, "285653>1/0 1285653>6/0 2285653>8/0 3285653>8/0 4285653>0/0");
	c.pattern = TRAFFIC_ALL_TO_ALL;
	assert_packets(&c, 4, 2, "331637>3/0 1331637>0/0 2331637>1/0 3331637>3/0 4331637>0/0");
	c.pattern = TRAFFIC_INCAST;
	assert_packets(&c, 4, 0, "");
	assert_packets(&c, 4, 3, "476704>0/0 1476704>0/0 2476704>0/0 3476704>0/0 4476704>0/0");
}

/* ---- where to ---- */

static uint32_t only_destination(enum traffic_pattern p, uint32_t n, uint32_t host)
{
	struct traffic_config c = config(p, TRAFFIC_POISSON);
	struct traffic *t = must_new(&c, n);
	struct traffic_packet a, b;

	if (!traffic_next(t, host, &a)) {
		traffic_free(t);
		return UINT32_MAX;
	}
	b = must_next(t, host);
	assert_int_equal(a.dst, b.dst);
	assert_int_equal(a.payload, 256);
	assert_int_equal(a.sl, 0);
	traffic_free(t);
	return a.dst;
}

TEST(test_fixed_destinations)
{
	for (uint32_t h = 0; h < 8; h++) {
		assert_int_equal(only_destination(TRAFFIC_SHIFT, 8, h), (h + 3) % 8);
		assert_int_equal(only_destination(TRAFFIC_TORNADO, 8, h), (h + 3) % 8);
		assert_int_equal(only_destination(TRAFFIC_COMPLEMENT, 8, h), ~h & 7);
	}
	/* half of an odd ring rounds up */
	assert_int_equal(only_destination(TRAFFIC_TORNADO, 9, 7), 2);
	assert_int_equal(only_destination(TRAFFIC_TORNADO, 3, 2), 0);
	assert_int_equal(only_destination(TRAFFIC_COMPLEMENT, 9, 1), 7);
	assert_int_equal(only_destination(TRAFFIC_COMPLEMENT, 9, 4), UINT32_MAX);
	assert_int_equal(only_destination(TRAFFIC_INCAST, 9, 8), 0);
	assert_int_equal(only_destination(TRAFFIC_INCAST, 9, 0), UINT32_MAX);
	assert_int_equal(only_destination(TRAFFIC_SHIFT, 2, 1), 0);
}

/* Whatever the pattern, two hosts send to one another. */
TEST(test_two_hosts)
{
	static const enum traffic_pattern all[] = {TRAFFIC_UNIFORM,    TRAFFIC_PERMUTATION,
						   TRAFFIC_SHIFT,      TRAFFIC_HOTSPOT,
						   TRAFFIC_COMPLEMENT, TRAFFIC_ALL_TO_ALL};

	for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
		assert_int_equal(only_destination(all[i], 2, 0), 1);
		assert_int_equal(only_destination(all[i], 2, 1), 0);
	}
	assert_int_equal(only_destination(TRAFFIC_INCAST, 2, 1), 0);
}

/* How often a host of n sends to each of them, in draws packets. */
static void count_destinations(const struct traffic_config *c, uint32_t n, uint32_t host,
			       unsigned draws, unsigned *count)
{
	struct traffic *t = must_new(c, n);

	memset(count, 0, n * sizeof(*count));
	for (unsigned i = 0; i < draws; i++) {
		uint32_t d = must_next(t, host).dst;

		assert_true(d < n);
		count[d]++;
	}
	traffic_free(t);
}

/* Times 1000: the sum over classes of (found - expected)^2 / expected. */
static uint64_t chi_square_x1000(const unsigned *found, unsigned classes, uint64_t expected)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < classes; i++) {
		int64_t off = (int64_t)found[i] - (int64_t)expected;

		sum += (uint64_t)(off * off);
	}
	return sum * 1000 / expected;
}

TEST(test_uniform_is_uniform)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_CONSTANT);
	unsigned count[13];

	for (uint32_t host = 0; host < 13; host += 6) {
		count_destinations(&c, 13, host, 120000, count);
		assert_int_equal(count[host], 0);
		/* 11 degrees of freedom: 31.3 is exceeded once in a thousand seeds */
		count[host] = count[12];
		assert_true(chi_square_x1000(count, 12, 10000) < 31264);
	}
}

TEST(test_hot_spot_has_its_share)
{
	struct traffic_config c = config(TRAFFIC_HOTSPOT, TRAFFIC_CONSTANT);
	unsigned count[11];

	c.hot_host = 10;
	/* A quarter, and a tenth of the rest: 0.325 of 100000, of which the deviation is 148. */
	count_destinations(&c, 11, 2, 100000, count);
	assert_in_range(count[10], 32500 - 500, 32500 + 500);
	assert_int_equal(count[2], 0);
	count[2] = 7500;
	assert_true(chi_square_x1000(count, 10, 7500) < 29000);
	/* The hot host has no share to send to itself. */
	count_destinations(&c, 11, 10, 100000, count);
	assert_int_equal(count[10], 0);
	assert_true(chi_square_x1000(count, 10, 10000) < 29000);
	c.hot_share_q32 = 1ull << 32;
	count_destinations(&c, 11, 2, 1000, count);
	assert_int_equal(count[10], 1000);
}

TEST(test_all_to_all_takes_turns)
{
	struct traffic_config c = config(TRAFFIC_ALL_TO_ALL, TRAFFIC_POISSON);
	unsigned count[7];

	for (uint32_t host = 0; host < 7; host++) {
		count_destinations(&c, 7, host, 6 * 5, count);
		for (uint32_t d = 0; d < 7; d++)
			assert_int_equal(count[d], d == host ? 0 : 5);
	}
}

/* All hosts together are a permutation without fixed points, and each of the nine of four hosts
 * comes as often as another. */
TEST(test_permutations)
{
	struct traffic_config c = config(TRAFFIC_PERMUTATION, TRAFFIC_CONSTANT);
	static const uint32_t sizes[] = {2, 3, 5, 100, 4096};
	unsigned found[256] = {0}, kinds = 0;

	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		struct traffic *t = must_new(&c, sizes[i]);
		uint8_t *taken = mem_zarray(sizes[i], 1);

		for (uint32_t h = 0; h < sizes[i]; h++) {
			uint32_t d = must_next(t, h).dst;

			assert_true(d < sizes[i] && d != h && !taken[d]);
			taken[d] = 1;
		}
		free(taken);
		traffic_free(t);
	}
	for (c.seed = 0; c.seed < 1800; c.seed++) {
		struct traffic *t = must_new(&c, 4);
		unsigned code = 0;

		for (uint32_t h = 0; h < 4; h++)
			code = code << 2 | must_next(t, h).dst;
		found[code]++;
		traffic_free(t);
	}
	for (unsigned i = 0; i < 256; i++)
		if (found[i])
			found[kinds++] = found[i];
	assert_int_equal(kinds, 9);
	assert_true(chi_square_x1000(found, 9, 200) < 26124);
}

TEST(test_service_levels)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_CONSTANT);
	unsigned count[16] = {0}, used[4];
	struct traffic *t;

	c.sl_mask = 1 << 1 | 1 << 4 | 1 << 9 | 1 << 15;
	t = must_new(&c, 3);
	for (unsigned i = 0; i < 40000; i++)
		count[must_next(t, 1).sl]++;
	traffic_free(t);
	memcpy(used, (unsigned[]){count[1], count[4], count[9], count[15]}, sizeof(used));
	assert_int_equal(used[0] + used[1] + used[2] + used[3], 40000);
	assert_true(chi_square_x1000(used, 4, 10000) < 16266);
	c.sl_mask = 1 << 7;
	t = must_new(&c, 3);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(must_next(t, 1).sl, 7);
	traffic_free(t);
}

/* ---- when ---- */

enum { STRATA = 1 << 17 };

/* The middles of equal parts of all words: means without chance, for the fixed-point functions. */
static uint64_t stratum(uint64_t i)
{
	return (2 * i + 1) << (63 - 17);
}

static uint64_t off_by_ppm(u128 found, u128 want)
{
	u128 off = found > want ? found - want : want - found;

	return (uint64_t)(off * 1000000 / want);
}

TEST(test_fixed_point_means)
{
	static struct traffic_logs l;
	u128 exponential = 0, pareto = 0, met = 0;

	traffic_logs_make(&l);
	for (uint64_t i = 0; i < STRATA; i++) {
		exponential += traffic_exponential_q48(&l, stratum(i));
		pareto += traffic_pareto_q40(&l, stratum(i));
		met += traffic_pareto_met_q40(stratum(i));
	}
	assert_true(off_by_ppm(exponential, (u128)STRATA << 48) < 10);
	assert_true(off_by_ppm(pareto * TRAFFIC_PARETO_DEN,
			       ((u128)STRATA << 40) * TRAFFIC_PARETO_NUM) < 100);
	/* Met at random: density x^-1.5 / 2 (1 - 1/32) from 1 to 1024, so the mean is 32. */
	assert_true(off_by_ppm(met, ((u128)STRATA << 40) * 32) < 100);
}

/* Places where the answer is known: log2 is exact at powers of two, ln 2 to 15 digits. */
TEST(test_fixed_point_known)
{
	static struct traffic_logs l;
	uint64_t x;

	traffic_logs_make(&l);
	assert_int_equal(l.at[0], 0);
	assert_int_equal(l.at[512], 164652306267094ull); /* log2(3/2) */
	assert_int_equal(traffic_exponential_q48(&l, 1ull << 63), 195103586505167ull);
	assert_int_equal(traffic_exponential_q48(&l, 0), traffic_exponential_q48(&l, 1));
	assert_int_equal(traffic_exponential_q48(&l, 1), 12486629536330718ull);
	assert_true(traffic_exponential_q48(&l, UINT64_MAX) < 2);
	/* 1024 at the one end, 1 at the other */
	assert_int_equal(traffic_pareto_q40(&l, 0), 1ull << 50);
	x = traffic_pareto_q40(&l, UINT64_MAX);
	assert_true(x >= 1ull << 40 && x - (1ull << 40) < 16);
	assert_true(off_by_ppm(traffic_pareto_met_q40(0), 1ull << 50) < 10);
	assert_int_equal(traffic_pareto_met_q40(UINT64_MAX), 1ull << 40);
	for (uint64_t i = 1; i < STRATA; i++)
		assert_true(traffic_pareto_q40(&l, stratum(i)) <=
			    traffic_pareto_q40(&l, stratum(i - 1)));
}

/* Sixteen classes of gaps that are equally likely: the edges are -ln(1 - k/16) us. */
TEST(test_poisson_gaps_are_exponential)
{
	static const uint64_t edge[15] = {64539,   133531,  207639,  287682,  374693,
					  470004,  575364,  693147,  826679,  980829,
					  1163151, 1386294, 1673976, 2079442, 2772589};
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_POISSON);
	struct traffic *t = must_new(&c, 16);
	unsigned count[16] = {0};
	uint64_t before = 0;

	for (unsigned i = 0; i < 200000; i++) {
		uint64_t when = must_next(t, 5).when_ps, k = 0;

		while (k < 15 && when - before >= edge[k])
			k++;
		count[k]++;
		before = when;
	}
	/* 15 degrees of freedom; the deviation of the mean is 0.22 % */
	assert_true(chi_square_x1000(count, 16, 12500) < 37697);
	assert_true(off_by_ppm(before, 200000 * (u128)PS_PER_US) < 7000);
	traffic_free(t);
}

/* Packets of n hosts until stop, as a share of what the interval asks for. */
static uint64_t offered_off_by_ppm(const struct traffic_config *c, uint32_t n)
{
	struct traffic *t = must_new(c, n);
	struct traffic_packet p;
	uint64_t packets = 0;

	for (uint32_t h = 0; h < n; h++)
		while (traffic_next(t, h, &p))
			packets++;
	traffic_free(t);
	return off_by_ppm((u128)packets * c->interval_ps, (u128)(c->stop_ps - c->start_ps) * n);
}

TEST(test_offered_rate)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_POISSON);

	c.start_ps = 77 * PS_PER_US;
	c.stop_ps = c.start_ps + 2000 * PS_PER_US;
	assert_true(offered_off_by_ppm(&c, 100) < 7000);
	/* An interval that is no round number, and not many picoseconds either. */
	c.interval_ps = 3;
	c.stop_ps = c.start_ps + 2000;
	assert_true(offered_off_by_ppm(&c, 300) < 7000);
	c.arrivals = TRAFFIC_CONSTANT;
	assert_true(offered_off_by_ppm(&c, 300) < 1000);
}

/* Over many bursts of a host, and at the very start where each host meets its first. */
TEST(test_offered_rate_of_bursts)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_BURSTY);
	static const unsigned sizes[] = {1, 2, 8, 50};

	c.burst_packets = 2; /* the deviation is 0.45 % for half a million bursts */
	c.stop_ps = 100000 * PS_PER_US;
	assert_true(offered_off_by_ppm(&c, 10) < 10000);
	c.start_ps = 5 * PS_PER_US;
	c.stop_ps = 25 * PS_PER_US;
	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		c.burst_packets = sizes[i];
		c.burst_gap_ps = 500 * PS_PER_NS; /* half of the hosts are in a burst */
		assert_true(offered_off_by_ppm(&c, 20000) < 10000);
	}
}

/* Gaps are either those within a burst or longer, and packets come to eight a burst. */
TEST(test_bursts)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_BURSTY);
	struct traffic *t = must_new(&c, 2);
	uint64_t before = must_next(t, 0).when_ps, bursts = 0, longest = 0, run = 1;

	for (unsigned i = 0; i < 400000; i++) {
		uint64_t when = must_next(t, 0).when_ps, gap = when - before;

		assert_true(gap >= c.burst_gap_ps);
		run = gap == c.burst_gap_ps ? run + 1 : 1;
		longest = MAX(longest, run);
		bursts += run == 1;
		before = when;
	}
	assert_true(off_by_ppm(bursts * 8, 400000) < 60000);
	/* The tail: of 50000 bursts the longest is far beyond what an exponential would bring (90).
	 */
	assert_in_range(longest, 500, 2500);
	traffic_free(t);
}

/* In windows of many intervals, packets of bursty hosts vary much more than those of Poisson. */
static uint64_t variance_over_mean_x100(enum traffic_arrivals a)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, a);
	struct traffic *t = must_new(&c, 2);
	enum { WINDOWS = 2000, WIDTH = 100 };
	static unsigned count[WINDOWS];
	uint64_t sum = 0, squares = 0, when;

	memset(count, 0, sizeof(count));
	while ((when = must_next(t, 1).when_ps) < WINDOWS * WIDTH * PS_PER_US)
		count[when / (WIDTH * PS_PER_US)]++;
	traffic_free(t);
	for (unsigned i = 0; i < WINDOWS; i++) {
		sum += count[i];
		squares += (uint64_t)count[i] * count[i];
	}
	return (squares * WINDOWS - sum * sum) * 100 / (sum * WINDOWS);
}

TEST(test_burstiness)
{
	assert_true(variance_over_mean_x100(TRAFFIC_CONSTANT) == 0);
	assert_in_range(variance_over_mean_x100(TRAFFIC_POISSON), 85, 115);
	assert_true(variance_over_mean_x100(TRAFFIC_BURSTY) > 1000);
}

TEST(test_window)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_POISSON);

	c.start_ps = 500 * PS_PER_US;
	c.stop_ps = 550 * PS_PER_US;
	for (c.arrivals = TRAFFIC_POISSON; c.arrivals <= TRAFFIC_BURSTY; c.arrivals++) {
		struct traffic *t = must_new(&c, 50);
		struct traffic_packet p;

		for (uint32_t h = 0; h < 50; h++) {
			uint64_t before = 0;

			while (traffic_next(t, h, &p)) {
				assert_true(p.when_ps >= c.start_ps && p.when_ps < c.stop_ps);
				assert_true(p.when_ps >= before);
				before = p.when_ps;
			}
			assert_false(traffic_next(t, h, &p)); /* and no more */
		}
		traffic_free(t);
	}
	c.arrivals = TRAFFIC_CONSTANT;
	c.stop_ps = c.start_ps;
	assert_packets(&c, 5, 0, "");
	/* A packet at the very stop is not made. */
	c.start_ps = 0;
	c.stop_ps = 1160617;
	assert_packets(&c, 16, 0, "160617>12/0");
	c.stop_ps++;
	assert_packets(&c, 16, 0, "160617>12/0 1160617>4/0");
}

/* Intervals as long as there is time: a host ends, it does not wrap round. */
TEST(test_end_of_time)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_POISSON);
	struct traffic_packet p;

	for (c.arrivals = TRAFFIC_POISSON; c.arrivals <= TRAFFIC_BURSTY; c.arrivals++) {
		struct traffic *t;

		c.interval_ps = c.arrivals == TRAFFIC_BURSTY ? UINT64_MAX / 64 : UINT64_MAX;
		c.burst_gap_ps = c.interval_ps - 1;
		t = must_new(&c, 40);
		for (uint32_t h = 0; h < 40; h++) {
			uint64_t before = 0, n = 0;

			for (; traffic_next(t, h, &p); n++) {
				assert_true(p.when_ps >= before);
				before = p.when_ps;
			}
			assert_true(n < 200);
		}
		traffic_free(t);
	}
}

/* ---- streams ---- */

/* A host sends the same whether or not others are asked, before or after, and how many there are.
 */
TEST(test_hosts_are_independent)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_BURSTY);

	c.sl_mask = 0xff;
	for (c.pattern = 0; c.pattern < TRAFFIC_TRACE; c.pattern++) {
		struct traffic *alone = must_new(&c, 9), *mixed = must_new(&c, 9);
		struct traffic_packet other;

		for (unsigned i = 0; i < 500; i++) {
			struct traffic_packet a = must_next(alone, 5), b;

			for (uint32_t h = 0; h < 9; h++)
				if (h != 5 && i % (h + 1) == 0)
					traffic_next(mixed, h, &other);
			b = must_next(mixed, 5);
			assert_true(a.when_ps == b.when_ps && a.dst == b.dst && a.sl == b.sl);
		}
		traffic_free(alone);
		traffic_free(mixed);
	}
}

TEST(test_hosts_and_seeds_differ)
{
	struct traffic_config c = config(TRAFFIC_UNIFORM, TRAFFIC_POISSON), d = c;
	struct traffic *t, *u;
	unsigned same = 0;

	d.seed = 2;
	t = must_new(&c, 100);
	u = must_new(&d, 100);
	for (uint32_t h = 1; h < 100; h++) {
		uint64_t when = must_next(t, h).when_ps;

		same += when == must_next(u, h).when_ps;
		same += when == must_next(t, h - 1).when_ps;
	}
	assert_int_equal(same, 0);
	traffic_free(t);
	traffic_free(u);
}

/* ---- refusals ---- */

static void assert_refused(const struct traffic_config *c, uint32_t n, const char *why)
{
	struct err e = {{0}};

	assert_null(traffic_new(c, n, &e));
	assert_string_equal(e.text, why);
}

TEST(test_too_few_hosts)
{
	struct traffic_config c = config(TRAFFIC_TORNADO, TRAFFIC_POISSON);

	assert_refused(&c, 2, "pattern tornado needs at least 3 hosts, found 2");
	for (c.pattern = 0; c.pattern <= TRAFFIC_TRACE; c.pattern++) {
		char why[100];

		for (uint32_t n = 0; n < 2; n++) {
			snprintf(why, sizeof(why), "pattern %s needs at least %u hosts, found %u",
				 traffic_pattern_name(c.pattern),
				 c.pattern == TRAFFIC_TORNADO ? 3 : 2, n);
			assert_refused(&c, n, why);
		}
	}
}

TEST(test_bad_patterns)
{
	struct traffic_config c = config(TRAFFIC_SHIFT, TRAFFIC_POISSON);

	c.shift = 12;
	assert_refused(&c, 4,
		       "pattern shift: found a shift by 12, which leads each of 4 hosts to itself, "
		       "expected no multiple of 4");
	c.pattern = TRAFFIC_INCAST;
	c.hot_host = 4;
	assert_refused(&c, 4, "pattern incast: found hot host 4, expected one from 0 to 3");
	c.pattern = TRAFFIC_HOTSPOT;
	assert_refused(&c, 4, "pattern hotspot: found hot host 4, expected one from 0 to 3");
	c.hot_host = 3;
	c.hot_share_q32 = (1ull << 32) + 1;
	assert_refused(&c, 4,
		       "pattern hotspot: found a hot share above 1, expected one from 0 to 1");
	c.pattern = (enum traffic_pattern)9;
	assert_refused(&c, 4, "found traffic pattern 9, expected one from 0 to 8");
	c.pattern = TRAFFIC_TRACE;
	assert_refused(&c, 4, "pattern trace needs a trace, found none");
}

TEST(test_bad_arrivals)
{
	struct traffic_config good = config(TRAFFIC_UNIFORM, TRAFFIC_BURSTY), c = good;

	c.interval_ps = 0;
	assert_refused(&c, 4,
		       "found a mean interval of 0 ps between packets, expected at least 1 ps");
	c = good;
	c.payload = 4097;
	assert_refused(&c, 4, "found a payload of 4097 bytes, expected at most 4096");
	c = good;
	c.start_ps = 20;
	c.stop_ps = 19;
	assert_refused(&c, 4, "found a stop at 19 ps, expected none before the start at 20 ps");
	c = good;
	c.burst_packets = 0;
	assert_refused(&c, 4, "found bursts of 0 packets in the mean, expected 1 to 1000000");
	c.burst_packets = 1000001;
	assert_refused(&c, 4, "found bursts of 1000001 packets in the mean, expected 1 to 1000000");
	c = good;
	c.burst_gap_ps = c.interval_ps;
	assert_refused(&c, 4,
		       "found a gap of 1000000 ps between the packets of a burst, expected less "
		       "than the mean interval of 1000000 ps");
	c = good;
	c.interval_ps = 1ull << 60;
	assert_refused(&c, 4,
		       "found bursts of 8 packets every 1152921504606846976 ps each, expected less "
		       "than 2^62 ps between bursts");
	c = good;
	c.arrivals = (enum traffic_arrivals)3;
	assert_refused(&c, 4, "found arrival process 3, expected one from 0 to 2");
}

TEST(test_bad_traces)
{
	struct traffic_trace_item two[2] = {{5, 0, 1, 64, 0}, {7, 1, 0, 64, 0}};
	traffic_trace trace = {.at = two, .n = 2};
	struct traffic_config c = config(TRAFFIC_TRACE, TRAFFIC_POISSON);

	c.trace = &trace;
	two[1].dst = 2;
	assert_refused(&c, 2,
		       "packet 1 of the trace: found host 1 sending to 2, expected two hosts from "
		       "0 to 1");
	two[1].dst = 1;
	assert_refused(&c, 2,
		       "packet 1 of the trace: found host 1 sending to 1, expected two hosts from "
		       "0 to 1");
	two[1].dst = 0;
	two[0].sl = 16;
	assert_refused(&c, 2,
		       "packet 0 of the trace: found 64 bytes on service level 16, expected at "
		       "most 4096 on one from 0 to 15");
	two[0].sl = 0;
	two[0].when_ps = 8;
	assert_refused(&c, 2,
		       "packet 1 of the trace: found 7 ps behind 8 ps, expected packets sorted by "
		       "time");
}

/* ---- traces ---- */

TEST(test_trace_is_read)
{
	static const char text[] = "# when from to bytes sl\r\n"
				   "\r\n"
				   "12.5us 0 1 4096 15\r\n"
				   "  3\t2 0 0   # in ns\n"
				   "12500 1 2 7 # the same time as the first, and behind it\n"
				   "\t \n"
				   "0.000001ms 0 2 1 03\n"
				   "17ps 1 0 2\n"
				   "2.000000000001000s 2 1 5";
	static const struct traffic_trace_item want[] = {
		{17, 1, 0, 2, 0},	    {1000, 0, 2, 1, 3},	    {3000, 2, 0, 0, 0},
		{12500000, 0, 1, 4096, 15}, {12500000, 1, 2, 7, 0}, {2000000000001, 2, 1, 5, 0},
	};
	traffic_trace trace;
	struct err e;

	assert_int_equal(traffic_trace_parse(&trace, 3, "t", text, strlen(text), &e), 0);
	assert_int_equal(trace.n, ARRAY_LEN(want));
	for (size_t i = 0; i < trace.n; i++) {
		assert_int_equal(trace.at[i].when_ps, want[i].when_ps);
		assert_int_equal(trace.at[i].src, want[i].src);
		assert_int_equal(trace.at[i].dst, want[i].dst);
		assert_int_equal(trace.at[i].bytes, want[i].bytes);
		assert_int_equal(trace.at[i].sl, want[i].sl);
	}
	vec_free(&trace);
	assert_int_equal(traffic_trace_parse(&trace, 3, "t", NULL, 0, &e), 0);
	assert_int_equal(trace.n, 0);
}

static void assert_trace_refused(const char *line, const char *why)
{
	struct strbuf text = {0}, full = {0};
	struct err e = {{0}};
	traffic_trace trace;

	strbuf_addf(&text, "0 0 1 64\n# so far good\n%s\n0 1 0 64\n", line);
	strbuf_addf(&full, "t.trace:3: found %s", why);
	assert_int_equal(traffic_trace_parse(&trace, 4, "t.trace", text.s, text.len, &e), -EINVAL);
	assert_string_equal(e.text, full.s);
	assert_true(!trace.n && !trace.at);
	strbuf_free(&text);
	strbuf_free(&full);
}

#define A_TIME "a time such as 12.5us (ps, ns, us, ms, s; without unit ns)"
#define RANGE  "a time below 2^64 picoseconds (213 days)"

TEST(test_bad_trace_times)
{
	assert_trace_refused("x 0 1 64", "'x', expected " A_TIME);
	assert_trace_refused("-5 0 1 64", "'-5', expected " A_TIME);
	assert_trace_refused(".5us 0 1 64", "'.5us', expected " A_TIME);
	assert_trace_refused("5. 0 1 64", "'5.', expected " A_TIME);
	assert_trace_refused("5.us 0 1 64", "'5.us', expected " A_TIME);
	assert_trace_refused("1.5.5us 0 1 64", "'1.5.5us', expected " A_TIME);
	assert_trace_refused("5m 0 1 64", "'5m', expected " A_TIME);
	assert_trace_refused("5US 0 1 64", "'5US', expected " A_TIME);
	assert_trace_refused("0.0001 0 1 64", "'0.0001', expected a time in whole picoseconds");
	assert_trace_refused("1.5ps 0 1 64", "'1.5ps', expected a time in whole picoseconds");
	assert_trace_refused("18446744073709551615ps 0 1 64",
			     "'18446744073709551615ps', expected " RANGE);
	assert_trace_refused("18446745s 0 1 64", "'18446745s', expected " RANGE);
	assert_trace_refused("99999999999999999999999 0 1 64",
			     "'99999999999999999999999', expected " RANGE);
	assert_trace_refused("\x1b[31m\xc3\xa9 0 1 64", "'?[31m\xc3\xa9', expected " A_TIME);
	assert_trace_refused("a234567890123456789012345678901234567890",
			     "'a2345678901234567890123456789012...', expected " A_TIME);
}

TEST(test_bad_trace_words)
{
	assert_trace_refused("5us", "the end of the line, expected a source host from 0 to 3");
	assert_trace_refused("5 us 0 1 64", "'us', expected a source host from 0 to 3");
	assert_trace_refused("5 4 1 64", "'4', expected a source host from 0 to 3");
	assert_trace_refused("5 0x1 1 64", "'0x1', expected a source host from 0 to 3");
	assert_trace_refused("5 0 18446744073709551617 64",
			     "'18446744073709551617', expected a destination host from 0 to 3");
	assert_trace_refused("5 0 #1 64",
			     "the end of the line, expected a destination host from 0 to 3");
	assert_trace_refused("5 2 2 64", "host 2 sending to itself, expected two hosts");
	assert_trace_refused("5 0 1", "the end of the line, expected a payload in bytes from 0 to "
				      "4096");
	assert_trace_refused("5 0 1 4097", "'4097', expected a payload in bytes from 0 to 4096");
	assert_trace_refused("5 0 1 64 16", "'16', expected a service level from 0 to 15");
	assert_trace_refused("5 0 1 64 -1", "'-1', expected a service level from 0 to 15");
	assert_trace_refused("5 0 1 64 1 x", "'x', expected the end of the line");
	assert_trace_refused("5 0 1 64\r1", "'64?1', expected a payload in bytes from 0 to 4096");
}

TEST(test_trace_limits)
{
	const size_t most = 10000000;
	char *text = mem_alloc(most + 1);
	traffic_trace trace;
	struct err e;

	memset(text, '\n', most + 1);
	assert_int_equal(traffic_trace_parse(&trace, 2, "t", text, most, &e), 0);
	assert_int_equal(traffic_trace_parse(&trace, 2, "t", text, most + 1, &e), -EINVAL);
	assert_string_equal(e.text, "t:10000001: found one more line, expected at most 10000000");
	assert_int_equal(traffic_trace_parse(&trace, 1, "t", text, 1, &e), -EINVAL);
	assert_string_equal(e.text, "t:1: found 1 hosts, expected at least 2 for a trace");
	free(text);
}

/* A trace in any order is sorted like a list where equal times keep the order of their lines. */
TEST(test_trace_is_sorted)
{
	struct strbuf text = {0};
	traffic_trace trace;
	struct err e;
	struct rng r;

	rng_seed(&r, 4, 0);
	for (unsigned i = 0; i < 3001; i++) /* the bytes tell the line */
		strbuf_addf(&text, "%u 0 1 %u\n", rng_below(&r, 200), i);
	assert_int_equal(traffic_trace_parse(&trace, 2, "t", text.s, text.len, &e), 0);
	assert_int_equal(trace.n, 3001);
	for (size_t i = 1; i < trace.n; i++) {
		const struct traffic_trace_item *a = &trace.at[i - 1], *b = a + 1;

		assert_true(a->when_ps < b->when_ps ||
			    (a->when_ps == b->when_ps && a->bytes < b->bytes));
	}
	strbuf_free(&text);
	vec_free(&trace);
}

/* What was read is what is sent, host by host, within the window. */
TEST(test_trace_is_sent)
{
	static const char text[] = "1 0 1 10\n2 2 0 20 2\n3 0 2 30 3\n3 2 1 40\n4 0 1 50\n";
	struct traffic_config c = config(TRAFFIC_TRACE, TRAFFIC_POISSON);
	struct traffic_packet p;
	traffic_trace trace;
	struct traffic *t;
	struct err e;

	assert_int_equal(traffic_trace_parse(&trace, 4, "t", text, strlen(text), &e), 0);
	c.trace = &trace;
	c.interval_ps = 0; /* says nothing here */
	assert_packets(&c, 4, 0, "1000>1/0 3000>2/3 4000>1/0");
	assert_packets(&c, 4, 1, "");
	assert_packets(&c, 4, 2, "2000>0/2 3000>1/0");
	c.start_ps = 2000;
	c.stop_ps = 4000;
	assert_packets(&c, 4, 0, "3000>2/3");
	assert_packets(&c, 4, 3, "");
	t = must_new(&c, 4);
	assert_int_equal(must_next(t, 2).payload, 20);
	assert_int_equal(must_next(t, 2).payload, 40);
	assert_false(traffic_next(t, 2, &p));
	assert_false(traffic_next(t, 2, &p));
	traffic_free(t);
	vec_free(&trace);
}

TEST(test_names)
{
	assert_string_equal(traffic_pattern_name(TRAFFIC_ALL_TO_ALL), "all-to-all");
	assert_string_equal(traffic_pattern_name((enum traffic_pattern)77), "unknown");
	assert_string_equal(traffic_arrivals_name(TRAFFIC_BURSTY), "bursty");
	assert_string_equal(traffic_arrivals_name((enum traffic_arrivals)77), "unknown");
	traffic_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_arrivals),
		cmocka_unit_test(test_exact_patterns),
		cmocka_unit_test(test_fixed_destinations),
		cmocka_unit_test(test_two_hosts),
		cmocka_unit_test(test_uniform_is_uniform),
		cmocka_unit_test(test_hot_spot_has_its_share),
		cmocka_unit_test(test_all_to_all_takes_turns),
		cmocka_unit_test(test_permutations),
		cmocka_unit_test(test_service_levels),
		cmocka_unit_test(test_fixed_point_means),
		cmocka_unit_test(test_fixed_point_known),
		cmocka_unit_test(test_poisson_gaps_are_exponential),
		cmocka_unit_test(test_offered_rate),
		cmocka_unit_test(test_offered_rate_of_bursts),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_burstiness),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_end_of_time),
		cmocka_unit_test(test_hosts_are_independent),
		cmocka_unit_test(test_hosts_and_seeds_differ),
		cmocka_unit_test(test_too_few_hosts),
		cmocka_unit_test(test_bad_patterns),
		cmocka_unit_test(test_bad_arrivals),
		cmocka_unit_test(test_bad_traces),
		cmocka_unit_test(test_trace_is_read),
		cmocka_unit_test(test_bad_trace_times),
		cmocka_unit_test(test_bad_trace_words),
		cmocka_unit_test(test_trace_limits),
		cmocka_unit_test(test_trace_is_sorted),
		cmocka_unit_test(test_trace_is_sent),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
