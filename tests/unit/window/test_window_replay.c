/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever a person clicks, and wherever within a moment: the script gives the same run, with `weft sim trial --replay`
 * as with a start that has the journal.
 * Covers: window_journal.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "trial/schedule_run.h"
#include "window_page.h"

/* 1202: clicks within one picosecond, each with events of its own. */
enum { FIRST = 1180, SEEDS = 40, CLICKS = 14 };

static const char *const fabrics[] = {"ring 4 ports 6", "mtree 4 2", "irregular 6 ports 6 seed 3",
				      "star 4 ports 8", "mesh 2 2 ports 7 hosts 2"};

/* What can be clicked; %N a node, %P a port, %M a manager, %G a new GUID, %K a node that was added. */
static const char *const clicks[] = {
	"off %N",	  "on %N",
	"unlink %P",	  "relink %P",
	"crash %M",	  "restart %M",
	"pause %M",	  "continue %M",
	"handover %M",	  "loss 20% %P",
	"latency 5us %P", "loss 3%",
	"loss 0%",	  "cut %N",
	"join",		  "pull %M",
	"plug %M",	  "move %M %P",
	"link %P %P",	  "seat %M %N",
	"reboot %N",	  "add switch %G 8 'new one'",
	"add host %G 2",  "link %K %P",
	"link %K %K",	  "delay 2%",
	"dup 2%",	  "rogue %N",
	"lie %N 3%",	  "restart %M with-lids",
};

struct hand {
	struct page p;
	struct rng rng;
	uint64_t nodes, guids[100], added[100];
	unsigned nports[100], nadded, naddedports[100];
	bool traffic;
};

static void read_nodes(struct hand *h)
{
	const uint8_t *f = h->p.last[WINDOW_FABRIC];

	h->nodes = number(f + 12, 4);
	assert_true(h->nodes < 100);
	for (uint64_t i = 0; i < h->nodes; i++) {
		h->guids[i] = number(f + 28 + 28 * i, 8);
		h->nports[i] = (unsigned)number(f + 28 + 28 * i + 20, 2);
	}
}

static void add_port(struct hand *h, struct strbuf *b, bool added)
{
	unsigned n = added && h->nadded
			     ? (unsigned)h->nodes - 1 - (unsigned)rng_below(&h->rng, h->nadded)
			     : (unsigned)rng_below(&h->rng, (uint32_t)h->nodes);

	strbuf_addf(b, "0x%016llx[%u]", (unsigned long long)h->guids[n],
		    1 + (unsigned)rng_below(&h->rng, h->nports[n]));
}

static void add_word(struct hand *h, struct strbuf *b, char what)
{
	if (what == 'N')
		strbuf_addf(b, "0x%016llx",
			    (unsigned long long)h->guids[rng_below(&h->rng, (uint32_t)h->nodes)]);
	else if (what == 'M')
		strbuf_addf(b, "%u", (unsigned)rng_below(&h->rng, 2));
	else if (what == 'G')
		strbuf_addf(b, "0x%llx", 0x0009000000000000ull + 16 * ++h->nadded);
	else
		add_port(h, b, what == 'K');
}

static void click(struct hand *h)
{
	const char *c = clicks[rng_below(&h->rng, ARRAY_LEN(clicks))];
	bool adds = !strncmp(c, "add", 3);
	struct strbuf b = {0};

	strbuf_add(&b, "{\"cmd\":\"event\",\"text\":\"");
	for (; *c; c++)
		if (*c == '%' && c[1] && strchr("NPMGK", c[1]))
			add_word(h, &b, *++c);
		else
			strbuf_addf(&b, "%s", *c == '\'' ? "\\\"" : (char[]){*c, 0});
	strbuf_add(&b, "\"}");
	say(&h->p, b.s);
	if (json_object_get(h->p.reply, "error"))
		fail_msg("%s: %s", b.s, json_string_value(json_object_get(h->p.reply, "error")));
	strbuf_free(&b);
	while (adds && window_is_going(h->p.w))
		window_work(h->p.w, 1000, 5000);
	if (adds)
		read_nodes(h);
}

static void steps(struct hand *h)
{
	static const char *const what[] = {"event", "smp", "event", "phase"};
	const char *step = what[rng_below(&h->rng, ARRAY_LEN(what))];
	char text[80];

	snprintf(text, sizeof(text), "{'cmd':'step','what':'%s'}", step);
	for (uint64_t n = rng_below(&h->rng, *step == 'e' ? 400 : 4); n--;) {
		ask(&h->p, text);
		for (unsigned i = 0; i < 400 && window_work(h->p.w, 0, 1 + rng_below(&h->rng, 50));
		     i++)
			;
	}
}

static void let_run(struct hand *h)
{
	char text[80];

	if (rng_below(&h->rng, 2)) {
		steps(h);
		return;
	}
	snprintf(text, sizeof(text), "{'cmd':'speed','speed':%u}",
		 1 + (unsigned)rng_below(&h->rng, 3000));
	ask(&h->p, text);
	for (uint64_t i = rng_below(&h->rng, 20); i--;)
		window_work(h->p.w, 33333, 100 + rng_below(&h->rng, 3000));
}

static void begin(struct hand *h, uint64_t seed)
{
	char text[400];

	rng_seed(&h->rng, seed, 1);
	page_open(&h->p);
	snprintf(text, sizeof(text), "{'cmd':'generate','words':'%s'}",
		 fabrics[rng_below(&h->rng, ARRAY_LEN(fabrics))]);
	ask(&h->p, text);
	read_nodes(h);
	h->traffic = rng_below(&h->rng, 2);
	snprintf(
		text, sizeof(text),
		"{'cmd':'setup','seed':%llu,'traffic':'%s','managers':[{'node':0,'priority':3},{'node':%u,'start':'2ms'}]}",
		(unsigned long long)seed, h->traffic ? "40us" : "", (unsigned)h->nodes - 1);
	ask(&h->p, text);
	ask(&h->p, "{'cmd':'start'}");
}

/* Both ways to repeat it. */
static bool expect_same(struct hand *h, uint64_t seed)
{
	bool whole;
	struct schedule_result out;
	struct page *p = &h->p;
	struct schedule s;
	struct fab *f;
	struct err e;
	char hash[24], was[24], *text;
	json_t *start;
	uint64_t at;

	ask(p, "{'cmd':'script'}");
	text = mem_strdup(text_of(p, "text"));
	snprintf(was, sizeof(was), "%s", text_of(p, "hash"));
	at = strtoull(text_of(p, "at"), NULL, 10);
	if (schedule_read(&s, &f, "script", text, strlen(text), &e))
		fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, e.text, text);
	schedule_run(&s, NULL, &out);
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)out.trace);
	whole = out.trace != 0; /* else a check ended it before the last fault */
	if (whole && strcmp(hash, was))
		fail_msg("seed %llu: %s, replayed %s\n%s", (unsigned long long)seed, was, hash,
			 text);
	fab_free(f);
	schedule_free(&s);
	ask(p, "{'cmd':'series'}");
	start = json_pack("{s:s,s:O}", "cmd", "start", "events",
			  json_object_get(p->reply, "journal"));
	free(text);
	text = json_dumps(start, 0);
	ask(p, "{'cmd':'speed','speed':0}");
	ask(p, text);
	go(p, (unsigned)(at / PS_PER_US)); /* then the rest, in picoseconds */
	free(text);
	text = mem_alloc(80);
	snprintf(text, 80, "{'cmd':'go','at':'%llu'}", (unsigned long long)at);
	ask(p, text);
	while (window_work(p->w, 1000, 10000))
		;
	ask(p, "{'cmd':'script'}");
	assert_string_equal(text_of(p, "hash"), was);
	free(text);
	json_decref(start);
	return whole;
}

TEST(what_is_clicked_can_be_repeated)
{
	const char *given = getenv("SEED");
	unsigned whole = 0;
	uint64_t first = given ? strtoull(given, NULL, 10) : FIRST;
	uint64_t last = given ? first : FIRST + SEEDS - 1;

	for (uint64_t seed = first; seed <= last; seed++) {
		struct hand *h = mem_zalloc(sizeof(*h));

		begin(h, seed);
		for (unsigned i = 0; i < CLICKS; i++) {
			let_run(h);
			click(h);
		}
		let_run(h);
		whole += expect_same(h, seed);
		page_close(&h->p);
		free(h);
	}
	assert_true(given || whole > SEEDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_clicked_can_be_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
