# Layers 0 to 2, with lower folders first: base, transport, memory, blas, matrix, file.

# The sources of transfers and waits: those on MPI, and those of the simulator, which configure
# --enable-simulation selects.
mpi_sources = \
  src/base/clock.c \
  src/transport/mpi/wait_mpi.c src/transport/mpi/collective_mpi.c \
  src/transport/host.c \
  src/transport/mpi/shared_memory.h src/transport/mpi/shared_memory.c \
  src/transport/mpi/window_mpi.c \
  src/transport/mpi/region_mpi.h src/transport/mpi/region_object.c src/transport/mpi/region_mpi.c \
  src/transport/mpi/attach_mpi.c \
  src/transport/probe.h src/transport/mpi/probe_mpi.c \
  src/transport/mpi/eager_mpi.h src/transport/mpi/eager_mpi.c \
  src/transport/mpi/eager_state.h src/transport/mpi/eager_receive.c \
  src/transport/mpi/lines_mpi.c \
  src/transport/mpi/post_mpi.c \
  src/transport/mpi/transport_mpi.c
sim_sources = \
  src/simulation/simulator.h src/simulation/simulator.cpp \
  src/simulation/queued_links.cpp \
  src/simulation/shared_bandwidth.cpp \
  src/simulation/sim_pieces.cpp \
  src/simulation/sim.h \
  src/simulation/sim_core.h src/simulation/sim_core.c \
  src/simulation/sim_machine.c \
  src/simulation/sim_wait.c \
  src/simulation/sim_region.c \
  src/simulation/sim_collective.c \
  src/simulation/sim_post.c \
  src/simulation/sim_exchange.c \
  src/simulation/sim_entry.c \
  src/simulation/transport_sim.c
if SIMULATION
backend_sources = $(sim_sources)
else
backend_sources = $(mpi_sources)
endif
EXTRA_DIST += $(sim_sources) src/base/README.md src/blas/README.md src/device/README.md src/matrix/README.md \
  src/file/README.md src/memory/README.md src/simulation/README.md src/transport/README.md

src_sources = \
  src/base/error_storage.h src/base/error.c \
  src/base/log.c \
  src/base/reserved.h src/base/reserved.c \
  src/base/double_bits.h \
  src/base/fixed_point.h \
  src/base/hash.h \
  src/base/random.c \
  src/base/parse_real.h src/base/parse_real.c \
  src/base/version.c \
  src/base/memory_file.h src/base/memory_file.c \
  src/base/huge_pages.h src/base/huge_pages.c \
  src/base/writable.h src/base/writable.c \
  src/base/futex.h src/base/futex.c \
  src/base/signal_guard.h src/base/signal_guard.c \
  src/base/write_at.h src/base/write_at.c \
  src/base/new_file_rights.h src/base/new_file_rights.c \
  src/base/new_file.h src/base/new_file.c \
  src/device/combine.h src/device/vertices.h src/device/device_ranges.h src/device/device_ranges.c src/device/device.h src/device/device.c \
  src/device/device_arrays.c \
  src/transport/transport_ops.h \
  src/transport/finalize_messages.c \
  src/transport/collective_search.c \
  src/transport/settings.h src/transport/settings.c \
  src/transport/transport_core.c \
  src/transport/request_pool.h src/transport/request_pool.c \
  src/transport/groups.h src/transport/groups.c \
  src/transport/node_map.c \
  src/transport/transport.c \
  src/transport/live_objects.h src/transport/live_objects.c \
  src/transport/time_limit.h src/transport/time_limit.c \
  src/transport/collective.c \
  src/transport/exchange.h src/transport/exchange.c \
  src/transport/trace.h src/transport/trace_record.c src/transport/trace.c \
  src/transport/trace_write.c \
  src/transport/memory_check.c \
  $(backend_sources) \
  src/memory/segment.h src/memory/segment_state.h src/memory/segment.c src/memory/segment_line.c \
  src/memory/device_service.c src/memory/device_signals.c src/memory/segment_device.c src/memory/device_open.c \
  src/memory/counter.c \
  src/memory/stripes.c \
  src/memory/newest.h src/memory/ring.h src/memory/shared_copy.h \
  src/memory/channel.h src/memory/channel_newest.c \
 src/memory/channel_posted.c src/memory/channel_racy.c src/memory/channel_ring.c src/memory/channel.c \
  src/memory/reduction.c \
  src/blas/work.h src/blas/work.c src/blas/move.h src/blas/move.c src/blas/row_swap.h src/blas/row_swap.c \
  src/blas/blas_library.h src/blas/blas_library.c src/blas/blas.c src/blas/lapack.c \
  src/device/fake/fake.h src/device/fake/fake_work.h src/device/fake/fake_work.c \
  src/device/fake/fake_lanes.h src/device/fake/fake_lanes.c src/device/fake/fake.c \
  src/matrix/index.c src/matrix/triangle.h \
  src/matrix/grid.c \
  src/matrix/shape.c \
  src/matrix/part_view.h src/matrix/stored.h src/matrix/matrix.c \
  src/matrix/memory_kind.h src/matrix/memory_kind.c \
  src/matrix/part_stage.h src/matrix/part_stage.c \
  src/matrix/local_transpose.h src/matrix/part_local.h src/matrix/part_checks.h src/matrix/part_checks.c \
  src/matrix/matrix_block.c \
  src/matrix/matrix_fill.c \
  src/matrix/matrix_norm.c \
  src/matrix/matrix_copy.c \
  src/matrix/matrix_transpose.c \
  src/matrix/matrix_add.c

src_file_sources = \
  src/file/file.h src/file/file_item.c src/file/file_io.c \
  src/file/file_pieces.c \
  src/file/file_raw.c \
  src/file/file_image.c \
  src/file/hdf5_filter.h src/file/hdf5_filter.c \
  src/file/file_hdf5.h src/file/file_hdf5.c src/file/file_hdf5_none.c \
  src/file/file.c \
  src/file/file_matrix.c \
  src/file/file_vector.c

# libosla_armci is a library of its own, because ARMCI exists only as a static library. Programs
# that use the transport on ARMCI link it.
if HAVE_ARMCI
armci_sources = src/transport/armci/armci_start.h src/transport/armci/armci_start.c \
  src/transport/armci/transport_armci.c
else
armci_sources = src/transport/armci/armci_none.c
endif
EXTRA_DIST += src/transport/armci/armci_start.h src/transport/armci/armci_start.c \
  src/transport/armci/transport_armci.c src/transport/armci/armci_none.c

# libosla_shmem is a library of its own, so that only programs that use the transport on OpenSHMEM
# load OpenSHMEM.
if HAVE_SHMEM
shmem_sources = src/transport/shmem/shmem_start.h src/transport/shmem/shmem_start.c \
  src/transport/shmem/transport_shmem.c
else
shmem_sources = src/transport/shmem/shmem_none.c
endif
EXTRA_DIST += src/transport/shmem/shmem_start.h src/transport/shmem/shmem_start.c \
  src/transport/shmem/transport_shmem.c src/transport/shmem/shmem_none.c
