# SPDX-License-Identifier: BSD-2-Clause
# What bench/mechanisms.sh says of its records.

# 1234567 -> "1,234,567"
def commas: tostring | explode | reverse | [range(0; length) as $i |
	(if $i > 0 and $i % 3 == 0 then 44 else empty end), .[$i]] | reverse | implode;

# Three significant digits, more only in front of the point.
def short:
	if . == 0 then "0"
	elif . >= 100 then round | commas
	elif . >= 10 then . * 10 | round / 10 | tostring
	elif . >= 1 then . * 100 | round / 100 | tostring
	else . * 1000 | round / 1000 | tostring end;

def ms: . * 1000 | short;
def ratio($a; $b): if $b == 0 then (if $a == 0 then "-" else "inf" end) else $a / $b | short end;

def with_sd($key): "\(getpath(["mean"] + $key) | short) ± \(getpath(["sd"] + $key) | short)";
def with_sd_ms($key): "\(getpath(["mean"] + $key) | ms) ± \(getpath(["sd"] + $key) | ms)";

# From the detection until the first tables of the change were in all switches; where traps that went
# astray start more rounds, the last of them counts.
def usable_key: if .mean.time_s.provisional > 0 then "provisional" else "final" end;
def usable_s: .mean.time_s[usable_key];

# Deactivation of ports or turns, tables, activation: all that the thesis calls distribution.
def spread_s: .mean.time_s | .distribution + .configuration + .activation + .audit;

def rows($head; f): ($head | join("\t")), (.[] | [f] | join("\t"));

def packets: .mean.packets != null;
def cause($c): if packets then .mean.discarded[$c] | short else "-" end;
def lost_cell: if packets then with_sd(["packets", "lost"]) else "-" end;

# How long not all pairs of hosts that cables connect reached each other, in all.
def cut_cell: if packets then with_sd_ms(["connectivity_below_s"]) else "-" end;

def steps_table: rows(["mechanism", "detected ms", "discovery ms", "computation ms", "distribution ms",
	"tables in place ms", "cut off ms", "SMPs", "lost", "at most", "inactive port", "deactivated", "turn off", "turned back", "unroutable",
	"cleared", "futile"];
	.label, (.mean.time_s.detection | ms), with_sd_ms(["time_s", "discovery"]),
	with_sd_ms(["time_s", "computation"]), (spread_s | ms), with_sd_ms(["time_s", usable_key]), cut_cell,
	with_sd(["smps", "total"]), lost_cell, (if packets then .lost_most | commas else "-" end),
	cause("inactive_port"), cause("deactivated_port"), cause("unmappable"), cause("turned_back"),
	cause("unroutable"), cause("cleared"), (if packets then .mean.packets.futile | short else "-" end));

# One row a mechanism, activation and deactivation side by side.
def pairs_table: group_by(.order) | rows(["weft, but", "activation: cut off ms", "SMPs", "lost", "at most",
	"deactivation: cut off ms", "SMPs", "lost", "at most"];
	(.[0].label),
	((map(select(.how == "activation")), map(select(.how == "deactivation"))) | .[0] |
		cut_cell, (.mean.smps.total | short), lost_cell,
		(if packets then .lost_most | commas else "-" end)));

def numbered: to_entries | map(.value + {order: .key});
# Rows of one label carry the number of its first.
def ordered: numbered | [.[] as $x | $x + {order: (map(select(.label == $x.label)) | .[0].order)}];

def csv_head: ["table", "fabric", "cpu", "load_percent", "packets_s_host", "change", "mechanism", "options", "runs", "failed",
	"detection_s", "discovery_s", "discovery_s_sd", "computation_s", "computation_s_sd", "distribution_s",
	"in_place_s", "in_place_s_sd", "final_s", "cut_off_s", "cut_off_s_sd", "total_s", "smps", "smps_sd", "lost", "lost_sd", "lost_most",
	"futile", "inactive_port", "deactivated_port", "unmappable", "turned_back", "unroutable", "cleared"];
def csv_row: [.table, .fabric, .cpu, .share, .rate, .how, .label, .options, .runs, .failed,
	.mean.time_s.detection, .mean.time_s.discovery, .sd.time_s.discovery, .mean.time_s.computation,
	.sd.time_s.computation, spread_s, usable_s, .sd.time_s[usable_key], .mean.time_s.final,
	.mean.connectivity_below_s, .sd.connectivity_below_s, .mean.time_s.total,
	.mean.smps.total, .sd.smps.total, .mean.packets.lost, .sd.packets.lost, .lost_most, .mean.packets.futile,
	.mean.discarded.inactive_port, .mean.discarded.deactivated_port, .mean.discarded.unmappable,
	.mean.discarded.turned_back, .mean.discarded.unroutable, .mean.discarded.cleared];
def csv_all: (csv_head | @csv), (.[] | csv_row | @csv);
