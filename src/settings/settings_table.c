/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of settings. Constants only. A new setting is a row here and a field of struct settings or
 * struct sm_config; scripts/config-docs.sh then writes the documents. Does not check anything.
 */
#include "settings/settings.h"

const struct settings_section settings_sections[] = {
	{"transport", "How the manager reaches the fabric."},
	{"manager", "What the manager does: a mechanism, and techniques in place of its own."},
	{"routes", "The up/down graph and the computation of routes."},
	{"links", "Values of ports and links. What is 0 stays as devices have it."},
	{"partitions",
	 "Partitions: members by GUID, name or ALL. Without file and list, P_Key tables stay as devices have them (docs/partitions.md)."},
	{"qos", "Quality of service: levels, and tables of VLs (docs/partitions.md)."},
	{"damping", "Links that change too often."},
	{"keys",
	 "Management keys (M_Key). This file may hold keys only if its mode is 0600 or stricter."},
	{"election", "Several managers on one fabric."},
	{"virtual", "Virtual machines on HCAs with SR-IOV."},
	{"perf", "Counters of all ports, and links that are sick (docs/counters.md)."},
	{"files", "Files that the manager keeps and writes."},
	{"security", "What the daemon gives up before it reads the first byte from others."},
	{"control", "The socket that 'weft ctl' connects to."},
	{"metrics", "OpenMetrics."},
	{"log", "Log records."},
	{0},
};

const struct settings_list settings_lists[] = {
	{"partitions", "list", "Partitions with their members and multicast groups"},
	{"qos", "groups", "Groups of ports that rules name"},
	{"qos", "levels", "Levels of service"},
	{"qos", "rules", "Which paths have which level"},
	{"qos", "classes", "VL arbitration and SL-to-VL tables by kind of port"},
	{0},
};

/* clang-format off */
#define TRANSPORT(name, reaches) #name,
static const char *const transports[] = {
	"auto",
#include "transport/transport_list.h"
	NULL,
};
#undef TRANSPORT
#define TRANSPORT(name, reaches) #name ": " reaches "; "
static const char transports_help[] =
#include "transport/transport_list.h"
	"auto: a local device, or ibsim if it is asked for (server, $IBSIM_SOCKNAME or $IBSIM_SERVER_NAME)";
#undef TRANSPORT
/* clang-format on */
static const char *const tables[] = {"full", "partial", NULL};
static const char *const detections[] = {"sweeps", "traps", "both", NULL};
static const char *const explorations[] = {"propagation", "bfs", NULL}; /* enum sm_exploration */
static const char *const activations[] = {"directed", "lid", NULL};
static const char *const directions[] = {"distance", "bfs", "dfs", NULL}; /* enum rt_directions */
static const char *const ties[] = {"spread", "first", "random", NULL};	  /* enum rt_ties */
static const char *const fallbacks[] = {"own", "centre", NULL};
static const char *const schemes[] = {"dynamic", "prepopulated", "none", NULL}; /* enum sm_scheme */
static const char *const sandboxes[] = {"off", "auto", "required", NULL}; /* enum sandbox_wanted */
static const char *const enforcements[] = {"both", "in", "out", "off", NULL}; /* enum sm_enforce */
static const char *const isolations[] = {"off", "switches", "all", NULL}; /* enum perf_isolate */
static const char *const levels[] = {"error", "warning", "notice", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", NULL};

#define NODES_HELP                                                                                    \
	"GUIDs or names of hosts or of switches for their hosts, patterns such as 'node*', @FILE: a " \
	"list of GUIDs as OpenSM's cn_guid_file"

/* clang-format off */
/* The option has the name of the key; of section and key where the key alone does not say enough; of the
 * section for the key that says what the section is about. */
#define NAMED(sec, k, opt, users_, text) .section = sec, .key = k, .option = opt, .users = users_, .help = text
#define DAEMON(sec, k, opt, text)    NAMED(sec, k, opt, SETTING_FOR_SM, text)
#define MANAGER(sec, k, opt, text)   NAMED(sec, k, opt, SETTING_FOR_SM | SETTING_FOR_SIM, text)
#define TECHNIQUE(k, opt, text)	     NAMED("manager", k, opt, SETTING_FOR_ALL, text)

#define AT(field)	     .at = offsetof(struct settings, field), .size = sizeof(((struct settings *)0)->field)
#define BOOL(field)	     .kind = SETTING_BOOL, AT(field)
#define UINT(field, a, b)    .kind = SETTING_UINT, AT(field), .min = a, .max = b
#define TIME(field, a, b, u) .kind = SETTING_TIME, AT(field), .min = a, .max = b, .unit = u
#define TEXT(field, none)    .kind = SETTING_TEXT, AT(field), .nothing = none
#define LIST(field)	     .kind = SETTING_LIST, AT(field), .arg = "NODES"
#define CHOICE(field, c)     .kind = SETTING_CHOICE, AT(field), .choices = c
#define ROW(field, table)    .kind = SETTING_ROW, AT(field), .rows = table, .stride = sizeof((table)[0])
#define PART(field, table)   ROW(sm.mechanism.field, table), .part = true
/* clang-format on */

const struct setting settings_table[] = {
	{DAEMON("transport", "kind", "transport", transports_help), TEXT(transport, "auto"),
	 .choices = transports, .start = true, .letter = 't'},
	{DAEMON("transport", "device", "device",
		"name of the device, such as mlx5_0; on ibsim the node whose port is used"),
	 TEXT(where.device, "auto"), .start = true, .letter = 'd', .arg = "NAME"},
	{DAEMON("transport", "port", "port",
		"number of the device's port; 0: the first that is not down"),
	 UINT(where.port, 0, 254), .start = true, .letter = 'p'},
	{DAEMON("transport", "port_guid", "port-guid",
		"GUID of the port, instead of device and port; 0: not given"),
	 .kind = SETTING_HEX, AT(where.port_guid), .start = true, .letter = 'g', .arg = "GUID",
	 .old_option = "guid"},
	{DAEMON("transport", "server", "server",
		"name of ibsim's socket, or HOST:PORT for UDP; auto: $IBSIM_SOCKNAME, or sim"),
	 TEXT(where.server, "auto"), .start = true, .letter = 's', .arg = "NAME"},
	{DAEMON("transport", "spin", "spin",
		"time to poll for the next MAD before sleeping: lowers latency, takes CPU time"),
	 TIME(spin_us, 0, 100 * PS_PER_MS, PS_PER_US), .daemon = "20us"},

	{TECHNIQUE("mechanism", "mechanism",
		   "techniques for all steps of a change: docs/mechanism.md"),
	 ROW(sm.mechanism, sm_mechanisms)},
	{TECHNIQUE("discovery", "discovery", "how the subnet is explored after a change"),
	 PART(discovery, sm_discoveries)},
	{TECHNIQUE("provisional", "provisional", "routes that are sent first"),
	 PART(provisional, sm_supplies)},
	{TECHNIQUE("distribution", "distribution", "how the first tables of a change are sent"),
	 PART(first, sm_techniques)},
	{TECHNIQUE("then", "then", "how final tables are sent after provisional ones"),
	 PART(second, sm_techniques)},
	{TECHNIQUE("tables", "tables", "blocks that are sent: all, or only those that differ"),
	 CHOICE(sm.mechanism.partial_tables, tables), .part = true},
	{TECHNIQUE(
		 "detection", "detection",
		 "how changes are detected: by sweeps alone, or by traps and sweeps (traps and both "
		 "mean the same)"),
	 CHOICE(sm.mechanism.traps, detections), .part = true},
	{TECHNIQUE("by_lid", "by-lid", "send SMPs LID-routed where the tables in force lead"),
	 BOOL(sm.mechanism.by_lid), .part = true},
	{TECHNIQUE("ahead", "ahead", "compute repairs before they are needed"),
	 BOOL(sm.mechanism.ahead), .part = true},
	{DAEMON("manager", "unsafe", "unsafe",
		"accept techniques that may deadlock packets while tables change"),
	 BOOL(unsafe)},
	{MANAGER("manager", "exploration", "exploration",
		 "order of a full discovery; bfs: breadth-first, one SMP at a time"),
	 CHOICE(sm.explore, explorations)},
	{MANAGER("manager", "activation", "activation",
		 "SMPs that activate ports: by directed route, or by LID"),
	 CHOICE(sm.activate_by_lid, activations)},
	{MANAGER("manager", "lft_entries", "lft-entries",
		 "send linear tables up to this many entries, though LIDs end before; 0: no"),
	 UINT(sm.lft_entries, 0, 49152)},
	{MANAGER("manager", "window", "window", "SMPs outstanding at once"),
	 UINT(sm.window, 1, SM_MAX_WINDOW), .start = true, .letter = 'w'},
	{MANAGER("manager", "retries", "retries", "times an unanswered SMP is sent again"),
	 UINT(sm.retries, 0, 20)},
	{MANAGER("manager", "timeout", "timeout",
		 "shortest wait for a response, doubled at each retry; 0: by distance, always the "
		 "same"),
	 TIME(sm.timeout_ps, 0, 60 * PS_PER_S, 1),
	 .daemon = "50ms"}, /* a busy machine stalls for tens of milliseconds */
	{MANAGER("manager", "plain", "plain",
		 "send directed SMPs only, as other managers do; false: also LID-routed and mixed "
		 "ones"),
	 BOOL(sm.plain), .daemon = "true"},
	{MANAGER("manager", "restarts", "restarts",
		 "times a discovery starts again because the subnet changed meanwhile; then its "
		 "result is used"),
	 UINT(sm.restarts, 0, 100)},
	{MANAGER("manager", "smp_time", "smp-time",
		 "time of an SMP over one link, from which timeouts are computed"),
	 TIME(sm.link_smp_ps, PS_PER_NS, PS_PER_S, 1)},
	{MANAGER("manager", "lmc", "lmc", "2^lmc LIDs for each port of a host"), UINT(sm.lmc, 0, 7),
	 .start = true},
	{MANAGER("manager", "sweep", "sweep",
		 "time between two sweeps, unless a factor is given; 0: no sweeps"),
	 TIME(sm.sweep_period_ps, 0, 86400 * PS_PER_S, 1), .daemon = "10s",
	 .clears = offsetof(struct settings, sm.sweep_factor), .old_option = "sweep-period"},
	{MANAGER("manager", "sweep_factor", "sweep-factor",
		 "time between two sweeps as a multiple of the duration of one; 0: as sweep says"),
	 UINT(sm.sweep_factor, 0, 1000000)},
	{MANAGER("manager", "own_port", "own-port",
		 "time between two looks at the manager's own port: no trap arrives while its switch "
		 "restarts; known managers are asked as well, every election.poll if that is less; 0: no looks"),
	 TIME(sm.own_port_ps, 0, 3600 * PS_PER_S, 1), .daemon = "1s"},
	{MANAGER("manager", "read_back", "read-back",
		 "read the tables that switches hold at the start, and keep what is right"),
	 BOOL(sm.read_back), .daemon = "true"},
	{MANAGER("manager", "names", "names",
		 "read NodeDescriptions when there is nothing else to do"),
	 BOOL(sm.names), .daemon = "true"},
	{MANAGER("manager", "subnet_timeout", "subnet-timeout",
		 "SubnetTimeOut of PortInfo: 4.096 us times 2 to this; 0: from distance and "
		 "response times"),
	 UINT(sm.subnet_timeout, 0, 31)},
	{MANAGER("manager", "subnet_prefix", "subnet-prefix", "GID prefix of all ports"),
	 .kind = SETTING_HEX, AT(sm.gid_prefix), .start = true},
	{MANAGER("manager", "sm_sl", "sm-sl",
		 "service level of packets to the manager (MasterSMSL)"),
	 UINT(sm.sm_sl, 0, 15)},
	{MANAGER("manager", "drain", "drain",
		 "how long a packet may live: tables change again, and turns are enabled, when packets "
		 "on former routes have drained; up to four times as long on slower links than "
		 "10 Gb/s"),
	 TIME(sm.drain_ps, 0, 60 * PS_PER_S, 1)},

	{NAMED("routes", "engine", "routes", SETTING_FOR_ALL,
	       "routes that stay: those of the engine that serves the subnet best (auto), or of this one"),
	 PART(routes, sm_supplies), .old_option = "engine", .both = true, .old_section = "manager",
	 .old_key = "routes"},
	{MANAGER("routes", "auto_lanes", "auto-lanes",
		 "VLs that an engine chosen by auto may use; 0: as many as every link between switches has. "
		 "More than 1 only where hosts use the service levels that weft ctl route shows: other "
		 "packets could deadlock"),
	 UINT(sm.auto_lanes, 0, 8)},
	{MANAGER("routes", "advise", "routes-advise",
		 "compare routes of a named engine, or over named roots, at rest with those that auto would choose, and "
		 "warn where they are more than a tenth worse"),
	 BOOL(sm.advise), .daemon = "true"},
	{MANAGER("routes", "file", "routes-file",
		 "tables of engine file, in the format of opensm-lfts.dump; a reload reads them again"),
	 TEXT(routes_file, "none"), .arg = "FILE"},
	{MANAGER("routes", "sls", "routes-sls",
		 "service levels of these tables, as weft route compute --sls writes them; none: SL 0"),
	 TEXT(routes_sls, "none"), .arg = "FILE"},
	{MANAGER("routes", "sl2vl", "routes-sl2vl",
		 "SL-to-VL maps of these tables, in the format of opensm-sl2vl.dump; none: VL = SL"),
	 TEXT(routes_sl2vl, "none"), .arg = "FILE"},
	{MANAGER("routes", "roots", "roots",
		 "GUIDs and names of switches, or of hosts for their switches: updn uses all that are present, engines with one "
		 "root the first of them; @FILE: a list of GUIDs as OpenSM's root_guid_file; none, or auto: roots are found"),
	 LIST(roots)},
	{MANAGER("routes", "compute_nodes", "compute-nodes",
		 "hosts that are balanced by themselves: " NODES_HELP),
	 LIST(compute_nodes)},
	{MANAGER("routes", "io_nodes", "io-nodes",
		 "storage nodes, which are balanced by themselves: named in the same way"),
	 LIST(io_nodes)},
	{MANAGER("routes", "service_nodes", "service-nodes",
		 "login, management and other nodes, which are balanced by themselves: named in the same way"),
	 LIST(service_nodes)},
	{MANAGER("routes", "otherwise", "routes-otherwise",
		 "the root when none of these is present: the manager's own switch, or the centre of "
		 "the graph"),
	 CHOICE(sm.root_centre, fallbacks),
	 .daemon = "centre"}, /* a change far from the root moves little */
	{MANAGER("routes", "directions", "directions",
		 "which end of a link is up: by distance from the root, or by a breadth- or "
		 "depth-first tree"),
	 CHOICE(sm.directions, directions)},
	{MANAGER("routes", "ties", "ties",
		 "which of several equal ports FERa takes: all in turn, the first, or one drawn for "
		 "each switch and LID"),
	 CHOICE(sm.ties, ties)},
	{MANAGER("routes", "threads", "threads",
		 "threads that compute routes, and simulate; changes no result; 0: one for each "
		 "core"),
	 UINT(threads, 0, 256), .start = true},
	{MANAGER("routes", "ahead_switches", "ahead-switches",
		 "largest fabric, in switches, for which repairs are computed ahead"),
	 UINT(sm.ahead_switches, 0, 65535)},
	{MANAGER("routes", "ahead_memory", "ahead-memory",
		 "memory that repairs computed ahead may take"),
	 .kind = SETTING_BYTES, AT(sm.ahead_bytes), .max = 1ull << 36},

	{MANAGER("links", "max_op_vls", "max-op-vls",
		 "most data VLs of a link, as a code of IBA: 1 to 5 are 1, 2, 4, 8 and 15 VLs"),
	 UINT(sm.max_op_vls, 1, 5)},
	{MANAGER("links", "head_of_queue_life", "head-of-queue-life",
		 "how long a packet waits at the head of a queue, at ports of switches: 4.096 us times 2 to this; "
		 "20 and more: for ever"),
	 UINT(sm.hoq_life, 0, 31)},
	{MANAGER("links", "leaf_head_of_queue_life", "leaf-head-of-queue-life",
		 "the same at ports behind which a host or router is"),
	 UINT(sm.leaf_hoq_life, 0, 31)},
	{MANAGER("links", "stall_count", "stall-count",
		 "packets dropped one after another before a VL of a switch's port counts as stalled"),
	 UINT(sm.vl_stall, 0, 7)},
	{MANAGER("links", "leaf_stall_count", "leaf-stall-count",
		 "the same at ports behind which a host or router is"),
	 UINT(sm.leaf_vl_stall, 0, 7)},
	{MANAGER("links", "packet_life", "packet-life",
		 "how long a packet lives in a switch (LifeTimeValue): 4.096 us times 2 to this; 20 and more: for ever"),
	 UINT(sm.packet_life, 0, 31)},
	{MANAGER("links", "phy_errors", "phy-errors",
		 "errors of the physical layer after which a port sends trap 129"),
	 UINT(sm.phy_errors, 0, 15)},
	{MANAGER("links", "overrun_errors", "overrun-errors",
		 "buffer overruns after which a port sends trap 130"),
	 UINT(sm.overrun_errors, 0, 15)},
	{MANAGER("links", "speed", "link-speed",
		 "LinkSpeedEnabled of switches' ports, when the link next trains; 15: all that is supported"),
	 UINT(sm.link_speed, 0, 15)},
	{MANAGER("links", "speed_ext", "link-speed-ext",
		 "LinkSpeedExtEnabled of switches' ports; 30: no extended speeds; 31: all that are supported"),
	 UINT(sm.link_speed_ext, 0, 31)},
	{MANAGER("links", "width", "link-width",
		 "LinkWidthEnabled of switches' ports; 255: all that is supported"),
	 UINT(sm.link_width, 0, 255)},

	{DAEMON("partitions", "file", "partitions-file",
		"OpenSM's partitions.conf, instead of list"),
	 TEXT(partitions_file, "none"), .arg = "FILE"},
	{DAEMON("partitions", "both_keys", "partitions-both-keys",
		"a member as both has the full and the limited key of a partition; false: the full one alone"),
	 BOOL(both_keys)},
	{MANAGER("partitions", "enforce", "partitions-enforce",
		 "switches drop packets of other partitions at ports behind which hosts are: that come in, that go out, "
		 "both or neither; with partitions in file or list only"),
	 CHOICE(sm.part_enforce, enforcements)},

	{MANAGER("qos", "enabled", "qos",
		 "service levels count; also write SL-to-VL and VL arbitration tables"),
	 BOOL(sm.qos), .old_section = "manager", .old_key = "qos"},
	{MANAGER("qos", "vl_high_limit", "vl-high-limit",
		 "VLHighLimit of PortInfo, unless classes say otherwise"),
	 UINT(sm.vl_high_limit, 0, 255), .old_section = "manager", .old_key = "vl_high_limit"},
	{DAEMON("qos", "policy", "qos-policy",
		"OpenSM's qos-policy.conf, instead of groups, levels and rules"),
	 TEXT(qos_policy_file, "none"), .arg = "FILE"},

	{MANAGER("damping", "changes", "damping-changes",
		 "number of changes after which a link is held: it counts as Down; 0: never"),
	 UINT(sm.flaps, 0, SM_MAX_FLAPS), .old_option = "damp"},
	{MANAGER("damping", "within", "damping-within", "time within which these changes happen"),
	 TIME(sm.flap_ps, 0, 86400 * PS_PER_S, 1), .old_option = "damp-window"},
	{MANAGER("damping", "hold", "damping-hold",
		 "time without a change after which a held link is released"),
	 TIME(sm.hold_ps, 0, 86400 * PS_PER_S, 1), .old_option = "damp-hold"},

	{DAEMON("keys", "file", "keys-file",
		"YAML file with keys.m_key, keys.former and election.sm_key, and mode 0600 or "
		"stricter"),
	 TEXT(keys_file, "none"), .arg = "FILE"},
	{MANAGER("keys", "m_key", "m-key",
		 "management key that is set in every port and sent with every SMP; 0: none"),
	 .kind = SETTING_HEX, AT(sm.m_key), .arg = "KEY", .secret = true},
	{MANAGER("keys", "protect", "keys-protect",
		 "M_KeyProtectBits: what others may read without the key"),
	 UINT(sm.m_key_protect, 0, 3)},
	{MANAGER("keys", "lease", "keys-lease",
		 "time without an SMP from the manager after which a port drops its key; 0: never"),
	 TIME(sm.m_key_lease_s, 0, 65535 * PS_PER_S, PS_PER_S)},
	{MANAGER("keys", "former", "keys-former", "up to 4 keys that ports may still hold"),
	 .kind = SETTING_HEXES, AT(sm.m_keys), .secret = true},

	{MANAGER("election", "contest", "election-contest",
		 "look for other managers: the highest priority, then the lowest GUID, is master"),
	 BOOL(sm.contest), .daemon = "true"},
	{MANAGER("election", "priority", "priority",
		 "priority among managers; the highest is master"),
	 UINT(sm.priority, 0, 15)},
	{DAEMON("election", "observe", "observe",
		"only watch: never send a Set, never become master; the whole subnet is read with each "
		"sweep"),
	 BOOL(sm.observe), .start = true},
	{MANAGER("election", "sm_key", "sm-key",
		 "SM_Key that orders of other managers must carry; shown only to managers that "
		 "prove themselves by it or by the M_Key, except 1, OpenSM's default; 0: any order "
		 "is obeyed"),
	 .kind = SETTING_HEX, AT(sm.sm_key), .daemon = "0x1", .arg = "KEY", .secret = true},
	{MANAGER("election", "poll", "election-poll",
		 "time between two polls of the master by a standby manager; after poll times "
		 "tries + 1 at most it takes over"),
	 TIME(sm.standby_poll_ps, 10 * PS_PER_MS, 86400 * PS_PER_S, 1)},
	{MANAGER("election", "tries", "election-tries",
		 "unanswered polls after which a standby manager takes over"),
	 UINT(sm.standby_tries, 1, 100)},
	{MANAGER("election", "settle", "election-settle",
		 "time that a master waits for a master of lower rank to hand over, or for its own "
		 "hand-over to be accepted"),
	 TIME(sm.settle_ps, 10 * PS_PER_MS, 3600 * PS_PER_S, 1)},
	{MANAGER("election", "copy", "election-copy",
		 "time that a master waits for a standby of higher priority that copies what the "
		 "master knows, before it hands over; 0: it does not wait"),
	 TIME(sm.copy_ps, 0, 3600 * PS_PER_S, 1)},
	{MANAGER("election", "pause", "election-pause",
		 "a master that did not run for longer asks who is master before it sets anything; "
		 "keep it below the time after which a standby takes over; 0: never"),
	 TIME(sm.stall_ps, 0, 3600 * PS_PER_S, 1)},
	{MANAGER("election", "mirror", "election-mirror",
		 "a standby manager copies what the master knows, so that it need not read the subnet "
		 "when it takes over"),
	 BOOL(sm.mirror), .daemon = "true"},

	{MANAGER("virtual", "scheme", "virtual-scheme",
		 "LIDs of virtual functions behind a vSwitch: dynamic, each virtual machine gets one when it "
		 "starts; prepopulated, each function has one from the start; none: no virtual machines, a "
		 "vSwitch is a switch as any other"),
	 CHOICE(sm.scheme, schemes), .start = true},

	{DAEMON("perf", "period", "perf-period",
		"time from the beginning of one round over the counters of all ports to that of the next; 0: counters are not "
		"read"),
	 TIME(perf.period, 0, 3600 * PS_PER_S, 1)},
	{DAEMON("perf", "window", "perf-window", "queries of counters outstanding at once"),
	 UINT(perf.window, 1, PERF_MAX_WINDOW), .daemon = "128"},
	{DAEMON("perf", "timeout", "perf-timeout",
		"wait for the response to a query; it is not repeated, the next round asks again"),
	 TIME(perf.timeout, PS_PER_MS, 60 * PS_PER_S, 1), .daemon = "500ms"},
	{DAEMON("perf", "clear", "perf-clear",
		"set counters that are more than half full to 0, so that those of 32 bits and less go on counting; other "
		"programs see that"),
	 BOOL(perf.clear)},
	{DAEMON("perf", "day", "perf-day",
		"keep the last day by the minute for each port, not for the whole subnet alone: 11,520 bytes a port"),
	 BOOL(perf.day)},
	{DAEMON("perf", "ber", "perf-ber",
		"a link with more than one symbol error in 10 to the power of this many bits is sick; link error recoveries "
		"and links that went down count as five"),
	 UINT(perf.ber, 6, 18), .daemon = "12"},
	{DAEMON("perf", "least", "perf-least", "and with at least so many errors"),
	 UINT(perf.least, 1, 1000000), .daemon = "10"},
	{DAEMON("perf", "watch", "perf-watch", "time within which these errors happen"),
	 TIME(perf.watch, PS_PER_S, 3600 * PS_PER_S, 1), .daemon = "60s"},
	{DAEMON("perf", "well", "perf-well",
		"a sick link that had less than a tenth of this rate for this long is well; with each relapse within a day "
		"it takes twice as long"),
	 TIME(perf.well, PS_PER_S, 86400 * PS_PER_S, 1), .daemon = "600s"},
	{DAEMON("perf", "isolate", "perf-isolate",
		"sick links are not used until they are well: none, those between switches, or those of hosts as well, which "
		"cuts these off; a link that is the only way to a switch stays in use"),
	 CHOICE(perf.isolate, isolations)},
	{DAEMON("perf", "isolate_most", "perf-isolate-most",
		"most links that are isolated at once"),
	 UINT(perf.isolate_most, 1, 10000), .daemon = "4"},

	{DAEMON("files", "state", "state",
		"SQLite file that keeps LIDs and keys over a restart; auto: in the state directory"),
	 TEXT(state, "none"), .start = true, .daemon = "auto", .arg = "FILE"},
	{DAEMON("files", "dumps", "dumps",
		"directory for opensm-lfts.dump, opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs and "
		"opensm-sa.dump after each change"),
	 TEXT(dumps, "none"), .arg = "DIR"},
	{DAEMON("files", "path_records", "dump-path-records",
		"also dump opensm-path-records.dump, which ibacm reads as full_opensm_v1: every path "
		"between two ports"),
	 BOOL(dump_paths)},
	{DAEMON("files", "pid", "pid", "file that holds the process id"), TEXT(pid_file, "none"),
	 .start = true, .arg = "FILE"},

	{DAEMON("security", "sandbox", "sandbox",
		"give up capabilities, other files and system calls that are not needed; required: "
		"do not run without it; auto: as far as the kernel can (docs/security.md)"),
	 CHOICE(sandbox, sandboxes), .start = true, .daemon = "auto"},

	{DAEMON("control", "socket", "control",
		"path of the socket; auto: in the runtime directory (docs/control.md)"),
	 TEXT(control, "none"), .start = true, .daemon = "auto", .arg = "PATH"},
	{DAEMON("control", "mode", "control-mode",
		"permissions of the socket, in octal: who may connect"),
	 .kind = SETTING_MODE, AT(control_mode), .max = 0777, .start = true, .daemon = "0600"},
	{DAEMON("control", "history", "control-history",
		"changes that are remembered for 'weft ctl changes'"),
	 UINT(history, 1, 100000), .daemon = "256"},

	{DAEMON("control", "connections", "control-connections",
		"connections at once; one more is refused; 0: no limit"),
	 UINT(control_clients, 0, 100000), .daemon = "64"},
	{DAEMON("control", "idle", "control-idle",
		"time without a request after which a connection is closed, unless it receives "
		"events; 0: never"),
	 TIME(control_idle_s, 0, 86400 * PS_PER_S, PS_PER_S), .daemon = "300s"},
	{DAEMON("control", "rate", "control-rate",
		"requests in a second that are answered; further ones wait; 0: no limit"),
	 UINT(control_rate, 0, 1000000), .daemon = "1000"},

	{DAEMON("metrics", "port", "metrics-port", "port of http://ADDRESS:PORT/metrics; 0: none"),
	 UINT(metrics_port, 0, 65535), .start = true},
	{DAEMON("metrics", "address", "metrics-address",
		"address at which metrics are served: of IPv4 or IPv6; :: and 0.0.0.0 are all of this "
		"machine, where every one who reaches them may read"),
	 TEXT(metrics_address, "127.0.0.1"), .start = true, .arg = "ADDRESS"},
	{DAEMON("metrics", "file", "metrics-file",
		"file that is written after each change, and every period, for the textfile collector of "
		"node_exporter"),
	 TEXT(metrics_file, "none"), .arg = "FILE"},
	{DAEMON("metrics", "period", "metrics-period",
		"time between two writes of the file when nothing changes"),
	 TIME(metrics_s, PS_PER_S, 86400 * PS_PER_S, PS_PER_S), .daemon = "15s"},
	{DAEMON("metrics", "ports", "metrics-ports",
		"ports that have series of their own beside the sums over all ports, at most: sick ones "
		"first, then by GUID; needs perf.period; 0: sums alone"),
	 UINT(metrics_ports, 0, 65536)},

	{DAEMON("metrics", "connections", "metrics-connections",
		"HTTP connections at once; one more is closed"),
	 UINT(metrics_clients, 1, 100000), .daemon = "64"},
	{DAEMON("metrics", "timeout", "metrics-timeout",
		"time after which an HTTP connection is closed"),
	 TIME(metrics_timeout_s, PS_PER_S, 3600 * PS_PER_S, PS_PER_S), .daemon = "5s"},
	{DAEMON("metrics", "rate", "metrics-rate",
		"HTTP requests in a second that are answered; further ones get status 429; 0: no "
		"limit"),
	 UINT(metrics_rate, 0, 1000000), .daemon = "20"},

	{DAEMON("log", "level", "log-level", "least severe records that are logged"),
	 CHOICE(log_level, levels), .daemon = "notice", .letter = 'l'},
	{DAEMON("log", "format", "log-format", "records as lines of text, or as JSON objects"),
	 CHOICE(log_format, formats)},
	{DAEMON("log", "file", "log-file", "file for the log; none: standard error"),
	 TEXT(log_file, "none"), .start = true, .arg = "FILE", .old_option = "log"},
	{0},
};
