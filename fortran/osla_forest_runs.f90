! Transfers of star forests that are begun and ended by two calls, and fetches. The contracts are in
! osla_forest.h: all ranks make the calls in the same order with the same kind and combination. If
! stat is present, all ranks agree before the transfer begins. Arrays are those of
! osla_forest_bcast; they must be contiguous, since their own memory is read and written. From begin
! to end the caller must declare them asynchronous and target.
module osla_forest_runs
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_forest, report, is_absent
  use osla_collectives, only: collective_call, requires, check, check_transfer, all_ready, &
    transfer_bcast, transfer_reduce, transfer_fetch
  implicit none
  private
  public :: osla_forest_bcast_begin, osla_forest_reduce_begin, osla_forest_fetch_begin, osla_forest_fetch
  public :: osla_forest_end, osla_forest_test, osla_forest_end_read, osla_forest_writable
  public :: osla_vertices_create, osla_vertices_free

  ! leaves(:, i) := leaves(:, i) (combine) the root of leaf i. If a vertex has one number, the
  ! argument may also be the array leaves(i).
  interface osla_forest_bcast_begin
    procedure bcast_1, bcast_2
  end interface

  ! roots(:, j) := roots(:, j) (combine) all its leaves, with bitwise reproducible results.
  interface osla_forest_reduce_begin
    procedure reduce_1, reduce_2
  end interface

  ! Begins a reduce that also sets before(:, i) to the value that the root had before leaf i was
  ! combined with it.
  interface osla_forest_fetch_begin
    procedure fetch_1, fetch_2
  end interface
  interface osla_forest_fetch
    procedure fetch_whole_1, fetch_whole_2
  end interface

  ! Creates x, an array of n zeros in memory that neighbours read in place. Creation and destruction
  ! are collective; n may differ between ranks.
  interface osla_vertices_create
    procedure create_real_default, create_real_long, create_integer_default, create_integer_long
  end interface
  interface osla_vertices_free
    procedure free_real, free_integer
  end interface

  type :: values
    type(c_ptr) :: at = c_null_ptr ! address of contiguous values
    integer(c_int) :: unit = -1    ! type of the numbers; -1 if the kind is not supported
    integer(c_int64_t) :: vertex = 0, vertices = 0 ! numbers in a vertex; number of vertices
  end type values

contains

  function values_1(x) result(v)
    class(*), intent(in), target, asynchronous :: x(:)
    type(values) :: v
    v%vertex = 1
    v%vertices = size(x, 1, c_int64_t)
    select type (x)
    type is (real(c_double))
      v%unit = OSLA_UNIT_DOUBLE
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (real(c_float))
      v%unit = OSLA_UNIT_FLOAT
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (complex(c_double_complex))
      v%unit = OSLA_UNIT_COMPLEX_DOUBLE
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (integer(c_int))
      v%unit = OSLA_UNIT_INT32
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (integer(c_int64_t))
      v%unit = OSLA_UNIT_INT64
      if (is_contiguous(x)) v%at = c_loc(x)
    end select
    if (size(x) == 0) v%at = c_null_ptr
  end function values_1

  function values_2(x) result(v)
    class(*), intent(in), target, asynchronous :: x(:, :)
    type(values) :: v
    v%vertex = size(x, 1, c_int64_t)
    v%vertices = size(x, 2, c_int64_t)
    select type (x)
    type is (real(c_double))
      v%unit = OSLA_UNIT_DOUBLE
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (real(c_float))
      v%unit = OSLA_UNIT_FLOAT
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (complex(c_double_complex))
      v%unit = OSLA_UNIT_COMPLEX_DOUBLE
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (integer(c_int))
      v%unit = OSLA_UNIT_INT32
      if (is_contiguous(x)) v%at = c_loc(x)
    type is (integer(c_int64_t))
      v%unit = OSLA_UNIT_INT64
      if (is_contiguous(x)) v%at = c_loc(x)
    end select
    if (size(x) == 0) v%at = c_null_ptr
  end function values_2

  ! True if this transfer may begin on all ranks. If not, the call is refused.
  function fit(call_name, transfer, forest, roots, leaves, combine, stat, errmsg) result(do)
    character(*), intent(in) :: call_name
    integer, intent(in) :: transfer ! transfer_bcast, transfer_reduce or transfer_fetch
    type(osla_forest), intent(in) :: forest
    type(values), intent(in) :: roots, leaves(:) ! leaves: array of leaves, and for a fetch also `before`
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: do
    type(collective_call) :: at
    type(values) :: last
    last = leaves(size(leaves))
    at = collective_call(call_name)
    call requires(at, forest, 'forest')
    call check(at, roots%unit >= 0 .and. all(leaves%unit == roots%unit), &
      'roots and leaves are arrays of one kind of real, integer, or complex(real64)')
    call check(at, all(leaves%vertex == leaves(1)%vertex .and. leaves%vertices == leaves(1)%vertices), &
      'roots or leaves do not have the forest''s sizes')
    call check(at, .not. (apart(roots) .or. apart(leaves(1)) .or. apart(last)), 'an array is not contiguous')
    call check_transfer(at, forest, transfer, roots%unit, [roots%vertex, roots%vertices], &
      [leaves(1)%vertex, leaves(1)%vertices], roots%at, leaves(1)%at, last%at, combine, present(stat))
    do = all_ready(at, stat, errmsg)
  end function fit

  pure function apart(x) result(is)
    type(values), intent(in) :: x
    logical :: is
    is = x%vertex * x%vertices > 0 .and. .not. c_associated(x%at)
  end function apart

  subroutine bcast_1(forest, roots, leaves, combine, run, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(in), target, asynchronous :: roots(:)
    class(*), intent(inout), target, asynchronous :: leaves(:)
    integer, intent(in) :: combine
    type(osla_forest_run), intent(out), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(1)
    r = values_1(roots)
    l = [values_1(leaves)]
    if (.not. fit('osla_forest_bcast_begin', transfer_bcast, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_bcast_begin(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      r%at, l(1)%at, int(combine, c_int), c_loc(run)), stat, errmsg)
  end subroutine bcast_1

  subroutine bcast_2(forest, roots, leaves, combine, run, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(in), target, asynchronous :: roots(:, :)
    class(*), intent(inout), target, asynchronous :: leaves(:, :)
    integer, intent(in) :: combine
    type(osla_forest_run), intent(out), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(1)
    r = values_2(roots)
    l = [values_2(leaves)]
    if (.not. fit('osla_forest_bcast_begin', transfer_bcast, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_bcast_begin(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      r%at, l(1)%at, int(combine, c_int), c_loc(run)), stat, errmsg)
  end subroutine bcast_2

  subroutine reduce_1(forest, leaves, roots, combine, run, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(in), target, asynchronous :: leaves(:)
    class(*), intent(inout), target, asynchronous :: roots(:)
    integer, intent(in) :: combine
    type(osla_forest_run), intent(out), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(1)
    r = values_1(roots)
    l = [values_1(leaves)]
    if (.not. fit('osla_forest_reduce_begin', transfer_reduce, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_reduce_begin(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      l(1)%at, r%at, int(combine, c_int), c_loc(run)), stat, errmsg)
  end subroutine reduce_1

  subroutine reduce_2(forest, leaves, roots, combine, run, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(in), target, asynchronous :: leaves(:, :)
    class(*), intent(inout), target, asynchronous :: roots(:, :)
    integer, intent(in) :: combine
    type(osla_forest_run), intent(out), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(1)
    r = values_2(roots)
    l = [values_2(leaves)]
    if (.not. fit('osla_forest_reduce_begin', transfer_reduce, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_reduce_begin(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      l(1)%at, r%at, int(combine, c_int), c_loc(run)), stat, errmsg)
  end subroutine reduce_2

  subroutine fetch_1(forest, roots, leaves, before, combine, run, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(inout), target, asynchronous :: roots(:)
    class(*), intent(in), target, asynchronous :: leaves(:)
    class(*), intent(inout), target, asynchronous :: before(:)
    integer, intent(in) :: combine
    type(osla_forest_run), intent(out), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(2)
    r = values_1(roots)
    l = [values_1(leaves), values_1(before)]
    if (.not. fit('osla_forest_fetch_begin', transfer_fetch, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_fetch_begin(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      r%at, l(1)%at, l(2)%at, int(combine, c_int), c_loc(run)), stat, errmsg)
  end subroutine fetch_1

  subroutine fetch_2(forest, roots, leaves, before, combine, run, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(inout), target, asynchronous :: roots(:, :)
    class(*), intent(in), target, asynchronous :: leaves(:, :)
    class(*), intent(inout), target, asynchronous :: before(:, :)
    integer, intent(in) :: combine
    type(osla_forest_run), intent(out), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(2)
    r = values_2(roots)
    l = [values_2(leaves), values_2(before)]
    if (.not. fit('osla_forest_fetch_begin', transfer_fetch, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_fetch_begin(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      r%at, l(1)%at, l(2)%at, int(combine, c_int), c_loc(run)), stat, errmsg)
  end subroutine fetch_2

  subroutine fetch_whole_1(forest, roots, leaves, before, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(inout), target :: roots(:)
    class(*), intent(in), target :: leaves(:)
    class(*), intent(inout), target :: before(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(2)
    r = values_1(roots)
    l = [values_1(leaves), values_1(before)]
    if (.not. fit('osla_forest_fetch', transfer_fetch, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_fetch(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      r%at, l(1)%at, l(2)%at, int(combine, c_int)), stat, errmsg)
  end subroutine fetch_whole_1

  subroutine fetch_whole_2(forest, roots, leaves, before, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    class(*), intent(inout), target :: roots(:, :)
    class(*), intent(in), target :: leaves(:, :)
    class(*), intent(inout), target :: before(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(values) :: r, l(2)
    r = values_2(roots)
    l = [values_2(leaves), values_2(before)]
    if (.not. fit('osla_forest_fetch', transfer_fetch, forest, r, l, combine, stat, errmsg)) return
    call report(c_osli_fortran_forest_fetch(forest%handle, r%unit, int(r%vertex, c_int32_t), &
      r%at, l(1)%at, l(2)%at, int(combine, c_int)), stat, errmsg)
  end subroutine fetch_whole_2

  ! Allocates n numbers of 8 bytes in memory that neighbours read in place; ok is false if the call
  ! was refused.
  subroutine create(transport, n, memory, ok, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n
    type(c_ptr), intent(out) :: memory
    logical, intent(out) :: ok
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int) :: err
    memory = c_null_ptr
    at = collective_call('osla_vertices_create')
    call requires(at, transport)
    call check(at, n >= 0, 'a negative number of vertices')
    call check(at, n <= shiftr(huge(n), 3), 'more vertices than there is memory')
    ok = all_ready(at, stat, errmsg)
    if (.not. ok) return
    err = c_osla_vertices_create(transport%handle, 8 * int(n, c_size_t), memory)
    ok = err == OSLA_OK
    call report(err, stat, errmsg)
  end subroutine create

  subroutine create_real_long(transport, n, x, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n
    real(c_double), pointer, intent(out) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: memory
    logical :: ok
    x => null()
    call create(transport, n, memory, ok, stat, errmsg)
    if (ok) call c_f_pointer(memory, x, [n])
  end subroutine create_real_long

  subroutine create_real_default(transport, n, x, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: n
    real(c_double), pointer, intent(out) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_real_long(transport, int(n, c_int64_t), x, stat, errmsg)
  end subroutine create_real_default

  ! x: from osla_vertices_create.
  subroutine free_real(transport, x, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    real(c_double), pointer, intent(inout) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr) :: memory
    integer(c_int) :: err
    at = collective_call('osla_vertices_free')
    call requires(at, transport)
    memory = c_null_ptr
    if (associated(x)) memory = c_loc(x)
    if (.not. all_ready(at, stat, errmsg)) return
    err = c_osla_vertices_free(transport%handle, memory)
    if (err == OSLA_OK) x => null()
    call report(err, stat, errmsg)
  end subroutine free_real

  subroutine create_integer_long(transport, n, x, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n
    integer(c_int64_t), pointer, intent(out) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: memory
    logical :: ok
    x => null()
    call create(transport, n, memory, ok, stat, errmsg)
    if (ok) call c_f_pointer(memory, x, [n])
  end subroutine create_integer_long

  subroutine create_integer_default(transport, n, x, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: n
    integer(c_int64_t), pointer, intent(out) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_integer_long(transport, int(n, c_int64_t), x, stat, errmsg)
  end subroutine create_integer_default

  ! x: from osla_vertices_create.
  subroutine free_integer(transport, x, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), pointer, intent(inout) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr) :: memory
    integer(c_int) :: err
    at = collective_call('osla_vertices_free')
    call requires(at, transport)
    memory = c_null_ptr
    if (associated(x)) memory = c_loc(x)
    if (.not. all_ready(at, stat, errmsg)) return
    err = c_osla_vertices_free(transport%handle, memory)
    if (err == OSLA_OK) x => null()
    call report(err, stat, errmsg)
  end subroutine free_integer

  ! --- ends of transfers: local ---

  ! Waits until the transfer is complete on this rank.
  subroutine osla_forest_end(run, stat, errmsg)
    type(osla_forest_run), intent(inout), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_osla_forest_end(c_loc(run)), stat, errmsg)
  end subroutine osla_forest_end

  ! Tests whether the transfer is complete; if done is .true., osla_forest_end must not be called.
  subroutine osla_forest_test(run, done, stat, errmsg)
    type(osla_forest_run), intent(inout), target :: run
    logical, intent(out) :: done
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical(c_bool) :: over
    over = .false.
    call report(c_osla_forest_test(c_loc(run), over), stat, errmsg)
    done = over
  end subroutine osla_forest_test

  ! Ends a transfer like osla_forest_end, but other ranks may still read this rank's values until
  ! osla_forest_writable.
  subroutine osla_forest_end_read(run, stat, errmsg)
    type(osla_forest_run), intent(inout), target :: run
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_osla_forest_end_read(c_loc(run)), stat, errmsg)
  end subroutine osla_forest_end_read

  subroutine osla_forest_writable(forest, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_absent('osla_forest_writable', 'forest', forest%handle, stat, errmsg)) return
    call report(c_osla_forest_writable(forest%handle), stat, errmsg)
  end subroutine osla_forest_writable

end module osla_forest_runs
