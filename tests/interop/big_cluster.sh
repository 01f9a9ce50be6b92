#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A dump like those of large clusters, with everything that makes them untidy: big_cluster.sh WEFT
#
# A generated fat tree of 3,456 hosts and 720 switches is rewritten as ibnetdiscover would print such a
# cluster after some years: three generations of link rates, an aggregation node on an extra port of each
# leaf, a router, hosts with two ports (on two leaves, or both on the same one), a cable that leads back into
# its switch, links that only one end lists, names with quotes, brackets and comment signs, two kinds of line
# ends, and error messages of the tool between the lines. Weft must read it with the expected warnings only,
# and bring it up.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need jq awk

limit=60 # seconds a bring-up may take, with room for a sanitizer on a slow machine

# Leaves stand first in a generated tree; the first 288 switches bear the hosts. Two passes: what is
# added to one node is listed by the other as well.
age()
{
	awk -v CRLF='\r' '
	function node_line(kind, ports, id, name, tail) {
		return kind "\t" ports " \"" id "\"\t\t# \"" name "\"" tail
	}
	function guid(id) { return substr(id, 3) }
	function bare(id) { sub(/^0+/, "", id); return id }
	function port_guid(id, num) { return bare(guid(id)) (name[id] ~ /Aggregation|RT$/ ? "" : num) }
	# Generations of hardware: by the leaf a host hangs from, by level between switches.
	function rate(a, b) {
		if (a ~ /^S/ && b ~ /^S/) return (index_of[a] + index_of[b]) % 3 ? "4xNDR" : "4xHDR"
		leaf = a ~ /^S/ ? a : b
		return index_of[leaf] % 4 == 0 ? "4xEDR" : index_of[leaf] % 4 == 1 ? "2xHDR" : "4xHDR"
	}
	function link_to(a, pa, b, pb) { n_links[a]++; link[a, n_links[a]] = pa " " b " " pb }
	function join(a, pa, b, pb) { link_to(a, pa, b, pb); link_to(b, pb, a, pa) }
	/^(Switch|Ca)/ {
		split($0, q, "\""); at = q[2]; order[++nodes] = at; ports[at] = $2 + 0; name[at] = q[4]
		if (at ~ /^S/) index_of[at] = switches++
		else index_of[at] = hosts++
	}
	/^\[/ {
		split($0, q, "\""); split($1, p, /[][]/); split(q[3], r, /[][]/)
		link_to(at, p[2], q[2], r[2])
		if (at ~ /^H/) leaf_of[at] = q[2]
	}
	END {
		for (i = 1; i <= nodes; i++)
			if (order[i] ~ /^S/) sw[index_of[order[i]]] = order[i]
		leaves = 288; base = nodes
		for (i = 1; i <= base; i++) {
			at = order[i]
			# Two-port hosts: an extra port of the next leaf, or of the same.
			if (at ~ /^H/ && index_of[at] % 8 == 3) {
				ports[at] = 2; s = sw[(index_of[leaf_of[at]] + 1) % leaves]
				join(at, 2, s, ++ports[s])
			} else if (at ~ /^H/ && index_of[at] % 64 == 5) {
				ports[at] = 2; s = leaf_of[at]
				join(at, 2, s, ++ports[s])
			}
		}
		for (i = 0; i < leaves; i++) {
			s = sw[i]
			if (i % 32 == 7) { # a cable that leads back into its switch
				a = ++ports[s]; b = ++ports[s]
				join(s, a, s, b)
			}
			an = sprintf("H-b8599f0300f%05x", i * 16)
			order[++nodes] = an; ports[an] = 1
			name[an] = "Mellanox Technologies Aggregation Node"
			join(s, ++ports[s], an, 1)
		}
		order[++nodes] = router = "R-b8e924030000b928"; ports[router] = 8
		name[router] = "MF0;gate:Q3400_RA/U2/RT"
		join(sw[0], ++ports[sw[0]], router, 2)
		for (i = 1; i <= nodes; i++) {
			at = order[i]
			if (at ~ /^S/) name[at] = "MF0;" name[at] ":MQM8700/U" index_of[at] % 2 + 1
			else if (name[at] ~ /^host/) {
				sub(/^host /, "node", name[at]); name[at] = name[at] " HCA-1"
				if (index_of[at] % 100 == 1) name[at] = "the \"old\" one [" index_of[at] "] # lid 7 4xSDR"
				if (index_of[at] % 100 == 2) name[at] = "bj\303\266rn\047s box " index_of[at] " (lab]"
				if (index_of[at] % 100 == 4) name[at] = ""
			}
		}
		print "#\n# Topology file: generated on Tue May  6 09:15:10 2025\n#"
		print "# Initiated from node " guid(order[base]) " port " guid(order[base]) "\n"
		for (i = 1; i <= nodes; i++) print_node(order[i])
	}
	function print_node(at,    i, f, end, line, word, is_switch) {
		is_switch = at ~ /^S/
		end = index(at, "7") % 2 ? CRLF : "" # part of the file went through another system
		if (is_switch && index_of[at] % 80 == 9)
			print "src/query_smp.c:199; umad (DR path slid 0; dlid 0; 0,1," index_of[at] " Attr 0x11:0) bad status 110; Connection timed out"
		print "vendid=0x2c9" end
		print "devid=0x" (is_switch ? "d2f0" : name[at] ~ /Aggregation/ ? "cf09" : "101b") end
		print "sysimgguid=0x" bare(guid(at)) end
		word = is_switch ? "switchguid=0x" : at ~ /^R/ ? "rtguid=0x" : "caguid=0x"
		print word bare(guid(at)) (is_switch ? "(" bare(guid(at)) ")" : "") end
		# Some firmware counts the aggregation port, some does not.
		print node_line(is_switch ? "Switch" : at ~ /^R/ ? "Rt" : "Ca", is_switch && index_of[at] % 40 == 3 ? ports[at] - 1 : ports[at],
			at, name[at], is_switch ? (index_of[at] % 2 ? " enhanced" : " base") " port 0 lid 0 lmc 0" : "") end
		for (i = 1; i <= n_links[at]; i++) {
			split(link[at, i], f, " ")
			# A cable just pulled or plugged: one of the two does not list it yet.
			if (is_switch && f[2] ~ /^S/ && index_of[at] < index_of[f[2]] && (index_of[at] * 31 + f[1]) % 200 == 0)
				continue
			line = "[" f[1] "]" (is_switch ? "" : "(" port_guid(at, f[1]) ")") "\t\"" f[2] "\"[" f[3] "]"
			if (f[2] !~ /^S/) line = line "(" port_guid(f[2], f[3]) ")"
			print line " \t\t# " (is_switch ? "" : "lid 0 lmc 0 ") "\"" name[f[2]] "\" lid 0 " rate(at, f[2]) end
		}
		print end
	}'
}

# The facts of the file, counted without weft.
expect()
{
	awk '/^Switch/ { switches++ } /^Ca/ { hosts++ } /^\[/ { ends++ } /query_smp/ { complaints++ }
		END { print switches, hosts, ends, complaints }' aged.net > counts
	read -r switches hosts ends complaints < counts
	echo "$switches switches, $hosts hosts, $ends ends of links, $complaints complaints"
}

ages()
{
	"$weft" topo gen mtree 24 3 -o tree.net || return 1
	age < tree.net > aged.net
	expect
	[ "$switches" -eq 720 ] && [ "$hosts" -eq 3744 ] && [ "$complaints" -gt 0 ] &&
		grep -q "$(printf '\r')" aged.net && grep -qv "$(printf '\r')" aged.net
}

# Every warning is of a kind that was put in, and the ends add up: a link has two, or one with a
# warning that it was completed.
is_read()
{
	"$weft" topo show aged.net --json > shown || return 1
	jq -r '.warnings[]' shown > warnings
	completed=$(grep -c 'which does not list it; the link is completed' warnings)
	grown=$(grep -c 'is declared with .* ports, but port .* is used' warnings)
	heard=$(grep -c 'the tool that wrote the file reported an error' warnings)
	echo "$completed links completed, $grown switches grown, $heard complaints heard"
	[ "$completed" -gt 0 ] && [ "$grown" -gt 0 ] && [ "$heard" -eq "$complaints" ] &&
		[ "$(wc -l < warnings)" -eq $((completed + grown + heard)) ] || { head warnings && return 1; }
	jq -e --argjson links $(((ends + completed) / 2)) --argjson switches "$switches" --argjson hosts "$hosts" \
		'.switches == $switches and .hosts == $hosts and .routers == 1 and .links == $links and .components == 1 and
		.isolated == 0' shown || { jq 'del(.warnings)' shown && return 1; }
	jq -e '[.rates[].rate] == ["2x HDR", "4x EDR", "4x HDR", "4x NDR"] or
		[.rates[].rate] == ["4x EDR", "2x HDR", "4x HDR", "4x NDR"]' shown || { jq .rates shown && false; }
}

# A node can be called by its name, whatever is in it.
names_survive()
{
	"$weft" topo dot aged.net -o dot 2> /dev/null && grep -F 'the \"old\" one [101] # lid 7 4xSDR' dot || return 1
	for called in 'the "old" one [301] # lid 7 4xSDR' "$(printf 'bj\303\266rn\047s box 102 (lab]')"; do
		"$weft" route compute aged.net --root "$called" --json 2> err | jq -e .verified ||
			{ tail -n 1 err && return 1; }
	done
}

comes_up()
{
	began=$(date +%s)
	"$weft" sim up aged.net --json > up.json 2> /dev/null || { cat up.json && return 1; }
	took=$(($(date +%s) - began))
	two_ports=$(grep -c '^Ca.2 ' aged.net)
	echo "up in $took s, $two_ports hosts with two ports"
	[ "$took" -le $limit ] || return 1
	jq -e --argjson nodes $((switches + hosts + 1)) --argjson lids $((switches + hosts + 1 + two_ports)) \
		'.state == "active" and .verified and .nodes == $nodes and .lids == $lids' up.json || { cat up.json && false; }
}

# A host with two ports is found a second time through its other port; managed from there, the
# subnet is the same.
comes_up_from_the_second_port()
{
	node=$(sed -n 's/^Ca.2 "\(H-[0-9a-f]*\)".*/\1/p' aged.net | tail -n 1)
	"$weft" sim up aged.net --sm "$node" --discovery full --json > up.json 2> /dev/null || { cat up.json && return 1; }
	jq -e --argjson nodes $((switches + hosts + 1)) '.state == "active" and .verified and .nodes == $nodes' up.json
}

routes()
{
	"$weft" route compute aged.net --lfts aged.lfts --json > computed 2> /dev/null || { cat computed && return 1; }
	jq -e .verified computed && "$weft" route verify aged.net aged.lfts --json > verdict 2> /dev/null &&
		jq -e '.ok and .unreachable == 0 and .cycles == 0' verdict
}

if ages > said 2>&1; then
	n=1
	echo "ok 1 - a tree becomes an old cluster"
else
	sed 's/^/# /' said >&2
	echo "Bail out! no cluster to test with"
	exit 1
fi
ok "it is read with the warnings it deserves" is_read
ok "names with anything in them survive" names_survive
ok "it comes up verified" comes_up
plain_only "also from a host with two ports" comes_up_from_the_second_port
plain_only "its routes are computed and verified" routes
echo "1..$n"
