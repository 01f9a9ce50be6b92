#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Called by meson install: install-config.sh FILE DIRECTORY MODE. An existing configuration is kept: an
# administrator may have edited it.
set -eu

to=${DESTDIR:-}$2/$(basename "$1")
if [ -e "$to" ]; then
	echo "$to is there already, and stays"
else
	echo "Installing $1 to $2"
	mkdir -p "$(dirname "$to")"
	install -m "$3" "$1" "$to"
fi
