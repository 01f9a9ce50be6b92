#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Routes that a user names, as TAP: routes.sh PATH/TO/weft
#
# Engine file, roots and groups of hosts in commands and in a daemon on an emulated tree; a reload; the exit status of weft
# route quality; fabrics of several islands.
#
# Covers: inputs.c, route_dumps.c, host_groups.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
export IBSIM_SOCKNAME=weft-routes-$$

# status N COMMAND...
status()
{
	want=$1
	shift
	"$@" > out 2>&1
	[ $? = "$want" ] || { cat out && false; }
}

ctl()
{
	"$weft" ctl --socket "$dir/ctl" "$@"
}

# engine NAME: it serves, and the manager is at rest
engine()
{
	ctl wait && ctl status --json > status && jq -e ".manager.engine == \"$1\" or .engine == \"$1\"" status
}

config()
{
	cat > weft.yaml
}

reload()
{
	kill -HUP "$sm" && until_true grep -q reloaded sm.log
}

# programmed FILE: the switches hold its tables, under the manager's own LIDs
programmed()
{
	ctl dump && "$weft" route compute net --engine file --routes-file dumps/opensm-lfts.dump --lfts has.lfts &&
		"$weft" route compute net --engine file --routes-file "$1" --lfts wants.lfts && cmp has.lfts wants.lfts ||
		{ cat sm.log && false; }
}

"$weft" topo gen mtree 4 3 -o net && "$weft" topo gen mtree 4 2 -o small && mkdir dumps || exit 1
"$weft" route compute net --engine pira --root mid0_0 --lfts pira.lfts > /dev/null
"$weft" route compute net --engine tree --lfts tree.lfts > /dev/null
"$weft" route compute small --engine tree --lfts small.lfts > /dev/null
"$weft" topo gen torus 5 5 --hosts 1 -o torus && "$weft" route compute torus --engine torus --lfts torus.lfts \
	--sls torus.sls --sl2vl torus.sl2vl > /dev/null

ok "tables that verify: status 0" status 0 "$weft" route quality net tree.lfts --patterns 1
ok "tables that need lanes, without them: status 1" status 1 "$weft" route quality torus torus.lfts --patterns 1
ok "the figures are there all the same" grep -q 'random bisections' out
ok "and with them status 0" status 0 "$weft" route quality torus torus.lfts --sls torus.sls --sl2vl torus.sl2vl --patterns 1
ok "engine file takes them" status 0 "$weft" route compute torus --engine file --routes-file torus.lfts --routes-sls torus.sls \
	--routes-sl2vl torus.sl2vl
ok "without lanes it does not verify" status 1 "$weft" route compute torus --engine file --routes-file torus.lfts
ok "tables of another fabric are refused" status 2 "$weft" route compute net --engine file --routes-file small.lfts
ok "with a reason" grep -q 'file: small.lfts has no ' out
truncate -s 5G large.lfts
ok "a file that is too large is refused" status 2 "$weft" route compute net --engine file --routes-file large.lfts
ok "with the limit" grep -q 'large.lfts: expected at most 4096 MiB, found more' out
truncate -s 17M large.guids
ok "so is a list" status 2 "$weft" sim up net --routes updn --roots @large.guids
ok "with its limit" grep -q 'large.guids: expected at most 16 MiB, found more' out
rm -f large.lfts large.guids
sed 's/"root[01]_[01]"/"Spine"/' net > unmanaged
ok "a name that switches share names all of them" status 0 "$weft" route compute unmanaged --engine updn --root Spine --lfts named
"$weft" route compute unmanaged --engine updn --lfts found > /dev/null
ok "as roots" cmp named found
ok "hosts, too" [ "$(sed 's/"host [01]."/"MT4123"/' net > same &&
	"$weft" route quality same --hosts MT4123 --patterns 1 --json | jq .hosts)" = 6 ]
ok "a simulated manager falls back, and says so" status 0 "$weft" sim up net --routes file --routes-file small.lfts
ok "with the reason and the engine that serves" grep -q 'file cannot route this subnet: .*small.lfts has no .*; tree does instead' out

# Two equal trees and a switch with one host, which no cables join; 0 of 0002 and 0001 becomes the number of the island.
island()
{
	sed -E "s/([SH]-)0(00[12]0)/\\1$1\\2/g; s/([=(]0?x?)([12]0{9})/\\1$1""00\\2/g" "$2"
}
"$weft" topo gen mesh 1 --hosts 1 -o lone
{ cat small && island 3 small && island 4 lone; } > islands
for engine in auto tree updn balanced nue fera pira; do
	ok "islands: $engine routes all pairs that cables join" status 0 "$weft" route compute islands --engine $engine --json \
		--lfts islands.$engine
	ok "the others are counted" jq -e '.verified and .islands == 3 and .not_connected == 504' out
done
ok "islands: the verifier counts the same" status 0 "$weft" route verify islands islands.tree --json
ok "in its report" jq -e '.ok and .islands == 3 and .not_connected == 504 and .unreachable == 0' out
ok "islands: patterns run inside each" status 0 "$weft" route quality islands --engine tree --patterns 20
ok "which is said" grep -q '^hosts  *17; in 3 islands, patterns run inside each: 160 pairs of hosts that no cables join have no flow' out
"$weft" route quality islands --engine tree --patterns 20 --json > both.json
"$weft" route quality small --engine tree --patterns 20 --json > one.json
ok "islands: no flow lacks a path" jq -e '.host_islands == 3 and .hosts_apart == 160 and
	([.shifts, .bisection, .all_to_all, .incast | .no_path] | add == 0)' both.json
ok "islands: two equal ones have the shares of one" jq -se '.[0].host_islands == 1 and
	([.[] | .shifts, .all_to_all, .ring, .recursive_doubling | [.mean, .worst]] | .[:4] == .[4:])' one.json both.json

config << 'YAML'
routes: {engine: file, file: pira.lfts}
YAML
"$weft" fabric net --no-control --quiet < /dev/null > fabric.out 2>&1 &
fabric=$!
pids=$fabric
sleep 0.2
"$weft" sm --config weft.yaml --transport ibsim --log-level info --state "$dir/state.db" --dumps dumps --control "$dir/ctl" > sm.log 2>&1 &
sm=$!
pids="$fabric $sm"
ok "weft sm takes the tables of a file" until_true engine file
ok "they are in the switches" programmed pira.lfts
cp tree.lfts pira.lfts
ok "a reload reads the file again" reload
ok "other tables are programmed at once" until_true programmed tree.lfts
cp small.lfts pira.lfts
: > sm.log
ok "a file that does not fit" reload
ok "another engine serves" until_true engine tree
ok "the log says why" grep -q 'file cannot route this subnet: .*has no' sm.log
config << 'YAML'
routes: {engine: updn, roots: [mid0_0], io_nodes: "host 1*"}
YAML
: > sm.log
ok "roots and groups by name" reload
ok "the engine changes" until_true engine updn
ok "roots that cost bandwidth are reported" until_true grep -q 'roots: auto: bisections' sm.log
"$weft" route compute net --engine updn --root root0_0 --root root1_1 --lfts two.lfts > /dev/null
config << 'YAML'
routes: {engine: updn, roots: [root0_0, root1_1]}
YAML
: > sm.log
ok "two roots by name" reload
ok "both are used: the tables are those of both" until_true programmed two.lfts
"$weft" route compute net --engine updn --root root0_0 --lfts one.lfts > /dev/null
ok "which are not those of one" sh -c '! cmp -s one.lfts two.lfts'
echo 'routes: {file: nowhere, engine: file}' > weft.yaml
ok "a file that is not there leaves all as it was" sh -c "kill -HUP $sm && sleep 0.5 && grep 'nowhere: No such file' sm.log"
ok "still" engine updn
echo "1..$n"
