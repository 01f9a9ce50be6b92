/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drives event queues with recorded and made-up loads and prints what a push and a pop cost. Keeps
 * the options. Every load also checks that all queues gave the same events in the same order.
 */
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "lab/lab.h"
#include "check.h"
#include "recorder.h"

static const struct queue *const queues[] = {
	&evq_now,      &evq_bin,    &evq_d4,	&evq_d8,	 &evq_d4a,
	&evq_d8a,      &evq_key4,   &evq_key8,	&evq_soa8,	 &evq_pairing,
	&evq_calendar, &evq_ladder, &evq_wheel, &evq_wheel_fine, &evq_wheel_coarse,
};

static struct {
	const char *only; /* names of queues, with commas */
	uint32_t size;	  /* hold this many and nothing else */
	unsigned ports, rounds;
	bool synthetic; /* no recording */
	unsigned check; /* seeds to check with, instead of measuring */
} o = {.ports = 24, .rounds = 5};

static bool chosen(const struct queue *k)
{
	const char *at = o.only ? strstr(o.only, k->name) : NULL;
	size_t len = strlen(k->name);

	while (at && at[len] && at[len] != ',')
		at = strstr(at + 1, k->name);
	return !o.only || at;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int compare_u64(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* ---- a load is a function that runs on a queue and says how long it took ---- */

struct result {
	uint64_t ns, pairs, hash;
};

enum { NSTEPS = 1 << 16 };
static time_ps steps[NSTEPS];

/*
 * What a packet-level simulation waits for: a routing decision and a crossbar, link set-up, a wire
 * of 1 to 50 m behind a port, a packet's length, a host that thinks.
 */
static void make_steps(void)
{
	struct rng r;

	rng_seed(&r, 1, 7);
	for (unsigned i = 0; i < NSTEPS; i++) {
		uint32_t x = rng_below(&r, 100);
		time_ps ns = x < 25 ? 40 : x < 45 ? 60 : x < 70 ? 0 : x < 95 ? 1100 : 75000;

		steps[i] = ns ? ns * PS_PER_NS : (105 + 5 * rng_below(&r, 50)) * PS_PER_NS;
	}
}

static inline void hold(const struct queue *k, void *q, uint64_t n, uint64_t *hash, uint32_t *at)
{
	struct ev e;
	uint64_t h = *hash;
	uint32_t i = *at;

	while (n--) {
		if (k->next(q) == TIME_NEVER || !k->pop(q, &e))
			abort();
		h = (h ^ e.when) * 0x9e3779b97f4a7c15ull + e.what.arrive.port;
		i = (i + 1) % NSTEPS;
		k->push(q, e.when + steps[i], i & 3,
			(struct ev_what){.kind = i & 7,
					 .arrive = {i, e.what.arrive.port, e.what.arrive.pkt}});
	}
	*hash = h;
	*at = i;
}

static struct result run_hold(const struct queue *k, uint32_t size)
{
	struct result r = {.pairs = MAX(2000000u, 2 * size)};
	void *q = mem_zalloc(k->size);
	uint32_t at = 0;
	struct rng rng;
	uint64_t t;

	rng_seed(&rng, size, 8);
	for (uint32_t i = 0; i < size; i++) /* a fabric that has been running for a while */
		k->push(q, steps[i % NSTEPS] / 1000 * rng_below(&rng, 1000), 1,
			(struct ev_what){.arrive = {.port = i}});
	hold(k, q, 2 * (uint64_t)size, &r.hash, &at);
	t = now_ns();
	hold(k, q, r.pairs, &r.hash, &at);
	r.ns = now_ns() - t;
	k->free(q);
	free(q);
	return r;
}

static struct result run_replay(const struct queue *k, uint32_t unused)
{
	struct result r = {0};
	void *q = mem_zalloc(k->size);
	uint64_t t = now_ns();
	uint32_t seq = 0;
	struct ev e;

	(void)unused;
	for (size_t i = 0; i < record.log.n; i++) {
		uint64_t what = record.log.at[i];

		if (what != RECORD_POP) {
			k->push(q, what >> 8, (uint8_t)what,
				(struct ev_what){.kind = what & 7, .arrive = {.port = seq++}});
			continue;
		}
		if (k->next(q) == TIME_NEVER || !k->pop(q, &e))
			abort();
		r.hash = (r.hash ^ e.when) * 0x9e3779b97f4a7c15ull + e.what.arrive.port;
		r.pairs++;
	}
	r.ns = now_ns() - t;
	k->free(q);
	free(q);
	return r;
}

/* ---- recording ---- */

static int record_bring_up(unsigned ports)
{
	struct fab_gen g = {.kind = "mtree", .dims = {ports, 3}, .ndims = 2};
	uint64_t depth = 0, most = 0, sum = 0, pops = 0;
	struct lab_config c;
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	struct lab *l;
	bool up;

	if (!f) {
		fprintf(stderr, "evq: %s\n", e.text);
		return 2;
	}
	lab_config_default(&c);
	l = lab_new(f, &c, &e);
	record.on = true;
	lab_power_on(l, NULL);
	up = lab_run_ready(l, 1000 * PS_PER_S);
	record.on = false;
	lab_free(l);
	fab_free(f);
	for (size_t i = 0; i < record.log.n; i++) {
		depth += record.log.at[i] == RECORD_POP ? UINT64_MAX : 1;
		most = MAX(most, depth);
		pops += record.log.at[i] == RECORD_POP;
		sum += record.log.at[i] == RECORD_POP ? depth : 0;
	}
	printf("bring-up of the %u-port 3-tree: %lu pops, %lu pending on average, %lu at most%s\n",
	       ports, pops, pops ? sum / pops : 0, most, up ? "" : ", NOT ready");
	return up ? 0 : 1;
}

/* ---- the table ---- */

/* Rounds go over all queues in turn, so that a busy moment of the machine hits all of them. */
static int column(const char *title, struct result (*run)(const struct queue *, uint32_t),
		  uint32_t size, uint64_t out[ARRAY_LEN(queues)])
{
	uint64_t ns[ARRAY_LEN(queues)][32], hash = 0;
	bool first = true;
	int rc = 0;

	for (unsigned r = 0; r < o.rounds; r++) {
		for (unsigned k = 0; k < ARRAY_LEN(queues); k++) {
			struct result x;

			if (!chosen(queues[k]))
				continue;
			x = run(queues[k], size);
			ns[k][r] = x.ns * 100 / MAX(x.pairs, 1);
			if (!first && x.hash != hash) {
				fprintf(stderr, "evq: %s: %s gives another order\n", title,
					queues[k]->name);
				rc = 1;
			}
			hash = first ? x.hash : hash;
			first = false;
		}
	}
	for (unsigned k = 0; k < ARRAY_LEN(queues); k++) {
		if (!chosen(queues[k]))
			continue;
		qsort(ns[k], o.rounds, sizeof(ns[k][0]), compare_u64);
		out[k] = ns[k][o.rounds / 2];
	}
	return rc;
}

static int compare_all(void)
{
	static const uint32_t sizes[] = {100, 1000, 10000, 100000, 1000000};
	uint64_t t[ARRAY_LEN(sizes) + 1][ARRAY_LEN(queues)];
	unsigned ncols = 0;
	char title[32];
	int rc = 0;

	if (!o.synthetic)
		rc |= record_bring_up(o.ports);
	printf("\n| ns a push and a pop |");
	if (!o.synthetic) {
		printf(" bring-up |");
		rc |= column("bring-up", run_replay, 0, t[ncols++]);
	}
	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		if (o.size && o.size != sizes[i])
			continue;
		snprintf(title, sizeof(title), "hold %u", sizes[i]);
		printf(" %s |", title);
		fflush(stdout);
		rc |= column(title, run_hold, sizes[i], t[ncols++]);
	}
	printf("\n|---|");
	for (unsigned i = 0; i < ncols; i++)
		printf("---:|");
	for (unsigned k = 0; k < ARRAY_LEN(queues); k++) {
		if (!chosen(queues[k]))
			continue;
		printf("\n| `%s`: %s |", queues[k]->name, queues[k]->what);
		for (unsigned i = 0; i < ncols; i++)
			printf(" %lu.%lu |", t[i][k] / 100, t[i][k] / 10 % 10);
	}
	printf("\n");
	return rc;
}

static int check_all(void)
{
	unsigned bad = 0;

	for (unsigned k = 0; k < ARRAY_LEN(queues); k++) {
		for (unsigned seed = 0; chosen(queues[k]) && seed < o.check; seed++) {
			if (check_queue(queues[k], seed))
				continue;
			fprintf(stderr, "evq: %s gives another order with seed %u\n",
				queues[k]->name, seed);
			bad++;
		}
	}
	if (!bad)
		printf("the same order with %u seeds\n", o.check);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "c:q:n:p:r:s")) != -1) {
		switch (c) {
		case 'c':
			o.check = (unsigned)MAX(atoi(optarg), 1);
			break;
		case 'q':
			o.only = optarg;
			break;
		case 'n':
			o.size = (uint32_t)atoi(optarg);
			break;
		case 'p':
			o.ports = (unsigned)atoi(optarg);
			break;
		case 'r':
			o.rounds = MIN((unsigned)MAX(atoi(optarg), 1), 32u);
			break;
		case 's':
			o.synthetic = true;
			break;
		default:
			fputs("usage: evq [-c SEEDS] [-q QUEUE,...] [-n SIZE] [-p PORTS] [-r ROUNDS] "
			      "[-s]\n"
			      "-c compare orders only; -q only these queues; -n only this size;\n"
			      "-p record a PORTS-port 3-tree; -r median of ROUNDS; -s no recording\n",
			      stderr);
			return 2;
		}
	}
	if (o.check)
		return check_all();
	make_steps();
	return compare_all();
}
