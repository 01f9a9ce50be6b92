/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saves LIDs, names and the M_Key: collected on the loop, written on a thread of libuv's pool. State:
 * struct run_state_writer. Ways in: run_state_writer_add_lid(), run_state_writer_flush(). Does not know
 * the file's format: state_db.c does.
 */
#include "run/state_writer.h"

enum { WITHIN_MS = 50, RETRY_MS = 5000 };

/* ---- on the pool's thread ---- */

static void put_all(struct run_state_writer *k)
{
	for (size_t i = 0; i < k->writing.n; i++) {
		const struct run_state_item *x = &k->writing.at[i];

		if (x->name)
			state_db_put_name(k->db, x->guid, x->name);
		else if (x->vm)
			state_db_put_vm(k->db, x->vm);
		else if (x->vm_gone)
			state_db_drop_vm(k->db, x->guid);
		else
			state_db_put_lid(k->db, x->guid, x->lid, x->lmc);
		free(x->name);
		free(x->vm);
	}
	k->writing.n = 0;
	if (k->m_key)
		state_db_put_m_key(k->db, k->m_key);
	k->m_key = 0;
}

static void on_work(uv_work_t *w)
{
	struct run_state_writer *k = w->data;

	k->rc = k->db ? 0 : state_db_open(&k->db, k->path, &k->found, &k->e);
	if (k->rc)
		return;
	put_all(k);
	k->rc = state_db_commit(k->db, &k->e);
	if (k->rc != -EUCLEAN)
		return;
	state_db_close(k->db); /* damaged while it is in use: the next attempt replaces it */
	k->db = NULL;
	k->again = true;
}

/* ---- on the loop ---- */

static void found_log(struct run_state_writer *k)
{
	const struct state_found *f = &k->found;

	if (f->damaged)
		log_rec(k->log, LOG_STATE_DAMAGED, LOG_T("file", k->path), LOG_T("why", f->why),
			LOG_T("moved", f->moved), LOG_U("lids", f->lids), LOG_U("keys", f->keys),
			LOG_U("names", f->names), LOG_U("vms", f->vms));
	k->found.damaged = false;
}

/* Logs the first failure, and the first success after it. */
static void result_log(struct run_state_writer *k)
{
	found_log(k);
	if (k->rc && !k->failed)
		log_rec(k->log, LOG_STATE_FAILED, LOG_T("why", k->e.text));
	else if (!k->rc && k->failed)
		log_rec(k->log, LOG_STATE_BACK);
	k->failed = k->rc != 0;
}

static void on_timer(uv_timer_t *t)
{
	run_state_writer_flush(t->data);
}

static struct state_vm *vm_copy(const struct state_vm *v)
{
	struct state_vm *copy = mem_alloc(sizeof(*copy));

	*copy = *v;
	return copy;
}

static void all_again(struct run_state_writer *k)
{
	for (size_t i = 0; i < k->lids.n; i++)
		vec_push(&k->pending, k->lids.at[i]);
	for (size_t i = 0; i < k->vms.n; i++)
		if (k->vms.at[i].guid)
			vec_push(&k->pending,
				 (struct run_state_item){.guid = k->vms.at[i].guid,
							 .vm = vm_copy(&k->vms.at[i])});
}

static void after_work(uv_work_t *w, int status)
{
	struct run_state_writer *k = w->data;

	(void)status;
	k->busy = false;
	k->saved = k->taken;
	result_log(k);
	if (k->again && !k->closing)
		all_again(k);
	k->again = false;
	if (k->closing)
		return;
	if (k->on_saved)
		k->on_saved(k->on_saved_ctx);
	if (k->failed)
		uv_timer_start(&k->timer, on_timer, RETRY_MS, 0);
	else if (k->soon)
		run_state_writer_flush(k);
	k->soon = false;
}

void run_state_writer_flush(struct run_state_writer *k)
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
	k->taken = k->added;
	uv_timer_stop(&k->timer);
	k->busy = true;
	uv_queue_work(k->timer.loop, &k->work, on_work, after_work);
}

uint64_t run_state_writer_added(const struct run_state_writer *k)
{
	return k->added;
}

uint64_t run_state_writer_saved(const struct run_state_writer *k)
{
	return *k->path && !k->failed ? k->saved : k->added;
}

static void item_add(struct run_state_writer *k, const struct run_state_item *x)
{
	if (!*k->path)
		return;
	vec_push(&k->pending, *x);
	k->added++;
	if (!uv_is_active((uv_handle_t *)&k->timer))
		uv_timer_start(&k->timer, on_timer, WITHIN_MS, 0);
}

/* ---- LIDs, names and keys ---- */

static void lid_keep(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc)
{
	struct run_state_writer *k = ctx;
	struct run_state_item x = {.guid = guid, .lid = lid, .lmc = (uint8_t)lmc};
	uint32_t at = map64_get(&k->by_guid, guid);

	if (at != MAP_NONE) {
		k->lids.at[at] = x;
		return;
	}
	map64_put(&k->by_guid, guid, (uint32_t)k->lids.n);
	vec_push(&k->lids, x);
}

void run_state_writer_add_lid(struct run_state_writer *k, uint64_t guid, uint16_t lid, uint8_t lmc)
{
	lid_keep(k, guid, lid, lmc);
	item_add(k, &(struct run_state_item){.guid = guid, .lid = lid, .lmc = lmc});
}

void run_state_writer_add_name(struct run_state_writer *k, uint64_t guid, const char *name)
{
	if (*k->path)
		item_add(k, &(struct run_state_item){.guid = guid, .name = mem_strdup(name)});
}

static void vm_keep(void *ctx, const struct state_vm *v)
{
	struct run_state_writer *k = ctx;
	uint32_t at = map64_get(&k->vm_by_guid, v->guid);

	if (at != MAP_NONE) {
		k->vms.at[at] = *v;
		return;
	}
	map64_put(&k->vm_by_guid, v->guid, (uint32_t)k->vms.n);
	vec_push(&k->vms, *v);
}

void run_state_writer_add_vm(struct run_state_writer *k, const struct sm_vm *v)
{
	struct state_vm x = {.guid = v->guid,
			     .host = v->host,
			     .slot = v->slot,
			     .lid = v->lid,
			     .running = v->running};

	snprintf(x.name, sizeof(x.name), "%s", v->name);
	vm_keep(k, &x);
	if (*k->path)
		item_add(k, &(struct run_state_item){.guid = v->guid, .vm = vm_copy(&x)});
}

void run_state_writer_drop_vm(struct run_state_writer *k, uint64_t guid)
{
	uint32_t at = map64_get(&k->vm_by_guid, guid);

	if (at != MAP_NONE)
		k->vms.at[at].guid = 0;
	map64_del(&k->vm_by_guid, guid);
	item_add(k, &(struct run_state_item){.guid = guid, .vm_gone = true});
}

void run_state_writer_seed_vms(const struct run_state_writer *k, struct sm *sm)
{
	for (size_t i = 0; i < k->vms.n; i++) {
		const struct state_vm *x = &k->vms.at[i];
		struct sm_vm v = {.guid = x->guid,
				  .host = x->host,
				  .slot = x->slot,
				  .lid = x->lid,
				  .running = x->running};

		snprintf(v.name, sizeof(v.name), "%.63s", x->name);
		if (x->guid)
			sm_seed_vm(sm, &v);
	}
}

void run_state_writer_seed(const struct run_state_writer *k, struct sm *sm)
{
	for (size_t i = 0; i < k->lids.n; i++)
		sm_seed_lid(sm, k->lids.at[i].guid, k->lids.at[i].lid, k->lids.at[i].lmc);
}

/* Keys from the file follow those of the configuration, each once. */
static int read_keys(struct run_state_writer *k, struct sm_config *cfg, struct err *e)
{
	uint64_t keys[SM_MAX_M_KEYS];
	int n = state_db_m_keys(k->db, keys, SM_MAX_M_KEYS, e);
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

/* With a full disk the manager runs; it refuses a file that it cannot read or that is not its own. */
static bool is_full(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EIO;
}

int run_state_writer_open(struct run_state_writer *k, uv_loop_t *loop, struct run_log *log,
			  const char *path, struct sm_config *cfg, struct err *e)
{
	int rc = 0;

	*k = (struct run_state_writer){.log = log};
	snprintf(k->path, sizeof(k->path), "%s", path);
	k->timer.data = k->work.data = k;
	if (*path)
		rc = state_db_open(&k->db, path, &k->found, e);
	if (!rc && k->db)
		rc = state_db_lids(k->db, lid_keep, k, e);
	if (!rc && k->db)
		rc = read_keys(k, cfg, e);
	if (!rc && k->db)
		rc = state_db_vms(k->db, vm_keep, k, e);
	if (rc) {
		state_db_close(k->db);
		k->db = NULL;
	}
	if (rc && !is_full(rc)) {
		found_log(k);
		k->log = NULL;
		return rc;
	}
	uv_timer_init(loop, &k->timer);
	k->rc = rc;
	if (rc)
		k->e = *e;
	result_log(k);
	if (rc)
		uv_timer_start(&k->timer, on_timer, RETRY_MS, 0);
	k->m_key = cfg->m_key;
	if (k->db)
		log_rec(log, LOG_STATE_LOADED, LOG_U("lids", k->lids.n), LOG_T("file", path));
	return 0;
}

static void items_free(struct run_state_writer *k)
{
	for (size_t i = 0; i < k->pending.n; i++) {
		free(k->pending.at[i].name);
		free(k->pending.at[i].vm);
	}
	for (size_t i = 0; i < k->writing.n; i++) {
		free(k->writing.at[i].name);
		free(k->writing.at[i].vm);
	}
	vec_free(&k->pending);
	vec_free(&k->writing);
	vec_free(&k->lids);
	vec_free(&k->vms);
	map64_free(&k->by_guid);
	map64_free(&k->vm_by_guid);
}

void run_state_writer_close(struct run_state_writer *k)
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
		result_log(k);
		state_db_close(k->db);
	}
	items_free(k);
}
