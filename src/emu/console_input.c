/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console: commands from standard input, one after the other. State: the lines that were not
 * executed yet, and the time until which they wait. Way in: input_open(). Does not stop the
 * emulator at the end of input.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/console.h"

enum { INPUT_MAX = 1 << 20, FILES_MAX = 1000 };

struct input {
	struct emu *m;
	uv_poll_t poll;
	uv_timer_t timer;
	bool polled;	  /* the handle is in use */
	unsigned handles; /* that the loop has not closed yet */
	bool waits, at_end, is_tty, regular;
	unsigned files;	    /* that were run: they may include each other */
	struct strbuf text; /* not executed yet */
	size_t done;	    /* executed so far */
};

static void prompt(const struct input *in)
{
	if (!in->is_tty || in->at_end)
		return;
	output_answer(in->m, "weft> ");
}

/* ---- lines ---- */

static void lines_run(struct input *in);

static void waited(uv_timer_t *t)
{
	struct input *in = t->data;

	in->waits = false;
	lines_run(in);
}

/* The commands of a file run before the input that follows. */
static void insert_file(struct input *in, const char *path, struct strbuf *out)
{
	struct strbuf all = {0};
	char *data;
	size_t len;
	struct err e;

	if (in->files++ >= FILES_MAX) {
		con_refuse(out, "too many nested command files");
		return;
	}
	if (file_read(path, &data, &len, &e)) {
		con_refuse(out, "%s", e.text);
		return;
	}
	strbuf_addn(&all, data, len);
	strbuf_add(&all, "\n");
	strbuf_addn(&all, in->text.s + in->done, in->text.len - in->done);
	free(data);
	strbuf_free(&in->text);
	in->text = all;
	in->done = 0;
}

static void line_run(struct input *in, const char *line)
{
	struct strbuf out = {0};
	struct emu_op op;
	struct err e;

	if (console_parse(in->m, line, &op, &e)) {
		con_refuse(&out, "%s", e.text);
	} else if (op.cmd == &con_wait) {
		in->waits = true;
		uv_timer_start(&in->timer, waited, op.t / PS_PER_MS, 0);
	} else if (op.cmd == &con_file) {
		insert_file(in, op.text, &out);
	} else {
		console_run(in->m, &op, &out);
	}
	if (out.len)
		output_answer(in->m, out.s);
	strbuf_free(&out);
}

static bool line_next(struct input *in, struct strbuf *line)
{
	char *s = in->text.s + in->done, *end;
	size_t left = in->text.len - in->done;

	end = left ? memchr(s, '\n', left) : NULL;
	if (!end && !(left && in->at_end))
		return false;
	if (!end)
		end = s + left;
	line->len = 0;
	strbuf_addn(line, s, (size_t)(end - s));
	in->done = MIN(in->done + (size_t)(end - s) + 1, in->text.len);
	return true;
}

static void lines_run(struct input *in)
{
	struct strbuf line = {0};

	while (!in->waits && !in->m->stop && line_next(in, &line)) {
		line_run(in, line.s ? line.s : "");
		if (!in->waits)
			prompt(in);
	}
	strbuf_free(&line);
	if (in->done == in->text.len)
		in->done = in->text.len = 0;
}

/* ---- reading ---- */

static void ended(struct input *in)
{
	in->at_end = true;
	if (in->polled)
		uv_poll_stop(&in->poll);
	lines_run(in);
}

static void readable(uv_poll_t *h, int status, int events UNUSED)
{
	struct input *in = h->data;
	char buf[4096];
	ssize_t n = status < 0 ? 0 : read(STDIN_FILENO, buf, sizeof(buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || in->text.len > INPUT_MAX) {
		ended(in);
		return;
	}
	in->files = 0; /* new input */
	strbuf_addn(&in->text, buf, (size_t)n);
	lines_run(in);
}

/* A regular file is always readable and cannot be polled. */
static void from_file(struct input *in)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0 && in->text.len <= INPUT_MAX)
		strbuf_addn(&in->text, buf, (size_t)n);
	ended(in);
}

int input_open(struct emu *m, struct err *e)
{
	struct input *in;
	struct stat st;
	int rc, flags;

	if (!m->cfg.console || fstat(STDIN_FILENO, &st))
		return 0;
	in = m->input = mem_zalloc(sizeof(*in));
	in->m = m;
	in->is_tty = isatty(STDIN_FILENO);
	uv_timer_init(&m->loop, &in->timer);
	in->timer.data = in;
	in->handles = 1;
	in->regular = S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !in->is_tty);
	if (in->regular) {
		from_file(in);
		return 0;
	}
	/* libuv makes it non-blocking, which other processes on the same terminal must not see. */
	flags = fcntl(STDIN_FILENO, F_GETFL);
	rc = uv_poll_init(&m->loop, &in->poll, STDIN_FILENO);
	if (flags >= 0)
		fcntl(STDIN_FILENO, F_SETFL, flags);
	if (rc)
		return err_set(e, rc, "standard input: %s", uv_strerror(rc));
	in->poll.data = in;
	in->polled = true;
	in->handles++;
	uv_poll_start(&in->poll, UV_READABLE, readable);
	prompt(in);
	return 0;
}

static void freed(uv_handle_t *h)
{
	struct input *in = h->data;

	if (--in->handles)
		return;
	strbuf_free(&in->text);
	free(in);
}

void input_close(struct emu *m)
{
	struct input *in = m->input;

	if (!in)
		return;
	m->input = NULL;
	if (in->polled)
		uv_close((uv_handle_t *)&in->poll, freed);
	uv_close((uv_handle_t *)&in->timer, freed);
}
