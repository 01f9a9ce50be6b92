/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs: further GUIDs of ports. State: sa->aliases, by port and place in its GUIDInfo. Ways in: sa_alias_*(),
 * sa_aliases_list() for the manager, which writes them to devices. Does not decide who gets which: alias_requests.c does.
 */
#include "sa/aliases.h"

enum { GUIDS = 8, KEY = 9 };

/* ---- what there is ---- */

static struct sa_alias_port *port_find(const struct sa *sa, uint64_t port_guid)
{
	uint32_t n = map64_get(&sa->aliases.by_port, port_guid);

	return n == MAP_NONE ? NULL : &sa->aliases.ports.at[n];
}

uint64_t sa_alias_at(const struct sa *sa, uint64_t port_guid, unsigned place)
{
	const struct sa_alias_port *p = port_find(sa, port_guid);

	return p && place < p->room ? p->guid[place] : 0;
}

uint64_t sa_alias_port(const struct sa_aliases *s, uint64_t guid)
{
	uint32_t n = map64_get(&s->by_guid, guid);

	return n == MAP_NONE ? 0 : s->ports.at[n].port_guid;
}

static void item_key(uint64_t port_guid, unsigned place, uint8_t key[KEY])
{
	iba_be64_put(key, port_guid);
	key[8] = (uint8_t)place;
}

static void save(struct sa *sa, uint64_t port_guid, unsigned place, uint64_t guid)
{
	uint8_t key[KEY], value[8];

	item_key(port_guid, place, key);
	iba_be64_put(value, guid);
	sa_item_put(sa, SA_ITEM_ALIAS, key, sizeof(key), value, sizeof(value));
}

static void drop(struct sa *sa, struct sa_alias_port *p, unsigned place)
{
	uint8_t key[KEY];

	item_key(p->port_guid, place, key);
	sa_item_drop(sa, SA_ITEM_ALIAS, key, sizeof(key));
	map64_del(&sa->aliases.by_guid, p->guid[place]);
	p->guid[place] = 0;
	p->n--;
	sa->aliases.n--;
	sa->aliases.number++;
}

void sa_alias_drop(struct sa *sa, uint64_t port_guid, unsigned place)
{
	drop(sa, port_find(sa, port_guid), place);
}

/* Room for this place; the port may have none yet. */
static struct sa_alias_port *port_make(struct sa *sa, uint64_t port_guid, unsigned place)
{
	struct sa_aliases *s = &sa->aliases;
	struct sa_alias_port *p = port_find(sa, port_guid);
	unsigned room = (place / GUIDS + 1) * GUIDS;

	if (!p) {
		map64_put(&s->by_port, port_guid, (uint32_t)s->ports.n);
		vec_push(&s->ports, (struct sa_alias_port){.port_guid = port_guid});
		p = &s->ports.at[s->ports.n - 1];
	}
	if (room > p->room) {
		p->guid = mem_resize(p->guid, room, sizeof(*p->guid));
		memset(p->guid + p->room, 0, (room - p->room) * sizeof(*p->guid));
		p->room = (uint16_t)room;
	}
	return p;
}

bool sa_alias_put(struct sa *sa, uint64_t port_guid, unsigned place, uint64_t guid)
{
	struct sa_alias_port *p;

	if (sa->aliases.n >= SA_ALIASES && !sa_alias_at(sa, port_guid, place))
		return false;
	p = port_make(sa, port_guid, place);
	if (p->guid[place])
		drop(sa, p, place);
	p->guid[place] = guid;
	p->n++;
	map64_put(&sa->aliases.by_guid, guid, (uint32_t)(p - sa->aliases.ports.at));
	sa->aliases.n++;
	sa->aliases.number++;
	save(sa, port_guid, place, guid);
	return true;
}

/* ---- ports that come and go ---- */

void sa_aliases_port_gone(struct sa *sa, uint64_t port_guid)
{
	struct sa_alias_port *p = port_find(sa, port_guid);

	for (unsigned i = 0; p && p->n && i < p->room; i++)
		if (p->guid[i])
			drop(sa, p, i);
}

/* Copied or saved ones that a device has as its own GUID by now, or that a machine has. */
static bool is_in_the_way(const struct sa *sa, const struct sa_alias_port *p, uint64_t guid)
{
	const struct sa_view *v = &sa->view;
	uint32_t end = map64_get(&v->by_guid, p->port_guid);

	if (map64_get(&v->by_guid, guid) != MAP_NONE || sm_guid_known(v->sm, guid))
		return true;
	return end != MAP_NONE &&
	       v->fab->nodes[v->fab->ports[v->ends.at[end].port].node].sriov != FAB_SRIOV_NONE;
}

void sa_aliases_now(struct sa *sa, struct sa_places *out)
{
	for (size_t k = 0; k < sa->aliases.ports.n; k++) {
		struct sa_alias_port *p = &sa->aliases.ports.at[k];
		uint32_t end = p->n ? map64_get(&sa->view.by_guid, p->port_guid) : MAP_NONE;

		for (unsigned i = 0; p->n && i < p->room; i++) {
			if (!p->guid[i])
				continue;
			if (is_in_the_way(sa, p, p->guid[i]))
				drop(sa, p, i);
			else if (end != MAP_NONE)
				vec_push(out,
					 (struct sa_place){p->guid[i], sa->view.ends.at[end].lid});
		}
	}
}

/* ---- for the program ---- */

uint32_t sa_aliases_number(const struct sa *sa)
{
	return sa->aliases.number;
}

size_t sa_aliases_list(const struct sa *sa, struct sm_alias **list)
{
	size_t n = 0;

	*list = mem_array(sa->aliases.n + 1, sizeof(**list));
	for (size_t k = 0; k < sa->aliases.ports.n; k++) {
		const struct sa_alias_port *p = &sa->aliases.ports.at[k];

		for (unsigned i = 0; i < p->room; i++)
			if (p->guid[i])
				(*list)[n++] =
					(struct sm_alias){p->port_guid, p->guid[i], (uint8_t)i};
	}
	return n;
}

bool sa_alias_seed(struct sa *sa, const struct sa_item *it)
{
	uint64_t port_guid, guid;

	if (it->key_len != KEY || it->len != 8)
		return false;
	port_guid = iba_be64(it->key);
	guid = iba_be64(it->value);
	return port_guid && guid && it->key[8] && !sa_alias_port(&sa->aliases, guid) &&
	       sa_alias_put(sa, port_guid, it->key[8], guid);
}

void sa_aliases_tell_all(struct sa *sa)
{
	struct sm_alias *list;
	size_t n = sa_aliases_list(sa, &list);

	for (size_t i = 0; i < n; i++)
		save(sa, list[i].port_guid, list[i].place, list[i].guid);
	free(list);
}

void sa_aliases_forget(struct sa *sa)
{
	struct sa_aliases *s = &sa->aliases;

	for (size_t i = 0; i < s->ports.n; i++)
		free(s->ports.at[i].guid);
	s->ports.n = s->n = 0;
	s->number++;
	map64_clear(&s->by_port);
	map64_clear(&s->by_guid);
}

void sa_aliases_free(struct sa *sa)
{
	sa_aliases_forget(sa);
	vec_free(&sa->aliases.ports);
	map64_free(&sa->aliases.by_port);
	map64_free(&sa->aliases.by_guid);
}
