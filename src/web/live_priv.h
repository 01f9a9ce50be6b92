/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the live source: its state. live_process.c writes it; parts of it are those of the files named here.
 */
#ifndef WEFT_LIVE_PRIV_H
#define WEFT_LIVE_PRIV_H

#include "base/json.h"
#include "base/vec.h"
#include "web/live_client.h"
#include "web/live_picture.h"
#include "web/live_tables.h"

enum live_tag {
	LIVE_STATUS,
	LIVE_TOPOLOGY,
	LIVE_CHANGES,
	LIVE_VMS,
	LIVE_TABLES,
	LIVE_TAG_PAGE = 16
};

/* A page's request that waits for the manager's answer, and what becomes of it. */
enum live_wish { LIVE_ANSWER, LIVE_NODE, LIVE_ROUTE, LIVE_TREE };
struct live_question {
	unsigned tag;
	enum live_wish wish;
	bool slow; /* on the connection of its own */
	char *id;  /* JSON */
};

/*
 * Pieces of what grows with the subnet are asked for while the manager is at rest: it answers "busy" otherwise, and is asked
 * again after a while. If it is busy without end, small pieces are asked for nevertheless, with long pauses.
 */
struct live_patience {
	uint64_t busy_since; /* ms; 0: it was not */
};
enum { LIVE_BUSY_MS = 50, LIVE_PATIENCE_MS = 3000 };
bool live_patient(const struct live_patience *p, uint64_t now);
/* An answer: true if it is "busy". */
bool live_patience_takes(struct live_patience *p, const json_t *answer, uint64_t now);

/* The subnet, read in pieces; live_refresh.c. */
struct live_refresh {
	bool on;
	struct live_patience patience;
	struct strbuf netlist, states;
	char version[LIVE_VERSION];
	uint32_t first;	  /* node of the next piece */
	unsigned tries;	  /* the subnet changed meanwhile */
	uint64_t began;	  /* ms */
	uint64_t asked;	  /* the piece that is under way */
	uint64_t next_at; /* the next one */
};

/* Lists that pages ask for at any time; live_refresh.c. */
struct live_lists {
	json_t *changes; /* the last ones, oldest first */
	uint64_t number; /* of the last of them */
	json_t *vms, *vms_next;
};

/* A page's request that waits for tables; live_routes.c. */
struct live_wait {
	char *id;
	json_t *port; /* NULL: loads of all links */
	bool quality; /* instead of loads */
};

struct live_fetch {
	VEC(struct live_wait) waits;
	struct live_tables tables;
	uint32_t *load;	       /* of these tables; NULL: not counted yet */
	struct strbuf quality; /* members of a reply, of these tables; empty: not measured yet */
	struct live_patience patience;
	bool checked; /* the version of these tables is the manager's */
	unsigned tries;
	uint64_t asked, next_at; /* ms */
};

struct live {
	int fd; /* of the web process */
	bool changes;
	struct live_client *client;
	struct live_client
		*slow; /* for requests that are answered later: they hold up those behind */
	struct live_picture *picture;
	char version[LIVE_VERSION]; /* of the picture */
	unsigned asked;		    /* bits by tag: not answered yet */
	uint64_t seen;		    /* fingerprint of the last status */
	uint64_t change_count;
	time_ps uptime;
	bool stale, told_lost;
	bool quiet; /* the manager is at rest: it was when it last said so */
	uint64_t next_connect, next_status, next_refresh, next_vms; /* ms */
	uint64_t second, records; /* records sent in this second */
	uint64_t hold_until;	  /* ms; until then the manager's records pile up */
	struct live_refresh refresh;
	struct live_lists lists;
	struct live_fetch fetch;
	/* of pages */
	VEC(struct live_question) questions;
	unsigned next_tag;
	uint64_t page_second, page_requests;
};

uint64_t live_now_ms(void);
void live_send_json(struct live *l, const char *text, size_t len);
bool live_ask(struct live *l, unsigned tag, const char *json);
void live_tell(struct live *l, bool connected, const char *why); /* {"live":...} */

/* live_refresh.c: what is read of the manager without a page's request */
void live_refresh_begin(struct live *l, uint64_t now);
void live_refresh_due(struct live *l, uint64_t now);
void live_refresh_reset(struct live *l); /* the connection is a new one */
void live_topology_taken(struct live *l, const json_t *answer);
void live_changes_taken(struct live *l, json_t *answer);
void live_vms_ask(struct live *l);
void live_vms_taken(struct live *l, json_t *answer);

/* live_replies.c: members of a reply */
void live_reply_node(struct live *l, struct json *j, const json_t *answer);
void live_reply_route(struct live *l, struct json *j, const json_t *answer);
void live_reply_tree(struct live *l, struct json *j, const json_t *answer);
void live_reply_find(struct live *l, struct json *j, const char *text);

/* live_routes.c: commands that need all tables */
/* NULL, or why not. */
const char *live_routes_ask(struct live *l, const char *cmd, const json_t *port, const char *id);
void live_routes_due(struct live *l, uint64_t now);
void live_routes_taken(struct live *l, const json_t *answer);
void live_routes_refuse(struct live *l, const char *why); /* all that wait */
void live_routes_forget(struct live *l); /* the tables: the connection is a new one */

/* live_quality.c */
void live_reply_quality(struct live *l, const char *id);

/* live_commands.c */
void live_page_message(struct live *l); /* one message of the web process */
void live_page_answer(struct live *l, unsigned tag, const char *line, size_t len);
void live_page_lost(struct live *l, bool slow_only); /* requests are answered by an error */
void live_reply_begin(struct json *j, const char *id);
void live_reply_end(struct live *l, struct json *j);
void live_reply_error(struct live *l, const char *id, const char *why);

#endif
