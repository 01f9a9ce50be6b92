/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules that failed once, in TAP: each file must pass. Keeps nothing. Way in: main(), with the files. Does not judge:
 * src/trial does. usage: test_schedules FILE...
 * Covers: schedule_run.c, invariants.c
 */
#include "trial/schedule_run.h"

static bool run(const char *path, char why[512])
{
	struct schedule_result r;
	struct schedule s;
	struct fab *f;
	struct err e;

	if (schedule_load(&s, &f, path, &e)) {
		snprintf(why, 512, "%s", e.text);
		return false;
	}
	schedule_run(&s, NULL, &r);
	snprintf(why, 512, "%s", r.why);
	fab_free(f);
	schedule_free(&s);
	return !r.fault;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
		char why[512];
		bool ok = run(argv[i], why);

		printf("%s %d - %s\n", ok ? "ok" : "not ok", i, name);
		if (!ok)
			printf("# %s\n# replay: weft sim trial --replay %s --timeline\n", why,
			       argv[i]);
		failed += !ok;
	}
	return failed > 0;
}
