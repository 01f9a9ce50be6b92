/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing arrays: `VEC(int) v = {0}; vec_push(&v, 7); v.at[0]; vec_free(&v);`
 * Elements move when the array grows: keep indexes, not pointers.
 */
#ifndef WEFT_VEC_H
#define WEFT_VEC_H

#include "base/base.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t n, cap;                                                                     \
	}

#define vec_room(v, want)                                                                          \
	do {                                                                                       \
		if ((v)->cap < (want)) {                                                           \
			(v)->cap = MAX((v)->cap * 2, MAX((size_t)(want), (size_t)8));              \
			(v)->at = mem_resize((v)->at, (v)->cap, sizeof(*(v)->at));                 \
		}                                                                                  \
	} while (0)

#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		vec_room(v, (v)->n + 1);                                                           \
		(v)->at[(v)->n++] = (__VA_ARGS__);                                                 \
	} while (0)

#define vec_free(v)                                                                                \
	do {                                                                                       \
		free((v)->at);                                                                     \
		(v)->at = NULL;                                                                    \
		(v)->n = (v)->cap = 0;                                                             \
	} while (0)

#endif
