# SPDX-License-Identifier: BSD-2-Clause
# From measured runs to medians, targets and tables. Tables come out as rows of tab-separated words.

# ---- one object from the runs of one command: medians, and all the times beside them ----

def median: sort | .[length / 2 | floor];

def route_runs:
	{route_s: (map(.wall_s) | median), verify_s: (map(.verify_wall_s) | median),
	 process_s: (map(.process_s) | median), rss_mib: (map(.rss_mib) | max),
	 verified: all(.verified), entries: .[0].entries, switches: .[0].switches,
	 lids: .[0].lids, all_route_s: map(.wall_s), all_verify_s: map(.verify_wall_s)};

def up_runs:
	{up_s: (map(.wall_s) | median), process_s: (map(.process_s) | median),
	 rss_mib: (map(.rss_mib) | max), smps: .[0].smps, simulated_s: .[0].time_s.total,
	 events: .[0].events, active: all(.state == "active" and .verified),
	 same: ((map(.trace_hash) | unique | length) == 1), all_up_s: map(.wall_s)};

# ---- what OpenSM's counter and log say ----

def attr_name:
	{"16": "NodeDescription", "17": "NodeInfo", "18": "SwitchInfo", "20": "GUIDInfo",
	 "21": "PortInfo", "22": "P_KeyTable", "23": "SLtoVL", "24": "VLArbitration", "25": "LFT",
	 "27": "MFT", "32": "SMInfo"}[tostring] // tostring;

def call_name: ({"1": "Get", "2": "Set"}[.method | tostring] // "\(.method)") + "(\(.attr | attr_name))";

# The first Set(LFT) ends the computation of routes.
def opensm_run($name; $engine; $start; $up; $build):
	{name: $name, engine: $engine, up_s: ($up - $start),
	 route_s: ((.smps[] | select(.method == 2 and .attr == 25).first_us) / 1e6 - $build),
	 smps: .total, mix: (.smps | map({key: call_name, value: .n}) | from_entries),
	 rss_mib: (.rss_kib / 1024), cpu_s};

# ---- targets ----

def target($what; $limit; $measured):
	{what: $what, limit: $limit, measured: $measured, ok: ($measured <= $limit)};

# OpenSM's SMPs as counted in this run, or as counted once where it does not take part.
def targets:
	([.opensm[] | select(.name == "t36_3").smps] | min // 861518) as $opensm
	| .weft[] | select(.name == "t36_3")
	| [target("power-on to active, whole process, s"; 5; .up.process_s),
	   target("power-on to active, MiB"; 600; .up.rss_mib),
	   target("fera on two threads, s"; 0.5; .two.route_s),
	   target("verifier on two threads, s"; 2; .two.verify_s),
	   target("SMPs, against those of OpenSM"; $opensm; .up.smps.total)];

# ---- numbers as text, without floating-point tails ----

def digits($n): . * pow(10; $n) | round | tostring
	| if length <= $n then ("0" * ($n + 1 - length)) + . else . end
	| if $n > 0 then .[:-$n] + "." + .[-$n:] else . end;
def big: round | tostring | [match(".{1,3}(?=(.{3})*$)"; "g").string] | join(",");
def sec: if . < 0.0995 then digits(4) elif . < 9.95 then digits(2) else digits(1) end;
def mib: if . < 9.95 then digits(1) else digits(0) end;
def times: if . < 9.95 then digits(1) else big end | . + "x";
def any_size: if . >= 1000 then big else sec end;

# ---- tables ----

def table_weft:
	["fabric", "hosts", "switches", "LIDs", "fera s, 1 thread", "2 threads",
	 "verifier s, 1 thread", "2 threads", "MiB", "bring-up s", "MiB", "SMPs", "simulated s"],
	(.weft[] | [.tree, (.hosts | big), (.switches | big), (.lids | big), (.one.route_s | sec),
	 (.two.route_s | sec), (.one.verify_s | sec), (.two.verify_s | sec), (.two.rss_mib | mib),
	 (.up.up_s | sec), (.up.rss_mib | mib), (.up.smps.total | big), (.up.simulated_s | sec)])
	| @tsv;

def cost($a; $b): ($a / $b) | digits(2);

def table_costs:
	["fabric", "table entries", "fera ns/entry", "verifier ns/entry", "their B/entry", "SMPs",
	 "bring-up us/SMP", "bring-up B/entry", "events", "ns/event", "M events/s"],
	(.weft[] | (.switches * .lids) as $e
	 | [.tree, ($e | big), cost(.one.route_s * 1e9; $e), cost(.one.verify_s * 1e9; $e),
	    cost(.one.rss_mib * 1048576; $e), (.up.smps.total | big),
	    cost(.up.up_s * 1e6; .up.smps.total), cost(.up.rss_mib * 1048576; $e),
	    (.up.events | big), cost(.up.up_s * 1e9; .up.events), cost(.up.events / 1e6; .up.up_s)])
	| @tsv;

def step($a; $b; $by): ($b / $a / $by) | digits(2);

def table_steps:
	["from -> to", "LIDs x", "entries x", "fera / entries", "verifier / entries", "SMPs x",
	 "bring-up / SMPs", "bring-up MiB / entries"],
	(.weft as $w | range(1; $w | length) | $w[. - 1] as $a | $w[.] as $b
	 | (($b.switches * $b.lids) / ($a.switches * $a.lids)) as $e
	 | ($b.up.smps.total / $a.up.smps.total) as $s
	 | ["\($a.hosts | big) -> \($b.hosts | big) hosts", ($b.lids / $a.lids | digits(2)),
	    ($e | digits(2)), step($a.one.route_s; $b.one.route_s; $e),
	    step($a.one.verify_s; $b.one.verify_s; $e), ($s | digits(2)),
	    step($a.up.up_s; $b.up.up_s; $s), step($a.up.rss_mib; $b.up.rss_mib; $e)])
	| @tsv;

def weft_of($all; $name): $all.weft[] | select(.name == $name);

def table_opensm_routes:
	. as $all
	| ["hosts", "OpenSM engine", "routes s", "Weft fera s, 1 thread", "ratio", "SMPs",
	   "without P_Key reads", "Weft SMPs", "ratio", "ratio without P_Key"],
	(.opensm[] | weft_of($all; .name) as $w | (.smps - (.mix["Get(P_KeyTable)"] // 0)) as $less
	 | [($w.hosts | big), .engine, (.route_s | sec), ($w.one.route_s | sec),
	    (.route_s / $w.one.route_s | times), (.smps | big), ($less | big),
	    ($w.up.smps.total | big), cost(.smps; $w.up.smps.total), cost($less; $w.up.smps.total)])
	| @tsv;

def table_opensm_up:
	. as $all
	| ["hosts", "OpenSM engine", "SUBNET UP s, real", "its CPU s", "MiB, ibsim not counted",
	   "Weft simulation, wall s", "MiB, fabric counted"],
	(.opensm[] | weft_of($all; .name) as $w
	 | [($w.hosts | big), .engine, (.up_s | sec), (.cpu_s | sec), (.rss_mib | mib),
	    ($w.up.up_s | sec), ($w.up.rss_mib | mib)])
	| @tsv;

def table_mix:
	. as $all | .opensm[-1] | weft_of($all; .name).up.smps as $w
	| (.mix | to_entries | sort_by(-.value)) as $o
	| ($w | to_entries | map(select(.value > 0 and .key != "total"))) as $p
	| ["OpenSM sends", "SMPs", "Weft sends for", "SMPs"],
	(range([$o, $p | length] | max) as $i
	 | [$o[$i].key // "", ($o[$i].value // null | if . then big else "" end),
	    $p[$i].key // "", ($p[$i].value // null | if . then big else "" end)])
	| @tsv;

def table_targets:
	["target, 36-port 3-tree", "at most", "measured", "verdict"],
	(.targets[] | [.what, (.limit | any_size), (.measured | any_size),
	 (if .ok then "met" else "MISSED" end)])
	| @tsv;

# ---- sentences ----

def machine_line:
	"\(.cpu), \(.cores) cores, \(.memory_mib) MiB, \(.kernel); \(.compiler); \(.weft)";

def instructions_line:
	.callgrind | select(.)
	| "Instructions on the 8-port 3-tree (128 hosts), which a busy machine does not change: " +
	  "route compute \(.route | big); sim up \(.up | big), of them \(.up / .events | round) " +
	  "an event and \(.sm_step / .sm_steps | round) a step of the manager.";
