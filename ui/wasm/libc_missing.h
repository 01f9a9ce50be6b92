/* SPDX-License-Identifier: BSD-2-Clause */
/* What the C library of emscripten 3.1.6 does not have. */
#ifndef WEFT_WASM_LIBC_MISSING_H
#define WEFT_WASM_LIBC_MISSING_H

#include <stddef.h>

/* As glibc's: elements that compare equal keep their order. */
void qsort_r(void *at, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
	     void *ctx);

#endif
