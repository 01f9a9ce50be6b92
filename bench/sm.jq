# SPDX-License-Identifier: BSD-2-Clause
# Runs of managers in real time as tables. Rows come out as tab-separated words.

def digits($n): . * pow(10; $n) | round | tostring
	| if length <= $n then ("0" * ($n + 1 - length)) + . else . end
	| if $n > 0 then .[:-$n] + "." + .[-$n:] else . end;
def big: round | tostring | [match(".{1,3}(?=(.{3})*$)"; "g").string] | join(",");
def sec: if . < 0.0995 then digits(4) elif . < 9.95 then digits(2) else digits(1) end;
def mib: if . < 9.95 then digits(1) else digits(0) end;
def ratio: if . < 0.0995 then digits(4) else digits(2) end;
def fabric_title: {t36_2: "36-port 2-tree, 648 hosts", t24_3: "24-port 3-tree, 3,456 hosts",
	t36_3: "36-port 3-tree, 11,664 hosts"}[.] // .;
def server_title: {ibsim: "ibsim", weft: "weft fabric"}[.];

# The meter's text: since_us N, then METHOD ATTRIBUTE COUNT FIRST LAST.
def change($fabric; $manager; $event):
	[split("\n")[] | select(length > 0) | split(" ")] as $rows
	| [$rows[] | select(length == 5) | {method: .[0], attr: .[1], n: (.[2] | tonumber), last: (.[4] | tonumber)}] as $m
	| {fabric: $fabric, manager: $manager, event: $event, smps: ([$m[].n] | add // 0),
	   lft: ([$m[] | select(.method == "Set" and .attr == "LinearForwardingTable").n] | add // 0),
	   tables_us: ([$m[] | select(.method == "Set" and .attr == "LinearForwardingTable").last] | max),
	   last_set_us: ([$m[] | select(.method == "Set").last] | max),
	   mix: ($m | map({key: "\(.method)(\(.attr))", value: .n}) | from_entries)};

def manager_title: if .manager == "opensm" then "OpenSM" else "weft sm" end
	+ (if .state == "warm" then ", warm" else "" end);

def table_up:
	["fabric", "server", "window", "manager", "up s", "SMPs", "CPU s", "server's CPU s", "MiB"],
	(.up[] | [(.fabric | fabric_title), (.server | server_title), (.window | tostring), manager_title,
		(.up_s | sec), (.smps | big), (.cpu_s | sec), (.server_cpu_s | sec), (.rss_mib | mib)]) | @tsv;

def table_ratio:
	.up as $up
	| ["fabric", "server", "window", "OpenSM s", "weft s", "ratio", "SMPs: OpenSM", "weft", "ratio",
	   "MiB: OpenSM", "weft", "warm weft: s", "SMPs"],
	  ($up[] | select(.manager == "weft" and .state == "cold") as $w
	   | ([$up[] | select(.manager == "opensm" and .fabric == $w.fabric and .server == $w.server and .window == $w.window)][0]) as $o
	   | ([$up[] | select(.state == "warm" and .fabric == $w.fabric and .server == $w.server and .window == $w.window)][0]) as $r
	   | select($o)
	   | [($w.fabric | fabric_title), ($w.server | server_title), ($w.window | tostring), ($o.up_s | sec),
	      ($w.up_s | sec), ($w.up_s / $o.up_s | ratio), ($o.smps | big), ($w.smps | big),
	      ($w.smps / $o.smps | ratio), ($o.rss_mib | mib), ($w.rss_mib | mib),
	      (if $r then ($r.up_s | sec) else "-" end), (if $r then ($r.smps | big) else "-" end)]) | @tsv;

def cell: if . then (if .tables_us then (.tables_us / 1e6 | sec) else "-" end) + " / " + (.smps | big) else "" end;

def table_changes:
	.changes as $c
	| ["fabric", "event", "basic s / SMPs", "improved", "weft", "OpenSM", "weft : OpenSM, time", "SMPs"],
	  ([$c[] | {fabric, event}] | reduce .[] as $x ([]; if index([$x]) then . else . + [$x] end) | .[]
	   | . as $k
	   | ([$c[] | select(.fabric == $k.fabric and .event == $k.event) | {key: .manager, value: .}] | from_entries) as $m
	   | [($k.fabric | fabric_title), $k.event, ($m.basic | cell), ($m.improved | cell), ($m.weft | cell),
	      ($m.OpenSM | cell),
	      (if $m.OpenSM.tables_us and $m.weft.tables_us then "1 : " + ($m.OpenSM.tables_us / $m.weft.tables_us | big) else "-" end),
	      (if $m.OpenSM and $m.weft.smps > 0 then "1 : " + ($m.OpenSM.smps / $m.weft.smps | digits(1)) else "-" end)]) | @tsv;
