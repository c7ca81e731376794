! Made by fortran/kinds.py from fortran/osla_accumulator.f90.in: do not edit.
! The accumulator. The contracts are in osla_hessian.h; here unknowns are counted from 1, and an
! array of indices has default integers or integer(int64).
module osla_accumulator
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_grid, osla_matrix, osla_hessian, report, is_absent, refuse, c_text, dtype_name
  use osla_collectives, only: collective_call, requires, all_ready
  implicit none
  private
  public :: osla_hessian_create, osla_hessian_create_on, osla_hessian_destroy
  public :: osla_hessian_update, osla_hessian_update_block
  public :: osla_hessian_update_gradient, osla_hessian_commit, osla_hessian_matrix, osla_hessian_gradient
  public :: osla_hessian_reset, osla_hessian_get_stats, osla_hessian_checkpoint, osla_hessian_restore
  public :: osla_hessian_update_once, osla_hessian_has_id

  interface osla_hessian_create
    procedure create_default, create_long
  end interface

  ! H[ix, ix] += G^T G, where column G(:, a) belongs to unknown ix(a)
  interface osla_hessian_update
    procedure update_d, update_d_long, update_s, update_s_long
  end interface

  ! H[ix, jx] += U(size(ix), size(jx)), in the stored triangle
  interface osla_hessian_update_block
    procedure block_d, block_d_long, block_s, block_s_long
  end interface

  interface osla_hessian_update_gradient
    procedure gradient_default, gradient_long
  end interface

  ! Does what osla_hessian_update does, and osla_hessian_update_gradient if gradient is present,
  ! unless a datum with this id was added before.
  interface osla_hessian_update_once
    procedure once_d, once_d_long
  end interface

contains

  subroutine create_default(grid, n, hessian, options, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: n
    type(osla_hessian), intent(out) :: hessian
    type(osla_hessian_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_long(grid, int(n, c_int64_t), hessian, options, stat, errmsg)
  end subroutine create_default

  subroutine create_long(grid, n, hessian, options, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    integer(c_int64_t), intent(in) :: n
    type(osla_hessian), intent(out) :: hessian
    type(osla_hessian_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_hessian_options), target :: chosen
    at = collective_call('osla_hessian_create')
    call requires(at, grid)
    if (present(options)) chosen = options
    hessian%n = n
    hessian%transport = at%transport
    hessian%update_dtype = merge(OSLA_FLOAT, OSLA_DOUBLE, logical(chosen%single .or. chosen%single_updates))
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hessian_create(grid%handle, n, c_loc(chosen), hessian%handle), stat, errmsg)
  end subroutine create_long

  ! Creates an accumulator that adds to a matrix of the caller. The matrix must outlive the
  ! accumulator. Collective.
  subroutine osla_hessian_create_on(matrix, hessian, options, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    type(osla_hessian), intent(out) :: hessian
    type(osla_hessian_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_hessian_options), target :: chosen
    type(osla_layout) :: layout
    at = collective_call('osla_hessian_create_on')
    call requires(at, matrix, 'matrix')
    if (present(options)) chosen = options
    if (.not. all_ready(at, stat, errmsg)) return
    layout = c_osla_matrix_layout(matrix%handle)
    hessian%n = layout%n
    hessian%transport = at%transport
    hessian%update_dtype = c_osla_matrix_dtype(matrix%handle)
    if (chosen%single_updates) hessian%update_dtype = OSLA_FLOAT
    call report(c_osla_hessian_create_on(matrix%handle, c_loc(chosen), hessian%handle), stat, errmsg)
  end subroutine osla_hessian_create_on

  ! Destroys the accumulator, and its matrix if osla_hessian_create made it. Collective.
  subroutine osla_hessian_destroy(hessian)
    type(osla_hessian), intent(inout) :: hessian
    call c_osla_hessian_destroy(hessian%handle)
  end subroutine osla_hessian_destroy

  ! Converts indices to C's, which count from 0. ok is false if the call was refused.
  subroutine count_from_0(call_name, hessian, ix, from_0, ok, stat, errmsg)
    character(*), intent(in) :: call_name
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:)
    integer(c_int64_t), intent(out) :: from_0(:)
    logical, intent(out) :: ok
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(120) :: text
    integer(c_int64_t) :: a
    ok = .not. is_absent(call_name, 'accumulator', hessian%handle, stat, errmsg)
    if (.not. ok) return
    from_0 = ix - 1
    do a = 1, size(ix, kind=c_int64_t)
      if (ix(a) >= 1 .and. ix(a) <= hessian%n) cycle
      ok = .false.
      write (text, '(3(a, i0))') ': index ', ix(a), ' at ', a, ' is outside 1 to ', hessian%n
      call refuse(OSLA_ERR_ARG, call_name // trim(text), stat, errmsg)
      return
    end do
  end subroutine count_from_0

  ! True if the size or the type of an array does not fit; the error is then set.
  function is_misfit(call_name, hessian, dtype, has, wanted, stat, errmsg) result(is)
    character(*), intent(in) :: call_name
    type(osla_hessian), intent(in) :: hessian
    integer(c_int), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: has, wanted
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: is
    character(120) :: text
    is = has /= wanted
    if (is) then
      write (text, '(2(a, i0))') ': an array has ', has, ' rows, columns or elements, where there are indices: ', wanted
      call refuse(OSLA_ERR_ARG, call_name // trim(text), stat, errmsg)
      return
    end if
    is = dtype /= hessian%update_dtype
    if (is) call refuse(OSLA_ERR_ARG, call_name // ': an array of ' // dtype_name(dtype) // &
      ', where updates are of ' // dtype_name(hessian%update_dtype), stat, errmsg)
  end function is_misfit

  subroutine update(hessian, ix, dtype, k, columns, g, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:)
    integer(c_int), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: k, columns
    type(c_ptr), intent(in) :: g
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), target :: from_0(size(ix))
    logical :: ok
    call count_from_0('osla_hessian_update', hessian, ix, from_0, ok, stat, errmsg)
    if (.not. ok) return
    if (is_misfit('osla_hessian_update', hessian, dtype, columns, size(ix, kind=c_int64_t), stat, errmsg)) return
    call report(c_osla_hessian_update(hessian%handle, columns, c_loc(from_0), k, g, max(1_c_int64_t, k)), &
      stat, errmsg)
  end subroutine update

  subroutine update_block(hessian, ix, jx, dtype, rows, cols, u, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:), jx(:)
    integer(c_int), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows, cols
    type(c_ptr), intent(in) :: u
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), parameter :: name = 'osla_hessian_update_block'
    integer(c_int64_t), target :: rows_at(size(ix)), cols_at(size(jx))
    logical :: ok
    call count_from_0(name, hessian, ix, rows_at, ok, stat, errmsg)
    if (ok) call count_from_0(name, hessian, jx, cols_at, ok, stat, errmsg)
    if (.not. ok) return
    if (is_misfit(name, hessian, dtype, rows, size(ix, kind=c_int64_t), stat, errmsg)) return
    if (is_misfit(name, hessian, dtype, cols, size(jx, kind=c_int64_t), stat, errmsg)) return
    call report(c_osla_hessian_update_block(hessian%handle, rows, c_loc(rows_at), cols, c_loc(cols_at), u, &
      max(1_c_int64_t, rows)), stat, errmsg)
  end subroutine update_block

  subroutine update_d_long(hessian, ix, g, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:)
    real(c_double), intent(in), target, contiguous :: g(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call update(hessian, ix, OSLA_DOUBLE, size(g, 1, c_int64_t), size(g, 2, c_int64_t), c_loc(g), stat, errmsg)
  end subroutine update_d_long

  subroutine update_d(hessian, ix, g, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(in) :: ix(:)
    real(c_double), intent(in), target, contiguous :: g(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call update_d_long(hessian, int(ix, c_int64_t), g, stat, errmsg)
  end subroutine update_d

  subroutine block_d_long(hessian, ix, jx, u, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:), jx(:)
    real(c_double), intent(in), target, contiguous :: u(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call update_block(hessian, ix, jx, OSLA_DOUBLE, size(u, 1, c_int64_t), size(u, 2, c_int64_t), c_loc(u), &
      stat, errmsg)
  end subroutine block_d_long

  subroutine block_d(hessian, ix, jx, u, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(in) :: ix(:), jx(:)
    real(c_double), intent(in), target, contiguous :: u(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call block_d_long(hessian, int(ix, c_int64_t), int(jx, c_int64_t), u, stat, errmsg)
  end subroutine block_d

  subroutine update_s_long(hessian, ix, g, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:)
    real(c_float), intent(in), target, contiguous :: g(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call update(hessian, ix, OSLA_FLOAT, size(g, 1, c_int64_t), size(g, 2, c_int64_t), c_loc(g), stat, errmsg)
  end subroutine update_s_long

  subroutine update_s(hessian, ix, g, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(in) :: ix(:)
    real(c_float), intent(in), target, contiguous :: g(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call update_s_long(hessian, int(ix, c_int64_t), g, stat, errmsg)
  end subroutine update_s

  subroutine block_s_long(hessian, ix, jx, u, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:), jx(:)
    real(c_float), intent(in), target, contiguous :: u(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call update_block(hessian, ix, jx, OSLA_FLOAT, size(u, 1, c_int64_t), size(u, 2, c_int64_t), c_loc(u), &
      stat, errmsg)
  end subroutine block_s_long

  subroutine block_s(hessian, ix, jx, u, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(in) :: ix(:), jx(:)
    real(c_float), intent(in), target, contiguous :: u(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call block_s_long(hessian, int(ix, c_int64_t), int(jx, c_int64_t), u, stat, errmsg)
  end subroutine block_s

  ! gradient[ix] += values
  subroutine gradient_long(hessian, ix, values, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: ix(:)
    real(c_double), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), parameter :: name = 'osla_hessian_update_gradient'
    integer(c_int64_t), target :: from_0(size(ix))
    integer(c_int64_t) :: count
    logical :: ok
    count = size(ix)
    call count_from_0(name, hessian, ix, from_0, ok, stat, errmsg)
    if (.not. ok) return
    if (is_misfit(name, hessian, hessian%update_dtype, size(values, kind=c_int64_t), count, stat, errmsg)) return
    call report(c_osla_hessian_update_gradient(hessian%handle, count, c_loc(from_0), c_loc(values)), stat, errmsg)
  end subroutine gradient_long

  subroutine gradient_default(hessian, ix, values, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(in) :: ix(:)
    real(c_double), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gradient_long(hessian, int(ix, c_int64_t), values, stat, errmsg)
  end subroutine gradient_default

  ! --- updates with an id, each added only once ---

  subroutine once_d_long(hessian, id, ix, g, gradient, skipped, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: id
    integer(c_int64_t), intent(in) :: ix(:)
    real(c_double), intent(in), target, contiguous :: g(:, :)
    real(c_double), intent(in), target, contiguous, optional :: gradient(:)
    logical, intent(out), optional :: skipped
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), parameter :: name = 'osla_hessian_update_once'
    integer(c_int64_t), target :: from_0(size(ix))
    integer(c_int64_t) :: count, k
    type(osla_hessian_datum), target :: datum
    logical(c_bool) :: was_in
    logical :: ok
    count = size(ix)
    k = size(g, 1)
    was_in = .false.
    if (present(skipped)) skipped = .false.
    call count_from_0(name, hessian, ix, from_0, ok, stat, errmsg)
    if (.not. ok) return
    if (is_misfit(name, hessian, OSLA_DOUBLE, size(g, 2, c_int64_t), count, stat, errmsg)) return
    datum = osla_hessian_datum(id, count, c_loc(from_0), k, c_loc(g), max(1_c_int64_t, k), 0, c_null_ptr, &
      c_null_ptr, 0, c_null_ptr)
    if (present(gradient)) then
      if (is_misfit(name, hessian, OSLA_DOUBLE, size(gradient, kind=c_int64_t), count, stat, errmsg)) return
      datum%gradient = c_loc(gradient)
    end if
    call report(c_osla_hessian_update_once(hessian%handle, c_loc(datum), was_in), stat, errmsg)
    if (present(skipped)) skipped = was_in
  end subroutine once_d_long

  subroutine once_d(hessian, id, ix, g, gradient, skipped, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: id
    integer, intent(in) :: ix(:)
    real(c_double), intent(in), target, contiguous :: g(:, :)
    real(c_double), intent(in), target, contiguous, optional :: gradient(:)
    logical, intent(out), optional :: skipped
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call once_d_long(hessian, id, int(ix, c_int64_t), g, gradient, skipped, stat, errmsg)
  end subroutine once_d

  function osla_hessian_has_id(hessian, id) result(has)
    type(osla_hessian), intent(in) :: hessian
    integer(c_int64_t), intent(in) :: id
    logical :: has
    has = .false.
    if (is_absent('osla_hessian_has_id', 'accumulator', hessian%handle)) return
    has = c_osla_hessian_has_id(hessian%handle, id)
  end function osla_hessian_has_id

  subroutine osla_hessian_checkpoint(hessian, path, job, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    character(*), intent(in) :: path
    character(*), intent(in), optional :: job
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    character(:), allocatable :: text
    at = collective_call('osla_hessian_checkpoint')
    call requires(at, hessian)
    text = ''
    if (present(job)) text = job
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hessian_checkpoint(hessian%handle, c_text(trim(path)), c_text(text)), stat, errmsg)
  end subroutine osla_hessian_checkpoint

  subroutine osla_hessian_restore(hessian, path, job, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    character(*), intent(in) :: path
    character(*), intent(in), optional :: job
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    character(:), allocatable :: text
    at = collective_call('osla_hessian_restore')
    call requires(at, hessian)
    text = ''
    if (present(job)) text = job
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hessian_restore(hessian%handle, c_text(trim(path)), c_text(text)), stat, errmsg)
  end subroutine osla_hessian_restore

  ! --- commit, and the sums ---

  subroutine osla_hessian_commit(hessian, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_hessian_commit')
    call requires(at, hessian)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hessian_commit(hessian%handle), stat, errmsg)
  end subroutine osla_hessian_commit

  ! The accumulator's matrix, borrowed.
  subroutine osla_hessian_matrix(hessian, matrix, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_absent('osla_hessian_matrix', 'accumulator', hessian%handle, stat, errmsg)) return
    matrix%borrowed = .true.
    call report(c_osla_hessian_matrix(hessian%handle, matrix%handle), stat, errmsg)
  end subroutine osla_hessian_matrix

  ! The summed gradient, the same on all ranks; borrowed, valid until the next commit.
  function osla_hessian_gradient(hessian) result(gradient)
    type(osla_hessian), intent(in) :: hessian
    real(c_double), pointer :: gradient(:)
    nullify (gradient)
    if (is_absent('osla_hessian_gradient', 'accumulator', hessian%handle)) return
    call c_f_pointer(c_osla_hessian_gradient(hessian%handle), gradient, [hessian%n])
  end function osla_hessian_gradient

  subroutine osla_hessian_reset(hessian, stat, errmsg)
    type(osla_hessian), intent(in) :: hessian
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_hessian_reset')
    call requires(at, hessian)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hessian_reset(hessian%handle), stat, errmsg)
  end subroutine osla_hessian_reset

  function osla_hessian_get_stats(hessian) result(stats)
    type(osla_hessian), intent(in) :: hessian
    type(osla_hessian_stats) :: stats
    if (is_absent('osla_hessian_get_stats', 'accumulator', hessian%handle)) return
    stats = c_osla_hessian_get_stats(hessian%handle)
  end function osla_hessian_get_stats

end module osla_accumulator
