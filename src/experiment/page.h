/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of headings, paragraphs, tables and drawings, as HTML or as Markdown. What is added is text: the page
 * escapes it. Drawings are inside an HTML page, and files beside a Markdown page.
 */
#ifndef WEFT_PAGE_H
#define WEFT_PAGE_H

#include "base/base.h"

enum page_kind { PAGE_HTML, PAGE_MARKDOWN };

struct page {
	enum page_kind kind;
	const char *dir; /* of drawings, for Markdown */
	struct strbuf *out;
	struct err *e;
	int rc;			  /* the first fault; later calls do nothing */
	unsigned columns, column; /* of the open table */
	const char *link;	  /* the next cell leads there; then NULL */
};

void page_open(struct page *p, const char *title);
void page_close(struct page *p);
void page_heading(struct page *p, unsigned level, const char *id, const char *text);
void page_text(struct page *p, const char *fmt, ...) PRINTF(2, 3);
void page_code(struct page *p, const char *text);
/* Then columns times a heading, then the cells, row by row. `strong`: marked, as bad values are. */
void page_table(struct page *p, unsigned columns);
void page_cell(struct page *p, bool strong, const char *fmt, ...) PRINTF(3, 4);
void page_table_end(struct page *p);
void page_drawing(struct page *p, const char *name, const char *title, const struct strbuf *svg);

#endif
