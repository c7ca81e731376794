#!/usr/bin/env bash
# Tests the test runner with programs that fail in each way (tests/runner/test_runner.py).
cd "${SRCDIR:-$(dirname "$0")/../..}/tests" || exit 1
exec python3 -B -m unittest runner.test_runner
