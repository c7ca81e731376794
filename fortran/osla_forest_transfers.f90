! Transfers of star forests. The contracts are in osla_forest.h: all ranks call them in the same order with the same
! kind and combination; what is refused on this rank alone must end the program.
module osla_forest_transfers
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_forest, settle, absent, refuse
  implicit none
  private
  public :: osla_forest_bcast, osla_forest_reduce

  ! leaves(:, i) := leaves(:, i) (combine) roots(:, of i); of one number in a vertex also leaves(i).
  ! Arrays have all roots of this rank, and leaf_space leaves.
  interface osla_forest_bcast
    procedure bcast_real, bcast_reals, bcast_single, bcast_singles, bcast_complex, &
      bcast_complexs, bcast_integer, bcast_integers, bcast_long, bcast_longs
  end interface

  ! roots(:, j) := roots(:, j) (combine) all leaves(:, of j), to the same bits in every run.
  interface osla_forest_reduce
    procedure reduce_real, reduce_reals, reduce_single, reduce_singles, reduce_complex, &
      reduce_complexs, reduce_integer, reduce_integers, reduce_long, reduce_longs
  end interface

contains

  ! Refuses arrays that have not a vertex for each root and leaf, or other vertices than one another.
  function misfits(call_name, forest, roots, leaves, stat, errmsg) result(is)
    character(*), intent(in) :: call_name
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in) :: roots(2), leaves(2) ! numbers in a vertex, vertices
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: is
    integer(c_int64_t) :: vertices(2)
    is = absent(call_name, 'forest', forest%handle, stat, errmsg)
    if (is) return
    vertices = [c_osla_forest_n_roots(forest%handle), c_osla_forest_leaf_space(forest%handle)]
    is = roots(1) /= leaves(1) .or. roots(1) > huge(1_c_int32_t) .or. any([roots(2), leaves(2)] /= vertices)
    if (is) call refuse(OSLA_ERR_ARG, call_name // ': roots or leaves have not the forest''s sizes', stat, errmsg)
  end function misfits

  subroutine bcast_real(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: roots(:)
    real(c_double), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_DOUBLE, 1_c_int32_t, &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_real

  subroutine bcast_reals(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: roots(:, :)
    real(c_double), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_DOUBLE, size(roots, 1, c_int32_t), &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_reals

  subroutine bcast_single(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: roots(:)
    real(c_float), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_FLOAT, 1_c_int32_t, &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_single

  subroutine bcast_singles(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: roots(:, :)
    real(c_float), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_FLOAT, size(roots, 1, c_int32_t), &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_singles

  subroutine bcast_complex(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: roots(:)
    complex(c_double_complex), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_COMPLEX_DOUBLE, 1_c_int32_t, &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_complex

  subroutine bcast_complexs(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: roots(:, :)
    complex(c_double_complex), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_COMPLEX_DOUBLE, size(roots, 1, c_int32_t), &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_complexs

  subroutine bcast_integer(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: roots(:)
    integer(c_int), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_INT32, 1_c_int32_t, &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_integer

  subroutine bcast_integers(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: roots(:, :)
    integer(c_int), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_INT32, size(roots, 1, c_int32_t), &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_integers

  subroutine bcast_long(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: roots(:)
    integer(c_int64_t), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_INT64, 1_c_int32_t, &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_long

  subroutine bcast_longs(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: roots(:, :)
    integer(c_int64_t), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_bcast', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_bcast(forest%handle, OSLA_UNIT_INT64, size(roots, 1, c_int32_t), &
      c_loc(roots), c_loc(leaves), int(combine, c_int)), stat, errmsg)
  end subroutine bcast_longs

  subroutine reduce_real(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: leaves(:)
    real(c_double), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_DOUBLE, 1_c_int32_t, &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_real

  subroutine reduce_reals(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: leaves(:, :)
    real(c_double), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_DOUBLE, size(leaves, 1, c_int32_t), &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_reals

  subroutine reduce_single(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: leaves(:)
    real(c_float), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_FLOAT, 1_c_int32_t, &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_single

  subroutine reduce_singles(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: leaves(:, :)
    real(c_float), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_FLOAT, size(leaves, 1, c_int32_t), &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_singles

  subroutine reduce_complex(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: leaves(:)
    complex(c_double_complex), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_COMPLEX_DOUBLE, 1_c_int32_t, &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_complex

  subroutine reduce_complexs(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: leaves(:, :)
    complex(c_double_complex), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_COMPLEX_DOUBLE, size(leaves, 1, c_int32_t), &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_complexs

  subroutine reduce_integer(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: leaves(:)
    integer(c_int), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_INT32, 1_c_int32_t, &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_integer

  subroutine reduce_integers(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: leaves(:, :)
    integer(c_int), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_INT32, size(leaves, 1, c_int32_t), &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_integers

  subroutine reduce_long(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: leaves(:)
    integer(c_int64_t), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_INT64, 1_c_int32_t, &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_long

  subroutine reduce_longs(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: leaves(:, :)
    integer(c_int64_t), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (misfits('osla_forest_reduce', forest, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), stat, errmsg)) return
    call settle(c_osla_fortran_forest_reduce(forest%handle, OSLA_UNIT_INT64, size(leaves, 1, c_int32_t), &
      c_loc(leaves), c_loc(roots), int(combine, c_int)), stat, errmsg)
  end subroutine reduce_longs

end module osla_forest_transfers
