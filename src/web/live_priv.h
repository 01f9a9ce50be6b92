/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the live source: its state; live_process.c writes it, the members of pages are live_commands.c's.
 */
#ifndef WEFT_LIVE_PRIV_H
#define WEFT_LIVE_PRIV_H

#include "base/json.h"
#include "base/vec.h"
#include "web/live_client.h"
#include "web/live_picture.h"

enum live_tag {
	LIVE_STATUS,
	LIVE_TOPOLOGY,
	LIVE_PORTS,
	LIVE_CHANGES,
	LIVE_VMS,
	LIVE_TAG_PAGE = 16
};

/* A page's request that waits for the manager's answer, and what becomes of it. */
enum live_wish { LIVE_ANSWER, LIVE_NODE, LIVE_ROUTE };
struct live_question {
	unsigned tag;
	enum live_wish wish;
	char *id; /* JSON */
};

struct live {
	int fd; /* of the web process */
	bool changes;
	struct live_client *client;
	struct live_picture *picture;
	unsigned asked; /* bits by tag: not answered yet */
	uint64_t seen;	/* fingerprint of the last status */
	uint64_t change_count;
	time_ps uptime;
	bool stale, refreshing, told_lost;
	uint64_t next_connect, next_status, next_refresh, next_vms, refresh_began; /* ms */
	uint64_t second, records; /* records sent in this second */
	/* of pages */
	VEC(struct live_question) questions;
	unsigned next_tag;
	uint64_t page_second, page_requests;
};

uint64_t live_now_ms(void);
void live_send_json(struct live *l, const char *text, size_t len);

/* live_replies.c: members of a reply */
void live_reply_node(struct live *l, struct json *j, const json_t *answer);
void live_reply_route(struct live *l, struct json *j, const json_t *answer);
void live_reply_find(struct live *l, struct json *j, const char *text);

/* live_commands.c */
void live_page_message(struct live *l); /* one message of the web process */
void live_page_answer(struct live *l, unsigned tag, const char *line, size_t len);
void live_page_lost(struct live *l); /* the manager: requests are answered by an error */

#endif
