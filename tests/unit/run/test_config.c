/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's configuration: values, faults with their place, and that printed text, schema and documents
 * follow the same table.
 * Covers: config.c, config_read.c
 */
#include "unit_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "run/run.h"

#define DOCS TEST_DATA "/../../docs/"

static int read_text(const char *text, struct settings *c, struct err *e)
{
	return run_config_read("f", text, strlen(text), c, NULL, e);
}

/* ---- what is read ---- */

TEST(an_empty_file_gives_the_defaults)
{
	static const char *const empty[] = {"",	  "# a comment\n", "---\n", "manager:\nlog:\n",
					    "{}", "manager: {}\n"};
	struct settings c, d;
	struct err e;

	settings_default(&d);
	for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
		settings_default(&c);
		assert_int_equal(read_text(empty[i], &c, &e), 0);
		assert_memory_equal(&c, &d, sizeof(c));
	}
	assert_int_equal(settings_check(&d, NULL, &e), 0);
	assert_string_equal(d.sm.mechanism.name, "weft");
	assert_true(d.sm.names && d.sm.read_back && d.sm.contest);
}

TEST(every_kind_of_value)
{
	struct settings c;
	struct err e;

	settings_default(&c);
	assert_int_equal(
		read_text(
			"transport:\n"
			"  kind: ibsim\n  server: 'lab 0'\n  spin: 50us\n"
			"manager:\n"
			"  detection: sweeps\n  mechanism: improved\n  tables: partial\n  then: full\n"
			"  window: 64\n  sweep: 1.5s\n  qos: true\n"
			"routes:\n"
			"  roots: [0x0002000000000001, 0002000000000002, '0002:0000:0000:0003']\n"
			"  otherwise: centre\n  directions: dfs\n  ahead_memory: 3MiB\n"
			"keys: {m_key: 0x1234, protect: 1, lease: 90s, former: 0x99}\n"
			"files: {state: none, dumps: /var/log/weft}\n"
			"control: {mode: 0660}\n"
			"log:\n  level: debug\n  format: json\n",
			&c, &e),
		0);
	assert_string_equal(c.transport, "ibsim");
	assert_string_equal(c.where.server, "lab 0");
	assert_int_equal(c.spin_us, 50);
	assert_string_equal(c.sm.mechanism.name, "improved");
	assert_string_equal(c.sm.mechanism.second->name, "full");
	assert_string_equal(c.sm.mechanism.provisional->name, "pira");
	assert_true(c.sm.mechanism.partial_tables);
	assert_false(c.sm.mechanism.traps); /* whatever the order in the file */
	assert_int_equal(c.sm.window, 64);
	assert_int_equal(c.sm.sweep_period_ps, 1500 * PS_PER_MS);
	assert_true(c.sm.qos && c.sm.root_centre);
	assert_string_equal(c.roots,
			    "0x0002000000000001\n0x0002000000000002\n0x0002000000000003\n");
	assert_int_equal(c.sm.directions, RT_BY_DFS);
	assert_int_equal(c.sm.ahead_bytes, 3 << 20);
	assert_int_equal(c.sm.m_key, 0x1234);
	assert_int_equal(c.sm.m_key_lease_s, 90);
	assert_int_equal(c.sm.m_keys[0], 0x99);
	assert_string_equal(c.state, "");
	assert_string_equal(c.dumps, "/var/log/weft");
	assert_int_equal(c.control_mode, 0660);
	assert_int_equal(c.log_level, RUN_LOG_DEBUG);
	assert_int_equal(c.log_format, RUN_LOG_JSON);
}

TEST(printed_configuration_reads_back)
{
	struct settings c, d;
	struct strbuf text = {0};
	struct err e;

	settings_default(&c);
	assert_int_equal(
		read_text(
			"manager: {mechanism: improved+traps, then: plan, sweep: 0}\n"
			"transport: {device: \"od'd \\\"name\\\" \\\\ # x: é\\u2028\\ufffe \U0001f600\", port: 2}\n"
			"routes: {roots: [0x1, 0x2], ahead_memory: 1000}\n"
			"metrics: {period: 60s, port: 9100, file: -x}\n"
			"log: {file: /var/log/weft.log}\n",
			&c, &e),
		0);
	for (int comments = 0; comments < 2; comments++) {
		text.len = 0;
		settings_print_yaml(&c, comments, &text);
		settings_default(&d);
		assert_int_equal(read_text(text.s, &d, &e), 0);
		assert_memory_equal(&c, &d, sizeof(c));
	}
	strbuf_free(&text);
}

/* ---- what is refused ---- */

static const struct {
	const char *yaml, *said;
} bad[] = {
	{"manager: {windw: 3}", "f:1:11: unknown key 'windw' in manager, did you mean 'window'?"},
	{"manager:\n  xyzzy: 3\n", "f:2:3: unknown key 'xyzzy' in manager"},
	{"log:\n  window: 3\n", "f:2:3: 'window' is a key of manager, not of log"},
	{"window: 3", "f:1:1: 'window' is a key of manager: write it below 'manager:'"},
	{"manger:\n  window: 3\n", "f:1:1: unknown section 'manger', did you mean 'manager'?"},
	{"? [a]\n: 1\nlog: {level: info}\n", "f:1:3: expected the name of a key, found a list"},
	{"manager:\n  window: 3\n  window: 4\n",
	 "f:3:3: manager.window is given twice; first in line 2"},
	{"manager: {}\nmanager: {}\n", "f:2:1: section manager is given twice; first in line 1"},
	{"manager: 3", "f:1:10: manager: expected keys and their values, found a single value"},
	{"manager: [3]", "f:1:10: manager: expected keys and their values, found a list"},
	{"[1, 2]", "f:1:1: expected sections such as 'manager:', found a list"},
	{"yes", "f:1:1: expected sections such as 'manager:', found a single value"},
	{"manager: {window: 0}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found '0'"},
	{"manager: {window: 4097}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found '4097'"},
	{"manager: {window: -1}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found '-1'"},
	{"manager: {window: 3.5}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found '3.5'"},
	{"manager: {window: 99999999999999999999}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found '99999999999999999999'"},
	{"manager:\n  window:\n",
	 "f:2:10: manager.window: expected a number from 1 to 4096; found nothing"},
	{"manager: {window: [3]}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found a list"},
	{"manager: {window: {a: 3}}",
	 "f:1:19: manager.window: expected a number from 1 to 4096; found a mapping"},
	{"manager: {qos: yes}", "f:1:16: qos.enabled: expected true or false; found 'yes'"},
	{"manager: {sweep: 10}",
	 "f:1:18: manager.sweep: expected a time from 0 to 86400s, such as 500ms or 1.5s; found '10'"},
	{"manager: {sweep: 10m}",
	 "f:1:18: manager.sweep: expected a time from 0 to 86400s, such as 500ms or 1.5s; found '10m'"},
	{"metrics: {period: 1500ms}",
	 "f:1:19: metrics.period: expected a time from 1s to 86400s, such as 500ms or 1.5s, in whole "
	 "seconds; found '1500ms'"},
	{"manager: {mechanism: wefft}",
	 "f:1:22: manager.mechanism: expected basic, improved, improved+partial, improved+traps or weft; found "
	 "'wefft', did you mean 'weft'?"},
	{"manager: {discovery: bfs}",
	 "f:1:22: manager.discovery: expected full or partial; found 'bfs'"},
	{"transport: {kind: verbs}",
	 "f:1:19: transport.kind: expected auto, umad or ibsim; found 'verbs'"},
	{"routes: {roots: [0x0, 0x1]}",
	 "f:1:17: routes.roots: expected a list of names and of GUIDs such as 0x0002c90300001234, none of them 0, with up to 8191 bytes in all; found '0x0'"},
	{"routes: {roots: [1, 2, 3]}",
	 "f:1:17: routes.roots: expected a list of names and of GUIDs such as 0x0002c90300001234, none of them 0, with up to 8191 bytes in all; found '1'"},
	{"routes: {roots: [spine, 0x12345678901234567]}",
	 "f:1:17: routes.roots: expected a list of names and of GUIDs such as 0x0002c90300001234, none of them 0, with up to 8191 bytes in all; found '0x12345678901234567'"},
	{"routes: {engine: file}",
	 "f:1:18: routes: engine file needs its tables: expected routes.file (--routes-file FILE)"},
	{"routes: {file: x.lfts}",
	 "f:1:16: routes: file, sls and sl2vl are for engine file; found engine auto"},
	{"routes: {io_nodes: x, engine: fera}",
	 "f:1:31: routes: engine fera does not balance groups of hosts: expected auto, tree, updn or balanced"},
	{"routes: {roots: [[0x1]]}", "f:1:18: expected a value in the list, found a list"},
	{"routes: {roots: {a: 0x1}}",
	 "f:1:17: routes.roots: expected a list of names and of GUIDs such as 0x0002c90300001234, none of them 0, with up to 8191 bytes in all; found a mapping"},
	{"keys: {m_key: 0x12345678901234567}",
	 "f:1:15: keys.m_key: expected 64 bits in hexadecimal, such as 0x0002c90300001234; found '0x12345678901234567'"},
	{"keys: {m_key: 12}",
	 "f:1:15: keys.m_key: expected 64 bits in hexadecimal, such as 0x0002c90300001234; found '12'"},
	{"routes: {ahead_memory: 64MB}",
	 "f:1:24: routes.ahead_memory: expected a size such as 64MiB, up to 64GiB; found '64MB'"},
	{"control: {mode: 0800}",
	 "f:1:17: control.mode: expected permissions in octal, such as 0660, up to 0777; found '0800'"},
	{"control: {mode: 1777}",
	 "f:1:17: control.mode: expected permissions in octal, such as 0660, up to 0777; found '1777'"},
	{"files: {state: \"\"}",
	 "f:1:16: files.state: expected a text of 1 to 255 bytes, or none; found nothing"},
	{"files: {state: \"a\\nb\"}",
	 "f:1:16: files.state: expected a text of 1 to 255 bytes, or none; found 'a?b'"},
	{"files: {state: \"a\\x82b\"}",
	 "f:1:16: files.state: expected a text of 1 to 255 bytes, or none; found 'a??b'"},
	{"files: {state: \"a\\0b\"}", "f:1:16: found a NUL character in a text"},
	{"files: {\"sta\\0te\": x}", "f:1:9: found a NUL character in a text"},
	{"log: &a {level: info}", "f:1:6: found an anchor (&a): not supported here"},
	{"log: {level: &a info}", "f:1:14: found an anchor (&a): not supported here"},
	{"log: {level: *a}", "f:1:14: found an alias (*a): not supported here"},
	{"<<: {a: b}", "f:1:1: unknown section '<<'"},
	{"log: {level: !!str info}",
	 "f:1:14: found a tag (tag:yaml.org,2002:str): not supported here"},
	{"log: {level: info}\n---\nlog: {}\n",
	 "f:2:1: found a second document: expected one in a file"},
	{"log: {level: info",
	 "f:2:1: not YAML: did not find expected ',' or '}', while parsing a flow mapping (line 1)"},
	{"log:\n\tlevel: info\n",
	 "f:2:1: not YAML: found character that cannot start any token, while scanning for the next token "
	 "(line 2)"},
	{"log: {level: \xff}", "f: not UTF-8 text: invalid leading UTF-8 octet at byte 13"},
	{"log: {level: info}\x01",
	 "f: not UTF-8 text: control characters are not allowed at byte 18"},
	{"routes: {engine: none}", "f:1:18: routes: final routes cannot be 'none'"},
	{"manager: {routes: none}", "f:1:19: routes: final routes cannot be 'none'"},
	{"manager: {distribution: none}",
	 "f:1:25: manager: first tables distributed by 'none' may deadlock packets in flight; unsafe: "
	 "true accepts it"},
	{"manager: {then: outwards}",
	 "f:1:17: manager: final tables distributed by 'outwards' after 'repair' may deadlock packets in "
	 "flight; unsafe: true accepts it"},
	{"manager: {sweep: 0, detection: sweeps}",
	 "f:1:18: manager: neither sweeps nor traps: no change would be detected"},
	{"keys: {protect: 1}", "f:1:17: keys: protect needs an m_key, found none"},
	{"transport: {port_guid: 0x1, port: 1}",
	 "f:1:24: transport: expected port_guid, or device and port; found both"},
	{"log: {level: loud, format: xml}\nmanager: {a: b}\n",
	 "f:1:14: log.level: expected error, warning, notice, info or debug; found 'loud' (and 2 more)"},
};

TEST(faults_are_reported_by_line_and_column)
{
	struct settings c, d;
	struct err e;

	settings_default(&d);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		settings_default(&c);
		assert_int_equal(read_text(bad[i].yaml, &c, &e), -EINVAL);
		assert_string_equal(e.text, bad[i].said);
		assert_memory_equal(&c, &d, sizeof(c)); /* nothing half-applied */
	}
}

TEST(unsafe_accepts_unsafe_mechanisms)
{
	struct settings c;
	struct err e;

	settings_default(&c);
	assert_int_equal(read_text("manager: {distribution: none, unsafe: true}", &c, &e), 0);
	assert_int_equal(read_text("manager: {mechanism: improved}", &c, &e),
			 0); /* outwards is safe there */
}

static void count(void *ctx, const struct run_fault *f)
{
	unsigned *n = ctx;

	assert_true(strlen(f->text) > 0);
	++*n;
}

static void keep_first(void *ctx, const struct run_fault *f)
{
	struct strbuf *s = ctx;

	strbuf_addf(s, "%u:%u %s\n", f->line, f->column, f->text);
}

/* Directories that do not exist are faults, with their lines; the defaults name none. */
static void places_check(const char *path, int fd)
{
	static const char text[] =
		"files: {dumps: /nonexistent}\nmetrics:\n  file: /nonexistent/b.prom\n"
		"log: {file: weft.log}\ncontrol: {socket: /tmp/sock}\n";
	char want[512];
	struct strbuf got = {0};
	struct settings c;

	settings_default(&c);
	assert_int_equal(run_config_places(&c, keep_first, &got), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	assert_int_equal(run_config_faults(path, &c, keep_first, &got), 2);
	snprintf(want, sizeof(want),
		 "1:16 %s:1:16: files.dumps: expected a directory that exists, found "
		 "'/nonexistent'\n3:9 %s:3:9: metrics.file: expected a file in a directory that "
		 "exists, found '/nonexistent/b.prom'\n",
		 path, path);
	assert_string_equal(got.s, want);
	got.len = 0;
	snprintf(c.log_file, sizeof(c.log_file), "/nonexistent/log");
	assert_int_equal(run_config_places(&c, keep_first, &got), 1);
	assert_string_equal(got.s,
			    "0:0 log.file: expected a file in a directory that exists, found "
			    "'/nonexistent/log'\n");
	got.len = 0;
	snprintf(c.log_file, sizeof(c.log_file), "/tmp");
	assert_int_equal(run_config_places(&c, keep_first, &got), 1);
	assert_string_equal(got.s, "0:0 log.file: expected a file, found the directory '/tmp'\n");
	strbuf_free(&got);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, "a: 1\n", 5, 0), 5);
}

TEST(files)
{
	char path[] = "/tmp/weft-config-XXXXXX";
	int fd = mkstemp(path);
	struct settings c;
	unsigned told = 0;
	struct err e;

	settings_default(&c);
	assert_int_equal(run_config_load("/nonexistent.yaml", &c, NULL, &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent.yaml: No such file or directory");
	assert_int_equal(run_config_load("/tmp", &c, NULL, &e), -EINVAL);
	assert_int_equal(run_config_load("/dev/zero", &c, NULL, &e), -EINVAL);
	assert_string_equal(e.text, "/dev/zero: larger than 256 KiB: not a configuration");
	assert_int_equal(dprintf(fd, "a: 1\nb: 2\nlog: {x: 3}\n"), 22);
	assert_int_equal(run_config_faults(path, &c, count, &told), 3);
	assert_int_equal(told, 3);
	places_check(path, fd);
	assert_int_equal(run_config_load(path, &c, NULL, &e), -EINVAL);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(run_config_load(path, &c, NULL, &e), 0);
	close(fd);
	unlink(path);
}

static int load_as(const char *path, mode_t mode, const char *text, struct settings *c,
		   struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	settings_default(c);
	return run_config_load(path, c, NULL, e);
}

/* Keys are accepted only from a file that no other user may read. */
TEST(files_with_keys)
{
	static const char keys[] = "keys: {m_key: 0x1234}\n",
			  sm_key[] = "election: {sm_key: 0x77}\n";
	char path[] = "/tmp/weft-config-XXXXXX", keys_path[] = "/tmp/weft-keys-XXXXXX", text[128];
	struct settings c;
	struct err e;

	close(mkstemp(path));
	close(mkstemp(keys_path));
	assert_int_equal(load_as(path, 0644, keys, &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, ":1:15: keys.m_key: a key in a file that others may read "
				       "(its mode is 0644): expected mode 0600"));
	assert_int_equal(c.sm.m_key, 0);
	assert_int_equal(load_as(path, 0640, sm_key, &c, &e), -EINVAL);
	assert_int_equal(load_as(path, 0604, "keys: {former: [0x9]}\n", &c, &e), -EINVAL);
	/* the defaults are no secret */
	assert_int_equal(load_as(path, 0644, "keys: {m_key: 0}\nelection: {sm_key: 0x1}\n", &c, &e),
			 0);
	assert_int_equal(load_as(path, 0600, keys, &c, &e), 0);
	assert_int_equal(c.sm.m_key, 0x1234);
	assert_int_equal(load_as(path, 0400, sm_key, &c, &e), 0);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(load_as(path, 0600, keys, &c, &e), -EINVAL);
		assert_non_null(strstr(e.text, "its owner is user 12345"));
		assert_int_equal(chown(path, 0, 0), 0);
	}
	/* a file of its own */
	snprintf(text, sizeof(text), "keys: {file: %s, protect: 1}\n", keys_path);
	load_as(keys_path, 0600, keys, &c, &e);
	assert_int_equal(load_as(path, 0644, text, &c, &e), 0);
	assert_int_equal(run_config_keys(&c, &e), 0);
	assert_int_equal(c.sm.m_key, 0x1234);
	load_as(keys_path, 0644, "", &c, &e); /* also when there is no key in it yet */
	assert_int_equal(load_as(path, 0644, text, &c, &e), 0);
	assert_int_equal(run_config_keys(&c, &e), -EPERM);
	assert_non_null(strstr(e.text, "its mode is 0644"));
	load_as(keys_path, 0600, "log: {level: debug}\n", &c, &e);
	assert_int_equal(load_as(path, 0644, text, &c, &e), 0);
	assert_int_equal(run_config_keys(&c, &e), -EINVAL);
	assert_non_null(strstr(e.text, ":1:14: log.level: expected keys only"));
	unlink(path);
	unlink(keys_path);
}

TEST(settings_that_need_a_restart)
{
	struct settings a, b;
	struct strbuf out = {0};
	struct err e;

	settings_default(&a);
	b = a;
	assert_int_equal(read_text("manager: {sweep: 5s}\nlog: {level: debug}\n", &b, &e), 0);
	settings_fixed(&a, &b, &out);
	assert_int_equal(out.len, 0);
	assert_int_equal(read_text("manager: {window: 5}\nfiles: {state: none}\n", &b, &e), 0);
	settings_fixed(&a, &b, &out);
	assert_string_equal(out.s, "manager.window, files.state");
	strbuf_free(&out);
}

TEST(default_paths)
{
	struct settings c;
	struct err e;

	setenv("RUNTIME_DIRECTORY", "/tmp", 1);
	setenv("STATE_DIRECTORY", "/tmp", 1);
	settings_default(&c);
	assert_int_equal(read_text("transport: {kind: umad}", &c, &e), 0);
	assert_int_equal(run_config_paths(&c, &e), 0);
	assert_string_equal(c.control, "/tmp/sm.sock");
	assert_string_equal(c.state, "/tmp/weft.db");
	assert_int_equal(
		read_text(
			"transport: {kind: ibsim, server: 'lab/0'}\nfiles: {state: auto}\ncontrol: {socket: none}\n",
			&c, &e),
		0);
	assert_int_equal(run_config_paths(&c, &e), 0);
	assert_string_equal(c.control, "");
	assert_string_equal(c.state, "/tmp/weft-lab_0.db");
	unsetenv("RUNTIME_DIRECTORY");
	unsetenv("STATE_DIRECTORY");
}

/* ---- documents ---- */

TEST(documents_match_the_table)
{
	struct settings c;
	struct strbuf want = {0};
	struct err e;
	char *text;
	size_t len;

	settings_default(&c);
	strbuf_add(&want, "```yaml\n");
	settings_print_yaml(&c, true, &want);
	strbuf_add(&want, "```\n");
	assert_int_equal(file_read(DOCS "config.md", &text, &len, &e), 0);
	if (!strstr(text, want.s))
		fail_msg(
			"docs/config.md is not what `weft sm --print-config` says: run scripts/config-docs.sh");
	free(text);
	want.len = 0;
	settings_schema(&want);
	assert_int_equal(file_read(DOCS "../data/weft.schema.json", &text, &len, &e), 0);
	if (strcmp(text, want.s))
		fail_msg(
			"data/weft.schema.json is not what `weft sm --schema` says: run scripts/config-docs.sh");
	free(text);
	strbuf_free(&want);
}

/* The installed file contains the defaults only; its examples, after the first empty line, are valid. */
TEST(the_example_is_valid)
{
	struct settings c, d;
	struct err e;
	char *text, *from, *to;
	size_t len;

	settings_default(&c);
	d = c;
	assert_int_equal(run_config_load(DOCS "../data/weft.yaml", &c, NULL, &e), 0);
	assert_memory_equal(&c, &d, sizeof(c));
	assert_int_equal(file_read(DOCS "../data/weft.yaml", &text, &len, &e), 0);
	from = to = strstr(text, "\n\n");
	while (*from) {
		if (*from == '#' && from[1] == ' ')
			from += 2;
		*to++ = *from++;
	}
	*to = 0;
	if (run_config_read("weft.yaml", text, strlen(text), &c, NULL, &e))
		fail_msg("%s", e.text);
	assert_string_equal(c.where.device, "mlx5_0");
	assert_string_equal(c.dumps, "/var/log/weft");
	free(text);
}

/* ---- lists ---- */

static const char lists[] =
	"partitions:\n"
	"  enforce: in\n"
	"  list:\n"
	"    - pkey: 0x7fff\n"
	"      members: [{ALL: full}]\n"
	"    - members:\n"
	"        - 0x17: full\n"
	"        - \"io \\\"*\\\"/P1\": both\n"
	"      pkey: 0x10\n"
	"      name: storage\n"
	"      indx0: true\n"
	"      ipoib: true\n"
	"      scopes: [2, 5]\n"
	"      sl: 3\n"
	"      groups:\n"
	"        - mgid: \"ff12::77\"\n"
	"          qkey: 0x99\n"
	"          scopes: [5]\n"
	"    - name: no key\n"
	"qos:\n"
	"  enabled: true\n"
	"  groups:\n"
	"    - {name: g, guids: [1, 0x10-0x20], names: [\"a*\"], types: [SELF], pkeys: [1-2], partitions: [storage]}\n"
	"  levels:\n"
	"    - {name: DEFAULT, sl: 1}\n"
	"    - {name: l, mtu: 4, rate: 7, life: 9, pkey: 0x8010, path_bits: [0-3]}\n"
	"  rules:\n"
	"    - {level: l, sources: [g], destinations: [g], qos_classes: [7], service_ids: [0x10000-0x1ffff], pkeys: [3]}\n"
	"  classes:\n"
	"    ca: {high_limit: 6, vlarb_high: \"0:4\", vlarb_low: \"1:64,2:1\", sl2vl: \"0,1,15\"}\n";

TEST(lists_become_a_policy)
{
	struct pol *p = pol_new(), *again = pol_new();
	struct strbuf text = {0};
	struct settings c;
	struct err e = {""};

	settings_default(&c);
	if (run_config_read("f", lists, strlen(lists), &c, p, &e))
		fail_msg("%s", e.text);
	assert_int_equal(c.sm.part_enforce, SM_ENFORCE_IN);
	assert_true(c.sm.qos && p->configured);
	assert_int_equal(p->partitions.n, 3);
	assert_string_equal(p->partitions.at[1].name, "storage");
	assert_int_equal(p->partitions.at[1].members.n, 2);
	assert_string_equal(p->partitions.at[1].members.at[1].name, "io \"*\"/P1");
	assert_int_equal(p->partitions.at[1].groups.n, 5);
	assert_int_equal(p->partitions.at[2].pkey, 1);
	assert_int_equal(p->default_level, 0);
	assert_int_equal(p->rules.at[0].service_ids.at[0].to, 0x1ffff);
	assert_int_equal(p->vls[POL_CA_PORT].sl2vl[2], 15);
	strbuf_add(&text, "partitions:\n");
	pol_print_partitions(p, &text);
	strbuf_add(&text, "qos:\n");
	pol_print_qos(p, &text);
	if (run_config_read("again", text.s, text.len, &c, again, &e))
		fail_msg("%s\n%s", e.text, text.s);
	assert_true(pol_same(p, again));
	pol_free(p);
	pol_free(again);
	strbuf_free(&text);
}

/* ---- OpenSM's definitions as lists ---- */

static void random_flags(struct rng *r, struct strbuf *out)
{
	if (rng_below(r, 2))
		strbuf_add(out, ", ipoib");
	if (rng_below(r, 4) == 0)
		strbuf_add(out, ", indx0");
	if (rng_below(r, 3) == 0)
		strbuf_addf(out, ", sl=%u", rng_below(r, 3));
	if (rng_below(r, 3) == 0)
		strbuf_addf(out, ", mtu=%u", 1 + rng_below(r, 5));
	if (rng_below(r, 3) == 0)
		strbuf_addf(out, ", rate=%u", 2 + rng_below(r, 4));
	for (unsigned n = rng_below(r, 3); n; n--)
		strbuf_addf(out, ", scope=%u", 2 + 3 * rng_below(r, 3));
	if (rng_below(r, 4) == 0)
		strbuf_addf(out, ", Q_Key=0x%x", 1 + rng_below(r, 9));
	if (rng_below(r, 4) == 0)
		strbuf_addf(out, ", TClass=%u, FlowLabel=%u", rng_below(r, 256), rng_below(r, 99));
}

/* A group without rate and MTU, so that IP groups have those of their definition. */
static void random_definition(struct rng *r, struct strbuf *out)
{
	static const char *const names[] = {"Default=0x7fff", "a=0x10", "b=0x11", "c=0x8012", "d"};
	static const char *const mgids[] = {"ff12:401b::707", "ff15:601b::fb", "ff12::1"};
	static const char *const members[] = {"ALL=limited", "SELF=full", "ALL_CAS=both",
					      "0x17=full", "0x18=limited"};

	strbuf_add(out, names[rng_below(r, ARRAY_LEN(names))]);
	random_flags(r, out);
	strbuf_add(out, " :\n");
	for (unsigned n = rng_below(r, 3); n; n--)
		strbuf_addf(out, "mgid=%s%s\n", mgids[rng_below(r, ARRAY_LEN(mgids))],
			    rng_below(r, 2) ? ", sl=1, Q_Key=7" : "");
	for (unsigned n = 1 + rng_below(r, 2); n; n--)
		strbuf_addf(out, "%s%s", members[rng_below(r, ARRAY_LEN(members))],
			    n > 1 ? ", " : ";\n");
}

static void same_groups(const struct pol *p, const struct pol *q, const char *text)
{
	struct pol_group a[128], b[128];
	size_t n = pol_groups(p, a, ARRAY_LEN(a)), m = pol_groups(q, b, ARRAY_LEN(b)), found = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			found += !memcmp(a[i].mgid, b[k].mgid, 16) && a[i].pkey == b[k].pkey &&
				 a[i].qkey == b[k].qkey && a[i].sl == b[k].sl &&
				 a[i].rate == b[k].rate && a[i].mtu == b[k].mtu &&
				 a[i].scope == b[k].scope && a[i].tclass == b[k].tclass &&
				 a[i].hop_limit == b[k].hop_limit &&
				 a[i].flow_label == b[k].flow_label;
	if (n != m || found != n)
		fail_msg("%zu, %zu groups, %zu are the same:\n%s", n, m, found, text);
}

static void same_keys(const struct pol *p, const struct pol *q, const char *text)
{
	for (unsigned i = 0; i < 8; i++) {
		struct pol_port port = {.guid = 0x16 + i % 4,
					.type = i < 4 ? IBA_NODE_CA : IBA_NODE_SWITCH,
					.num = i < 4,
					.is_sm = i == 3};
		uint16_t a[16], b[16];
		size_t n = pol_pkeys(p, &port, a, 16);

		if (pol_pkeys(q, &port, b, 16) != n || memcmp(a, b, n * sizeof(*a)))
			fail_msg("other P_Keys:\n%s", text);
	}
}

/* Several definitions of one partition have flags of their own. */
TEST(definitions_become_the_same_lists)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct pol *p = pol_new(), *again = pol_new();
		struct strbuf conf = {0}, yaml = {0};
		struct settings c;
		struct rng r;
		struct err e;

		rng_seed(&r, seed, 1);
		for (unsigned n = 1 + rng_below(&r, 6); n; n--)
			random_definition(&r, &conf);
		if (pol_read_partitions(p, "p", conf.s, conf.len, &e))
			fail_msg("%s\n%s", e.text, conf.s);
		strbuf_add(&yaml, "partitions:\n");
		pol_print_partitions(p, &yaml);
		settings_default(&c);
		if (run_config_read("y", yaml.s, yaml.len, &c, again, &e))
			fail_msg("%s\n%s%s", e.text, conf.s, yaml.s);
		strbuf_add(&conf, yaml.s);
		p->qos = again->qos = true;
		same_groups(p, again, conf.s);
		same_keys(p, again, conf.s);
		assert_true(pol_same(p, again));
		for (size_t i = 0; i < p->partitions.n; i++)
			assert_int_equal(p->partitions.at[i].flags.sl,
					 again->partitions.at[i].flags.sl);
		pol_free(p);
		pol_free(again);
		strbuf_free(&conf);
		strbuf_free(&yaml);
	}
}

static void list_refused(const char *text, const char *why)
{
	struct settings c, before;
	struct err e = {""};

	settings_default(&c);
	before = c;
	assert_int_equal(run_config_read("f", text, strlen(text), &c, NULL, &e), -EINVAL);
	assert_string_equal(e.text, why);
	assert_memory_equal(&c, &before, sizeof(c));
}

TEST(faults_of_lists)
{
	list_refused("partitions: {list: 3}", "f:1:20: expected a list of partitions; found '3'");
	list_refused("partitions:\n  list:\n    - {name: a, pkee: 1}",
		     "f:3:17: unknown key 'pkee' in a partition, did you mean 'pkey'?");
	list_refused("partitions:\n  list:\n    - {name: a, pkey: 0x8000}",
		     "f:3:23: expected a P_Key from 0x0001 to 0x7fff; found '0x8000'");
	list_refused("partitions:\n  list:\n    - {name: a, members: [{ALL: ful1}]}",
		     "f:3:33: expected full, limited or both after 'ALL', found 'ful1'");
	list_refused("partitions:\n  list:\n    - {name: a, mtu: 9}",
		     "f:3:22: expected a code of an MTU from 1 to 5 for mtu, found '9'");
	list_refused("qos: {rules: [{level: x}]}",
		     "f:1:23: expected the name of a level of qos.levels; found 'x'");
	list_refused("qos: {levels: [{sl: 1}]}",
		     "f:1:16: expected a name of the level; found a mapping");
	list_refused("qos: {classes: {cb: {sl2vl: 1}}}",
		     "f:1:21: expected default, ca, sw0, swe or rtr; found 'cb'");
	list_refused(
		"qos: {classes: {ca: {sl2vl: 16}}}",
		"f:1:29: expected up to 16 VLs from 0 to 15, such as 0,1,2, for sl2vl, found '16'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file_gives_the_defaults),
		cmocka_unit_test(every_kind_of_value),
		cmocka_unit_test(printed_configuration_reads_back),
		cmocka_unit_test(faults_are_reported_by_line_and_column),
		cmocka_unit_test(unsafe_accepts_unsafe_mechanisms),
		cmocka_unit_test(files),
		cmocka_unit_test(files_with_keys),
		cmocka_unit_test(settings_that_need_a_restart),
		cmocka_unit_test(default_paths),
		cmocka_unit_test(documents_match_the_table),
		cmocka_unit_test(lists_become_a_policy),
		cmocka_unit_test(definitions_become_the_same_lists),
		cmocka_unit_test(faults_of_lists),
		cmocka_unit_test(the_example_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
