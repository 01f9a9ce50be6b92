/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seeds in batches, in TAP. State: struct range, the command line, while seeds_main() runs. Way in:
 * seeds_main(). Does not know what a seed does.
 */
#include "seeds.h"

struct range {
	uint64_t first, count, max;
	bool hash;
};

static int parse(int argc, char **argv, const struct seeds *s, struct range *r)
{
	int i = 3;

	if (argc < 3 || parse_u64(argv[1], &r->first) || parse_u64(argv[2], &r->count))
		return -EINVAL;
	if (s->max_switches && i < argc && !parse_u64(argv[i], &r->max))
		i++;
	if (i < argc && !strcmp(argv[i], "hash")) {
		r->hash = true;
		i++;
	}
	return i == argc ? 0 : -EINVAL;
}

static struct seed_run run_once(const struct seeds *s, uint64_t seed, const struct range *r,
				bool again)
{
	struct seed_run one = {.seed = seed, .max_switches = (unsigned)r->max, .again = again};

	s->run(&one);
	return one;
}

static void print_failed(const struct seeds *s, const struct range *r, const struct seed_run *one)
{
	unsigned long long seed = one->seed;

	printf("# seed %llu: %s\n", seed, one->why);
	if (!s->replay)
		printf("#   replay: %s %llu 1", s->name, seed);
	else
		printf("#   replay: %s %llu", s->replay, seed);
	if (s->max_switches)
		printf(s->replay ? " --max-switches %llu" : " %llu", (unsigned long long)r->max);
	putchar('\n');
}

static bool run_seed(const struct seeds *s, uint64_t seed, const struct range *r)
{
	struct seed_run a = run_once(s, seed, r, false), b;

	if (!a.ok)
		print_failed(s, r, &a);
	if (!s->again || seed % s->again)
		return a.ok;
	b = run_once(s, seed, r, true);
	if (a.hash != b.hash)
		printf("# seed %llu: hash %016llx, then %016llx\n", (unsigned long long)seed,
		       (unsigned long long)a.hash, (unsigned long long)b.hash);
	return a.ok && a.hash == b.hash;
}

static int print_hashes(const struct seeds *s, const struct range *r)
{
	for (uint64_t seed = r->first; seed < r->first + r->count; seed++) {
		struct seed_run one = run_once(s, seed, r, false);

		printf("%llu %016llx %llu\n", (unsigned long long)seed,
		       (unsigned long long)one.hash, (unsigned long long)one.size);
	}
	return 0;
}

/* Seeds from..end-1. Returns the number of failures. */
static unsigned run_batch(const struct seeds *s, const struct range *r, uint64_t from, uint64_t end,
			  unsigned line)
{
	char text[256] = "";
	unsigned bad = 0;

	for (uint64_t seed = from; seed < end; seed++)
		bad += !run_seed(s, seed, r);
	if (s->sums)
		s->sums(text, sizeof(text));
	printf("%s %u - seeds %llu to %llu", bad ? "not ok" : "ok", line, (unsigned long long)from,
	       (unsigned long long)end - 1);
	if (s->max_switches)
		printf(", up to %llu switches", (unsigned long long)r->max);
	printf("%s%s\n", *text ? ": " : "", text);
	fflush(stdout);
	return bad;
}

int seeds_main(int argc, char **argv, const struct seeds *s)
{
	struct range r = {.max = s->max_switches};
	unsigned line = 0, failed = 0;

	if (parse(argc, argv, s, &r)) {
		fprintf(stderr, "usage: %s FIRST COUNT%s [hash]\n", s->name,
			s->max_switches ? " [MAX_SWITCHES]" : "");
		return 2;
	}
	if (r.hash)
		return print_hashes(s, &r);
	printf("1..%llu\n",
	       (unsigned long long)((r.count + s->batch - 1) / s->batch + (s->before != NULL)));
	if (s->before) {
		failed = !s->before();
		printf("%s %u - %s\n", failed ? "not ok" : "ok", ++line, s->before_name);
	}
	for (uint64_t from = r.first; from < r.first + r.count; from += s->batch)
		failed += run_batch(s, &r, from, MIN(from + s->batch, r.first + r.count), ++line);
	return failed ? 1 : 0;
}
