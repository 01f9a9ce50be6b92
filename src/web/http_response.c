/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heads of responses. State: none. Way in: web_response_head().
 */
#include "web/http_priv.h"

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{200, "OK"},
	{204, "No Content"},
	{400, "Bad Request"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{409, "Conflict"},
	{413, "Content Too Large"},
	{417, "Expectation Failed"},
	{421, "Misdirected Request"},
	{431, "Request Header Fields Too Large"},
	{501, "Not Implemented"},
	{503, "Service Unavailable"},
	{505, "HTTP Version Not Supported"},
};

const char *web_reason(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Error";
}

/* Scripts and styles come from this server alone, nothing is loaded from elsewhere, no other page shows this one in
 * a frame, and the address with the token is told to no other server. */
static const char always[] =
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
	"img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'\r\n"
	"X-Content-Type-Options: nosniff\r\n"
	"X-Frame-Options: DENY\r\n"
	"Referrer-Policy: no-referrer\r\n"
	"Cross-Origin-Opener-Policy: same-origin\r\n"
	"Cross-Origin-Resource-Policy: same-origin\r\n"
	"Cache-Control: no-store\r\n";

void web_response_head(struct strbuf *out, const struct web_response *r)
{
	strbuf_addf(out, "HTTP/1.1 %d %s\r\n%s", r->status, web_reason(r->status), always);
	if (r->type)
		strbuf_addf(out, "Content-Type: %s\r\n", r->type);
	if (r->chunked)
		strbuf_add(out, "Transfer-Encoding: chunked\r\n");
	else if (r->status != 204)
		strbuf_addf(out, "Content-Length: %zu\r\n", r->len);
	if (r->allow)
		strbuf_addf(out, "Allow: %s\r\n", r->allow);
	if (r->status == 503)
		strbuf_add(out, "Retry-After: 1\r\n");
	if (r->last)
		strbuf_add(out, "Connection: close\r\n");
	strbuf_add(out, "\r\n");
}
