/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of keys. A new key is a line here and a field in struct run_config. Constants only; does
 * not check anything.
 */
#include "run/config_priv.h"

const struct cfg_section cfg_sections[] = {
	{"transport", "How the fabric is reached."},
	{"manager",
	 "What the manager does: a mechanism, or single techniques in place of its own."},
	{"routes", "The up/down graph and who computes it."},
	{"damping", "Links that change too often."},
	{"keys", "Management keys (M_Key)."},
	{"election", "Several managers on one fabric."},
	{"files", "What is kept and written."},
	{"control", "The socket that 'weft ctl' asks."},
	{"metrics", "OpenMetrics."},
	{"log", "What happened."},
	{0},
};

static const char *const tables[] = {"full", "partial", NULL};
static const char *const detections[] = {"sweeps", "traps", NULL};
static const char *const explorations[] = {"propagation", "bfs", NULL}; /* enum sm_exploration */
static const char *const activations[] = {"directed", "lid", NULL};
static const char *const directions[] = {"distance", "bfs", "dfs", NULL}; /* enum rt_directions */
static const char *const fallbacks[] = {"own", "centre", NULL};
static const char *const levels[] = {"error", "warning", "notice", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", NULL};

/* clang-format off */
#define AT(field)	  .at = offsetof(struct run_config, field), .size = sizeof(((struct run_config *)0)->field)
#define BOOL(field)	  .kind = CFG_BOOL, AT(field)
#define UINT(field, a, b) .kind = CFG_UINT, AT(field), .min = a, .max = b
#define TIME(field, a, b, u) .kind = CFG_TIME, AT(field), .min = a, .max = b, .unit = u
#define TEXT(field, none) .kind = CFG_TEXT, AT(field), .nothing = none
#define CHOICE(field, c)  .kind = CFG_CHOICE, AT(field), .choices = c
#define ROW(field, table) .kind = CFG_ROW, AT(sm.mechanism.field), .rows = table, .stride = sizeof((table)[0]), .part = true
#define PART(field, c)	  CHOICE(sm.mechanism.field, c), .part = true
/* clang-format on */

const struct cfg_key cfg_keys[] = {
	{"transport", "kind", tp_kinds_help, TEXT(transport, "auto"), .choices = tp_kinds,
	 .start = true},
	{"transport", "device",
	 "umad: name of the device, such as mlx5_0; ibsim: the node whose port is used.",
	 TEXT(where.device, "auto"), .start = true},
	{"transport", "port", "Number of the device's port; 0: the first that is not down.",
	 UINT(where.port, 0, 254), .start = true},
	{"transport", "port_guid", "The port by its GUID instead; 0: not given.", .kind = CFG_HEX,
	 AT(where.port_guid), .start = true},
	{"transport", "server",
	 "ibsim: name of its socket, or HOST:PORT for UDP; auto: $IBSIM_SOCKNAME, or sim.",
	 TEXT(where.server, "auto"), .start = true},
	{"transport", "spin",
	 "Look so long for the next MAD before sleeping: quicker, but it takes CPU time.",
	 TIME(spin_us, 0, 100 * PS_PER_MS, PS_PER_US)},

	{"manager", "mechanism", "A technique for each step of a change (docs/mechanism.md).",
	 .kind = CFG_ROW, AT(sm.mechanism), .rows = sm_mechanisms,
	 .stride = sizeof(sm_mechanisms[0])},
	{"manager", "discovery", "How the subnet is explored after a change.",
	 ROW(discovery, sm_discoveries)},
	{"manager", "provisional", "Routes that are sent first.", ROW(provisional, sm_supplies)},
	{"manager", "routes", "Routes that stay.", ROW(routes, sm_supplies)},
	{"manager", "distribution", "How the first tables of a change are sent.",
	 ROW(first, sm_techniques)},
	{"manager", "then", "And how the final ones, after provisional ones.",
	 ROW(second, sm_techniques)},
	{"manager", "tables", "partial: only blocks that differ are sent.",
	 PART(partial_tables, tables)},
	{"manager", "detection", "traps: also told by traps, not by sweeps alone.",
	 PART(traps, detections)},
	{"manager", "by_lid", "SMPs LID-routed where the tables in force lead.",
	 BOOL(sm.mechanism.by_lid), .part = true},
	{"manager", "ahead", "Repairs are computed before they are needed.",
	 BOOL(sm.mechanism.ahead), .part = true},
	{"manager", "unsafe", "Take techniques that may deadlock packets while tables change.",
	 BOOL(unsafe)},
	{"manager", "exploration",
	 "Order of a full discovery; bfs: breadth-first, one SMP at a time.",
	 CHOICE(sm.explore, explorations)},
	{"manager", "activation", "SMPs that activate ports: by directed route, or by LID.",
	 CHOICE(sm.activate_by_lid, activations)},
	{"manager", "window", "SMPs outstanding at once.", UINT(sm.window, 1, SM_MAX_WINDOW),
	 .start = true},
	{"manager", "retries", "Times an unanswered SMP is sent again.", UINT(sm.retries, 0, 20)},
	{"manager", "timeout",
	 "The first wait for an answer is no shorter, and each further one twice as long; 0: by distance.",
	 TIME(sm.timeout_ps, 0, 60 * PS_PER_S, 1)},
	{"manager", "plain",
	 "Directed SMPs only, as other managers send them; no: also by LID, and both ways mixed.",
	 BOOL(sm.plain)},
	{"manager", "restarts",
	 "Discoveries begun again because the subnet changed meanwhile, before what was found must do.",
	 UINT(sm.restarts, 0, 100)},
	{"manager", "smp_time", "An SMP over one link, from which time-outs are computed.",
	 TIME(sm.link_smp_ps, PS_PER_NS, PS_PER_S, 1)},
	{"manager", "lmc", "2^lmc LIDs for each port of a host.", UINT(sm.lmc, 0, 7),
	 .start = true},
	{"manager", "sweep", "Time between two looks for changes; 0: none.",
	 TIME(sm.sweep_period_ps, 0, 86400 * PS_PER_S, 1)},
	{"manager", "sweep_factor",
	 "The time as a multiple of what a sweep takes, instead; 0: as sweep says.",
	 UINT(sm.sweep_factor, 0, 1000000)},
	{"manager", "read_back",
	 "Ask switches at the start for the tables they hold, and keep what is right.",
	 BOOL(sm.read_back)},
	{"manager", "names", "Ask nodes for their descriptions when there is nothing else to do.",
	 BOOL(sm.names)},
	{"manager", "qos", "Also write SL-to-VL and VL arbitration tables.", BOOL(sm.qos)},
	{"manager", "vl_high_limit", "PortInfo's VLHighLimit.", UINT(sm.vl_high_limit, 0, 255)},
	{"manager", "subnet_timeout",
	 "PortInfo's SubnetTimeOut: 4.096 us times 2 to this; 0: from distance and response times.",
	 UINT(sm.subnet_timeout, 0, 31)},
	{"manager", "drain", "Packets on old routes are gone by then: turns come on again.",
	 TIME(sm.drain_ps, 0, 60 * PS_PER_S, 1)},

	{"routes", "roots", "GUIDs of switches: the first that is there is the root; up to 8.",
	 .kind = CFG_HEXES, AT(sm.roots)},
	{"routes", "otherwise",
	 "The root when none of these is there: the manager's own switch, or the centre of the graph.",
	 CHOICE(sm.root_centre, fallbacks)},
	{"routes", "directions",
	 "Which end of a link is up: by distance from the root, or by a breadth- or depth-first tree.",
	 CHOICE(sm.directions, directions)},
	{"routes", "threads", "Threads that compute routes; 0: as many as there are cores.",
	 UINT(threads, 0, 256)},
	{"routes", "ahead_switches",
	 "Repairs are computed ahead in fabrics of up to so many switches.",
	 UINT(sm.ahead_switches, 0, 65535)},
	{"routes", "ahead_memory", "And until they take so much memory.", .kind = CFG_BYTES,
	 AT(sm.ahead_bytes), .max = 1ull << 36},

	{"damping", "changes", "A port that changed so often counts as Down for a while; 0: never.",
	 UINT(sm.flaps, 0, SM_MAX_FLAPS)},
	{"damping", "within", "How often is too often: so many changes within this time.",
	 TIME(sm.flap_ps, 0, 86400 * PS_PER_S, 1)},
	{"damping", "hold", "It counts as Down until it kept quiet for this time.",
	 TIME(sm.hold_ps, 0, 86400 * PS_PER_S, 1)},

	{"keys", "m_key", "Set in every port and shown with every SMP; 0: none.", .kind = CFG_HEX,
	 AT(sm.m_key)},
	{"keys", "protect", "M_KeyProtectBits: what others may read without the key.",
	 UINT(sm.m_key_protect, 0, 3)},
	{"keys", "lease",
	 "A port forgets its key when its manager was not heard of for so long; 0: never.",
	 TIME(sm.m_key_lease_s, 0, 65535 * PS_PER_S, PS_PER_S)},
	{"keys", "former", "Keys that ports may still have; up to 4.", .kind = CFG_HEXES,
	 AT(sm.m_keys)},

	{"election", "contest",
	 "Look for other managers: the one of higher priority, then of lower GUID, is master.",
	 BOOL(sm.contest)},
	{"election", "priority", "The higher one is master.", UINT(sm.priority, 0, 15)},
	{"election", "sm_key",
	 "Shown in SMInfo; OpenSM knows only managers with its own key, which is 1 unless it was told another.",
	 .kind = CFG_HEX, AT(sm.sm_key)},
	{"election", "poll", "How often a standby manager asks the master.",
	 TIME(sm.standby_poll_ps, 10 * PS_PER_MS, 86400 * PS_PER_S, 1)},
	{"election", "tries", "Silent times after which it takes the master for dead.",
	 UINT(sm.standby_tries, 1, 100)},

	{"files", "state",
	 "SQLite file for LIDs and keys, which must survive; auto: in the state directory.",
	 TEXT(state, "none"), .start = true},
	{"files", "dumps",
	 "Directory for opensm-lfts.dump, opensm-subnet.lst, opensm.fdbs and opensm.mcfdbs after each change.",
	 TEXT(dumps, "none")},
	{"files", "pid", "File that holds the process id.", TEXT(pid_file, "none"), .start = true},

	{"control", "socket",
	 "Path of the socket; auto: in the runtime directory (docs/control.md).",
	 TEXT(control, "none"), .start = true},
	{"control", "mode", "Its permissions, in octal: who may connect.", .kind = CFG_MODE,
	 AT(control_mode), .max = 0777, .start = true},
	{"control", "history", "Changes remembered for 'weft ctl changes'.",
	 UINT(history, 1, 100000)},

	{"metrics", "port", "On 127.0.0.1, http://127.0.0.1:PORT/metrics; 0: none.",
	 UINT(metrics_port, 0, 65535), .start = true},
	{"metrics", "file", "Written after each change, and every period.",
	 TEXT(metrics_file, "none")},
	{"metrics", "period", "How often the file is written when nothing changes.",
	 TIME(metrics_s, PS_PER_S, 86400 * PS_PER_S, PS_PER_S)},

	{"log", "level", "How much is told.", CHOICE(log_level, levels)},
	{"log", "format", "Lines for people, or JSON objects.", CHOICE(log_format, formats)},
	{"log", "file", "none: standard error.", TEXT(log_file, "none"), .start = true},
	{0},
};
