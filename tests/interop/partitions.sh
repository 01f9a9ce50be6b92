#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Partitions beside OpenSM: partitions.sh WEFT
#
# From the same partitions.conf, both managers program the same P_Key tables into hosts and switches, and the same
# enforcement, as smpquery reads them on `weft fabric`. A reload changes them; OpenSM's own template, with each key
# changed, becomes a configuration that weft sm accepts, or is listed.
#
# Covers: cmd_config.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$here/lib_fabric.sh"
need opensm smpquery ibnetdiscover jq
need_umad2sim

# Lines "LID PORT NAME": every host's port, port 0 of switches, and their ports that have a link.
ports()
{
	discover discovered || return 1
	awk '/^(Switch|Ca|Rt)/ { sw = $1 == "Switch"; split($0, q, "\""); at = q[2]; for (i = 1; i < NF; i++) if ($i == "lid") lid = $(i + 1)
		if (sw) print lid, 0, at }
	/^\[/ { split($1, p, /[][]/); if (!sw) { match($0, /# lid [0-9]+/); lid = substr($0, RSTART + 6, RLENGTH - 6) }
		print lid, p[2], at }' discovered
}

# tables FILE: of every port its P_Keys, without empty entries at the end, and of linked ports of switches enforcement
tables()
{
	ports > ports.list || return 1
	while read -r lid num at; do
		keys=$(on_fabric smpquery pkeys "$lid" "$num" | grep '^ *[0-9]*:' | sed 's/^[^:]*://' | tr '\n' ' ' |
			sed 's/\(  *0x0000\)* *$//; s/  */ /g')
		enforced=
		case $at in
		S-*) [ "$num" = 0 ] || enforced=$(on_fabric smpquery portinfo "$lid" "$num" |
			sed -n 's/^PartEnforce[A-Za-z]*:\.*//p' | tr '\n' ' ') ;;
		esac
		echo "$at $num:$keys; $enforced"
	done < ports.list | sort > "$1"
	[ -s "$1" ] && ! grep -q ':;' "$1" || { cat "$1" && false; }
}

by_opensm()
{
	emu_start net -q && opensm_once --Pconfig "$dir/partitions.conf" && tables opensm.tables
}

by_weft()
{
	emu_start net -q && sm_once --partitions-file partitions.conf --log-level error && tables weft.tables
}

# Without definitions Weft leaves enforcement as it is: all ports are members of the one partition.
same_tables()
{
	[ "$1" != empty ] || sed -i 's/;.*//' opensm.tables weft.tables
	diff opensm.tables weft.tables
}

cases()
{
	cat << 'END'
order|A=0x0102, defmember=full : ALL ; B=0x0201 : ALL_CAS=full ; C=0x00ff : ALL_SWITCHES ; D=0x2 : SELF=full, ALL; E : ALL=both;
indx0|A=0x0102, indx0 : ALL=full ; B=0x0201, defmember=both : 0x0001000000000011, 0x0001000000000015=limited, 0x1d ; C=0x0201 : 0x000100000000001d, SELF=limited;
default|Default=0x7fff, ipoib : ALL=full ; C=0x0301 : 0x0001000000000011=both, 0x0001000000000015=full;
empty|# no definitions
END
}

"$weft" topo gen ring 3 -o net
cases > table
while IFS='|' read -r case text; do
	echo "$text" | sed 's/; /;\n/g' > partitions.conf
	ok "$case: OpenSM programs it" by_opensm
	ok "$case: Weft programs it" by_weft
	ok "$case: all tables are the same" same_tables "$case"
done < table

# ---- a reload ----

reloaded()
{
	cat > weft.yaml << END
partitions:
  file: $dir/partitions.conf
END
	echo 'A=0x10 : ALL=full;' > partitions.conf
	emu_start net -q && sm_start --config weft.yaml || return 1
	before=$(sm_changes)
	echo 'B=0x11, defmember=full : ALL;' > partitions.conf
	sm_ask reload > /dev/null && sleep 0.3 && sm_settled "$before" && tables weft.tables || return 1
	grep -q '0x8010' weft.tables && cat weft.tables && return 1
	shown=$(sm_ask partitions | jq -c '.partitions[] | [.name, .pkey, .full, .limited]' | tr '\n' ' ')
	[ "$shown" = '["Default","0x7fff",1,5] ["B","0x0011",6,0] ' ] || { echo "$shown" && return 1; }
	"$weft" ctl --socket "$dir/ctl" partitions > said.text
	grep -q '^ *0x0011 *B .*host 0=full, ' said.text || { cat said.text && return 1; }
	[ "$(grep -c '0x8011' weft.tables)" -ge 9 ] || { cat weft.tables sm.log && false; }
}

# Where auto chose an engine that could use lanes but needed one, QoS has its maps also after a reload, and no warning.
qos_reloaded()
{
	for map in 0,1,2,3 0,1,1,3; do
		printf 'qos: {enabled: true, classes: {default: {sl2vl: "%s"}}}\n' "$map" > weft.yaml
		if [ "$map" = 0,1,2,3 ]; then
			emu_start net -q && sm_start --config weft.yaml || return 1
		else
			before=$(sm_changes)
			sm_ask reload > /dev/null && sleep 0.3 && sm_settled "$before" || return 1
		fi
		lid=$(sm_ask switches | jq '.switches[0].lid')
		on_fabric smpquery sl2vl "$lid" 2 > said.map
		grep -q "in  1, out  2: | 0| 1| $(echo "$map" | cut -d , -f 3)| 3| 0|" said.map || { cat said.map sm.log && return 1; }
	done
	grep 'qos_unused' sm.log && return 1
	return 0
}

same_after_take_over()
{
	emu_start net -q && opensm_once --Pconfig "$dir/partitions.conf" && tables opensm.tables &&
		sm_once --partitions-file partitions.conf --log-level error && tables weft.tables &&
		diff opensm.tables weft.tables
}

refused()
{
	echo 'A=0x10 : ALL=ful1;' > bad.conf
	timeout 20 "$weft" sm --server none --partitions-file bad.conf > said.bad 2>&1
	[ $? = 2 ] && grep -q 'bad.conf:1: expected full, limited or both' said.bad || { cat said.bad && false; }
}

ok 'a reload changes all tables' reloaded
sm_stop
ok 'a reload changes SL-to-VL tables' qos_reloaded
sm_stop
ok 'tables of OpenSM stay as they are' same_after_take_over
ok 'a fault is reported by file and line, status 2' refused

# ---- weft config from-opensm ----

template()
{
	opensm -c "$dir/template" > said.opensm 2>&1
	[ -s template ] && sed -n 's/^\([a-z][a-z0-9_]*\) .*/\1/p' template | sort -u > keys && [ "$(wc -l < keys)" -gt 150 ]
}

# Unchanged, nothing is listed: the table has OpenSM's defaults.
unchanged()
{
	"$weft" config from-opensm template > out.yaml 2> listed || { cat listed && return 1; }
	[ ! -s listed ] && "$weft" sm --config out.yaml --check-config || { cat listed out.yaml && false; }
}

# A value that is not the default, by the form of the default.
other()
{
	case $1 in
	routing_engine) echo updn ;;
	part_enforce) echo in ;;
	*_timeout) echo 12 ;;
	*high_limit) echo 7 ;;
	*vlarb_*) echo 0:1,1:2 ;;
	*sl2vl) echo 0,1,2 ;;
	dump_files_dir) echo "$dir" ;;
	partition_config_file) echo "$dir/partitions.conf" ;;
	qos_policy_file) echo "$dir/none.conf" ;;
	root_guid_file | cn_guid_file | io_guid_file) echo "$dir/guids" ;;
	*) case $2 in
		TRUE) echo FALSE ;;
		FALSE) echo TRUE ;;
		'(null)' | /* | off) echo /bin/true ;;
		1 | 0x*1) echo 2 ;;
		*:*) echo 1:1 ;;
		*) echo 1 ;;
		esac ;;
	esac
}

each_changed()
{
	echo 'A=0x10 : ALL=full;' > partitions.conf
	echo 0x10 > guids
	"$weft" config from-opensm template 2> /dev/null | grep -v '^#' > same.yaml
	while read -r key; do
		value=$(sed -n "s/^$key //p" template | head -n 1)
		echo "$key $(other "$key" "$value")" > changed
		[ "$key" != m_key_protection_level ] || echo 'm_key 0x1' >> changed
		grep -v "^$key \|^#\|^m_key 0" template >> changed
		"$weft" config from-opensm changed > out.yaml 2> listed || { cat listed && return 1; }
		grep -q "changed:1: $key " listed && continue
		grep -v '^#' out.yaml | cmp -s - same.yaml && echo "$key is neither mapped nor listed" && return 1
		chmod 600 out.yaml
		"$weft" sm --config out.yaml --check-config > said.check 2>&1 || { cat said.check out.yaml && return 1; }
	done < keys
	return 0
}

ok "OpenSM's template is written" template
ok 'the template itself has an equivalent' unchanged
ok 'each key, changed, is mapped or listed' each_changed
echo "1..$n"
