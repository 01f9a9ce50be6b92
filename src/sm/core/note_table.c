/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of notes: name, level, sentence and values of each kind; and its renderings. State: none.
 * Ways in: sm_note_values(), sm_note_text(). Does not know who reads them.
 */
#include "sm/notes.h"

/* How a member of struct sm_note becomes a value. */
enum field_type {
	FIELD_COUNT,
	FIELD_GUID,
	FIELD_STATUS,
	FIELD_PHASE,
	FIELD_CAUSE,	  /* its stable name, for JSON */
	FIELD_CAUSE_TEXT, /* its words, for the sentence */
	FIELD_ATTRIBUTE,
	FIELD_TRAP,
	FIELD_PLAN,
	FIELD_SM_STATE,
	FIELD_NODE_TYPE,
	FIELD_SUBJECT,
	FIELD_PORT,   /* struct sm_port_ref */
	FIELD_STRING, /* as it is */
	FIELD_NAME,   /* of the device with this GUID */
};

struct field {
	const char *key;
	enum field_type type;
	size_t at, size;
};

#define FIELD(key, type, member)                                                                   \
	{                                                                                          \
		key, FIELD_##type, offsetof(struct sm_note, member),                               \
			sizeof(((struct sm_note *)NULL)->member)                                   \
	}
#define ABOUT(key) FIELD(key, SUBJECT, about)

/* clang-format off */
static const struct row {
	struct record_kind record;
	struct field fields[SM_NOTE_VALUES - 1];
} rows[SM_NOTE_NKINDS] = {
	[SM_NOTE_START] = {{"bring_up", RECORD_INFO, "the manager starts to discover the subnet"}, {{0}}},
	[SM_NOTE_PHASE] = {{"phase", RECORD_DEBUG, "{from} -> {to}, {smps} SMPs so far"},
		{FIELD("from", PHASE, phase.from), FIELD("to", PHASE, phase.to), FIELD("smps", COUNT, smps)}},
	[SM_NOTE_CHANGE] = {{"change", RECORD_INFO, "change detected by {how}[: {node}]"},
		{FIELD("cause", CAUSE, change.cause), FIELD("how", CAUSE_TEXT, change.cause), ABOUT("node")}},
	[SM_NOTE_UNREACHABLE] = {{"unreachable", RECORD_WARNING, "no response to {attribute} from {node}"},
		{ABOUT("node"), FIELD("attribute", ATTRIBUTE, request.attribute)}},
	[SM_NOTE_BAD_STATUS] = {{"bad_status", RECORD_WARNING, "{node} responded to {attribute} with status {status}"},
		{ABOUT("node"), FIELD("attribute", ATTRIBUTE, request.attribute),
		 FIELD("status", STATUS, request.status)}},
	[SM_NOTE_RESTART] = {{"restart", RECORD_INFO,
		"the subnet changed during discovery or a device did not respond; discovery starts again (restart {times})"},
		{FIELD("times", COUNT, times)}},
	[SM_NOTE_REFUSED] = {{"refused", RECORD_ERROR, "the routes failed verification and are not used"}, {{0}}},
	[SM_NOTE_OTHER_ENGINE] = {{"other_engine", RECORD_WARNING,
		"{engine} cannot route this subnet[: {why}][ ({node} has the fewest VLs: {vls})]; {instead} does instead"},
		{FIELD("engine", STRING, engine.name), FIELD("why", STRING, engine.why), ABOUT("node"),
		 FIELD("vls", COUNT, engine.vls), FIELD("instead", STRING, engine.instead)}},
	[SM_NOTE_TOO_FAR] = {{"too_far", RECORD_INFO,
		"{node} is 63 hops away; devices behind it are discovered later, LID-routed"}, {ABOUT("node")}},
	[SM_NOTE_OUT_OF_REACH] = {{"out_of_reach", RECORD_WARNING,
		"devices behind {node} cannot be managed: they are more than 63 hops away and do not respond to SMPs that are "
		"LID-routed up to there"}, {ABOUT("node")}},
	[SM_NOTE_DUPLICATE] = {{"duplicate", RECORD_ERROR,
		"two devices have GUID {guid}: {kept}[ behind {kept_at}] keeps it, {left} behind {left_at} is left out of the "
		"subnet until it changes"},
		{FIELD("guid", GUID, duplicate.guid), FIELD("kept", PORT, duplicate.kept),
		 FIELD("kept_at", PORT, duplicate.kept_at), FIELD("left", PORT, duplicate.left),
		 FIELD("left_at", PORT, duplicate.left_at)}},
	[SM_NOTE_NO_DUPLICATE] = {{"no_duplicate", RECORD_NOTICE, "{node} is asked again: no other device has its GUID any more"},
		{ABOUT("node")}},
	[SM_NOTE_NO_LID] = {{"no_lid", RECORD_ERROR, "no LID is left for {node}"}, {ABOUT("node")}},
	[SM_NOTE_VFS_WITHOUT_LID] = {{"vfs_without_lid", RECORD_ERROR,
		"no LID is left for {vfs} virtual functions of {hosts} hosts, the first of them {node}: all 49151 are in use"},
		{ABOUT("node"), FIELD("vfs", COUNT, without.vfs), FIELD("hosts", COUNT, without.hosts)}},
	[SM_NOTE_MISMATCH] = {{"mismatch", RECORD_WARNING, "{node} holds another {attribute} than was set"},
		{ABOUT("node"), FIELD("attribute", ATTRIBUTE, request.attribute)}},
	[SM_NOTE_TRAP] = {{"trap", RECORD_INFO, "trap {trap}[ ({trap_name})] from LID {lid}[ ({node})]"},
		{FIELD("trap", COUNT, trap.number), FIELD("trap_name", TRAP, trap.number), FIELD("lid", COUNT, trap.lid),
		 ABOUT("node")}},
	[SM_NOTE_LEFT_OUT] = {{"left_out", RECORD_ERROR, "{node} is left out of the subnet: it keeps refusing {attribute}"},
		{ABOUT("node"), FIELD("attribute", ATTRIBUTE, request.attribute)}},
	[SM_NOTE_PLAN] = {{"plan", RECORD_DEBUG, "table update plan: {plan}; {turns} turns disabled"},
		{FIELD("plan", PLAN, plan.kind), FIELD("turns", COUNT, plan.turns)}},
	[SM_NOTE_NODE_GONE] = {{"node_gone", RECORD_NOTICE, "{type} {node} is gone"},
		{ABOUT("node"), FIELD("type", NODE_TYPE, node.type)}},
	[SM_NOTE_NODE_CAME] = {{"node_came", RECORD_NOTICE, "{type} {node} came up"},
		{ABOUT("node"), FIELD("type", NODE_TYPE, node.type)}},
	[SM_NOTE_LINK_DOWN] = {{"link_down", RECORD_NOTICE, "{link} went down"}, {ABOUT("link")}},
	[SM_NOTE_LINK_UP] = {{"link_up", RECORD_NOTICE, "{link} came up"}, {ABOUT("link")}},
	[SM_NOTE_MORE_CHANGES] = {{"more_changes", RECORD_NOTICE,
		"and {more} more; in total {links_down} links went down, {links_up} came up, {nodes_gone} nodes are gone, "
		"{nodes_came} came up"},
		{FIELD("more", COUNT, changes.more), FIELD("links_down", COUNT, changes.links_down),
		 FIELD("links_up", COUNT, changes.links_up), FIELD("nodes_gone", COUNT, changes.nodes_gone),
		 FIELD("nodes_came", COUNT, changes.nodes_came), FIELD("unlisted", COUNT, changes.unlisted)}},
	[SM_NOTE_NO_ROOM] = {{"no_room", RECORD_ERROR,
		"{node} is left out of the subnet: its random forwarding table needs {need} entries and has {has}"},
		{ABOUT("node"), FIELD("need", COUNT, room.need), FIELD("has", COUNT, room.has)}},
	[SM_NOTE_GUESS] = {{"guess", RECORD_DEBUG, "{node} is presumed dead; the repair is sent before discovery ends"},
		{ABOUT("node")}},
	[SM_NOTE_HELD] = {{"held", RECORD_WARNING, "{node} changes too often and is held: it counts as down"}, {ABOUT("node")}},
	[SM_NOTE_RELEASED] = {{"released", RECORD_NOTICE, "{node} is no longer held"}, {ABOUT("node")}},
	[SM_NOTE_LID] = {{"lid", RECORD_DEBUG, "LID {lid} is assigned to port GUID {port_guid}"},
		{FIELD("port_guid", GUID, address.port_guid), FIELD("lid", COUNT, address.lid),
		 FIELD("lmc", COUNT, address.lmc)}},
	[SM_NOTE_NAME] = {{"name", RECORD_DEBUG, "{node} has the name {name}"},
		{FIELD("node", GUID, about.a.guid), FIELD("name", NAME, about.a.guid)}},
	[SM_NOTE_STATE] = {{"state", RECORD_NOTICE, "SM state changed from {from} to {to}"},
		{FIELD("from", SM_STATE, state.from), FIELD("to", SM_STATE, state.to)}},
	[SM_NOTE_OTHER_SM] = {{"other_sm", RECORD_NOTICE, "another SM[ at {node}]: {state}, priority {priority}"},
		{ABOUT("node"), FIELD("state", SM_STATE, other.state), FIELD("priority", COUNT, other.priority)}},
	[SM_NOTE_HANDING_OVER] = {{"handing_over", RECORD_NOTICE,
		"hands the subnet over from SM {from} to SM {to}[ at {node}]"},
		{FIELD("from", GUID, election.from), FIELD("to", GUID, election.to), ABOUT("node")}},
	[SM_NOTE_TAKING_OVER] = {{"taking_over", RECORD_NOTICE,
		"SM {to} takes the subnet over from SM {from}[ at {node}]"},
		{FIELD("from", GUID, election.from), FIELD("to", GUID, election.to), ABOUT("node")}},
	[SM_NOTE_ORDER] = {{"order_refused", RECORD_WARNING,
		"refused order {order} of SM {from}[ at {node}]: wrong SM_Key, wrong state, or not confirmed by its sender"},
		{FIELD("order", COUNT, election.order), FIELD("from", GUID, election.from), ABOUT("node")}},
	[SM_NOTE_VM] = {{"vm", RECORD_DEBUG, "VM {vm}, vGUID {guid}[: on {node}, VF {slot}, LID {lid}]"},
		{FIELD("vm", STRING, vm.name), FIELD("guid", GUID, vm.guid), ABOUT("node"),
		 FIELD("slot", COUNT, vm.slot), FIELD("lid", COUNT, vm.lid)}},
	[SM_NOTE_VM_GONE] = {{"vm_gone", RECORD_DEBUG, "VM {vm} is destroyed"}, {FIELD("vm", STRING, vm.name)}},
	[SM_NOTE_STALLED] = {{"stalled", RECORD_WARNING,
		"the manager did not run for {ms} ms; it asks who is master before it sets anything"},
		{FIELD("ms", COUNT, election.ms)}},
	[SM_NOTE_MIRROR] = {{"mirror", RECORD_NOTICE,
		"the mirror of what the master knows is complete: generation {generation}, {bytes} bytes, {fetched} fetched"},
		{FIELD("generation", GUID, mirror.generation), FIELD("bytes", COUNT, mirror.bytes),
		 FIELD("fetched", COUNT, mirror.fetched)}},
	[SM_NOTE_MIRROR_USED] = {{"mirror_used", RECORD_NOTICE,
		"the manager takes over with its mirror of what the master knew, generation {generation}"},
		{FIELD("generation", GUID, mirror.generation), FIELD("bytes", COUNT, mirror.bytes)}},
	[SM_NOTE_MIRROR_LOST] = {{"mirror_lost", RECORD_NOTICE,
		"the mirror of what the master knew does not describe the subnet; the manager reads everything"}, {{0}}},
	[SM_NOTE_LANES] = {{"lanes", RECORD_INFO,
		"routes use {used} lanes, of {most} that every link between switches has[; {node} has the fewest]"},
		{FIELD("used", COUNT, lanes.used), FIELD("most", COUNT, lanes.most), ABOUT("node")}},
	[SM_NOTE_ENGINE] = {{"engine", RECORD_NOTICE, "engine {engine} computes the routes: {why}"},
		{FIELD("engine", STRING, engine.name), FIELD("why", STRING, engine.why)}},
	[SM_NOTE_PARTITIONS] = {{"partitions", RECORD_NOTICE, "P_Key tables follow the configuration again: {sets} blocks or ports set"},
		{FIELD("sets", COUNT, times)}},
	[SM_NOTE_QOS_UNUSED] = {{"qos_unused", RECORD_WARNING,
		"SL-to-VL tables of qos.classes are not used: the routes use several lanes and have their own"}, {{0}}},
	[SM_NOTE_NO_ROOM_FOR_KEYS] = {{"no_room_for_keys", RECORD_ERROR,
		"{node} is to have {need} P_Keys and has room for {has}: some partitions do not reach it"},
		{ABOUT("node"), FIELD("need", COUNT, room.need), FIELD("has", COUNT, room.has)}},
	[SM_NOTE_WORSE] = {{"worse_routes", RECORD_WARNING, "routes of {engine} are clearly worse than those of auto: {why}"},
		{FIELD("engine", STRING, engine.name), FIELD("why", STRING, engine.why)}},
	[SM_NOTE_WORSE_ROOTS] = {{"worse_roots", RECORD_WARNING,
		"routes of {engine} over the roots that are named are clearly worse than over roots that are found: {why}"},
		{FIELD("engine", STRING, engine.name), FIELD("why", STRING, engine.why)}},
	[SM_NOTE_UNKNOWN_NAMES] = {{"unknown_names", RECORD_NOTICE,
		"{list}: entries that match no device of the subnet: {entries}, the first '{first}'"},
		{FIELD("list", STRING, unknown.list), FIELD("entries", COUNT, unknown.entries), FIELD("first", STRING, unknown.first)}},
	[SM_NOTE_OTHER_KEY] = {{"other_key", RECORD_WARNING,
		"SM {from}[ at {node}] does not show the SM_Key of this one and is passed over"},
		{FIELD("from", GUID, election.from), ABOUT("node")}},
};
/* clang-format on */

const struct record_kind *sm_note_record(enum sm_note_kind k)
{
	return &rows[k].record;
}

const char *sm_note_name(enum sm_note_kind k)
{
	return k < SM_NOTE_NKINDS ? rows[k].record.name : "?";
}

bool sm_note_is_change(const struct sm_note *n)
{
	return n->kind >= SM_NOTE_NODE_GONE && n->kind <= SM_NOTE_LINK_UP;
}

/* ---- causes ---- */

static const struct {
	const char *name, *text;
} causes[] = {
	[SM_CAUSE_START] = {"start", "the start of the manager"},
	[SM_CAUSE_SWEEP] = {"sweep", "sweep"},
	[SM_CAUSE_TRAP] = {"trap", "trap"},
	[SM_CAUSE_SILENCE] = {"silence", "failed request"},
	[SM_CAUSE_RETRY] = {"retry", "retry of what did not respond"},
	[SM_CAUSE_FAR] = {"far", "discovery beyond 63 hops"},
	[SM_CAUSE_RELEASE] = {"release", "release of a held or isolated link"},
	[SM_CAUSE_ISOLATE] = {"isolation", "isolation of a link"},
	[SM_CAUSE_OWN_PORT] = {"own_port", "state of the manager's own port"},
	[SM_CAUSE_HANDOVER] = {"handover", "handover from another SM"},
	[SM_CAUSE_HIDDEN] = {"hidden", "look for changes that another SM may have hidden"},
	[SM_CAUSE_BROKEN] = {"broken_off", "discovery that was broken off"},
	[SM_CAUSE_ORDER] = {"order", "order of the user"},
	[SM_CAUSE_BALANCE] = {"balance", "comparison with routes from scratch"},
};

const char *sm_cause_name(enum sm_cause c)
{
	return c < ARRAY_LEN(causes) ? causes[c].name : "?";
}

const char *sm_cause_text(enum sm_cause c)
{
	return c < ARRAY_LEN(causes) ? causes[c].text : "?";
}

/* ---- values ---- */

static const char *name_of(const struct sm_names *names, uint64_t guid)
{
	return names && guid ? names->name(names->ctx, guid) : NULL;
}

const char *sm_names_described(const void *sm, uint64_t guid)
{
	return sm_node_desc(sm, guid);
}

static struct record_end end_of(const struct sm_names *names, const struct sm_port_ref *r,
				bool port)
{
	return (struct record_end){name_of(names, r->guid), r->guid, port ? r->port : -1};
}

static struct record_value subject_value(const char *key, const struct sm_subject *s,
					 const struct sm_names *names)
{
	struct record_value v = {.key = key};

	switch (s->kind) {
	case SM_ABOUT_NONE:
		break;
	case SM_ABOUT_OWN:
		v.s = "the manager's own node";
		v.text_only = true;
		break;
	case SM_ABOUT_LID:
		v.type = RECORD_LID;
		v.u = s->lid;
		break;
	case SM_ABOUT_DEVICE:
	case SM_ABOUT_PORT:
		v.type = RECORD_DEVICE;
		v.a = end_of(names, &s->a, s->kind == SM_ABOUT_PORT);
		break;
	case SM_ABOUT_BEHIND:
		v.type = RECORD_BEHIND;
		v.a = end_of(names, &s->a, true);
		break;
	case SM_ABOUT_LINK:
		v.type = RECORD_LINK;
		v.a = end_of(names, &s->a, s->a.port);
		v.b = end_of(names, &s->b, s->b.port);
		break;
	}
	return v;
}

/* The end of a link: JSON has it as an object of its own. */
static struct record_value link_end_value(const char *key, const struct sm_port_ref *r,
					  const struct sm_names *names)
{
	return (struct record_value){
		.key = key, .type = RECORD_PLACE, .a = end_of(names, r, r->port != 0)};
}

static uint64_t number_at(const struct sm_note *n, const struct field *f)
{
	const char *p = (const char *)n + f->at;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (f->size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		memcpy(&u16, p, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, p, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, p, sizeof(u64));
		return u64;
	}
}

static const char *node_type_text(uint64_t type)
{
	return type == IBA_NODE_SWITCH ? "switch" : type == IBA_NODE_ROUTER ? "router" : "host";
}

/* The word for a number; NULL: it is shown as a number, or there is none. */
static const char *word_of(enum field_type type, uint64_t u, const struct sm_names *names)
{
	switch (type) {
	case FIELD_PHASE:
		return sm_phase_name((enum sm_phase)u);
	case FIELD_CAUSE:
		return sm_cause_name((enum sm_cause)u);
	case FIELD_CAUSE_TEXT:
		return sm_cause_text((enum sm_cause)u);
	case FIELD_ATTRIBUTE:
		return iba_attr_name((unsigned)u);
	case FIELD_TRAP:
		return iba_trap_name((unsigned)u);
	case FIELD_PLAN:
		return rt_plan_name((enum rt_plan_kind)u);
	case FIELD_SM_STATE:
		return iba_format_word(IBA_FMT_SM_STATE, u);
	case FIELD_NODE_TYPE:
		return node_type_text(u);
	case FIELD_NAME:
		return name_of(names, u);
	case FIELD_COUNT:
	case FIELD_GUID:
	case FIELD_STATUS:
	case FIELD_STRING:
	case FIELD_SUBJECT:
	case FIELD_PORT:
		break;
	}
	return NULL;
}

static struct record_value field_value(const struct sm_note *n, const struct field *f,
				       const struct sm_names *names)
{
	static const enum record_type numbers[] = {
		[FIELD_COUNT] = RECORD_COUNT,
		[FIELD_GUID] = RECORD_GUID,
		[FIELD_STATUS] = RECORD_HEX,
	};
	uint64_t u;

	if (f->type == FIELD_SUBJECT)
		return subject_value(f->key, &n->about, names);
	if (f->type == FIELD_PORT)
		return link_end_value(f->key, (const void *)((const char *)n + f->at), names);
	if (f->type == FIELD_STRING)
		return (struct record_value){
			.key = f->key, .type = RECORD_TEXT, .s = (const char *)n + f->at};
	u = number_at(n, f);
	return (struct record_value){
		.key = f->key,
		.type = f->type < ARRAY_LEN(numbers) ? numbers[f->type] : RECORD_TEXT,
		.text_only = f->type == FIELD_CAUSE_TEXT,
		.s = word_of(f->type, u, names),
		.u = u,
	};
}

void sm_note_values(const struct sm_note *n, const struct sm_names *names,
		    struct record_value v[SM_NOTE_VALUES])
{
	const struct field *f = rows[n->kind].fields;
	unsigned i = 0;

	for (; i < ARRAY_LEN(rows[0].fields) && f[i].key; i++)
		v[i] = field_value(n, &f[i], names);
	v[i] = (struct record_value){0};
}

/* ---- renderings ---- */

void sm_note_text(const struct sm_note *n, const struct sm_names *names, struct strbuf *out)
{
	struct record_value v[SM_NOTE_VALUES];

	sm_note_values(n, names, v);
	record_text(rows[n->kind].record.text, v, out);
}

static void text_json(struct json *j, const struct sm_note *n, const struct sm_names *names)
{
	struct strbuf text = {0};

	sm_note_text(n, names, &text);
	json_str(j, "text", text.s);
	strbuf_free(&text);
}

static void link_json(struct json *j, const struct sm_note *n, const struct sm_names *names)
{
	struct record_end a = end_of(names, &n->about.a, true),
			  b = end_of(names, &n->about.b, true);

	json_open(j, NULL, '{');
	json_str(j, "event", n->kind == SM_NOTE_LINK_DOWN ? "down" : "up");
	record_end_json(j, "a", &a);
	record_end_json(j, "b", &b);
	text_json(j, n, names);
	json_close(j);
}

static void node_json(struct json *j, const struct sm_note *n, const struct sm_names *names)
{
	const char *name = name_of(names, n->about.a.guid);

	json_open(j, NULL, '{');
	json_str(j, "event", n->kind == SM_NOTE_NODE_GONE ? "gone" : "came");
	json_str(j, "name", name ? name : "");
	json_hex64(j, "guid", n->about.a.guid);
	json_str(j, "type", node_type_text(n->node.type));
	text_json(j, n, names);
	json_close(j);
}

void sm_notes_changes_json(struct json *j, const struct sm_note *notes, size_t n,
			   const struct sm_names *names)
{
	json_open(j, "links", '[');
	for (size_t i = 0; i < n; i++)
		if (notes[i].kind == SM_NOTE_LINK_DOWN || notes[i].kind == SM_NOTE_LINK_UP)
			link_json(j, &notes[i], names);
	json_close(j);
	json_open(j, "nodes", '[');
	for (size_t i = 0; i < n; i++)
		if (notes[i].kind == SM_NOTE_NODE_GONE || notes[i].kind == SM_NOTE_NODE_CAME)
			node_json(j, &notes[i], names);
	json_close(j);
}
