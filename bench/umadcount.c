/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into a program that uses libibumad, counts the subnet management packets it sends.
 * State: one counter for each method and attribute, and when it first counted. Way in: umad_send().
 * Does not look at answers or at other management classes; writes a line of JSON to $UMADCOUNT when
 * the program ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
	CLASS_LID_ROUTED = 0x01,
	CLASS_DIRECTED = 0x81,
	METHODS = 256,
	ATTRS = 64, /* all that the specification defines lie below; the rest share the last */
};

typedef int send_fn(int fd, int agent, void *umad, int len, int timeout_ms, int retries);
typedef void *mad_fn(void *umad);

int umad_send(int fd, int agent, void *umad, int len, int timeout_ms, int retries);

static _Atomic uint64_t total;
static _Atomic uint64_t counts[METHODS][ATTRS];
static _Atomic uint64_t first_us[METHODS][ATTRS];

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Layout of a MAD: management class in byte 1, method in byte 3, attribute in bytes 16 and 17. */
static void count(const uint8_t *mad)
{
	unsigned attr = (unsigned)mad[16] << 8 | mad[17];
	unsigned a = attr < ATTRS ? attr : ATTRS - 1;

	if (mad[1] != CLASS_LID_ROUTED && mad[1] != CLASS_DIRECTED)
		return;
	atomic_fetch_add(&total, 1);
	if (!atomic_fetch_add(&counts[mad[3]][a], 1))
		first_us[mad[3]][a] = now_us();
}

int umad_send(int fd, int agent, void *umad, int len, int timeout_ms, int retries)
{
	static send_fn *real_send;
	static mad_fn *get_mad;

	if (!real_send) {
		get_mad = (mad_fn *)dlsym(RTLD_NEXT, "umad_get_mad");
		real_send = (send_fn *)dlsym(RTLD_NEXT, "umad_send");
	}
	if (!real_send || !get_mad)
		abort(); /* nothing to count in a program without libibumad */
	count(get_mad(umad));
	return real_send(fd, agent, umad, len, timeout_ms, retries);
}

static void write_report(FILE *f)
{
	struct rusage u;
	const char *comma = "";

	getrusage(RUSAGE_SELF, &u);
	fprintf(f, "{\"smps\":[");
	for (unsigned m = 0; m < METHODS; m++)
		for (unsigned a = 0; a < ATTRS; a++) {
			uint64_t n = counts[m][a];

			if (!n)
				continue;
			fprintf(f, "%s{\"method\":%u,\"attr\":%u,\"n\":%llu,\"first_us\":%llu}",
				comma, m, a, (unsigned long long)n,
				(unsigned long long)first_us[m][a]);
			comma = ",";
		}
	fprintf(f, "],\"total\":%llu,\"rss_kib\":%ld,\"cpu_s\":%.3f}\n",
		(unsigned long long)atomic_load(&total), u.ru_maxrss,
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
}

/* A program that sent nothing, a wrapper say, leaves the file to the one that did. */
__attribute__((destructor)) static void finish(void)
{
	const char *path = getenv("UMADCOUNT");
	FILE *f = path && atomic_load(&total) ? fopen(path, "w") : NULL;

	if (!f)
		return;
	write_report(f);
	fclose(f);
}
