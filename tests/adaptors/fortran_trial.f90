! Helpers of the Fortran test programs: a transport of all ranks, the count of failed expectations,
! and the end.
module fortran_trial
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use osla
  implicit none
  private
  public :: trial_begin, trial_end, expect
  type(osla_transport), public :: transport
  integer, public :: rank, ranks
  integer :: failures = 0

contains

  subroutine trial_begin
    integer :: level
    call MPI_Init_thread(MPI_THREAD_SERIALIZED, level)
    call osla_transport_create(MPI_COMM_WORLD, transport)
    rank = osla_transport_rank(transport)
    ranks = osla_transport_size(transport)
  end subroutine trial_begin

  subroutine expect(is, what)
    logical, intent(in) :: is
    character(*), intent(in) :: what
    if (is) return
    failures = failures + 1
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': not so: ', what
  end subroutine expect

  ! Ends a test program. It fails on all ranks if any rank has a failure.
  subroutine trial_end
    integer :: all_failures
    call osla_transport_destroy(transport)
    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0 .and. all_failures == 0) print '(a)', 'ok'
    call MPI_Finalize()
    if (all_failures > 0) stop 1
  end subroutine trial_end
end module fortran_trial
