/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands: a line is parsed into a struct emu_op, which is executed later. The steps are separate
 * so that a script can be checked as a whole before it starts. A command is one struct emu_cmd in a
 * cmd_*.c file and a line in console.c's table; its name may be abbreviated as in ibsim, in upper
 * or lower case.
 */
#ifndef WEFT_EMU_CONSOLE_H
#define WEFT_EMU_CONSOLE_H

#include "emu/emu_priv.h"
#include "emu/command_line.h"
#include "emu/target_names.h"
#include "sim/device/sim_device.h"

struct emu_cmd;

struct emu_op {
	const struct emu_cmd *cmd; /* NULL: nothing to do */
	struct target a, b;	   /* node FAB_NONE: not given */
	uint64_t n, m;
	bool has_n;
	time_ps t;
	uint64_t share_q32;
	enum sim_counter counter;
	char text[WORD_SIZE];
	unsigned word; /* of vm */
	uint64_t guid;
};

struct emu_cmd {
	const char *name, *args, *help;
	unsigned min, max; /* words after the name */
	int (*parse)(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e);
	int (*run)(struct emu *m, const struct emu_op *op, struct strbuf *out);
};

/* 0, or -EINVAL with what was expected in e. */
int console_parse(const struct emu *m, const char *text, struct emu_op *op, struct err *e);
/* 0, or -EINVAL with what is wrong added to out. */
int console_run(struct emu *m, const struct emu_op *op, struct strbuf *out);

/* command_parse.c: what commands share */
int con_parse_nothing(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e);
int con_parse_target(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e);
int con_number(const struct line_word *w, uint64_t max, const char *what, uint64_t *v,
	       struct err *e);
/* Adds the reason to out; returns -EINVAL. */
int con_refuse(struct strbuf *out, const char *fmt, ...) PRINTF(2, 3);
bool con_is_all(const struct line_word *w);

/* cmd_cable.c */
extern const struct emu_cmd con_link, con_unlink, con_relink, con_clear, con_off, con_on;
/* cmd_fault.c */
extern const struct emu_cmd con_error, con_loss, con_latency, con_counter, con_perfset, con_flow,
	con_agent;
/* cmd_show.c */
extern const struct emu_cmd con_dump, con_route, con_attached, con_stat;
/* cmd_meter.c */
extern const struct emu_cmd con_meter;
/* cmd_vm.c */
extern const struct emu_cmd con_vm;
/* cmd_port.c */
extern const struct emu_cmd con_guid, con_baselid;
/* console.c: those that console_input.c handles itself */
extern const struct emu_cmd con_wait, con_file;

#endif
