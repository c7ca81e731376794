! An own problem of iterations in Fortran: the middle of a chain x_i = (x_(i-1) + x_(i+1)) / 2 between 0 and 1, m points on
! each rank. A state: the own points, then what the ranks before and after sent.
module chain
  use, intrinsic :: iso_c_binding
  use osla, only: osla_halo
  implicit none
  type :: chain_part
    integer :: m = 0, rank = 0, ranks = 0
    integer, allocatable :: side(:) ! side of each halo: 1 before this rank's points, 2 after them
    type(osla_halo), allocatable :: halos(:)
  end type chain_part

contains

  function sweep(arg, omega, x, y) bind(c) result(squares)
    type(c_ptr), value :: arg
    real(c_double), value :: omega
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: y(*)
    real(c_double) :: squares, before, after, rest
    type(chain_part), pointer :: part
    integer :: i
    call c_f_pointer(arg, part)
    squares = 0
    do i = 1, part%m
      before = merge(x(part%m + 1), x(max(1, i - 1)), i == 1)
      after = merge(x(part%m + 2), x(min(part%m, i + 1)), i == part%m)
      rest = before + after - 2 * x(i)
      squares = squares + rest**2
      y(i) = x(i) + omega * rest / 2
    end do
  end function sweep

  subroutine pack_halo(arg, h, x, message) bind(c)
    type(c_ptr), value :: arg
    integer(c_int), value :: h
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: message(*)
    type(chain_part), pointer :: part
    call c_f_pointer(arg, part)
    message(1) = x(merge(1, part%m, part%side(h + 1) == 1))
  end subroutine pack_halo

  subroutine unpack_halo(arg, h, message, x) bind(c)
    type(c_ptr), value :: arg
    integer(c_int), value :: h
    real(c_double), intent(in) :: message(*)
    real(c_double), intent(inout) :: x(*)
    type(chain_part), pointer :: part
    call c_f_pointer(arg, part)
    x(part%m + part%side(h + 1)) = message(1)
  end subroutine unpack_halo

  ! y := 2 x + beta y, and z := r / 2: an operator and its inverse.
  function twice(arg, op, x, beta, y) bind(c) result(err)
    type(c_ptr), value :: arg
    integer(c_int), value :: op
    real(c_double), intent(in) :: x(*)
    real(c_double), value :: beta
    real(c_double), intent(inout) :: y(*)
    integer(c_int) :: err
    integer(c_int64_t), pointer :: n
    integer(c_int64_t) :: i
    call c_f_pointer(arg, n)
    do i = 1, n
      if (abs(beta) > 0) then
        y(i) = 2 * x(i) + beta * y(i)
      else
        y(i) = 2 * x(i)
      end if
    end do
    err = 0 * op
  end function twice

  function half(arg, r, z) bind(c) result(err)
    type(c_ptr), value :: arg
    real(c_double), intent(in) :: r(*)
    real(c_double), intent(inout) :: z(*)
    integer(c_int) :: err
    integer(c_int64_t), pointer :: n
    call c_f_pointer(arg, n)
    z(:n) = r(:n) / 2
    err = 0
  end function half
end module chain

! Module osla: iterations, sweeps and operators of the caller, each call once with a known result.
program test_fortran_iterations
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use osla
  use fortran_trial
  use chain
  implicit none
  integer, parameter :: modes(3) = [OSLA_ITERATE_ASYNC, OSLA_ITERATE_RACY, OSLA_ITERATE_SYNC]

  call trial_begin
  call own_problem
  call grid_problem
  call block_jacobi
  call dense_block_jacobi
  call preconditioned
  call own_operator
  call iteration_refusals
  call trial_end

contains

  subroutine own_problem
    type(chain_part), target :: part
    type(osla_fixed_point) :: problem
    type(osla_iteration) :: iteration
    type(osla_iterate_options) :: options
    type(osla_iterate_result) :: result
    real(real64) :: x(7), exact
    integer :: i, k
    part%m = 5
    part%side = [integer ::]
    part%halos = [osla_halo ::]
    if (rank > 0) then
      part%side = [part%side, 1]
      part%halos = [part%halos, osla_halo(rank - 1, 0, 1, 1)]
    end if
    if (rank < ranks - 1) then
      part%side = [part%side, 2]
      part%halos = [part%halos, osla_halo(rank + 1, 0, 1, 1)]
    end if
    problem%arg = c_loc(part)
    problem%length = 7
    problem%n_halos = size(part%halos)
    if (size(part%halos) > 0) problem%halos = c_loc(part%halos)
    problem%sweep = c_funloc(sweep)
    problem%pack = c_funloc(pack_halo)
    problem%unpack = c_funloc(unpack_halo)
    do k = 1, 3
      options%mode = modes(k)
      options%tolerance = 1e-9_real64
      call osla_iteration_create(transport, problem, iteration, options)
      x = 0
      if (rank == ranks - 1) x(7) = 1
      call osla_iterate(iteration, x, result)
      call expect(result%end == OSLA_ITERATE_CONVERGED .and. osla_iterate_end_name(result%end) == 'converged', 'a chain')
      do i = 1, 5
        exact = real(5 * rank + i, real64) / (5 * ranks + 1)
        call expect(abs(x(i) - exact) < 1e-5_real64, 'the solution of a chain')
      end do
      call osla_iteration_destroy(iteration)
    end do
    call osla_iteration_destroy(iteration)
  end subroutine own_problem

  subroutine grid_problem
    type(osla_diffusion) :: diffusion
    type(osla_diffusion_options) :: shape
    type(osla_fixed_point) :: problem
    type(osla_iteration) :: iteration
    type(osla_iterate_options) :: options
    type(osla_iterate_result) :: result
    real(real64), allocatable :: x(:)
    real(real64) :: alpha
    integer(int64) :: first(3), count(3), points, all_points
    integer :: along(3), k
    shape%points = [6, 5, 4]
    shape%start = OSLA_DIFFUSION_SOURCE
    call osla_diffusion_create(transport, shape, diffusion)
    call osla_diffusion_own(diffusion, first, count)
    call osla_diffusion_ranks(diffusion, along)
    points = product(count)
    call MPI_Allreduce(points, all_points, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call expect(all_points == 120 .and. product(along) == ranks .and. all(first >= 1), 'points')
    call expect(osla_diffusion_radius(diffusion) < 1, 'rho')
    problem = osla_diffusion_problem(diffusion)
    allocate (x(problem%length))
    do k = 1, 3
      options%mode = modes(k)
      call osla_iteration_create(transport, problem, iteration, options)
      call osla_iterate_bound(iteration, 20_int64, alpha)
      call expect(alpha < 1 .and. alpha >= 0.999_real64 * osla_diffusion_radius(diffusion), 'a bound')
      call osla_diffusion_fill(diffusion, x)
      call osla_iterate(iteration, x, result)
      call expect(result%end == OSLA_ITERATE_CONVERGED .and. result%residual <= 1e-6_real64 * result%start, 'a grid')
      call osla_iteration_destroy(iteration)
    end do
    call osla_diffusion_destroy(diffusion)
    call osla_diffusion_destroy(diffusion)
  end subroutine grid_problem

  ! This rank's rows of a path graph's Laplacian plus the identity.
  subroutine make_path(n, start, matrix)
    integer, intent(in) :: n
    integer, intent(out) :: start(:)
    type(osla_csr), intent(out) :: matrix
    integer, allocatable :: first(:), column(:)
    real(real64), allocatable :: value(:)
    integer :: i
    call osla_even_blocks(n, ranks, start)
    first = [1]
    column = [integer ::]
    value = [real(real64) ::]
    do i = start(rank + 1), start(rank + 2) - 1
      column = [column, i, max(1, i - 1), min(n, i + 1)]
      value = [value, 3.0_real64, merge(-1.0_real64, 0.0_real64, i > 1), merge(-1.0_real64, 0.0_real64, i < n)]
      first = [first, size(column) + 1]
    end do
    call osla_csr_create(transport, start, start, first, column, value, matrix)
  end subroutine make_path

  subroutine block_jacobi
    integer, parameter :: n = 23
    type(osla_csr) :: a
    type(osla_splitting) :: splitting
    type(osla_splitting_options) :: blocks
    type(osla_fixed_point) :: problem
    type(osla_iteration) :: iteration
    type(osla_iterate_options) :: options
    type(osla_iterate_result) :: result
    real(real64), allocatable, target :: b(:)
    real(real64), allocatable :: x(:)
    integer :: start(ranks + 1), rows, k, i
    call make_path(n, start, a)
    rows = start(rank + 2) - start(rank + 1)
    allocate (b(rows))
    call osla_spmv(OSLA_NOTRANS, a, [(real(i, real64), i = start(rank + 1), start(rank + 2) - 1)], 0.0_real64, b)
    do k = 1, 3
      blocks%block = 2 * k - 1
      blocks%factor = merge(OSLA_SPLITTING_LU, OSLA_SPLITTING_CHOLESKY, k == 3)
      options%mode = modes(k)
      options%tolerance = 1e-12_real64
      call osla_splitting_create(a, b, splitting, blocks)
      problem = osla_splitting_problem(splitting)
      call osla_iteration_create(transport, problem, iteration, options)
      if (allocated(x)) deallocate (x)
      allocate (x(problem%length))
      x = 0
      call osla_iterate(iteration, x, result)
      call expect(result%end == OSLA_ITERATE_CONVERGED, 'block Jacobi converges')
      call expect(all(abs(x(:rows) - [(i, i = start(rank + 1), start(rank + 2) - 1)]) < 1e-9_real64), 'its solution')
      call osla_iteration_destroy(iteration)
      call osla_splitting_destroy(splitting)
    end do
    call osla_csr_destroy(a)
  end subroutine block_jacobi

  function dominant(i, j) result(value)
    integer(int64), intent(in) :: i, j
    real(real64) :: value
    value = merge(20.0_real64, 1.0_real64 / real(i + j, real64), i == j)
  end function dominant

  subroutine dense_block_jacobi
    integer, parameter :: n = 11
    type(osla_grid) :: grid
    type(osla_matrix) :: a
    type(osla_splitting) :: splitting
    type(osla_fixed_point) :: problem
    type(osla_iteration) :: iteration
    type(osla_iterate_options) :: options
    type(osla_iterate_result) :: result
    real(real64), allocatable, target :: b(:)
    real(real64), allocatable :: x(:)
    real(real64) :: whole(n, n), sums(n)
    integer :: start(ranks + 1), rows, i, j
    call osla_grid_create(transport, grid)
    call osla_matrix_create(grid, OSLA_DOUBLE, n, n, 4, 3, a)
    call osla_matrix_fill_with(a, dominant)
    do j = 1, n
      do i = 1, n
        whole(i, j) = dominant(int(i, int64), int(j, int64))
      end do
    end do
    sums = sum(whole, 2)
    call osla_even_blocks(n, ranks, start)
    rows = start(rank + 2) - start(rank + 1)
    b = sums(start(rank + 1):start(rank + 2) - 1)
    call osla_splitting_create_dense(OSLA_GENERAL, a, b, splitting)
    problem = osla_splitting_problem(splitting)
    options%tolerance = 1e-12_real64
    call osla_iteration_create(transport, problem, iteration, options)
    allocate (x(problem%length))
    x = 0
    call osla_iterate(iteration, x, result)
    call expect(result%end == OSLA_ITERATE_CONVERGED .and. all(abs(x(:rows) - 1) < 1e-10_real64), 'a dense matrix')
    call osla_iteration_destroy(iteration)
    call osla_splitting_destroy(splitting)
    call osla_matrix_destroy(a)
    call osla_grid_destroy(grid)
  end subroutine dense_block_jacobi

  subroutine preconditioned
    integer, parameter :: n = 40
    type(osla_csr) :: a
    type(osla_jacobi) :: jacobi
    type(osla_splitting) :: splitting
    type(osla_sweeps) :: sweeps
    type(osla_iterate_options) :: how
    type(osla_krylov_options) :: options
    type(osla_krylov_result) :: result
    real(real64), allocatable, target :: right(:)
    real(real64), allocatable :: b(:), x(:)
    integer :: start(ranks + 1), k
    call make_path(n, start, a)
    allocate (b(osla_csr_rows(a)), x(osla_csr_rows(a)), right(osla_csr_rows(a)))
    b = [(1.0_real64 * k, k = start(rank + 1), start(rank + 2) - 1)]
    right = b
    options%tolerance = 1e-11_real64
    options%flexible = .true.
    call osla_splitting_create(a, right, splitting)
    do k = 1, 3
      how%mode = modes(k)
      call osla_sweeps_create(transport, osla_splitting_problem(splitting), right, sweeps, how)
      x = 0
      call osla_cg(a, b, x, m=sweeps, options=options, result=result)
      call expect(result%end == OSLA_KRYLOV_CONVERGED, 'CG with sweeps')
      call osla_spmv(OSLA_NOTRANS, a, x, 0.0_real64, right)
      call expect(all(abs(right - b) < 1e-8_real64), 'its solution')
      call osla_sweeps_destroy(sweeps)
    end do
    call sweeps_of_other_rows(a, osla_splitting_problem(splitting))
    call osla_jacobi_create(a, osla_csr_rows(a), 0.0_real64, jacobi)
    x = 0 * b
    call osla_cg(a, b, x, m=osla_jacobi_use(jacobi), result=result)
    call expect(result%end == OSLA_KRYLOV_CONVERGED, 'CG with blocks as a preconditioner')
    call osla_jacobi_destroy(jacobi)
    call osla_splitting_destroy(splitting)
    call osla_csr_destroy(a)
  end subroutine preconditioned

  subroutine sweeps_of_other_rows(a, problem)
    type(osla_csr), intent(in) :: a
    type(osla_fixed_point), intent(in) :: problem
    real(real64), allocatable, target :: right(:)
    real(real64), allocatable :: b(:), x(:)
    type(osla_sweeps) :: sweeps
    integer :: k, stat
    character(200) :: text
    allocate (b(osla_csr_rows(a)), x(osla_csr_rows(a)))
    b = 1
    x = 0
    do k = 1, min(ranks, 2) ! k = 1: `right` is too short; k = 2: it has values of other ranks
      allocate (right(merge(size(b, kind=int64) - 1, problem%length, k == 1)))
      call osla_sweeps_create(transport, problem, right, sweeps)
      call osla_cg(a, b, x, m=sweeps, stat=stat, errmsg=text)
      call expect(stat == OSLA_ERR_ARG .and. index(text, 'CG: the preconditioner has ') > 0, text)
      call osla_cg(a, b, x, m=osla_sweeps_use(sweeps), stat=stat)
      call expect(stat == OSLA_ERR_ARG, 'the same, as a preconditioner')
      call osla_sweeps_destroy(sweeps)
      deallocate (right)
    end do
  end subroutine sweeps_of_other_rows

  subroutine own_operator
    type(osla_operator) :: operator
    type(osla_preconditioner) :: inverse
    type(osla_krylov_result) :: result
    integer(c_int64_t), target :: n
    real(real64), allocatable :: b(:), x(:)
    integer :: i
    n = 3 + rank
    operator%transport = transport%handle
    operator%rows = n
    operator%columns = n
    operator%multiply = c_funloc(twice)
    operator%arg = c_loc(n)
    inverse%apply = c_funloc(half)
    inverse%arg = c_loc(n)
    allocate (b(n), x(n))
    b = [(2.0_real64 * i, i = 1, int(n))]
    x = 0
    call osla_cg(operator, b, x, m=inverse, result=result)
    call expect(result%end == OSLA_KRYLOV_CONVERGED .and. all(abs(x - b / 2) < 1e-12_real64), 'CG with an own operator')
    call osla_lsqr(operator, b, x, result=result)
    call expect(result%end == OSLA_KRYLOV_CONVERGED .and. all(abs(x - b / 2) < 1e-10_real64), 'LSQR with it')
  end subroutine own_operator

  subroutine iteration_refusals
    type(osla_csr) :: a, no_matrix
    type(osla_splitting) :: splitting, none
    type(osla_iteration) :: iteration, no_iteration
    type(osla_iterate_options) :: options
    type(osla_diffusion) :: diffusion
    type(osla_diffusion_options) :: shape
    type(osla_sweeps) :: sweeps
    type(osla_fixed_point) :: problem
    type(osla_operator) :: operator
    type(osla_preconditioner) :: no_function
    real(real64), allocatable, target :: b(:), spaced(:)
    real(real64), allocatable :: x(:)
    real(real64), pointer :: nowhere(:)
    real(real64) :: alpha
    integer :: start(ranks + 1), stat
    character(200) :: text
    call make_path(9, start, a)
    allocate (b(0))
    call osla_splitting_create(a, b, splitting, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'right-hand side does not have the size') > 0, 'b of another size')
    nowhere => null()
    call osla_splitting_create(a, nowhere, splitting, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'no b')
    deallocate (b)
    allocate (b(osla_csr_rows(a)), spaced(2 * osla_csr_rows(a)))
    b = 1
    spaced = 1
    if (ranks <= 4) then
      call osla_splitting_create(a, spaced(::2), splitting, stat=stat)
      call expect(stat == OSLA_ERR_ARG, 'b with gaps')
    end if
    call osla_splitting_create(no_matrix, b, splitting, stat=stat)
    call expect(stat == OSLA_ERR_STATE, 'no matrix')
    problem = osla_splitting_problem(none)
    call osla_iteration_create(transport, problem, iteration, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'is missing') > 0, 'no sweep')
    call osla_splitting_create(a, b, splitting)
    problem = osla_splitting_problem(splitting)
    options%omega = -1
    call osla_iteration_create(transport, problem, iteration, options, stat)
    call expect(stat == OSLA_ERR_ARG, 'omega')
    options%omega = 0
    options%reserved(1) = 1
    call osla_iteration_create(transport, problem, iteration, options, stat)
    call expect(stat == OSLA_ERR_ARG, 'reserved words')
    call osla_iteration_create(transport, problem, iteration)
    allocate (x(problem%length + merge(1, 0, rank == 0))) ! too long on rank 0 only
    call osla_iterate(iteration, x, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'x of another length')
    call osla_iterate_bound(iteration, -1, alpha, stat)
    call expect(stat == OSLA_ERR_ARG, 'a negative number of steps')
    call osla_iterate(no_iteration, x, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'the iteration was not created') > 0, 'no iteration')
    call osla_sweeps_create(transport, problem, nowhere, sweeps, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'sweeps without a right-hand side')
    call osla_cg(a, b, x, m=no_function, stat=stat)
    call expect(stat == OSLA_ERR_STATE, 'no preconditioner')
    call osla_cg(operator, b, x, stat=stat)
    call expect(stat == OSLA_ERR_STATE, 'no operator')
    call missing_on_rank_0(a)
    call osla_diffusion_create(transport, shape, diffusion, stat)
    call expect(stat == OSLA_ERR_ARG, 'no points')
    call osla_diffusion_fill(diffusion, x, stat)
    call expect(stat == OSLA_ERR_STATE, 'no diffusion')
    call osla_iteration_destroy(iteration)
    call osla_splitting_destroy(splitting)
    call osla_csr_destroy(a)
  end subroutine iteration_refusals

  ! An argument that is missing on rank 0 only is an error on all ranks.
  subroutine missing_on_rank_0(a)
    type(osla_csr), intent(in) :: a
    type(osla_operator) :: whole, half_set
    type(osla_preconditioner) :: m
    type(osla_jacobi) :: jacobi
    real(real64), allocatable :: b(:), x(:)
    integer :: stat
    character(200) :: text
    allocate (b(osla_csr_rows(a)), x(osla_csr_rows(a)))
    b = 1
    x = 0
    whole = osla_csr_operator(a)
    half_set = whole
    if (rank == 0) half_set%multiply = c_null_funptr
    call osla_cg(half_set, b, x, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. text == 'osla_cg: the product of the operator was not set', text)
    call osla_lsqr(half_set, b, x, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. text == 'osla_lsqr: the product of the operator was not set', text)
    call osla_jacobi_create(a, 1, 0.0_real64, jacobi)
    m = osla_jacobi_use(jacobi)
    if (rank == 0) m%apply = c_null_funptr
    call osla_cg(whole, b, x, m=m, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'osla_cg: the preconditioner was not') == 1, text)
    if (rank == 0) call osla_jacobi_destroy(jacobi)
    call osla_cg(a, b, x, m=jacobi, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'osla_cg: the preconditioner was not') == 1, text)
    call osla_jacobi_destroy(jacobi)
  end subroutine missing_on_rank_0

end program test_fortran_iterations
