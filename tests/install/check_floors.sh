#!/usr/bin/env bash
# Checks that includes point downward only (check_floors.py).
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
exec python3 -B tests/install/check_floors.py
