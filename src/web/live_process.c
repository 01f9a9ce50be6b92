/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live source. State: the connection to the manager, the picture, when what is asked next. Way in: live_process().
 * What a page may ask is in live_commands.c.
 */
#include "web/live_process.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "web/child_link.h"
#include "web/live_priv.h"

enum {
	STATUS_MS = 1000,
	RECONNECT_MS = 1000,
	VMS_MS = 10000,
	VMS_SOON_MS = 500,
	RECORDS_A_SECOND = 50,
	RECORDS_WAIT_MS = 50,
};

uint64_t live_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- frames out ---- */

void live_send_json(struct live *l, const char *text, size_t len)
{
	child_send_frame(l->fd, FRAME_JSON, text, len, -1);
}

/* {"KEY":VALUE}, the value being JSON already. */
static void send_member(struct live *l, const char *key, const char *value, size_t len)
{
	struct strbuf s = {0};

	strbuf_addf(&s, "{\"%s\":", key);
	strbuf_addn(&s, value, len);
	strbuf_add(&s, "}");
	live_send_json(l, s.s, s.len);
	strbuf_free(&s);
}

static void emit(void *ctx, const uint8_t *frame, size_t len)
{
	struct live *l = ctx;

	child_send(l->fd, frame, len, -1);
}

void live_tell(struct live *l, bool connected, const char *why)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_str(&j, "live", connected ? "connected" : "lost");
	if (why)
		json_str(&j, "why", why);
	json_close(&j);
	live_send_json(l, j.out.s, j.out.len);
	json_free(&j);
}

/* ---- answers ---- */

static time_ps uptime(const json_t *status)
{
	double s = json_number_value(json_object_get(status, "uptime_s"));

	return s > 0 && s < 1e7 ? (time_ps)(s * 1e6) * PS_PER_US : 0;
}

/* What a change alters: reading the subnet again is worth it when one of these differs. */
static uint64_t fingerprint(const json_t *status)
{
	static const char *const keys[] = {"switches", "hosts", "routers", "links", "lids"};
	const json_t *subnet = json_object_get(status, "subnet");
	uint64_t h = (uint64_t)json_integer_value(json_object_get(status, "changes")) + 1;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		h = h * 1000003 + (uint64_t)json_integer_value(json_object_get(subnet, keys[i]));
	return h;
}

static void status_take(struct live *l, const json_t *a)
{
	const char *word = json_string_value(json_object_get(a, "phase"));
	uint64_t print = fingerprint(a);

	if (print != l->seen)
		l->stale = true;
	l->seen = print;
	l->change_count = (uint64_t)json_integer_value(json_object_get(a, "changes"));
	l->uptime = uptime(a);
	l->quiet = !strcmp(word ? word : "", "ready") &&
		   !json_is_true(json_object_get(a, "change_pending"));
	live_picture_managers(l->picture, json_object_get(a, "managers"));
	live_picture_state(l->picture, l->uptime);
}

static void answer(void *ctx, unsigned tag, char *line, size_t len)
{
	struct live *l = ctx;
	json_t *a;

	if (tag >= LIVE_TAG_PAGE) {
		live_page_answer(l, tag, line, len);
		return;
	}
	if (tag == LIVE_STATUS)
		send_member(l, "status", line, len);
	l->asked &= ~(1u << tag);
	a = json_loadb(line, len, 0, NULL);
	if (tag == LIVE_STATUS)
		status_take(l, a);
	else if (tag == LIVE_TOPOLOGY)
		live_topology_taken(l, a);
	else if (tag == LIVE_CHANGES)
		live_changes_taken(l, a);
	else if (tag == LIVE_VMS)
		live_vms_taken(l, a);
	else if (tag == LIVE_TABLES)
		live_routes_taken(l, a);
	json_decref(a);
}

/* Something happened: the next status is asked for soon. More records follow, which are read together: a reader that woke up
 * for each of them would take the manager's core. */
static void record(void *ctx, char *line, size_t len)
{
	struct live *l = ctx;
	uint64_t second = live_now_ms() / 1000;

	if (second != l->second) {
		l->second = second;
		l->records = 0;
	}
	if (l->records++ < RECORDS_A_SECOND)
		send_member(l, "event", line, len);
	l->hold_until = live_now_ms() + RECORDS_WAIT_MS;
	l->next_status = MIN(l->next_status, live_now_ms() + STATUS_MS / 5);
	if (strstr(line, "\"vm"))
		l->next_vms = MIN(l->next_vms, live_now_ms() + VMS_SOON_MS);
}

/* ---- questions ---- */

bool live_ask(struct live *l, unsigned tag, const char *json)
{
	if (!live_client_ask(l->client, tag, json))
		return false;
	l->asked |= 1u << tag;
	return true;
}

static void ask_what_is_due(struct live *l, uint64_t now)
{
	if (!live_client_connected(l->client))
		return;
	if (now >= l->next_status && !(l->asked & 1u << LIVE_STATUS)) {
		live_ask(l, LIVE_STATUS, "{\"cmd\":\"status\"}");
		l->next_status = now + STATUS_MS;
	}
	live_refresh_due(l, now);
	live_routes_due(l, now);
	if (now >= l->next_vms && !(l->asked & 1u << LIVE_VMS)) {
		l->next_vms = now + VMS_MS;
		live_vms_ask(l);
	}
}

static void connection_lost(struct live *l, const char *why)
{
	if (l->told_lost)
		return;
	l->told_lost = true;
	live_tell(l, false, why);
	live_page_lost(l, false);
}

static void connect_if_due(struct live *l, uint64_t now)
{
	struct err e;

	if (live_client_connected(l->client) || now < l->next_connect)
		return;
	l->next_connect = now + RECONNECT_MS;
	if (live_client_connect(l->client, &e)) {
		connection_lost(l, e.text);
		return;
	}
	l->told_lost = false;
	l->asked = 0;
	live_refresh_reset(l);
	l->stale = true;
	l->next_status = l->next_vms = l->next_refresh = now;
	live_tell(l, true, NULL);
}

/* ---- the loop ---- */

static int wait_ms(const struct live *l, uint64_t now)
{
	uint64_t next = l->next_connect;

	if (l->hold_until > now)
		return (int)(l->hold_until - now);
	if (live_client_connected(l->client)) {
		next = MIN(l->next_status, l->next_vms);
		if (l->refresh.on)
			next = MIN(next, l->refresh.next_at);
		else if (l->stale)
			next = MIN(next, l->next_refresh);
		if (l->fetch.waits.n)
			next = MIN(next, l->fetch.next_at);
	}
	/* What is due and still unanswered must not make this a busy loop. */
	return next > now ? (int)MIN(next - now, (uint64_t)1000) : 20;
}

/* Answers to requests that take a while come on a connection of their own, which is opened when it is needed. */
static void slow_work(struct live *l)
{
	int rc = live_client_work(l->slow);

	if (rc)
		live_page_lost(l, true);
}

static short events_of(const struct live_client *c)
{
	return (short)(POLLIN | (live_client_wants_write(c) ? POLLOUT : 0));
}

static void turn(struct live *l)
{
	struct pollfd p[3] = {{.fd = l->fd, .events = POLLIN}, {.fd = -1}, {.fd = -1}};
	uint64_t now = live_now_ms();
	int rc;

	connect_if_due(l, now);
	ask_what_is_due(l, now);
	if (l->hold_until <= now)
		p[1] = (struct pollfd){live_client_fd(l->client), events_of(l->client), 0};
	p[2] = (struct pollfd){live_client_fd(l->slow), events_of(l->slow), 0};
	if (poll(p, 3, wait_ms(l, now)) <= 0)
		return;
	if (p[1].fd >= 0 && p[1].revents) {
		rc = live_client_work(l->client);
		if (rc)
			connection_lost(l, strerror(-rc));
	}
	if (p[2].fd >= 0 && p[2].revents)
		slow_work(l);
	if (p[0].revents)
		live_page_message(l);
}

static void slow_answer(void *ctx, unsigned tag, char *line, size_t len)
{
	live_page_answer(ctx, tag, line, len);
}

void live_process(int fd, void *ctx)
{
	const struct live_config *config = ctx;
	struct live *l = mem_zalloc(sizeof(*l));

	l->fd = fd;
	l->changes = config->changes;
	l->client = live_client_new(config->path, &(struct live_client_ops){answer, record, l});
	l->slow = live_client_new(config->path, &(struct live_client_ops){slow_answer, NULL, l});
	l->picture = live_picture_new(emit, l);
	for (;;)
		turn(l);
}
