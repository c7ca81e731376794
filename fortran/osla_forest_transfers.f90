! Made by fortran/kinds.py from fortran/osla_forest_transfers.f90.in: do not edit.
! Transfers of star forests. The contracts are in osla_forest.h: all ranks make the calls in the
! same order with the same kind and combination. If stat is present, all ranks agree before each
! transfer, which takes several times as long as a short transfer.
module osla_forest_transfers
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_forest, report
  use osla_collectives, only: collective_call, requires, check_transfer, all_ready, transfer_bcast, transfer_reduce
  implicit none
  private
  public :: osla_forest_bcast, osla_forest_reduce

  ! leaves(:, i) := leaves(:, i) (combine) the root of leaf i. If a vertex has one number, the
  ! argument may also be the array leaves(i). Arrays hold all roots of this rank, and leaf_space
  ! leaves.
  interface osla_forest_bcast
    procedure bcast_real, bcast_reals, bcast_single, bcast_singles, bcast_complex, &
      bcast_complexs, bcast_integer, bcast_integers, bcast_long, bcast_longs
  end interface

  ! roots(:, j) := roots(:, j) (combine) all its leaves, with bitwise reproducible results.
  interface osla_forest_reduce
    procedure reduce_real, reduce_reals, reduce_single, reduce_singles, reduce_complex, &
      reduce_complexs, reduce_integer, reduce_integers, reduce_long, reduce_longs
  end interface

contains

  ! n_roots, n_leaves: size of the array: numbers in a vertex, and number of vertices
  subroutine bcast_any(forest, unit, n_roots, n_leaves, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in) :: unit
    integer(c_int64_t), intent(in) :: n_roots(2), n_leaves(2)
    type(c_ptr), intent(in) :: roots, leaves
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_bcast')
    call requires(at, forest, 'forest')
    call check_transfer(at, forest, transfer_bcast, unit, n_roots, n_leaves, roots, leaves, c_null_ptr, combine, &
      present(stat))
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osli_fortran_forest_bcast(forest%handle, unit, int(n_roots(1), c_int32_t), roots, leaves, &
      int(combine, c_int)), stat, errmsg)
  end subroutine bcast_any

  subroutine reduce_any(forest, unit, n_roots, n_leaves, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in) :: unit
    integer(c_int64_t), intent(in) :: n_roots(2), n_leaves(2)
    type(c_ptr), intent(in) :: roots, leaves
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_reduce')
    call requires(at, forest, 'forest')
    call check_transfer(at, forest, transfer_reduce, unit, n_roots, n_leaves, roots, leaves, c_null_ptr, combine, &
      present(stat))
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osli_fortran_forest_reduce(forest%handle, unit, int(n_roots(1), c_int32_t), leaves, roots, &
      int(combine, c_int)), stat, errmsg)
  end subroutine reduce_any

  subroutine bcast_real(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: roots(:)
    real(c_double), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_DOUBLE, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_real

  subroutine bcast_reals(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: roots(:, :)
    real(c_double), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_DOUBLE, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_reals

  subroutine bcast_single(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: roots(:)
    real(c_float), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_FLOAT, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_single

  subroutine bcast_singles(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: roots(:, :)
    real(c_float), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_FLOAT, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_singles

  subroutine bcast_complex(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: roots(:)
    complex(c_double_complex), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_COMPLEX_DOUBLE, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_complex

  subroutine bcast_complexs(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: roots(:, :)
    complex(c_double_complex), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_COMPLEX_DOUBLE, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_complexs

  subroutine bcast_integer(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: roots(:)
    integer(c_int), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_INT32, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_integer

  subroutine bcast_integers(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: roots(:, :)
    integer(c_int), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_INT32, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_integers

  subroutine bcast_long(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: roots(:)
    integer(c_int64_t), intent(inout), target, contiguous :: leaves(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_INT64, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_long

  subroutine bcast_longs(forest, roots, leaves, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: roots(:, :)
    integer(c_int64_t), intent(inout), target, contiguous :: leaves(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call bcast_any(forest, OSLA_UNIT_INT64, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine bcast_longs

  subroutine reduce_real(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: leaves(:)
    real(c_double), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_DOUBLE, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_real

  subroutine reduce_reals(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_double), intent(in), target, contiguous :: leaves(:, :)
    real(c_double), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_DOUBLE, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_reals

  subroutine reduce_single(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: leaves(:)
    real(c_float), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_FLOAT, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_single

  subroutine reduce_singles(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    real(c_float), intent(in), target, contiguous :: leaves(:, :)
    real(c_float), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_FLOAT, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_singles

  subroutine reduce_complex(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: leaves(:)
    complex(c_double_complex), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_COMPLEX_DOUBLE, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_complex

  subroutine reduce_complexs(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    complex(c_double_complex), intent(in), target, contiguous :: leaves(:, :)
    complex(c_double_complex), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_COMPLEX_DOUBLE, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_complexs

  subroutine reduce_integer(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: leaves(:)
    integer(c_int), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_INT32, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_integer

  subroutine reduce_integers(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int), intent(in), target, contiguous :: leaves(:, :)
    integer(c_int), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_INT32, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_integers

  subroutine reduce_long(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: leaves(:)
    integer(c_int64_t), intent(inout), target, contiguous :: roots(:)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_INT64, [1_c_int64_t, size(roots, kind=c_int64_t)], &
      [1_c_int64_t, size(leaves, kind=c_int64_t)], c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_long

  subroutine reduce_longs(forest, leaves, roots, combine, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in), target, contiguous :: leaves(:, :)
    integer(c_int64_t), intent(inout), target, contiguous :: roots(:, :)
    integer, intent(in) :: combine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call reduce_any(forest, OSLA_UNIT_INT64, shape(roots, c_int64_t), &
      shape(leaves, c_int64_t), c_loc(roots), c_loc(leaves), combine, stat, errmsg)
  end subroutine reduce_longs

end module osla_forest_transfers
