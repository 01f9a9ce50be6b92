/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics: the text, read by a strict parser of OpenMetrics, and HTTP with clients that are slow, broken
 * or many.
 * Covers: metrics.c, metrics_file.c, http.c
 */
#include "unit_test.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/lab.h"
#include "run/http.h"
#include "run/run.h"

/* ---- a strict parser ---- */

struct family {
	char name[80], type[16], unit[16];
	bool help;
	unsigned samples;
};

struct om {
	struct family f[128];
	unsigned n;
	char seen[512][200]; /* name and labels of samples: none twice */
	unsigned nseen;
	bool ended;
};

static bool is_name(const char *s, size_t n)
{
	if (!n || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

static struct family *family_now(struct om *o, const char *name, size_t len, bool fresh)
{
	struct family *f = o->n ? &o->f[o->n - 1] : NULL;

	assert_true(is_name(name, len) && len < sizeof(f->name));
	if (f && strlen(f->name) == len && !memcmp(f->name, name, len))
		return f;
	assert_true(fresh);
	for (unsigned i = 0; i < o->n; i++) /* families are not interleaved */
		assert_true(strlen(o->f[i].name) != len || memcmp(o->f[i].name, name, len));
	assert_true(!f || f->samples);
	assert_true(o->n < ARRAY_LEN(o->f));
	f = &o->f[o->n++];
	memcpy(f->name, name, len);
	return f;
}

static void meta_line(struct om *o, const char *line)
{
	char what[8], name[80], rest[200];
	struct family *f;

	if (!strcmp(line, "# EOF")) {
		o->ended = true;
		return;
	}
	assert_int_equal(sscanf(line, "# %7s %79s %199[^\n]", what, name, rest), 3);
	f = family_now(o, name, strlen(name), true);
	assert_int_equal(f->samples, 0);
	if (!strcmp(what, "TYPE")) {
		assert_string_equal(f->type, "");
		assert_true(!strcmp(rest, "gauge") || !strcmp(rest, "counter") ||
			    !strcmp(rest, "info") || !strcmp(rest, "stateset"));
		strcpy(f->type, rest);
	} else if (!strcmp(what, "UNIT")) {
		assert_true(!strcmp(rest, "seconds") || !strcmp(rest, "bytes"));
		assert_string_equal(name + strlen(name) - strlen(rest),
				    rest); /* the name ends with its unit */
		strcpy(f->unit, rest);
	} else {
		assert_string_equal(what, "HELP");
		assert_false(f->help);
		assert_true(isupper((unsigned char)*rest) && rest[strlen(rest) - 1] == '.');
		f->help = true;
	}
}

/* {a="b",c="d"}; returns behind it. */
static const char *labels(const char *s)
{
	if (*s != '{')
		return s;
	do {
		size_t n = strcspn(++s, "=");

		assert_true(is_name(s, n) && s[n + 1] == '"');
		for (s += n + 2; *s != '"'; s++) {
			assert_true((unsigned char)*s >= ' ');
			if (*s == '\\')
				assert_non_null(strchr("\\\"n", *++s));
		}
		s++;
	} while (*s == ',');
	assert_int_equal(*s, '}');
	return s + 1;
}

static void sample_line(struct om *o, const char *line)
{
	size_t n = strcspn(line, "{ "), base = n;
	const char *suffix = "";
	struct family *f = &o->f[o->n - 1];
	const char *value;
	char *end;

	assert_true(o->n && *f->type && f->help);
	if (!strcmp(f->type, "counter"))
		suffix = "_total";
	else if (!strcmp(f->type, "info"))
		suffix = "_info";
	base -= strlen(suffix);
	assert_memory_equal(line + base, suffix, strlen(suffix));
	f = family_now(o, line, base, false);
	value = labels(line + n);
	snprintf(o->seen[o->nseen], sizeof(o->seen[0]), "%.*s", (int)(value - line), line);
	for (unsigned i = 0; i < o->nseen; i++)
		assert_string_not_equal(o->seen[i], o->seen[o->nseen]);
	assert_true(++o->nseen < ARRAY_LEN(o->seen));
	assert_int_equal(*value, ' ');
	assert_true(isdigit((unsigned char)value[1]));
	assert_true(strtod(value + 1, &end) >= 0 && !*end);
	if (!strcmp(f->type, "stateset"))
		assert_true(!strcmp(value, " 0") || !strcmp(value, " 1"));
	f->samples++;
}

static void om_parse(struct om *o, const char *text)
{
	char line[512];

	memset(o, 0, sizeof(*o));
	while (*text) {
		size_t n = strcspn(text, "\n");

		assert_int_equal(text[n], '\n');
		assert_true(n && n < sizeof(line) && !o->ended);
		memcpy(line, text, n);
		line[n] = 0;
		if (*line == '#')
			meta_line(o, line);
		else
			sample_line(o, line);
		text += n + 1;
	}
	assert_true(o->ended && o->f[o->n - 1].samples);
}

static void has(const char *text, const char *sample)
{
	struct strbuf b = {0};

	strbuf_addf(&b, "\n%s\n", sample);
	if (!strstr(text, b.s))
		fail_msg("'%s' is not in\n%s", sample, text);
	strbuf_free(&b);
}

/* ---- the text ---- */

TEST(without_a_connection)
{
	struct settings c;
	struct run_view v = {.cfg = &c};
	struct strbuf out = {0};
	static struct om o;

	settings_default(&c);
	run_metrics(&v, &out);
	om_parse(&o, out.s);
	has(out.s, "weft_up 0");
	has(out.s, "weft_state{weft_state=\"not_active\"} 1");
	has(out.s, "weft_phase{weft_phase=\"off\"} 1");
	strbuf_free(&out);
}

/* A table of all nodes, which takes several segments, and two requests for a node that does not exist. */
static void requests_to_sa(struct sa *sa, const struct sm *sm)
{
	for (unsigned i = 0; i < 3; i++) {
		struct sa_mad in = {.lid = 1};
		struct iba_sa_hdr h = {.mask = i ? IBA_SA_BIT(node, lid) : 0};
		struct iba_sa_node nr = {.lid = 0x1234};

		iba_smp_set_base_version(in.mad, 1);
		iba_smp_set_mgmt_class(in.mad, IBA_CLASS_SUBN_ADM);
		iba_smp_set_class_version(in.mad, IBA_SA_CLASS_VERSION);
		iba_smp_set_method(in.mad, i ? IBA_GET : IBA_SA_GET_TABLE);
		iba_smp_set_attr_id(in.mad, IBA_SA_NODE);
		iba_smp_set_tid(in.mad, i + 1);
		iba_sa_node_put(&nr, in.mad + IBA_SA_DATA_OFF);
		iba_sa_hdr_put(&h, in.mad);
		sa_take(sa, sm, &in, PS_PER_S);
	}
}

TEST(metrics_of_a_subnet)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	const uint64_t notes[SM_NOTE_NKINDS] = {[SM_NOTE_LINK_DOWN] = 3};
	struct run_change change = {.number = 7};
	struct strbuf out = {0};
	struct settings rc;
	struct lab_config c;
	struct sa_config sc;
	static struct om o;
	struct run_view v;
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	struct lab *l;

	lab_config_default(&c);
	settings_default(&rc);
	l = lab_new(f, &c, &e);
	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, 10 * PS_PER_S));
	sa_config_default(&sc);
	v = (struct run_view){.cfg = &rc,
			      .sm = lab_sm(l),
			      .sa = sa_new(&sc),
			      .connected = true,
			      .mads_in = 12,
			      .uptime_ms = 1234,
			      .changes = &change,
			      .nchanges = 1,
			      .notes = notes,
			      .port.name = "a \"quoted\\ \nname\" \xff\x01"};
	requests_to_sa(v.sa, v.sm);
	run_metrics(&v, &out);
	om_parse(&o, out.s);
	has(out.s, "weft_sa_serving 1");
	has(out.s, "weft_sa_requests_total{attribute=\"NodeRecord\",result=\"answered\"} 1");
	has(out.s, "weft_sa_requests_total{attribute=\"NodeRecord\",result=\"refused\"} 2");
	has(out.s, "weft_sa_errors_total{status=\"no_records\"} 2");
	has(out.s, "weft_sa_transfers 1");
	has(out.s, "weft_sa_groups 2");
	has(out.s, "weft_up 1");
	has(out.s, "weft_state{weft_state=\"master\"} 1");
	has(out.s, "weft_phase{weft_phase=\"ready\"} 1");
	has(out.s, "weft_switches 6");
	has(out.s, "weft_hosts 8");
	has(out.s, "weft_lids 14");
	has(out.s, "weft_changes_total 7");
	has(out.s, "weft_notes_total{note=\"link_down\"} 3");
	has(out.s, "weft_mads_total{direction=\"in\"} 12");
	has(out.s, "weft_uptime_seconds 1.234");
	has(out.s, "weft_round_clean 1");
	assert_non_null(strstr(out.s, "port=\"a \\\"quoted\\\\ \\nname\\\" ??\""));
	strbuf_free(&out);
	sa_free(v.sa);
	lab_free(l);
	fab_free(f);
}

/* ---- HTTP ---- */

TEST(requests)
{
	static const struct {
		const char *text;
		int status;
	} t[] = {
		{"", 0},
		{"GET /metrics HTTP/1.1\r\n", 0},
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n", 0},
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"GET /metrics HTTP/1.0\n\n", 200},
		{"GET /metrics?x=y HTTP/1.1\r\n\r\n", 200},
		{"HEAD /metrics HTTP/1.1\r\n\r\n", 200},
		{"GET / HTTP/1.1\r\n\r\n", 404},
		{"GET /metricsx HTTP/1.1\r\n\r\n", 404},
		{"POST /metrics HTTP/1.1\r\n\r\n", 405},
		{"GET /metrics\r\n\r\n", 400},
		{"GET  HTTP/1.1\r\n\r\n", 400},
		{"\r\n\r\n", 400},
		{"\n\n", 400},
		{"GET metrics HTTP/1.1\r\n\r\n", 400},
		{"GET /metrics HTTP/2\r\n\r\n", 505},
		{"GET /metrics SPDY/1.1\r\n\r\n", 505},
		{"GET /metrics HTTP/1.1\n\nbody", 200},
	};
	static char much[HTTP_REQUEST_MAX];
	bool head;

	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (http_request(t[i].text, strlen(t[i].text), &head) != t[i].status)
			fail_msg("'%s' is not %d", t[i].text, t[i].status);
	memset(much, 'x', sizeof(much));
	assert_int_equal(http_request(much, sizeof(much) - 1, &head), 0);
	assert_int_equal(http_request(much, sizeof(much), &head), 431);
}

/* The older format: samples stay, families have the names of their samples, types that it does not know are gauges. */
TEST(metrics_in_the_older_format)
{
	static const char text[] =
		"# TYPE weft_build info\n# HELP weft_build Version.\nweft_build_info{v=\"1\"} 1\n"
		"# TYPE weft_state stateset\n# HELP weft_state A state.\nweft_state{weft_state=\"a\"} 1\n"
		"# TYPE weft_cpu_seconds counter\n# UNIT weft_cpu_seconds seconds\n"
		"# HELP weft_cpu_seconds Time.\nweft_cpu_seconds_total 1.5\n"
		"# TYPE weft_x unknown\n# HELP weft_y Other.\nweft_x 3\n"
		"# TYPE weft_h histogram\nweft_h_bucket{le=\"+Inf\"} 1\n# EOF\n";
	struct strbuf out = {0};

	run_metrics_plain(text, strlen(text), &out);
	assert_string_equal(
		out.s,
		"# TYPE weft_build_info gauge\n# HELP weft_build_info Version.\nweft_build_info{v=\"1\"} 1\n"
		"# TYPE weft_state gauge\n# HELP weft_state A state.\nweft_state{weft_state=\"a\"} 1\n"
		"# TYPE weft_cpu_seconds_total counter\n# HELP weft_cpu_seconds_total Time.\n"
		"weft_cpu_seconds_total 1.5\n"
		"# TYPE weft_x untyped\n# HELP weft_y Other.\nweft_x 3\n"
		"# TYPE weft_h histogram\nweft_h_bucket{le=\"+Inf\"} 1\n");
	for (size_t n = 0; n < strlen(text); n++) { /* cut off anywhere: nothing bad happens */
		char *part = mem_alloc(n + 1);

		memcpy(part, text, n);
		out.len = 0;
		run_metrics_plain(part, n, &out);
		free(part);
	}
	strbuf_free(&out);
}

struct server {
	uv_loop_t loop;
	struct run_http *h;
	unsigned asked;
};

static void text(void *ctx, struct strbuf *out)
{
	struct server *s = ctx;

	s->asked++;
	strbuf_add(out, "# TYPE weft_x counter\nweft_x_total 1\n# EOF\n");
}

static int dial(const struct server *s)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)run_http_port(s->h)),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* All that comes until the end of the connection; "": it was cut off without a word. */
static const char *talk(struct server *s, const char *request, bool bytewise)
{
	static char answer[8192];
	size_t n = 0, step = bytewise ? 1 : strlen(request);
	int fd = dial(s);
	ssize_t got;

	for (const char *p = request; *p; p += step) {
		send(fd, p, step, MSG_NOSIGNAL);
		uv_run(&s->loop, UV_RUN_NOWAIT);
	}
	do {
		uv_run(&s->loop, UV_RUN_NOWAIT);
		got = recv(fd, answer + n, sizeof(answer) - 1 - n, MSG_DONTWAIT);
		n += (size_t)MAX(got, 0);
	} while (got > 0 || (got < 0 && errno == EAGAIN));
	answer[n] = 0;
	close(fd);
	return answer;
}

TEST(metrics_over_http)
{
	struct server s = {.asked = 0};
	int silent[80], gone = 0;
	struct run_http *other;
	struct err e;
	char c;

	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&s.loop);
	assert_int_equal(run_http_listen(&s.h, &s.loop, "127.0.0.1", 0, text, &s, &e), 0);
	assert_int_equal(
		run_http_listen(&other, &s.loop, "127.0.0.1", run_http_port(s.h), text, &s, &e),
		UV_EADDRINUSE);
	assert_non_null(strstr(e.text, "cannot serve metrics"));
	assert_string_equal(
		talk(&s,
		     "GET /metrics HTTP/1.1\r\nHost: x\r\naccept: text/plain;q=0.5, "
		     "Application/openmetrics-text;version=1.0.0\r\n\r\n",
		     false),
		"HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"
		"Content-Length: 43\r\nVary: Accept\r\nConnection: close\r\n\r\n"
		"# TYPE weft_x counter\nweft_x_total 1\n# EOF\n");
	assert_string_equal(
		talk(&s, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", false),
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
		"Content-Length: 43\r\nVary: Accept\r\nConnection: close\r\n\r\n"
		"# TYPE weft_x_total counter\nweft_x_total 1\n");
	assert_non_null(strstr(talk(&s, "GET /metrics HTTP/1.1\r\n\r\n", true), "_total 1"));
	assert_null(strstr(talk(&s, "HEAD /metrics HTTP/1.1\r\n\r\n", false), "_total 1"));
	assert_memory_equal(talk(&s, "GET /x HTTP/1.1\r\n\r\n", false), "HTTP/1.1 404 ", 13);
	assert_int_equal(s.asked, 4);
	/* Many that say nothing: those beyond the limit are cut off, the rest when the time is up. */
	for (int i = 0; i < 80; i++)
		silent[i] = dial(&s), uv_run(&s.loop, UV_RUN_NOWAIT);
	for (int i = 0; i < 80; i++)
		gone += recv(silent[i], &c, 1, MSG_DONTWAIT) == 0;
	assert_int_equal(gone, 80 - 64);
	for (int i = 0; i < 80; i++)
		close(silent[i]);
	for (int i = 0; i < 80; i++)
		uv_run(&s.loop, UV_RUN_NOWAIT);
	assert_memory_equal(talk(&s, "GET /metrics HTTP/1.1\r\n\r\n", false), "HTTP/1.1 200 ", 13);
	run_http_limit(s.h, &(struct run_http_limits){.connections = 1, .timeout_s = 1, .rate = 1});
	gone = 0; /* a slow machine may need more than a second for two requests */
	for (int i = 0; i < 1000 && !gone; i++)
		gone = !strncmp(talk(&s, "GET /metrics HTTP/1.1\r\n\r\n", false), "HTTP/1.1 429 ",
				13);
	assert_true(gone);
	silent[0] = dial(&s);
	uv_run(&s.loop, UV_RUN_NOWAIT);
	run_http_close(s.h); /* with a connection open */
	uv_run(&s.loop, UV_RUN_DEFAULT);
	close(silent[0]);
	assert_int_equal(uv_loop_close(&s.loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_connection),
		cmocka_unit_test(metrics_of_a_subnet),
		cmocka_unit_test(requests),
		cmocka_unit_test(metrics_in_the_older_format),
		cmocka_unit_test(metrics_over_http),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
