! Transports and process grids. The contracts are in osla_transport.h and osla_grid.h.
module osla_grids
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm, MPI_COMM_NULL
  use osla_c
  use osla_objects, only: osla_transport, osla_grid, report, is_absent, c_text, fortran_text
  use osla_collectives, only: collective_call, requires, all_ready
  implicit none
  private
  public :: osla_transport_create, osla_transport_destroy, osla_barrier, osla_progress
  public :: osla_transport_rank, osla_transport_size, osla_transport_n_nodes, osla_transport_node
  public :: osla_transport_node_of, osla_transport_same_node, osla_transport_name, osla_transport_comm
  public :: osla_transport_oversubscribed
  public :: osla_grid_create, osla_grid_create_at, osla_grid_destroy
  public :: osla_grid_nprow, osla_grid_npcol, osla_grid_prow, osla_grid_pcol, osla_grid_rank_at

  ! comm: type(MPI_Comm), or the integer of modules mpi and mpif.h
  interface osla_transport_create
    procedure create_f08, create_integer
  end interface

contains

  subroutine create_f08(comm, transport, progress_thread, threads_per_rank, name, stat, errmsg)
    type(MPI_Comm), intent(in) :: comm
    type(osla_transport), intent(out) :: transport
    logical, intent(in), optional :: progress_thread
    integer, intent(in), optional :: threads_per_rank
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_integer(comm%mpi_val, transport, progress_thread, threads_per_rank, name, stat, errmsg)
  end subroutine create_f08

  subroutine create_integer(comm, transport, progress_thread, threads_per_rank, name, stat, errmsg)
    integer, intent(in) :: comm
    type(osla_transport), intent(out) :: transport
    logical, intent(in), optional :: progress_thread
    integer, intent(in), optional :: threads_per_rank
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical(c_bool) :: progress
    integer(c_int) :: threads
    character(:), allocatable :: which
    progress = .false.
    if (present(progress_thread)) progress = progress_thread
    threads = 0
    if (present(threads_per_rank)) threads = threads_per_rank
    which = ''
    if (present(name)) which = trim(name)
    call report(c_osli_fortran_transport_create(comm, progress, threads, c_text(which), transport%handle), &
      stat, errmsg)
  end subroutine create_integer

  subroutine osla_transport_destroy(transport)
    type(osla_transport), intent(inout) :: transport
    call c_osla_transport_destroy(transport%handle)
  end subroutine osla_transport_destroy

  subroutine osla_barrier(transport, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_barrier')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_barrier(transport%handle), stat, errmsg)
  end subroutine osla_barrier

  subroutine osla_progress(transport)
    type(osla_transport), intent(in) :: transport
    if (is_absent('osla_progress', 'transport', transport%handle)) return
    call c_osla_progress(transport%handle)
  end subroutine osla_progress

  ! --- queries: local; they end the job if the transport or grid does not exist ---

  function osla_transport_rank(transport) result(rank)
    type(osla_transport), intent(in) :: transport
    integer :: rank
    rank = -1
    if (is_absent('osla_transport_rank', 'transport', transport%handle)) return
    rank = c_osla_transport_rank(transport%handle)
  end function osla_transport_rank

  function osla_transport_size(transport) result(ranks)
    type(osla_transport), intent(in) :: transport
    integer :: ranks
    ranks = -1
    if (is_absent('osla_transport_size', 'transport', transport%handle)) return
    ranks = c_osla_transport_size(transport%handle)
  end function osla_transport_size

  function osla_transport_n_nodes(transport) result(nodes)
    type(osla_transport), intent(in) :: transport
    integer :: nodes
    nodes = -1
    if (is_absent('osla_transport_n_nodes', 'transport', transport%handle)) return
    nodes = c_osla_transport_n_nodes(transport%handle)
  end function osla_transport_n_nodes

  function osla_transport_node(transport) result(node)
    type(osla_transport), intent(in) :: transport
    integer :: node
    node = -1
    if (is_absent('osla_transport_node', 'transport', transport%handle)) return
    node = c_osla_transport_node(transport%handle)
  end function osla_transport_node

  function osla_transport_node_of(transport, rank) result(node)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: rank
    integer :: node
    node = -1
    if (is_absent('osla_transport_node_of', 'transport', transport%handle)) return
    node = c_osla_transport_node_of(transport%handle, rank)
  end function osla_transport_node_of

  function osla_transport_same_node(transport, rank) result(same)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: rank
    logical :: same
    same = .false.
    if (is_absent('osla_transport_same_node', 'transport', transport%handle)) return
    same = c_osla_transport_same_node(transport%handle, rank)
  end function osla_transport_same_node

  function osla_transport_oversubscribed(transport) result(is)
    type(osla_transport), intent(in) :: transport
    logical :: is
    is = .false.
    if (is_absent('osla_transport_oversubscribed', 'transport', transport%handle)) return
    is = c_osla_transport_oversubscribed(transport%handle)
  end function osla_transport_oversubscribed

  function osla_transport_name(transport) result(name)
    type(osla_transport), intent(in) :: transport
    character(:), allocatable :: name
    name = ''
    if (is_absent('osla_transport_name', 'transport', transport%handle)) return
    name = fortran_text(c_osla_transport_name(transport%handle))
  end function osla_transport_name

  ! The communicator of the transport; borrowed.
  function osla_transport_comm(transport) result(comm)
    type(osla_transport), intent(in) :: transport
    type(MPI_Comm) :: comm
    comm = MPI_COMM_NULL
    if (is_absent('osla_transport_comm', 'transport', transport%handle)) return
    comm%mpi_val = c_osli_fortran_transport_comm(transport%handle)
  end function osla_transport_comm

  ! --- grids: the shape is chosen if nprow and npcol are absent ---

  subroutine osla_grid_create(transport, grid, nprow, npcol, order, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    type(osla_grid), intent(out) :: grid
    integer, intent(in), optional :: nprow, npcol, order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int) :: rows, cols
    at = collective_call('osla_grid_create')
    call requires(at, transport)
    rows = 0
    cols = 0
    if (present(nprow)) rows = nprow
    if (present(npcol)) cols = npcol
    if (.not. all_ready(at, stat, errmsg)) return
    if (present(order)) then
      call report(c_osla_grid_create_ordered(transport%handle, rows, cols, int(order, c_int), grid%handle), &
        stat, errmsg)
    else
      call report(c_osla_grid_create(transport%handle, rows, cols, grid%handle), stat, errmsg)
    end if
  end subroutine osla_grid_create

  ! Each rank gives its position, counted from 0 as in BLACS; -1, -1 if it is outside the grid.
  subroutine osla_grid_create_at(transport, nprow, npcol, prow, pcol, grid, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: nprow, npcol, prow, pcol
    type(osla_grid), intent(out) :: grid
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_grid_create_at')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_grid_create_at(transport%handle, nprow, npcol, prow, pcol, grid%handle), stat, errmsg)
  end subroutine osla_grid_create_at

  subroutine osla_grid_destroy(grid)
    type(osla_grid), intent(inout) :: grid
    call c_osla_grid_destroy(grid%handle)
  end subroutine osla_grid_destroy

  function osla_grid_nprow(grid) result(number)
    type(osla_grid), intent(in) :: grid
    integer :: number
    number = -1
    if (is_absent('osla_grid_nprow', 'grid', grid%handle)) return
    number = c_osla_grid_nprow(grid%handle)
  end function osla_grid_nprow

  function osla_grid_npcol(grid) result(number)
    type(osla_grid), intent(in) :: grid
    integer :: number
    number = -1
    if (is_absent('osla_grid_npcol', 'grid', grid%handle)) return
    number = c_osla_grid_npcol(grid%handle)
  end function osla_grid_npcol

  function osla_grid_prow(grid) result(prow)
    type(osla_grid), intent(in) :: grid
    integer :: prow
    prow = -1
    if (is_absent('osla_grid_prow', 'grid', grid%handle)) return
    prow = c_osla_grid_prow(grid%handle)
  end function osla_grid_prow

  function osla_grid_pcol(grid) result(pcol)
    type(osla_grid), intent(in) :: grid
    integer :: pcol
    pcol = -1
    if (is_absent('osla_grid_pcol', 'grid', grid%handle)) return
    pcol = c_osla_grid_pcol(grid%handle)
  end function osla_grid_pcol

  function osla_grid_rank_at(grid, prow, pcol) result(rank)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: prow, pcol
    integer :: rank
    rank = -1
    if (is_absent('osla_grid_rank_at', 'grid', grid%handle)) return
    rank = c_osla_grid_rank_at(grid%handle, prow, pcol)
  end function osla_grid_rank_at

end module osla_grids
