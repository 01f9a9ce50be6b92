#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A capture of a simulated run, read by tshark: usage capture.sh WEFT      prints TAP
#
# The manager's SMPs and the hosts' packets on the first switch: what tshark counts and dissects must
# be what weft says it sent.
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need tshark jq
HOME=$dir # without the user's preferences
export HOME

"$weft" topo gen irregular 4 --hosts 4 --seed 2 --rate 1xSDR -o net
"$weft" sim run net --load 20% --duration 200us --warmup 0us --links --capture run.pcapng --json > run

dissected()
{
	tshark -r run.pcapng -Y "$1" 2> /dev/null | wc -l
}

as_many_packets()
{
	data=$(jq .packet_hops run)
	[ "$(dissected 'infiniband.bth.opcode == 4')" -eq "$data" ] ||
		{ echo "tshark sees $(dissected 'infiniband.bth.opcode == 4') data packets, weft $data" && false; }
}
ok "every data packet of every link is there" as_many_packets

none_malformed()
{
	[ "$(dissected '_ws.malformed || !infiniband')" -eq 0 ]
}
ok "none is malformed" none_malformed

lids_are_right()
{
	tshark -r run.pcapng -T fields -e infiniband.lrh.dlid -Y 'infiniband.bth.opcode == 4' 2> /dev/null |
		sort -un > lids
	[ "$(wc -l < lids)" -eq 4 ]
}
ok "they go to the four hosts" lids_are_right

only_one_node()
{
	"$weft" sim run net --load 20% --duration 200us --warmup 0us --capture one.pcapng \
		--capture-node S-0002000000000001 > /dev/null || return 1
	tshark -r one.pcapng -T fields -e frame.interface_name 2> /dev/null | sort -u > names
	[ -s names ] && ! grep -v '^S-0002000000000001' names
}
ok "--capture-node keeps to one node" only_one_node

echo "1..$n"
