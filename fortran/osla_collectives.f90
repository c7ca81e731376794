! Collective calls. Each rank checks its arguments, which may be wrong on one rank only. If stat is
! present, all ranks then agree (osla_meet.h): a failure on one rank becomes a failure on all, with
! its text, and no rank enters the library. Without stat there is no agreement: a rank that fails
! ends the job.
module osla_collectives
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_grid, osla_operand, osla_matrix, osla_part, osla_hessian, osla_file, &
    osla_forest, osla_csr, osla_iteration, osla_device, report, c_text
  implicit none
  private
  public :: collective_call, requires, requires_pivots, check, check_transfer, is_valid, all_ready

  ! Kinds of transfers of forests.
  integer, parameter, public :: transfer_bcast = 1, transfer_reduce = 2, transfer_fetch = 3

  ! State of the checks of one call on this rank.
  type :: collective_call
    character(30) :: call_name
    type(c_ptr) :: transport = c_null_ptr ! transport of the objects; null if no object names one
    integer(c_int) :: err = OSLA_OK
    character(32) :: same = ' ' ! text behind call_name: the arguments that must be equal on all ranks
    logical :: has_several_transports = .false. ! the objects belong to several transports
  end type collective_call

  ! Checks that an object exists, and records its transport. For an operand, also returns C's part.
  interface requires
    procedure requires_transport, requires_grid, requires_matrix, requires_operand, requires_hessian, &
      requires_file, requires_forest, requires_csr, requires_iteration, requires_device
  end interface

contains

  ! Checks another condition. Only the first failure of a call is recorded.
  subroutine check(at, holds, text, code)
    type(collective_call), intent(inout) :: at
    logical, intent(in) :: holds
    character(*), intent(in) :: text
    integer(c_int), intent(in), optional :: code ! OSLA_ERR_ARG if absent
    integer(c_int) :: refused
    if (holds .or. at%err /= OSLA_OK) return
    refused = OSLA_ERR_ARG
    if (present(code)) refused = code
    at%err = c_osli_fortran_refuse(refused, c_text(trim(at%call_name) // ': ' // text))
  end subroutine check

  ! Checks everything that could keep this rank from beginning a transfer.
  !   n_roots, n_leaves: size of an array: numbers in a vertex, and number of vertices
  !   meets: true if the ranks agree before the transfer; if false, an error at the begin of the
  !          transfer ends the job
  subroutine check_transfer(at, forest, transfer, unit, n_roots, n_leaves, roots, leaves, before, combine, meets)
    type(collective_call), intent(inout) :: at
    type(osla_forest), intent(in) :: forest
    integer, intent(in) :: transfer ! transfer_bcast, transfer_reduce or transfer_fetch
    integer(c_int), intent(in) :: unit
    integer(c_int64_t), intent(in) :: n_roots(2), n_leaves(2)
    type(c_ptr), intent(in) :: roots, leaves, before
    integer, intent(in) :: combine
    logical, intent(in) :: meets
    integer(c_int32_t) :: count
    integer(c_int) :: how
    character(60) :: text
    if (.not. is_valid(at)) return
    call check(at, n_leaves(1) == n_roots(1) .and. n_roots(1) <= huge(1_c_int32_t) .and. &
      n_roots(2) == c_osla_forest_n_roots(forest%handle) .and. &
      n_leaves(2) == c_osla_forest_leaf_space(forest%handle), 'roots or leaves do not have the forest''s sizes')
    if (.not. (is_valid(at) .and. meets)) return
    write (text, '(a, i0, 3a, i0)') 'of ', n_roots(1), ' ', unit_name(unit), ', combine ', combine
    at%same = text(:len(at%same))
    count = int(n_roots(1), c_int32_t)
    how = int(combine, c_int)
    select case (transfer)
    case (transfer_bcast)
      at%err = c_osli_fortran_forest_bcast_check(forest%handle, unit, count, roots, leaves, how)
    case (transfer_reduce)
      at%err = c_osli_fortran_forest_reduce_check(forest%handle, unit, count, leaves, roots, how)
    case (transfer_fetch)
      at%err = c_osli_fortran_forest_fetch_check(forest%handle, unit, count, roots, leaves, before, how)
    end select
  end subroutine check_transfer

  pure function unit_name(unit) result(name)
    integer(c_int), intent(in) :: unit
    character(:), allocatable :: name
    select case (unit)
    case (OSLA_UNIT_DOUBLE)
      name = 'double'
    case (OSLA_UNIT_FLOAT)
      name = 'float'
    case (OSLA_UNIT_COMPLEX_DOUBLE)
      name = 'complex'
    case (OSLA_UNIT_INT32)
      name = 'int32'
    case default
      name = 'int64'
    end select
  end function unit_name

  ! True if no check has failed on this rank.
  pure function is_valid(at) result(do)
    type(collective_call), intent(in) :: at
    logical :: do
    do = at%err == OSLA_OK
  end function is_valid

  ! True if all ranks can continue. If not, the call is over, and stat has the reason.
  function all_ready(at, stat, errmsg) result(are)
    type(collective_call), intent(in) :: at
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: are
    integer(c_int) :: err
    err = at%err
    if (present(stat)) err = c_osli_fortran_meet(merge(c_null_ptr, at%transport, at%has_several_transports), err, &
      c_text(trim(trim(at%call_name) // ' ' // at%same)))
    call report(err, stat, errmsg)
    are = err == OSLA_OK
  end function all_ready

  subroutine requires_handle(at, handle, what)
    type(collective_call), intent(inout) :: at
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: what
    call check(at, c_associated(handle), 'the ' // what // ' was not created, or is destroyed', OSLA_ERR_STATE)
  end subroutine requires_handle

  subroutine meets_on(at, transport)
    type(collective_call), intent(inout) :: at
    type(c_ptr), intent(in) :: transport
    if (.not. c_associated(at%transport)) at%transport = transport
    at%has_several_transports = at%has_several_transports .or. .not. c_associated(transport, at%transport)
    call check(at, .not. at%has_several_transports, 'objects of different transports')
  end subroutine meets_on

  subroutine requires_transport(at, transport)
    type(collective_call), intent(inout) :: at
    type(osla_transport), intent(in) :: transport
    call requires_handle(at, transport%handle, 'transport')
    if (c_associated(transport%handle)) call meets_on(at, transport%handle)
  end subroutine requires_transport

  subroutine requires_grid(at, grid)
    type(collective_call), intent(inout) :: at
    type(osla_grid), intent(in) :: grid
    call requires_handle(at, grid%handle, 'grid')
    if (c_associated(grid%handle)) call meets_on(at, c_osla_grid_transport(grid%handle))
  end subroutine requires_grid

  subroutine requires_matrix(at, matrix, what)
    type(collective_call), intent(inout) :: at
    type(osla_matrix), intent(in) :: matrix
    character(*), intent(in) :: what
    call requires_handle(at, matrix%handle, what)
    if (c_associated(matrix%handle)) call meets_on(at, c_osla_grid_transport(c_osla_matrix_grid(matrix%handle)))
  end subroutine requires_matrix

  subroutine requires_operand(at, operand, part, what)
    type(collective_call), intent(inout) :: at
    class(osla_operand), intent(in) :: operand
    type(c_part), intent(out) :: part
    character(*), intent(in) :: what
    type(osla_layout) :: layout
    part = c_part(c_null_ptr, 0, 0, 0, 0)
    select type (operand)
    type is (osla_matrix)
      call requires_matrix(at, operand, what)
      if (.not. c_associated(operand%handle)) return
      layout = c_osla_matrix_layout(operand%handle)
      part = c_part(operand%handle, 0, 0, layout%m, layout%n)
    type is (osla_part)
      call requires_matrix(at, operand%matrix, what // ' of a part')
      part = c_part(operand%matrix%handle, operand%i - 1, operand%j - 1, operand%m, operand%n)
    class default
      call check(at, .false., 'the ' // what // ' is neither a matrix nor a part')
    end select
  end subroutine requires_operand

  ! Checks that ipiv has an element for each local row of the matrix, if the matrix exists.
  subroutine requires_pivots(at, matrix, ipiv)
    type(collective_call), intent(inout) :: at
    type(c_ptr), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: ipiv(:)
    if (c_associated(matrix)) call check(at, size(ipiv, kind=c_int64_t) >= c_osla_matrix_local_rows(matrix), &
      'ipiv has fewer elements than the matrix has local rows')
  end subroutine requires_pivots

  subroutine requires_hessian(at, hessian)
    type(collective_call), intent(inout) :: at
    type(osla_hessian), intent(in) :: hessian
    call requires_handle(at, hessian%handle, 'accumulator')
    if (c_associated(hessian%handle)) call meets_on(at, hessian%transport)
  end subroutine requires_hessian

  subroutine requires_file(at, file)
    type(collective_call), intent(inout) :: at
    type(osla_file), intent(in) :: file
    call requires_handle(at, file%handle, 'file')
    if (c_associated(file%handle)) call meets_on(at, file%transport)
  end subroutine requires_file

  subroutine requires_forest(at, forest, what)
    type(collective_call), intent(inout) :: at
    type(osla_forest), intent(in) :: forest
    character(*), intent(in) :: what
    call requires_handle(at, forest%handle, what)
    if (c_associated(forest%handle)) call meets_on(at, c_osla_forest_transport(forest%handle))
  end subroutine requires_forest

  subroutine requires_csr(at, matrix, what)
    type(collective_call), intent(inout) :: at
    type(osla_csr), intent(in) :: matrix
    character(*), intent(in) :: what
    call requires_handle(at, matrix%handle, what)
    if (c_associated(matrix%handle)) call meets_on(at, c_osla_csr_transport(matrix%handle))
  end subroutine requires_csr

  subroutine requires_iteration(at, iteration)
    type(collective_call), intent(inout) :: at
    type(osla_iteration), intent(in) :: iteration
    call requires_handle(at, iteration%handle, 'iteration')
    if (c_associated(iteration%handle)) call meets_on(at, iteration%transport)
  end subroutine requires_iteration

  subroutine requires_device(at, device)
    type(collective_call), intent(inout) :: at
    type(osla_device), intent(in) :: device
    call requires_handle(at, device%handle, 'device')
    if (c_associated(device%handle)) call meets_on(at, device%transport)
  end subroutine requires_device

end module osla_collectives
