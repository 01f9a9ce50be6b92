# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # lib.sh and the scripts that read this set the others
#
# Records of subnet administration by saquery, compared record by record; read with `.` after lib_fabric.sh. `preload` is
# libweft-umad.

preload=$(cd "$(dirname "$weft")/../preload" 2> /dev/null && pwd)/libweft-umad.so
[ -e "$preload" ] || { echo "1..0 # SKIP libweft-umad is not built" && exit 0; }

# All records there are, of devices and links.
tables()
{
	cat << 'END_OF_TABLES'
NR
PIR
SWIR
LFTR
--smkey 1 PKTR
GIR
SMIR
LR
PR
END_OF_TABLES
}

# ask_all DIR: questions from standard input, one a line; what the SA answers, a file for each
ask_all()
{
	rm -rf "$1"
	mkdir "$1"
	while read -r question; do
		eval "LD_PRELOAD=$preload timeout 20 saquery $question" > "$1/$(echo "$question" | tr ' /' '_.')" 2>&1 < /dev/null
	done
	return 0
}

# Each record on one line, in any order.
records()
{
	awk '/^[^ \t]/ { if (r != "") print r; r = "" } { gsub(/^[ \t]+/, ""); r = r "|" $0 } END { if (r != "") print r }' "$1" | sort
}

# What the two managers say differently, and why:
explained()
{
	# each manager shows what it serves, and how long an answer may take
	sed -e '/SA ClassPortInfo/s/|\(Capability mask\|Capability mask 2\|Response time value\)\.*0x[0-9A-F]*//g' |
		# settings that OpenSM writes to ports and switches, and Weft leaves as they are or computes
		sed -e 's/|\(VLStallCount\|HoqLife\|SubnetTimeout\|PartEnforceInb\|PartEnforceOutb\):\.*[0-9]*//g' \
			-e 's/|LifeTimeValue.PortStateChange.OpSL2VL\.*0x[0-9A-F]*//' |
		# the port by which the manager asked the device
		sed -e 's/|LocalPort:\.*[0-9]*//' |
		# SMPs sent so far
		sed -e 's/|ActCount\.*[0-9]*//' |
		said_otherwise
}

# What one script takes out in addition.
said_otherwise()
{
	cat
}

# skipped QUESTION: the answers are not to be compared
skipped()
{
	case $1 in
		LFTR*) return 0 ;; # other routes; test_attributes compares with the switches
	esac
	return 1
}

# compare A B: two directories of ask_all()
compare()
{
	bad=0
	for file in "$1"/*; do
		question=$(basename "$file")
		! skipped "$question" || continue
		records "$1/$question" | explained > ours
		records "$2/$question" | explained > theirs
		if ! diff ours theirs > differ; then
			echo "$question:"
			cut -c 1-300 differ | head -n 6
			bad=1
		fi
	done
	return $bad
}
