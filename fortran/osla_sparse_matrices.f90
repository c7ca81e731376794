! Sparse matrices by rows. The contracts are in osla_sparse.h; rows, columns and entries are counted from 1.
module osla_sparse_matrices
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_csr, report, is_absent, refuse
  use osla_collectives, only: collective_call, requires, check, is_valid, all_ready
  implicit none
  private
  public :: osla_even_blocks, osla_csr_create, osla_csr_destroy, osla_csr_rows, osla_csr_columns, osla_csr_entries
  public :: osla_csr_ghosts, osla_csr_row_start, osla_csr_column_start, osla_csr_multiply, osla_csr_transpose
  public :: osla_csr_galerkin, osla_spmv, osla_csr_column_squares, osla_csr_column_norms, osla_csr_diagonal
  public :: osla_csr_row, osla_csr_renumber, osla_csr_set_values, osla_csr_multiply_numeric, osla_csr_galerkin_numeric
  public :: osla_csr_submatrix

  ! Divides n indices into nearly equal blocks: rank p gets start(p + 1) .. start(p + 2) - 1. start
  ! has one element more than there are ranks.
  interface osla_even_blocks
    procedure even_default, even_long
  end interface

  ! row_start, column_start: blocks as from osla_even_blocks, the same on all ranks. The entries of
  ! this rank's i-th row are column(k), value(k), first(i) <= k < first(i + 1), first(1) = 1;
  ! columns are global.
  interface osla_csr_create
    procedure create_default, create_long
  end interface

  ! number(i): new global number of this rank's i-th row (and column); start: blocks of the new
  ! numbers.
  interface osla_csr_renumber
    procedure renumber_default, renumber_long
  end interface

  ! The submatrix of the rows and columns that each rank lists, in the order of the lists.
  interface osla_csr_submatrix
    procedure submatrix_default, submatrix_long
  end interface

  ! The entries of this rank's row-th row, with global column indices in ascending order.
  interface osla_csr_row
    procedure row_default, row_long
  end interface

contains

  subroutine even_long(n, ranks, start)
    integer(c_int64_t), intent(in) :: n
    integer, intent(in) :: ranks
    integer(c_int64_t), intent(out) :: start(:)
    integer(c_int64_t), target :: from_0(max(1, ranks) + 1)
    call c_osla_even_blocks(n, int(ranks, c_int), c_loc(from_0))
    start = from_0 + 1
  end subroutine even_long

  subroutine even_default(n, ranks, start)
    integer, intent(in) :: n, ranks
    integer, intent(out) :: start(:)
    integer(c_int64_t) :: long(size(start))
    call even_long(int(n, c_int64_t), ranks, long)
    start = int(long)
  end subroutine even_default

  ! Checks the sizes of the lists, which the C library cannot see.
  subroutine check_lists(at, row_start, column_start, first, column, value)
    type(collective_call), intent(inout) :: at
    integer(c_int64_t), intent(in) :: row_start(:), column_start(:), first(:), column(:), value
    integer :: rank, ranks
    ranks = c_osla_transport_size(at%transport)
    rank = c_osla_transport_rank(at%transport)
    call check(at, size(row_start) == ranks + 1 .and. size(column_start) == ranks + 1, &
      'row_start and column_start need a number for each rank and one more')
    if (is_valid(at)) call check(at, &
      size(first, kind=c_int64_t) == max(0_c_int64_t, row_start(rank + 2) - row_start(rank + 1)) + 1, &
      'first needs a number for each row and one more')
    if (is_valid(at)) call check(at, min(size(column, kind=c_int64_t), value) >= first(size(first)) - 1, &
      'column and value have fewer entries than first says')
  end subroutine check_lists

  subroutine create_long(transport, row_start, column_start, first, column, value, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: row_start(:), column_start(:), first(:), column(:)
    real(c_double), intent(in), target, contiguous :: value(:)
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: rows(:), columns(:), begins(:), places(:)
    at = collective_call('osla_csr_create')
    call requires(at, transport)
    if (is_valid(at)) call check_lists(at, row_start, column_start, first, column, size(value, kind=c_int64_t))
    if (.not. all_ready(at, stat, errmsg)) return
    rows = row_start - 1
    columns = column_start - 1
    begins = first - 1
    places = column - 1
    call report(c_osla_csr_create(transport%handle, c_loc(rows), c_loc(columns), c_loc(begins), c_loc(places), &
      c_loc(value), matrix%handle), stat, errmsg)
  end subroutine create_long

  subroutine create_default(transport, row_start, column_start, first, column, value, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: row_start(:), column_start(:), first(:), column(:)
    real(c_double), intent(in), target, contiguous :: value(:)
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_long(transport, int(row_start, c_int64_t), int(column_start, c_int64_t), int(first, c_int64_t), &
      int(column, c_int64_t), value, matrix, stat, errmsg)
  end subroutine create_default

  ! Destroys a matrix. Collective. Has no effect on a matrix that was not created.
  subroutine osla_csr_destroy(matrix, stat, errmsg)
    type(osla_csr), intent(inout) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_osla_csr_destroy(matrix%handle), stat, errmsg)
  end subroutine osla_csr_destroy

  ! --- local queries: 0, or of size 0, if the matrix does not exist ---

  function osla_csr_rows(matrix) result(n)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(matrix%handle)) n = c_osla_csr_rows(matrix%handle)
  end function osla_csr_rows

  function osla_csr_columns(matrix) result(n)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(matrix%handle)) n = c_osla_csr_columns(matrix%handle)
  end function osla_csr_columns

  function osla_csr_entries(matrix) result(n)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(matrix%handle)) n = c_osla_csr_entries(matrix%handle)
  end function osla_csr_entries

  function osla_csr_ghosts(matrix) result(n)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(matrix%handle)) n = c_osla_csr_ghosts(matrix%handle)
  end function osla_csr_ghosts

  ! A copy of the list of blocks that C returned for the matrix.
  function starts(matrix, list) result(start)
    type(osla_csr), intent(in) :: matrix
    type(c_ptr), intent(in) :: list
    integer(c_int64_t), allocatable :: start(:)
    integer(c_int64_t), pointer :: from_0(:)
    call c_f_pointer(list, from_0, [c_osla_transport_size(c_osla_csr_transport(matrix%handle)) + 1])
    start = from_0 + 1
  end function starts

  function osla_csr_row_start(matrix) result(start)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t), allocatable :: start(:)
    start = [integer(c_int64_t) ::]
    if (c_associated(matrix%handle)) start = starts(matrix, c_osla_csr_row_start(matrix%handle))
  end function osla_csr_row_start

  function osla_csr_column_start(matrix) result(start)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t), allocatable :: start(:)
    start = [integer(c_int64_t) ::]
    if (c_associated(matrix%handle)) start = starts(matrix, c_osla_csr_column_start(matrix%handle))
  end function osla_csr_column_start

  subroutine row_default(matrix, row, column, value, stat, errmsg)
    type(osla_csr), intent(in) :: matrix
    integer, intent(in) :: row
    integer(c_int64_t), allocatable, intent(out) :: column(:)
    real(c_double), allocatable, intent(out) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call row_long(matrix, int(row, c_int64_t), column, value, stat, errmsg)
  end subroutine row_default

  subroutine row_long(matrix, row, column, value, stat, errmsg)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: row
    integer(c_int64_t), allocatable, intent(out) :: column(:)
    real(c_double), allocatable, intent(out) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable, target :: columns(:)
    real(c_double), allocatable, target :: values(:)
    integer(c_int64_t) :: n
    if (is_absent('osla_csr_row', 'matrix', matrix%handle, stat, errmsg)) return
    if (row < 1 .or. row > c_osla_csr_rows(matrix%handle)) then
      call refuse(OSLA_ERR_ARG, 'osla_csr_row: this rank has no such row', stat, errmsg)
      return
    end if
    n = c_osla_csr_row(matrix%handle, row - 1, c_null_ptr, c_null_ptr)
    allocate (columns(n), values(n))
    n = c_osla_csr_row(matrix%handle, row - 1, c_loc(columns), c_loc(values))
    column = columns + 1
    value = values
    call report(OSLA_OK, stat, errmsg)
  end subroutine row_long

  ! --- matrices from other matrices: collective ---

  ! c := a b
  subroutine osla_csr_multiply(a, b, c, stat, errmsg)
    type(osla_csr), intent(in) :: a, b
    type(osla_csr), intent(out) :: c
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_multiply')
    call requires(at, a, 'matrix')
    call requires(at, b, 'second matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_multiply(a%handle, b%handle, c%handle), stat, errmsg)
  end subroutine osla_csr_multiply

  subroutine osla_csr_transpose(a, transposed, stat, errmsg)
    type(osla_csr), intent(in) :: a
    type(osla_csr), intent(out) :: transposed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_transpose')
    call requires(at, a, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_transpose(a%handle, transposed%handle), stat, errmsg)
  end subroutine osla_csr_transpose

  ! coarse := p^T a p
  subroutine osla_csr_galerkin(a, p, coarse, stat, errmsg)
    type(osla_csr), intent(in) :: a, p
    type(osla_csr), intent(out) :: coarse
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_galerkin')
    call requires(at, a, 'matrix')
    call requires(at, p, 'prolongation')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_galerkin(a%handle, p%handle, coarse%handle), stat, errmsg)
  end subroutine osla_csr_galerkin

  ! Computes the values of c = a b again, after the values of a or b have changed. Collective.
  subroutine osla_csr_multiply_numeric(a, b, c, stat, errmsg)
    type(osla_csr), intent(in) :: a, b, c
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_multiply_numeric')
    call requires(at, a, 'matrix')
    call requires(at, b, 'second matrix')
    call requires(at, c, 'product')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_multiply_numeric(a%handle, b%handle, c%handle), stat, errmsg)
  end subroutine osla_csr_multiply_numeric

  ! Computes the values of coarse = p^T a p again, after the values of a or p have changed.
  ! Collective.
  subroutine osla_csr_galerkin_numeric(a, p, coarse, stat, errmsg)
    type(osla_csr), intent(in) :: a, p, coarse
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_galerkin_numeric')
    call requires(at, a, 'matrix')
    call requires(at, p, 'prolongation')
    call requires(at, coarse, 'product')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_galerkin_numeric(a%handle, p%handle, coarse%handle), stat, errmsg)
  end subroutine osla_csr_galerkin_numeric

  ! Replaces the values of this rank's entries, row by row in the order of osla_csr_row. Local.
  ! size(value) = osla_csr_entries.
  subroutine osla_csr_set_values(a, value, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_absent('osla_csr_set_values', 'matrix', a%handle, stat, errmsg)) return
    if (size(value, kind=c_int64_t) /= osla_csr_entries(a)) then
      call refuse(OSLA_ERR_ARG, 'osla_csr_set_values: value does not have the size of this rank''s entries', stat, errmsg)
      return
    end if
    call report(c_osla_csr_set_values(a%handle, c_loc(value)), stat, errmsg)
  end subroutine osla_csr_set_values

  subroutine renumber_long(a, number, start, renumbered, stat, errmsg)
    type(osla_csr), intent(in) :: a
    integer(c_int64_t), intent(in) :: number(:), start(:)
    type(osla_csr), intent(out) :: renumbered
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: numbers(:), begins(:)
    at = collective_call('osla_csr_renumber')
    call requires(at, a, 'matrix')
    if (is_valid(at)) call check(at, size(number, kind=c_int64_t) == osla_csr_rows(a) .and. &
      size(start) == c_osla_transport_size(at%transport) + 1, &
      'number does not have the size of this rank''s rows, or start not all ranks')
    if (.not. all_ready(at, stat, errmsg)) return
    numbers = number - 1
    begins = start - 1
    call report(c_osla_csr_renumber(a%handle, c_loc(numbers), c_loc(begins), renumbered%handle), stat, errmsg)
  end subroutine renumber_long

  subroutine renumber_default(a, number, start, renumbered, stat, errmsg)
    type(osla_csr), intent(in) :: a
    integer, intent(in) :: number(:), start(:)
    type(osla_csr), intent(out) :: renumbered
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call renumber_long(a, int(number, c_int64_t), int(start, c_int64_t), renumbered, stat, errmsg)
  end subroutine renumber_default

  subroutine submatrix_long(a, row, column, part, stat, errmsg)
    type(osla_csr), intent(in) :: a
    integer(c_int64_t), intent(in) :: row(:), column(:)
    type(osla_csr), intent(out) :: part
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: rows(:), columns(:)
    at = collective_call('osla_csr_submatrix')
    call requires(at, a, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    rows = row - 1
    columns = column - 1
    call report(c_osla_csr_submatrix(a%handle, size(rows, kind=c_int64_t), c_loc(rows), &
      size(columns, kind=c_int64_t), c_loc(columns), part%handle), stat, errmsg)
  end subroutine submatrix_long

  subroutine submatrix_default(a, row, column, part, stat, errmsg)
    type(osla_csr), intent(in) :: a
    integer, intent(in) :: row(:), column(:)
    type(osla_csr), intent(out) :: part
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call submatrix_long(a, int(row, c_int64_t), int(column, c_int64_t), part, stat, errmsg)
  end subroutine submatrix_default

  ! --- products, and norms and diagonals ---

  ! y := op(a) x + beta y on this rank's parts of x and y, which must be different arrays.
  subroutine osla_spmv(op, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: op
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: x(:)
    real(c_double), intent(in) :: beta
    real(c_double), intent(inout), target, contiguous :: y(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: sizes(2)
    at = collective_call('osla_spmv')
    call requires(at, a, 'matrix')
    sizes = [osla_csr_columns(a), osla_csr_rows(a)]
    if (op /= OSLA_NOTRANS) sizes = sizes([2, 1])
    write (at%same, '(a, i0)') 'op ', op
    call check(at, all([size(x, kind=c_int64_t), size(y, kind=c_int64_t)] == sizes), &
      'x or y does not have the size of this rank''s part')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_spmv(int(op, c_int), a%handle, c_loc(x), beta, c_loc(y)), stat, errmsg)
  end subroutine osla_spmv

  ! d(j) := sum of squares of column j. Collective. size(d) = osla_csr_columns.
  subroutine osla_csr_column_squares(a, d, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(inout), target, contiguous :: d(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_column_squares')
    call requires(at, a, 'matrix')
    call check(at, size(d, kind=c_int64_t) == osla_csr_columns(a), 'd does not have the size of this rank''s columns')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_column_squares(a%handle, c_loc(d)), stat, errmsg)
  end subroutine osla_csr_column_squares

  ! d(j) := norm of column j. Collective. size(d) = osla_csr_columns.
  subroutine osla_csr_column_norms(a, d, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(inout), target, contiguous :: d(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_column_norms')
    call requires(at, a, 'matrix')
    call check(at, size(d, kind=c_int64_t) == osla_csr_columns(a), 'd does not have the size of this rank''s columns')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_column_norms(a%handle, c_loc(d)), stat, errmsg)
  end subroutine osla_csr_column_norms

  ! d(i) := diagonal element of row i. Local. size(d) = osla_csr_rows.
  subroutine osla_csr_diagonal(a, d, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(inout), target, contiguous :: d(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_absent('osla_csr_diagonal', 'matrix', a%handle, stat, errmsg)) return
    if (size(d, kind=c_int64_t) /= osla_csr_rows(a)) then
      call refuse(OSLA_ERR_ARG, 'osla_csr_diagonal: d does not have the size of this rank''s rows', stat, errmsg)
      return
    end if
    call report(c_osla_csr_diagonal(a%handle, c_loc(d)), stat, errmsg)
  end subroutine osla_csr_diagonal

end module osla_sparse_matrices
