/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as commands, line by line, and as a script: nothing may crash, whatever is refused says why,
 * and the fabric answers afterwards. Keeps nothing from one input to the next; libFuzzer is the way in,
 * or replay.c over files. Files that commands name are not read.
 */
#include "emu/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static struct emu *open_emu(void)
{
	struct fab_builder *b = fab_builder_new();
	struct emu_config c;
	struct emu *m;
	struct fab *f;
	struct err e;

	fab_add_node(b, IBA_NODE_SWITCH, 0x10, 3, "one");
	fab_add_node(b, IBA_NODE_SWITCH, 0x11, 3, "two words");
	fab_add_node(b, IBA_NODE_CA, 0x20, 2, "host");
	CHECK(!fab_add_link(b, 0, 1, 1, 1) && !fab_add_link(b, 0, 2, 1, 2) &&
	      !fab_add_link(b, 2, 1, 0, 3) && !fab_add_link(b, 2, 2, 1, 3));
	f = fab_build(b);
	emu_config_default(&c);
	c.name[0] = 0;
	c.quiet = true;
	c.console = false;
	c.clients = 2;
	CHECK(!emu_open(&m, f, &c, &e));
	fab_free(f);
	return m;
}

static void commands(struct emu *m, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		struct strbuf out = {0};

		if (line[strspn(line, " \t")] != '!' && emu_command(m, line, &out))
			CHECK(out.len && out.s[out.len - 1] == '\n');
		strbuf_free(&out);
	}
}

static void scripts(struct emu *m, char *text)
{
	struct err e = {""};

	if (script_read(&m->script, m, "fuzz", text, &e))
		CHECK(!strncmp(e.text, "fuzz:", 5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1);
	uint8_t info[64] = {0};
	struct emu *m = open_emu();
	struct strbuf out = {0};

	memcpy(text, data, size);
	text[size] = 0;
	scripts(m, text);
	memcpy(text, data, size);
	commands(m, text);
	if (!sim_node_on(m->sim, 0))
		CHECK(!emu_command(m, "on one", &out) || m->fab->nodes[0].guid != 0x10);
	CHECK(!sim_node_on(m->sim, 0) || emu_ask(m, 0, IBA_GET, IBA_ATTR_NODE_INFO, 0, info));
	strbuf_free(&out);
	emu_close(m);
	free(text);
	return 0;
}
