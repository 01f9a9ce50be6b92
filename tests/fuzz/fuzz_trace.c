/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a trace of traffic: reading must not crash; a refusal says where and gives no
 * packets; what was read is sorted, reads the same again when written in picoseconds, and is sent
 * in full. Keeps no state. Way in: libFuzzer, or replay.c over files.
 */
#include "sim/traffic/traffic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HOSTS = 12 };

#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static bool same(const struct traffic_trace_item *a, const struct traffic_trace_item *b)
{
	return a->when_ps == b->when_ps && a->src == b->src && a->dst == b->dst &&
	       a->bytes == b->bytes && a->sl == b->sl;
}

static void check_again(const traffic_trace *t)
{
	struct strbuf text = {0};
	traffic_trace again;
	struct err e;

	for (size_t i = 0; i < t->n; i++)
		strbuf_addf(&text, "%llups %u %u %u %u\n", (unsigned long long)t->at[i].when_ps,
			    t->at[i].src, t->at[i].dst, t->at[i].bytes, t->at[i].sl);
	MUST(!traffic_trace_parse(&again, HOSTS, "again", text.s, text.len, &e));
	MUST(again.n == t->n);
	for (size_t i = 0; i < t->n; i++)
		MUST(same(&t->at[i], &again.at[i]));
	vec_free(&again);
	strbuf_free(&text);
}

static void check_sent(const traffic_trace *trace)
{
	struct traffic_config c = {.pattern = TRAFFIC_TRACE, .trace = trace, .stop_ps = TIME_NEVER};
	struct err e;
	struct traffic *t = traffic_new(&c, HOSTS, &e);
	struct traffic_packet p;
	size_t sent = 0;

	MUST(t);
	for (uint32_t h = 0; h < HOSTS; h++) {
		uint64_t before = 0;

		for (; traffic_next(t, h, &p); sent++) {
			MUST(p.when_ps >= before && p.dst < HOSTS && p.dst != h);
			MUST(p.payload <= 4096 && p.sl <= 15);
			before = p.when_ps;
		}
	}
	MUST(sent == trace->n);
	traffic_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size); /* exactly as long, so that a sanitizer sees a step beyond */
	struct err e = {{0}};
	traffic_trace t;

	if (size)
		memcpy(text, data, size);
	if (traffic_trace_parse(&t, HOSTS, "in", text, size, &e)) {
		MUST(!strncmp(e.text, "in:", 3) && e.text[3] >= '1' && e.text[3] <= '9');
		MUST(strstr(e.text, "found ") && strstr(e.text, "expected "));
		MUST(!t.n && !t.at);
	} else {
		for (size_t i = 1; i < t.n; i++)
			MUST(t.at[i - 1].when_ps <= t.at[i].when_ps);
		check_again(&t);
		check_sent(&t);
		vec_free(&t);
	}
	free(text);
	return 0;
}
