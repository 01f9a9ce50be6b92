/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection to the control socket of a manager, for the live source: requests are answered in order, log records
 * come in between. Never blocks: the caller polls live_client_fd().
 */
#ifndef WEFT_LIVE_CLIENT_H
#define WEFT_LIVE_CLIENT_H

#include "base/base.h"

enum { LIVE_WAITING_MOST = 64, LIVE_ANSWER_MAX = 256 << 20 };

struct live_client;

struct live_client_ops {
	/* tag: that of the request. line is NUL-terminated, and may be changed. */
	void (*answer)(void *ctx, unsigned tag, char *line, size_t len);
	void (*record)(void *ctx, char *line, size_t len); /* of the manager's log */
	void *ctx;
};

/* record NULL: it does not subscribe to the log. */
struct live_client *live_client_new(const char *path, const struct live_client_ops *ops);
void live_client_free(struct live_client *c);

/* Connects if it is not; 0, or -errno with e filled. Subscribes to the log, if the caller wants it. */
int live_client_connect(struct live_client *c, struct err *e);
bool live_client_connected(const struct live_client *c);
int live_client_fd(const struct live_client *c); /* -1: not connected */
bool live_client_wants_write(const struct live_client *c);
/* One line of JSON without its end. False: not connected, or too many wait. */
bool live_client_ask(struct live_client *c, unsigned tag, const char *json);
unsigned live_client_waiting(const struct live_client *c); /* requests without an answer */
/* Sends and receives what is possible now. 0, or -errno after which it is not connected any more. */
int live_client_work(struct live_client *c);

#endif
