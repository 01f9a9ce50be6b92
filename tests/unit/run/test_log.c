/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log records as text and as JSON, rotated files, floods, and notifications of systemd.
 * Covers: log.c, notes.c, systemd_notify.c
 */
#include "unit_test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <jansson.h>
#include <unistd.h>

#include "run/daemon.h"
#include "run/systemd_notify.h"

static char dir[] = "/tmp/weft-log-XXXXXX";

static char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static unsigned lines_in(const char *name, const char *with)
{
	char *text, *line, *save = NULL;
	unsigned n = 0;
	size_t len;
	struct err e;

	if (file_read(path_of(name), &text, &len, &e))
		return 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		n += strstr(line, with) != NULL;
	free(text);
	return n;
}

static struct strbuf render(enum run_log_format f, enum log_kind k, const struct record_value *v)
{
	struct run_log l = {.format = f, .level = RUN_LOG_DEBUG};
	struct strbuf out = {0};

	log_render(&l, k, v, &out);
	return out;
}

#define VALUES(...) ((const struct record_value[]){__VA_ARGS__, {0}})

TEST(records_read_as_sentences)
{
	struct strbuf s = render(RUN_LOG_TEXT, LOG_SUBNET_UP,
				 VALUES(LOG_U("switches", 20), LOG_U("hosts", 16),
					LOG_U("lids", 36), LOG_TIME("took_us", 6543),
					LOG_U("smps", 551), LOG_NOT("unanswered")));

	assert_string_equal(
		s.s,
		"notice  subnet_up: SUBNET UP: 20 switches, 16 hosts, 36 LIDs in 6.5 ms, 551 SMPs");
	strbuf_free(&s);
}

TEST(unknown_fields_are_left_out)
{
	struct strbuf s = render(RUN_LOG_TEXT, LOG_RELOADED, VALUES(LOG_T("fixed", "")));

	assert_string_equal(s.s, "notice  reloaded: configuration reloaded");
	strbuf_free(&s);
	s = render(RUN_LOG_TEXT, LOG_RELOADED, VALUES(LOG_T("fixed", "window")));
	assert_string_equal(s.s, "notice  reloaded: configuration reloaded; effective after a "
				 "restart only: window");
	strbuf_free(&s);
}

/* Of each kind of note, as JSON: no key comes twice, and none is one that every record has. */
TEST(no_key_comes_twice)
{
	struct run_log l = {.format = RUN_LOG_JSON};

	for (unsigned k = 0; k < 4 * SM_NOTE_NKINDS; k++) { /* each about each kind of subject */
		struct sm_note n = {.kind = k / 4,
				    .about = {.kind = k % 4, .a = {.guid = 1}, .b = {.guid = 2}}};
		struct strbuf s = {0};
		json_error_t why;
		json_t *j;

		log_render_note(&l, &n, NULL, &s);
		j = json_loads(s.s, JSON_REJECT_DUPLICATES, &why);
		if (!j)
			fail_msg("%s: %s", s.s, why.text);
		assert_non_null(json_object_get(j, "record"));
		json_decref(j);
		strbuf_free(&s);
	}
}

static const char *device_name; /* what every device is called */

static const char *name_of(const void *ctx, uint64_t guid)
{
	(void)ctx;
	(void)guid;
	return device_name;
}

static struct strbuf render_note(enum run_log_format f, const struct sm_note *n)
{
	struct run_log l = {.format = f, .level = RUN_LOG_DEBUG};
	struct strbuf out = {0};

	log_render_note(&l, n, &(struct sm_names){name_of, NULL}, &out);
	return out;
}

/* A device by its name, with the GUID behind; by its GUID as long as it has no name. */
TEST(devices_have_names)
{
	const struct sm_note n = {.kind = SM_NOTE_NODE_GONE,
				  .about = {.kind = SM_ABOUT_DEVICE, .a = {.guid = 0x18}},
				  .node = {IBA_NODE_SWITCH}};
	struct strbuf s;

	device_name = "";
	s = render_note(RUN_LOG_TEXT, &n);
	assert_string_equal(s.s, "notice  node_gone: switch 0x0000000000000018 is gone");
	strbuf_free(&s);
	device_name = "leaf 3";
	s = render_note(RUN_LOG_TEXT, &n);
	assert_string_equal(s.s,
			    "notice  node_gone: switch leaf 3 is gone (GUID 0x0000000000000018)");
	strbuf_free(&s);
}

/* A NodeDescription may hold anything: a record stays one line, and JSON stays JSON. */
TEST(names_from_devices_are_escaped)
{
	const char *evil = "a\nb\x1b[31m\"} {lid}\xff";
	const struct sm_note n = {.kind = SM_NOTE_NAME,
				  .about = {.kind = SM_ABOUT_DEVICE, .a = {.guid = 1}}};
	struct strbuf s;

	device_name = evil;
	s = render_note(RUN_LOG_TEXT, &n);
	assert_null(strchr(s.s, '\n'));
	assert_null(strchr(s.s, '\x1b'));
	assert_non_null(strstr(s.s, "a\\x0ab"));
	strbuf_free(&s);
	s = render_note(RUN_LOG_JSON, &n);
	assert_null(strchr(s.s, '\n'));
	assert_string_equal(
		s.s,
		"{\"level\": \"debug\",\"record\": \"name\","
		"\"text\": \"0x0000000000000001 has the name a\\\\x0ab\\\\x1b[31m\\\"} {lid}\\\\xff\","
		"\"node\": \"0x0000000000000001\","
		"\"name\": \"a\\u000ab\\u001b[31m\\\"} {lid}\\u00ff\"}");
	strbuf_free(&s);
}

TEST(times_have_suitable_units)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {{0, "in 0 us"},
		     {999, "in 999 us"},
		     {1000, "in 1.0 ms"},
		     {999999, "in 999.9 ms"},
		     {2104608, "in 2.104 s"}};

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct strbuf s =
			render(RUN_LOG_TEXT, LOG_ROUTES,
			       VALUES(LOG_U("switches", 1), LOG_TIME("took_us", cases[i].us)));

		assert_non_null(strstr(s.s, cases[i].text));
		strbuf_free(&s);
	}
}

TEST(levels_files_and_moving)
{
	struct run_log l;
	struct err e;

	assert_int_equal(log_open(&l, path_of("log"), RUN_LOG_NOTICE, RUN_LOG_TEXT, &e), 0);
	log_rec(&l, LOG_STOP, LOG_T("why", "one"));
	log_rec(&l, LOG_ROUTES, LOG_U("switches", 1), LOG_TIME("took_us", 1)); /* debug */
	assert_int_equal(lines_in("log", ""), 1);
	assert_int_equal(lines_in("log", "stop: weft stops: one"), 1);
	assert_int_equal(rename(path_of("log"), "/tmp/weft-log-moved"), 0);
	unlink("/tmp/weft-log-moved");
	log_reopen(&l);
	log_rec(&l, LOG_STOP, LOG_T("why", "two"));
	assert_int_equal(lines_in("log", "weft stops: two"), 1);
	log_close(&l);
	log_rec(&l, LOG_STOP, LOG_T("why", "three")); /* after the end: nothing */
	assert_int_equal(lines_in("log", ""), 1);
	assert_int_not_equal(log_open(&l, "/nowhere/log", RUN_LOG_NOTICE, RUN_LOG_TEXT, &e), 0);
	assert_non_null(strstr(e.text, "/nowhere/log"));
}

TEST(a_flood_is_counted)
{
	struct run_log l;
	struct err e;
	unsigned written;

	assert_int_equal(log_open(&l, path_of("flood"), RUN_LOG_NOTICE, RUN_LOG_JSON, &e), 0);
	for (unsigned i = 0; i < 100000; i++)
		log_note(&l, &(struct sm_note){.kind = SM_NOTE_UNREACHABLE}, NULL);
	log_rec(&l, LOG_STOP, LOG_T("why", "done")); /* others still get through */
	written = lines_in("flood", "\"unreachable\"");
	assert_in_range(written, 100, 50000); /* a hundred a second, however long this took */
	assert_int_equal(lines_in("flood", "\"stop\""), 1);
	l.second = 0; /* as if a second went by */
	log_rec(&l, LOG_STOP, LOG_T("why", "later"));
	assert_true(lines_in("flood", "\"suppressed\"") >= 1);
	log_close(&l);
}

/* Writing the log never blocks; when the reader continues, the log says how much is missing. */
TEST(a_reader_that_stalls_does_not_block)
{
	struct run_log l;
	struct err e;
	char buf[1 << 16];
	struct strbuf all = {0};
	int reader;
	ssize_t n;

	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	reader = open(path_of("fifo"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(log_open(&l, path_of("fifo"), RUN_LOG_DEBUG, RUN_LOG_TEXT, &e), 0);
	alarm(60); /* a log that waits ends here */
	for (unsigned i = 0; i < 10000; i++)
		log_rec(&l, LOG_ROUTES, LOG_U("switches", i), LOG_TIME("took_us", i));
	assert_in_range(l.lost, 1, 9999);
	log_catch_up(&l);
	assert_in_range(l.lost, 1, 9999);
	while ((n = read(reader, buf, sizeof(buf))) > 0)
		strbuf_addn(&all, buf, (size_t)n);
	log_catch_up(&l);
	assert_int_equal(l.lost, 0);
	while ((n = read(reader, buf, sizeof(buf))) > 0)
		strbuf_addn(&all, buf, (size_t)n);
	alarm(0);
	assert_non_null(strstr(all.s, "lost_lines: "));
	strbuf_free(&all);
	log_close(&l);
	close(reader);
}

static int told;

static void on_tell(void *ctx, const char *json)
{
	(void)ctx;
	assert_int_equal(json[0], '{');
	told++;
}

TEST(subscribers_get_records)
{
	struct run_log l;
	struct err e;

	assert_int_equal(log_open(&l, path_of("told"), RUN_LOG_NOTICE, RUN_LOG_TEXT, &e), 0);
	l.tell = on_tell;
	log_rec(&l, LOG_STOP, LOG_T("why", "x"));
	log_rec(&l, LOG_ROUTES, LOG_U("switches", 1), LOG_TIME("took_us", 1));
	assert_int_equal(told, 1);
	log_close(&l);
}

/* Every note has a record, whatever is in it. */
TEST(every_note_has_a_record)
{
	struct sm_config c;
	struct run_log l;
	struct err e;
	struct sm *sm;

	sm_config_default(&c);
	sm = sm_new(&c);
	assert_int_equal(log_open(&l, path_of("notes"), RUN_LOG_DEBUG, RUN_LOG_JSON, &e), 0);
	for (unsigned k = 0; k < SM_NOTE_NKINDS; k++) {
		struct sm_note n = {.kind = (enum sm_note_kind)k};
		unsigned before = lines_in("notes", "");

		run_note_log(&l, sm, &n);
		assert_int_equal(lines_in("notes", ""), before + 1);
		n.more = true; /* one of many: only lists have it */
		run_note_log(&l, sm, &n);
		assert_int_equal(lines_in("notes", ""), before + 1);
	}
	log_close(&l);
	sm_free(sm);
}

TEST(systemd_is_notified)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	char text[64] = "";

	unsetenv("NOTIFY_SOCKET");
	systemd_notify("READY=1"); /* no systemd: nothing happens */
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/notify", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setenv("NOTIFY_SOCKET", a.sun_path, 1);
	systemd_notify("STATUS=%u switches", 7);
	assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), strlen("STATUS=7 switches"));
	assert_string_equal(text, "STATUS=7 switches");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	setenv("WATCHDOG_USEC", "3000000", 1);
	assert_int_equal(systemd_watchdog_us(), 3000000);
	setenv("WATCHDOG_PID", "1", 1); /* of another process */
	assert_int_equal(systemd_watchdog_us(), 0);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	assert_int_equal(systemd_watchdog_us(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_read_as_sentences),
		cmocka_unit_test(unknown_fields_are_left_out),
		cmocka_unit_test(no_key_comes_twice),
		cmocka_unit_test(devices_have_names),
		cmocka_unit_test(names_from_devices_are_escaped),
		cmocka_unit_test(times_have_suitable_units),
		cmocka_unit_test(levels_files_and_moving),
		cmocka_unit_test(a_flood_is_counted),
		cmocka_unit_test(a_reader_that_stalls_does_not_block),
		cmocka_unit_test(subscribers_get_records),
		cmocka_unit_test(every_note_has_a_record),
		cmocka_unit_test(systemd_is_notified),
	};
	char command[64];
	int rc;

	if (!mkdtemp(dir))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) ? 1 : rc;
}
