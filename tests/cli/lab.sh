#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# weft lab and weft model, as TAP: tests/cli/lab.sh PATH/TO/weft
#
# Small experiments of its own; the same results must have the same bytes however they were made: in one process
# or several, after kill -9, by MPI, and in parts that are merged.
#
# Covers: cmd_lab_list.c, cmd_lab_run.c, cmd_lab_compare.c, cmd_lab_report.c, cmd_lab_slurm.c, lab_files.c,
# lab_check.c, lab_costs.c, lab_mpi.c, mpi_link.c, cmd_model.c
#
# shellcheck disable=SC2012,SC2015,SC2016,SC2059,SC2317 # `a && b || explain`, other programs' variables, ok calls
set -u

bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n=0

ok()
{
	name=$1
	shift
	n=$((n + 1))
	if "$@" > said 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' said >&2
	fi
}

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

if ! command -v jq > /dev/null; then
	echo "1..0 # SKIP jq is not installed"
	exit 0
fi

# lab COMMAND...: with the experiments of this test
lab()
{
	word=$1
	shift
	"$bin" lab "$word" --experiments x "$@"
}

# ---- experiments ----

mkdir -p x/theirs gate tmp
TMPDIR=$dir/tmp GATE=$dir/gate
export TMPDIR GATE
printf 'r: gen ring {size} --seed {seed}\n' > x/_shared.yaml
printf 'levels,four,eight\n1,4,8\n2,8,32\n3,20,\n4,1,1\n' > x/theirs/hosts.csv

cat > x/tree.yaml << 'END'
name: tree
source: "002"
item: Table 2
claim: Trees with more levels have more hosts.
parameters: {levels: [1, 2, 3], ports: [4, 8]}
except: [{levels: 3, ports: 8}]
quick: {levels: 1}
run: model fattree {ports} {levels}
results: {hosts: {is: .hosts, title: hosts}, time: {is: .time_ms.td, unit: ms}}
tables:
  - item: Table 2
    title: hosts
    theirs: theirs/hosts.csv
    rows: {levels: levels}
    columns:
      four: {where: {ports: 4}, result: hosts, title: 4 ports}
      eight: {where: {ports: 8}, result: hosts, title: 8 ports}
    counted: true
    because: [{where: {levels: 3}, why: the source is wrong here}]
plots:
  - {item: Fig. 1, title: Hosts, x: levels, y: hosts, series: ports}
trends:
  - {section: "1", says: More levels take longer., holds: "grows(time, levels)"}
  - {section: "2", says: Four ports have more hosts., holds: "hosts[ports=4] > hosts[ports=8]", because: they have not}
END

cat > x/rings.yaml << 'END'
name: rings
source: Weft
item: none
claim: A ring of more switches takes more SMPs.
parameters: {size: [4, 6]}
seeds: 2
fabrics: _shared.yaml
fabric: r
before: [topo check net]
run: sim up {net} --seed {seed}
results: {smps: .smps.total, time: .time_s.total}
trends:
  - {section: "-", says: It grows., holds: "grows(smps, size)"}
END

# Jobs 4 to 6 wait until the gate is open.
cat > x/gate.yaml << 'END'
name: gate
source: Weft
item: none
claim: Nothing is lost.
parameters: {k: 1..6}
shell: |-
  [ {k} -le 3 ] || until [ -e "$GATE/open" ]; do sleep 0.02; done
  "$WEFT" model fattree 4 {k} --json
results: {hosts: .hosts}
END
touch gate/open

# ---- list, show, check ----

list_json()
{
	lab list --json | jq -e '.experiments | map(.name) == ["gate", "rings", "tree"] and
		all(.[]; has("name") and has("source") and has("item") and has("claim"))' &&
		lab list --json | jq -e '.experiments[2] | .source == "002" and .item == "Table 2" and .jobs == 5' &&
		lab list tree | grep -q '^tree  *002  *Table 2  *5  *Trees with more levels have more hosts\.$'
}
ok "list names source, item and claim" list_json

show_says_commands()
{
	lab show rings > out && grep -qx '    weft topo gen ring 6 --seed 2 -o net' out &&
		grep -qx '    weft topo check net' out && grep -qx '    weft sim up net --seed 2 --json' out &&
		lab show tree --quick --json | jq -e '.name == "tree" and (.jobs | map(.key) ==
			["levels=1 ports=4", "levels=1 ports=8"]) and
			.jobs[0].commands == ["weft model fattree 4 1 --json"]'
}
ok "show prints every command" show_says_commands

check_counts()
{
	lab check --json | jq -e '.experiments == 3 and .jobs == 15' && lab check tree | grep -qx '1 experiments with 5 jobs are well formed'
}
ok "check parses all and runs nothing" check_counts

found_by_environment()
{
	WEFT_EXPERIMENTS=$dir/x "$bin" lab list --json | jq -e '.experiments | length == 3' &&
		mkdir here && ln -s "$dir/x" here/experiments && (cd here && "$bin" lab list tree > /dev/null) &&
		(cd / && "$bin" lab list --json | jq -e '.experiments | map(.name) | contains(["thesis-discovery"])')
}
ok "experiments are found by environment, here, and beside the program" found_by_environment

# ---- run ----

run_json()
{
	lab run tree rings --db one.db -j 1 --json > out && jq -e '.experiments == ["tree", "rings"] and .jobs == 9 and
		.run == 9 and .kept == 0 and .failed == 0 and .failing == [] and .db == "one.db" and
		(.wall_s | type) == "number" and (.cpu_s | type) == "number" and (.events | type) == "number"' out &&
		[ "$(wc -l < one.db.costs)" -eq 9 ] && [ ! -e one.db.lock ] && [ ! -e one.db-wal ] && [ -z "$(ls tmp)" ]
}
ok "run -j 1 keeps its results and nothing else" run_json

same()
{
	cmp one.db "$1" || { echo "$1 differs from one.db" && false; }
}

two_at_once()
{
	lab run tree rings --db two.db -j 2 && same two.db
}
ok "run -j 2 gives the same bytes" two_at_once

resume_keeps()
{
	lab run tree rings --db two.db --resume --json | jq -e '.run == 0 and .kept == 9' && same two.db
}
ok "--resume runs nothing again" resume_keeps

resume_runs_what_changed()
{
	cp -R x y && sed -i 's/model fattree {ports} {levels}/& --mtu 1024/' y/tree.yaml && cp two.db changed.db &&
		"$bin" lab run tree rings --experiments y --db changed.db --resume --json | jq -e '.run == 5 and .kept == 4' &&
		! cmp -s one.db changed.db
}
ok "--resume runs what changed" resume_runs_what_changed

only_and_quick()
{
	lab run tree --db only.db --only ports=4 --only levels=2 --json | jq -e '.run == 1' &&
		lab run tree --db only.db --quick --resume --json | jq -e '.run == 2' &&
		lab run tree rings --db only.db --resume --json | jq -e '.run == 6 and .kept == 3' && same only.db
}
ok "--only and --quick run a part, --resume the rest" only_and_quick

# Three jobs are done, others run: then kill -9.
killed()
{
	lab run gate --db whole.db -j 2 > /dev/null || return 1
	rm gate/open
	"$bin" lab run gate --experiments x --db killed.db -j 2 > /dev/null 2>&1 &
	pid=$!
	tries=0
	until [ "$(wc -l < killed.db.costs 2> /dev/null || echo 0)" -eq 3 ]; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || { echo "three jobs do not end" && kill -9 $pid && return 1; }
		sleep 0.02
	done
	kill -9 $pid
	wait $pid
	touch gate/open
	lab run gate --db killed.db -j 1 --resume --json > out || return 1
	jq -e '.kept == 3 and .run == 3 and .failed == 0' out || { cat out && return 1; }
	cmp whole.db killed.db && [ -z "$(ls tmp)" ] # nor are directories of killed jobs left
}
ok "kill -9 loses running jobs only, and --resume gives the same bytes" killed 2> /dev/null

interrupted()
{
	rm gate/open
	"$bin" lab run gate --experiments x --db stopped.db -j 1 > out 2> err &
	pid=$!
	tries=0
	until [ "$(wc -l < stopped.db.costs 2> /dev/null || echo 0)" -eq 3 ]; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || { echo "three jobs do not end" && kill -9 $pid && return 1; }
		sleep 0.02
	done
	kill -TERM $pid # the running job may end, no other begins
	touch gate/open
	wait $pid
	[ $? -eq 2 ] && grep -q 'interrupted: --resume continues' err || { cat err && return 1; }
	lab run gate --db stopped.db --resume > /dev/null && cmp whole.db stopped.db && [ -z "$(ls tmp)" ]
}
ok "SIGTERM ends a run in order" interrupted

second_writer()
{
	rm gate/open
	"$bin" lab run gate --experiments x --db busy.db -j 1 > /dev/null 2>&1 &
	pid=$!
	tries=0
	until [ -e busy.db.costs ]; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || return 1
		sleep 0.02
	done
	said=
	for i in 1 2; do # the first refusal must not open the way for the next
		lab run tree --db busy.db 2> err
		[ $? -eq 2 ] && grep -qx 'weft lab run: busy.db: another run writes its results there' err || said="$said $i"
	done
	touch gate/open
	wait $pid && [ -z "$said" ] || { cat err && false; }
}
ok "a second run into the same file is refused" second_writer

failing()
{
	mkdir -p bad && cat > bad/fails.yaml << 'END'
name: fails
source: a
item: b
claim: c
parameters: {k: [1, 2]}
shell: "[ {k} -eq 1 ] && echo '{\"a\": 1}' || { echo not well >&2; exit 3; }"
results: {a: .a}
END
	"$bin" lab run --experiments bad --db bad.db --json > out 2> err
	[ $? -eq 1 ] && jq -e '.run == 2 and .failed == 1 and .failing[0].experiment == "fails" and .failing[0].key == "k=2" and
		(.failing[0].message | endswith("exit status 3: not well"))' out && grep -q 'fails, k=2 failed: ' err || return 1
	"$bin" lab run --experiments bad --db bad.db --resume --json 2> /dev/null > out
	[ $? -eq 1 ] && jq -e '.run == 1 and .kept == 1' out # failed jobs run again
}
ok "a job that fails is told, and runs again" failing

# ---- several machines ----

mpi=$(dirname "$bin")/../mpi/libweft-mpi.so
by_mpi()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
		timeout 100 mpirun --oversubscribe -n "$1" "$bin" lab run tree rings --experiments x --mpi --db "mpi$1.db" \
		--json > out 2> err || { cat err out && return 1; }
	jq -e '.run == 9 and .failed == 0' out && same "mpi$1.db"
}
for ranks in 2 4; do
	if ! command -v mpirun > /dev/null; then
		skip "mpirun -n $ranks gives the same bytes" "mpirun is not installed"
	elif [ ! -e "$mpi" ]; then
		skip "mpirun -n $ranks gives the same bytes" "weft is built without MPI (none installed, or with sanitizers)"
	else
		ok "mpirun -n $ranks gives the same bytes" by_mpi $ranks
	fi
done

merged()
{
	for i in 3 1 2; do
		lab run tree rings --db part.db-$i --part $i/3 > /dev/null || return 1
	done
	"$bin" lab merge --db merged.db part.db-* --json | jq -e '.results == 9 and .db == "merged.db"' && same merged.db
	[ "$(wc -l < merged.db.costs)" -eq 9 ] || return 1
	"$bin" lab merge --db merged.db part.db-1 part.db-1 && same merged.db || return 1 # equal results
	"$bin" lab merge --db twice.db merged.db changed.db 2> err
	[ $? -eq 2 ] && grep -q 'are given twice and differ' err && [ ! -e twice.db ] || return 1
	"$bin" lab merge --db twice.db merged.db changed.db --last && cmp twice.db changed.db
}
ok "merged parts give the same bytes" merged

# Jobs that measure real time run while no other job does; each job leaves a mark while it runs.
mkdir alone
cat > alone/plain.yaml << 'END'
name: plain
source: Weft
item: none
claim: Others run meanwhile.
parameters: {k: 1..5}
shell: "touch $GATE/plain-{k}; sleep 0.1; rm $GATE/plain-{k}; [ ! -e $GATE/clock ] && echo '{\"a\": {k}}'"
results: {a: .a}
END
sed 's/^name: plain/name: clock/; s/1\.\.5/1..3/; s/^shell.*/real_time: true/' alone/plain.yaml > alone/clock.yaml
cat >> alone/clock.yaml << 'END'
shell: "mkdir $GATE/clock && sleep 0.05 && set -- $GATE/plain-* && [ ! -e $1 ] && rmdir $GATE/clock && echo '{\"a\": {k}}'"
END
runs_alone()
{
	"$bin" lab run --experiments alone --db alone1.db -j 4 && "$bin" lab check --experiments alone
}
ok "jobs that measure real time run alone" runs_alone
if command -v mpirun > /dev/null && [ -e "$mpi" ]; then
	alone_by_mpi()
	{
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
			timeout 100 mpirun --oversubscribe -n 4 "$bin" lab run --experiments alone --mpi --db alone4.db > out 2> err ||
			{ cat err out && return 1; }
		cmp alone1.db alone4.db
	}
	ok "and so they do with MPI" alone_by_mpi
else
	skip "and so they do with MPI" "mpirun is not installed, or weft is built without MPI"
fi
not_in_parts()
{
	for i in 1 2; do
		"$bin" lab run --experiments alone --db alone.part-$i --part $i/2 > out 2> err || return 1
		[ "$(cat err)" = "weft lab run: warning: clock is left out: it measures real time, and parts share their machines; run it without --part" ] ||
			{ cat err && return 1; }
	done
	"$bin" lab merge --db alone2.db alone.part-[12] &&
		"$bin" lab run --experiments alone --db alone2.db --resume --json | jq -e '.run == 3 and .kept == 5' && cmp alone1.db alone2.db
}
ok "parts leave them out, and say so" not_in_parts

# The array script, task by task, as Slurm would start it. tests/cli/slurm.sh has Slurm itself.
array_script()
{
	lab slurm tree rings --tasks 4 --db array.db -o array.sbatch && grep -qx '#SBATCH --array=1-4' array.sbatch || return 1
	for i in 2 4 1 3; do
		(cd / && SLURM_ARRAY_TASK_ID=$i sh -c 'cd "$1" && sh array.sbatch' sh "$dir") > /dev/null || return 1
	done
	"$bin" lab merge --db array.db array.db.part-* && same array.db
}
ok "the tasks of the Slurm script give the same bytes" array_script

# ---- compare, report, export ----

compare_json()
{
	lab compare --db one.db --json > out || return 1
	jq -e '.cells == 7 and .run == 5 and .within_10 == 4 and .within_25 == 5 and .within_50 == 5' out || { cat out && return 1; }
	jq -e '.trends.all == 3 and .trends.checked == 3 and .trends.held == 2 and .trends.failing[0].reason == "they have not"' out || { cat out && return 1; }
	jq -e '.deviations == [{experiment: "tree", item: "Table 2", cell: "3, 4 ports", ours: 16, theirs: 20,
		reason: "the source is wrong here"}]' out || { jq .deviations out && return 1; }
	lab compare tree --db one.db --all > out && grep -q '^Table 2  *3, 4 ports  *20  *16  *0.800  *the source' out &&
		grep -qx '2 trends, 2 checked, 1 hold' out
}
ok "compare counts cells and trends, with reasons" compare_json

# A statement without open parameters has one combination: none is named.
no_combination()
{
	mkdir -p lone && cat > lone/lone.yaml << 'END'
name: lone
source: a
item: b
claim: c
run: model fattree 4 1
results: {hosts: .hosts}
trends:
  - {section: "1", says: There are many hosts., holds: "hosts > 100", because: there are four}
END
	"$bin" lab run --experiments lone --db lone.db > /dev/null && "$bin" lab compare --experiments lone --db lone.db > out &&
		grep -qx '  does not hold' out && grep -qx '  there are four' out || { cat out && return 1; }
	lab compare tree --db one.db > out && grep -qx '  does not hold in 2 of 2 combinations, such as levels=1' out
}
ok "a statement that does not hold names a combination, if there are several" no_combination

reported()
{
	lab report --db one.db -o pages --json | jq -e '.files | index("pages/tree.html") and index("pages/index.md")' &&
		cp -R pages again && lab report --db two.db -o pages > /dev/null || return 1
	sed -i 's/two\.db/one.db/' pages/*.html pages/*.md && diff -r pages again || return 1
	grep -q '<svg ' pages/tree.html && grep -q 'the source is wrong here' pages/tree.html &&
		grep -q '!\[Hosts\](tree-1.svg)' pages/tree.md && [ -s pages/tree-1.svg ] &&
		! grep -q 'src=\|href="http' pages/index.html
}
ok "report writes the same pages from the same results" reported

exported()
{
	lab export tree --db one.db -o data > out && [ "$(cat out)" = data/tree.csv ] || return 1
	[ "$(head -3 data/tree.csv | cut -d, -f1-4 | tr '\n' ' ')" = "levels,ports,seed,hosts 1,4,1,4 1,8,1,8 " ] || { cat data/tree.csv && return 1; }
	lab export tree --db one.db -f gnuplot -o data > /dev/null && grep -q '^plot \$data_0_0 ' data/tree-1.gp
}
ok "export writes CSV and gnuplot scripts" exported

if command -v gnuplot > /dev/null; then
	drawn()
	{
		gnuplot -e 'set terminal svg' data/tree-1.gp > drawn.svg && grep -q '</svg>' drawn.svg
	}
	ok "gnuplot draws the exported script" drawn
else
	skip "gnuplot draws the exported script" "gnuplot is not installed"
fi

kept_as_text()
{
	lab export --db one.db -f json -o x/results > out && cat out && [ -s x/results/tree.jsonl ] || return 1
	lab compare --json > a && lab compare --db one.db --json > b || return 1
	[ "$(jq -c 'del(.results)' a)" = "$(jq -c 'del(.results)' b)" ] || { diff a b && return 1; }
	lab export -f json -o again.d > /dev/null && diff -r x/results again.d
}
ok "results kept as text are those of the file" kept_as_text

from_text()
{
	"$bin" lab merge --db text.db x/results && same text.db && "$bin" lab merge --db text2.db x/results/rings.jsonl x/results/tree.jsonl &&
		same text2.db || return 1
	lab run tree rings --from x/results --db from.db --json | jq -e '.run == 0 and .kept == 9' && same from.db || return 1
	[ "$(wc -l < from.db.costs)" -eq 9 ] || return 1
	# a part of the results, and jobs that changed since: only these run
	mkdir few && grep 'levels=1\|levels=2' x/results/tree.jsonl > few/tree.jsonl &&
		lab run tree rings --from few --db few.db --json | jq -e '.run == 5 and .kept == 4' && same few.db &&
		"$bin" lab run tree rings --experiments y --from x/results --db few2.db --json | jq -e '.run == 5 and .kept == 4'
}
ok "runs and merges start from text" from_text

# A command names the directory of the experiments as {dir}: the same text and bytes wherever that is.
anywhere()
{
	mkdir moved &&
		printf 'name: dir\nsource: a\nitem: b\nclaim: c\nshell: "test -e {dir}/dir.yaml && $WEFT model fattree 4 1 --json"\nresults: {a: .hosts}\n' > moved/dir.yaml &&
		cp moved/dir.yaml gate/ || return 1
	"$bin" lab run dir --experiments moved --db here.db && "$bin" lab run dir --experiments gate --db there.db && cmp here.db there.db &&
		"$bin" lab export dir --experiments moved --db here.db -f json -o moved/text && grep -q 'test -e {dir}/dir.yaml' moved/text/dir.jsonl
}
ok "results do not name the directory of the experiments" anywhere

in_docs()
{
	mkdir -p tree/docs/results && cp -R x tree/experiments && mv tree/experiments/results tree/docs/results/lab &&
		(cd tree && "$bin" lab compare --json) | jq -e '.results == "docs/results/lab" and .run == 5' &&
		"$bin" lab compare --experiments tree/experiments/ --json | jq -e '.results == "tree/docs/results/lab"' &&
		"$bin" lab compare --experiments x --db tree/docs/results/lab --json | jq -e '.run == 5'
}
ok "results as text are found beside the experiments" in_docs

costs()
{
	jq -s -e 'length == 9 and all(.cpu_s >= 0 and .wall_s > 0 and .time > 0) and ([.[] | select(.experiment == "rings")] |
		length == 4 and all(.events > 0))' one.db.costs > /dev/null || { cat one.db.costs && return 1; }
	lab list tree rings --cost --db one.db --json | jq -e '.experiments[1].cost | .jobs == 4 and .events > 0 and .events_per_s > 0' &&
		lab list --cost > out && grep -q '^rings  *4  *[0-9.]*  *[0-9,]*  *[0-9,]*$' out && grep -q '^all  *9 ' out || { cat out && return 1; }
	lab run rings --db costs.db --json > out && jq -e '(.costs | length) == 1 and .costs[0].experiment == "rings" and
		.costs[0].jobs == 4 and .costs[0].events == .events and .at_once >= 1 and .busy > 0' out || { cat out && return 1; }
	lab run rings --db costs.db | grep -q '^4 jobs run, 0 failed, 0 kept; .* at once, .* results in costs.db$'
}
ok "the cost of each experiment is listed" costs

model_json()
{
	"$bin" model fattree 8 1 --json | jq -e '.switches == 1 and .hosts == 8 and .smps.get == 32 and .smps.set_port_info == 8 and
		.smps.set_lft == 2 and .time_ms.td == 10.6 and .time_ms.pc == 81.3 and .time_ms.pd == 0.36' &&
		"$bin" model fattree 16 4 --sets blocks --json | jq -e '.smps.set_lft == 663040 and .time_ms.pd == .readings.blocks.pd_ms' &&
		"$bin" model fattree 16 4 | grep -q '^16-port 4-tree: 8,192 hosts, 3,584 switches$'
}
ok "model fattree gives the paper's Table 1" model_json

# An experiment of the program's own, with its script: exact, since the time is simulated.
simulated_tree()
{
	(cd / && "$bin" lab run fattree-measured --only who=simulation --only 'tree=8 (six switches)' --db "$dir/ft.db" &&
		"$bin" lab export fattree-measured --db "$dir/ft.db" -f json -o "$dir/ft.d") &&
		jq -e '.values | .hosts == 8 and .switches == 6 and .get_node_info == 33 and .get_port_info == 38 and .set_lft == 6 and
			.td == 23.875 and .pc == 82.1 and .pd == 2.317' ft.d/fattree-measured.jsonl
}
ok "a fat tree simulated as OpenSM of 2005" simulated_tree

# ---- bad experiments: status 2, file and line, nothing written ----

head='name: odd\nsource: a\nitem: b\nclaim: c\n'
odd()
{
	rm -rf odd odd.db* && mkdir odd && printf "$head$1" > odd/odd.yaml
	for word in check run; do
		db=
		[ $word = check ] || db='--db odd.db'
		# shellcheck disable=SC2086 # two words or none
		"$bin" lab $word --experiments odd $db > out 2> err
		status=$?
		[ $status -eq 2 ] && [ ! -s out ] && [ "$(cat err)" = "weft lab $word: odd/odd.yaml:$2" ] || {
			echo "status $status" && cat out err && return 1
		}
	done
	[ "$(ls -d odd.db* 2> /dev/null)" = "" ] && [ -z "$(ls tmp)" ]
}
ok "an unknown key" odd 'run: sim up net\nresults: {a: .a}\nsceds:\n  - 3\n' \
	"7:1: unknown key 'sceds' in an experiment, did you mean 'seeds'?"
ok "an impossible fabric" odd 'run: sim up net\nresults: {a: .a}\nfabrics: {f: gen mtree 7 2}\nfabric: f\n' \
	"7:14: the fabric 'f': weft topo gen: mtree: M is 7, expected an even number of ports"
ok "a fabric that is not there" odd 'run: sim up net\nresults: {a: .a}\nfabrics: {f: file no.net}\nfabric: f\n' \
	"7:14: $dir/odd/no.net: No such file or directory"
ok "a fabric without a name" odd 'run: sim up net\nresults: {a: .a}\nfabrics: {f: gen ring 4}\nfabric: g\n' \
	"8:9: 'g' is not one of the experiment's fabrics"
ok "a sweep of a million points" odd 'run: sim up net\nresults: {a: .a}\nparameters: {a: 1..100, b: 1..100, c: 1..100}\n' \
	"5:6: the parameters of 'odd' make more than 100000 jobs"
ok "an unknown option" odd 'run: sim up net --sceed 3\nresults: {a: .a}\n' \
	"5:6: odd, seed=1: unknown option '--sceed', did you mean '--seed'?"
ok "an unknown command" odd 'run: sim upp net\nresults: {a: .a}\n' "5:6: odd, seed=1: 'sim upp' is not a command"
ok "weft lab in an experiment" odd 'run: lab run\nresults: {a: .a}\n' \
	"5:6: odd, seed=1: an experiment cannot run 'weft lab run'"
ok "a bad expression" odd 'run: sim up net\nresults: {a: .a +}\n' \
	"6:14: in '.a +': column 5: expected a number, a path such as .mean.smps or a name, found the end"
ok "an unknown name in a template" odd 'run: sim up {nett}\nresults: {a: .a}\n' \
	"5:6: {nett} is not a parameter of 'odd', nor {seed}, {net} or {dir}"

# The twin's experiment: what pairs without a route would have sent, at the rate that is given.
losses_are_estimated()
{
	"$bin" topo gen ring 6 -o ring.net && "$bin" sim failures ring.net --full --assume-rate 500000 --json > out || return 1
	jq -e '.assumed_rate == 500000 and .engine != "" and .link_failures.runs == 6 and
		(.link_failures | .packets_lost_mean > 0 and
		 (.packets_lost_mean / (.pair_seconds_mean * 500000 / 5) | . > 0.999 and . < 1.001))' out || return 1
	"$bin" sim failures ring.net --full --rate 500000 --json > out || return 1
	jq -e '.assumed_rate == 0 and .link_failures.packets_lost_mean > 0' out
}
ok "losses of a failure are estimated, or counted" losses_are_estimated

# bad MESSAGE COMMAND...: status 2, this message, no file
bad()
{
	want=$1
	shift
	ls > before
	"$@" > out 2> err
	[ $? -eq 2 ] && [ ! -s out ] && [ "$(cat err)" = "$want" ] || { cat out err && return 1; }
	ls | diff before -
}
: > err && : > out && : > before
ok "an unknown experiment" bad "weft lab run: there is no experiment 'tre' in x: expected one of gate, rings, tree" \
	lab run tre --db none.db
ok "an unknown choice" bad "weft lab run: --only ports=5: '5' is not a choice of ports in x/tree.yaml" \
	lab run tree --only ports=5 --db none.db
ok "an unknown parameter" bad "weft lab run: --only port=4: the experiment 'tree' has no such parameter" \
	lab run tree --only port=4 --db none.db
ok "a part that is none" bad "weft lab run: --part: expected I/N with I from 1 to N, found '3/2'" \
	lab run tree --part 3/2 --db none.db
ok "results that are not there" bad "weft lab compare: none.db: No such file or directory" lab compare --db none.db
ok "a report without results" bad "weft lab report: none.db: No such file or directory" lab report --db none.db -o no.d
ok "a model of odd switches" bad "weft model fattree: expected an even number of ports and at least one level" \
	"$bin" model fattree 7 2
echo "1..$n"
