#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft ui` as a program, as TAP: ui.sh PATH/TO/weft
#
# curl is the page: what it may fetch, the stream of frames, an engine that is killed, what is left behind; then the live
# view of a manager on an emulated fabric.
#
# Covers: cmd_ui.c web_run.c web_sessions.c live_process.c live_commands.c live_replies.c live_refresh.c live_routes.c
# Covers: live_quality.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need curl jq
unset XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY
export RUNTIME_DIRECTORY="$dir/run" IBSIM_SOCKNAME=weft-ui-$$
mkdir run

# ui NAME OPTION...: serves; sets $url, $base, $token, $ui (its process)
ui()
{
	name=$1
	shift
	"$weft" ui --no-browser "$@" > "url.$name" 2> "log.$name" &
	ui=$!
	pids="$pids $ui"
	until_true grep -q token= "url.$name" || { cat "log.$name" && return 1; }
	url=$(cat "url.$name")
	base=${url%/\?token=*}
	token=${url#*token=}
}

# status WANT CURL-ARGUMENT...
status()
{
	want=$1
	shift
	got=$(curl -s -m 10 -o answer -D head -w '%{http_code}' "$@")
	[ "$got" = "$want" ] || { echo "status $got, expected $want" && cat head answer && false; }
}

# stream FILE [SESSION]: its frames as lines
stream()
{
	curl -sN "$base/stream?token=$token${2:+&session=$2}" | python3 "$here/ui_frames.py" > "$1" &
	pids="$pids $!"
}

# sees FILE PATTERN: sooner or later
sees()
{
	until_true grep -qE -e "$2" "$1" || { tail -n 20 "$1" | cut -c -300 && false; }
}

# command JSON [SESSION]
command_()
{
	status 204 --data-binary "$1" "$base/command?token=$token${2:+&session=$2}"
}

children()
{
	cat "/proc/$1/task/$1/children"
}

gone()
{
	! kill -0 "$1" 2> /dev/null || grep -q '^State:.Z' "/proc/$1/status"
}

# ---- the page, and who gets what ----

"$weft" topo gen mtree 4 2 -o tree.net || exit 1
ok "it prints one line with its address" ui sim tree.net
ok "the address is on the loopback" expr "$url" : 'http://127\.0\.0\.1:[0-9]*/?token=[0-9a-f]\{32\}$'
ok "the page" status 200 "$url"
ok "the page is HTML" grep -qi '<!doctype html' answer
ok "a strict policy" grep -q "^Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';" head
ok "types are not guessed" grep -q '^X-Content-Type-Options: nosniff' head
ok "a script" status 200 "$base/app.js"
ok "no other file" status 404 "$base/../etc/passwd"
ok "no token" status 403 "$base/stream"
ok "a wrong token" status 403 "$base/stream?token=00000000000000000000000000000000"
ok "a wrong token for a command" status 403 -d '{}' "$base/command?token=0"
ok "another Host" status 421 -H 'Host: evil.example' "$url"
ok "another Origin" status 403 -H 'Origin: http://evil.example' -d '{}' "$base/command?token=$token"
ok "a body that is too large" status 413 -H 'Content-Length: 67108865' -d x "$base/command?token=$token"
ok "a command without a session" status 404 -d '{}' "$base/command?token=$token"
ok "another method" status 405 -X DELETE "$url"

# ---- frames ----

stream sim.frames
ok "a stream says hello" sees sim.frames '"hello".*"session":"main","source":"engine","live":null,"file":"tree.net"'
ok "the fabric of the file" sees sim.frames '^FABRIC nodes=14 links=16'
ok "a command is accepted" command_ '{"cmd":"generate","id":7,"words":"mtree 4 1"}'
ok "its answer" sees sim.frames '"re":7,"ok":true'
ok "another fabric" sees sim.frames '^FABRIC nodes=5 links=4'
ok "an error is answered" command_ '{"cmd":"generate","id":8,"words":"nonsense"}'
ok "with its number" sees sim.frames '"re":8,"error"'
stream late.frames
ok "a second page sees the same" sees late.frames '^FABRIC nodes=5 links=4'
stream other.frames other
ok "another session has its own fabric" sees other.frames '^FABRIC nodes=14 links=16'

# ---- a run, forward and back ----

ok "a manager" command_ '{"cmd":"setup","id":20,"managers":[{"node":0,"priority":3}],"seed":1}' other
ok "a run" command_ '{"cmd":"start","id":21}' other
ok "to a moment" command_ '{"cmd":"go","id":22,"at":"3000000000"}' other
ok "is shown" sees other.frames '^STATE now=3000000000 '
ok "to a later one" command_ '{"cmd":"go","id":23,"at":"9000000000"}' other
ok "is shown, too" sees other.frames '^STATE now=9000000000 '
ok "and back" command_ '{"cmd":"go","id":24,"at":"3000000000"}' other
twice()
{
	[ "$(grep -c '^STATE now=3000000000 ' other.frames)" = 2 ]
}
back()
{
	until_true twice &&
		[ "$(grep '^STATE now=3000000000 ' other.frames | sort -u | wc -l)" = 1 ]
}
ok "where everything is as it was" back

# ---- processes ----

# The first child: the other session has checkpoints besides.
engine=$(children "$ui" | tr ' ' '\n' | head -n 1)
ok "an engine is a process of its own" kill -9 "$engine"
pages_told()
{
	sees sim.frames '"engine":"ended"' || sees other.frames '"engine":"ended"'
}
ok "its end is told" pages_told
session=main
grep -q '"engine":"ended"' sim.frames || session=other
ok "commands to it are refused" status 409 -d '{"cmd":"start"}' "$base/command?token=$token&session=$session"
ok "the page is still served" status 200 "$url"
ok "a new engine" status 204 -X POST "$base/restart?token=$token&session=$session"
ok "it works" command_ '{"cmd":"generate","id":9,"words":"mtree 4 1"}' $session
frames=sim.frames
[ $session = main ] || frames=other.frames
ok "and says so" sees $frames '"re":9,"ok":true'
processes=$(children "$ui")
ends()
{
	kill -TERM "$ui" && wait "$ui" && for p in $processes; do until_true gone "$p" || return 1; done
}
ok "SIGTERM ends it and all its processes" ends

ui killed tree.net
stream killed.frames
sees killed.frames FABRIC > /dev/null
processes=$(children "$ui")
ends_killed()
{
	[ -n "$processes" ] && kill -KILL "$ui" && for p in $processes; do until_true gone "$p" || return 1; done
}
ok "SIGKILL leaves no process behind" ends_killed

# ---- live ----

"$weft" fabric tree.net --no-console -q > fabric.log 2>&1 &
pids="$pids $!"
until_true test -e "run/fabric-$IBSIM_SOCKNAME.sock"
"$weft" sm --server "$IBSIM_SOCKNAME" > sm.log 2>&1 &
pids="$pids $!"
"$weft" ctl wait > /dev/null || cat sm.log >&2
ok "a page for a manager" ui live --live "$IBSIM_SOCKNAME"
stream live.frames
ok "it says so" sees live.frames '"hello".*"session":"live","source":"live"'
ok "the fabric as the manager knows it" sees live.frames '^FABRIC nodes=14 links=16'
ok "all links are active, one master" sees live.frames '^STATE now=[0-9]+ nodes=7{14} links=3{16} managers=3$'
ok "status" sees live.frames '"status":.*"state":"Master"'
link=$("$weft" ctl --json ports | jq -r '[.ports[] | select(.peer != null and (.id | startswith("S")) and (.peer.id | startswith("S")))][0] | "\"\(.id)\"[\(.port)]"')
ok "a cable goes" "$weft" ctl fabric unlink "$link"
ok "the manager's log tells it" sees live.frames '^\{"event":.*link'
ok "the link is shown as gone" sees live.frames '^STATE .* links=3*43* managers=3$'
ok "the change is told" sees live.frames '"changes":\[\{.*"event":"down"'
ok "the picture stays" [ "$(grep -c ^FABRIC live.frames)" = 1 ]
ok "it comes back" "$weft" ctl fabric relink "$link"
again()
{
	until_true sh -c 'grep ^STATE live.frames | tail -n 1 | grep -q " links=3\{16\} "'
}
ok "and is shown" again
ok "a page may ask" command_ '{"cmd":"control","id":1,"request":{"cmd":"route","from":"1","to":"2"}}'
ok "and gets an answer" sees live.frames '"re":1,"ok":true,"answer":.*"hops"'
ok "a node as the engine shows it" command_ '{"cmd":"node","id":10,"node":"0x0002000000000001"}'
ok "with its ports" sees live.frames '"re":10,"ok":true,"node":\{"index":[0-9]+,.*"ports":\[\{"port":0,.*"state":"Active".*"link":[0-9]+'
ok "a route as the engine shows it" command_ '{"cmd":"route","id":11,"from":"1","to":"2"}'
ok "with links" sees live.frames '"re":11,"ok":true,"hops":\[\{"node":[0-9]+,.*"link":[0-9]+.*"ends":"reached"'
ok "with all attributes and its table" sees live.frames '"re":10,.*"SwitchInfo".*"port_state_change".*"fields":\[\["m_key","0x0+"\].*"lft":\[\[1,'
ok "the tree of a destination" command_ '{"cmd":"tree","id":13,"node":"0x0001000000000010"}'
ok "has an output port of each switch" sees live.frames '"re":13,"ok":true,"node":[0-9]+,"lid":1,"out":\[(\[[0-9]+,[0-9]+\],?){6}\]'
ok "loads of links" command_ '{"cmd":"loads","id":14}'
ok "come as a frame" sees live.frames '^LOADS 132$'
ok "with the busiest" sees live.frames '"re":14,"ok":true,"busiest":[1-9]'
ok "users of a host's link" command_ '{"cmd":"users","id":15,"port":{"node":"0x0001000000000010","port":1}}'
ok "are all pairs of that host" sees live.frames '"re":15,"ok":true,"count":14,"routes":\[(\[[0-9]+,[0-9]+\],?){14}\]'
ok "the quality of its routes" command_ '{"cmd":"quality","id":41}'
ok "is measured by its tables" sees live.frames '"re":41,"ok":true,.*"hosts":8,.*"pattern":"bisection".*"worst":\[\{"link":[0-9]+'
ok "changes that were" command_ '{"cmd":"changes","id":16}'
ok "are listed with the cable" sees live.frames '"re":16,"ok":true,"changes":\[.*"event":"down"'
ok "counters of a node" command_ '{"cmd":"counters","id":17,"node":"0x0002000000000001"}'
ok "come from the device" sees live.frames '"re":17,"ok":true,"answer":.*"ports":\[\{"port":1,"counters":\[\["xmit_data","[1-9]'
ok "counters of a port that it does not have" command_ '{"cmd":"counters","id":18,"node":"0x0002000000000001","port":9}'
ok "are refused with words" sees live.frames '"re":18,"error":"'"'port': expected 1 to 4"
ok "the whole topology at once" command_ '{"cmd":"control","id":19,"request":{"cmd":"topology"}}'
ok "is refused with words" sees live.frames '"re":19,"error":"expected the members .first. and .count.'
ok "users of what is no port" command_ '{"cmd":"users","id":30,"port":{"node":"0x7","port":-1}}'
ok "are refused" sees live.frames '"re":30,"error":"expected a port with a link'
flood()
{
	python3 "$here/ui_flood.py" "$base" "$token" || return 1
	sees live.frames '"re":1[0-9]{3},"error":"too many requests to the manager; try again"'
}
ok "a page that floods is told so" flood
ok "and the manager answers others" "$weft" ctl status
ok "a node by its LID" command_ '{"cmd":"find","id":12,"text":"0x2"}'
ok "is found" sees live.frames '"re":12,"ok":true,"nodes":\[[0-9]+\]'
ok "a page may not change anything" command_ '{"cmd":"control","id":2,"request":{"cmd":"sweep"}}'
ok "it is told" sees live.frames '"re":2,"error":"the live view is read-only'
ok "nor may it stop the manager" command_ '{"cmd":"control","id":3,"request":{"cmd":"stop"}}'
ok "which is refused" sees live.frames '"re":3,"error"'
ok "the netlist, for a twin" command_ '{"cmd":"netlist","id":4}'
ok "comes" sees live.frames '"re":4,"ok":true,"text":".*Switch'
stream twin.frames twin
ok "a twin has an engine" sees twin.frames '"session":"twin","source":"engine"'
# What a failure would cost: the twin's figures are those of weft sim change on the saved netlist.
"$weft" ctl topology > live.net
killed=$(sed -n 's/^Switch.*"\(S-[0-9a-f]*\)".*/\1/p' live.net | head -n 1)
twin_asks()
{
	jq -Rsc '{cmd: "open", id: 40, name: "live.net", netlist: .}' live.net > open.json &&
		status 204 --data-binary @open.json "$base/command?token=$token&session=twin" &&
		sees twin.frames '"re":40,"ok":true' &&
		command_ '{"cmd":"setup","id":41,"managers":[{"node":"0x0001000000000014","priority":0,"mechanism":"weft"}]}' twin &&
		command_ "{\"cmd\":\"whatif\",\"id\":42,\"kill\":\"0x${killed#S-}\"}" twin
}
ok "the twin takes the netlist, and is asked what if" twin_asks
# A second of work, and more on a busy machine.
figures()
{
	sees twin.frames "$1" || sees twin.frames "$1" || sees twin.frames "$1" || sees twin.frames "$1"
}
ok "it answers with figures" figures '"re":42,"ok":true,"figures":.*"pairs cut".*"SMPs".*"packets lost"'
same_figures()
{
	line=$(grep "\"re\":$1" twin.frames)
	change=$(echo "$line" | jq -r .text)
	echo "$change"
	eval "set -- $change"
	shift
	"$weft" "$@" --json > change.json &&
		[ "$(jq -r .trace_hash change.json)" = "$(echo "$line" | jq -r .hash)" ]
}
ok "as weft sim change does" same_figures 42
ok "the same for a link" command_ "{\"cmd\":\"whatif\",\"id\":43,\"unlink\":{\"node\":\"0x${killed#S-}\",\"port\":1}}" twin
ok "whose figures come" figures '"re":43,"ok":true,"figures":.*"pairs cut".*"SMPs".*"packets lost"'
ok "from the command that the answer has" same_figures 43
ui changes --live "$IBSIM_SOCKNAME" --allow-changes
stream changes.frames
ok "with --allow-changes" sees changes.frames '"hello".*"changes":true'
ok "a sweep is asked for" command_ '{"cmd":"control","id":5,"request":{"cmd":"sweep"}}'
ok "and begins" sees changes.frames '"re":5,"ok":true'
"$weft" ctl stop > /dev/null
ok "a manager that ends is told" sees live.frames '"live":"lost"'

echo "1..$n"
