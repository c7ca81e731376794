! Fixed-point iterations x := M x + c, in lock-step or asynchronous, and the problems to iterate:
! block Jacobi of sparse and dense matrices, Laplace's equation on a grid, problems of the caller.
! The contracts are in osla_iterate.h, osla_splitting.h and osla_diffusion.h.
!
! A problem of the caller is a type(osla_fixed_point), C's struct. Its functions are c_funloc of
! functions with bind(c) and the interfaces of osla_iterate.h, which receive arg unchanged. Its
! halos are c_loc of an array of type(osla_halo), with indices from 0. Everything that it points to,
! and right-hand sides, is borrowed: it must have the target attribute and live as long as the
! iteration.
module osla_iterations
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_csr, osla_matrix, osla_splitting, osla_diffusion, osla_iteration, &
    osla_sweeps, report, is_absent, refuse, fortran_text
  use osla_collectives, only: collective_call, requires, check, is_valid, all_ready
  implicit none
  private
  public :: osla_iteration_create, osla_iteration_destroy, osla_iterate_bound, osla_iterate, osla_iterate_end_name
  public :: osla_splitting_create, osla_splitting_create_dense, osla_splitting_destroy, osla_splitting_problem
  public :: osla_diffusion_create, osla_diffusion_destroy, osla_diffusion_problem, osla_diffusion_own
  public :: osla_diffusion_ranks, osla_diffusion_fill, osla_diffusion_radius
  public :: osla_sweeps_create, osla_sweeps_destroy

  ! A contraction factor; a value below 1 proves that every mode converges.
  interface osla_iterate_bound
    procedure bound_default, bound_long
  end interface

contains

  ! Checks that a borrowed vector is associated.
  subroutine check_vector(at, vector)
    type(collective_call), intent(inout) :: at
    real(c_double), pointer, intent(in) :: vector(:)
    call check(at, associated(vector), 'there is no right-hand side')
    if (.not. associated(vector)) return
    if (size(vector) > 0) call check(at, is_contiguous(vector), 'the right-hand side is not contiguous')
  end subroutine check_vector

  ! Checks that a borrowed vector is associated and has n elements.
  subroutine check_vector_of(at, vector, n)
    type(collective_call), intent(inout) :: at
    real(c_double), pointer, intent(in) :: vector(:)
    integer(c_int64_t), intent(in) :: n
    call check_vector(at, vector)
    if (associated(vector)) call check(at, size(vector, kind=c_int64_t) == n, &
      'the right-hand side does not have the size of this rank''s part')
  end subroutine check_vector_of

  ! --- iterations: collective ---

  ! Creates an iteration. A rank without a part of x passes a problem of length 0.
  subroutine osla_iteration_create(transport, problem, iteration, options, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    type(osla_fixed_point), intent(in) :: problem
    type(osla_iteration), intent(out) :: iteration
    type(osla_iterate_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_fixed_point), target :: given
    type(osla_iterate_options), target :: chosen
    at = collective_call('osla_iteration_create')
    call requires(at, transport)
    given = problem
    if (present(options)) chosen = options
    iteration%transport = transport%handle
    iteration%length = problem%length
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_iteration_create(transport%handle, c_loc(given), c_loc(chosen), iteration%handle), stat, errmsg)
  end subroutine osla_iteration_create

  subroutine osla_iteration_destroy(iteration)
    type(osla_iteration), intent(inout) :: iteration
    call c_osla_iteration_destroy(iteration%handle)
  end subroutine osla_iteration_destroy

  subroutine bound_default(iteration, steps, alpha, stat, errmsg)
    type(osla_iteration), intent(in) :: iteration
    integer, intent(in) :: steps
    real(c_double), intent(out) :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bound_long(iteration, int(steps, c_int64_t), alpha, stat, errmsg)
  end subroutine bound_default

  subroutine bound_long(iteration, steps, alpha, stat, errmsg)
    type(osla_iteration), intent(in) :: iteration
    integer(c_int64_t), intent(in) :: steps
    real(c_double), intent(out) :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    alpha = huge(alpha)
    at = collective_call('osla_iterate_bound')
    call requires(at, iteration)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_iterate_bound(iteration%handle, steps, alpha), stat, errmsg)
  end subroutine bound_long

  ! x: the initial state, of the problem's length; on return the state whose residual is in
  ! `result`.
  subroutine osla_iterate(iteration, x, result, stat, errmsg)
    type(osla_iteration), intent(in) :: iteration
    real(c_double), intent(inout), target, contiguous :: x(:)
    type(osla_iterate_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_iterate_result), target :: found
    integer(c_int) :: err
    at = collective_call('osla_iterate')
    call requires(at, iteration)
    call check(at, size(x, kind=c_int64_t) == iteration%length, 'x does not have the length of the problem''s states')
    if (.not. all_ready(at, stat, errmsg)) return
    err = c_osla_iterate(iteration%handle, c_loc(x), c_loc(found))
    if (present(result) .and. err == OSLA_OK) result = found
    call report(err, stat, errmsg)
  end subroutine osla_iterate

  ! Name of a reason for the end, such as 'converged'.
  function osla_iterate_end_name(end) result(text)
    integer, intent(in) :: end
    character(:), allocatable :: text
    text = fortran_text(c_osla_iterate_end_name(int(end, c_int)))
  end function osla_iterate_end_name

  ! --- block Jacobi: creation is collective, destruction is local ---

  ! b: this rank's part of the right-hand side; borrowed, and may change between runs.
  subroutine osla_splitting_create(a, b, splitting, options, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), pointer, intent(in) :: b(:)
    type(osla_splitting), intent(out) :: splitting
    type(osla_splitting_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_splitting_options), target :: chosen
    at = collective_call('osla_splitting_create')
    call requires(at, a, 'matrix')
    if (present(options)) chosen = options
    if (is_valid(at)) call check_vector_of(at, b, c_osla_csr_rows(a%handle))
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_splitting_create(a%handle, c_loc(b), c_loc(chosen), splitting%handle), stat, errmsg)
  end subroutine osla_splitting_create

  ! Block Jacobi of a dense matrix: each rank gets the rows of osla_even_blocks(m, ranks, start),
  ! whichever ranks own them.
  subroutine osla_splitting_create_dense(uplo, a, b, splitting, options, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a
    real(c_double), pointer, intent(in) :: b(:)
    type(osla_splitting), intent(out) :: splitting
    type(osla_splitting_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_splitting_options), target :: chosen
    at = collective_call('osla_splitting_create_dense')
    call requires(at, a, 'matrix')
    if (present(options)) chosen = options
    if (is_valid(at)) call check_vector_of(at, b, even_rows(a))
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_splitting_create_dense(int(uplo, c_int), a%handle, c_loc(b), c_loc(chosen), splitting%handle), &
      stat, errmsg)
  end subroutine osla_splitting_create_dense

  ! Number of this rank's rows by osla_even_blocks.
  function even_rows(a) result(rows)
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t) :: rows
    type(osla_layout) :: layout
    type(c_ptr) :: transport
    integer(c_int64_t), allocatable, target :: start(:)
    integer(c_int) :: rank
    transport = c_osla_grid_transport(c_osla_matrix_grid(a%handle))
    rank = c_osla_transport_rank(transport)
    layout = c_osla_matrix_layout(a%handle)
    allocate (start(c_osla_transport_size(transport) + 1))
    call c_osla_even_blocks(layout%m, c_osla_transport_size(transport), c_loc(start))
    rows = start(rank + 2) - start(rank + 1)
  end function even_rows

  subroutine osla_splitting_destroy(splitting)
    type(osla_splitting), intent(inout) :: splitting
    call c_osla_splitting_destroy(splitting%handle)
  end subroutine osla_splitting_destroy

  ! The problem of a splitting. A state holds this rank's rows, then values of other ranks; the
  ! member `length` is the size of a state. If the splitting does not exist, the problem has no
  ! sweep function, and osla_iteration_create refuses the problem.
  function osla_splitting_problem(splitting) result(problem)
    type(osla_splitting), intent(in) :: splitting
    type(osla_fixed_point) :: problem
    if (c_associated(splitting%handle)) problem = c_osla_splitting_problem(splitting%handle)
  end function osla_splitting_problem

  ! --- Laplace's equation on a grid: creation is collective, all else is local ---

  subroutine osla_diffusion_create(transport, options, diffusion, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    type(osla_diffusion_options), intent(in) :: options
    type(osla_diffusion), intent(out) :: diffusion
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_diffusion_options), target :: chosen
    at = collective_call('osla_diffusion_create')
    call requires(at, transport)
    chosen = options
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_diffusion_create(transport%handle, c_loc(chosen), diffusion%handle), stat, errmsg)
  end subroutine osla_diffusion_create

  subroutine osla_diffusion_destroy(diffusion)
    type(osla_diffusion), intent(inout) :: diffusion
    call c_osla_diffusion_destroy(diffusion%handle)
  end subroutine osla_diffusion_destroy

  ! The problem of a diffusion; it has no sweep function if the diffusion does not exist.
  function osla_diffusion_problem(diffusion) result(problem)
    type(osla_diffusion), intent(in) :: diffusion
    type(osla_fixed_point) :: problem
    if (c_associated(diffusion%handle)) problem = c_osla_diffusion_problem(diffusion%handle)
  end function osla_diffusion_problem

  ! This rank's points: first(d) .. first(d) + count(d) - 1 in dimension d.
  subroutine osla_diffusion_own(diffusion, first, count, stat, errmsg)
    type(osla_diffusion), intent(in) :: diffusion
    integer(c_int64_t), intent(out) :: first(3), count(3)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    first = 1
    count = 0
    if (is_absent('osla_diffusion_own', 'diffusion', diffusion%handle, stat, errmsg)) return
    call c_osla_diffusion_own(diffusion%handle, first, count)
    first = first + 1
    call report(OSLA_OK, stat, errmsg)
  end subroutine osla_diffusion_own

  subroutine osla_diffusion_ranks(diffusion, ranks, stat, errmsg)
    type(osla_diffusion), intent(in) :: diffusion
    integer, intent(out) :: ranks(3)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    ranks = 0
    if (is_absent('osla_diffusion_ranks', 'diffusion', diffusion%handle, stat, errmsg)) return
    call c_osla_diffusion_ranks(diffusion%handle, ranks)
    call report(OSLA_OK, stat, errmsg)
  end subroutine osla_diffusion_ranks

  ! x := the initial state with its boundary values.
  subroutine osla_diffusion_fill(diffusion, x, stat, errmsg)
    type(osla_diffusion), intent(in) :: diffusion
    real(c_double), intent(inout), target, contiguous :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(osla_fixed_point) :: problem
    if (is_absent('osla_diffusion_fill', 'diffusion', diffusion%handle, stat, errmsg)) return
    problem = c_osla_diffusion_problem(diffusion%handle)
    if (size(x, kind=c_int64_t) /= problem%length) then
      call refuse(OSLA_ERR_ARG, 'osla_diffusion_fill: x does not have the length of the problem''s states', stat, errmsg)
      return
    end if
    call c_osla_diffusion_fill(diffusion%handle, c_loc(x))
    call report(OSLA_OK, stat, errmsg)
  end subroutine osla_diffusion_fill

  ! Spectral radius of M; 0 if the diffusion does not exist.
  function osla_diffusion_radius(diffusion) result(radius)
    type(osla_diffusion), intent(in) :: diffusion
    real(c_double) :: radius
    radius = 0
    if (c_associated(diffusion%handle)) radius = c_osla_diffusion_radius(diffusion%handle)
  end function osla_diffusion_radius

  ! --- sweeps as a preconditioner: collective ---

  ! right: the right-hand side that the problem reads; borrowed and overwritten. Its size is the
  ! number of this rank's rows, not problem%length, which includes values of other ranks. osla_cg
  ! refuses sweeps whose rows are not those of its operator.
  subroutine osla_sweeps_create(transport, problem, right, sweeps, options, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    type(osla_fixed_point), intent(in) :: problem
    real(c_double), pointer, intent(in) :: right(:)
    type(osla_sweeps), intent(out) :: sweeps
    type(osla_iterate_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_fixed_point), target :: given
    type(osla_iterate_options), target :: chosen
    integer(c_int64_t) :: rows
    at = collective_call('osla_sweeps_create')
    call requires(at, transport)
    given = problem
    if (present(options)) chosen = options
    rows = 0
    if (associated(right)) rows = size(right, kind=c_int64_t)
    call check_vector(at, right)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_sweeps_create(transport%handle, c_loc(given), rows, c_loc(right), c_loc(chosen), sweeps%handle), &
      stat, errmsg)
  end subroutine osla_sweeps_create

  subroutine osla_sweeps_destroy(sweeps)
    type(osla_sweeps), intent(inout) :: sweeps
    call c_osla_sweeps_destroy(sweeps%handle)
  end subroutine osla_sweeps_destroy

end module osla_iterations
