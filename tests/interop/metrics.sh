#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics as monitoring reads them, as TAP: metrics.sh PATH/TO/weft SOURCE
#
# promtool accepts what is served and what is written, node_exporter reads the file, Prometheus scrapes OpenMetrics, and each
# query of the dashboard in data/grafana returns data. The alert rules of data/prometheus pass their tests.
#
# Covers: metrics_perf.c, metrics_plain.c, metrics_file.c, http.c
#
# shellcheck disable=SC2015,SC2154,SC2317 # `a && b || explain`, lib.sh sets dir, ok calls

weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$2" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$here/lib_fabric.sh"
need promtool prometheus prometheus-node-exporter curl jq

pids=
trap 'for p in $pids; do kill "$p" 2> /dev/null; done; sm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
base=$((20000 + $$ % 20000))
weft_at=127.0.0.1:$base
exporter_at=127.0.0.1:$((base + 1))
prometheus_at=127.0.0.1:$((base + 2))

# ---- alert rules ----

cp "$source/data/prometheus/weft-alerts.yml" "$source/tests/data/weft-alerts-test.yml" .
ok 'promtool accepts the alert rules' promtool check rules weft-alerts.yml
ok 'each alert fires when it should, and not before' promtool test rules weft-alerts-test.yml
all_tested()
{
	sed -n 's/.*- alert: //p' weft-alerts.yml | while read -r alert; do
		[ "$(grep -c "alertname: $alert\$" weft-alerts-test.yml)" -ge 1 ] || { echo "no test lets $alert fire" && return 1; }
	done
}
ok 'each alert has a test that lets it fire' all_tested

# ---- the manager ----

"$weft" topo gen mtree 4 2 -o net
mkdir textfile
ok 'the emulator starts' emu_start net --quiet
"$weft" sm --server "$IBSIM_SOCKNAME" --state none --control sm.sock --metrics-port "$base" --metrics-file textfile/weft.prom \
	--metrics-rate 0 --perf-period 1s --metrics-ports 16 --metrics-period 1s > sm.log 2>&1 &
pids="$pids $!"
ok 'the subnet comes up' until_true 20 "$weft" ctl --socket sm.sock wait

check_http()
{
	curl -sf "http://$weft_at/metrics" > http.txt && promtool check metrics < http.txt
}
ok 'promtool accepts what is served' check_http
ok 'and what is written' sh -c 'promtool check metrics < textfile/weft.prom'
openmetrics()
{
	curl -sf -H 'Accept: application/openmetrics-text; version=1.0.0' "http://$weft_at/metrics" > om.txt &&
		tail -n 1 om.txt | grep -qx '# EOF' && grep -qx '# TYPE weft_smps counter' om.txt
}
ok 'OpenMetrics for those who accept it' openmetrics
same_samples()
{
	for f in http.txt om.txt; do
		grep -v '^#' $f | sed 's/ [^ ]*$//' > $f.names
	done
	diff http.txt.names om.txt.names
}
ok 'both formats have the same samples' same_samples

# mtree 4 2 has 4 leaves with 2 hosts each below 2 roots: 16 links, 32 ports. 16 of them have series, a sick one before others.
bounded()
{
	curl -sf "http://$weft_at/metrics" > http.txt && grep -qx 'weft_perf_ports_without_series 16' http.txt &&
		[ "$(grep -c '^weft_port_packets_total{.*sent' http.txt)" = 16 ] && grep -qx 'weft_port_sick{node="root1".*} 1' http.txt &&
		grep -qx 'weft_sick_ports 1' http.txt && grep -q '^weft_fabric_errors_total{counter="symbol_error"} 500$' http.txt
}
sick()
{
	emu_ask 'counter "root1"[4] SymbolErrorCounter 500' > sick.out
}
ok 'a port counts errors' until_true 10 sh -c 'curl -sf "http://'"$weft_at"'/metrics" | grep -q "^weft_perf_rounds_total [2-9]"' && sick
ok 'series of ports: sums, a bound, sick ones first' until_true 10 bounded

# ---- node_exporter ----

prometheus-node-exporter --web.listen-address="$exporter_at" --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$dir/textfile" > exporter.log 2>&1 &
pids="$pids $!"
exported()
{
	curl -sf "http://$exporter_at/metrics" > exported.txt && grep -qx 'node_textfile_scrape_error 0' exported.txt &&
		grep -qx 'weft_switches 6' exported.txt && grep -q '^# TYPE weft_smps_total counter' exported.txt
}
ok 'node_exporter reads the file' until_true 10 exported || tail exporter.log

# ---- Prometheus ----

cat > prometheus.yml << YAML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [weft-alerts.yml]
scrape_configs:
  - job_name: weft
    static_configs: [{targets: ['$weft_at']}]
YAML
ok 'promtool accepts the configuration' promtool check config prometheus.yml
prometheus --config.file=prometheus.yml --web.listen-address="$prometheus_at" --storage.tsdb.path=tsdb > prometheus.log 2>&1 &
pids="$pids $!"

# query EXPR: the number of series
query()
{
	curl -sf "http://$prometheus_at/api/v1/query" --data-urlencode "query=$1" > answer &&
		jq -e '.status == "success"' answer > /dev/null && jq '.data.result | length' answer
}
has()
{
	[ "$(query "$1")" -ge 1 ]
}
ok 'Prometheus scrapes the manager' until_true 20 has 'count_over_time(up{job="weft"}[1m]) >= 4 and up == 1'
format()
{
	curl -sf "http://$prometheus_at/api/v1/targets/metadata?match_target=%7Bjob%3D%22weft%22%7D" > answer &&
		jq -e '[.data[] | select(.metric == "weft_state") | .type] == ["stateset"]' answer
}
ok 'as OpenMetrics' until_true 10 format
# Something happens, so that rates and phases are there.
kill_link()
{
	emu_ask "off $(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' net | tail -n 1)" > off.out
	"$weft" ctl --socket sm.sock wait && sleep 2.2
}
ok 'a switch fails' kill_link
dashboard()
{
	jq -r '.panels[].targets[]?.expr' "$source/data/grafana/weft.json" > queries
	[ "$(wc -l < queries)" -ge 30 ] || return 1
	bad=0
	while read -r expr; do
		expr=$(printf '%s\n' "$expr" | sed 's/\$instance/.*/g; s/\$__rate_interval/1m/g')
		has "$expr" || { echo "no data: $expr" && bad=1; }
	done < queries
	return $bad
}
ok 'each query of the dashboard returns data' dashboard
rules()
{
	curl -sf "http://$prometheus_at/api/v1/rules" > answer &&
		jq -e '[.data.groups[].rules[] | select(.health != "ok")] == []' answer
}
ok 'Prometheus evaluates each rule' rules
lost()
{
	has 'ALERTS{alertname="WeftSwitchesLost"}'
}
ok 'and sees that a switch is lost' until_true 10 lost

# ---- a file that cannot be written ----

unwritable()
{
	rm -r textfile && sleep 3.5 && [ "$(grep -c metrics_failed sm.log)" = 1 ] || { grep metrics_failed sm.log && return 1; }
	mkdir textfile && until_true 5 test -s textfile/weft.prom
}
ok 'a file that cannot be written is named once, and written when it can be' unwritable
echo "1..$n"
