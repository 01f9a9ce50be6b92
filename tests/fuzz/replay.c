/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target over files and directories, without libFuzzer: links with any fuzz_*.c. Keeps
 * only a count. Does not look for new inputs.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, unsigned *runs)
{
	struct err e;
	char *data;
	size_t len;

	if (file_read(path, &data, &len, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)data, len);
	free(data);
	++*runs;
	return 0;
}

static int replay_dir(const char *path, unsigned *runs)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort), rc = 0;

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 2;
	}
	for (int i = 0; i < n; i++) {
		struct strbuf file = {0};

		strbuf_addf(&file, "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && !rc)
			rc = replay_file(file.s, runs);
		strbuf_free(&file);
		free(names[i]);
	}
	free(names);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned runs = 0;
	struct stat st;
	int rc = 0;

	for (int i = 1; i < argc && !rc; i++)
		rc = !stat(argv[i], &st) && S_ISDIR(st.st_mode) ? replay_dir(argv[i], &runs)
								: replay_file(argv[i], &runs);
	if (!rc && !runs) {
		fprintf(stderr, "usage: replay FILE|DIR...\n");
		rc = 2;
	}
	if (!rc)
		printf("%u inputs hold\n", runs);
	return rc;
}
