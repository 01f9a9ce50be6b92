/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NodeDescriptions, requested while the SM is ready and has nothing else to do. State: struct
 * sm_node_names, kept by GUID through every discovery. Does not delay anything: any other work
 * drops the requests, and they are sent again later.
 */
#include "sm/manager.h"

enum { SHARE = 4 }; /* of the window, at most a fourth */

static struct sm_name *name_of(struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->names.by_guid, guid);

	if (at == MAP_NONE) {
		at = (uint32_t)sm->names.list.n;
		vec_push(&sm->names.list, (struct sm_name){.guid = guid});
		map64_put(&sm->names.by_guid, guid, at);
	}
	return &sm->names.list.at[at];
}

/* The device was gone, or reported another NodeDescription. */
void sm_name_ask_again(struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->names.by_guid, guid);

	if (at == MAP_NONE)
		return;
	sm->names.list.at[at].asked = sm->names.list.at[at].answered = false;
	sm->names.next = 0;
}

/*
 * Ready again: names without a response are requested once more, unless given up in this round.
 */
void sm_names_begin(struct sm *sm)
{
	sm->names.next = 0;
	for (size_t i = 0; i < sm->names.list.n; i++)
		sm->names.list.at[i].asked = sm->names.list.at[i].answered ||
					     sm->names.list.at[i].given_up == sm->core.st.rounds;
}

/* A port by which the node is reached; NONE: none. */
static uint32_t way_in(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	if (n->type == IBA_NODE_SWITCH)
		return n->first_port;
	for (unsigned p = 1; p <= n->nports; p++)
		if (sm->topo.ports.at[n->first_port + p].has_lid)
			return n->first_port + p;
	return NONE;
}

bool sm_names_next(struct sm *sm, struct sm_req *r)
{
	if (!(sm->cfg.names || sm->routes.wishes.by_name) || !sm->topo.fab ||
	    sm->txn.outstanding >= MAX(sm->cfg.window / SHARE, 1u))
		return false;
	while (sm->names.next < sm->topo.fab->nnodes) {
		uint32_t node = sm->topo.node_of[sm->names.next++], port = way_in(sm, node);
		struct sm_name *x = name_of(sm, sm->topo.nodes.at[node].guid);

		if (x->asked || port == NONE)
			continue;
		x->asked = true;
		sm_req_port(sm, r, IBA_GET, SM_FOR_NAMES, port);
		r->attr_id = IBA_ATTR_NODE_DESC;
		r->attr_mod = 0;
		r->target = sm_target_node(node);
		return true;
	}
	return false;
}

static bool is_control(uint8_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0);
}

/* Up to the first NUL; control characters, in ASCII, Latin-1 or UTF-8, become question marks: a terminal obeys them. */
static void take_text(char text[SM_NAME_SIZE], const uint8_t *data)
{
	size_t n = 0, len;

	for (; n < IBA_SMP_DATA_SIZE && data[n]; n += MAX(len, (size_t)1)) {
		len = utf8_len((const char *)data + n, IBA_SMP_DATA_SIZE - n);
		if (len)
			memcpy(text + n, data + n, len);
		else
			text[n] = (char)(is_control(data[n]) ? '?' : data[n]);
	}
	memset(text + n, 0, SM_NAME_SIZE - n);
}

void sm_names_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_name *x = name_of(sm, sm->topo.nodes.at[t->target.node].guid);
	char text[SM_NAME_SIZE];
	bool news;

	take_text(text, data);
	news = !x->known || memcmp(text, x->text, sizeof(text));
	memcpy(x->text, text, sizeof(text));
	x->known = x->answered = true;
	if (!news)
		return;
	sm->names.changes++;
	sm_mirror_outdated(sm);
	sm_pkeys_outdated(sm);
	sm_note(sm, .kind = SM_NOTE_NAME, .about = sm_about_node(sm, t->target.node));
}

void sm_name_recall(struct sm *sm, uint64_t guid, const uint8_t *text, size_t len)
{
	struct sm_name *x = name_of(sm, guid);
	uint8_t data[IBA_SMP_DATA_SIZE] = {0};

	if (!text || x->answered)
		return;
	memcpy(data, text, MIN(len, sizeof(data)));
	take_text(x->text, data);
	x->known = x->asked = x->answered = true;
}

void sm_names_forget(struct sm *sm)
{
	for (size_t i = 0; i < sm->names.list.n; i++)
		sm->names.list.at[i].asked = sm->names.list.at[i].answered = false;
	sm->names.next = 0;
}

void sm_names_fail(struct sm *sm, const struct sm_txn *t)
{
	name_of(sm, sm->topo.nodes.at[t->target.node].guid)->given_up = sm->core.st.rounds;
}

void sm_names_free(struct sm *sm)
{
	vec_free(&sm->names.list);
	map64_free(&sm->names.by_guid);
}
