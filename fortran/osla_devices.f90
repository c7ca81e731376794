! Opens devices and creates matrices in device memory. The contracts of the calls are in
! osla_device.h. Fortran programs use neither segments nor addresses of device memory, so the module
! lacks osla_segment_create_on, osla_segment_device, osla_device_register, osla_device_unregister,
! and osla_device_follow.
module osla_devices
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_grid, osla_matrix, osla_device, report, is_absent, c_text
  use osla_collectives, only: collective_call, requires, check, all_ready
  implicit none
  private
  public :: osla_device_open, osla_device_close, osla_matrix_create_on, osla_matrix_device

  interface osla_matrix_create_on
    procedure create_on_default, create_on_long
  end interface

contains

  ! Opens a device on each rank. Collective.
  !   kind     'cuda' or 'fake'. Without it the environment variable OSLA_DEVICE gives the kind.
  !   ordinal  number of this rank's device, from 0. Without it the rank's index on its node, modulo
  !            the number of devices, selects the device.
  !   stream   a cudaStream_t, which the device borrows. Without it the device creates a stream.
  subroutine osla_device_open(transport, device, kind, ordinal, stream, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    type(osla_device), intent(out) :: device
    character(*), intent(in), optional :: kind
    integer, intent(in), optional :: ordinal
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    character(:), allocatable :: which
    integer(c_int) :: number
    type(c_ptr) :: queue
    which = ''
    if (present(kind)) which = trim(kind)
    number = -1
    if (present(ordinal)) number = ordinal
    queue = c_null_ptr
    if (present(stream)) queue = stream
    at = collective_call('osla_device_open')
    call requires(at, transport)
    if (present(ordinal)) call check(at, number >= 0, 'ordinal is below 0')
    if (.not. all_ready(at, stat, errmsg)) return
    device%transport = transport%handle
    call report(c_osli_fortran_device_open(transport%handle, c_text(which), number, queue, device%handle), &
      stat, errmsg)
  end subroutine osla_device_open

  ! Closes a device. All matrices on the device must have been destroyed. Local.
  subroutine osla_device_close(device)
    type(osla_device), intent(inout) :: device
    call c_osla_device_close(device%handle)
  end subroutine osla_device_close

  subroutine create_on_default(device, grid, dtype, m, n, mb, nb, matrix, stat, errmsg)
    type(osla_device), intent(in) :: device
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: dtype, m, n, mb, nb
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create_on_long(device, grid, dtype, int(m, c_int64_t), int(n, c_int64_t), int(mb, c_int64_t), &
      int(nb, c_int64_t), matrix, stat, errmsg)
  end subroutine create_on_default

  subroutine create_on_long(device, grid, dtype, m, n, mb, nb, matrix, stat, errmsg)
    type(osla_device), intent(in) :: device
    type(osla_grid), intent(in) :: grid
    integer, intent(in) :: dtype
    integer(c_int64_t), intent(in) :: m, n, mb, nb
    type(osla_matrix), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_matrix_create_on')
    call requires(at, device)
    call requires(at, grid)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_create_on(device%handle, grid%handle, dtype, m, n, mb, nb, matrix%handle), stat, errmsg)
  end subroutine create_on_long

  ! Returns the device whose memory holds a matrix. If the matrix is in host memory, the handle of
  ! the result is not associated. Local.
  function osla_matrix_device(matrix) result(device)
    type(osla_matrix), intent(in) :: matrix
    type(osla_device) :: device
    if (is_absent('osla_matrix_device', 'matrix', matrix%handle)) return
    device%handle = c_osla_matrix_device(matrix%handle)
    if (c_associated(device%handle)) device%transport = c_osla_grid_transport(c_osla_matrix_grid(matrix%handle))
  end function osla_matrix_device

end module osla_devices
