! Module osla: sparse matrices and their files, CG and LSQR, each call once with a known result.
program test_fortran_sparse
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  use osla
  use fortran_trial
  implicit none

  call trial_begin
  call products
  call solves
  call sparse_refusals
  call rows_and_numbers
  call files
  call trial_end

contains

  ! Lists of this rank's rows of a tridiagonal matrix, which has 3 on the diagonal, -1 below the
  ! diagonal and `upper` above the diagonal.
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

  ! Returns the whole tridiagonal matrix as an array.
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
    integer :: stat
    integer(int64), allocatable :: column(:)
    real(real64), allocatable :: y(:), d(:), value(:), values(:)
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
    call osla_csr_column_norms(a, d)
    call expect(all(abs(d - mine(sqrt(sum(whole**2, 1)), start)) == 0), 'norms of columns')
    call osla_csr_transpose(a, t)
    call osla_csr_multiply(t, a, square)
    call osla_spmv(OSLA_NOTRANS, square, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(matmul(transpose(whole), whole), x), start)) == 0), 'a^T a x')
    call osla_csr_galerkin(t, a, coarse)
    call osla_spmv(OSLA_NOTRANS, coarse, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(transpose(whole), matmul(transpose(whole), matmul(whole, x))), start)) == 0), &
      'a^T a^T a x')
    ! halve all values of the factor t
    do i = 1, int(osla_csr_rows(t))
      call osla_csr_row(t, i, column, value)
      if (i == 1) values = value(:0)
      values = [values, value / 2]
    end do
    if (osla_csr_rows(t) == 0) allocate (values(0))
    call osla_csr_set_values(t, values)
    call osla_csr_multiply_numeric(t, a, square)
    call osla_spmv(OSLA_NOTRANS, square, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(matmul(transpose(whole), whole), x) / 2, start)) == 0), 'a^T a x / 2')
    call osla_csr_galerkin_numeric(t, a, coarse)
    call osla_spmv(OSLA_NOTRANS, coarse, mine(x, start), 0.0_real64, y)
    call expect(all(abs(y - mine(matmul(transpose(whole), matmul(transpose(whole), matmul(whole, x))), start) / 2) == 0), &
      'a^T a^T a x / 2')
    call osla_csr_set_values(t, [values, 1.0_real64], stat)
    call expect(stat == OSLA_ERR_ARG, 'too many values')
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
    if (rank == ranks - 1) column(1) = n + 1 ! wrong on the last rank only
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
    call osla_lsqr(a, x, value, stat=stat) ! `value` is wrong on rank 0 only
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

  subroutine rows_and_numbers
    integer, parameter :: n = 12
    type(osla_csr) :: a, other
    integer :: start(ranks + 1), last(ranks + 1), i, stat
    integer(int64), allocatable :: column(:)
    real(real64), allocatable :: value(:)
    call make_path(n, -1.0_real64, start, a)
    last = n + 1 ! all rows on the last rank
    last(:ranks) = 1
    call osla_csr_renumber(a, [(n + 1 - i, i = start(rank + 1), start(rank + 2) - 1)], last, other) ! reverses the order of rows
    call expect(osla_csr_rows(other) == merge(n, 0, rank == ranks - 1), 'rows under new numbers')
    if (rank == ranks - 1) then
      call osla_csr_row(other, 2, column, value)
      call expect(all(column == [1, 2, 3]) .and. all(abs(value - [-1, 3, -1]) == 0), 'a row')
    end if
    call osla_csr_row(other, n + 1, column, value, stat)
    call expect(stat == OSLA_ERR_ARG, 'no such row')
    call osla_csr_destroy(other)
    call osla_csr_renumber(a, [0], last, other, stat)
    call expect(stat == OSLA_ERR_ARG, 'other numbers')
    call osla_csr_submatrix(a, [n, 1], [rank + 1], other)
    call expect(osla_csr_rows(other) == 2 .and. osla_csr_columns(other) == 1, 'a submatrix')
    call osla_csr_row(other, osla_csr_rows(other), column, value)
    call expect(column(1) == 1 .and. abs(value(1) - 3) == 0, 'its row')
    call osla_csr_destroy(other)
    call osla_csr_submatrix(a, [n + 1_int64], [integer(int64) ::], other, stat)
    call expect(stat == OSLA_ERR_ARG, 'a row that there is not')
    call osla_csr_destroy(a)
  end subroutine rows_and_numbers

  subroutine files
    type(osla_csr) :: a
    integer :: start(ranks + 1), stat, length
    real(real64), allocatable :: x(:)
    integer(int64), allocatable :: column(:)
    real(real64), allocatable :: value(:)
    character(:), allocatable :: path
    character(200) :: folder, text
    call get_environment_variable('TMPDIR', folder, length, stat)
    if (stat /= 0 .or. length == 0) folder = '/tmp'
    write (text, '(a, "/osla-fortran-", i0)') trim(folder), job()
    path = trim(text)
    if (rank == 0) then
      call write_lines(path // '.mtx', '%%MatrixMarket matrix coordinate real general', '3 3 2', '1 1 2.0', '3 2 5.0')
      call write_lines(path // '.vec', '%%MatrixMarket matrix array real general', '2 1', '7.0', '8.0')
      call write_lines(path // '.graph', '3 2', '2', '1 3', '2')
    end if
    call osla_barrier(transport)
    start = 1
    start(ranks + 1) = 4 ! all rows on the last rank
    call osla_csr_read_matrix_market(transport, path // '.mtx', start, start, a)
    if (rank == ranks - 1) then
      call osla_csr_row(a, 3, column, value)
      call expect(all(column == [2]) .and. all(abs(value - 5) == 0), 'a matrix of a file')
    end if
    call osla_csr_destroy(a)
    call osla_csr_read_matrix_market(transport, path // '.mtx', a)
    start = int(osla_csr_row_start(a))
    call expect(start(ranks + 1) == 4 .and. osla_csr_rows(a) == start(rank + 2) - start(rank + 1), 'the same, evenly')
    call osla_csr_destroy(a)
    start = 3 ! all rows on rank 0
    start(1) = 1
    allocate (x(merge(2, 0, rank == 0)))
    call osla_vector_read_matrix_market(transport, path // '.vec', start, x)
    if (rank == 0) call expect(all(abs(x - [7, 8]) == 0), 'a vector of a file')
    call osla_csr_read_metis(transport, path // '.graph', a)
    call expect(sum(osla_csr_row_start(a)) > 0, 'a graph')
    call osla_csr_destroy(a)
    start = 4
    start(1) = 1
    call osla_csr_read_metis(transport, path // '.graph', start, a)
    if (rank == 0) call expect(osla_csr_entries(a) == 4, 'its entries')
    call osla_csr_destroy(a)
    call osla_vector_read_matrix_market(transport, path // '.vec', start, x(:0), stat)
    call expect(stat == OSLA_ERR_ARG, 'a part of another size')
    call osla_csr_read_metis(transport, path // '.vec', a, stat, text)
    call expect(stat == OSLA_ERR_IO .and. index(text, '.vec:3') > 0, 'no graph: ' // text)
    call osla_csr_read_matrix_market(transport, path // '.none', a, stat)
    call expect(stat == OSLA_ERR_IO, 'no file')
    call osla_barrier(transport)
    if (rank == 0) call remove(path)
  end subroutine files

  ! A number that is unique for this job.
  function job() result(number)
    integer :: number
    interface
      function getpid() bind(c, name="getpid") result(pid)
        import :: c_int
        integer(c_int) :: pid
      end function getpid
    end interface
    number = getpid()
    call MPI_Bcast(number, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  end function job

  subroutine write_lines(path, a, b, c, d)
    character(*), intent(in) :: path, a, b, c, d
    integer :: unit
    open (newunit=unit, file=path, status='replace', action='write')
    write (unit, '(a)') a, b, c, d
    close (unit)
  end subroutine write_lines

  subroutine remove(path)
    character(*), intent(in) :: path
    character(6), parameter :: ends(3) = ['.mtx  ', '.vec  ', '.graph']
    integer :: unit, i
    do i = 1, 3
      open (newunit=unit, file=path // trim(ends(i)), status='old')
      close (unit, status='delete')
    end do
  end subroutine remove

end program test_fortran_sparse
