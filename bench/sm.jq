# SPDX-License-Identifier: BSD-2-Clause
# Runs of managers in real time as tables. Rows come out as tab-separated words.

def digits($n): . * pow(10; $n) | round | tostring
	| if length <= $n then ("0" * ($n + 1 - length)) + . else . end
	| if $n > 0 then .[:-$n] + "." + .[-$n:] else . end;
def big: round | tostring | [match(".{1,3}(?=(.{3})*$)"; "g").string] | join(",");
def sec: if . < 0.0995 then digits(4) elif . < 9.95 then digits(2) else digits(1) end;
def mib: if . < 9.95 then digits(1) else digits(0) end;
def one_to: "1 : " + if . < 9.95 then digits(1) else big end;
def or_dash(f): if . == null then "-" else f end;
def fabric_title: {t36_2: "36-port 2-tree, 648 hosts", t24_3: "24-port 3-tree, 3,456 hosts",
	t36_3: "36-port 3-tree, 11,664 hosts"}[.] // .;
def server_title: {ibsim: "ibsim", weft: "weft fabric"}[.];
def in_order: reduce .[] as $x ([]; if index([$x]) then . else . + [$x] end)
	| [.[] | select(.fabric == "t36_2")] + [.[] | select(.fabric == "t24_3")]
	  + [.[] | select(.fabric != "t36_2" and .fabric != "t24_3")];

# The meter's text: since_us N, then METHOD ATTRIBUTE COUNT FIRST LAST.
def change:
	[split("\n")[] | select(length > 0) | split(" ")] as $rows
	| [$rows[] | select(length == 5) | {method: .[0], attr: .[1], n: (.[2] | tonumber), last: (.[4] | tonumber)}] as $m
	| [$m[] | select(.method == "Set" and .attr == "LinearForwardingTable")] as $lft
	| {smps: ([$m[].n] | add // 0), lft: ([$lft[].n] | add // 0), tables_us: ([$lft[].last] | max),
	   last_set_us: ([$m[] | select(.method == "Set").last] | max),
	   mix: ($m | map({key: "\(.method)(\(.attr))", value: .n}) | from_entries)};

# All rows as one array from here on.

def ups: [.[] | select(.kind == "up")];
def median: sort_by(.up_s) | .[(length - 1) / 2 | floor];
def runs_of($f; $s; $m; $w; $state): [ups[] | select(.fabric == $f and .server == $s and .manager == $m
	and .window == $w and .state == $state and (.failed | not))];
def colds($f; $s; $m; $w): runs_of($f; $s; $m; $w; "cold");
def windows($f; $s; $m): [ups[] | select(.fabric == $f and .server == $s and .manager == $m).window] | unique;
# Of the medians the quickest; null: none came up
def best($f; $s; $m): . as $all
	| [windows($f; $s; $m)[] as $w | $all | colds($f; $s; $m; $w) | select(length > 0) | median] | min_by(.up_s);

def manager_title: if .manager == "opensm" then "OpenSM" else "weft sm" end
	+ (if .state == "warm" then ", warm" else "" end);
def window_title: if . == 0 then "no limit" else tostring end;

def table_up:
	["fabric", "server", "window", "manager", "up s", "SMPs", "CPU s", "server's CPU s", "MiB"],
	(ups[] | [(.fabric | fabric_title), (.server | server_title), (.window | window_title), manager_title]
		+ if .failed then ["failed", "", "", "", ""]
		  else [(.up_s | sec), (.smps | big), (.cpu_s | sec), (.server_cpu_s | sec), (.rss_mib | mib)] end) | @tsv;

def ratio_row($f; $s; $title; $o; $w; $ow; $ww):
	[($f | fabric_title), ($s | server_title), $title, ($o.up_s | or_dash(sec)), ($w.up_s | or_dash(sec)),
	 (if $o and $w then $o.up_s / $w.up_s | one_to else "-" end),
	 ($o.smps | or_dash(big)), ($w.smps | or_dash(big)), ($o.rss_mib | or_dash(mib)), ($w.rss_mib | or_dash(mib)),
	 (if $ow then "\($ow.up_s | sec) / \($ow.smps | big)" else "" end),
	 (if $ww then "\($ww.up_s | sec) / \($ww.smps | big)" else "" end)];

# Each window that both were given on every fabric, then the best of each.
def table_ratio: . as $all
	| ["fabric", "server", "window", "OpenSM s", "weft s", "weft : OpenSM", "SMPs: OpenSM", "weft", "MiB: OpenSM", "weft",
	   "warm, s / SMPs: OpenSM", "weft"],
	  ([ups[] | {fabric, server}] | in_order[] | .fabric as $f | .server as $s | $all
	   | ((4, 64) as $win | (colds($f; $s; "opensm"; $win) | median) as $o | (colds($f; $s; "weft"; $win) | median) as $w
	      | select($o or $w)
	      | ratio_row($f; $s; ($win | tostring); $o; $w;
			  (runs_of($f; $s; "opensm"; $win; "warm") | median); (runs_of($f; $s; "weft"; $win; "warm") | median))),
	     (best($f; $s; "opensm") as $o | best($f; $s; "weft") as $w | select($o and $w)
	      | ratio_row($f; $s; "best: \($o.window | window_title), \($w.window)"; $o; $w; null; null))) | @tsv;

def table_windows: . as $all
	| ["fabric", "server", "window", "OpenSM s", "weft s"],
	  ([ups[] | {fabric, server}] | in_order[] | .fabric as $f | .server as $s | $all
	   | select([windows($f; $s; "opensm", "weft")[]] | unique | length > 4)
	   | ([windows($f; $s; "opensm", "weft")[]] | unique[]) as $win
	   | [($f | fabric_title), ($s | server_title), ($win | window_title)]
	     + [("opensm", "weft") as $m
		| (colds($f; $s; $m; $win) | median | .up_s) as $t
		| if $t then $t | sec
		  elif any(ups[]; .fabric == $f and .server == $s and .manager == $m and .window == $win) then "failed"
		  else "" end]) | @tsv;

def cell: if . == null then "" elif .failed then "failed"
	else (.tables_us | or_dash(. / 1e6 | sec)) + " / " + (.smps | big) end;

def table_changes:
	[.[] | select(.kind == "change")] as $c
	| ["fabric", "event", "basic s / SMPs", "improved", "weft", "OpenSM", "weft : OpenSM, time", "SMPs"],
	  ([$c[] | {fabric, event}] | in_order[]
	   | . as $k
	   | ([$c[] | select(.fabric == $k.fabric and .event == $k.event) | {key: .manager, value: .}] | from_entries) as $m
	   | [($k.fabric | fabric_title), $k.event, ($m.basic | cell), ($m.improved | cell), ($m.weft | cell),
	      ($m.OpenSM | cell),
	      (if $m.OpenSM.tables_us and $m.weft.tables_us then $m.OpenSM.tables_us / $m.weft.tables_us | one_to else "-" end),
	      (if $m.OpenSM.smps and ($m.weft.smps // 0) > 0 then $m.OpenSM.smps / $m.weft.smps | one_to else "-" end)]) | @tsv;

def failures: [.[] | select(.failed)] | if length > 0 then "\nRuns that failed:\n",
	(.[] | "* \(.fabric)\(if .server then ", " + .server else "" end), \(.manager)\(if .window then ", window \(.window)" else "" end)\(if .event then ", " + .event else "" end): \(.failed)") else empty end;
