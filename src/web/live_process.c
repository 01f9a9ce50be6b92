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

enum { STATUS_MS = 1000, RECONNECT_MS = 1000, VMS_MS = 10000, RECORDS_A_SECOND = 50, SHARE = 20 };

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

static void connection_tell(struct live *l, bool connected, const char *why)
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
	uint64_t print = fingerprint(a);

	if (print != l->seen)
		l->stale = true;
	l->seen = print;
	l->change_count = (uint64_t)json_integer_value(json_object_get(a, "changes"));
	l->uptime = uptime(a);
	live_picture_managers(l->picture, json_object_get(a, "managers"));
	live_picture_state(l->picture, l->uptime);
}

static void topology_take(struct live *l, const json_t *a)
{
	const json_t *text = json_object_get(a, "netlist");
	struct err e;

	if (json_is_string(text) && json_string_length(text) &&
	    live_picture_topology(l->picture, json_string_value(text), json_string_length(text),
				  &e))
		connection_tell(l, true, e.text);
}

static void ports_take(struct live *l, const json_t *a)
{
	uint64_t now = live_now_ms(), took = now - l->refresh_began;

	live_picture_ports(l->picture, json_object_get(a, "ports"));
	live_picture_state(l->picture, l->uptime);
	l->refreshing = false;
	l->next_refresh = now + MAX((uint64_t)STATUS_MS, took * SHARE);
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
	else if ((tag == LIVE_CHANGES || tag == LIVE_VMS) && !strncmp(line, "{\"ok\":true", 10))
		live_send_json(l, line, len);
	a = tag == LIVE_CHANGES || tag == LIVE_VMS ? NULL : json_loadb(line, len, 0, NULL);
	if (tag == LIVE_STATUS)
		status_take(l, a);
	else if (tag == LIVE_TOPOLOGY)
		topology_take(l, a);
	else if (tag == LIVE_PORTS)
		ports_take(l, a);
	l->asked &= ~(1u << tag);
	json_decref(a);
}

/* Something happened: the next status is asked for soon. */
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
	l->next_status = MIN(l->next_status, live_now_ms() + STATUS_MS / 5);
}

/* ---- questions ---- */

static void ask(struct live *l, unsigned tag, const char *json)
{
	if (live_client_ask(l->client, tag, json))
		l->asked |= 1u << tag;
}

static void refresh(struct live *l, uint64_t now)
{
	char text[64];

	l->stale = false;
	l->refreshing = true;
	l->refresh_began = now;
	ask(l, LIVE_TOPOLOGY, "{\"cmd\":\"topology\"}");
	snprintf(text, sizeof(text), "{\"cmd\":\"changes\",\"count\":%u}", 20);
	if (l->change_count)
		ask(l, LIVE_CHANGES, text);
	ask(l, LIVE_PORTS, "{\"cmd\":\"ports\"}");
}

static void ask_what_is_due(struct live *l, uint64_t now)
{
	if (!live_client_connected(l->client))
		return;
	if (now >= l->next_status && !(l->asked & 1u << LIVE_STATUS)) {
		ask(l, LIVE_STATUS, "{\"cmd\":\"status\"}");
		l->next_status = now + STATUS_MS;
	}
	if (l->stale && !l->refreshing && now >= l->next_refresh)
		refresh(l, now);
	if (now >= l->next_vms && !(l->asked & 1u << LIVE_VMS)) {
		ask(l, LIVE_VMS, "{\"cmd\":\"vm_list\"}");
		l->next_vms = now + VMS_MS;
	}
}

static void connection_lost(struct live *l, const char *why)
{
	if (l->told_lost)
		return;
	l->told_lost = true;
	connection_tell(l, false, why);
	live_page_lost(l);
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
	l->refreshing = false;
	l->stale = true;
	l->next_status = l->next_vms = l->next_refresh = now;
	connection_tell(l, true, NULL);
}

/* ---- the loop ---- */

static int wait_ms(const struct live *l, uint64_t now)
{
	uint64_t next = l->next_connect;

	if (live_client_connected(l->client)) {
		next = MIN(l->next_status, l->next_vms);
		if (l->stale && !l->refreshing)
			next = MIN(next, l->next_refresh);
	}
	/* What is due and still unanswered must not make this a busy loop. */
	return next > now ? (int)MIN(next - now, (uint64_t)1000) : 20;
}

static void turn(struct live *l)
{
	struct pollfd p[2] = {{.fd = l->fd, .events = POLLIN}, {.fd = -1}};
	uint64_t now = live_now_ms();
	int n, rc;

	connect_if_due(l, now);
	ask_what_is_due(l, now);
	p[1].fd = live_client_fd(l->client);
	p[1].events = (short)(POLLIN | (live_client_wants_write(l->client) ? POLLOUT : 0));
	n = poll(p, 2, wait_ms(l, now));
	if (n <= 0)
		return;
	if (p[1].fd >= 0 && p[1].revents) {
		rc = live_client_work(l->client);
		if (rc)
			connection_lost(l, strerror(-rc));
	}
	if (p[0].revents)
		live_page_message(l);
}

void live_process(int fd, void *ctx)
{
	const struct live_config *config = ctx;
	struct live *l = mem_zalloc(sizeof(*l));

	l->fd = fd;
	l->changes = config->changes;
	l->client = live_client_new(config->path, &(struct live_client_ops){answer, record, l});
	l->picture = live_picture_new(emit, l);
	for (;;)
		turn(l);
}
