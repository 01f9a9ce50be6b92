/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine of the window as a WebAssembly module. State: one engine and the room for a command. Ways in: the exported
 * functions; the host is ui/src/static/engine_module.ts. Frames go to the imported function emit(), faults to fault().
 */
#include <emscripten.h>

#include "window/window_priv.h"

__attribute__((import_module("weft"), import_name("emit"))) void host_emit(const uint8_t *frame,
									   size_t len);

void engine_begin(void);
char *engine_room(size_t len);
void engine_command(size_t len);
int engine_work(uint64_t wall_us, uint64_t events);
uint64_t engine_now(void);
uint64_t engine_events(void);

int engine_going(void);
unsigned engine_runs(void);
unsigned engine_journal(void);
uint64_t engine_next_fault(void);

__attribute__((import_module("weft"), import_name("fault"))) void
host_fault(uint64_t at, const char *text, size_t len);

static struct window *engine;
static char *command;

static void emit(void *ctx UNUSED, const uint8_t *frame, size_t len)
{
	host_emit(frame, len);
}

EMSCRIPTEN_KEEPALIVE void engine_begin(void)
{
	json_object_seed(1); /* its own seed would come from the clock */
	engine = window_new(emit, NULL);
}

/* Where the host puts the text of a command of `len` bytes. */
EMSCRIPTEN_KEEPALIVE char *engine_room(size_t len)
{
	free(command);
	command = mem_alloc(len + 1);
	return command;
}

EMSCRIPTEN_KEEPALIVE void engine_command(size_t len)
{
	window_command(engine, command, len);
	free(command);
	command = NULL;
}

EMSCRIPTEN_KEEPALIVE int engine_work(uint64_t wall_us, uint64_t events)
{
	return window_work(engine, wall_us, events);
}

EMSCRIPTEN_KEEPALIVE uint64_t engine_now(void)
{
	uint64_t events;

	return window_now(engine, &events);
}

EMSCRIPTEN_KEEPALIVE uint64_t engine_events(void)
{
	uint64_t events;

	window_now(engine, &events);
	return events;
}

EMSCRIPTEN_KEEPALIVE int engine_going(void)
{
	return window_is_going(engine);
}

EMSCRIPTEN_KEEPALIVE unsigned engine_runs(void)
{
	return window_runs(engine);
}

static void each_fault(void *ctx UNUSED, time_ps at, const char *text)
{
	host_fault(at, text, strlen(text));
}

/* Gives all faults to the imported function fault(); how many have happened. */
EMSCRIPTEN_KEEPALIVE unsigned engine_journal(void)
{
	return (unsigned)window_journal(engine, each_fault, NULL);
}

EMSCRIPTEN_KEEPALIVE uint64_t engine_next_fault(void)
{
	return window_next_fault(engine);
}
