#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The built program, as TAP: tests/cli/run.sh PATH/TO/weft
#
# The test reads the program's own list of commands (weft help --json), so a new command is tested as soon as
# it is listed; only the arguments for its JSON output are written here (see runs).
#
# Covers: weft.c, cmd_topo_gen.c, cmd_topo_show.c, cmd_topo_check.c, cmd_topo_diff.c, cmd_topo_draw.c,
# topo_output.c, cmd_route_compute.c, cmd_route_verify.c, cmd_route_update.c, cmd_route_migrate.c, cmd_route_churn.c, route_report.c, route_dumps.c, cmd_route_quality.c, quality_report.c, quality_json.c, host_groups.c, cmd_sim.c, cmd_sim_run.c,
# cmd_sim_trial.c, cmd_sm.c, print_phases.c, sim_report.c, sim_report_json.c, change_report.c, each_switch_report.c, swarm_report.c, replay_report.c, replay_drawing.c, managers_report.c, cmd_sim_failures.c, load_opts.c, group_opts.c, load_report.c, load_series.c,
# load_usage.c, load_watch.c, capture.c, flap_opts.c, rft_opts.c, manager_opts.c, setting_opts.c,
# cmd_sim_change.c, cmd_sim_up.c, cmd_sim_migrate.c, cmd_sim_storm.c, cmd_topo_expand.c, report_opts.c, profile_opts.c, thesis_report.c,
# completion_shells.c, man_config.c
#
# shellcheck disable=SC2015,SC2016,SC2317 # `a && b || explain`, other programs' variables, ok calls
set -u

# As an absolute path, because the tests run in a directory of their own.
bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
pages=$(dirname "$bin")
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n=0

# ok NAME COMMAND...: the case passes when the command succeeds; what it printed explains a failure
ok()
{
	name=$1
	shift
	n=$((n + 1))
	if "$@" > said 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' said >&2 # Meson shows what a failed test said there
	fi
}

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# plain_only NAME COMMAND...: as ok; not run under sanitizers
plain_only()
{
	if [ "${WEFT_SANITIZED:-0}" = 0 ]; then
		ok "$@"
	else
		skip "$1" "takes long under sanitizers: in the plain run"
	fi
}

# status WANTED COMMAND...: the command ends with this status
status()
{
	want=$1
	shift
	"$@"
	got=$?
	[ $got -eq "$want" ] || { echo "status $got, expected $want: $*" && false; }
}

if ! command -v jq > /dev/null; then
	echo "1..0 # SKIP jq is not installed"
	exit 0
fi

# ---- the table ----

ok "the table is JSON" sh -c '"$1" help --json > table && jq -e ".commands | length > 0" table' sh "$bin"
jq -r '.commands[].name' table > names

table_is_sound()
{
	jq -e '[.commands[] | select((.summary | length) == 0 or (.examples | length) == 0
		or .min_args > .max_args)] == []' table || { echo "no summary, no example or arguments mixed up" && false; }
	# An option that is there twice could never be reached.
	jq -e '[.commands[].options | (map(.name) | length != (unique | length)),
		(map(.letter | values) | length != (unique | length))] | any | not' table
}
ok "every command has a summary, examples and options of its own name" table_is_sound

# ---- help ----

help_is_whole()
{
	# shellcheck disable=SC2086 # the name is one or two words
	"$bin" $1 --help > text || return 1
	jq -r --arg c "$1" '.commands[] | select(.name == $c) | .options[] |
		"--" + .name, (.letter | values | "-" + . + ", ")' table > want
	while IFS= read -r w; do
		grep -qF -e "$w" text || { echo "$1 --help does not mention '$w'" && return 1; }
	done < want
	# shellcheck disable=SC2086
	"$bin" help $1 | cmp - text
}

unknown_option()
{
	# shellcheck disable=SC2086
	"$bin" $1 --no-such-option > out 2> err
	[ $? -eq 2 ] && [ ! -s out ] && grep -qxF \
		"weft $1: unknown option '--no-such-option' (see 'weft $1 --help')" err || { cat err && false; }
}

# Each weft in the line is only parsed; other programs are not run, files land in $dir.
examples_parse()
{
	jq -r --arg c "$1" '.commands[] | select(.name == $c) | .examples[]' table > lines
	while IFS= read -r line; do
		rm -f calls
		(
			weft()
			{
				echo call >> calls
				"$bin" help --parse-only -- "$@" >> calls 2>&1 || echo REFUSED >> calls
			}
			# shellcheck disable=SC2123 # on purpose: nothing else is to run
			PATH=
			eval "$line"
		) > /dev/null 2>&1 < /dev/null
		if [ ! -e calls ] || grep -q REFUSED calls; then
			echo "example does not parse: $line" && cat calls
			return 1
		fi
	done < lines
}

while IFS= read -r c; do
	ok "$c: help mentions every option" help_is_whole "$c"
	ok "$c: an unknown option gives status 2" unknown_option "$c"
	ok "$c: examples parse" examples_parse "$c"
done < names

overview()
{
	"$bin" > bare && "$bin" --help | cmp - bare && "$bin" help | cmp - bare || return 1
	while IFS= read -r c; do
		grep -q "^  $c  " bare || { echo "not in the overview: $c" && return 1; }
	done < names
	[ "$(sed -n '/^examples:/,/^$/p' bare | grep -c '^  weft ')" -eq 3 ]
}
ok "the overview names every command and shows three examples" overview

groups()
{
	# shellcheck disable=SC2013 # one word a line
	for g in $(sed -n 's/ .*//p' names | uniq); do
		"$bin" "$g" > out && "$bin" "$g" --help | cmp - out && "$bin" help "$g" | cmp - out || return 1
		grep "^$g " names > want
		while IFS= read -r c; do
			grep -q "^  $c  " out || return 1
		done < want
	done
}
ok "a group lists its commands" groups

says()
{
	text=$1
	shift
	"$@" > out 2>&1
	grep -qF -e "$text" out || { echo "expected: $text" && cat out && false; }
}
ok "--version" says "weft $(jq -r .version table)" "$bin" --version
ok "an unknown command gives status 2" status 2 "$bin" frobnicate
ok "an unknown command of a group gives status 2" status 2 "$bin" topo frobnicate
ok "an unknown program option gives status 2" status 2 "$bin" --frobnicate
ok "a near miss is answered with the right command" says "did you mean 'topo gen'?" "$bin" topo gne
ok "a command without its group is answered too" says "did you mean 'topo gen'?" "$bin" gen
ok "a near miss of an option" says "did you mean '--json'?" "$bin" help --jsno

# ---- results that do not arrive ----

into_full()
{
	while IFS= read -r c; do
		# shellcheck disable=SC2086
		"$bin" $c --help > /dev/full 2> err
		[ $? -eq 2 ] && grep -q 'standard output: No space' err || { echo "$c" && cat err && return 1; }
	done < names
}
if [ -e /dev/full ]; then
	ok "a full disk gives a message and status 2" into_full
else
	skip "a full disk gives a message and status 2" "no /dev/full"
fi

into_nothing()
{
	"$bin" help >&- 2> err
	[ $? -eq 2 ] && grep -q 'standard output: ' err
}
ok "a closed standard output gives a message and status 2" into_nothing

broken_pipe()
{
	{
		sleep 0.2
		"$bin" man 2> err
		echo $? > rc
	} | true
	[ "$(cat rc)" = 2 ] && grep -q 'standard output: Broken pipe' err
}
ok "a closed pipe gives a message and status 2" broken_pipe

# ---- man pages ----

page_is_clean()
{
	# shellcheck disable=SC2086
	"$bin" man $1 > page || return 1
	grep -q '^\.TH ' page && grep -q '^\.SH SYNOPSIS' page || return 1
	command -v groff > /dev/null || return 0
	groff -man -ww -Tutf8 page > shown 2> err && [ -s shown ] && [ ! -s err ] || { cat err && false; }
}

pages_are_clean()
{
	page_is_clean "" || return 1
	while IFS= read -r c; do
		page_is_clean "$c" || { echo "page of $c" && return 1; }
	done < names
}
plain_only "man pages are clean" pages_are_clean

pages_are_built()
{
	"$bin" man | cmp - "$pages/weft.1" || return 1
	while IFS= read -r c; do
		file=weft-$(echo "$c" | tr ' ' '-').1
		"$bin" man "$c" | cmp - "$pages/$file" || return 1
	done < names
}
plain_only "the build makes a page of every command" pages_are_built

# ---- completion ----

# all_complete: for each line of `cases`, a line of a shell and, after a tab, the words that bash would offer behind it; a blank at the
# end starts a word. One bash for all of them.
all_complete()
{
	# shellcheck disable=SC2016 # bash's variables
	bash -c '
		source "$1"
		while IFS=$(printf "\t") read -r line want; do
			read -ra COMP_WORDS <<< "$line"
			[[ $line == *" " ]] && COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			COMPREPLY=()
			_weft < /dev/null
			[ "${COMPREPLY[*]}" = "$want" ] || { echo "\"$line\" offers \"${COMPREPLY[*]}\", expected \"$want\"" && exit 1; }
			n=$((n + 1))
		done
		[ "$n" = "$2" ]' bash "$dir/weft.bash" "$(wc -l < cases)" < cases
}

completion_follows_table()
{
	jq -r --rawfile names names '.commands[] | .name as $c | select($names | split("\n") | index($c)) |
		($c | select(contains(" ")) | ["weft " + $c, (split(" ")[1:] | join(" "))]),
		["weft " + $c + " -", ([.options[] | "--" + .name, (.letter | values | "-" + .)] | join(" "))],
		(.options[] | select(.choices) | ("", "= ") as $sign | ["weft \($c) --\(.name) \($sign)", (.choices | join(" "))]) |
		join("\t")' table > cases
	[ "$(wc -l < cases)" -gt 100 ] && all_complete
}

completion_of_words()
{
	tr '>' '\t' > cases <<- 'END'
		weft rou>route
		weft topo ge>gen
		weft ctl sta>status
		weft help topo ge>gen
		weft man topo ge>gen
		weft --v>--version
		weft topo show fil>file one.txt
	END
	touch "file one.txt" && all_complete
}

"$bin" completion bash > weft.bash
if command -v bash > /dev/null; then
	plain_only "completion offers what the table holds" completion_follows_table
	ok "completion of words and files" completion_of_words
	ok "the build makes the completion" cmp weft.bash "$pages/completions/weft"
else
	skip "completion offers what the table holds" "no bash"
	skip "completion of words and files" "no bash"
	skip "the build makes the completion" "no bash"
fi
"$bin" completion zsh > weft.zsh
"$bin" completion fish > weft.fish
if command -v zsh > /dev/null; then
	ok "completion for zsh" zsh -n weft.zsh
else
	skip "completion for zsh" "no zsh"
fi
# in_fish LINE WORD: what fish offers after this line has this word
in_fish()
{
	fish --no-config -c "source weft.fish; complete -C '$1'" > out 2>&1
	grep -q -e "^$2" out || { cat out && false; }
}
if command -v fish > /dev/null; then
	ok "completion for fish: commands" in_fish 'weft topo ' 'gen'
	ok "completion for fish: options" in_fish 'weft sm --log-l' '--log-level'
	ok "completion for fish: choices" in_fish 'weft sm --log-level ' 'debug'
	ok "completion for fish: words" in_fish 'weft ctl rel' 'reload'
else
	skip "completion for fish" "no fish"
fi
config_page()
{
	"$bin" man weft.yaml > weft.yaml.5 || return 1
	[ "$(grep -c '^\.TP' weft.yaml.5)" -gt 80 ] && grep -q '^\.B metrics' weft.yaml.5 || grep -q '^\.SS metrics' weft.yaml.5 || return 1
	command -v groff > /dev/null || return 0
	groff -man -ww -z weft.yaml.5 2> err && [ ! -s err ] || { cat err && false; }
}
ok "weft.yaml(5) has every setting" config_page

# ---- JSON ----

# How to run each command in an instant, one behind the other: net.txt is a small fabric, smp.hex a
# packet. "!": has no JSON form and must say so.
printf 'sm_priority 3\nlmc 1\nno_such_key 5\n' > opensm.conf

runs()
{
	cat << 'END'
help
man
man topo gen
completion bash
topo gen
topo gen irregular 8 --hosts 6 --seed 7 -o net.txt
topo show net.txt
topo check net.txt
topo diff net.txt net.txt
topo dot net.txt -o net.dot
topo expand net.txt -o wire.txt
!topo expand net.txt
topo svg net.txt -o net.svg
topo slurm net.txt
!topo svg net.txt
route compute net.txt --lfts net.lfts --sls net.sls --sl2vl net.sl2vl
route verify net.txt net.lfts --sls net.sls --sl2vl net.sl2vl
route compute net.txt --engine pira --root centre --directions dfs --lfts pira.lfts
route verify net.txt pira.lfts --root centre --directions dfs
topo gen mtree 4 2 -o two.txt
route compute two.txt --engine tree --lfts tree.lfts
route verify two.txt tree.lfts
sim up two.txt --routes tree
sim change two.txt --routes tree --kill S-0002000000000006
sim up net.txt --routes tree
route quality net.txt --patterns 10 --svg quality.svg
route quality net.txt net.lfts --sls net.sls --sl2vl net.sl2vl --against pira.lfts --hosts host* --spread
route update two.txt --engine tree --without S-0002000000000006
config from-opensm opensm.conf
route update net.txt --without S-0002000000000002
route migrate net.txt --random 5 --scheme dynamic --verify
route migrate net.txt --random 5 --vfs 2 --engine pira --classes
route churn net.txt --vfs 4 --events 50 --defragment 25 --verify
sim demo
sim up net.txt
sim up net.txt --routes pira --root centre
sim up net.txt --routes pira --rft all:64
sim up net.txt --flap S-0002000000000003:1 --flap-times 2 --damping-changes 5
sim up net.txt --sm S-0002000000000003:4 --sm S-0002000000000004:9@10ms
sim change net.txt --kill S-0002000000000005 --rft all --rft S-0002000000000003:32
sim change net.txt --kill S-0002000000000005
sim change net.txt --kill S-0002000000000005 --load 5% --mtu 2048 --warmup 100us --tail 100us --svg change.svg
sim change net.txt --rate 10000 --each-switch activation --detection traps
sim change net.txt --each-switch deactivation --profile thesis --mechanism improved
sim run net.txt --rate 10000 --links --profile thesis --on-at 0s --traffic-at 1s --duration 1ms --warmup 0s
sim failures net.txt --switches 2 --links 2
sim migrate net.txt --vfs 2 --count 2
sim storm net.txt --vfs 2 --vms 4 --within 1ms
sim trial --change --max-switches 4
sim trial --max-switches 4
sim trial --swarm --seed 2 --managers 2
sim trial --replay two.schedule --svg two.svg
sim run net.txt --load 10% --duration 200us
sim run net.txt --load 50% --of-saturation --duration 100us
sim run net.txt --load 10% --duration 200us --nodes --links --discards
sim run net.txt --load 10% --duration 200us --series 20us --levels --series-csv run.csv --series-svg run.svg
sim run net.txt --load 10% --duration 200us --series 50us --node-series nodes.csv --link-series links.csv
sim saturate net.txt --points 2 --svg curve.svg
sim saturate net.txt net.txt --points 1 --warmup 10us --duration 500us
lab list
lab show thesis-discovery
lab check
lab run thesis-discovery --quick --db lab.db
lab compare --db lab.db
lab report thesis-discovery --db lab.db -o pages
lab export thesis-discovery --db lab.db -o data
lab slurm thesis-discovery --quick -o lab.sbatch
!lab slurm thesis-discovery --quick
lab merge --db merged.db lab.db
lab run vswitch-cost --only hosts=324 --db vswitch.db
lab run vswitch-engines --only hosts=324 --resume --db vswitch.db
lab run vswitch-traffic --only method=shared --only load=25 --only migrations=1 --resume --db vswitch.db
model fattree 4 2
mad decode smp.hex
END
}
printf '%s\n' 'fabric ring 4' 'manager S-0002000000000001' 'manager S-0002000000000003' 'at 60ms pause 0' \
	'at 70ms continue 0' > two.schedule
# SubnGet(NodeInfo), routed by LID
awk 'BEGIN { printf "01010101"; for (i = 4; i < 256; i++) printf i == 17 ? "11" : "00" }' > smp.hex

is_json()
{
	# shellcheck disable=SC2086
	"$bin" ${1#!} --json > out 2> err
	got=$?
	if [ "${1#!}" != "$1" ]; then
		[ $got -eq 2 ] && [ ! -s out ] && grep -q JSON err || { cat out err && false; }
		return
	fi
	[ $got -eq 0 ] || { echo "status $got" && cat err && return 1; }
	jq -e . out > /dev/null && [ "$(jq -s length out)" -eq 1 ]
}

runs > lines
while IFS= read -r line; do
	case $line in # jobs are processes; tests/cli/lab.sh runs some under sanitizers
	'lab check' | 'lab run vswitch-'* | 'sim saturate net.txt net.txt'*) check=plain_only ;;
	*) check=ok ;;
	esac
	$check "valid JSON: weft $line" is_json "$line"
done < lines

# The three forms of a run's statistics say the same.
columns()
{
	awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
		{ sum += $c } END { if (!c) exit 1; printf "%d\n", sum }' "$1"
}
statistics_agree()
{
	"$bin" sim run net.txt --load 30% --warmup 0us --duration 200us --nodes --links --series 50us \
		--series-csv run.csv --series-svg run.svg --node-series nodes.csv --link-series links.csv \
		--json > out || return 1
	[ "$(wc -l < run.csv)" -eq 5 ] || return 1
	jq -e '.packets.sent == ([.nodes.hosts[].generated] | add)
		and .packets.received == ([.nodes.hosts[].received] | add)
		and .packet_hops == ([.links[].lanes[].packets] | add)
		and .packet_hops == ([.nodes.hosts[].sent, .nodes.switches[].forwarded] | add)
		and .packets.sent == ([.series[].generated] | add)
		and .smps.total == ([.smps | to_entries[] | select(.key != "total").value] | add)
		and ([.links[] | .use + .wait <= 1.00001] | all)
		and ([.series[] | .discarded == ([.discarded_by[]] | add)] | all)' out > /dev/null ||
		{ cat out && return 1; }
	sent=$(jq .packets.sent out)
	[ "$(columns run.csv generated)" = "$sent" ] && [ "$(columns nodes.csv generated)" = "$sent" ] &&
		[ "$(columns links.csv packets)" = "$(jq .packet_hops out)" ] &&
		[ "$(grep -c '<svg y=' run.svg)" -eq 3 ]
}
ok "statistics by node, link and time agree with the totals" statistics_agree

statistics_change_nothing()
{
	"$bin" sim run net.txt --load 30% --duration 200us --json | jq '.trace_hash, .latency_ns' > plain
	"$bin" sim run net.txt --load 30% --duration 200us --nodes --links --json |
		jq '.trace_hash, .latency_ns' > watched
	[ -s plain ] && cmp plain watched
}
ok "statistics by node and link change nothing" statistics_change_nothing

nothing_half_written()
{
	rm -f gone*
	"$bin" sim run net.txt --load 10% --pattern shift --shift 6 --series 10us --series-csv gone.csv \
		--node-series gone2.csv --series-svg gone.svg --capture gone.pcapng > out 2> err
	[ $? -eq 2 ] && [ ! -s out ] && [ -z "$(ls gone* 2> /dev/null)" ]
}
ok "a run that cannot start leaves no file" nothing_half_written
# Every member gets one copy of each packet to a group; a switch that fails doubles none.
multicast_counts()
{
	"$bin" sim run net.txt --load 10% --duration 200us --groups 4 --group-members 3 --group-load 2% --json > out || return 1
	jq -e '.conserved and .packets.copies > 0 and (.multicast | .groups == 4 and .packets > 0 and .expected == 2 * .packets
		and .delivered == .expected and .lost + .doubled + .astray == 0)' out > /dev/null || { cat out && return 1; }
	"$bin" sim run net.txt --load 10% --duration 200us --groups 4 | grep -q '^copies for members ' || return 1
	"$bin" sim change net.txt --kill S-0002000000000005 --rate 20000 --groups 4 --json > out || return 1
	jq -e '.conserved and (.multicast | .packets > 0 and .delivered + .lost + .futile == .expected
		and .doubled + .astray == 0)' out > /dev/null || { cat out && false; }
}
ok "packets to groups and their copies are counted" multicast_counts

# What others rely on: the keys of a change under load, and that the books are balanced.
load_keys()
{
	"$bin" sim change net.txt --kill S-0002000000000005 --mechanism basic --rate 20000 --detection traps --series 100us --json > out || return 1
	jq -e '(.change.time_s | has("detection") and has("discovery") and has("provisional") and has("final")
			and has("distribution") and has("total"))
		and (.packets.discarded | has("inactive_port") and has("deactivated_port") and has("buffer")
			and has("turned_back") and has("unroutable") and has("cleared") and has("unmappable"))
		and .packets.in_flight_before + .packets.sent
			== .packets.received + .packets.discarded.total + .packets.in_flight
		and (.packets.discarded | del(.total) | add) == .packets.discarded.total
		and .packets.discarded.deactivated_port > 0
		and .change.tables.changed > 0 and .change.tables.sent >= 1
		and .deadlock == false and .connectivity_min == 0 and .change.time_s.final > 0
		and (.series | length) > 10' out > /dev/null || { jq 'del(.series)' out && false; }
}
ok "a change under load has its keys and balanced books" load_keys

# A link that flaps ten times is held at its fifth change, so that the manager writes less, and in
# use again in the end. Without damping each change is a round.
flaps_are_damped()
{
	"$bin" topo gen ring 4 > flap.net || return 1
	"$bin" sim up flap.net --flap S-0002000000000002:3 --json > free || return 1
	"$bin" sim up flap.net --flap S-0002000000000002:3 --damping-changes 5 --damping-within 1s --damping-hold 2s \
		--json > damped || return 1
	jq -e '.held == 0 and .change.rounds >= 20' free > /dev/null &&
		jq -e --slurpfile free free '.held == 1 and .released == 1 and .state == "active" and .verified
			and .change.smps.distribution * 2 < $free[0].change.smps.distribution
			and .change.time_s.total > 2.9' damped > /dev/null ||
		{ cat free damped && false; }
}
ok "a link that flaps is held until it keeps quiet" flaps_are_damped

several_managers()
{
	"$bin" topo gen ring 4 > seats.net || return 1
	"$bin" sim up seats.net --sm S-0002000000000001 --sm S-0002000000000002:7 --sm S-0002000000000003:5 --json > out || return 1
	jq -e '[.managers[].state] == ["Standby", "Master", "Standby"] and [.managers[].priority][1:] == [7, 5]
		and .master == .managers[1].guid and .state == "active" and .verified' out > /dev/null || { cat out && false; }
}
ok "of three managers the one with the highest priority is master" several_managers

# Each with a mechanism, a priority and a start of its own.
managers_differ()
{
	set -- --sm 'host 0:3@30ms,basic' --sm S-0002000000000002@1ms,improved --sm 'host 3:9,weft'
	"$bin" sim up seats.net "$@" --json > up || return 1
	"$bin" sim change seats.net --kill S-0002000000000003 "$@" --json > change || return 1
	"$bin" sim run seats.net --load 5% --duration 100us "$@" --json > run || return 1
	for f in up change; do
		jq -e '[.managers[].mechanism] == ["basic", "improved", "weft"] and [.managers[].priority] == [3, 0, 9]
			and .master == .managers[2].guid and [.managers[].state] == ["Standby", "Standby", "Master"]' $f > /dev/null ||
			{ echo $f && cat $f && return 1; }
	done
	jq -e ".master == .managers[2].guid" run > /dev/null || { cat run && return 1; }
	# The same seats in another order: the master's mechanism is what counts.
	"$bin" sim up seats.net --sm 'host 0,basic' --sm 'host 3,weft' --json > a &&
		"$bin" sim up seats.net --sm 'host 0,weft' --sm 'host 3,basic' --json > b && ! cmp -s a b
}
ok "several managers with a mechanism, priority and start each" managers_differ

# The seed draws their nodes; schedules that fail would show what was given.
swarm_takes_managers()
{
	"$bin" sim trial --swarm --seed 11 --count 20 --sm host:3,weft --sm switch:9@20ms,improved --sm any --json > out &&
		"$bin" sim trial --swarm --seed 11 --count 20 --sm host:3,weft --sm switch:9@20ms,improved --sm any --json > again &&
		"$bin" sim trial --swarm --seed 11 --count 20 --json > drawn || return 1
	jq -e '.trials == 20 and .failed == 0' out > /dev/null && [ "$(jq .trace_hash out)" = "$(jq .trace_hash again)" ] &&
		[ "$(jq .trace_hash out)" != "$(jq .trace_hash drawn)" ] || { cat out again && false; }
}
ok "swarm trials take managers" swarm_takes_managers

# A schedule is replayed with the same trace, told and drawn; a broken one names its line.
replayed()
{
	"$bin" sim trial --replay two.schedule --timeline --svg story.svg > story || return 1
	"$bin" sim trial --replay two.schedule --json > out || return 1
	grep -q 'FAULT *pause manager 0' story && grep -q 'END *continue manager 0' story && grep -q 'Discovering to Master' story && grep -q 'paused' story.svg &&
		[ "$(jq -r .trace_hash out)" = "0x$(sed -n 's/.*hash //p' story)" ] || { cat story out && false; }
}
ok "a schedule is replayed, told and drawn" replayed

# SMPs of a bring-up of the thesis's example of 15 nodes by the mechanism of the thesis.
example15()
{
	"$bin" sim up "$here/../golden/example15-discovery.net" --sm 0x200 --mechanism basic --json > out || return 1
	jq -e '.smps.discovery == 97' out > /dev/null || { cat out && false; }
}
ok "the basic mechanism discovers the example of 15 nodes with 97 SMPs" example15

# Every setting is an option of weft sm under its section and key, and those of the manager are options
# of every command that runs one.
settings_are_options()
{
	"$bin" sm --schema | jq -r '.properties | to_entries[] | .key as $s | .value.properties | keys[] | "\($s).\(.)"' |
		sort > keys
	"$bin" help --json > table || return 1
	of() { jq -r --arg c "$1" '.commands[] | select(.name == $c) | .options[] | select(.key) | "\(.section).\(.key)"' table | sort; }
	grep -v -e '^partitions.list$' -e '^qos.classes$' -e '^qos.groups$' -e '^qos.levels$' -e '^qos.rules$' keys > single
	of sm | diff single - || return 1 # lists are for the file alone
	grep -E '^(damping|keys|election|links|virtual)|^manager|^routes|^partitions.enforce|^qos.enabled|^qos.vl_high_limit' keys | grep -v -e manager.unsafe -e keys.file -e election.observe > manager
	for c in 'sim up' 'sim demo'; do
		of "$c" | diff manager - || return 1
	done
	# There --tables takes a file as well: its words mean the setting.
	grep -v '^manager.tables$' manager > others
	for c in 'sim change' 'sim run' 'sim saturate'; do
		of "$c" | diff others - || return 1
	done
	"$bin" topo gen mtree 4 2 -o words.net > /dev/null || return 1
	for words in '--tables full' '--tables=partial'; do
		# shellcheck disable=SC2086 # two words
		"$bin" sim change words.net --profile thesis --each-switch activation $words --json |
			jq -c .mean.smps > "words$words" || return 1
	done
	! cmp 'words--tables full' 'words--tables=partial'
}
ok "settings are options of every command that runs a manager" settings_are_options

old_options_warn()
{
	"$bin" sim up net.txt --engine pira --damp 5 --json > out 2> err || return 1
	printf '%s\n' 'weft sim up: warning: --damp is now called --damping-changes' | diff - err || return 1
	"$bin" sim up net.txt --routes pira --damping-changes 5 --json | jq 'del(.wall_s, .rss_mib)' > new
	jq 'del(.wall_s, .rss_mib)' out | diff - new
}
ok "an option's earlier name is accepted with a warning" old_options_warn

config_json()
{
	"$bin" sm --sweep 3s --qos --roots 0x1,0x2 --print-config --json > out || return 1
	jq -e '.manager.sweep == "3s" and .manager.qos == true and .manager.sweep_factor == 0
		and .routes.roots == ["0x0000000000000001", "0x0000000000000002"]' out > /dev/null || { cat out && false; }
	"$bin" sm --check-config --json | jq -e .valid > /dev/null || return 1
	printf 'log: {level: x}\nfiles: {dumps: /nowhere}\n' > faults.yaml
	"$bin" sm --config faults.yaml --check-config --json > out 2> err
	[ $? -eq 2 ] && [ ! -s err ] && jq -e '(.valid | not) and (.faults | length) == 2 and .faults[1].line == 2' out > /dev/null ||
		{ cat out err && false; }
}
ok "the configuration as JSON" config_json

# The same bytes whatever the number of threads, but for what was measured of the machine.
same_by_threads()
{
	for t in 1 2; do
		"$bin" sim change net.txt --rate 10000 --each-switch deactivation --threads $t --json |
			jq 'del(.wall_s, .rss_mib)' > "threads.$t" || return 1
	done
	jq -e '.switches == 7 and .failed == 0 and .mean.time_s.total > 0 and .sd.smps.total >= 0
		and .mean.discarded.total > 0 and (.runs | length) == 7' threads.1 > /dev/null && cmp threads.1 threads.2
}
ok "each switch: the same on one thread and on two" same_by_threads

# Thesis Tables 11 and 24, 8 switches.
as_the_thesis()
{
	"$bin" sim change "$here/../golden/example15-routing.net" --each-switch deactivation --profile thesis --discovery partial \
		--json | jq -e '.failed == 0 and .events > 0 and .mean.thesis.distribution_smps == 157.714
		and .sd.thesis.distribution_smps == 15.69 and .mean.thesis.discovery_smps == 18.571
		and .mean.thesis.sweep_s == 0.00120267' > /dev/null
}
ok "profile thesis: its SMPs and sweeps on its own subnet" as_the_thesis

# The fat-tree model's equation 3 for the 4-port 2-tree, and what it leaves out: docs/simulating.md.
as_opensm_2005()
{
	"$bin" topo gen mtree 4 2 | "$bin" sim up - --profile opensm2005 --json | jq -e '.state == "active" and .requests.get.node_info == 33
		and .requests.get.port_info == 38 and .requests.set.lft == 6 and .cpu.model == "opensm2005" and .cpu.sm_s == 0.000227
		and .requests.get.total + .requests.set.total == .smps.total' > /dev/null
}
ok "profile opensm2005: the SMPs of the fat-tree model" as_opensm_2005

picture_is_whole()
{
	[ "$(grep -c '</svg>' change.svg)" -eq 1 ] && grep -q '>discover<' change.svg && grep -q '>change<' change.svg
}
ok "the picture of a change" picture_is_whole

all_have_runs()
{
	while IFS= read -r c; do
		case $c in ctl | fabric | perf | sm | top | ui | why | "vm "*) continue ;; esac # these speak to others, and have scripts of their own
		grep -q "^!\{0,1\}$c\( \|\$\)" lines || { echo "no line in runs() for: $c" && return 1; }
	done < names
}
ok "every command is run for JSON" all_have_runs

# ---- routes ----

# A ring of 6: one break node, opposite to the root; the tables on file are whole and legal.
pira_on_a_ring()
{
	"$bin" topo gen ring 6 > ring.net || return 1
	"$bin" route compute ring.net --engine pira --directions "$1" --root centre --lfts ring.lfts \
		--json > out || return 1
	jq -e '.verified and .default_ports == 5 and .break_nodes == 1 and .forbidden_turns == 2' out ||
		return 1
	jq -e '.entries < 6 * .lids' out || return 1
	"$bin" route verify ring.net ring.lfts --directions "$1" --root centre
}
for d in distance bfs dfs; do
	ok "PIRa on a ring, directions by $d" pira_on_a_ring $d
done

# The centre of a line is in the middle, whatever comes first in the file. It is the default, too.
centre_of_a_line()
{
	"$bin" topo gen mesh 5 > line.net || return 1
	"$bin" route compute line.net --engine fera --root centre --json > out || return 1
	jq -e '.root == "S-0002000000000003" and .hops.max == 6 and .default_ports == 0' out || return 1
	"$bin" route compute line.net --engine fera --json > out || return 1
	jq -e '.root == "S-0002000000000003"' out
}
ok "the centre of a line" centre_of_a_line

# More virtual functions than LIDs: the subnet is up without the rest of them, which is said with figures.
lids_used_up()
{
	"$bin" topo gen star 2 --hosts 200 --vfs 126 > full.net || return 1
	"$bin" sim up full.net --virtual-scheme prepopulated --json > out
	[ $? = 1 ] || return 1
	jq -e '.lids == 49151 and (.why | test("^1652 virtual functions have no LID: all 49151 are in use$"))' out
}
ok "more virtual functions than LIDs" lids_used_up

# ---- phases ----

# The drawing in ARCHITECTURE.md is that of this program: bench/pictures.sh makes it again.
phases_are_drawn()
{
	"$bin" sm --print-phases --dot > phases.dot && cmp phases.dot "$here/../../docs/img/phases.dot" || return 1
	"$bin" sm --print-phases --json | jq -e '[.transitions[] | [.from, .outcome]] | length == (unique | length)' || return 1
	"$bin" sm --print-phases | grep -q '^compute  *waits for routes'
}
ok "the table of phases and its drawing" phases_are_drawn

echo "1..$n"
