! Made by fortran/kinds.py from fortran/osla_triangles.f90.in: do not edit.
! Products with a triangle of a matrix, and matrix-vector products. The contracts are in
! osla_products.h. Operands are matrices or parts of them: osla_part(matrix, i, j, m, n), counted
! from 1. alpha and beta have the same kind, which may be any kind.
module osla_triangles
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_operand, report
  use osla_collectives, only: collective_call, requires, all_ready
  implicit none
  private
  public :: osla_symm, osla_hemm, osla_trmm, osla_gemv, osla_symv, osla_hemv

  interface osla_symm
    procedure symm_s, symm_d, symm_c, symm_z
  end interface
  interface osla_hemm
    procedure hemm_s, hemm_d, hemm_c, hemm_z
  end interface
  interface osla_trmm
    procedure trmm_s, trmm_d, trmm_c, trmm_z
  end interface
  interface osla_gemv
    procedure gemv_s, gemv_d, gemv_c, gemv_z
  end interface
  interface osla_symv
    procedure symv_s, symv_d, symv_c, symv_z
  end interface
  interface osla_hemv
    procedure hemv_s, hemv_d, hemv_c, hemv_z
  end interface

contains

  function address_of(options) result(address)
    type(osla_gemm_options), intent(in), target, optional :: options
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(options)) address = c_loc(options)
  end function address_of

  ! C := alpha A B + beta C (OSLA_LEFT) or alpha B A + beta C, A symmetric
  subroutine symm_z(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b, part_c
    at = collective_call('osla_symm')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'matrix')
    call requires(at, c, part_c, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_symm(side, uplo, alpha, part_a, part_b, beta, part_c, address_of(options)), &
      stat, errmsg)
  end subroutine symm_z

  subroutine symm_c(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    complex(c_float_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call symm_z(side, uplo, cmplx(alpha, kind=c_double), &
      a, b, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine symm_c

  subroutine symm_d(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call symm_z(side, uplo, cmplx(alpha, kind=c_double), &
      a, b, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine symm_d

  subroutine symm_s(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call symm_z(side, uplo, cmplx(alpha, kind=c_double), &
      a, b, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine symm_s

  ! C := alpha A B + beta C (OSLA_LEFT) or alpha B A + beta C, A Hermitian
  subroutine hemm_z(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b, part_c
    at = collective_call('osla_hemm')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'matrix')
    call requires(at, c, part_c, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hemm(side, uplo, alpha, part_a, part_b, beta, part_c, address_of(options)), &
      stat, errmsg)
  end subroutine hemm_z

  subroutine hemm_c(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    complex(c_float_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call hemm_z(side, uplo, cmplx(alpha, kind=c_double), &
      a, b, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine hemm_c

  subroutine hemm_d(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call hemm_z(side, uplo, cmplx(alpha, kind=c_double), &
      a, b, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine hemm_d

  subroutine hemm_s(side, uplo, alpha, a, b, beta, c, options, stat, errmsg)
    integer, intent(in) :: side, uplo
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, b, c
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call hemm_z(side, uplo, cmplx(alpha, kind=c_double), &
      a, b, cmplx(beta, kind=c_double), c, options, stat, errmsg)
  end subroutine hemm_s

  ! B := alpha op(A) B (OSLA_LEFT) or alpha B op(A), A triangular
  subroutine trmm_z(side, uplo, trans, diag, alpha, a, b, options, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    complex(c_double_complex), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    type(osla_gemm_options), intent(in), target, optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b
    at = collective_call('osla_trmm')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_trmm(side, uplo, trans, diag, alpha, part_a, part_b, address_of(options)), &
      stat, errmsg)
  end subroutine trmm_z

  subroutine trmm_c(side, uplo, trans, diag, alpha, a, b, options, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    complex(c_float_complex), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call trmm_z(side, uplo, trans, diag, cmplx(alpha, kind=c_double), &
      a, b, options, stat, errmsg)
  end subroutine trmm_c

  subroutine trmm_d(side, uplo, trans, diag, alpha, a, b, options, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    real(c_double), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call trmm_z(side, uplo, trans, diag, cmplx(alpha, kind=c_double), &
      a, b, options, stat, errmsg)
  end subroutine trmm_d

  subroutine trmm_s(side, uplo, trans, diag, alpha, a, b, options, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    real(c_float), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    type(osla_gemm_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call trmm_z(side, uplo, trans, diag, cmplx(alpha, kind=c_double), &
      a, b, options, stat, errmsg)
  end subroutine trmm_s

  ! y := alpha op(A) x + beta y, where x and y are columns
  subroutine gemv_z(trans, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: trans
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_x, part_y
    at = collective_call('osla_gemv')
    call requires(at, a, part_a, 'matrix')
    call requires(at, x, part_x, 'matrix')
    call requires(at, y, part_y, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_gemv(trans, alpha, part_a, part_x, beta, part_y), &
      stat, errmsg)
  end subroutine gemv_z

  subroutine gemv_c(trans, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: trans
    complex(c_float_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gemv_z(trans, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine gemv_c

  subroutine gemv_d(trans, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: trans
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gemv_z(trans, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine gemv_d

  subroutine gemv_s(trans, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: trans
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gemv_z(trans, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine gemv_s

  ! y := alpha A x + beta y, A symmetric
  subroutine symv_z(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_x, part_y
    at = collective_call('osla_symv')
    call requires(at, a, part_a, 'matrix')
    call requires(at, x, part_x, 'matrix')
    call requires(at, y, part_y, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_symv(uplo, alpha, part_a, part_x, beta, part_y), &
      stat, errmsg)
  end subroutine symv_z

  subroutine symv_c(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    complex(c_float_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call symv_z(uplo, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine symv_c

  subroutine symv_d(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call symv_z(uplo, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine symv_d

  subroutine symv_s(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call symv_z(uplo, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine symv_s

  ! y := alpha A x + beta y, A Hermitian
  subroutine hemv_z(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    complex(c_double_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_x, part_y
    at = collective_call('osla_hemv')
    call requires(at, a, part_a, 'matrix')
    call requires(at, x, part_x, 'matrix')
    call requires(at, y, part_y, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_hemv(uplo, alpha, part_a, part_x, beta, part_y), &
      stat, errmsg)
  end subroutine hemv_z

  subroutine hemv_c(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    complex(c_float_complex), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call hemv_z(uplo, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine hemv_c

  subroutine hemv_d(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    real(c_double), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call hemv_z(uplo, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine hemv_d

  subroutine hemv_s(uplo, alpha, a, x, beta, y, stat, errmsg)
    integer, intent(in) :: uplo
    real(c_float), intent(in) :: alpha, beta
    class(osla_operand), intent(in) :: a, x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call hemv_z(uplo, cmplx(alpha, kind=c_double), &
      a, x, cmplx(beta, kind=c_double), y, stat, errmsg)
  end subroutine hemv_s

end module osla_triangles
