#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures as Wireshark reads them: tshark.sh PCAP_SAMPLE
#
# The helper writes packets with a different number in each field; tshark must find each number in its field,
# dissect the packets down to the attribute of an SMP, and report nothing malformed. It does not check the
# CRCs of this link type; the unit test does.

sample=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need tshark
HOME=$dir # without the user's preferences
export HOME

# fields FRAMES EXPECTED FIELD...: these fields of these frames, a line each, spaces between
fields()
{
	filter=$1
	echo "$2" > expected
	shift 2
	# shellcheck disable=SC2046 # as many words as it prints
	set -- $(printf -- '-e infiniband.%s ' "$@")
	tshark -n -r capture.pcapng -Y "$filter" -T fields -E separator=/s "$@" > found 2> err ||
		{ cat err && return 1; }
	diff expected found
}

frames()
{
	tshark -n -r capture.pcapng -T fields -E separator=/s -e frame.interface_name \
		-e frame.time_epoch -e frame.len -e frame.cap_len > found 2> err || { cat err && return 1; }
	cat > expected << 'END'
host1/1 0.000000000 42 42
switch1/3 0.500000001 98 98
host1/1 1.000000000 290 290
switch1/3 1.000012345 290 290
host1/1 1000000.000000000 4122 4122
END
	diff expected found
}

# Nothing malformed, nothing left undissected, not one remark by an expert.
clean()
{
	tshark -n -r capture.pcapng -Y '_ws.malformed || _ws.expert || _ws.unreassembled || !infiniband' \
		> found 2> err || { cat err && return 1; }
	[ ! -s found ] || { cat found && return 1; }
}

summary()
{
	tshark -n -r capture.pcapng -Y infiniband.mad -T fields -e _ws.col.Info > found 2> err ||
		{ cat err && return 1; }
	sed 's/.* //' found > said_of_mads
	printf 'SubnGet(NodeInfo)\nSubnGetResp(NodeInfo)\n' | diff - said_of_mads
}

data()
{
	tshark -n -r capture.pcapng -Y 'frame.number == 1' -T fields -e data.data > found 2> err ||
		{ cat err && return 1; }
	echo 7761727020616e642077656674000000 | diff - found # "warp and weft" and its pad
}

rest=$(printf '%0122d' 0) # of a path of 64 bytes, behind its first three
ok "the capture is written" "$sample" capture.pcapng
ok "interfaces, times and lengths" frames
ok "every packet is InfiniBand and none malformed" clean
ok "LRH: VL, SL, LNH, DLID, packet length, SLID" fields infiniband.lrh \
	"0x02 5 0x02 34 10 17
0x01 3 0x02 49153 24 51
0x0f 0 0x02 65535 72 65535
0x0f 0 0x02 65535 72 65535
0x02 5 0x02 34 1030 17" \
	lrh.vl lrh.sl lrh.lnh lrh.dlid lrh.pktlen lrh.slid
ok "BTH: opcode, pad count, P_Key, destination QP, PSN" fields 'frame.number < 4' \
	"4 3 65535 0x123456 11259375
100 0 32769 0xffffff 7
100 0 65535 0x000000 0" \
	bth.opcode bth.padcnt bth.p_key bth.destqp bth.psn
ok "DETH: Q_Key, source QP" fields infiniband.deth \
	"0x000000000badcafe 0x00654321
0x0000000000000000 0x00000000
0x0000000000000000 0x00000000" \
	deth.q_key deth.srcqp
ok "payload" data
ok "MAD: class, method, status, transaction, attribute" fields infiniband.mad \
	"0x81 0x01 0x0000 0x1122334455667788 0x0011
0x81 0x81 0x8000 0x1122334455667788 0x0011" \
	mad.mgmtclass mad.method mad.status mad.transactionid mad.attributeid
ok "SMP: hops, DrSLID, DrDLID, paths" fields infiniband.smpdirected \
	"0x02 0x02 0xffff 0xffff 000103$rest 000400$rest
0x02 0x02 0xffff 0xffff 000103$rest 000406$rest" \
	smpdirected.hoppointer smpdirected.hopcount smpdirected.drslid smpdirected.drdlid \
	smpdirected.initialpath smpdirected.returnpath
ok "NodeInfo: type, ports, GUID, local port" fields 'infiniband.mad.method == 0x81' \
	"0x02 0x18 0x2000000000000002 0x06" \
	nodeinfo.nodetype nodeinfo.numports nodeinfo.nodeguid nodeinfo.localportnum
ok "the list of packets names the SMPs" summary
echo "1..$n"
