/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of metrics: written on a thread of libuv's pool, after each change and periodically. Its format is that of the textfile collector
 * of node_exporter (version 0.0.4), which refuses OpenMetrics.
 */
#ifndef WEFT_METRICS_FILE_H
#define WEFT_METRICS_FILE_H

#include <uv.h>

#include "run/log.h"

/* Written by metrics_file.c alone. */
struct run_metrics_file {
	struct run_log *log;
	void (*text)(void *ctx, struct strbuf *out);
	void *ctx;
	char path[256]; /* "": no file */
	uv_timer_t timer;
	uv_work_t work;		  /* while busy, the pool's thread alone uses path, out, rc and e */
	bool busy, failed;	  /* failed: the last write, and the log says so */
	struct strbuf out, plain; /* OpenMetrics, and the format of the file */
	struct err e;
	int rc;
};

/* text() appends the metrics. */
void run_metrics_file_init(struct run_metrics_file *m, uv_loop_t *loop, struct run_log *log,
			   void (*text)(void *ctx, struct strbuf *out), void *ctx);
/* path "": none. While a write is under way the path stays as it is. */
void run_metrics_file_set(struct run_metrics_file *m, const char *path, unsigned period_s);
void run_metrics_file_write(struct run_metrics_file *m); /* now, unless a write is under way */
void run_metrics_file_close(struct run_metrics_file *m); /* waits for a write under way */

#endif
