/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as an HTTP request: a status comes out, and more bytes never take back a status that was
 * given. Keeps nothing. libFuzzer is the way in, or replay.c over files.
 */
#include "run/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int status = 0;
	bool head;

	size = MIN(size, (size_t)HTTP_REQUEST_MAX);
	for (size_t n = 0; n <= size; n++) {
		char *part =
			mem_alloc(n); /* of exactly this size: what is read behind it is found */
		int now;

		memcpy(part, data, n);
		now = http_request(part, n, &head);
		if (status && now != status)
			abort();
		if (now && now != 200 && now != 400 && now != 404 && now != 405 && now != 431 &&
		    now != 505)
			abort();
		status = now;
		if (http_openmetrics(part, n) && !now)
			abort();
		free(part);
	}
	return 0;
}
