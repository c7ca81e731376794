# The tests: programs, table, runner.
