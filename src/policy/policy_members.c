/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ports belong to which partitions, and the P_Key tables that follow from it. State: none. Ways in:
 * pol_membership(), pol_pkeys(), pol_pkeys_over(), pol_share(). Does not know what devices hold unless told.
 */
#include "policy/policy_priv.h"

static const char *const words[POL_NWHO] = {
	[POL_ALL] = "ALL",
	[POL_ALL_CAS] = "ALL_CAS",
	[POL_ALL_SWITCHES] = "ALL_SWITCHES",
	[POL_ALL_ROUTERS] = "ALL_ROUTERS",
	[POL_SELF] = "SELF",
};

const char *pol_who_name(enum pol_who w)
{
	return w < POL_NWHO ? words[w] : NULL;
}

/* ---- members ---- */

/* "name/P2": port 2 of the node; without it any port. */
static bool name_matches(const char *name, const struct pol_port *port)
{
	const char *slash = strrchr(name, '/');
	char node[POL_NAME];
	uint64_t num;

	if (!port->description || !*port->description)
		return false;
	if (pol_glob(name, port->description))
		return true;
	if (!slash || slash[1] != 'P' || parse_u64(slash + 2, &num) || num != port->num)
		return false;
	pol_name_set(node, name);
	node[slash - name] = 0;
	return pol_glob(node, port->description);
}

static bool member_is(const struct pol_member *m, const struct pol_port *port)
{
	switch (m->who) {
	case POL_ALL:
		return true;
	case POL_ALL_CAS:
		return port->type == IBA_NODE_CA;
	case POL_ALL_SWITCHES:
		return port->type == IBA_NODE_SWITCH;
	case POL_ALL_ROUTERS:
		return port->type == IBA_NODE_ROUTER;
	case POL_SELF:
		return port->is_sm;
	case POL_GUID:
		return m->guid == port->guid;
	case POL_NAMED:
		return name_matches(m->name, port);
	case POL_NWHO:
		break;
	}
	return false;
}

unsigned pol_membership(const struct pol *p, const struct pol_partition *t,
			const struct pol_port *port)
{
	for (size_t i = t->members.n; i; i--)
		if (member_is(&t->members.at[i - 1], port)) {
			enum pol_membership as = t->members.at[i - 1].as;

			return as == POL_BOTH && !p->both ? POL_FULL : as;
		}
	return 0;
}

bool pol_names_used(const struct pol *p)
{
	for (size_t i = 0; i < p->partitions.n; i++)
		for (size_t j = 0; j < p->partitions.at[i].members.n; j++)
			if (p->partitions.at[i].members.at[j].who == POL_NAMED)
				return true;
	return false;
}

/* ---- tables ---- */

struct key {
	uint16_t pkey;
	bool indx0;
};
typedef VEC(struct key) keys_t;

/* OpenSM sorts P_Keys by the number that their bytes in network order make on a little-endian machine, limited ones
 * before full ones: tables of both managers are to be the same. */
static int key_order(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	unsigned kx = x->pkey & ~(unsigned)POL_FULL_BIT, ky = y->pkey & ~(unsigned)POL_FULL_BIT;

	kx = (kx & 0xff) << 8 | kx >> 8;
	ky = (ky & 0xff) << 8 | ky >> 8;
	if (kx != ky)
		return kx < ky ? -1 : 1;
	return (int)(x->pkey >> 15) - (int)(y->pkey >> 15);
}

static void keys_collect(const struct pol *p, const struct pol_port *port, keys_t *keys)
{
	for (size_t i = 0; i < p->partitions.n; i++) {
		const struct pol_partition *t = &p->partitions.at[i];
		unsigned as = pol_membership(p, t, port);

		if (as & POL_LIMITED)
			vec_push(keys, (struct key){t->pkey, t->indx0});
		if (as & POL_FULL)
			vec_push(keys, (struct key){t->pkey | POL_FULL_BIT, t->indx0});
	}
	if (keys->n)
		qsort(keys->at, keys->n, sizeof(keys->at[0]), key_order);
}

/* The key of index 0: of the last partition with indx0, else the default one; SIZE_MAX: any. */
static size_t key_first(const keys_t *keys)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < keys->n; i++)
		if (keys->at[i].indx0 &&
		    (first == SIZE_MAX ||
		     (keys->at[first].pkey ^ keys->at[i].pkey) & ~(unsigned)POL_FULL_BIT))
			first = i;
	for (size_t i = 0; first == SIZE_MAX && i < keys->n; i++)
		if ((keys->at[i].pkey & ~POL_FULL_BIT) == POL_DEFAULT_KEY)
			first = i;
	return first;
}

static void keys_wanted(const struct pol *p, const struct pol_port *port, keys_t *keys)
{
	size_t first;

	keys_collect(p, port, keys);
	first = key_first(keys);
	if (first != SIZE_MAX) {
		struct key k = keys->at[first];

		memmove(&keys->at[1], &keys->at[0], first * sizeof(k));
		keys->at[0] = k;
	}
}

static bool has_key(const keys_t *keys, uint16_t pkey)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->at[i].pkey == pkey)
			return true;
	return false;
}

/* Those of the first port as if it were alone, then what others need besides. */
static void keys_of_all(const struct pol *p, const struct pol_port *ports, size_t n, keys_t *keys)
{
	keys_t more = {0};

	if (n)
		keys_wanted(p, &ports[0], keys);
	for (size_t i = 1; i < n; i++) {
		more.n = 0;
		keys_wanted(p, &ports[i], &more);
		for (size_t k = 0; k < more.n; k++)
			if (!has_key(keys, more.at[k].pkey))
				vec_push(keys, more.at[k]);
	}
	vec_free(&more);
}

size_t pol_pkeys_all(const struct pol *p, const struct pol_port *ports, size_t nports,
		     uint16_t *out, size_t max)
{
	keys_t keys = {0};
	size_t n;

	keys_of_all(p, ports, nports, &keys);
	for (n = 0; n < keys.n; n++)
		if (n < max)
			out[n] = keys.at[n].pkey;
	vec_free(&keys);
	return n;
}

size_t pol_pkeys(const struct pol *p, const struct pol_port *port, uint16_t *out, size_t max)
{
	return pol_pkeys_all(p, port, 1, out, max);
}

/* The place of a held key that this one takes: its own, else that of the same partition which is not wanted; SIZE_MAX. */
static size_t held_place(const keys_t *keys, uint16_t key, const uint16_t *held, size_t n)
{
	size_t same = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		bool wanted = false;

		if (held[i] == key)
			return i;
		if ((held[i] ^ key) & ~(unsigned)POL_FULL_BIT)
			continue;
		for (size_t j = 0; j < keys->n; j++)
			wanted |= keys->at[j].pkey == held[i];
		if (!wanted && same == SIZE_MAX)
			same = i;
	}
	return same;
}

/* Entries that hold nothing come first: a key that is to go stays until the others are in place. */
static bool free_place(const uint16_t *held, size_t nheld, uint16_t *out, size_t max, uint16_t key)
{
	for (unsigned stale = 0; stale < 2; stale++)
		for (size_t i = 0; i < max; i++)
			if (!out[i] && (stale || i >= nheld || !held[i])) {
				out[i] = key;
				return true;
			}
	return false;
}

static int keys_place(const keys_t *keys, const uint16_t *held, size_t nheld, uint16_t *out,
		      size_t max)
{
	size_t used = 0;
	bool *done = mem_zarray(keys->n + 1, sizeof(*done));
	int rc = 0;

	memset(out, 0, max * sizeof(*out));
	if (keys->n && max) {
		out[0] = keys->at[0].pkey; /* index 0 has its key whatever is held */
		done[0] = true;
	}
	for (size_t i = 1; i < keys->n; i++) {
		size_t at = held_place(keys, keys->at[i].pkey, held, MIN(nheld, max));

		if (at != SIZE_MAX && !out[at]) {
			out[at] = keys->at[i].pkey;
			done[i] = true;
		}
	}
	for (size_t i = 0; i < keys->n; i++)
		if (!done[i] && !free_place(held, nheld, out, max, keys->at[i].pkey))
			rc = -ENOSPC;
	for (size_t i = 0; i < max; i++)
		used = out[i] ? i + 1 : used;
	free(done);
	return rc ? rc : (int)used;
}

int pol_pkeys_over_all(const struct pol *p, const struct pol_port *ports, size_t nports,
		       const uint16_t *held, size_t nheld, uint16_t *out, size_t max)
{
	keys_t keys = {0};
	int rc;

	keys_of_all(p, ports, nports, &keys);
	rc = keys_place(&keys, held, nheld, out, max);
	vec_free(&keys);
	return rc;
}

int pol_pkeys_over(const struct pol *p, const struct pol_port *port, const uint16_t *held,
		   size_t nheld, uint16_t *out, size_t max)
{
	return pol_pkeys_over_all(p, port, 1, held, nheld, out, max);
}

/* ---- who may talk ---- */

bool pol_share(const struct pol *p, const struct pol_port *a, const struct pol_port *b,
	       uint16_t pkey, uint16_t *found)
{
	keys_t keys = {0};
	bool share = false;

	keys_wanted(p, a, &keys);
	for (size_t i = 0; i < keys.n && !share; i++) {
		uint16_t key = keys.at[i].pkey;
		const struct pol_partition *t = pol_partition_find(p, key);
		unsigned theirs = pol_membership(p, t, b);

		if (pkey && (pkey ^ key) & ~(unsigned)POL_FULL_BIT)
			continue;
		share = theirs & POL_FULL || (theirs && key & POL_FULL_BIT);
		if (share && found)
			*found = key;
	}
	vec_free(&keys);
	return share;
}

/* ---- from text ---- */

int pol_member_parse(struct pol_member *m, const char *who, const char *membership, struct err *e)
{
	*m = (struct pol_member){.who = POL_NWHO, .as = POL_LIMITED};
	if (membership && pol_is_prefix(membership, "full"))
		m->as = POL_FULL;
	else if (membership && pol_is_prefix(membership, "both"))
		m->as = POL_BOTH;
	else if (membership && !pol_is_prefix(membership, "limited"))
		return err_set(e, -EINVAL,
			       "expected full, limited or both after '%.40s', found '%.40s'", who,
			       membership);
	for (unsigned w = 0; w < POL_NWHO; w++)
		if (words[w] && !strcmp(words[w], who))
			m->who = (enum pol_who)w;
	if (m->who != POL_NWHO)
		return 0;
	if (*who >= '0' && *who <= '9' && !parse_u64(who, &m->guid) && m->guid) {
		m->who = POL_GUID;
		return 0;
	}
	if (!*who || strlen(who) >= POL_NAME)
		return err_set(e, -EINVAL, "expected a name of 1 to %d bytes, found '%.40s'",
			       POL_NAME - 1, who);
	m->who = POL_NAMED;
	pol_name_set(m->name, who);
	return 0;
}
