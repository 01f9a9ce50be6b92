/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Token, Host and Origin. State: none but the caller's struct. Ways in: web_access_init(), web_access_check().
 * Does not know paths: the caller says which need the token.
 */
#include "web/access.h"

#include <sys/random.h>

int web_access_init(struct web_access *a, unsigned port, struct err *e)
{
	uint8_t bits[WEB_TOKEN_LEN / 2];

	if (getrandom(bits, sizeof(bits), 0) != sizeof(bits))
		return err_set(e, -errno, "no random bits for a token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bits); i++)
		snprintf(a->token + 2 * i, 3, "%02x", bits[i]);
	a->port = port;
	return 0;
}

bool web_token_equal(const char *token, struct web_text given)
{
	volatile unsigned char differ = 0;

	if (given.len != WEB_TOKEN_LEN)
		return false;
	for (size_t i = 0; i < WEB_TOKEN_LEN; i++)
		differ = (unsigned char)(differ | (token[i] ^ given.s[i]));
	return !differ;
}

static bool host_is_ours(const struct web_access *a, struct web_text host)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	char text[32];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(text, sizeof(text), "%s:%u", names[i], a->port);
		if (web_text_is(host, text) || (a->port == 80 && web_text_is(host, names[i])))
			return true;
	}
	return false;
}

/* The page's own requests come from the address that the browser shows. */
static bool origin_is_ours(const struct web_request *r)
{
	static const char scheme[] = "http://";
	size_t n = sizeof(scheme) - 1;

	return !r->origin.s ||
	       (r->origin.len == n + r->host.len && !memcmp(r->origin.s, scheme, n) &&
		!memcmp(r->origin.s + n, r->host.s, r->host.len));
}

static bool site_is_ours(const struct web_request *r)
{
	return !r->site.s || web_text_is(r->site, "same-origin") || web_text_is(r->site, "none");
}

int web_access_check(const struct web_access *a, const struct web_request *r, bool secret,
		     const char **why)
{
	*why = NULL;
	if (!host_is_ours(a, r->host)) {
		*why = "the Host of the request is not that of this server";
		return 421;
	}
	if (!origin_is_ours(r) || (secret && !site_is_ours(r)))
		*why = "the request comes from another page (Origin)";
	else if (secret && !r->token.s)
		*why = "the token is missing: open the address that weft ui printed";
	else if (secret && !web_token_equal(a->token, r->token))
		*why = "the token is wrong: open the address that weft ui printed";
	return *why ? 403 : 200;
}
