/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last frame of a process that a signal ends. State: where it is sent and what the process was doing, one for the
 * process. Way in: child_report_death(). Calls only what a signal handler may call.
 */
#include "web/child_link.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { DOING_MAX = 300 };

static const int *report_fd;
static const char *const *report_doing;

static const struct {
	int number;
	const char *why;
} deaths[] = {
	{SIGSEGV, "SIGSEGV, an invalid access to memory"},
	{SIGBUS, "SIGBUS, an invalid access to memory"},
	{SIGFPE, "SIGFPE, a division by zero"},
	{SIGILL, "SIGILL, an invalid instruction"},
	{SIGABRT, "SIGABRT, an assertion that failed or no memory"},
};

static size_t put(uint8_t *m, size_t at, const char *text, size_t most)
{
	size_t len = strlen(text);

	len = len < most ? len : most;
	memcpy(m + at, text, len);
	return at + len;
}

static void on_death(int number)
{
	static uint8_t m[FRAME_HEAD + 128 + DOING_MAX];
	const char *why = "", *doing = report_doing ? *report_doing : NULL;
	size_t at = FRAME_HEAD;

	signal(number, SIG_DFL);
	for (size_t i = 0; i < ARRAY_LEN(deaths); i++)
		why = deaths[i].number == number ? deaths[i].why : why;
	at = put(m, at, why, 100);
	if (doing && *doing) {
		at = put(m, at, "; last command: ", 20);
		at = put(m, at, doing, DOING_MAX);
	}
	frame_put_u32(m, (uint32_t)at);
	m[4] = INTERNAL_DEATH;
	if (report_fd && *report_fd >= 0)
		child_try_send(*report_fd, m, at, -1);
	raise(number);
}

void child_report_death(const int *fd, const char *const *doing)
{
	struct sigaction act = {.sa_handler = on_death, .sa_flags = SA_NODEFER};

	report_fd = fd;
	report_doing = doing;
	for (size_t i = 0; i < ARRAY_LEN(deaths); i++)
		sigaction(deaths[i].number, &act, NULL);
}
