#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Failures around `weft sm`: sm_restarts.sh WEFT [ibsim|fabric [KILLS]]
#
# It is killed during bring-ups; its server is killed and started again; the disk is full; the configuration
# is reloaded; libibumad and UDP replace ibsim's socket.
#
# Covers: transport_umad.c, connector.c, daemon_orders.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
kills=${3:-10}
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
server=${2:-ibsim}
need ibnetdiscover ibsim jq
need_umad2sim

"$weft" topo gen mtree 8 3 -o net

# ---- kill -9 ----

# A moment of the bring-up, drawn from a fixed row so that a failure can be repeated.
moment()
{
	awk -v n="$1" 'BEGIN { srand(n); printf "0.%03d", rand() * 120 }'
}

# LIDs that devices have, one "GUID LID" a line; those without one are left out.
given()
{
	lids "$1" | awk '$NF > 0'
}

killed_once()
{
	"$weft" sm --transport ibsim --state state.db --control '' > sm.log 2>&1 &
	victim=$!
	sleep "$(moment "$1")"
	kill -9 $victim 2> /dev/null
	wait $victim 2> /dev/null
	discover dump && given dump >> seen
}

# A LID that a device ever had it has at the end, and there are no two ends.
same_end()
{
	: > seen
	i=0
	while [ $i -lt "$kills" ]; do
		i=$((i + 1))
		killed_once $i || return 1
	done 2> /dev/null # the shell tells of each killed child
	sm_once --state state.db || return 1
	discover dump && same_graph net dump || return 1
	given dump > end
	[ "$(wc -l < end)" -eq 208 ] || { echo "$(wc -l < end) nodes have a LID" && return 1; }
	sort -u seen | comm -23 - end > lost
	[ ! -s lost ] || { echo "LIDs that changed:" && cat lost && false; }
}

# The file alone brings the same LIDs to a fabric that has forgotten everything.
cold_again()
{
	fabric_start net && sm_once --state state.db && discover dump && given dump > again && cmp end again
}

# ---- what was known at rest ----

smps() { jq .smps up.json; }
sets() { jq '.smps_by_purpose | .configuration + .distribution + .activation' up.json; }
few() { [ "$(smps)" -le 280 ] && [ "$(sets)" -eq 0 ] || { echo "$(smps) SMPs, $(sets) of them Sets" && return 1; }; }

# 80 switches and three SMPs each; names are asked for besides. From scratch it takes thousands.
next_to_nothing()
{
	sm_once --state state.db > said && sm_once --state state.db > said && few
}

# Killed at rest the file holds; killed in the middle of a change it does not, and all is read.
killed_at_rest()
{
	rm -f state.db.fabric
	sm_start --state state.db || return 1
	i=0
	until [ -s state.db.fabric ] && [ "$(dd if=state.db.fabric bs=8 skip=1 count=1 2> /dev/null | tr -d "\\0")" = complete ]; do
		[ $i -lt 100 ] || { echo "nothing was written" && return 1; }
		i=$((i + 1))
		sleep 0.1
	done
	kill -9 "$sm_pid" && wait "$sm_pid" 2> /dev/null
	sm_pid=
	sm_once --state state.db > said && few
}

# A damaged mark says nothing; a file of another time, or cut short, is not used either.
not_believed()
{
	for harm in 'printf "\0" | dd of=state.db.fabric bs=1 seek=8 conv=notrunc' \
		'printf "0" | dd of=state.db.fabric bs=1 seek=9 conv=notrunc' \
		'truncate -s -1 state.db.fabric' 'truncate -s 30 state.db.fabric' ': > state.db.fabric'; do
		sh -c "$harm" 2> /dev/null
		sm_once --state state.db > said || return 1
		[ "$(smps)" -gt 1000 ] || { echo "$(smps) SMPs after: $harm" && return 1; }
		sm_once --state state.db > said && few || return 1
	done
	discover dump && given dump | cmp again -
}

# ---- the server goes and comes ----

server_restarts()
{
	sm_start || return 1
	discover dump && given dump > before || return 1
	kill -9 "$ibsim_pid" && wait "$ibsim_pid" 2> /dev/null
	sleep 1
	kill -0 "$sm_pid" || { cat sm.log && return 1; }
	sm_ask status | jq -e '.phase == "off"' > /dev/null || { cat ctl.err && return 1; }
	fabric_serve net
	sm_settled 2 || return 1
	grep -q 'connection_lost' sm.log && discover dump && same_graph net dump && given dump | cmp before - &&
		links_active > /dev/null
}

# ---- a disk that takes nothing ----

disk_is_full()
{
	rm -f full.db*
	sm_stop
	sh -c "ulimit -f 4; exec '$weft' sm --transport ibsim --state full.db --control '$dir/ctl'" > sm.log 2>&1 &
	sm_pid=$!
	sm_settled 1 || return 1
	[ "$(grep -c state_failed sm.log)" -eq 1 ] || { cat sm.log && return 1; }
	console 'Unlink "S-0002000000000009"[6]'
	sm_settled 2 || return 1
	console 'Relink "S-0002000000000009"[6]'
	sm_settled 3 && [ "$(grep -c state_failed sm.log)" -eq 1 ]
}

# ---- signals ----

rereads()
{
	cat > sm.yaml << 'END'
log:
  level: notice
END
	sm_start --config sm.yaml || return 1
	printf 'log:\n  level: debug\n' > sm.yaml
	kill -HUP "$sm_pid"
	wait_for 'reloaded: configuration reloaded' || return 1
	sm_ask status | jq -e '.log_level == "debug"' || return 1
	printf 'log:\n  lavel: debug\n' > sm.yaml
	kill -HUP "$sm_pid"
	wait_for 'reload_failed: .*sm.yaml:2' && sm_ask status | jq -e '.log_level == "debug"'
}

wait_for()
{
	tries=0
	until grep -q "$1" sm.log; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { tail -n 3 sm.log && return 1; }
		sleep 0.02
	done
}

dumps_and_reopens()
{
	mkdir -p dumps
	sm_start --dumps dumps --log-file here.log || return 1
	rm -rf dumps
	mkdir dumps
	mv here.log gone.log
	kill -USR1 "$sm_pid"
	tries=0
	until [ -s dumps/opensm-lfts.dump ] && [ -e here.log ]; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { ls dumps && return 1; }
		sleep 0.02
	done
}

# A child writes large ones, and says so in the parent's log, be that a pipe.
large_dumps()
{
	"$weft" topo gen mtree 20 3 -o large && fabric_start large || return 1
	rm -rf dumps
	{ timeout 60 "$weft" sm --transport ibsim --state '' --control '' --dumps dumps --once --log-level info \
		2>&1 > up | cat > sm.log; } && grep -q ' dumped' sm.log || { cat sm.log && return 1; }
	[ "$(grep -c '^Unicast lids' dumps/opensm-lfts.dump)" -eq 500 ]
}

# ---- other ways ----

# By libibumad, as on hardware: libumad2sim stands in for the devices.
by_umad()
{
	sm_stop
	rm -f up.json
	fabric_start net || return 1
	# A sanitizer wants to be loaded first, but does not need to; and libumad2sim copies 32 bytes more
	# than it has, which must not be our fault.
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:replace_intrin=0 LD_PRELOAD=$preload \
		timeout 60 "$weft" sm --transport umad --state '' --control '' --once --json > up.json 2> sm.log
	jq -e '.state == "up" and .clean and .hosts == 128' up.json || { cat up.json sm.log && return 1; }
	discover dump && same_graph net dump && links_active > /dev/null
}

no_device()
{
	[ ! -e /sys/class/infiniband ] || return 0
	timeout 20 "$weft" sm --transport umad --state '' --control '' --once > refusal 2>&1
	[ $? -eq 1 ] && grep -q 'no InfiniBand device' refusal || { cat refusal && false; }
}

by_udp()
{
	fabric_stop
	for port in 17070 27070 37070 47070; do
		if [ "$server" = ibsim ]; then
			ibsim -r -l $port -s -N 20000 -S 3000 -P 120000 -L 49152 net 0<> console > ibsim.out 2>&1 &
		else
			"$weft" fabric net --no-control --quiet --udp $port 0<> console > ibsim.out 2>&1 &
		fi
		ibsim_pid=$!
		timeout 20 "$weft" sm --server "127.0.0.1:$port" --state '' --control '' --once --json > up.json 2> sm.log
		jq -e '.state == "up" and .clean and .hosts == 128' up.json && return
		fabric_stop
	done
	cat up.json sm.log
	return 1
}

ok "$server takes the netlist" fabric_start net
ok "killed $kills times while it brings the subnet up" same_end
ok "LIDs survive in the file" cold_again
ok "started again it asks next to nothing" next_to_nothing
ok "nor when it was killed at rest" killed_at_rest
ok "a file that does not hold is not believed" not_believed
ok "the server killed and started again" server_restarts
ok "a disk that takes nothing" disk_is_full
ok "SIGHUP reads the configuration again" rereads
ok "SIGUSR1 writes dumps and reopens the log" dumps_and_reopens
ok "by libibumad" by_umad
ok "without a device it says so" no_device
ok "over UDP" by_udp
[ "$server" = ibsim ] || ok "a child writes large dumps" large_dumps
echo "1..$n"
