/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heads of HTTP requests: what is read, what is refused, and that every prefix waits for more.
 */
#include "unit_test.h"

#include "web/request_head.h"

static struct web_request r;

static int parse(const char *s)
{
	return web_request_parse(s, strlen(s), &r);
}

TEST(a_request_of_a_browser)
{
	static const char text[] =
		"POST /command?token=abc&x&session=s-1 HTTP/1.1\r\n"
		"Host: 127.0.0.1:8000\r\ncontent-LENGTH:  12 \r\n"
		"Origin: http://127.0.0.1:8000\r\nSec-Fetch-Site: same-origin\r\n"
		"Connection: close\r\nExpect: 100-continue\r\n\r\n{\"cmd\":";

	for (size_t n = 0; n < (size_t)(strstr(text, "\r\n\r\n") + 4 - text); n++)
		assert_int_equal(web_request_parse(text, n, &r), 0);
	assert_int_equal(parse(text), 200);
	assert_int_equal(r.method, WEB_POST);
	assert_true(web_text_is(r.path, "/command"));
	assert_true(web_text_is(r.token, "abc"));
	assert_true(web_text_is(r.session, "s-1"));
	assert_true(web_text_is(r.host, "127.0.0.1:8000"));
	assert_true(web_text_is(r.origin, "http://127.0.0.1:8000"));
	assert_true(web_text_is(r.site, "same-origin"));
	assert_int_equal(r.body, 12);
	assert_true(r.last && r.expects);
	assert_string_equal(text + r.head_len, "{\"cmd\":");
}

TEST(a_small_request)
{
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
	assert_true(!r.token.s && !r.origin.s && !r.site.s && !r.body && !r.last && !r.expects);
	assert_int_equal(parse("HEAD /?token= HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
	assert_int_equal(r.method, WEB_HEAD);
	assert_true(r.token.s && !r.token.len);
}

TEST(what_is_refused)
{
	static const struct {
		const char *text;
		int status;
	} all[] = {
		{"GET / HTTP/1.1\r\n\r\n", 400}, /* no Host */
		{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 505},
		{"GET / HTTP/1.0\r\nHost: a\r\n\r\n", 505},
		{"GET / HTTP/2\r\nHost: a\r\n\r\n", 505},
		{"GET / FTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /\r\nHost: a\r\n\r\n", 400},
		{"\r\n\r\n", 400},
		{"PUT / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
		{"get / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
		{"GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\n\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nX: b\x01\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
		{"POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", 417},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (parse(all[i].text) != all[i].status)
			fail_msg("%s: %d, expected %d", all[i].text, parse(all[i].text),
				 all[i].status);
}

TEST(a_head_without_end)
{
	char much[WEB_HEAD_MAX];

	memset(much, 'a', sizeof(much));
	assert_int_equal(web_request_parse(much, sizeof(much) - 1, &r), 0);
	assert_int_equal(web_request_parse(much, sizeof(much), &r), 431);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_of_a_browser),
		cmocka_unit_test(a_small_request),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(a_head_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
