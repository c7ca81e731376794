! CG and LSQR with sparse matrices. The contracts are in osla_krylov.h; what C takes as NULL is optional here, and
! follows. All are collective, and an array of another size is refused on all ranks.
module osla_krylov_solves
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_csr, osla_jacobi, settle, absent, refuse
  implicit none
  private
  public :: osla_jacobi_create, osla_jacobi_destroy, osla_cg, osla_lsqr

contains

  ! block: 1: the diagonal of the matrix; more: blocks of so many rows.
  subroutine osla_jacobi_create(matrix, block, shift, jacobi, stat, errmsg)
    type(osla_csr), intent(in) :: matrix
    integer, intent(in) :: block
    real(c_double), intent(in) :: shift
    type(osla_jacobi), intent(out) :: jacobi
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (absent('osla_jacobi_create', 'matrix', matrix%handle, stat, errmsg)) return
    call settle(c_osla_jacobi_create(matrix%handle, int(block, c_int64_t), shift, jacobi%handle), stat, errmsg)
  end subroutine osla_jacobi_create

  ! Local.
  subroutine osla_jacobi_destroy(jacobi)
    type(osla_jacobi), intent(inout) :: jacobi
    call c_osla_jacobi_destroy(jacobi%handle)
  end subroutine osla_jacobi_destroy

  ! Have all ranks arrays of their sizes? A code, the same on all.
  function agreed(call_name, a, fits) result(err)
    character(*), intent(in) :: call_name
    type(osla_csr), intent(in) :: a
    logical, intent(in) :: fits
    integer(c_int) :: err
    err = OSLA_OK
    if (.not. fits) call refuse(OSLA_ERR_ARG, call_name // ': an array has not the size of this rank''s part', err)
    err = c_osla_agree(c_osla_csr_transport(a%handle), err)
  end function agreed

  ! Solves a x = b, a symmetric and positive definite. x: the first guess, then the solution.
  subroutine osla_cg(a, b, x, m, options, result, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    type(osla_jacobi), intent(in), optional :: m
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(osla_operator), target :: product
    type(osla_preconditioner), target :: inverse
    type(osla_krylov_options), target :: chosen
    type(osla_krylov_result), target :: found
    type(c_ptr) :: use_m
    integer(c_int) :: err
    if (absent('osla_cg', 'matrix', a%handle, stat, errmsg)) return
    use_m = c_null_ptr
    if (present(m)) then
      if (absent('osla_cg', 'preconditioner', m%handle, stat, errmsg)) return
      inverse = c_osla_jacobi_use(m%handle)
      use_m = c_loc(inverse)
    end if
    if (present(options)) chosen = options
    err = agreed('osla_cg', a, all([size(b, kind=c_int64_t), size(x, kind=c_int64_t)] == c_osla_csr_rows(a%handle)))
    if (err == OSLA_OK) then
      product = c_osla_csr_operator(a%handle)
      err = c_osla_cg(c_loc(product), use_m, c_loc(b), c_loc(x), c_loc(chosen), c_loc(found))
    end if
    if (present(result) .and. err == OSLA_OK) result = found
    call settle(err, stat, errmsg)
  end subroutine osla_cg

  ! Minimises |b - a x|^2 + damping^2 |x / scale|^2.
  subroutine osla_lsqr(a, b, x, damping, scale, options, result, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    real(c_double), intent(in), optional :: damping
    real(c_double), intent(in), optional, target, contiguous :: scale(:)
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(osla_operator), target :: product
    type(osla_krylov_options), target :: chosen
    type(osla_krylov_result), target :: found
    type(c_ptr) :: use_scale
    real(c_double) :: damps
    integer(c_int64_t) :: columns
    integer(c_int) :: err
    logical :: fits
    if (absent('osla_lsqr', 'matrix', a%handle, stat, errmsg)) return
    columns = c_osla_csr_columns(a%handle)
    fits = size(b, kind=c_int64_t) == c_osla_csr_rows(a%handle) .and. size(x, kind=c_int64_t) == columns
    use_scale = c_null_ptr
    if (present(scale)) then
      fits = fits .and. size(scale, kind=c_int64_t) == columns
      use_scale = c_loc(scale)
    end if
    damps = 0
    if (present(damping)) damps = damping
    if (present(options)) chosen = options
    err = agreed('osla_lsqr', a, fits)
    if (err == OSLA_OK) then
      product = c_osla_csr_operator(a%handle)
      err = c_osla_lsqr(c_loc(product), c_loc(b), damps, use_scale, c_loc(x), c_loc(chosen), c_loc(found))
    end if
    if (present(result) .and. err == OSLA_OK) result = found
    call settle(err, stat, errmsg)
  end subroutine osla_lsqr

end module osla_krylov_solves
