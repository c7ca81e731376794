#!/usr/bin/env bash
# Includes point downward only (check_floors.py), and the files of no folder form a circle
# (circles.py).
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
status=0
python3 -B tests/install/check_floors.py || status=1
python3 -B tests/install/circles.py "$BUILDDIR" || status=1
exit $status
