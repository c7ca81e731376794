! Made by fortran/kinds.py from fortran/osla_products.f90.in: do not edit.
! Products and factorisations. The contracts are in osla_gemm.h, osla_lu.h, osla_chol.h,
! osla_inverse.h. Operands of products, LU and Cholesky are matrices or parts of them:
! osla_part(matrix, i, j, m, n), counted from 1.
module osla_products
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_operand, osla_matrix, report
  use osla_collectives, only: collective_call, requires, requires_pivots, is_valid, all_ready
  implicit none
  private
  public :: osla_gemm, osla_syrk, osla_herk, osla_gemm_predict, osla_getrf, osla_getri, osla_potrf, osla_potri, &
    osla_chol_logdet

  interface osla_gemm
    procedure gemm_s, gemm_d, gemm_c, gemm_z
  end interface
  interface osla_syrk
    procedure syrk_s, syrk_d, syrk_z
  end interface
  interface osla_potrf
    procedure potrf_default, potrf_long
  end interface
  interface osla_potri
    procedure potri_default, potri_long
  end interface
  interface osla_getri
    procedure getri_default, getri_long
  end interface

contains

  ! C := alpha op(A) op(B) + beta C; alpha and beta have the same kind, which
  ! may be any kind.
  subroutine gemm_z(transa, transb, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: transa, transb
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b, part_c
    at = collective_call('osla_gemm')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'matrix')
    call requires(at, c, part_c, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_gemm(transa, transb, alpha, part_a, part_b, beta, part_c, of_gemm(options)), &
      stat, errmsg)
  end subroutine gemm_z

  subroutine gemm_c(transa, transb, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: transa, transb
    complex(c_float_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gemm_z(transa, transb, cmplx(alpha, kind=c_double), a, b, cmplx(beta, kind=c_double), c, &
      options, stat, errmsg)
  end subroutine gemm_c

  subroutine gemm_d(transa, transb, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: transa, transb
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gemm_z(transa, transb, cmplx(alpha, kind=c_double), a, b, cmplx(beta, kind=c_double), c, &
      options, stat, errmsg)
  end subroutine gemm_d

  subroutine gemm_s(transa, transb, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: transa, transb
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gemm_z(transa, transb, cmplx(alpha, kind=c_double), a, b, cmplx(beta, kind=c_double), c, &
      options, stat, errmsg)
  end subroutine gemm_s

  function of_gemm(options) result(address)
    type(osla_gemm_options), intent(in), target, optional :: options
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(options)) address = c_loc(options)
  end function of_gemm

  ! Triangle uplo of C := alpha A A^T + beta C, or alpha A^T A + beta C
  subroutine syrk_z(uplo, trans, alpha, a, beta, c, options, stat, errmsg)
    integer, intent(in) :: uplo, trans
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, c
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_c
    at = collective_call('osla_syrk')
    call requires(at, a, part_a, 'matrix')
    call requires(at, c, part_c, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_syrk(uplo, trans, alpha, part_a, beta, part_c, of_gemm(options)), stat, errmsg)
  end subroutine syrk_z

  subroutine syrk_d(uplo, trans, alpha, a, beta, c, options, stat, errmsg)
    integer, intent(in) :: uplo, trans
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call syrk_z(uplo, trans, cmplx(alpha, kind=c_double), a, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine syrk_d

  subroutine syrk_s(uplo, trans, alpha, a, beta, c, options, stat, errmsg)
    integer, intent(in) :: uplo, trans
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call syrk_z(uplo, trans, cmplx(alpha, kind=c_double), a, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine syrk_s

  ! Triangle uplo of C := alpha A A^H + beta C, or alpha A^H A + beta C
  subroutine osla_herk(uplo, trans, alpha, a, beta, c, options, stat, errmsg)
    integer, intent(in) :: uplo, trans
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, c
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_c
    at = collective_call('osla_herk')
    call requires(at, a, part_a, 'matrix')
    call requires(at, c, part_c, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_herk(uplo, trans, alpha, part_a, beta, part_c, of_gemm(options)), stat, errmsg)
  end subroutine osla_herk

  subroutine osla_gemm_predict(transa, transb, a, b, c, plan, options, stat, errmsg)
    integer, intent(in) :: transa, transb
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_plan), intent(out), target :: plan
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b, part_c
    at = collective_call('osla_gemm_predict')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'matrix')
    call requires(at, c, part_c, 'matrix')
    call report(at%err, stat, errmsg) ! reports without agreement, because this call is local
    if (.not. is_valid(at)) return
    call report(c_osla_gemm_predict(transa, transb, part_a, part_b, part_c, of_gemm(options), c_loc(plan)), &
      stat, errmsg)
  end subroutine osla_gemm_predict

  ! --- factorisations ---

  ! ipiv: array with an element for each local row, as in ScaLAPACK; absent with OSLA_PIVOT_NONE
  subroutine osla_getrf(a, ipiv, result, options, stat, errmsg)
    class(osla_operand), intent(in) :: a
    integer(c_int64_t), intent(inout), target, contiguous, optional :: ipiv(:)
    type(osla_lu_result), intent(out), target :: result
    type(osla_lu_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr) :: pivots, how
    type(c_part) :: part
    at = collective_call('osla_getrf')
    call requires(at, a, part, 'matrix')
    pivots = c_null_ptr
    if (present(ipiv)) then
      call requires_pivots(at, part%matrix, ipiv)
      pivots = c_loc(ipiv)
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    how = c_null_ptr
    if (present(options)) how = c_loc(options)
    call report(c_osla_getrf_part(part, pivots, how, c_loc(result)), stat, errmsg)
  end subroutine osla_getrf

  ! ipiv: row interchanges from osla_getrf; absent if the factorisation made none
  subroutine getri_long(a, info, ipiv, options, stat, errmsg)
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t), intent(inout) :: info
    integer(c_int64_t), intent(in), target, contiguous, optional :: ipiv(:)
    type(osla_lu_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr) :: pivots, how
    at = collective_call('osla_getri')
    call requires(at, a, 'matrix')
    pivots = c_null_ptr
    if (present(ipiv)) then
      call requires_pivots(at, a%handle, ipiv)
      pivots = c_loc(ipiv)
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    how = c_null_ptr
    if (present(options)) how = c_loc(options)
    call report(c_osla_getri(a%handle, pivots, how, info), stat, errmsg)
  end subroutine getri_long

  subroutine getri_default(a, info, ipiv, options, stat, errmsg)
    type(osla_matrix), intent(in) :: a
    integer, intent(inout) :: info
    integer(c_int64_t), intent(in), contiguous, optional :: ipiv(:)
    type(osla_lu_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: long
    long = info
    call getri_long(a, long, ipiv, options, stat, errmsg)
    info = int(min(long, int(huge(info), c_int64_t)))
  end subroutine getri_default

  subroutine potrf_long(uplo, a, info, options, stat, errmsg)
    class(osla_operand), intent(in) :: a
    integer, intent(in) :: uplo
    integer(c_int64_t), intent(inout) :: info
    type(osla_chol_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part
    at = collective_call('osla_potrf')
    call requires(at, a, part, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potrf_part(uplo, part, of_chol(options), info), stat, errmsg)
  end subroutine potrf_long

  subroutine potrf_default(uplo, a, info, options, stat, errmsg)
    class(osla_operand), intent(in) :: a
    integer, intent(in) :: uplo
    integer, intent(inout) :: info
    type(osla_chol_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: long
    long = info
    call potrf_long(uplo, a, long, options, stat, errmsg)
    info = int(min(long, int(huge(info), c_int64_t)))
  end subroutine potrf_default

  subroutine potri_long(uplo, a, info, options, stat, errmsg)
    type(osla_matrix), intent(in) :: a
    integer, intent(in) :: uplo
    integer(c_int64_t), intent(inout) :: info
    type(osla_chol_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_potri')
    call requires(at, a, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potri(uplo, a%handle, of_chol(options), info), stat, errmsg)
  end subroutine potri_long

  subroutine potri_default(uplo, a, info, options, stat, errmsg)
    type(osla_matrix), intent(in) :: a
    integer, intent(in) :: uplo
    integer, intent(inout) :: info
    type(osla_chol_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: long
    long = info
    call potri_long(uplo, a, long, options, stat, errmsg)
    info = int(min(long, int(huge(info), c_int64_t)))
  end subroutine potri_default

  subroutine osla_chol_logdet(uplo, factor, value, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: factor
    real(c_double), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_chol_logdet')
    call requires(at, factor, 'factor')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_chol_logdet(uplo, factor%handle, value), stat, errmsg)
  end subroutine osla_chol_logdet

  function of_chol(options) result(address)
    type(osla_chol_options), intent(in), target, optional :: options
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(options)) address = c_loc(options)
  end function of_chol

end module osla_products
