/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the head of a request to the window's server: a status comes out, more bytes never change it, and what
 * was read lies inside the head. Keeps nothing. libFuzzer is the way in, or replay.c over files.
 */
#include "web/request_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const char *data, size_t len, struct web_text t)
{
	if (t.s && (t.s < data || t.s + t.len > data + len))
		abort();
}

static void check(const char *data, size_t len, const struct web_request *r)
{
	if (r->head_len > len || memcmp(data + r->head_len - 4, "\r\n\r\n", 4))
		abort();
	if (!r->host.s || !r->path.len || r->path.s[0] != '/' || (r->body && r->method != WEB_POST))
		abort();
	inside(data, r->head_len, r->path);
	inside(data, r->head_len, r->token);
	inside(data, r->head_len, r->session);
	inside(data, r->head_len, r->host);
	inside(data, r->head_len, r->origin);
	inside(data, r->head_len, r->site);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = 0, step;
	int status = 0;

	size = MIN(size, (size_t)WEB_HEAD_MAX + 8);
	step = 1 + size / 64;
	for (;; n = MIN(n + step, size)) {
		char *part =
			mem_alloc(n); /* of exactly this size: what is read behind it is found */
		struct web_request r;
		int now;

		memcpy(part, data, n);
		now = web_request_parse(part, n, &r);
		if (status && now != status)
			abort();
		if (now == 200)
			check(part, n, &r);
		status = now;
		free(part);
		if (n == size)
			break;
	}
	return 0;
}
