#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Check the rules of the house: scripts/house.sh [--json|--tap] [--all] [--build DIR] [POINT...]
#
# One line a point, with its figure; status 0 when all holds. What each point looks at and which of them
# fail is said in house.py. Python is there wherever Meson is; Debian's own, if there is one.
unset PYTHONHOME PYTHONPATH
python=/usr/bin/python3
[ -x $python ] || python=python3
exec $python -B "$(dirname "$0")/house.py" "$@"
