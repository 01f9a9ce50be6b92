/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may ask for what. The page and its files have no secret: anyone who reaches the loopback may read them. All
 * else takes the token. Host and Origin are checked first: a foreign page that makes its name lead to 127.0.0.1
 * (DNS rebinding), or that sends requests across sites, gets nothing, with the token or without.
 */
#ifndef WEFT_ACCESS_H
#define WEFT_ACCESS_H

#include "web/request_head.h"

enum { WEB_TOKEN_LEN = 32 }; /* hexadecimal digits: 128 bits */

struct web_access {
	char token[WEB_TOKEN_LEN + 1];
	unsigned port;
};

/* A token from the kernel's random source. 0 or -errno with e filled. */
int web_access_init(struct web_access *a, unsigned port, struct err *e);

/* 200, 403 or 421, with the reason in *why. secret: the request needs the token. */
int web_access_check(const struct web_access *a, const struct web_request *r, bool secret,
		     const char **why);

/* Takes the same time wherever the first difference is. */
bool web_token_equal(const char *token, struct web_text given);

#endif
