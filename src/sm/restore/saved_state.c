/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnet state at rest as bytes, written and read: so that the next SM need not discover all of
 * it again. State: struct sm_saved, what was loaded. Does not decide what of it still holds: see
 * saved_answers.c. Format: MAGIC, number of nodes, each node (see save_node), and a hash of all
 * before it. Numbers are big-endian, attributes as on the wire.
 */
#include "base/rng.h"
#include "sm/restore/saved_state.h"

/* By what there is beside nodes and tables, a bit for each. */
enum { WITH_VMS = 1, WITH_LANES = 2, WITH_ABSENT = 4, WITH_TREES = 8 };
static const char MAGIC[16][8] = {
	[0] = "WEFTMEM1",
	[WITH_VMS] = "WEFTMEM2",
	[WITH_LANES] = "WEFTMEM3",
	[WITH_LANES | WITH_VMS] = "WEFTMEM4",
	[WITH_TREES] = "WEFTMEM5",
	[WITH_TREES | WITH_VMS] = "WEFTMEM6",
	[WITH_TREES | WITH_LANES] = "WEFTMEM7",
	[WITH_TREES | WITH_LANES | WITH_VMS] = "WEFTMEM8",
};
/* LIDs of hosts that are not there are in mirrors alone, and came before lanes. */
static const char RECORDS[16][8] = {
	[0] = "WEFTMIR1",
	[WITH_VMS] = "WEFTMIR2",
	[WITH_ABSENT] = "WEFTMIR3",
	[WITH_ABSENT | WITH_VMS] = "WEFTMIR4",
	[WITH_LANES] = "WEFTMIR5",
	[WITH_LANES | WITH_VMS] = "WEFTMIR6",
	[WITH_LANES | WITH_ABSENT] = "WEFTMIR7",
	[WITH_LANES | WITH_ABSENT | WITH_VMS] = "WEFTMIR8",
	[WITH_TREES] = "WEFTMIR9",
	[WITH_TREES | WITH_VMS] = "WEFTMIRA",
	[WITH_TREES | WITH_ABSENT] = "WEFTMIRB",
	[WITH_TREES | WITH_ABSENT | WITH_VMS] = "WEFTMIRC",
	[WITH_TREES | WITH_LANES] = "WEFTMIRD",
	[WITH_TREES | WITH_LANES | WITH_VMS] = "WEFTMIRE",
	[WITH_TREES | WITH_LANES | WITH_ABSENT] = "WEFTMIRF",
	[WITH_TREES | WITH_LANES | WITH_ABSENT | WITH_VMS] = "WEFTMIRG",
};

enum { NAME = 8, HEAD = 12, TAIL = 8, NO_NAME = 255 };
/* VendorID has 24 bits. With this one Revision and PartitionCap follow DeviceID: states of earlier versions have neither. */
enum { WITH_REVISION = 1 << 24, VENDOR = WITH_REVISION - 1 };

/* ---- writing ---- */

void sm_bytes_put(struct sm_bytes *s, const void *p, size_t n)
{
	vec_room(&s->b, s->b.n + n);
	memcpy(s->b.at + s->b.n, p, n);
	s->b.n += n;
}

void sm_bytes_put_n(struct sm_bytes *s, uint64_t v, unsigned bytes)
{
	uint8_t b[8];

	for (unsigned i = 0; i < bytes; i++)
		b[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
	sm_bytes_put(s, b, bytes);
}

static uint64_t hash_of(const uint8_t *p, size_t n)
{
	uint64_t h = n, w = 0;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		h = hash64_add(h, w);
	}
	for (w = 0; n; n--)
		w = w << 8 | *p++;
	return hash64_add(h, w);
}

void sm_saved_seal(uint8_t *bytes, size_t len)
{
	uint64_t h = hash_of(bytes, len);

	for (unsigned i = 0; i < TAIL; i++)
		bytes[len + i] = (uint8_t)(h >> 8 * (TAIL - 1 - i));
}

/*
 * A mirror travels over the fabric and does not show keys: 0 is the master's own key, 1 any other.
 */
static void save_port_info(const struct sm *sm, const struct sm_port *p, bool keyless,
			   struct sm_bytes *s)
{
	struct iba_port_info pi = p->pi;
	uint8_t data[IBA_SMP_DATA_SIZE];

	if (keyless)
		pi.m_key = pi.m_key != sm->cfg.m_key;
	iba_port_info_put(&pi, data);
	sm_bytes_put(s, data, sizeof(data));
}

static void save_port(const struct sm *sm, const struct sm_port *p, bool keyless,
		      struct sm_bytes *s)
{
	const struct sm_port *peer = p->peer == NONE ? NULL : &sm->topo.ports.at[p->peer];

	sm_bytes_put_n(s, p->ask.known, 1);
	sm_bytes_put_n(s, p->guid, 8);
	sm_bytes_put_n(s, peer ? sm->topo.nodes.at[peer->node].guid : 0, 8);
	sm_bytes_put_n(s, peer ? peer->num : 0, 1);
	if (p->ask.known)
		save_port_info(sm, p, keyless, s);
}

static uint32_t blocks_of(const struct sm_node *n)
{
	return n->si.linear_top ? n->si.linear_top / IBA_LFT_BLOCK + 1u : 0;
}

/* PortStateChange is news, not state: a sweep reads it without a Set, and digests of a mirror would not be of this any more. */
static void save_switch(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s)
{
	struct iba_switch_info si = n->si;
	uint8_t data[IBA_SMP_DATA_SIZE];

	si.port_state_change = 0;
	iba_switch_info_put(&si, data);
	sm_bytes_put(s, data, sizeof(data));
	sm_bytes_put_n(s, blocks_of(n), 2);
	for (uint32_t b = 0; b < blocks_of(n); b++)
		sm_bytes_put(s, sm_row_block(sm, n->row, b), IBA_LFT_BLOCK);
}

static void save_node(const struct sm *sm, const struct sm_node *n, bool keyless,
		      struct sm_bytes *s)
{
	const char *name = sm_name_known(sm, n->guid);
	size_t len = name ? strlen(name) : 0;

	sm_bytes_put_n(s, n->guid, 8);
	sm_bytes_put_n(s, n->sys_guid, 8);
	sm_bytes_put_n(s, (n->vendor_id & VENDOR) | WITH_REVISION, 4);
	sm_bytes_put_n(s, n->device_id, 2);
	sm_bytes_put_n(s, n->revision, 4);
	sm_bytes_put_n(s, n->partition_cap, 2);
	sm_bytes_put_n(s, n->type, 1);
	sm_bytes_put_n(s, n->nports, 1);
	sm_bytes_put_n(s, name ? len : NO_NAME, 1);
	if (len)
		sm_bytes_put(s, name, len);
	if (n->type == IBA_NODE_SWITCH)
		save_switch(sm, n, s);
	for (unsigned p = 0; p <= n->nports; p++)
		save_port(sm, &sm->topo.ports.at[n->first_port + p], keyless, s);
	if (sm_saved_is_virtual(sm))
		sm_save_host(sm, n->guid, s);
	if (sm_saved_has_lanes(sm))
		sm_save_lanes_of(sm, n, s);
	if (sm_saved_has_trees(sm) && n->type == IBA_NODE_SWITCH)
		sm_save_trees_of(sm, n, s);
}

/* ---- when there is something to write ---- */

static bool node_whole(const struct sm *sm, const struct sm_node *n)
{
	if (n->type != IBA_NODE_SWITCH || n->gone)
		return true;
	if (!n->ask.has_si || n->row == NONE || sm->dev.rows.at[n->row].rft ||
	    n->si.linear_top > IBA_LID_MAX_UNICAST)
		return false;
	for (uint32_t b = 0; b < blocks_of(n); b++)
		if (!sm_row_block(sm, n->row, b))
			return false;
	return true;
}

/* Of a switch that is gone as well: the discovery in which it returns reads the turns of marked switches. */
static bool is_found(const struct sm *sm, const struct sm_turn_off *x)
{
	uint32_t node = map64_get(&sm->topo.by_guid, x->guid);
	const struct sm_node *n = node == MAP_NONE ? NULL : &sm->topo.nodes.at[node];

	if (!n || n->gone)
		return sm->dev.rows.at[map64_get(&sm->dev.row_by_guid, x->guid)].marked;
	return x->sure && !n->markless && sm_is_marked(sm, &sm->topo.ports.at[n->first_port]);
}

/* Disabled turns are not part of what is saved: the next SM reads those of marked switches. With lanes they are maps. */
static bool turns_will_be_found(const struct sm *sm)
{
	if (sm->dev.off.n && (!sm->cfg.read_back || sm_saved_has_lanes(sm)))
		return false;
	for (size_t i = 0; i < sm->dev.off.n; i++)
		if (!is_found(sm, &sm->dev.off.at[i]))
			return false;
	return true;
}

/* Nothing is outstanding, due or in doubt: until a Set is sent, devices hold what is known. */
bool sm_at_rest(const struct sm *sm)
{
	if (sm->core.phase != SM_READY || sm->election.state != IBA_SM_MASTER || sm->core.entered ||
	    sm->core.change_pending || sm->core.incomplete || sm_is_doubtful(&sm->disc) ||
	    sm->disc.far_ports.n || sm->disc.excluded.n || sm->damp.held.n ||
	    sm_multicast_busy(sm) || sm->virtual.batch.jobs.n ||
	    (sm->virtual.queue.n && !sm->virtual.copies.needs) || sm->disc.suspects.n ||
	    sm_audit_open(sm) || sm->sweep.retry_at != TIME_NEVER || !sm->topo.fab ||
	    !sm->core.st.rounds || !turns_will_be_found(sm) || sm_pkeys_open(sm))
		return false;
	for (uint32_t i = 0; sm->txn.outstanding && i < sm->cfg.window; i++)
		if (sm->txn.slots[i].used && sm->txn.slots[i].method == IBA_SET)
			return false;
	return true;
}

/* A small first letter: turns of marked switches are disabled. Else none is, whatever a switch shows. */
static void name_put(const struct sm *sm, const char *name, struct sm_bytes *s)
{
	sm_bytes_put_n(s, sm->dev.off.n ? 'w' : 'W', 1);
	sm_bytes_put(s, name + 1, NAME - 1);
}

static bool name_is(const uint8_t *bytes, const char *name)
{
	return (bytes[0] == 'W' || bytes[0] == 'w') && !memcmp(bytes + 1, name + 1, NAME - 1);
}

static unsigned kind_of(const struct sm *sm)
{
	return (sm_saved_is_virtual(sm) ? WITH_VMS : 0) |
	       (sm_saved_has_lanes(sm) ? WITH_LANES : 0) |
	       (sm_saved_has_trees(sm) ? WITH_TREES : 0);
}

uint8_t *sm_state_save(const struct sm *sm, size_t *len)
{
	struct sm_bytes s = {.b = {0}};
	uint32_t nnodes = 0;

	for (size_t i = 0; i < sm->topo.nodes.n; i++) {
		if (!node_whole(sm, &sm->topo.nodes.at[i]))
			return NULL;
		nnodes += !sm->topo.nodes.at[i].gone;
	}
	name_put(sm, MAGIC[kind_of(sm)], &s);
	sm_bytes_put_n(&s, nnodes, 4);
	if (sm_saved_is_virtual(sm))
		sm_save_vms(sm, &s);
	if (sm_saved_has_lanes(sm))
		sm_save_lanes(sm, &s);
	for (size_t i = 0; i < sm->topo.nodes.n; i++)
		if (!sm->topo.nodes.at[i].gone)
			save_node(sm, &sm->topo.nodes.at[i], false, &s);
	vec_room(&s.b, s.b.n + TAIL);
	sm_saved_seal(s.b.at, s.b.n);
	*len = s.b.n + TAIL;
	return s.b.at;
}

/* ---- for a mirror: in records, each on pages of its own ---- */

static void pad(struct sm_bytes *s)
{
	static const uint8_t zeroes[SM_PAGE];

	if (s->b.n % SM_PAGE)
		sm_bytes_put(s, zeroes, SM_PAGE - s->b.n % SM_PAGE);
}

void sm_record_head(const struct sm *sm, struct sm_bytes *s)
{
	struct sm_bytes absent = {.b = {0}};
	unsigned kind = kind_of(sm) | (sm_save_absent(sm, &absent) ? WITH_ABSENT : 0);

	name_put(sm, RECORDS[kind], s);
	sm_bytes_put_n(s, sm->topo.fab->nnodes, 4);
	if (sm_saved_is_virtual(sm))
		sm_save_vms(sm, s);
	if (absent.b.n)
		sm_bytes_put(s, absent.b.at, absent.b.n);
	vec_free(&absent.b);
	if (kind & WITH_LANES)
		sm_save_lanes(sm, s);
	pad(s);
}

bool sm_record_node(const struct sm *sm, uint32_t node, struct sm_bytes *s)
{
	if (!node_whole(sm, &sm->topo.nodes.at[node]))
		return false;
	save_node(sm, &sm->topo.nodes.at[node], true, s);
	pad(s);
	return true;
}

/* ---- reading ---- */

const uint8_t *sm_source_take(struct sm_source *s, size_t n)
{
	const uint8_t *p = s->p;

	if (s->bad || s->left < n) {
		s->bad = true;
		return NULL;
	}
	s->p += n;
	s->left -= n;
	return p;
}

uint64_t sm_source_take_n(struct sm_source *s, unsigned bytes)
{
	const uint8_t *p = sm_source_take(s, bytes);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static void load_port(struct sm_source *s, struct sm_saved_port *p)
{
	bool known = sm_source_take_n(s, 1) == 1;

	p->guid = sm_source_take_n(s, 8);
	p->peer = sm_source_take_n(s, 8);
	p->peer_num = (uint8_t)sm_source_take_n(s, 1);
	p->pi = known ? sm_source_take(s, IBA_SMP_DATA_SIZE) : NULL;
}

static void load_node(struct sm_source *s, struct sm_saved *m)
{
	struct sm_saved_node n = {.guid = sm_source_take_n(s, 8),
				  .sys_guid = sm_source_take_n(s, 8)};
	size_t len;

	n.vendor_id = (uint32_t)sm_source_take_n(s, 4);
	n.device_id = (uint16_t)sm_source_take_n(s, 2);
	if (n.vendor_id & WITH_REVISION) {
		n.revision = (uint32_t)sm_source_take_n(s, 4);
		n.partition_cap = (uint16_t)sm_source_take_n(s, 2);
	}
	n.vendor_id &= VENDOR;
	n.type = (uint8_t)sm_source_take_n(s, 1);
	n.nports = (uint8_t)sm_source_take_n(s, 1);
	len = sm_source_take_n(s, 1);
	if (len != NO_NAME) {
		n.name_len = (uint8_t)len;
		n.name = sm_source_take(s, len);
		s->bad |= len > IBA_SMP_DATA_SIZE;
	}
	if (n.type == IBA_NODE_SWITCH) {
		n.si = sm_source_take(s, IBA_SMP_DATA_SIZE);
		n.nblocks = (uint16_t)sm_source_take_n(s, 2);
		n.lft = sm_source_take(s, (size_t)n.nblocks * IBA_LFT_BLOCK);
	}
	s->bad |= !n.nports || n.nports == IBA_PORT_NONE || n.type < IBA_NODE_CA ||
		  n.type > IBA_NODE_ROUTER || map64_get(&m->by_guid, n.guid) != MAP_NONE;
	if (s->bad)
		return;
	n.first_port = (uint32_t)m->ports.n;
	vec_room(&m->ports, m->ports.n + n.nports + 1u);
	m->ports.n += n.nports + 1u;
	for (unsigned p = 0; p <= n.nports; p++)
		load_port(s, &m->ports.at[n.first_port + p]);
	if (m->virtual)
		sm_load_host(s, m, &n);
	if (m->lanes && !s->bad)
		sm_load_lanes_of(s, m, &n);
	if (m->trees && n.type == IBA_NODE_SWITCH)
		sm_load_trees_of(s, &n);
	map64_put(&m->by_guid, n.guid, (uint32_t)m->nodes.n);
	vec_push(&m->nodes, n);
}

void sm_saved_free(struct sm_saved *m)
{
	if (!m)
		return;
	vec_free(&m->nodes);
	vec_free(&m->ports);
	vec_free(&m->slots);
	vec_free(&m->vms);
	vec_free(&m->absent);
	vec_free(&m->rows);
	map64_free(&m->by_guid);
	free(m->bytes);
	free(m);
}

/* ARRAY_LEN(MAGIC): none of them. */
static unsigned magic_of(const uint8_t *bytes)
{
	unsigned kind = 0;

	while (kind < ARRAY_LEN(MAGIC) && (!MAGIC[kind][0] || !name_is(bytes, MAGIC[kind])))
		kind++;
	return kind;
}

static bool load_all(struct sm_saved *m, size_t len)
{
	unsigned kind = magic_of(m->bytes);
	struct sm_source s = {.p = m->bytes + HEAD, .left = len - HEAD - TAIL};
	struct sm_source head = {.p = m->bytes + NAME, .left = HEAD - NAME};
	uint64_t n = sm_source_take_n(&head, 4);

	m->turns = m->bytes[0] == 'w';
	m->virtual = kind & WITH_VMS;
	m->lanes = kind & WITH_LANES;
	m->trees = kind & WITH_TREES;
	if (m->virtual)
		sm_load_vms(&s, m);
	if (m->lanes)
		sm_load_lanes(&s, m);
	for (; n && !s.bad; n--)
		load_node(&s, m);
	return !s.bad && !s.left && sm_saved_lanes_whole(m);
}

static bool load_records(struct sm_saved *m, size_t len)
{
	struct sm_source s = {.p = m->bytes, .left = len};
	const uint8_t *magic = sm_source_take(&s, NAME);
	uint64_t n = sm_source_take_n(&s, 4);
	unsigned kind = 0;

	while (magic && kind < ARRAY_LEN(RECORDS) && !name_is(magic, RECORDS[kind]))
		kind++;
	if (!magic || kind == ARRAY_LEN(RECORDS))
		return false;
	m->turns = m->bytes[0] == 'w';
	m->virtual = kind & WITH_VMS;
	m->lanes = kind & WITH_LANES;
	m->trees = kind & WITH_TREES;
	if (m->virtual)
		sm_load_vms(&s, m);
	if (kind & WITH_ABSENT)
		sm_load_absent(&s, m);
	if (m->lanes)
		sm_load_lanes(&s, m);
	sm_source_take(&s, s.left % SM_PAGE);
	for (; n && !s.bad; n--) {
		load_node(&s, m);
		sm_source_take(&s, s.left % SM_PAGE);
	}
	return !s.bad && !s.left && sm_saved_lanes_whole(m);
}

struct sm_saved *sm_records_load(uint8_t *bytes, size_t len)
{
	struct sm_saved *m = mem_zalloc(sizeof(*m));

	m->bytes = bytes;
	m->mirrored = true;
	if (load_records(m, len))
		return m;
	m->bytes = NULL; /* the caller's */
	sm_saved_free(m);
	return NULL;
}

static void saved_take(struct sm *sm, struct sm_saved *m)
{
	sm_saved_free(sm->restored.saved);
	sm_saved_free(sm->restored.dropped);
	sm->restored.saved = m;
	sm->restored.dropped = NULL;
	if (m->mirrored)
		sm_saved_restore_lids(sm, m);
	if (m->virtual)
		sm_saved_restore_vms(sm, m);
}

void sm_mirror_use(struct sm *sm, struct sm_saved *m, uint64_t stamp, uint64_t guid,
		   uint32_t stamp_block)
{
	m->stamp = stamp;
	m->guid = guid;
	m->stamp_block = stamp_block;
	saved_take(sm, m);
}

int sm_state_load(struct sm *sm, const uint8_t *bytes, size_t len, struct err *e)
{
	struct sm_source tail = {.p = bytes + (len < TAIL ? 0 : len - TAIL), .left = TAIL};
	struct sm_saved *m;

	if (sm->core.phase != SM_OFF)
		return err_set(e, -EBUSY, "the manager runs already");
	if (len < HEAD + TAIL || magic_of(bytes) == ARRAY_LEN(MAGIC))
		return err_set(e, -EBADMSG, "it is not a memory of a subnet");
	if (sm_source_take_n(&tail, TAIL) != hash_of(bytes, len - TAIL))
		return err_set(e, -EBADMSG, "it is not whole");
	m = mem_zalloc(sizeof(*m));
	m->bytes = mem_alloc(len);
	memcpy(m->bytes, bytes, len);
	if (!load_all(m, len)) {
		sm_saved_free(m);
		return err_set(e, -EBADMSG, "what it says cannot be");
	}
	saved_take(sm, m);
	return 0;
}
