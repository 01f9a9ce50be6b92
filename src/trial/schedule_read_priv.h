/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of one schedule: schedule_words.c takes words, schedule_events.c reads events, schedule_read.c all other
 * lines. Each function returns 0 or -EINVAL with the message stored, with the line where it is known.
 */
#ifndef WEFT_SCHEDULE_READ_PRIV_H
#define WEFT_SCHEDULE_READ_PRIV_H

#include "trial/schedule.h"

enum { SCHEDULE_LINE_WORDS = 256 };

struct reader {
	struct schedule *s;
	struct fab *fab; /* NULL until the first line that needs it */
	bool given;	 /* the caller gave it */
	const char *name;
	unsigned line; /* 0: the text has one line */
	char *word[SCHEDULE_LINE_WORDS];
	unsigned n, next;
	unsigned added; /* nodes, by events */
	struct err *e;
};

int reader_bad(struct reader *r, const char *fmt, ...) PRINTF(2, 3);
int reader_split(struct reader *r, char *p); /* words of a line, in place */
const char *reader_peek(const struct reader *r);
char *reader_take(struct reader *r, const char *what); /* the next word; NULL with a message */
int reader_u64(struct reader *r, const char *what, uint64_t min, uint64_t max, uint64_t *v);
int reader_time(struct reader *r, time_ps *t);
int reader_share(struct reader *r, uint64_t *millionths);
int reader_need_fabric(struct reader *r);
int reader_node(struct reader *r, uint64_t *guid);
int reader_port(struct reader *r, struct schedule_port *p);

int reader_event(struct reader *r); /* after the word "at" */

#endif
