/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages as HTML and Markdown. State: struct page. Way in: page_open(). Does not know what it is about: report.c
 * does.
 */
#include "experiment/page.h"

static const char style[] =
	"<style>body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#222;"
	"background:#fff}h1{font-size:1.6em}h2{margin-top:2.2em;border-bottom:1px solid #ccc}table{border-collapse:"
	"collapse;margin:1em 0;font-size:13px}th,td{padding:3px 9px;border:1px solid #ddd;text-align:right}th{"
	"background:#f3f3f3}td:first-child,th:first-child{text-align:left}.bad{background:#fde8e0}code,pre{font:12px "
	"ui-monospace,monospace;background:#f6f6f6}pre{padding:8px;overflow-x:auto;white-space:pre-wrap}svg{max-width:"
	"100%;height:auto}nav a{margin-right:1em}</style>\n";

static bool is_html(const struct page *p)
{
	return p->kind == PAGE_HTML;
}

/* Characters that mean something in HTML, or in a table of Markdown, are written as entities or escaped. */
static void text_add(struct page *p, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		size_t step = utf8_len(s, n);

		len = MAX(step, (size_t)1);
		if (*s == '\n')
			strbuf_add(p->out, is_html(p) ? "\n" : " ");
		else if (is_html(p) && strchr("<>&\"'", *s))
			strbuf_addf(p->out, "&#%u;", (unsigned char)*s);
		else if (!is_html(p) && strchr("\\`|<>*_[]&#", *s))
			strbuf_addf(p->out, "\\%c", *s);
		else
			strbuf_addn(p->out, step ? s : "?", len);
	}
}

void page_open(struct page *p, const char *title)
{
	if (is_html(p)) {
		strbuf_add(p->out,
			   "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
			   "<meta name=\"viewport\" content=\"width=device-width\"><title>");
		text_add(p, title);
		strbuf_addf(p->out, "</title>\n%s</head>\n<body>\n", style);
	}
	page_heading(p, 1, NULL, title);
}

void page_close(struct page *p)
{
	if (is_html(p))
		strbuf_add(p->out, "</body>\n</html>\n");
}

void page_heading(struct page *p, unsigned level, const char *id, const char *text)
{
	if (is_html(p)) {
		strbuf_addf(p->out, "<h%u", level);
		if (id)
			strbuf_addf(p->out, " id=\"%s\"", id);
		strbuf_add(p->out, ">");
		text_add(p, text);
		strbuf_addf(p->out, "</h%u>\n", level);
		return;
	}
	strbuf_addf(p->out, "%s%.*s ", p->out->len ? "\n" : "", (int)level, "######");
	text_add(p, text);
	strbuf_add(p->out, "\n\n");
}

void page_text(struct page *p, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_add(p->out, is_html(p) ? "<p>" : "");
	text_add(p, text);
	strbuf_add(p->out, is_html(p) ? "</p>\n" : "\n\n");
}

/* The fence is longer than any row of ` in the text. */
static void fence_add(struct page *p, const char *text)
{
	size_t most = 2;

	for (; *text; text++) {
		size_t n = strspn(text, "`");

		most = MAX(most, n);
		text += n ? n - 1 : 0;
	}
	for (size_t i = 0; i <= most; i++)
		strbuf_add(p->out, "`");
	strbuf_add(p->out, "\n");
}

void page_code(struct page *p, const char *text)
{
	if (is_html(p)) {
		strbuf_add(p->out, "<pre>");
		text_add(p, text);
		strbuf_add(p->out, "</pre>\n");
		return;
	}
	fence_add(p, text);
	strbuf_addf(p->out, "%s\n", text);
	fence_add(p, text);
	strbuf_add(p->out, "\n");
}

/* ---- tables ---- */

void page_table(struct page *p, unsigned columns)
{
	p->columns = columns;
	p->column = 0;
	strbuf_add(p->out, is_html(p) ? "<table>\n" : "");
}

/* The line of Markdown below the headings. */
static void rule_add(struct page *p)
{
	for (unsigned i = 0; i < p->columns; i++)
		strbuf_add(p->out, i ? " ---: |" : "| --- |");
	strbuf_add(p->out, "\n");
}

static void cell_text(struct page *p, const char *text)
{
	if (p->link && is_html(p))
		strbuf_addf(p->out, "<a href=\"%s\">", p->link);
	else if (p->link)
		strbuf_add(p->out, "[");
	text_add(p, text);
	if (p->link && is_html(p))
		strbuf_add(p->out, "</a>");
	else if (p->link)
		strbuf_addf(p->out, "](%s)", p->link);
	p->link = NULL;
}

void page_cell(struct page *p, bool strong, const char *fmt, ...)
{
	bool first = p->column % p->columns == 0, last = (p->column + 1) % p->columns == 0;
	bool head = p->column < p->columns;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (is_html(p))
		strbuf_addf(p->out, "%s<t%c%s>", first ? "<tr>" : "", head ? 'h' : 'd',
			    strong ? " class=\"bad\"" : "");
	else
		strbuf_addf(p->out, "%s%s", first ? "| " : " ", strong && *text ? "**" : "");
	cell_text(p, text);
	if (is_html(p))
		strbuf_addf(p->out, "</t%c>%s", head ? 'h' : 'd', last ? "</tr>\n" : "");
	else
		strbuf_addf(p->out, "%s |%s", strong && *text ? "**" : "", last ? "\n" : "");
	p->column++;
	if (!is_html(p) && p->column == p->columns)
		rule_add(p);
}

void page_table_end(struct page *p)
{
	strbuf_add(p->out, is_html(p) ? "</table>\n" : "\n");
}

/* ---- drawings ---- */

void page_drawing(struct page *p, const char *name, const char *title, const struct strbuf *svg)
{
	struct strbuf path = {0};

	if (is_html(p)) {
		strbuf_add(p->out, "<figure>\n");
		strbuf_addn(p->out, svg->s, svg->len);
		strbuf_add(p->out, "</figure>\n");
		return;
	}
	strbuf_addf(&path, "%s/%s.svg", p->dir, name);
	if (!p->rc)
		p->rc = file_write(path.s, svg->s, svg->len, p->e);
	strbuf_add(p->out, "![");
	text_add(p, title);
	strbuf_addf(p->out, "](%s.svg)\n\n", name);
	strbuf_free(&path);
}
