#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft fabric` as a program, without programs of others, as TAP: fabric.sh PATH/TO/weft
#
# The console, scripts, events, the control socket through `weft ctl`, and shutdown.
#
# Covers: cmd_fabric.c

# shellcheck disable=SC2015,SC2217,SC2317 # `a && b || explain`; who only holds a pipe open; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
pid=
trap '[ -z "$pid" ] || kill $pid 2> /dev/null; cd /; rm -rf "$dir"' EXIT
name=weft-cli-$$

"$weft" topo gen mtree 4 2 -o net || exit 1
leaf='"S-0002000000000001"'

# run INPUT [OPTION...]: a fabric that reads this file, to its end
run()
{
	input=$1
	shift
	timeout 60 "$weft" fabric net --name $name --no-control "$@" < "$input" > out 2> err
	rc=$?
	[ $rc = 0 ] || { cat out err && echo "status $rc" && return 1; }
}

has()
{
	grep -qF -- "$1" out || { cat out && echo "expected: $1" && return 1; }
}

console()
{
	cat > input << END
# comments and blank lines

Unlink ${leaf}[3]
Wait 10ms
DUMP $leaf
rel all
frobnicate
off "root1"
stat
quit
END
	run input && has '] "S-0002000000000001"[3] Down' && has 'Down/Polling' && has "unknown command 'frobnicate'" &&
		has '] "S-0002000000000006" off' && has 'ports Down               8'
}

speeds()
{
	cat > fast.net << END
Switch 2 "S-0000000000000020" # "sw"
[1] "H-0000000000000010"[1](11) # "a" lid 0 4xXDR
[2] "H-0000000000000030"[1](31) # "b" lid 0 4xFDR10

Ca 1 "H-0000000000000010" # "a"
[1](11) "S-0000000000000020"[1] # lid 0 lmc 0 "sw" lid 0 4xXDR

Ca 1 "H-0000000000000030" # "b"
[1](31) "S-0000000000000020"[2] # lid 0 lmc 0 "sw" lid 0 4xFDR10
END
	echo quit > input
	timeout 60 "$weft" fabric fast.net --name $name --no-control < input > out 2> err || { cat err && return 1; }
	grep -q 'S-0000000000000020\[1\] <-> H-0000000000000010\[1\] is XDR.* report NDR' err &&
		grep -q 'S-0000000000000020\[2\] <-> H-0000000000000030\[1\] is FDR10.* show QDR' err || { cat err && return 1; }
}

files()
{
	echo "Unlink ${leaf}[4]" > inner
	printf '!inner\n!nowhere\nDump %s\nquit\n' "$leaf" > input
	run input -q && has '[4]' && has 'nowhere: No such file' && ! grep -q '\] "S-' out || { cat out && false; }
}

script()
{
	cat > timed << END
at 60ms quit
at 20ms unlink ${leaf}[3]
every 5ms counter ${leaf}[1] SymbolErrorCounter
at 30ms unlink ${leaf}[3]
END
	run /dev/null --script timed && has 'script: unlink "S-0002000000000001"[3]' &&
		has 'timed:4: "S-0002000000000001"[3] is not linked' || return 1
	[ "$(grep -c 'script: counter' out)" -ge 2 ] || { cat out && false; }
}

as_json()
{
	printf 'unlink %s[3]\nquit\n' "$leaf" > input
	run input --json && has '"hosts":8,' && has '"event":"\"S-0002000000000001\"[3] Down"}' || return 1
	! grep -v '^{.*}$' out
}

start()
{
	XDG_RUNTIME_DIR=$dir "$weft" fabric net --name $name --control "$dir/socket" < /dev/null > out 2>&1 &
	pid=$!
	until_true "$weft" ctl --socket "$dir/socket" fabric stat || { cat out && return 1; }
}

ctl()
{
	"$weft" ctl --socket "$dir/socket" fabric "$@"
}

control()
{
	ctl unlink 'host 1[1]' && ctl 'relink "host 1"[1]' && ctl unlink 'S-0002000000000001[3]' && ctl dump S-0002000000000001 > dumped && grep -q 'Down/Polling' dumped &&
		ctl relink all && ! ctl off nobody 2> refused && grep -q "expected a node of the netlist, found 'nobody'" refused
}

taken()
{
	"$weft" fabric net --name $name --no-control < /dev/null 2> refused
	[ $? = 2 ] && grep -q "fabric name '$name' is already in use" refused || { cat refused && false; }
}

ends()
{
	kill -TERM "$pid"
	wait "$pid"
	rc=$?
	pid=
	[ $rc = 0 ] && [ ! -e "$dir/socket" ] || { echo "status $rc" && ls && false; }
}

quits()
{
	start && ctl quit || return 1
	wait "$pid"
	rc=$?
	pid=
	[ $rc = 0 ]
}

# Events go into a pipe without a reader: the fabric continues, and reports later how many are missing.
unread()
{
	mkfifo pipe
	{ echo verbose 2 && yes "unlink $leaf
relink $leaf" | head -n 2000; } > input
	sleep 60 < pipe & # it is open, that is all
	sleeper=$!
	"$weft" fabric net --name $name --control "$dir/socket" < input > pipe 2> err &
	pid=$!
	until_true ctl stat
	served=$?
	timeout 20 cat pipe > out &
	reader=$!
	until_true grep -q 'lines dropped: output was not read in time' out
	told=$?
	kill -9 $sleeper
	[ $served = 0 ] || kill -9 $pid
	kill $pid 2> /dev/null
	wait $pid $reader $sleeper 2> /dev/null
	pid=
	[ $served = 0 ] && [ $told = 0 ] || { tail -n 3 out && echo "served: $served, told: $told" && false; }
}

ok "the console takes commands" console
ok "files of commands; quiet" files
ok "scripts" script
ok "events as JSON" as_json
ok "it starts with a control socket" start
ok "weft ctl fabric" control
ok "a name is served once" taken
ok "SIGTERM ends it" ends
ok "speeds that are seen as others are named" speeds
ok "quit ends it, also from the control socket" quits
ok "events without a reader do not block" unread
echo "1..$n"
