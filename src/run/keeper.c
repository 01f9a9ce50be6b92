/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must survive: gathered on the loop, written on a thread of libuv's pool, because a disk may take
 * as long as it likes. State: struct run_keeper; the thread has `writing` and the file to itself while
 * busy. Ways in: run_keeper_lid(), run_keeper_flush(). Does not decide what is worth keeping.
 */
#include "run/daemon.h"

enum { WITHIN_MS = 50, AGAIN_MS = 5000 };

/* ---- on the pool's thread ---- */

static void put_all(struct run_keeper *k)
{
	for (size_t i = 0; i < k->writing.n; i++) {
		const struct run_keep *x = &k->writing.at[i];

		if (x->name)
			run_state_put_name(k->state, x->guid, x->name);
		else
			run_state_put_lid(k->state, x->guid, x->lid, x->lmc);
		free(x->name);
	}
	k->writing.n = 0;
	if (k->m_key)
		run_state_put_m_key(k->state, k->m_key);
	k->m_key = 0;
}

static void on_work(uv_work_t *w)
{
	struct run_keeper *k = w->data;

	k->rc = k->state ? 0
			 : run_state_open(&k->state, k->path,
					  &k->e); /* there was no room to make it */
	if (k->rc)
		return;
	put_all(k);
	k->rc = run_state_commit(k->state, &k->e);
}

/* ---- on the loop ---- */

/* The first failure is told, and the first success after it. */
static void tell(struct run_keeper *k)
{
	if (k->rc && !k->failed)
		log_rec(k->log, LOG_STATE_FAILED, LOG_T("why", k->e.text));
	else if (!k->rc && k->failed)
		log_rec(k->log, LOG_STATE_BACK);
	k->failed = k->rc != 0;
}

static void on_timer(uv_timer_t *t)
{
	run_keeper_flush(t->data);
}

static void after_work(uv_work_t *w, int status)
{
	struct run_keeper *k = w->data;

	(void)status;
	k->busy = false;
	tell(k);
	if (k->closing)
		return;
	if (k->failed)
		uv_timer_start(&k->timer, on_timer, AGAIN_MS, 0);
	else if (k->soon)
		run_keeper_flush(k);
	k->soon = false;
}

void run_keeper_flush(struct run_keeper *k)
{
	if (!*k->path || k->closing)
		return;
	if (k->busy) {
		k->soon = true;
		return;
	}
	if (!k->pending.n && !k->m_key && !k->failed)
		return;
	for (size_t i = 0; i < k->pending.n; i++)
		vec_push(&k->writing, k->pending.at[i]);
	k->pending.n = 0;
	uv_timer_stop(&k->timer);
	k->busy = true;
	uv_queue_work(k->timer.loop, &k->work, on_work, after_work);
}

static void gather(struct run_keeper *k, const struct run_keep *x)
{
	if (!*k->path)
		return;
	vec_push(&k->pending, *x);
	if (!uv_is_active((uv_handle_t *)&k->timer))
		uv_timer_start(&k->timer, on_timer, WITHIN_MS, 0);
}

/* ---- what there is ---- */

static void remember(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc)
{
	struct run_keeper *k = ctx;
	struct run_keep x = {.guid = guid, .lid = lid, .lmc = (uint8_t)lmc};
	uint32_t at = map64_get(&k->by_guid, guid);

	if (at != MAP_NONE) {
		k->lids.at[at] = x;
		return;
	}
	map64_put(&k->by_guid, guid, (uint32_t)k->lids.n);
	vec_push(&k->lids, x);
}

void run_keeper_lid(struct run_keeper *k, uint64_t guid, uint16_t lid, uint8_t lmc)
{
	remember(k, guid, lid, lmc);
	gather(k, &(struct run_keep){.guid = guid, .lid = lid, .lmc = lmc});
}

void run_keeper_name(struct run_keeper *k, uint64_t guid, const char *name)
{
	if (*k->path)
		gather(k, &(struct run_keep){.guid = guid, .name = mem_strdup(name)});
}

void run_keeper_seed(const struct run_keeper *k, struct sm *sm)
{
	for (size_t i = 0; i < k->lids.n; i++)
		sm_seed_lid(sm, k->lids.at[i].guid, k->lids.at[i].lid, k->lids.at[i].lmc);
}

/* Keys from the file come after those of the configuration, without doubles. */
static int read_keys(struct run_keeper *k, struct sm_config *cfg, struct err *e)
{
	uint64_t keys[SM_MAX_M_KEYS];
	int n = run_state_m_keys(k->state, keys, SM_MAX_M_KEYS, e);
	unsigned have = 0;

	while (have < SM_MAX_M_KEYS && cfg->m_keys[have])
		have++;
	for (int i = 0; i < n; i++) {
		bool known = keys[i] == cfg->m_key || !keys[i];

		for (unsigned j = 0; j < have; j++)
			known |= keys[i] == cfg->m_keys[j];
		if (!known && have < SM_MAX_M_KEYS)
			cfg->m_keys[have++] = keys[i];
	}
	return MIN(n, 0);
}

/* No room is no reason to leave a subnet alone; a file that is not ours, or not readable, is. */
static bool is_full(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EIO;
}

int run_keeper_open(struct run_keeper *k, uv_loop_t *loop, struct run_log *log, const char *path,
		    struct sm_config *cfg, struct err *e)
{
	int rc = 0;

	*k = (struct run_keeper){.log = log};
	snprintf(k->path, sizeof(k->path), "%s", path);
	k->timer.data = k->work.data = k;
	if (*path)
		rc = run_state_open(&k->state, path, e);
	if (!rc && k->state)
		rc = run_state_lids(k->state, remember, k, e);
	if (!rc && k->state)
		rc = read_keys(k, cfg, e);
	if (rc) {
		run_state_close(k->state);
		k->state = NULL;
	}
	if (rc && !is_full(rc)) {
		k->log = NULL;
		return rc;
	}
	uv_timer_init(loop, &k->timer);
	k->rc = rc;
	if (rc)
		k->e = *e;
	tell(k);
	if (rc)
		uv_timer_start(&k->timer, on_timer, AGAIN_MS, 0);
	k->m_key = cfg->m_key;
	if (k->state)
		log_rec(log, LOG_STATE_LOADED, LOG_U("lids", k->lids.n), LOG_T("file", path));
	return 0;
}

static void free_keeps(struct run_keeper *k)
{
	for (size_t i = 0; i < k->pending.n; i++)
		free(k->pending.at[i].name);
	for (size_t i = 0; i < k->writing.n; i++)
		free(k->writing.at[i].name);
	vec_free(&k->pending);
	vec_free(&k->writing);
	vec_free(&k->lids);
	map64_free(&k->by_guid);
}

void run_keeper_close(struct run_keeper *k)
{
	if (!k->log)
		return;
	k->closing = true;
	uv_close((uv_handle_t *)&k->timer, NULL);
	while (k->busy)
		uv_run(k->timer.loop, UV_RUN_ONCE);
	if (*k->path) {
		for (size_t i = 0; i < k->pending.n; i++)
			vec_push(&k->writing, k->pending.at[i]);
		k->pending.n = 0;
		on_work(&k->work);
		tell(k);
		run_state_close(k->state);
	}
	free_keeps(k);
}
