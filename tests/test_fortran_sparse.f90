! Module osla: sparse matrices, CG and LSQR, star forests, each call once with an answer that is known.
program test_fortran_sparse
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64, int64
  use mpi_f08
  use osla
  implicit none
  type(osla_transport) :: transport
  integer :: level, failures, rank, ranks, all_failures

  failures = 0
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, level)
  call osla_transport_create(MPI_COMM_WORLD, transport)
  rank = osla_transport_rank(transport)
  ranks = osla_transport_size(transport)
  call products
  call solves
  call sparse_refusals
  call trees
  call kinds
  call made_from_others
  call forest_refusals
  call osla_transport_destroy(transport)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. all_failures == 0) print '(a)', 'ok'
  call MPI_Finalize()
  if (all_failures > 0) stop 1

contains

  subroutine expect(is, what)
    logical, intent(in) :: is
    character(*), intent(in) :: what
    if (is) return
    failures = failures + 1
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': not so: ', what
  end subroutine expect

  ! The lists of this rank's rows of a path's Laplacian plus one: 3 on the diagonal, below -1, above `upper`.
  subroutine path_lists(n, upper, start, first, column, value)
    integer, intent(in) :: n
    real(real64), intent(in) :: upper
    integer, intent(out) :: start(:)
    integer, allocatable, intent(out) :: first(:), column(:)
    real(real64), allocatable, intent(out) :: value(:)
    integer :: i
    call osla_even_blocks(n, ranks, start)
    first = [1]
    column = [integer ::]
    value = [real(real64) ::]
    do i = start(rank + 1), start(rank + 2) - 1
      if (i < n) column = [column, i + 1]
      if (i < n) value = [value, upper]
      column = [column, i]
      value = [value, 3.0_real64]
      if (i > 1) column = [column, i - 1]
      if (i > 1) value = [value, -1.0_real64]
      first = [first, size(column) + 1]
    end do
  end subroutine path_lists

  subroutine make_path(n, upper, start, matrix)
    integer, intent(in) :: n
    real(real64), intent(in) :: upper
    integer, intent(out) :: start(:)
    type(osla_csr), intent(out) :: matrix
    integer, allocatable :: first(:), column(:)
    real(real64), allocatable :: value(:)
    call path_lists(n, upper, start, first, column, value)
    call osla_csr_create(transport, start, start, first, column, value, matrix)
  end subroutine make_path

  ! The same matrix whole, and this rank's part of a vector.
  function whole_path(n, upper) result(whole)
    integer, intent(in) :: n
    real(real64), intent(in) :: upper
    real(real64) :: whole(n, n)
    integer :: i
    whole = 0
    do i = 1, n
      whole(i, i) = 3
    end do
    do i = 1, n - 1
      whole(i, i + 1) = upper
      whole(i + 1, i) = -1
    end do
  end function whole_path

  function mine(x, start) result(part)
    real(real64), intent(in) :: x(:)
    integer, intent(in) :: start(:)
    real(real64), allocatable :: part(:)
    part = x(start(rank + 1):start(rank + 2) - 1)
  end function mine

  subroutine products
    integer, parameter :: n = 11
    integer :: start(ranks + 1), i
    type(osla_csr) :: a, t, square, coarse
    real(real64) :: whole(n, n), x(n)
    real(real64), allocatable :: y(:), d(:)
    call make_path(n, 2.0_real64, start, a)
    whole = whole_path(n, 2.0_real64)
    x = [(real(i * i, real64), i = 1, n)]
    call expect(osla_csr_rows(a) == start(rank + 2) - start(rank + 1), 'rows')
    call expect(osla_csr_columns(a) == osla_csr_rows(a), 'columns')
    call expect(all(osla_csr_row_start(a) == start) .and. all(osla_csr_column_start(a) == start), 'blocks')
    call expect(osla_csr_entries(a) == count(abs(whole(start(rank + 1):start(rank + 2) - 1, :)) > 0), 'entries')
    call expect(osla_csr_ghosts(a) <= 2, 'ghosts')
    y = mine(x, start)
    d = y
    call osla_spmv(OSLA_NOTRANS, a, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(whole, x), start)) == 0), 'a x')
    call osla_spmv(OSLA_TRANS, a, mine(x, start), 2.0_real64, y)
    call expect(all(abs(y - mine(matmul(transpose(whole), x) + 2 * matmul(whole, x), start)) == 0), 'a^T x + 2 y')
    call osla_csr_diagonal(a, d)
    call expect(all(abs(d - 3) == 0), 'diagonal')
    call osla_csr_column_squares(a, d)
    call expect(all(abs(d - mine(sum(whole**2, 1), start)) == 0), 'squares of columns')
    call osla_csr_transpose(a, t)
    call osla_csr_multiply(t, a, square)
    call osla_spmv(OSLA_NOTRANS, square, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(matmul(transpose(whole), whole), x), start)) == 0), 'a^T a x')
    call osla_csr_galerkin(t, a, coarse)
    call osla_spmv(OSLA_NOTRANS, coarse, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(transpose(whole), matmul(transpose(whole), matmul(whole, x))), start)) == 0), &
      'a^T a^T a x')
    call osla_csr_destroy(coarse)
    call osla_csr_destroy(square)
    call osla_csr_destroy(t)
    call osla_csr_destroy(a)
    call osla_csr_destroy(a)
  end subroutine products

  subroutine solves
    integer, parameter :: n = 60
    integer :: start(ranks + 1), i, block
    type(osla_csr) :: a
    type(osla_jacobi) :: jacobi
    type(osla_krylov_options) :: options
    type(osla_krylov_result) :: result
    real(real64) :: x(n)
    real(real64), allocatable :: b(:), found(:)
    call make_path(n, -1.0_real64, start, a)
    x = [(cos(real(i, real64)), i = 1, n)]
    b = mine(matmul(whole_path(n, -1.0_real64), x), start)
    found = 0 * b
    options%tolerance = 1e-13_real64
    call osla_cg(a, b, found, options=options, result=result)
    call expect(result%end == OSLA_KRYLOV_CONVERGED .and. result%iterations > 1, 'CG converges')
    call expect(all(abs(found - mine(x, start)) < 1e-11_real64), 'the solution of CG')
    do block = 1, 4, 3
      call osla_jacobi_create(a, block, 0.0_real64, jacobi)
      found = 0
      call osla_cg(a, b, found, m=jacobi, options=options, result=result)
      call expect(result%end == OSLA_KRYLOV_CONVERGED .and. all(abs(found - mine(x, start)) < 1e-11_real64), 'with Jacobi')
      call osla_jacobi_destroy(jacobi)
    end do
    call osla_lsqr(a, b, found, options=options, result=result)
    call expect(result%end == OSLA_KRYLOV_CONVERGED .and. all(abs(found - mine(x, start)) < 1e-9_real64), 'LSQR')
    call osla_lsqr(a, b, found, damping=2.0_real64, scale=0 * b + 0.5_real64, options=options, result=result)
    call expect(result%end == OSLA_KRYLOV_CONVERGED .and. any(abs(found - mine(x, start)) > 1e-3_real64) .neqv. size(b) == 0, &
      'LSQR, damped')
    options%iterations = 1
    found = 0
    call osla_cg(a, b, found, options=options, result=result)
    call expect(result%end == OSLA_KRYLOV_ITERATIONS, 'as many as are allowed')
    call osla_csr_destroy(a)
  end subroutine solves

  subroutine sparse_refusals
    integer, parameter :: n = 7
    integer :: start(ranks + 1), stat
    integer, allocatable :: first(:), column(:)
    real(real64), allocatable :: value(:), x(:)
    type(osla_csr) :: a, none, made
    type(osla_jacobi) :: no_jacobi
    type(osla_krylov_options) :: options
    character(200) :: text
    call path_lists(n, -1.0_real64, start, first, column, value)
    call osla_csr_create(transport, start, start, first, column, value, a)
    x = mine([0.0_real64, 0.0_real64, 0.0_real64, 0.0_real64, 0.0_real64, 0.0_real64, 0.0_real64], start)
    if (rank == ranks - 1) column(1) = n + 1 ! there alone
    call osla_csr_create(transport, start, start, first, column, value, none, stat, text)
    call expect(stat == OSLA_ERR_ARG, 'a column that there is not: ' // text)
    column(1) = 1
    if (rank == 0) value = [real(real64) ::]
    call osla_csr_create(transport, start, start, first, column, value, none, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'fewer entries than first says') > 0, 'few values: ' // text)
    call osla_csr_create(transport, start(:ranks), start, first, column, value, none, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'a number for each rank') > 0, 'few starts: ' // text)
    call osla_csr_create(transport, start, start, [1, 1], column, value, none, stat, text)
    call expect(stat == OSLA_ERR_ARG, 'other rows: ' // text)
    call osla_spmv(OSLA_NOTRANS, none, x, 0.0_real64, x, stat, text)
    call expect(stat == OSLA_ERR_STATE .and. text == 'osla_spmv: the matrix was not created, or is destroyed', text)
    call osla_spmv(OSLA_NOTRANS, a, [x, 1.0_real64], 0.0_real64, x, stat)
    call expect(stat == OSLA_ERR_ARG, 'x of another size')
    call osla_csr_diagonal(a, value, stat)
    call expect(stat == OSLA_ERR_ARG .or. size(value) == size(x), 'd of another size')
    call osla_csr_multiply(a, none, made, stat)
    call expect(stat == OSLA_ERR_STATE, 'no second matrix')
    call osla_cg(a, x, x(:0), stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'x of CG')
    if (rank == 0) value = [x, 1.0_real64]
    if (rank > 0) value = x
    call osla_lsqr(a, x, value, stat=stat) ! wrong on rank 0 alone
    call expect(stat == OSLA_ERR_ARG, 'x of LSQR')
    call osla_cg(a, x, x, m=no_jacobi, stat=stat)
    call expect(stat == OSLA_ERR_STATE, 'no preconditioner')
    call osla_jacobi_create(a, 0, 0.0_real64, no_jacobi, stat)
    call expect(stat == OSLA_ERR_ARG, 'blocks of no rows')
    options%tolerance = -1
    value = x
    call osla_cg(a, x, value, options=options, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'a negative tolerance')
    options%tolerance = 0
    options%reserved(2) = 1
    call osla_cg(a, x, value, options=options, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'reserved words')
    call expect(osla_csr_rows(none) == 0 .and. size(osla_csr_row_start(none)) == 0, 'nothing known of none')
    call osla_csr_destroy(a)
  end subroutine sparse_refusals

  ! Two roots here; leaves 5, 1 and 3 of each rank at roots of the next rank and of this one.
  subroutine make_ring(forest)
    type(osla_forest), intent(out) :: forest
    integer :: after
    after = mod(rank + 1, ranks)
    call osla_forest_create(transport, 2, [osla_root(after, 1_int64), osla_root(rank, 1_int64), osla_root(after, 2_int64)], &
      forest, leaf=[5, 1, 3])
  end subroutine make_ring

  subroutine trees
    type(osla_forest) :: forest, global
    real(real64) :: roots(2), leaves(5), wide_roots(3, 2), wide_leaves(3, 5)
    integer(int64) :: degree(2)
    integer :: after, start(ranks + 1), i
    after = mod(rank + 1, ranks)
    call make_ring(forest)
    call expect(osla_forest_n_roots(forest) == 2 .and. osla_forest_n_edges(forest) == 3 .and. &
      osla_forest_leaf_space(forest) == 5, 'sizes')
    call osla_forest_degrees(forest, degree)
    call expect(all(degree == [2, 1]), 'degrees')
    roots = [10 * rank + 1, 10 * rank + 2]
    leaves = -1
    call osla_forest_bcast(forest, roots, leaves, OSLA_REPLACE)
    call expect(all(abs(leaves - [10 * rank + 1, -1, 10 * after + 2, -1, 10 * after + 1]) == 0), 'a broadcast')
    leaves = [1, 100, 2, 100, 3]
    roots = 10
    call osla_forest_reduce(forest, leaves, roots, OSLA_SUM)
    call expect(all(abs(roots - [14, 12]) == 0), 'a sum')
    wide_leaves = spread(leaves, 1, 3)
    wide_roots = 7
    call osla_forest_reduce(forest, wide_leaves, wide_roots, OSLA_MAX)
    call expect(all(abs(wide_roots - 7) == 0), 'the greatest, three numbers in a vertex')
    call osla_forest_reduce(forest, wide_leaves, wide_roots, OSLA_MIN)
    call expect(all(abs(wide_roots - spread([1.0_real64, 2.0_real64], 1, 3)) == 0), 'the least')
    start = [(1 + 2 * i, i = 0, ranks)]
    call osla_forest_create_global(transport, start, [start(after + 1), start(rank + 1), start(after + 1) + 1], global)
    call expect(osla_forest_leaf_space(global) == 3, 'leaves without a list')
    call osla_forest_degrees(global, degree)
    call expect(all(degree == [2, 1]), 'degrees from numbers of all roots')
    call osla_forest_destroy(global)
    call osla_forest_create_global(transport, int(start, int64), int([start(after + 1)], int64), global, leaf=[2_int64])
    call expect(osla_forest_leaf_space(global) == 2 .and. osla_forest_n_edges(global) == 1, 'with a list')
    call osla_forest_destroy(global)
    call osla_forest_destroy(forest)
    call osla_forest_destroy(forest)
  end subroutine trees

  subroutine kinds
    type(osla_forest) :: forest
    real(real32) :: single(1)
    complex(real64) :: z(1), wide_z(2, 1)
    integer :: number(1), wide(4, 1)
    integer(int64) :: long(1)
    real(real64) :: exact(1)
    call osla_forest_create(transport, 1_int64, [osla_root(rank, 1_int64)], forest)
    single = 0
    call osla_forest_reduce(forest, [1.5], single, OSLA_SUM)
    call expect(abs(single(1) - 1.5) == 0, 'real32')
    z = 1
    call osla_forest_reduce(forest, [(2.0_real64, 3.0_real64)], z, OSLA_PROD)
    call expect(abs(z(1) - (2.0_real64, 3.0_real64)) == 0, 'complex')
    call osla_forest_bcast(forest, reshape([z, z], [2, 1]), wide_z, OSLA_REPLACE)
    call expect(all(abs(wide_z - z(1)) == 0), 'complex, two in a vertex')
    number = 12
    call osla_forest_reduce(forest, [10], number, OSLA_BITS_AND)
    call expect(number(1) == 8, 'integers')
    call osla_forest_bcast(forest, reshape([1, 2, 3, 4], [4, 1]), wide, OSLA_REPLACE)
    call expect(all(wide(:, 1) == [1, 2, 3, 4]), 'integers, four in a vertex')
    long = 2_int64**40
    call osla_forest_reduce(forest, [2_int64**41], long, OSLA_MAX)
    call expect(long(1) == 2_int64**41, 'integer(int64)')
    exact = 1e300_real64
    call osla_forest_reduce(forest, [-1e300_real64], exact, OSLA_SUM_EXACT)
    call expect(abs(exact(1)) == 0, 'an exact sum')
    call osla_forest_destroy(forest)
  end subroutine kinds

  subroutine made_from_others
    type(osla_forest) :: forest, back, both, split
    integer(int64) :: degree(3)
    integer :: leaves(1), stat
    call osla_forest_create(transport, 1, [osla_root(mod(rank + 1, ranks), 1_int64)], forest)
    call osla_forest_inverse(forest, back)
    call osla_forest_compose(forest, back, both)
    leaves = -1
    call osla_forest_bcast(both, [rank], leaves, OSLA_REPLACE)
    call expect(leaves(1) == rank, 'there and back')
    call osla_forest_destroy(both)
    call osla_forest_destroy(back)
    call osla_forest_destroy(forest)
    call make_ring(forest)
    call osla_forest_split(forest, split)
    call osla_forest_degrees(split, degree)
    call expect(osla_forest_n_roots(split) == 3 .and. all(degree == 1), 'a root for each leaf')
    call osla_forest_inverse(forest, back, stat)
    call expect(stat == OSLA_ERR_ARG, 'no inverse where a root has two leaves')
    call osla_forest_destroy(split)
    call osla_forest_destroy(forest)
  end subroutine made_from_others

  subroutine forest_refusals
    type(osla_forest) :: forest, none
    type(osla_root) :: root
    real(real64) :: roots(2), leaves(5), wide(2, 2)
    integer(int64) :: degree(2)
    integer :: stat
    character(200) :: text
    root = osla_root(0, 2_int64)
    if (rank == ranks - 1) root%index = 3 ! there alone
    call osla_forest_create(transport, 2, [root], none, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG, 'a root that there is not: ' // text)
    root = osla_root(ranks, 1_int64)
    call osla_forest_create(transport, 2, [root], none, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG, 'a rank that there is not: ' // text)
    root = osla_root(0, 1_int64)
    call osla_forest_create(transport, 2, [root], none, leaf=[0], stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'a leaf below 1')
    call osla_forest_create(transport, 2, [root], none, leaf=[1, 2], stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'more leaves than roots')
    call osla_forest_create_global(transport, [1, 2], [1], none, stat=stat)
    call expect((stat == OSLA_ERR_ARG) .neqv. ranks == 1, 'starts of other ranks')
    if (ranks == 1) call osla_forest_destroy(none)
    roots = 0
    leaves = 0
    wide = 0
    call osla_forest_bcast(none, roots, leaves, OSLA_REPLACE, stat, text)
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'the forest was not created') > 0, 'no forest: ' // text)
    call make_ring(forest)
    call osla_forest_bcast(forest, roots, leaves(:4), OSLA_REPLACE, stat)
    call expect(stat == OSLA_ERR_ARG, 'fewer leaves')
    call osla_forest_reduce(forest, reshape(leaves, [1, 5]), wide, OSLA_SUM, stat)
    call expect(stat == OSLA_ERR_ARG, 'other vertices')
    call osla_forest_reduce(forest, leaves, roots, OSLA_MINLOC, stat)
    call expect(stat == OSLA_ERR_ARG, 'a combination that reals have not')
    call osla_forest_reduce(forest, leaves + 1, roots, OSLA_SUM)
    call expect(all(abs(roots - [2, 1]) == 0), 'and on it goes')
    call osla_forest_destroy(forest)
    call osla_forest_degrees(forest, degree, stat)
    call expect(stat == OSLA_ERR_STATE, 'a forest that is destroyed')
  end subroutine forest_refusals

end program test_fortran_sparse
