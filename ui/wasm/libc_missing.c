/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the C library of emscripten 3.1.6 does not have. State: none.
 */
#include "libc_missing.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* ---- qsort_r(): a merge sort ---- */

struct order {
	size_t size;
	int (*compare)(const void *, const void *, void *);
	void *ctx;
};

static void sort(uint8_t *at, uint8_t *spare, size_t n, const struct order *o)
{
	size_t half = n / 2, i = 0, j = half, k = 0, s = o->size;

	if (n < 2)
		return;
	sort(at, spare, half, o);
	sort(at + half * s, spare, n - half, o);
	for (; i < half && j < n; k++) {
		size_t *from = o->compare(at + j * s, at + i * s, o->ctx) < 0 ? &j : &i;

		memcpy(spare + k * s, at + *from * s, s);
		(*from)++;
	}
	memmove(at + k * s, at + i * s, (half - i) * s);
	memcpy(at, spare, k * s);
}

void qsort_r(void *at, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
	     void *ctx)
{
	struct order o = {size, compare, ctx};
	uint8_t *spare = mem_alloc(n * size + 1);

	sort(at, spare, n, &o);
	free(spare);
}

/* ---- others ---- */

void *reallocarray(void *at, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(at, n * size);
}

int sched_getaffinity(pid_t pid UNUSED, size_t size UNUSED, cpu_set_t *set UNUSED)
{
	errno = ENOSYS;
	return -1;
}

int __sched_cpucount(size_t size UNUSED, const cpu_set_t *set UNUSED)
{
	return 1;
}
