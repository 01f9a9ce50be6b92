/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which checkpoints of a run are kept, and its journal. State: the caller's struct. Ways in: checkpoints_add(),
 * checkpoints_event(), checkpoints_find(). Does not wake them (engine_source.c).
 */
#include "web/checkpoints.h"

#include <unistd.h>

#include "base/json.h"

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void checkpoints_reset(struct checkpoints *k)
{
	for (size_t i = 0; i < k->c.n; i++)
		close_fd(k->c.at[i].fd);
	for (size_t i = 0; i < k->journal.n; i++)
		free(k->journal.at[i].text);
	vec_free(&k->c);
	vec_free(&k->journal);
	k->interval = CHECKPOINT_EVENTS;
}

void checkpoints_remove(struct checkpoints *k, size_t i)
{
	close_fd(k->c.at[i].fd);
	k->c.n--;
	memmove(k->c.at + i, k->c.at + i + 1, (k->c.n - i) * sizeof(*k->c.at));
}

/* The first one stays: it is the way back to the start. */
static void thin_out(struct checkpoints *k)
{
	for (size_t i = 1; i < k->c.n; i++)
		checkpoints_remove(k, i);
	k->interval *= 2;
}

bool checkpoints_add(struct checkpoints *k, const struct checkpoint *c)
{
	int before = checkpoints_find(k, c->at);
	size_t i = (size_t)(before + 1);
	bool full = k->c.n >= CHECKPOINTS_MOST;

	if (before >= 0 && k->c.at[before].at == c->at) {
		close_fd(c->fd);
		return false;
	}
	vec_push(&k->c, *c);
	memmove(k->c.at + i + 1, k->c.at + i, (k->c.n - 1 - i) * sizeof(*k->c.at));
	k->c.at[i] = *c;
	if (full)
		thin_out(k);
	return full;
}

int checkpoints_find(const struct checkpoints *k, uint64_t at)
{
	int i = (int)k->c.n - 1;

	while (i >= 0 && k->c.at[i].at > at)
		i--;
	return i;
}

void checkpoints_cut(struct checkpoints *k, size_t done, uint64_t now)
{
	while (k->journal.n > done)
		free(k->journal.at[--k->journal.n].text);
	while (k->c.n && (k->c.at[k->c.n - 1].at > now || k->c.at[k->c.n - 1].done > done))
		checkpoints_remove(k, k->c.n - 1);
}

void checkpoints_event(struct checkpoints *k, size_t done, uint64_t at, const char *text)
{
	struct journal_event e = {.at = at, .text = mem_strdup(text)};

	checkpoints_cut(k, MIN(done, k->journal.n), at);
	vec_push(&k->journal, e);
}

void checkpoints_journal(const struct checkpoints *k, size_t done, struct strbuf *out)
{
	struct json j = {.line = true};
	char at[24];

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", "journal");
	json_open(&j, "events", '[');
	for (size_t i = done; i < k->journal.n; i++) {
		snprintf(at, sizeof(at), "%llu", (unsigned long long)k->journal.at[i].at);
		json_open(&j, NULL, '{');
		json_str(&j, "at", at);
		json_str(&j, "text", k->journal.at[i].text);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	strbuf_addn(out, j.out.s, j.out.len);
	json_free(&j);
}
