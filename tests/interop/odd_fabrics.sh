#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Odd fabrics on ibsim and on weft fabric, with Weft and with OpenSM, as TAP: odd_fabrics.sh PATH/TO/weft
#
# The manager on a host with two ports in one subnet; two devices with one GUID; a chain beyond 63 hops; a link
# behind which nothing can be configured. Covers: duplicates.c, daemon_ready.c

# shellcheck disable=SC2015,SC2119,SC2317 # `a && b || explain`; functions called by ok
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$here/lib_fabric.sh"
trap 'sm_stop; opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
need jq ibsim opensm
need_umad2sim

# two_ports SECOND: host 10 has port 1 at switch 20 and port 2 at switch SECOND (20 or 21)
two_ports()
{
	cat << END
caguid=0x10
Ca 2 "H-0000000000000010" # "dual"
[1](11) "S-0000000000000020"[1]
[2](12) "S-00000000000000$1"[2]

caguid=0x30
Ca 1 "H-0000000000000030" # "other"
[1](31) "S-0000000000000021"[3]

switchguid=0x20
Switch 4 "S-0000000000000020" # "a" base port 0 lid 0 lmc 0
[1] "H-0000000000000010"[1](11)
[4] "S-0000000000000021"[4]
$([ "$1" != 20 ] || echo '[2] "H-0000000000000010"[2](12)')

switchguid=0x21
Switch 4 "S-0000000000000021" # "b" base port 0 lid 0 lmc 0
[3] "H-0000000000000030"[1](31)
[4] "S-0000000000000020"[4]
$([ "$1" != 21 ] || echo '[2] "H-0000000000000010"[2](12)')
END
}

has_five()
{
	jq -e '.switches == 2 and .hosts == 2 and .lids == 5' up.json || { cat up.json sm.log && false; }
}

# on_both_ports SERVER SECOND: Weft with its seat on the host with two ports
on_both_ports()
{
	server=$1
	two_ports "$2" > two.net
	fabric_start two.net && sm_once && has_five && discover seen.net && same_graph two.net seen.net rate && links_active > ends &&
		[ "$(cat ends)" -ge 4 ]
}

opensm_on_both_ports()
{
	two_ports "$1" > two.net
	emu_start two.net && opensm_once && all_active 4
}

# twins NODE PORT: hosts "first" and "second" at two switches, the second with these GUIDs. ibsim takes the node's
# GUID and one more for the port.
twins()
{
	cat << END
caguid=0x10
Ca 1 "H-0000000000000010" # "manager"
[1](11) "S-0000000000000020"[1]

caguid=0x40
Ca 1 "H-0000000000000040" # "first"
[1](41) "S-0000000000000020"[2]

caguid=0x$1
Ca 1 "second" # "second"
[1]($2) "S-0000000000000021"[2]

switchguid=0x20
Switch 4 "S-0000000000000020" # "a" base port 0 lid 0 lmc 0
[1] "H-0000000000000010"[1](11)
[2] "H-0000000000000040"[1](41)
[4] "S-0000000000000021"[4]

switchguid=0x21
Switch 4 "S-0000000000000021" # "b" base port 0 lid 0 lmc 0
[2] "second"[1]($2)
[4] "S-0000000000000020"[4]
END
}

# duplicate SERVER NODE PORT GUID: all but the second host are up, and log and weft ctl name both
duplicate()
{
	server=$1
	twins "$2" "$3" > twins.net
	fabric_start twins.net && sm_start || return 1
	jq -e '.subnet.switches == 2 and .subnet.hosts == 2 and .subnet.duplicates[0].left_at.port == 2 and
		(.subnet.duplicates[0].guid | endswith("'"$4"'"))' status || { cat status && return 1; }
	grep -q "two devices have GUID 0x00000000000000$4: .* behind .* port 2 is left out" sm.log || { cat sm.log && return 1; }
	"$weft" ctl --socket "$dir/ctl" status | grep -q '^duplicate' && sm_stop
}

# OpenSM brings up the others as well: that is what a manager may be asked for
opensm_duplicate()
{
	twins 50 41 > twins.net
	emu_start twins.net && opensm_once && [ "$(figure 'ports Active')" -ge 6 ] && grep -qi duplicat osm/log
}

chain()
{
	awk -v n="$1" 'BEGIN {
		for (i = 1; i <= n; i++) {
			printf "Switch 3 \"S-%016x\" # \"\" base port 0 lid 0 lmc 0\n", i
			if (i > 1) printf "[1] \"S-%016x\"[2]\n", i - 1
			if (i < n) printf "[2] \"S-%016x\"[1]\n", i + 1
			if (i == 1) print "[3] \"H-0000000000001000\"[1](1001)"
			if (i == n) print "[3] \"H-0000000000002000\"[1](2001)"
			print ""
		}
		printf "Ca 1 \"H-0000000000001000\" # \"near\"\n[1](1001) \"S-%016x\"[3]\n\n", 1
		printf "Ca 1 \"H-0000000000002000\" # \"far\"\n[1](2001) \"S-%016x\"[3]\n", n
	}'
}

# far LENGTH MECHANISM: one summary, which has the far host
far()
{
	chain "$1" > chain.net
	server=fabric
	fabric_start chain.net && sm_once --mechanism "$2" && [ "$(jq -s length up.json)" -eq 1 ] &&
		jq -e ".switches == $1 and .hosts == 2" up.json
}

# ibsim forwards no mixed routes: what is beyond stays unmanaged, and that is said
out_of_reach()
{
	chain 63 > chain.net
	server=ibsim
	fabric_start chain.net || return 1
	timeout 60 "$weft" sm --transport ibsim --state '' --control '' --once --json > up.json 2> sm.log || { cat sm.log && return 1; }
	[ "$(jq -s length up.json)" -eq 1 ] && jq -e '.clean == false and .hosts == 1' up.json && grep -q out_of_reach: sm.log ||
		{ cat up.json sm.log && false; }
}

# The link is up, and no SMP crosses it.
nothing_behind()
{
	twins 50 51 > twins.net
	emu_start twins.net && emu_ask 'loss "H-0000000000000010"[1] 100%' > /dev/null || return 1
	timeout 60 "$weft" sm --transport ibsim --state '' --control '' --timeout 5ms --retries 1 --once > up 2> sm.log
	[ $? -eq 1 ] && ! grep -q 'SUBNET UP' up && grep -q 'the subnet is not up' sm.log || { cat up sm.log && false; }
}

for second in 20 21; do
	ok "ibsim: the manager has both ports in the subnet, at 20 and $second" on_both_ports ibsim $second
	ok "weft fabric: the manager has both ports in the subnet, at 20 and $second" on_both_ports fabric $second
	ok "weft fabric: OpenSM has both ports in the subnet, at 20 and $second" opensm_on_both_ports $second
done
for on in ibsim fabric; do
	ok "$on: a host with the port GUID of a switch" duplicate $on 1f 20 20
done
ok "weft fabric: two hosts with all GUIDs the same" duplicate fabric 40 41 40 # ibsim refuses that
ok "weft fabric: two hosts with one port GUID" duplicate fabric 50 41 41
ok "weft fabric: OpenSM beside two hosts with one port GUID" opensm_duplicate
for mechanism in weft improved basic; do
	ok "weft fabric: a chain of 130 switches, $mechanism" far 130 $mechanism
done
ok "ibsim: a host 64 hops away is out of reach, and that is said" out_of_reach
ok "weft fabric: a link with nothing behind it is no subnet" nothing_behind
echo "1..$n"
