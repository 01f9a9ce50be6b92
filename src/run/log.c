/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as lines of text or JSON. State: struct run_log, with what was written of each kind in this
 * second. Ways in: log_rec(), log_note(). Knows no record's meaning: the tables have name, level and text.
 */
#include "run/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"

enum { A_SECOND = 100 }; /* records of one kind */

static const struct record_kind records[LOG_NKINDS] = {
#define LOG_ROW(kind, name, level, text) {name, RECORD_##level, text},
	LOG_RECORDS(LOG_ROW)
#undef LOG_ROW
};

const char *const log_level_names[] = {"error", "warning", "notice", "info", "debug", NULL};
static const char syslog_level[] = {'3', '4', '5', '6', '7'};

static const struct record_kind *kind_of(unsigned slot)
{
	return slot < LOG_NKINDS ? &records[slot]
				 : sm_note_record((enum sm_note_kind)(slot - LOG_NKINDS));
}

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
	/* Opening a FIFO must not wait for its reader. */
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

/* fd may have another number, unwritten lines are the parent's, and no other listener is there. */
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

/* ---- rendering ---- */

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

/* JSON has no object with a key twice. (A device or a LID has keys of its own: the test of the notes checks these.) */
static bool keys_differ(const struct record_value *v)
{
	static const char *const own[] = {"time", "level", "record", "text"};

	for (unsigned i = 0; v[i].key; i++) {
		for (unsigned k = 0; k < ARRAY_LEN(own) && !v[i].text_only; k++)
			if (!strcmp(v[i].key, own[k]))
				return false;
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(v[i].key, v[k].key))
				return false;
	}
	return true;
}

static void render_json(const struct record_kind *k, const struct record_value *v, const char *when,
			struct strbuf *out)
{
	struct json j = {0};
	struct strbuf text = {0};

	assert(keys_differ(v));
	record_text(k->text, v, &text);
	json_open(&j, NULL, '{');
	if (when)
		json_str(&j, "time", when);
	json_str(&j, "level", log_level_names[k->level]);
	json_str(&j, "record", k->name);
	json_str(&j, "text", text.s);
	record_json(&j, v);
	json_close(&j);
	one_line(j.out.s, out);
	strbuf_free(&text);
	strbuf_free(&j.out);
}

static void render(const struct run_log *l, const struct record_kind *k,
		   const struct record_value *v, const char *when, struct strbuf *out)
{
	if (l->format == RUN_LOG_JSON) {
		render_json(k, v, when, out);
		return;
	}
	if (l->journal)
		strbuf_addf(out, "<%c>", syslog_level[k->level]);
	else if (when)
		strbuf_addf(out, "%s ", when);
	if (!l->journal)
		strbuf_addf(out, "%-7s ", log_level_names[k->level]);
	strbuf_addf(out, "%s: ", k->name);
	record_text(k->text, v, out);
	record_guids(v, out);
}

void log_render(const struct run_log *l, enum log_kind k, const struct record_value *v,
		struct strbuf *out)
{
	render(l, &records[k], v, NULL, out);
}

void log_render_note(const struct run_log *l, const struct sm_note *n, const struct sm_names *names,
		     struct strbuf *out)
{
	struct record_value v[SM_NOTE_VALUES];

	sm_note_values(n, names, v);
	render(l, sm_note_record(n->kind), v, NULL, out);
}

/* ---- writing ---- */

static bool tell_lost(struct run_log *l, const char *when)
{
	struct strbuf out = {0};

	if (!l->lost)
		return true;
	render(l, &records[LOG_LOST_LINES],
	       (const struct record_value[]){LOG_U("count", l->lost), {0}}, when, &out);
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

static void put(struct run_log *l, const struct record_kind *k, const struct record_value *v)
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

/* A new second: report what the last one left out. */
static void next_second(struct run_log *l, uint64_t second)
{
	if (second == l->second)
		return;
	l->second = second;
	for (unsigned k = 0; k < LOG_SLOTS; k++) {
		uint32_t n = l->left_out[k];

		l->count[k] = l->left_out[k] = 0;
		if (n)
			put(l, &records[LOG_SUPPRESSED],
			    (const struct record_value[]){
				    LOG_U("count", n), LOG_T("kind", kind_of(k)->name), {0}});
	}
}

static bool is_wanted(const struct run_log *l, unsigned slot)
{
	return (unsigned)kind_of(slot)->level <= (unsigned)l->level && l->fd >= 0;
}

static void write_record(struct run_log *l, unsigned slot, const struct record_value *v)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	next_second(l, (uint64_t)t.tv_sec);
	if (l->level < RUN_LOG_DEBUG && ++l->count[slot] > A_SECOND) {
		l->left_out[slot]++;
		return;
	}
	put(l, kind_of(slot), v);
}

void log_values(struct run_log *l, enum log_kind k, const struct record_value *v)
{
	if (is_wanted(l, k))
		write_record(l, k, v);
}

void log_note(struct run_log *l, const struct sm_note *n, const struct sm_names *names)
{
	struct record_value v[SM_NOTE_VALUES];

	if (n->more || !is_wanted(l, LOG_NKINDS + n->kind))
		return;
	sm_note_values(n, names, v);
	write_record(l, LOG_NKINDS + n->kind, v);
}
