/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may ask: token, Host, Origin, Sec-Fetch-Site.
 */
#include "unit_test.h"

#include "web/access.h"

static struct web_access a;
static const char *why;

static struct web_text text(const char *s)
{
	return (struct web_text){s, s ? strlen(s) : 0};
}

static int check(const char *host, const char *origin, const char *token)
{
	struct web_request r = {.host = text(host), .origin = text(origin), .token = text(token)};

	return web_access_check(&a, &r, true, &why);
}

TEST(tokens)
{
	struct web_access b;
	struct err e;
	char wrong[WEB_TOKEN_LEN + 2];

	assert_int_equal(web_access_init(&a, 8000, &e), 0);
	assert_int_equal(web_access_init(&b, 8000, &e), 0);
	assert_int_equal(strlen(a.token), WEB_TOKEN_LEN);
	assert_int_equal(strspn(a.token, "0123456789abcdef"), WEB_TOKEN_LEN);
	assert_string_not_equal(a.token, b.token);
	assert_true(web_token_equal(a.token, text(a.token)));
	assert_false(web_token_equal(a.token, text(b.token)));
	assert_false(web_token_equal(a.token, text("")));
	for (size_t i = 0; i < WEB_TOKEN_LEN; i++) {
		strcpy(wrong, a.token);
		wrong[i] ^= 1;
		assert_false(web_token_equal(a.token, text(wrong)));
	}
	snprintf(wrong, sizeof(wrong), "%s0", a.token);
	assert_false(web_token_equal(a.token, text(wrong)));
}

TEST(hosts_and_origins)
{
	struct web_request page = {.host = text("localhost:8000"), .site = text("cross-site")};

	assert_int_equal(check("127.0.0.1:8000", NULL, a.token), 200);
	assert_int_equal(check("localhost:8000", "http://localhost:8000", a.token), 200);
	assert_int_equal(check("localhost:8000", "http://127.0.0.1:8000", a.token), 403);
	assert_int_equal(check("127.0.0.1:8000", "http://evil.example", a.token), 403);
	assert_int_equal(check("127.0.0.1:8000", "null", a.token), 403);
	assert_int_equal(check("127.0.0.1:8000", "", a.token), 403);
	assert_int_equal(check("127.0.0.1", NULL, a.token), 421);
	assert_int_equal(check("evil.example:8000", NULL, a.token), 421);
	assert_int_equal(check("127.0.0.1:80001", NULL, a.token), 421);
	assert_int_equal(check("", NULL, a.token), 421);
	assert_int_equal(check("127.0.0.1:8000", NULL, NULL), 403);
	assert_non_null(strstr(why, "missing"));
	assert_int_equal(check("127.0.0.1:8000", NULL, "0"), 403);
	assert_non_null(strstr(why, "wrong"));
	/* A link on another page may lead here; what takes the token may not be asked from there. */
	assert_int_equal(web_access_check(&a, &page, false, &why), 200);
	page.token = text(a.token);
	assert_int_equal(web_access_check(&a, &page, true, &why), 403);
	page.site = text("same-origin");
	assert_int_equal(web_access_check(&a, &page, true, &why), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens),
		cmocka_unit_test(hosts_and_origins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
