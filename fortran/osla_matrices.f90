! Distributed matrices. The contracts are in osla_matrix.h; here elements are counted from 1, and
! sizes and indices of a call are all default integers or all integer(int64). osla_matrix_norm,
! _copy, _transpose, _fill and _scale accept matrices or parts of them: osla_part(matrix, i, j, m,
! n).
module osla_matrices
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_grid, osla_operand, osla_matrix, report, is_absent
  use osla_collectives, only: collective_call, requires, is_valid, all_ready
  implicit none
  private
  public :: osla_matrix_create, osla_matrix_destroy, osla_matrix_layout, osla_matrix_dtype
  public :: osla_matrix_create_triangle, osla_matrix_is_triangle
  public :: osla_matrix_local_rows, osla_matrix_local_cols, osla_matrix_lld
  public :: osla_matrix_row, osla_matrix_column
  public :: osla_matrix_fill, osla_matrix_fill_with, osla_matrix_norm, osla_matrix_copy
  public :: osla_matrix_transpose, osla_matrix_add, osla_matrix_scale, osla_matrix_mirror, osla_element

  interface osla_matrix_create
    procedure create_default, create_long
  end interface

  ! Makes a symmetric matrix of order n in blocks of nb x nb, of which only the lower triangle is
  ! stored.
  interface osla_matrix_create_triangle
    procedure create_triangle_default, create_triangle_long
  end interface

  interface osla_matrix_fill
    procedure fill_default, fill_long
  end interface

  ! Row of the matrix that is local row `row` of this rank (ScaLAPACK's INDXL2G), both counted from
  ! 1.
  interface osla_matrix_row
    procedure row_default, row_long
  end interface
  interface osla_matrix_column
    procedure column_default, column_long
  end interface

  abstract interface
    function osla_element(i, j) result(value)
      import :: c_double, c_int64_t
      integer(c_int64_t), intent(in) :: i, j
      real(c_double) :: value
    end function osla_element
  end interface

  type :: element_holder
    procedure(osla_element), pointer, nopass :: element
  end type element_holder

contains

  subroutine create_default(grid, dtype, m, n, mb, nb, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: dtype, m, n, mb, nb
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_long(grid, dtype, int(m, c_int64_t), int(n, c_int64_t), int(mb, c_int64_t), &
      int(nb, c_int64_t), matrix, stat, errmsg)
  end subroutine create_default

  subroutine create_long(grid, dtype, m, n, mb, nb, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: dtype
    integer(c_int64_t), intent(in) :: m, n, mb, nb
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_matrix_create')
    call requires(at, grid)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_create(grid%handle, dtype, m, n, mb, nb, matrix%handle), stat, errmsg)
  end subroutine create_long

  subroutine create_triangle_default(grid, dtype, n, nb, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: dtype, n, nb
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_triangle_long(grid, dtype, int(n, c_int64_t), int(nb, c_int64_t), matrix, stat, errmsg)
  end subroutine create_triangle_default

  subroutine create_triangle_long(grid, dtype, n, nb, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: dtype
    integer(c_int64_t), intent(in) :: n, nb
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_matrix_create_triangle')
    call requires(at, grid)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_create_triangle(grid%handle, dtype, n, nb, matrix%handle), stat, errmsg)
  end subroutine create_triangle_long

  ! Destroys a matrix. Collective. The matrix of an accumulator is destroyed with the accumulator;
  ! for such a matrix this call only resets the handle.
  subroutine osla_matrix_destroy(matrix)
    type(osla_matrix), intent(inout) :: matrix
    if (matrix%borrowed) then
      matrix%handle = c_null_ptr
      matrix%borrowed = .false.
    else
      call c_osla_matrix_destroy(matrix%handle)
    end if
  end subroutine osla_matrix_destroy

  ! --- queries: local; they end the job if the matrix does not exist ---

  function osla_matrix_layout(matrix) result(layout)
    type(osla_matrix), intent(in) :: matrix
    type(osla_layout) :: layout
    layout = osla_layout(0, 0, 1, 1, 1, 1)
    if (is_absent('osla_matrix_layout', 'matrix', matrix%handle)) return
    layout = c_osla_matrix_layout(matrix%handle)
  end function osla_matrix_layout

  function osla_matrix_dtype(matrix) result(dtype)
    type(osla_matrix), intent(in) :: matrix
    integer :: dtype
    dtype = -1
    if (is_absent('osla_matrix_dtype', 'matrix', matrix%handle)) return
    dtype = c_osla_matrix_dtype(matrix%handle)
  end function osla_matrix_dtype

  ! True if only the lower triangle of the matrix is stored. Local.
  function osla_matrix_is_triangle(matrix) result(is)
    type(osla_matrix), intent(in) :: matrix
    logical :: is
    is = .false.
    if (is_absent('osla_matrix_is_triangle', 'matrix', matrix%handle)) return
    is = c_osla_matrix_is_triangle(matrix%handle)
  end function osla_matrix_is_triangle

  function osla_matrix_local_rows(matrix) result(rows)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t) :: rows
    rows = 0
    if (is_absent('osla_matrix_local_rows', 'matrix', matrix%handle)) return
    rows = c_osla_matrix_local_rows(matrix%handle)
  end function osla_matrix_local_rows

  function osla_matrix_local_cols(matrix) result(cols)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t) :: cols
    cols = 0
    if (is_absent('osla_matrix_local_cols', 'matrix', matrix%handle)) return
    cols = c_osla_matrix_local_cols(matrix%handle)
  end function osla_matrix_local_cols

  function osla_matrix_lld(matrix, rank) result(lld)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: rank
    integer(c_int64_t) :: lld
    lld = 0
    if (is_absent('osla_matrix_lld', 'matrix', matrix%handle)) return
    lld = c_osla_matrix_lld(matrix%handle, rank)
  end function osla_matrix_lld

  function row_default(matrix, row) result(i)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: row
    integer(c_int64_t) :: i
    i = row_long(matrix, int(row, c_int64_t))
  end function row_default

  function row_long(matrix, row) result(i)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: row
    integer(c_int64_t) :: i
    type(osla_layout) :: l
    l = osla_matrix_layout(matrix)
    i = global(row, l%mb, c_osla_grid_prow(c_osla_matrix_grid(matrix%handle)), l%nprow)
  end function row_long

  function column_default(matrix, column) result(j)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: column
    integer(c_int64_t) :: j
    j = column_long(matrix, int(column, c_int64_t))
  end function column_default

  function column_long(matrix, column) result(j)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: column
    integer(c_int64_t) :: j
    type(osla_layout) :: l
    l = osla_matrix_layout(matrix)
    j = global(column, l%nb, c_osla_grid_pcol(c_osla_matrix_grid(matrix%handle)), l%npcol)
  end function column_long

  pure function global(local, block, position, positions) result(index)
    integer(c_int64_t), intent(in) :: local, block
    integer(c_int), intent(in) :: position, positions
    integer(c_int64_t) :: index
    index = ((local - 1) / block * positions + position) * block + mod(local - 1, block) + 1
  end function global

  ! --- contents ---

  subroutine fill_default(matrix, fill, seed, stat, errmsg)
    class(osla_operand), intent(in) :: matrix
    integer, intent(in) :: fill, seed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call fill_long(matrix, fill, int(seed, c_int64_t), stat, errmsg)
  end subroutine fill_default

  subroutine fill_long(matrix, fill, seed, stat, errmsg)
    class(osla_operand), intent(in) :: matrix
    integer, intent(in) :: fill
    integer(c_int64_t), intent(in) :: seed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part
    at = collective_call('osla_matrix_fill')
    call requires(at, matrix, part, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_fill_part(part, fill, seed), stat, errmsg)
  end subroutine fill_long

  ! Fills with element(i, j), which is called once for each element that this rank owns.
  subroutine osla_matrix_fill_with(matrix, element, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    procedure(osla_element) :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(element_holder), target :: holder
    at = collective_call('osla_matrix_fill_with')
    call requires(at, matrix, 'matrix')
    holder%element => element
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_fill_with(matrix%handle, c_funloc(call_element), c_loc(holder)), stat, errmsg)
  end subroutine osla_matrix_fill_with

  function call_element(i, j, arg) result(value) bind(c, name="")
    integer(c_int64_t), value :: i, j
    type(c_ptr), value :: arg
    real(c_double) :: value
    type(element_holder), pointer :: holder
    call c_f_pointer(arg, holder)
    value = holder%element(i + 1, j + 1)
  end function call_element

  subroutine osla_matrix_norm(matrix, norm, value, stat, errmsg)
    class(osla_operand), intent(in) :: matrix
    integer, intent(in) :: norm
    real(c_double), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part
    at = collective_call('osla_matrix_norm')
    call requires(at, matrix, part, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_norm_part(part, norm, value), stat, errmsg)
  end subroutine osla_matrix_norm

  subroutine osla_matrix_copy(source, dest, stat, errmsg)
    class(osla_operand), intent(in) :: source, dest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: from, to
    at = collective_call('osla_matrix_copy')
    call requires(at, source, from, 'matrix')
    call requires(at, dest, to, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_copy_part(from, to), stat, errmsg)
  end subroutine osla_matrix_copy

  subroutine osla_matrix_transpose(trans, source, dest, stat, errmsg)
    integer, intent(in) :: trans
    class(osla_operand), intent(in) :: source, dest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: from, to
    at = collective_call('osla_matrix_transpose')
    call requires(at, source, from, 'matrix')
    call requires(at, dest, to, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_transpose_part(trans, from, to), stat, errmsg)
  end subroutine osla_matrix_transpose

  subroutine osla_matrix_add(alpha, source, beta, dest, stat, errmsg)
    real(c_double), intent(in) :: alpha, beta
    type(osla_matrix), intent(in) :: source, dest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_matrix_add')
    call requires(at, source, 'source')
    call requires(at, dest, 'destination')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_add(alpha, source%handle, beta, dest%handle), stat, errmsg)
  end subroutine osla_matrix_add

  subroutine osla_matrix_scale(alpha, matrix, stat, errmsg)
    complex(c_double_complex), intent(in) :: alpha
    class(osla_operand), intent(in) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part
    at = collective_call('osla_matrix_scale')
    call requires(at, matrix, part, 'matrix')
    call report(at%err, stat, errmsg) ! reports without agreement, because this call is local
    if (.not. is_valid(at)) return
    call report(c_osla_matrix_scale_part(alpha, part), stat, errmsg)
  end subroutine osla_matrix_scale

  subroutine osla_matrix_mirror(matrix, from, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: from
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_matrix_mirror')
    call requires(at, matrix, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_mirror(matrix%handle, from), stat, errmsg)
  end subroutine osla_matrix_mirror

end module osla_matrices
