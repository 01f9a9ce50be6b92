/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of an HTTP/1.1 request (RFC 9112), as far as browsers send it: GET, HEAD and POST, a path with a
 * query, Host, Origin, Sec-Fetch-Site, Content-Length, Connection, Expect. Anything ambiguous is refused: lines
 * that do not end with CR LF, folded lines, a second Host or Content-Length, Transfer-Encoding.
 */
#ifndef WEFT_REQUEST_HEAD_H
#define WEFT_REQUEST_HEAD_H

#include "base/base.h"

enum { WEB_HEAD_MAX = 8192 };

enum web_method { WEB_GET, WEB_HEAD, WEB_POST };

/* A part of the received bytes. s is NULL where it was not sent. */
struct web_text {
	const char *s;
	size_t len;
};

struct web_request {
	enum web_method method;
	struct web_text path;		/* without the query */
	struct web_text token, session; /* members of the query */
	struct web_text host, origin, site;
	uint64_t body;	 /* Content-Length */
	bool last;	 /* Connection: close */
	bool expects;	 /* Expect: 100-continue */
	size_t head_len; /* with the empty line */
};

/*
 * 0: the head is not complete. 200: r is filled, and points into data. Other values are the status of a
 * refusal: 400, 405, 417, 431, 501, 505; the connection is of no further use then. Bytes behind the head do not
 * change the result.
 */
int web_request_parse(const char *data, size_t len, struct web_request *r);

bool web_text_is(struct web_text t, const char *s);

#endif
