#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Subnet administration of `weft sm` and of OpenSM after changes and take-overs: sa_takeovers.sh WEFT SA_CLIENT [FABRIC...]
#
# A FABRIC is what `weft topo gen` takes; without one it is a tree. On each, both managers run at hosts of their own. Hosts
# join the IPoIB broadcast group, register services and subscribe. OpenSM dies, and Weft takes over; the switch in the middle
# of the multicast tree and a cable fail and come back; OpenSM takes over from a running Weft and sees the same failures;
# Weft takes over from a running OpenSM and is killed. After each step all records are those of the step before or of the
# other manager in the same state, but for what explained() takes out: so LIDs stay, and registrations are taken over. The
# multicast tree is read from the switches and judged on the netlist.
#
# Covers: copy.c

# shellcheck disable=SC2015,SC2046,SC2317 # `a && b || explain`; words; functions called by ok
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
client=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$here/lib_fabric.sh"
trap 'sm_stop; opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
need opensm saquery ibroute osmtest jq
# shellcheck source=tests/interop/lib_records.sh
. "$here/lib_records.sh"
broadcast=ff12401bffff000000000000ffffffff

host()
{
	sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | sed -n "${1}p"
}

# ---- the two managers ----

# weft_begin PRIORITY: at the last host; a master is missed within a second
weft_begin()
{
	printf 'election: {priority: %s, poll: 300ms, tries: 3, sm_key: 0x1}\nmanager: {sweep: 1s}\n' "$1" > weft.yaml
	"$weft" sm --config weft.yaml --transport ibsim --device "$(host "$hosts")" --state '' --control "$dir/ctl" > sm.log 2>&1 &
	sm_pid=$!
}

# opensm_begin PRIORITY: at the first host; it misses a master after a second
opensm_begin()
{
	rm -rf osm
	mkdir osm
	printf 'force_log_flush TRUE\nsminfo_polling_timeout 300\npolling_retry_number 3\nsweep_interval 1\n' > osm/conf
	SIM_HOST=$(host 1) OSM_TMP_DIR=$dir/osm OSM_CACHE_DIR=$dir/osm LD_PRELOAD=$preload \
		opensm -e -p "$1" -F "$dir/osm/conf" -f "$dir/osm/log" -D 0x43 > osm/said 2>&1 &
	opensm_pid=$!
}

opensm_said()
{
	grep -c 'SUBNET UP' osm/log
}

opensm_said_more()
{
	[ "$(opensm_said)" -gt "$1" ]
}

# opensm_up [BEFORE]: it says so once more than that
opensm_up()
{
	until_true 60 opensm_said_more "${1:-0}" || { echo "OpenSM is not up:" && tail -n 5 osm/log && false; }
}

is()
{
	sm_ask status > status && jq -e "$1" status > /dev/null
}

# weft_becomes CONDITION: of its status
weft_becomes()
{
	for _ in $(seq 600); do
		! is "$1" || return 0
		kill -0 "$sm_pid" || break
		sleep 0.05
	done
	echo "Weft does not become $1:"
	cat status ctl.err
	tail -n 5 sm.log
	return 1
}

master='.state == "Master" and .administration == "serving" and .phase == "ready" and (.change_pending | not)'
weft_is_master()
{
	weft_becomes "$master"
}

weft_stands_by()
{
	weft_becomes '.state == "Standby"'
}

killed()
{
	kill -9 "$1"
	wait "$1" 2> /dev/null
	return 0
}

# ---- what hosts register ----

# register: as the kernels of four hosts do
register()
{
	for k in 1 2 $((hosts / 2 + 1)) "$hosts"; do
		at "$(host "$k")" "$client" join $broadcast 1 || return 1
	done
	at "$(host 2)" "$client" service one 600 && at "$(host "$hosts")" "$client" service two 600 &&
		at "$(host 2)" "$client" inform 66 && at "$(host "$hosts")" "$client" inform 64
}

registrations()
{
	cat << 'END_OF_TABLES'
--smkey 1 MCMR
--smkey 1 MCMR --pkey 0x7fff
-g
-m
--smkey 1 SR
SR
--smkey 1 IIR
END_OF_TABLES
}

ask()
{
	{ tables && registrations; } | ask_all "$1"
}

# same A B: the answers of two managers that sit at different hosts
same()
{
	rm -rf a b
	cp -r "$1" a && cp -r "$2" b && rm -f a/SMIR b/SMIR && sed -i '/ServiceLease/d' a/*SR b/*SR || return 1
	for f in a/*PIR b/*PIR; do
		# where the manager is: its LID in all ports, and the bit IsSM in the last digit of the mask of its own
		sed -i -e '/SMLid/d' -e '/IsSM$/d' -e 's/\(CapMask:.*\).$/\1/' "$f"
	done
	compare a b
}

# Beside what explained() takes out: the number that a manager gives to a subscription, and the group of IPv6, which OpenSM
# makes only where its partitions name it.
said_otherwise()
{
	sed -e 's/|SubscriberEnum\.*0x[0-9A-F]*//' -e '/MGID\.*ff12:601b:/d'
}

has_copy()
{
	sm_ask sa | jq -e ".members == $1 and .services == $2 and .subscriptions == $3"
}

# ---- the multicast tree ----

# Switch and port of every mark of the broadcast group, as switches have them.
marks()
{
	mlid=$(on_fabric saquery -g 2> /dev/null | awk '/MGID/ { on = /ff12:401b:ffff::ffff:ffff/ } on && /Mlid/ { sub(/.*\./, ""); print; exit }')
	for lid in $(on_fabric saquery SWIR 2> /dev/null | sed -n 's/.*LID\.*//p'); do
		on_fabric ibroute -M "$lid" 2> /dev/null
	done | awk -v mlid="$(echo "$mlid" | tr 'A-F' 'a-f')" '
		/^Multicast/ { match($0, /guid 0x[0-9a-f]+/); guid = substr($0, RSTART + 7, RLENGTH - 7) }
		/Ports:/ { first = index($0, "0") }
		tolower($1) == mlid { for (i = first; i <= length($0); i += 2) if (substr($0, i, 1) == "x") print guid, (i - first) / 2 }'
}

# tree_right MEMBERS: the marks of the switches are a tree over the cables, with these hosts and no others
tree_right()
{
	marks > marks.now
	awk -v members="$*" '
		FILENAME == "net" && /^(Switch|Ca)/ { split($0, q, "\""); own = q[2]; next }
		FILENAME == "net" && /^\[/ { split($1, p, /[][]/); split($0, q, "\""); peer[own, p[2]] = q[2]; match($0, /"\[[0-9]+\]/)
			far[own, p[2]] = substr($0, RSTART + 2, RLENGTH - 3); next }
		FILENAME == "net" { next }
		{ mark["S-" $1, $2] = 1; node["S-" $1] = 1 }
		function walk(s, from,   k, f) {
			seen[s] = 1
			for (k in mark) {
				split(k, f, SUBSEP)
				if (f[1] != s || f[2] == 0 || f[2] == from) continue
				if (peer[k] ~ /^H-/) { got[peer[k]]++; continue }
				if (!((peer[k], far[k]) in mark)) { print "one end alone:", s, f[2]; bad = 1; continue }
				if (peer[k] in seen) { print "a circle at", peer[k]; bad = 1; continue }
				walk(peer[k], far[k])
			}
		}
		END {
			for (s in node) { walk(s, -1); break }
			for (s in node) if (!(s in seen)) { print "not connected:", s; bad = 1 }
			n = split(members, m, " ")
			for (i = 1; i <= n; i++) { if (got[m[i]] != 1) { print "no copy for", m[i]; bad = 1 }; delete got[m[i]] }
			for (h in got) if (got[h]) { print "a copy for", h; bad = 1 }
			exit bad
		}' net marks.now
}

member_nodes()
{
	for k in 1 2 $((hosts / 2 + 1)) "$hosts"; do
		host "$k"
	done
}

tree_holds()
{
	until_true 2 tree_right "$@" || { tree_right "$@" && cat marks.now && false; } # forty looks
}

# ---- what fails ----

# choose: orders for the console, the failures and then the ways back. The switch with the most marks of the tree, of those
# without a member; a cable between other switches, if all others stay connected without both; else that of a host.
choose()
{
	awk -v keep="$(member_nodes)" '
		BEGIN { n = split(keep, k, /[ \n]+/); for (i = 1; i <= n; i++) kept[k[i]] = 1 }
		FILENAME == "net" && /^Switch/ { split($0, q, "\""); own = q[2]; order[++ns] = own; next }
		FILENAME == "net" && /^Ca/ { own = ""; next }
		FILENAME == "net" && own != "" && /^\[/ { split($1, p, /[][]/); split($0, q, "\""); peer[own, p[2]] = q[2]; ports[own] = ports[own] " " p[2]
			if (q[2] in kept) needed[own] = 1; next }
		FILENAME == "net" { next }
		peer["S-" $1, $2] ~ /^S-/ { marked["S-" $1]++ }
		function reach(s, without, cut_a, cut_b,   i, m, p, t) {
			seen[s] = 1
			m = split(ports[s], p, " ")
			for (i = 1; i <= m; i++) {
				t = peer[s, p[i]]
				if (t ~ /^S-/ && t != without && !(t in seen) && !(s == cut_a && t == cut_b) && !(s == cut_b && t == cut_a))
					reach(t, without, cut_a, cut_b)
			}
		}
		function whole(without, a, b,   i, c) {
			split("", seen)
			for (i = 1; i <= ns && order[i] == without; i++) ;
			reach(order[i], without, a, b)
			for (i = 1; i <= ns; i++) c += order[i] in seen
			return c == ns - (without != "")
		}
		function cable(without,   i, j, m, p, t) {
			for (i = 1; i <= ns; i++) {
				m = split(ports[order[i]], p, " ")
				for (j = 1; order[i] != without && j <= m; j++) {
					t = peer[order[i], p[j]]
					if (t ~ /^S-/ && t != without && whole(without, order[i], t)) return "\"" order[i] "\"[" p[j] "]"
				}
			}
			for (i in peer) if (peer[i] ~ /^H-/ && !(peer[i] in kept)) { split(i, p, SUBSEP); if (p[1] != without && (!t || i < t)) t = i }
			split(t, p, SUBSEP)
			return "\"" p[1] "\"[" p[2] "]"
		}
		END {
			for (i = 1; i <= ns; i++)
				if (!(order[i] in needed) && whole(order[i]) && (best == "" || marked[order[i]] > marked[best])) best = order[i]
			c = cable(best)
			if (best != "") print "off \"" best "\""
			print "unlink " c
			print "relink " c
			if (best != "") print "on \"" best "\""
		}' net marks.now
}

fail()
{
	grep -E '^(off|unlink)' orders | while read -r order; do emu_ask "$order" || exit 1; done
}

mend()
{
	grep -E '^(relink|on)' orders | while read -r order; do emu_ask "$order" || exit 1; done
}

# becomes LIKE NOW: what the SA answers becomes what another manager, or this one before, answered
becomes()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		ask "$2"
		same "$1" "$2" > differs && return
		sleep 0.5
	done
	cat differs
	return 1
}

# ---- the story ----

# told ORDERS: that all hosts were told to register again, so often at least
told()
{
	[ "$(figure 'hosts told to reregister')" = "$hosts" ] && [ "$(figure 'orders to reregister')" -ge "$1" ] || { emu_ask stat && false; }
}

first()
{
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $1 -o net && emu_start net || return 1
	hosts=$(grep -c '^Ca' net)
	opensm_begin 5 && opensm_up && register && ask opensm.a
	tree_holds $(member_nodes)
}

opensm_dies()
{
	weft_begin 0
	weft_stands_by && until_true 30 has_copy 4 2 2 || { sm_ask sa && return 1; }
	killed "$opensm_pid"
	opensm_pid=
	weft_is_master && ask weft.a && same opensm.a weft.a && tree_holds $(member_nodes)
}

fails()
{
	choose > orders && cat orders
	n_changes=$(sm_changes)
	fail && sm_settled $((n_changes + 1)) && weft_is_master && tree_holds $(member_nodes) && ask weft.gone && ! same weft.a weft.gone > /dev/null
}

comes_back()
{
	mend && becomes weft.a weft.back && tree_holds $(member_nodes)
}

# With a higher priority. OpenSM asks all hosts to register again, and begins with an empty registry. Marks of the tree before
# its own stay in switches that have no part in its own: they are not judged here, and Weft removes them when it is back.
opensm_takes_over()
{
	before=$(figure 'orders to reregister')
	opensm_begin 9 && opensm_up && weft_stands_by && told $((before + hosts)) && register && becomes weft.back opensm.b
}

opensm_fails()
{
	fail && becomes weft.gone opensm.gone && mend && becomes weft.back opensm.back
}

weft_takes_over()
{
	sm_stop
	weft_begin 12 && weft_is_master && becomes opensm.back weft.c && tree_holds $(member_nodes)
}

weft_dies()
{
	before=$(figure 'orders to reregister') up=$(opensm_said)
	killed "$sm_pid"
	sm_pid=
	opensm_up "$up" && told $((before + hosts)) && register && becomes weft.c opensm.d
}

# step NAME FUNCTION [ARG]: after one that failed, others have nothing to go on from
step()
{
	name=$fabric:\ $1
	shift
	if [ "$broken" ]; then
		skip "$name" "a step before it failed"
	else
		ok "$name" tried "$@"
	fi
}

tried()
{
	"$@" && return
	broken=1
	return 1
}

story()
{
	broken=
	step "OpenSM manages, hosts register" first "$fabric"
	step "OpenSM dies: Weft has the same records, registrations and a right tree" opensm_dies
	step "the middle of the tree and a cable fail: the tree is right" fails
	step "they come back: the same records" comes_back
	step "OpenSM takes over from a running Weft: the same records" opensm_takes_over
	step "the same failures with OpenSM: the same records" opensm_fails
	step "Weft takes over from a running OpenSM: the same records" weft_takes_over
	step "Weft is killed, OpenSM takes over: the same records" weft_dies
	sm_stop
	opensm_stop
}

[ $# -gt 0 ] || set -- "mtree 4 2"
for fabric; do
	story
done
echo "1..$n"
