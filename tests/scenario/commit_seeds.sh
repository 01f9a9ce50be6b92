#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# New seeds with every commit: commit_seeds.sh SOURCE PROGRAM COUNT. The first seed is made of the commit's id, which is
# printed; without git it is a fixed one. The program's own line says how a seed is replayed.
set -u
id=$(git -C "$1" rev-parse --verify -q HEAD 2> /dev/null) || id=
if [ "$id" ]; then
	first=$((0x$(printf %.10s "$id") + 1000000))
else
	first=1000000
fi
echo "# seeds $first to $((first + $3 - 1)), from ${id:-no commit}"
exec "$2" "$first" "$3"
