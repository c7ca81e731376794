! The program doc/example.c in Fortran: assembles H = sum of G^T G + I and a gradient g from
! synthetic data on any number of ranks, and solves H x = g.
program example
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use mpi_f08
  use osla
  implicit none

  integer, parameter :: n = 1000, count = 20, data = 5 ! all unknowns; unknowns, data of an update
  type(osla_transport) :: transport
  type(osla_grid) :: grid
  type(osla_hessian) :: hessian
  type(osla_matrix) :: H, x
  type(osla_layout) :: layout
  integer :: level, rank, ranks, i, info, ix(count)
  real(real64) :: G(data, count), gradient(count), largest

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  call osla_transport_create(MPI_COMM_WORLD, transport)
  call osla_grid_create(transport, grid) ! collective
  call osla_hessian_create(grid, n, hessian)
  do i = 1 + rank, n, ranks ! the updates of this rank
    call make_up(i, ix, G, gradient)
    call osla_hessian_update(hessian, ix, G)                              ! H(ix, ix) += G^T G
    call osla_hessian_update_gradient(hessian, ix, gradient)              ! g(ix) += gradient
    call osla_hessian_update(hessian, [i], reshape([1.0_real64], [1, 1])) ! H(i, i) += 1
  end do
  call osla_hessian_commit(hessian) ! H is complete

  call osla_hessian_matrix(hessian, H) ! the accumulator's memory, not a copy
  layout = osla_matrix_layout(H)
  call osla_matrix_create(grid, OSLA_DOUBLE, int(n, int64), 1_int64, layout%nb, 1_int64, x)
  call osla_matrix_fill_with(x, element)
  call osla_potrf(OSLA_LOWER, H, info) ! H := L L^T; info > 0: not positive definite
  call osla_potrs(OSLA_LOWER, H, x)    ! x := H^-1 g

  call osla_matrix_norm(x, OSLA_NORM_MAX, largest)
  if (rank == 0) print '(a, i0, a, f0.9)', 'info ', info, ', largest |x| 0', largest
  call osla_matrix_destroy(x)
  call osla_hessian_destroy(hessian)
  call osla_grid_destroy(grid)
  call osla_transport_destroy(transport)
  call MPI_Finalize()
  if (info /= 0) stop 1

contains

  ! Update i: the indices of its unknowns, G (data x count), and its gradient.
  subroutine make_up(i, ix, G, gradient)
    integer, intent(in) :: i
    integer, intent(out) :: ix(:)
    real(real64), intent(out) :: G(:, :), gradient(:)
    integer :: a, e
    do a = 1, count
      ix(a) = 1 + mod(i - 1 + (a - 1)**2, n)
      do e = 1, data
        G(e, a) = osla_random_uniform(1, i - 1, (a - 1) * data + e - 1)
      end do
    end do
    gradient = G(1, :)
  end subroutine make_up

  ! Element (i, j) of a matrix whose only column is the summed gradient.
  function element(i, j) result(value)
    integer(int64), intent(in) :: i, j
    real(real64) :: value
    real(real64), pointer :: summed(:)
    summed => osla_hessian_gradient(hessian)
    value = merge(summed(i), 0.0_real64, j == 1)
  end function element

end program example
