/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all files of the library share: the port, the mutex that guards it, the clock. State:
 * the_port. Ways in: port_lock(), preload_ms(). Does not change the port.
 */
#include <pthread.h>
#include <time.h>

#include "preload/preload.h"

struct umad_port the_port;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void port_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void port_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

uint64_t preload_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
