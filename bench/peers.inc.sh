# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the scripts that read this use what is set here
#
# What benchmarks beside OpenSM and ibsim share; read with `.` after here, weft, work and ibsim_pid are set.

umad2sim=$(compgen -G '/usr/lib/*/umad2sim/libumad2sim.so' | head -n 1 || true)

say() { printf '[%3ds] %s\n' "$SECONDS" "$*" >&2; }
die() { echo "bench: $*" >&2; exit 2; }

machine()
{
	jq -n --arg cpu "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" \
		--argjson cores "$(nproc)" --arg kernel "$(uname -sr)" \
		--argjson memory_mib "$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)" \
		--arg compiler "$(cc --version | head -n 1)" \
		--arg weft "$("$weft" --version | head -n 1)" \
		--arg load "$(cut -d ' ' -f 1-3 /proc/loadavg)" \
		--arg date "$(date '+%Y-%m-%d %H:%M UTC')" '$ARGS.named'
}

# Rows of tab-separated words in, an aligned table out that is Markdown as well.
table()
{
	awk -F '\t' '
		{ for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i
			if (length($i) > w[i]) w[i] = length($i)
		  }
		  if (NF > cols) cols = NF }
		function row(r, fill,   i, s) {
			s = "|"
			for (i = 1; i <= cols; i++)
				s = s sprintf(i == 1 ? " %-*s |" : " %*s |", w[i], cell[r, i])
			if (fill) { gsub(/ /, "-", s); gsub(/-\|/, ":|", s); sub(/:\|/, "-|", s) }
			print s
		}
		END { row(1); row(0, 1); for (r = 2; r <= NR; r++) row(r) }'
}

opensm_missing()
{
	if [ "$with_opensm" = 0 ]; then
		echo "OPENSM=0 was given"
	elif ! command -v opensm > /dev/null || ! command -v ibsim > /dev/null; then
		echo "opensm or ibsim is not installed"
	elif [ -z "$umad2sim" ]; then
		echo "libumad2sim.so is not installed"
	elif ! cc -O2 -shared -fPIC -o "$work/umadcount.so" "$here/umadcount.c" -ldl >&2; then
		echo "umadcount.c does not compile"
	fi
}

# The console stays open: at the end of its input ibsim would spin.
ibsim_start()
{
	local dir=$1 net=$2
	mkfifo "$dir/console"
	: > "$dir/ibsim.out"
	exec 7<> "$dir/console"
	ibsim -s -N 20000 -S 3000 -P 120000 -L 49152 "$net" <&7 > "$dir/ibsim.out" 2>&1 &
	ibsim_pid=$!
	until grep -q 'simulator ready' "$dir/ibsim.out"; do
		kill -0 "$ibsim_pid" 2> /dev/null || return 1
		sleep 0.05
	done
}

ibsim_stop()
{
	kill "$ibsim_pid" 2> /dev/null || true
	wait "$ibsim_pid" 2> /dev/null || true
	ibsim_pid=
	exec 7>&-
}

# When the log first says something, in seconds since 1970. Its own stamps have no year.
log_time()
{
	local line
	line=$(grep -m 1 -E "^[A-Z][a-z]{2} .*$2" "$1") || return 1
	read -ra line <<< "$line"
	echo "$(date -d "${line[*]:0:3}" +%s).${line[3]}"
}

