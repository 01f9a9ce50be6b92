/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that depend on a parameter, in commands and in faults of an experiment's file.
 */
#include "unit_test.h"

#include "experiment/experiment.h"

#define HEAD                                                                                       \
	"name: small\nsource: \"004\"\nitem: Table 1\nclaim: It works.\n"                          \
	"parameters: {size: [8, 16], load: {\"25\": \"{rate}\", \"50\": \"2{rate}\"}}\n"
#define TAIL "run: sim run {net} --rate {load}\nresults: {smps: .smps}\n"

static struct experiment *parse(const char *text, struct err *e)
{
	return experiment_parse("x.yaml", text, strlen(text), e);
}

TEST(a_text_follows_the_choice_of_its_parameter)
{
	static const char *const lines[] = {"sim run net --rate 172", "sim run net --rate 2172",
					    "sim run net --rate 67", "sim run net --rate 267"};
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct err e = {""};
	struct experiment *x =
		parse(HEAD "texts: {rate: {size: {\"8\": 172, \"16\": 67}}}\n" TAIL, &e);

	assert_non_null(x);
	assert_int_equal(experiment_jobs_add(x, &all, &jobs, &e), 0);
	assert_int_equal(jobs.n, ARRAY_LEN(lines));
	for (size_t i = 0; i < jobs.n; i++) {
		char *line = experiment_text(&jobs.at[i], x->run, &e);

		assert_string_equal(line, lines[i]);
		free(line);
	}
	assert_null(experiment_text_by(x, "size", &jobs.at[0].point));
	experiment_jobs_free(&jobs);
	experiment_free(x);
}

TEST(a_choice_without_a_text_is_a_fault_of_the_command)
{
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct err e = {""};
	struct experiment *x = parse(HEAD "texts: {rate: {size: {\"8\": 172}}}\n" TAIL, &e);

	assert_non_null(x);
	assert_true(experiment_jobs_add(x, &all, &jobs, &e) < 0);
	assert_non_null(strstr(e.text, "{rate} is not a parameter of 'small'"));
	experiment_jobs_free(&jobs);
	experiment_free(x);
}

TEST(faults_name_their_place)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"texts: [1]\n", "x.yaml:6:8: expected texts and what they depend on"},
		{"texts: {rate: 5}\n", "x.yaml:6:15: expected one parameter"},
		{"texts: {rate: {siez: {\"8\": 1}}}\n", "'siez' is not a parameter"},
		{"texts: {size: {size: {\"8\": 1}}}\n", "'size' is also a parameter"},
		{"texts: {rate: {size: {\"9\": 1}}}\n",
		 "'9' is not a choice of the parameter size"},
		{"texts: {rate: {size: {\"8\": [1]}}}\n", "expected a text, found a list"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct strbuf b = {0};
		struct err e = {""};

		strbuf_addf(&b, "%s%s%s", HEAD, cases[i].text, TAIL);
		assert_null(parse(b.s, &e));
		assert_non_null(strstr(e.text, cases[i].says));
		strbuf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_follows_the_choice_of_its_parameter),
		cmocka_unit_test(a_choice_without_a_text_is_a_fault_of_the_command),
		cmocka_unit_test(faults_name_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
