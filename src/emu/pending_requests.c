/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests without a response, in a pool with a hash table and one list for each client, oldest
 * first. State: struct pend. Way in: pend_add(). Does not send anything and has no clock.
 */
#include "emu/pending_requests.h"

enum { HASH_SIZE = 1 << 12 };

void pend_init(struct pend *p, unsigned nclients, unsigned limit)
{
	*p = (struct pend){
		.free = PEND_NONE, .mask = HASH_SIZE - 1, .nclients = nclients, .limit = limit};
	p->hash = mem_array(HASH_SIZE, sizeof(*p->hash));
	memset(p->hash, 0xff, HASH_SIZE * sizeof(*p->hash));
	p->client = mem_array(nclients, sizeof(*p->client));
	for (unsigned i = 0; i < nclients; i++)
		p->client[i] = (struct pend_client){PEND_NONE, PEND_NONE, 0};
}

void pend_free(struct pend *p)
{
	vec_free(&p->at);
	free(p->hash);
	free(p->client);
	*p = (struct pend){0};
}

static uint32_t low_tid(const uint8_t *mad)
{
	return (uint32_t)iba_smp_tid(mad);
}

static uint32_t bucket(const struct pend *p, port_id port, const uint8_t *mad)
{
	uint64_t x = ((uint64_t)low_tid(mad) << 32 | port) ^ (uint64_t)iba_smp_mgmt_class(mad)
								     << 24;

	return (uint32_t)((x * 0x9e3779b97f4a7c15ull) >> 40) & p->mask;
}

static bool same(const struct pend_entry *e, port_id port, const uint8_t *mad)
{
	return e->port == port && iba_smp_mgmt_class(e->smp.mad) == iba_smp_mgmt_class(mad) &&
	       low_tid(e->smp.mad) == low_tid(mad);
}

/* ---- a client's list ---- */

static void list_append(struct pend *p, uint32_t i)
{
	struct pend_client *c = &p->client[p->at.at[i].client];

	p->at.at[i].older = c->newest;
	p->at.at[i].newer = PEND_NONE;
	if (c->newest != PEND_NONE)
		p->at.at[c->newest].newer = i;
	else
		c->oldest = i;
	c->newest = i;
}

static void list_remove(struct pend *p, uint32_t i)
{
	const struct pend_entry *e = &p->at.at[i];
	struct pend_client *c = &p->client[e->client];

	if (e->older != PEND_NONE)
		p->at.at[e->older].newer = e->newer;
	else
		c->oldest = e->newer;
	if (e->newer != PEND_NONE)
		p->at.at[e->newer].older = e->older;
	else
		c->newest = e->older;
}

/* ---- the table ---- */

static uint32_t take(struct pend *p)
{
	uint32_t i = p->free;

	if (i == PEND_NONE) {
		i = (uint32_t)p->at.n;
		vec_push(&p->at, (struct pend_entry){0});
	} else {
		p->free = p->at.at[i].newer;
	}
	return i;
}

/* At the end of its chain, so that the oldest is found first. */
static void chain_append(struct pend *p, uint32_t i)
{
	uint32_t *at = &p->hash[bucket(p, p->at.at[i].port, p->at.at[i].smp.mad)];

	while (*at != PEND_NONE)
		at = &p->at.at[*at].chain;
	*at = i;
	p->at.at[i].chain = PEND_NONE;
}

static uint32_t find_own(const struct pend *p, uint32_t client, port_id port, const uint8_t *mad)
{
	for (uint32_t i = p->hash[bucket(p, port, mad)]; i != PEND_NONE; i = p->at.at[i].chain) {
		const struct pend_entry *e = &p->at.at[i];

		if (e->client == client && same(e, port, mad) &&
		    iba_smp_tid(e->smp.mad) == iba_smp_tid(mad))
			return i;
	}
	return PEND_NONE;
}

uint32_t pend_add(struct pend *p, uint32_t client, port_id port, const struct sim_smp *smp,
		  time_ps now)
{
	uint32_t i = find_own(p, client, port, smp->mad);

	if (i != PEND_NONE) { /* the client repeats the request itself */
		p->at.at[i].smp = *smp;
		p->at.at[i].tries = 0;
		pend_again(p, i, now);
		return i;
	}
	assert(!pend_full(p, client));
	i = take(p);
	p->at.at[i] = (struct pend_entry){
		.smp = *smp, .since = now, .port = port, .client = client, .used = true};
	p->client[client].n++;
	p->n++;
	chain_append(p, i);
	list_append(p, i);
	return i;
}

uint32_t pend_find(const struct pend *p, port_id port, const uint8_t *mad)
{
	uint32_t found = PEND_NONE;

	for (uint32_t i = p->hash[bucket(p, port, mad)]; i != PEND_NONE; i = p->at.at[i].chain) {
		const struct pend_entry *e = &p->at.at[i];

		if (!same(e, port, mad))
			continue;
		if (iba_smp_tid(e->smp.mad) == iba_smp_tid(mad))
			return i;
		if (found == PEND_NONE)
			found = i;
	}
	return found;
}

void pend_again(struct pend *p, uint32_t i, time_ps now)
{
	p->at.at[i].since = now;
	list_remove(p, i);
	list_append(p, i);
}

static void chain_remove(struct pend *p, uint32_t i)
{
	const struct pend_entry *e = &p->at.at[i];
	uint32_t *at = &p->hash[bucket(p, e->port, e->smp.mad)];

	while (*at != i)
		at = &p->at.at[*at].chain;
	*at = e->chain;
}

void pend_move(struct pend *p, uint32_t client, port_id port)
{
	for (uint32_t i = p->client[client].oldest; i != PEND_NONE; i = p->at.at[i].newer) {
		chain_remove(p, i);
		p->at.at[i].port = port;
		chain_append(p, i);
	}
}

void pend_del(struct pend *p, uint32_t i)
{
	struct pend_entry *e = &p->at.at[i];

	assert(e->used);
	chain_remove(p, i);
	list_remove(p, i);
	p->client[e->client].n--;
	p->n--;
	e->used = false;
	e->newer = p->free;
	p->free = i;
}

void pend_del_client(struct pend *p, uint32_t client)
{
	while (p->client[client].n)
		pend_del(p, p->client[client].oldest);
}
