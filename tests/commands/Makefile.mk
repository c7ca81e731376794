if !SIMULATION
tests_programs += tests/commands/suites
tests_programs += tests/commands/test_command_util # separate, as it interposes MPI_Abort
endif
tests_commands_suites_SOURCES = \
  tests/commands/test_calibrate_fit.c bench/calibrate.h bench/calibrate_fit.c \
  tests/commands/test_order_free.c tools/common/order_free.h tools/common/order_free.c \
  tests/commands/test_updates_batch.c tools/assemble/updates_batch.c
tests_commands_test_command_util_SOURCES = tests/commands/test_command_util.c \
  tools/common/command.h tools/common/command.c tools/common/command_process.c tools/common/command_util.c
tests_commands_test_command_util_LDADD = $(LDADD) $(POPT_LIBS) $(JANSSON_LIBS)

# Programs that the test scripts run.
if !SIMULATION
tests_helpers += tests/commands/osla_lines tests/commands/bench_lines tests/commands/updates_table \
  tests/commands/osla_device_fault
endif
tests_run_lines = tests/commands/run_lines.c tests/commands/run_lines.h $(tests_process_state)
tests_commands_osla_lines_SOURCES = tests/commands/osla_lines.c $(tests_run_lines)
tests_commands_osla_lines_LDADD = tools/libcommands.la $(osla_libs)
tests_commands_osla_device_fault_SOURCES = tests/commands/osla_device_fault.c
tests_commands_osla_device_fault_LDADD = tools/libcommands.la $(osla_libs)
tests_commands_bench_lines_SOURCES = tests/commands/bench_lines.c $(tests_run_lines)
tests_commands_bench_lines_LDADD = bench/libbench.la $(bench_libs)
tests_commands_updates_table_SOURCES = tests/commands/updates_table.c
tests_commands_updates_table_LDADD = bench/libbench.la $(bench_libs)
tests_helpers += tests/commands/never_notified tests/commands/left_alive tests/commands/forest_mismatch
tests_helpers += tests/commands/delay_line # delays messages between the hosts of tests/hosts
tests_commands_delay_line_SOURCES = tests/commands/delay_line.c
tests_commands_delay_line_LDADD =
if HAVE_HDF5
tests_helpers += tests/commands/assemble_check tests/commands/hostile_updates doc/write_updates
endif
tests_commands_assemble_check_SOURCES = tests/commands/assemble_check.c
tests_commands_assemble_check_LDADD = $(HDF5_LIBS) -lm
tests_commands_hostile_updates_SOURCES = tests/commands/hostile_updates.c tests/lzf_filter.h
tests_commands_hostile_updates_LDADD = $(HDF5_LIBS)
doc_write_updates_SOURCES = doc/write_updates.c
doc_write_updates_LDADD = $(HDF5_LIBS)

tests_scripts += \
  tests/commands/test_assemble.sh \
  tests/commands/test_assemble_hostile.sh \
  tests/commands/test_bench.sh \
  tests/commands/test_broken_line.sh \
  tests/commands/test_calibrate.sh \
  tests/commands/test_command.sh \
  tests/commands/test_files.sh \
  tests/commands/test_forest_mismatch.sh \
  tests/commands/test_hosts.sh \
  tests/commands/test_info.sh \
  tests/commands/test_left_alive.sh \
  tests/commands/test_patience.sh \
  tests/commands/test_petscsf.sh \
  tests/commands/test_quickstart.sh \
  tests/commands/test_reproducible.sh \
  tests/commands/test_restart_kill.sh \
  tests/commands/test_simulation.sh \
  tests/commands/test_simulation_large.sh \
  tests/commands/test_slurm.sh \
  tests/commands/test_solve_sparse.sh \
  tests/commands/test_study.sh \
  tests/commands/test_threads.sh \
  tests/commands/test_updates.sh
EXTRA_DIST += tests/commands/run_lines.sh tests/commands/kill_help.sh tests/commands/simulated.sh tests/commands/bench_rows.py \
  tests/commands/newest_threads.c tests/commands/ring_threads.c tests/commands/broken_mpi.c tests/commands/failing_malloc.c
