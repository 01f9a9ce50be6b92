/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules that failed once, in TAP: each file of a directory must pass. Keeps nothing. Way in: main(). Does not judge:
 * src/trial does. usage: test_schedules DIRECTORY
 * Covers: schedule_run.c, invariants.c
 */
#include <dirent.h>

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

static int is_schedule(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && !strcmp(dot, ".schedule");
}

static bool report(const char *dir, const char *name, int number)
{
	char why[512], path[1024];
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ok = run(path, why);
	printf("%s %d - %s\n", ok ? "ok" : "not ok", number, name);
	if (!ok)
		printf("# %s\n# replay: weft sim trial --replay %s --timeline\n", why, path);
	return ok;
}

int main(int argc, char **argv)
{
	int failed = 0, n = argc == 2 ? 0 : -1;
	struct dirent **list;

	n = n ? n : scandir(argv[1], &list, is_schedule, alphasort);
	if (n < 0) {
		fprintf(stderr, "usage: test_schedules DIRECTORY\n");
		return 2;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		failed += !report(argv[1], list[i]->d_name, i + 1);
		free(list[i]);
	}
	free(list);
	return failed > 0;
}
