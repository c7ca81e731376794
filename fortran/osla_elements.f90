! Made by fortran/kinds.py from fortran/osla_elements.f90.in: do not edit.
! Elements of matrices as Fortran arrays of each kind: this rank's own elements without a copy, any
! block as a copy. The contracts are in osla_matrix.h; elements are counted from 1.
module osla_elements
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_grid, osla_matrix, report, is_absent, refuse, dtype_name
  use osla_collectives, only: collective_call, requires, check, all_ready
  implicit none
  private
  public :: osla_matrix_local, osla_matrix_wrap, osla_matrix_get_block, osla_matrix_put_block

  ! local => this rank's part of a matrix, local_rows x local_cols, in the matrix's own memory;
  ! valid as long as the matrix exists.
  interface osla_matrix_local
    procedure local_s, local_d, local_c, local_z
  end interface

  ! Makes a matrix of the caller's array, of at least local_rows x local_cols elements with
  ! contiguous columns. The array must be a target and outlive the matrix.
  interface osla_matrix_wrap
    procedure wrap_s, wrap_d, wrap_c, wrap_z
  end interface

  ! Elements (i, j) to (i + size(block, 1) - 1, j + size(block, 2) - 1), whichever rank owns them.
  interface osla_matrix_get_block
    procedure get_s, get_d, get_c, get_z
    procedure get_s_long, get_d_long, get_c_long, get_z_long
  end interface
  interface osla_matrix_put_block
    procedure put_s, put_d, put_c, put_z
    procedure put_s_long, put_d_long, put_c_long, put_z_long
  end interface

  ! Targets of pointers to empty arrays.
  real(c_float), target, save :: none_s(1, 1)
  real(c_double), target, save :: none_d(1, 1)
  complex(c_float_complex), target, save :: none_c(1, 1)
  complex(c_double_complex), target, save :: none_z(1, 1)

contains

  ! Checks that the matrix exists and has the type dtype, and returns its local array's address and
  ! shape.
  subroutine find_local_array(call_name, matrix, dtype, memory, lld, rows, cols, ok, stat, errmsg)
    character(*), intent(in) :: call_name
    type(osla_matrix), intent(in) :: matrix
    integer(c_int), intent(in) :: dtype
    type(c_ptr), intent(out) :: memory
    integer(c_int64_t), intent(out) :: lld, rows, cols
    logical, intent(out) :: ok
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: has
    ok = .false.
    memory = c_null_ptr
    lld = 0
    rows = 0
    cols = 0
    if (is_absent(call_name, 'matrix', matrix%handle, stat, errmsg)) return
    has = c_osla_matrix_dtype(matrix%handle)
    if (has /= dtype) then
      call refuse(OSLA_ERR_ARG, call_name // ': the matrix is of ' // dtype_name(has) // ', the array of ' // &
        dtype_name(dtype), stat, errmsg)
      return
    end if
    if (call_name == 'osla_matrix_local' .and. c_associated(c_osla_matrix_device(matrix%handle))) then
      call refuse(OSLA_ERR_UNSUPPORTED, 'osla_matrix_local: the matrix lies in device memory, which Fortran cannot ' // &
        'access; copy it to a matrix in host memory (osla_matrix_copy)', stat, errmsg)
      return
    end if
    if (call_name == 'osla_matrix_local' .and. c_osla_matrix_is_triangle(matrix%handle)) then
      call refuse(OSLA_ERR_UNSUPPORTED, 'osla_matrix_local: the matrix stores its lower triangle alone, which is not ' // &
        'an array; use osla_matrix_get_block', stat, errmsg)
      return
    end if
    memory = c_osla_matrix_local(matrix%handle)
    rows = c_osla_matrix_local_rows(matrix%handle)
    cols = c_osla_matrix_local_cols(matrix%handle)
    lld = max(1_c_int64_t, rows)
    if (rows > 0 .and. cols > 0) lld = c_osla_matrix_lld(matrix%handle, &
      c_osla_transport_rank(c_osla_grid_transport(c_osla_matrix_grid(matrix%handle))))
    ok = .true.
    call report(OSLA_OK, stat, errmsg)
  end subroutine find_local_array

  ! True if the block is inside the matrix, and the matrix has the block's type.
  function is_inside(call_name, matrix, dtype, i, j, m, n, stat, errmsg) result(is)
    character(*), intent(in) :: call_name
    type(osla_matrix), intent(in) :: matrix
    integer(c_int), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: i, j, m, n
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: is
    type(osla_layout) :: l
    type(c_ptr) :: memory
    integer(c_int64_t) :: lld, rows, cols
    character(200) :: text
    call find_local_array(call_name, matrix, dtype, memory, lld, rows, cols, is, stat, errmsg)
    if (.not. is) return
    l = c_osla_matrix_layout(matrix%handle)
    is = i >= 1 .and. j >= 1 .and. i - 1 <= l%m - m .and. j - 1 <= l%n - n
    if (is) return
    write (text, '(a, 6(a, i0), a)') call_name, ': a block of ', m, ' x ', n, ' from (', i, ', ', j, &
      ') on is not in a matrix of ', l%m, ' x ', l%n, ', counted from 1'
    call refuse(OSLA_ERR_ARG, trim(text), stat, errmsg)
  end function is_inside

  ! --- this rank's part ---

  subroutine local_s(matrix, local, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    real(c_float), pointer, intent(out) :: local(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_float), pointer :: whole(:, :)
    type(c_ptr) :: memory
    integer(c_int64_t) :: lld, rows, cols
    logical :: ok
    local => none_s(1:0, 1:0)
    call find_local_array('osla_matrix_local', matrix, OSLA_FLOAT, memory, lld, rows, cols, ok, stat, errmsg)
    if (.not. ok) return
    if (rows == 0 .or. cols == 0) memory = c_loc(none_s)
    call c_f_pointer(memory, whole, [lld, cols])
    local => whole(1:rows, :)
  end subroutine local_s

  subroutine local_d(matrix, local, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    real(c_double), pointer, intent(out) :: local(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), pointer :: whole(:, :)
    type(c_ptr) :: memory
    integer(c_int64_t) :: lld, rows, cols
    logical :: ok
    local => none_d(1:0, 1:0)
    call find_local_array('osla_matrix_local', matrix, OSLA_DOUBLE, memory, lld, rows, cols, ok, stat, errmsg)
    if (.not. ok) return
    if (rows == 0 .or. cols == 0) memory = c_loc(none_d)
    call c_f_pointer(memory, whole, [lld, cols])
    local => whole(1:rows, :)
  end subroutine local_d

  subroutine local_c(matrix, local, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    complex(c_float_complex), pointer, intent(out) :: local(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    complex(c_float_complex), pointer :: whole(:, :)
    type(c_ptr) :: memory
    integer(c_int64_t) :: lld, rows, cols
    logical :: ok
    local => none_c(1:0, 1:0)
    call find_local_array('osla_matrix_local', matrix, OSLA_COMPLEX_FLOAT, memory, lld, rows, cols, ok, stat, errmsg)
    if (.not. ok) return
    if (rows == 0 .or. cols == 0) memory = c_loc(none_c)
    call c_f_pointer(memory, whole, [lld, cols])
    local => whole(1:rows, :)
  end subroutine local_c

  subroutine local_z(matrix, local, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    complex(c_double_complex), pointer, intent(out) :: local(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    complex(c_double_complex), pointer :: whole(:, :)
    type(c_ptr) :: memory
    integer(c_int64_t) :: lld, rows, cols
    logical :: ok
    local => none_z(1:0, 1:0)
    call find_local_array('osla_matrix_local', matrix, OSLA_COMPLEX_DOUBLE, memory, lld, rows, cols, ok, stat, errmsg)
    if (.not. ok) return
    if (rows == 0 .or. cols == 0) memory = c_loc(none_z)
    call c_f_pointer(memory, whole, [lld, cols])
    local => whole(1:rows, :)
  end subroutine local_z

  ! --- memory of the caller ---

  ! has: shape of the array. first: address of element (1, 1). next, apart: distance in bytes from
  ! element (1, 1) to (2, 1), and to (1, 2). bytes: size of an element.
  subroutine wrap(grid, dtype, m, n, mb, nb, has, first, bytes, next, apart, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer(c_int), intent(in) :: dtype
    integer, intent(in) :: m, n, mb, nb, bytes
    type(c_ptr), intent(in) :: first
    integer(c_int64_t), intent(in) :: has(2), next, apart
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: part(2)
    character(150) :: text
    at = collective_call('osla_matrix_wrap')
    call requires(at, grid)
    call check(at, next == bytes .and. apart >= bytes .and. mod(apart, int(bytes, c_int64_t)) == 0, &
      'the columns of the array have gaps')
    if (c_associated(grid%handle) .and. min(m, n) >= 0 .and. min(mb, nb) > 0) then ! the C function refuses others
      part = [c_osla_index_count(int(m, c_int64_t), int(mb, c_int64_t), c_osla_grid_prow(grid%handle), &
        c_osla_grid_nprow(grid%handle)), c_osla_index_count(int(n, c_int64_t), int(nb, c_int64_t), &
        c_osla_grid_pcol(grid%handle), c_osla_grid_npcol(grid%handle))]
      write (text, '(4(a, i0))') 'the array has ', has(1), ' x ', has(2), ' elements, the part of this process ', &
        part(1), ' x ', part(2)
      call check(at, all(has >= part) .or. any(part == 0), trim(text))
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_wrap(grid%handle, dtype, int(m, c_int64_t), int(n, c_int64_t), &
      int(mb, c_int64_t), int(nb, c_int64_t), first, apart / bytes, matrix%handle), stat, errmsg)
  end subroutine wrap

  function distance(from, to) result(bytes)
    type(c_ptr), intent(in) :: from, to
    integer(c_int64_t) :: bytes
    bytes = transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t)
  end function distance

  subroutine wrap_s(grid, m, n, mb, nb, local, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: m, n, mb, nb
    real(c_float), intent(inout), target :: local(:, :)
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first
    integer(c_int64_t) :: next, apart
    integer :: bytes
    bytes = storage_size(local) / 8
    next = bytes
    apart = bytes * max(1_c_int64_t, size(local, 1, c_int64_t))
    first = c_loc(none_s)
    if (size(local) > 0) then
      first = c_loc(local(1, 1))
      if (size(local, 1) > 1) next = distance(first, c_loc(local(2, 1)))
      if (size(local, 2) > 1) apart = distance(first, c_loc(local(1, 2)))
    end if
    call wrap(grid, OSLA_FLOAT, m, n, mb, nb, shape(local, c_int64_t), first, bytes, next, apart, matrix, &
      stat, errmsg)
  end subroutine wrap_s

  subroutine wrap_d(grid, m, n, mb, nb, local, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: m, n, mb, nb
    real(c_double), intent(inout), target :: local(:, :)
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first
    integer(c_int64_t) :: next, apart
    integer :: bytes
    bytes = storage_size(local) / 8
    next = bytes
    apart = bytes * max(1_c_int64_t, size(local, 1, c_int64_t))
    first = c_loc(none_d)
    if (size(local) > 0) then
      first = c_loc(local(1, 1))
      if (size(local, 1) > 1) next = distance(first, c_loc(local(2, 1)))
      if (size(local, 2) > 1) apart = distance(first, c_loc(local(1, 2)))
    end if
    call wrap(grid, OSLA_DOUBLE, m, n, mb, nb, shape(local, c_int64_t), first, bytes, next, apart, matrix, &
      stat, errmsg)
  end subroutine wrap_d

  subroutine wrap_c(grid, m, n, mb, nb, local, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: m, n, mb, nb
    complex(c_float_complex), intent(inout), target :: local(:, :)
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first
    integer(c_int64_t) :: next, apart
    integer :: bytes
    bytes = storage_size(local) / 8
    next = bytes
    apart = bytes * max(1_c_int64_t, size(local, 1, c_int64_t))
    first = c_loc(none_c)
    if (size(local) > 0) then
      first = c_loc(local(1, 1))
      if (size(local, 1) > 1) next = distance(first, c_loc(local(2, 1)))
      if (size(local, 2) > 1) apart = distance(first, c_loc(local(1, 2)))
    end if
    call wrap(grid, OSLA_COMPLEX_FLOAT, m, n, mb, nb, shape(local, c_int64_t), first, bytes, next, apart, matrix, &
      stat, errmsg)
  end subroutine wrap_c

  subroutine wrap_z(grid, m, n, mb, nb, local, matrix, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: m, n, mb, nb
    complex(c_double_complex), intent(inout), target :: local(:, :)
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first
    integer(c_int64_t) :: next, apart
    integer :: bytes
    bytes = storage_size(local) / 8
    next = bytes
    apart = bytes * max(1_c_int64_t, size(local, 1, c_int64_t))
    first = c_loc(none_z)
    if (size(local) > 0) then
      first = c_loc(local(1, 1))
      if (size(local, 1) > 1) next = distance(first, c_loc(local(2, 1)))
      if (size(local, 2) > 1) apart = distance(first, c_loc(local(1, 2)))
    end if
    call wrap(grid, OSLA_COMPLEX_DOUBLE, m, n, mb, nb, shape(local, c_int64_t), first, bytes, next, apart, matrix, &
      stat, errmsg)
  end subroutine wrap_z

  ! --- blocks ---

  subroutine get_s_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    real(c_float), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_get_block', matrix, OSLA_FLOAT, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_get_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine get_s_long

  subroutine get_s(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    real(c_float), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_s_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine get_s

  subroutine get_d_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    real(c_double), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_get_block', matrix, OSLA_DOUBLE, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_get_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine get_d_long

  subroutine get_d(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    real(c_double), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_d_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine get_d

  subroutine get_c_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    complex(c_float_complex), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_get_block', matrix, OSLA_COMPLEX_FLOAT, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_get_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine get_c_long

  subroutine get_c(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    complex(c_float_complex), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_c_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine get_c

  subroutine get_z_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    complex(c_double_complex), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_get_block', matrix, OSLA_COMPLEX_DOUBLE, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_get_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine get_z_long

  subroutine get_z(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    complex(c_double_complex), intent(inout), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_z_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine get_z

  subroutine put_s_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    real(c_float), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_put_block', matrix, OSLA_FLOAT, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_put_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine put_s_long

  subroutine put_s(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    real(c_float), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_s_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine put_s

  subroutine put_d_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    real(c_double), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_put_block', matrix, OSLA_DOUBLE, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_put_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine put_d_long

  subroutine put_d(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    real(c_double), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_d_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine put_d

  subroutine put_c_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    complex(c_float_complex), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_put_block', matrix, OSLA_COMPLEX_FLOAT, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_put_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine put_c_long

  subroutine put_c(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    complex(c_float_complex), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_c_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine put_c

  subroutine put_z_long(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j
    complex(c_double_complex), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: m, n
    m = size(block, 1)
    n = size(block, 2)
    if (.not. is_inside('osla_matrix_put_block', matrix, OSLA_COMPLEX_DOUBLE, i, j, m, n, stat, errmsg)) return
    call report(c_osla_matrix_put_block(matrix%handle, i - 1, j - 1, m, n, c_loc(block), &
      max(1_c_int64_t, m)), stat, errmsg)
  end subroutine put_z_long

  subroutine put_z(matrix, i, j, block, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j
    complex(c_double_complex), intent(in), target, contiguous :: block(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_z_long(matrix, int(i, c_int64_t), int(j, c_int64_t), block, stat, errmsg)
  end subroutine put_z

end module osla_elements
