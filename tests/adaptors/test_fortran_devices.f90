! Tests device matrices in the Fortran module osla. A solution must equal that in host memory, and
! wrong calls must return an error. OSLA_TEST_DEVICE names the kind of device; the default is the
! fake device, whose memory ends the program if Fortran accesses it.
program test_fortran_devices
  use, intrinsic :: iso_c_binding, only: c_associated
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use mpi_f08
  use osla
  use fortran_trial
  implicit none
  integer, parameter :: n = 50
  type(osla_grid) :: grid
  type(osla_device) :: device
  character(20) :: kind
  integer :: stat
  character(200) :: text

  call trial_begin
  call get_environment_variable('OSLA_TEST_DEVICE', kind)
  if (kind == '') kind = 'fake'
  call osla_grid_create(transport, grid)
  call wrong_opens
  call osla_device_open(transport, device, kind, ordinal=0)
  call solve
  call wrong_calls
  call osla_device_close(device)
  call expect(.not. c_associated(device%handle), 'a closed device has no handle')
  call host_matrix
  call osla_grid_destroy(grid)
  call trial_end

contains

  ! Solves a system on the device, and compares the solution with that in host memory.
  subroutine solve
    type(osla_matrix) :: a, x, host_a, host_x
    type(osla_device) :: found
    real(real64) :: there(n, 3), here(n, 3)
    integer :: info
    call osla_matrix_create(grid, OSLA_DOUBLE, n, n, 8, 8, host_a)
    call osla_matrix_create(grid, OSLA_DOUBLE, n, 3, 8, 8, host_x)
    call osla_matrix_create_on(device, grid, OSLA_DOUBLE, n, n, 8, 8, a)
    call osla_matrix_create_on(device, grid, OSLA_DOUBLE, int(n, int64), 3_int64, 8_int64, 8_int64, x)
    found = osla_matrix_device(a)
    call expect(c_associated(found%handle, device%handle), 'the device of a matrix')
    call osla_matrix_fill(host_a, OSLA_FILL_SPD, 1)
    call osla_matrix_fill(host_x, OSLA_FILL_UNIFORM, 2)
    call osla_matrix_copy(host_a, a)
    call osla_matrix_copy(host_x, x)
    call osla_potrf(OSLA_LOWER, host_a, info)
    call osla_potrs(OSLA_LOWER, host_a, host_x)
    call osla_potrf(OSLA_LOWER, a, info)
    call expect(info == 0, 'potrf on a device')
    call osla_potrs(OSLA_LOWER, a, x)
    call osla_matrix_get_block(x, 1, 1, there)
    call osla_matrix_get_block(host_x, 1, 1, here)
    call expect(maxval(abs(here)) > 0 .and. all(abs(there - here) <= 1e-12_real64 * maxval(abs(here))), &
      'the solution on a device')
    call osla_barrier(transport)
    call osla_matrix_destroy(a)
    call osla_matrix_destroy(x)
    call osla_matrix_destroy(host_a)
    call osla_matrix_destroy(host_x)
  end subroutine solve

  subroutine wrong_opens
    type(osla_device) :: none
    call osla_device_open(transport, none, 'tpu', stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'tpu') > 0, 'an unknown kind: ' // text)
    call osla_device_open(transport, none, kind, ordinal=99, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'ordinal = 99') > 0, 'device 99: ' // text)
    call osla_device_open(transport, none, kind, ordinal=-1, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'ordinal is below 0') > 0, 'device -1: ' // text)
    call expect(.not. c_associated(none%handle), 'a device that was not opened has no handle')
  end subroutine wrong_opens

  subroutine wrong_calls
    type(osla_device) :: none
    type(osla_matrix) :: a
    real(real64), pointer :: mine(:, :)
    if (rank == 0) then ! rank 0 alone passes a wrong device, and all ranks must get the error
      call osla_matrix_create_on(none, grid, OSLA_DOUBLE, n, n, 8, 8, a, stat, text)
    else
      call osla_matrix_create_on(device, grid, OSLA_DOUBLE, n, n, 8, 8, a, stat, text)
    end if
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'the device was not created') > 0, 'no device: ' // text)
    call osla_matrix_create_on(device, grid, OSLA_DOUBLE, n, n, 8, 8, a)
    call osla_matrix_local(a, mine, stat, text)
    call expect(stat == OSLA_ERR_UNSUPPORTED .and. index(text, 'osla_matrix_copy') > 0, 'a local array: ' // text)
    call expect(size(mine) == 0, 'no local array')
    call osla_matrix_mirror(a, OSLA_LOWER, stat, text)
    call expect(stat == OSLA_ERR_UNSUPPORTED, 'a call that serves no device: ' // text)
    call osla_matrix_destroy(a)
  end subroutine wrong_calls

  subroutine host_matrix
    type(osla_matrix) :: a
    type(osla_device) :: found
    call osla_matrix_create(grid, OSLA_DOUBLE, n, n, 8, 8, a)
    found = osla_matrix_device(a)
    call expect(.not. c_associated(found%handle), 'a matrix in host memory has no device')
    call osla_matrix_destroy(a)
  end subroutine host_matrix
end program test_fortran_devices
