/* SPDX-License-Identifier: BSD-2-Clause */
/* What `weft top` shows: answers of a manager as lines of text for a screen of a given size. Pure. */
#ifndef WEFT_TOP_SCREEN_H
#define WEFT_TOP_SCREEN_H

#include <jansson.h>

#include "base/base.h"

enum top_page { TOP_LINKS, TOP_SICK, TOP_CHANGES, TOP_MANAGERS, TOP_PORT, TOP_NPAGES };

struct top_view {
	enum top_page page;
	const char *sort; /* as in the request */
	char filter[64];  /* of names; "": all */
	bool typing;	  /* the filter is being typed */
	unsigned selected;
	char port[96];	      /* NODE:PORT of the page TOP_PORT */
	char chosen[96];      /* set by top_screen(): the selected link's */
	double sa_per_second; /* requests to subnet administration */
	unsigned late_s;      /* the manager has not answered for so long; 0: it does */
};

struct top_data { /* answers; NULL: none */
	json_t *status, *perf, *sick, *changes, *sa, *port;
	char why[256]; /* counters are not there */
};

/* Exactly `rows` lines of at most `columns` columns, each with a line feed; no control characters of devices. */
void top_screen(const struct top_data *d, struct top_view *v, unsigned rows, unsigned columns,
		struct strbuf *out);

#endif
