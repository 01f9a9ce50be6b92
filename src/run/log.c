/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records to text or JSON lines. State: struct run_log, with what was written of each kind in this
 * second. Way in: log_rec(). Knows no record's meaning: the table in log.h has name, level and text.
 */
#include "run/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"

enum { A_SECOND = 100 }; /* records of one kind */

static const struct {
	const char *name;
	enum run_log_level level;
	const char *text;
} records[LOG_NKINDS] = {
#define LOG_ROW(kind, name, level, text) {name, RUN_LOG_##level, text},
	LOG_RECORDS(LOG_ROW)
#undef LOG_ROW
};

const char *const log_level_names[] = {"error", "warning", "notice", "info", "debug", NULL};
static const char syslog_level[] = {'3', '4', '5', '6', '7'};

/* ---- life ---- */

/* Is this the stream that the journal reads? (systemd.exec(5), $JOURNAL_STREAM) */
static bool is_journal(int fd)
{
	const char *env = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return env && sscanf(env, "%llu:%llu", &dev, &ino) == 2 && !fstat(fd, &st) &&
	       st.st_dev == dev && st.st_ino == ino;
}

static int open_file(struct run_log *l)
{
	/* It may be a FIFO, which is opened without waiting for its reader. */
	int fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0640);

	return fd < 0 ? -errno : fd;
}

int log_open(struct run_log *l, const char *path, enum run_log_level level,
	     enum run_log_format format, struct err *e)
{
	*l = (struct run_log){.level = level, .format = format, .fd = STDERR_FILENO};
	snprintf(l->path, sizeof(l->path), "%s", path);
	if (*l->path) {
		l->fd = open_file(l);
		if (l->fd < 0)
			return err_set(e, l->fd, "cannot write the log %s: %s", path,
				       strerror(-l->fd));
	}
	l->journal = is_journal(l->fd);
	nonblock_open(&l->out, l->fd);
	return 0;
}

void log_reopen(struct run_log *l)
{
	int fd = *l->path ? open_file(l) : -1;

	if (fd < 0)
		return;
	nonblock_close(&l->out);
	close(l->fd);
	l->fd = fd;
	nonblock_open(&l->out, fd);
}

/* fd may be another one, what the parent has not got out is its own, and nobody is to be told. */
void log_in_child(struct run_log *l)
{
	nonblock_open(&l->out, l->fd);
	l->tell = NULL;
}

void log_close(struct run_log *l)
{
	log_catch_up(l);
	nonblock_close(&l->out);
	if (l->fd > STDERR_FILENO)
		close(l->fd);
	l->fd = -1;
}

/* ---- values ---- */

static bool present(const struct log_value *v)
{
	return v && (v->type != LOG_TEXT || (v->s && *v->s));
}

static void time_text(uint64_t us, struct strbuf *out)
{
	if (us < 1000)
		strbuf_addf(out, "%llu us", (unsigned long long)us);
	else if (us < 1000000)
		strbuf_addf(out, "%llu.%llu ms", (unsigned long long)us / 1000,
			    (unsigned long long)us % 1000 / 100);
	else
		strbuf_addf(out, "%llu.%03llu s", (unsigned long long)us / 1000000,
			    (unsigned long long)us % 1000000 / 1000);
}

/* Text from outside, so that one record stays one line and nothing reaches a terminal as it is. */
static void plain_text(const char *s, struct strbuf *out)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		len = utf8_len(s, n);
		if (len)
			strbuf_addn(out, s, len);
		else
			strbuf_addf(out, "\\x%02x", (unsigned char)*s);
		len = MAX(len, (size_t)1);
	}
}

static void value_text(const struct log_value *v, struct strbuf *out)
{
	switch (v->type) {
	case LOG_TEXT:
		plain_text(v->s ? v->s : "", out);
		break;
	case LOG_COUNT:
		strbuf_addf(out, "%llu", (unsigned long long)v->u);
		break;
	case LOG_GUID_VALUE:
		strbuf_addf(out, "0x%016llx", (unsigned long long)v->u);
		break;
	case LOG_HEX:
		strbuf_addf(out, "0x%04llx", (unsigned long long)v->u);
		break;
	case LOG_MICROSECONDS:
		time_text(v->u, out);
		break;
	}
}

static const struct log_value *value_of(const struct log_value *v, const char *key, size_t len)
{
	for (; v->key; v++)
		if (strlen(v->key) == len && !memcmp(v->key, key, len))
			return v;
	return NULL;
}

/* ---- text ---- */

/* "{key}" between t and end; what is between brackets only where all its values are there. */
static void fill(const char *t, const char *end, const struct log_value *v, struct strbuf *out)
{
	while (t < end) {
		const char *close = *t == '{'	? memchr(t, '}', (size_t)(end - t))
				    : *t == '[' ? memchr(t, ']', (size_t)(end - t))
						: NULL;
		const struct log_value *x;

		if (!close) {
			strbuf_addn(out, t++, 1);
		} else if (*t == '{') {
			x = value_of(v, t + 1, (size_t)(close - t - 1));
			if (x)
				value_text(x, out);
			t = close + 1;
		} else {
			const char *key = memchr(t, '{', (size_t)(close - t));

			x = key ? value_of(v, key + 1, strcspn(key + 1, "}")) : NULL;
			if (present(x))
				fill(t + 1, close, v, out);
			t = close + 1;
		}
	}
}

/* ---- JSON ---- */

static void value_json(struct json *j, const struct log_value *v)
{
	struct strbuf s = {0};

	if (v->type == LOG_TEXT) {
		if (v->s)
			json_str(j, v->key, v->s);
	} else if (v->type == LOG_COUNT || v->type == LOG_MICROSECONDS) {
		json_u64(j, v->key, v->u);
	} else {
		value_text(v, &s);
		json_str(j, v->key, s.s);
		strbuf_free(&s);
	}
}

/* The writer's line ends are never inside a string. */
static void one_line(const char *s, struct strbuf *out)
{
	for (; *s; s++) {
		if (*s != '\n') {
			strbuf_addn(out, s, 1);
			continue;
		}
		while (s[1] == ' ')
			s++;
	}
}

static void now_text(char *out, size_t size)
{
	struct timespec t;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	n = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, size - n, ".%06ldZ", t.tv_nsec / 1000);
}

static void render_json(enum log_kind k, const struct log_value *v, const char *when,
			struct strbuf *out)
{
	struct json j = {0};
	struct strbuf text = {0};

	fill(records[k].text, records[k].text + strlen(records[k].text), v, &text);
	json_open(&j, NULL, '{');
	if (when)
		json_str(&j, "time", when);
	json_str(&j, "level", log_level_names[records[k].level]);
	json_str(&j, "record", records[k].name);
	json_str(&j, "text", text.s);
	for (; v->key; v++)
		value_json(&j, v);
	json_close(&j);
	one_line(j.out.s, out);
	strbuf_free(&text);
	strbuf_free(&j.out);
}

static void render(const struct run_log *l, enum log_kind k, const struct log_value *v,
		   const char *when, struct strbuf *out)
{
	if (l->format == RUN_LOG_JSON) {
		render_json(k, v, when, out);
		return;
	}
	if (l->journal)
		strbuf_addf(out, "<%c>", syslog_level[records[k].level]);
	else if (when)
		strbuf_addf(out, "%s ", when);
	if (!l->journal)
		strbuf_addf(out, "%-7s ", log_level_names[records[k].level]);
	strbuf_addf(out, "%s: ", records[k].name);
	fill(records[k].text, records[k].text + strlen(records[k].text), v, out);
}

void log_render(const struct run_log *l, enum log_kind k, const struct log_value *v,
		struct strbuf *out)
{
	render(l, k, v, NULL, out);
}

/* ---- writing ---- */

static bool tell_lost(struct run_log *l, const char *when)
{
	struct strbuf out = {0};

	if (!l->lost)
		return true;
	render(l, LOG_LOST_LINES, (const struct log_value[]){LOG_U("count", l->lost), {0}}, when,
	       &out);
	strbuf_add(&out, "\n");
	if (nonblock_put(&l->out, out.s, out.len))
		l->lost = 0;
	strbuf_free(&out);
	return !l->lost;
}

void log_catch_up(struct run_log *l)
{
	char when[40];

	now_text(when, sizeof(when));
	if (nonblock_flush(&l->out))
		tell_lost(l, when);
}

static void put(struct run_log *l, enum log_kind k, const struct log_value *v)
{
	struct strbuf out = {0};
	char when[40];

	now_text(when, sizeof(when));
	render(l, k, v, when, &out);
	strbuf_add(&out, "\n");
	if (!tell_lost(l, when) || !nonblock_put(&l->out, out.s, out.len))
		l->lost++;
	out.len = 0;
	if (l->tell) {
		render_json(k, v, when, &out);
		l->tell(l->tell_ctx, out.s);
	}
	strbuf_free(&out);
}

/* A new second: tell what the last one left out. */
static void next_second(struct run_log *l, uint64_t second)
{
	if (second == l->second)
		return;
	l->second = second;
	for (unsigned k = 0; k < LOG_NKINDS; k++) {
		uint32_t n = l->left_out[k];

		l->count[k] = l->left_out[k] = 0;
		if (n)
			put(l, LOG_SUPPRESSED,
			    (const struct log_value[]){
				    LOG_U("count", n), LOG_T("record", records[k].name), {0}});
	}
}

void log_values(struct run_log *l, enum log_kind k, const struct log_value *v)
{
	struct timespec t;

	if (records[k].level > l->level || l->fd < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	next_second(l, (uint64_t)t.tv_sec);
	if (l->level < RUN_LOG_DEBUG && ++l->count[k] > A_SECOND) {
		l->left_out[k]++;
		return;
	}
	put(l, k, v);
}
