/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * M_Keys that devices still hold from before (cfg.m_keys). State: struct sm_m_keys, of devices
 * that do not have cfg.m_key. A device drops an SMP with a wrong key without a response, so a
 * request that times out is repeated with one key after another. Does not set any key: discovery
 * does.
 */
#include "sm/manager.h"

enum { SENDS_A_KEY = 2 }; /* one may be lost */

/* All keys, the one in force first. */
static unsigned all_keys(const struct sm *sm, uint64_t keys[SM_MAX_M_KEYS + 1])
{
	unsigned n = 1;

	keys[0] = sm->cfg.m_key;
	for (unsigned i = 0; i < SM_MAX_M_KEYS && sm->cfg.m_keys[i]; i++) {
		bool twice = false;

		for (unsigned k = 0; k < n; k++)
			twice |= keys[k] == sm->cfg.m_keys[i];
		if (!twice)
			keys[n++] = sm->cfg.m_keys[i];
	}
	return n;
}

/* Told, not only reported by a device. */
static bool is_told(const struct sm *sm, uint64_t key)
{
	uint64_t keys[SM_MAX_M_KEYS + 1];
	unsigned n = all_keys(sm, keys);

	for (unsigned i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

unsigned sm_key_count(const struct sm *sm)
{
	uint64_t keys[SM_MAX_M_KEYS + 1];

	return sm->cfg.m_keys[0] ? all_keys(sm, keys) : 1;
}

/*
 * For a device of which nothing is known: the key that opened the last one may open this one. A device without a key
 * accepts any, also one that it reported falsely: such a key would take the turn of one that was told.
 */
uint64_t sm_key_first(const struct sm *sm)
{
	return is_told(sm, sm->keys.hint) ? sm->keys.hint : sm->cfg.m_key;
}

/* The request was sent `tries` times: the key for the next time. */
uint64_t sm_key_next(const struct sm *sm, uint64_t now, unsigned tries)
{
	uint64_t keys[SM_MAX_M_KEYS + 1];
	unsigned n = all_keys(sm, keys);

	if ((n == 1 && now == keys[0]) || tries % MIN(SENDS_A_KEY, sm->cfg.retries + 1))
		return now;
	for (unsigned i = 0; i < n; i++)
		if (keys[i] == now)
			return keys[(i + 1) % n];
	return keys[0]; /* it was a key that a device reported */
}

/* ---- which device has which ---- */

/* The port whose key guards a device: port 0 of a switch. */
static uint64_t guard_of(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH ? sm->topo.ports.at[n->first_port].guid : p->guid;
}

uint64_t sm_key_of(const struct sm *sm, uint32_t port)
{
	uint32_t at = sm->keys.list.n ? map64_get(&sm->keys.by_guid, guard_of(sm, port)) : MAP_NONE;

	return at == MAP_NONE ? sm->cfg.m_key : sm->keys.list.at[at];
}

void sm_key_learnt(struct sm *sm, uint64_t port_guid, uint64_t key)
{
	uint32_t at = map64_get(&sm->keys.by_guid, port_guid);

	if (at != MAP_NONE) {
		sm->keys.list.at[at] = key;
	} else if (key != sm->cfg.m_key) {
		map64_put(&sm->keys.by_guid, port_guid, (uint32_t)sm->keys.list.n);
		vec_push(&sm->keys.list, key);
	}
}

/* A port was read: it shows its key, or that it has one which it does not show. */
void sm_key_seen(struct sm *sm, uint32_t port)
{
	const struct iba_port_info *pi = &sm->topo.ports.at[port].pi;
	uint64_t used = sm_key_of(sm, port);

	if (!sm_is_endport(sm, &sm->topo.ports.at[port]))
		return;
	if (pi->m_key)
		sm_key_learnt(sm, guard_of(sm, port), pi->m_key);
	else if (pi->m_key_protect && sm->cfg.m_keys[0])
		sm_key_learnt(sm, guard_of(sm, port), sm_key_next(sm, used, 0));
}

/* The port whose key guards the device that a transaction was with; NONE: not known. */
static uint32_t port_asked(const struct sm *sm, const struct sm_txn *t)
{
	if (t->target.kind == SM_TARGET_BEHIND || t->target.kind == SM_TARGET_NONE)
		return NONE; /* the response identifies the device */
	if (t->target.kind == SM_TARGET_PORT)
		return t->target.port;
	if (t->purpose == SM_FOR_AUDIT || t->purpose == SM_FOR_NAMES)
		return NONE;
	return sm->topo.nodes.at[t->target.node].first_port;
}

/* A response came: the key of the last request is the right one, or any would do. */
void sm_key_answered(struct sm *sm, const struct sm_txn *t)
{
	uint32_t port;

	if (!sm->cfg.m_keys[0])
		return;
	sm->keys.hint = iba_smp_m_key(t->send.mad);
	port = port_asked(sm, t);
	if (port != NONE && t->tries > 1)
		sm_key_learnt(sm, guard_of(sm, port), sm->keys.hint);
}

/* No response: a key that only the device itself reported may have been a lie. */
void sm_key_unanswered(struct sm *sm, const struct sm_txn *t)
{
	uint32_t port = port_asked(sm, t);

	if (port != NONE && !is_told(sm, sm_key_of(sm, port)))
		sm_key_learnt(sm, guard_of(sm, port), sm->cfg.m_key);
}

void sm_keys_init(struct sm *sm)
{
	sm->keys.hint = sm->cfg.m_key;
}

void sm_keys_free(struct sm *sm)
{
	vec_free(&sm->keys.list);
	map64_free(&sm->keys.by_guid);
}

/* The configured key changed: devices have the old one until it is set. */
void sm_keys_changed(struct sm *sm, uint64_t old)
{
	sm->keys.hint = old ? old : sm->cfg.m_key;
	if (!old || old == sm->cfg.m_key)
		return;
	sm_config_old_key(sm, old);
	for (uint32_t p = 0; p < sm->topo.ports.n; p++)
		if (sm_in_use(sm, p) && sm->topo.ports.at[p].has_lid)
			sm_key_learnt(sm, guard_of(sm, p), old);
}
