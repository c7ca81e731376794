! Made by fortran/kinds.py from fortran/osla_solves.f90.in: do not edit.
! Solves, refinement, condition numbers. The contracts are in osla_solve.h. osla_trsm, osla_potrs
! and osla_getrs accept matrices or parts of them: osla_part(matrix, i, j, m, n), counted from 1.
module osla_solves
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_operand, osla_matrix, report, dtype_name
  use osla_collectives, only: collective_call, requires, requires_pivots, check, is_valid, all_ready
  implicit none
  private
  public :: osla_trsm, osla_potrs, osla_getrs, osla_potrs_replicated, osla_getrs_replicated
  public :: osla_residual, osla_refine, osla_gesv_mixed, osla_posv_mixed, osla_gecon, osla_pocon

  interface osla_trsm
    procedure trsm_s, trsm_d, trsm_c, trsm_z
  end interface

  ! Solves for right-hand sides x(n, nrhs) that every rank has. Their kind is that of A.
  interface osla_potrs_replicated
    procedure potrs_s, potrs_d, potrs_c, potrs_z
  end interface
  interface osla_getrs_replicated
    procedure getrs_s, getrs_d, getrs_c, getrs_z
  end interface

contains

  ! B := alpha op(T)^-1 B, or alpha B op(T)^-1
  subroutine trsm_z(side, uplo, trans, diag, alpha, a, b, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    complex(c_double_complex), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b
    at = collective_call('osla_trsm')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'right-hand side')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_trsm_part(side, uplo, trans, diag, alpha, part_a, part_b), stat, errmsg)
  end subroutine trsm_z

  subroutine trsm_c(side, uplo, trans, diag, alpha, a, b, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    complex(c_float_complex), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call trsm_z(side, uplo, trans, diag, cmplx(alpha, kind=c_double), a, b, stat, errmsg)
  end subroutine trsm_c

  subroutine trsm_d(side, uplo, trans, diag, alpha, a, b, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    real(c_double), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call trsm_z(side, uplo, trans, diag, cmplx(alpha, kind=c_double), a, b, stat, errmsg)
  end subroutine trsm_d

  subroutine trsm_s(side, uplo, trans, diag, alpha, a, b, stat, errmsg)
    integer, intent(in) :: side, uplo, trans, diag
    real(c_float), intent(in) :: alpha
    class(osla_operand), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call trsm_z(side, uplo, trans, diag, cmplx(alpha, kind=c_double), a, b, stat, errmsg)
  end subroutine trsm_s

  ! --- solves with factors ---

  subroutine osla_potrs(uplo, a, b, stat, errmsg)
    integer, intent(in) :: uplo
    class(osla_operand), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b
    at = collective_call('osla_potrs')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'right-hand side')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potrs_part(uplo, part_a, part_b), stat, errmsg)
  end subroutine osla_potrs

  subroutine osla_getrs(trans, a, ipiv, b, stat, errmsg)
    integer, intent(in) :: trans
    class(osla_operand), intent(in) :: a, b
    integer(c_int64_t), intent(in), target, contiguous :: ipiv(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_part) :: part_a, part_b
    at = collective_call('osla_getrs')
    call requires(at, a, part_a, 'matrix')
    call requires(at, b, part_b, 'right-hand side')
    call requires_pivots(at, part_a%matrix, ipiv)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_getrs_part(trans, part_a, c_loc(ipiv), part_b), stat, errmsg)
  end subroutine osla_getrs

  ! Begins a call. Checks the matrix a, and right-hand sides of type dtype with `rows` rows.
  function replicated(call_name, a, dtype, rows) result(at)
    character(*), intent(in) :: call_name
    type(osla_matrix), intent(in) :: a
    integer(c_int), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows
    type(collective_call) :: at
    type(osla_layout) :: l
    character(120) :: text
    at = collective_call(call_name)
    call requires(at, a, 'matrix')
    if (.not. is_valid(at)) return
    l = c_osla_matrix_layout(a%handle)
    if (rows /= l%n) then
      write (text, '(2(a, i0))') 'x has ', rows, ' rows, the matrix is of order ', l%n
      call check(at, .false., trim(text))
    else if (dtype /= c_osla_matrix_dtype(a%handle)) then
      call check(at, .false., 'x is of ' // dtype_name(dtype) // ', the matrix of ' // &
        dtype_name(c_osla_matrix_dtype(a%handle)))
    end if
  end function replicated

  subroutine potrs_s(uplo, a, x, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a
    real(c_float), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_potrs_replicated', a, OSLA_FLOAT, n)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potrs_replicated(uplo, a%handle, nrhs, c_loc(x), max(1_c_int64_t, n)), stat, errmsg)
  end subroutine potrs_s

  subroutine potrs_d(uplo, a, x, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a
    real(c_double), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_potrs_replicated', a, OSLA_DOUBLE, n)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potrs_replicated(uplo, a%handle, nrhs, c_loc(x), max(1_c_int64_t, n)), stat, errmsg)
  end subroutine potrs_d

  subroutine potrs_c(uplo, a, x, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a
    complex(c_float_complex), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_potrs_replicated', a, OSLA_COMPLEX_FLOAT, n)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potrs_replicated(uplo, a%handle, nrhs, c_loc(x), max(1_c_int64_t, n)), stat, errmsg)
  end subroutine potrs_c

  subroutine potrs_z(uplo, a, x, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a
    complex(c_double_complex), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_potrs_replicated', a, OSLA_COMPLEX_DOUBLE, n)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_potrs_replicated(uplo, a%handle, nrhs, c_loc(x), max(1_c_int64_t, n)), stat, errmsg)
  end subroutine potrs_z

  subroutine getrs_s(trans, a, ipiv, x, stat, errmsg)
    integer, intent(in) :: trans
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t), intent(in), target, contiguous :: ipiv(:)
    real(c_float), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_getrs_replicated', a, OSLA_FLOAT, n)
    call requires_pivots(at, a%handle, ipiv)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_getrs_replicated(trans, a%handle, c_loc(ipiv), nrhs, c_loc(x), &
      max(1_c_int64_t, n)), stat, errmsg)
  end subroutine getrs_s

  subroutine getrs_d(trans, a, ipiv, x, stat, errmsg)
    integer, intent(in) :: trans
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t), intent(in), target, contiguous :: ipiv(:)
    real(c_double), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_getrs_replicated', a, OSLA_DOUBLE, n)
    call requires_pivots(at, a%handle, ipiv)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_getrs_replicated(trans, a%handle, c_loc(ipiv), nrhs, c_loc(x), &
      max(1_c_int64_t, n)), stat, errmsg)
  end subroutine getrs_d

  subroutine getrs_c(trans, a, ipiv, x, stat, errmsg)
    integer, intent(in) :: trans
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t), intent(in), target, contiguous :: ipiv(:)
    complex(c_float_complex), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_getrs_replicated', a, OSLA_COMPLEX_FLOAT, n)
    call requires_pivots(at, a%handle, ipiv)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_getrs_replicated(trans, a%handle, c_loc(ipiv), nrhs, c_loc(x), &
      max(1_c_int64_t, n)), stat, errmsg)
  end subroutine getrs_c

  subroutine getrs_z(trans, a, ipiv, x, stat, errmsg)
    integer, intent(in) :: trans
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t), intent(in), target, contiguous :: ipiv(:)
    complex(c_double_complex), intent(inout), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t) :: n, nrhs
    n = size(x, 1)
    nrhs = size(x, 2)
    at = replicated('osla_getrs_replicated', a, OSLA_COMPLEX_DOUBLE, n)
    call requires_pivots(at, a%handle, ipiv)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_getrs_replicated(trans, a%handle, c_loc(ipiv), nrhs, c_loc(x), &
      max(1_c_int64_t, n)), stat, errmsg)
  end subroutine getrs_z

  ! --- refinement, mixed precision, condition numbers ---

  subroutine osla_residual(a, x, b, value, stat, errmsg)
    type(osla_matrix), intent(in) :: a, x, b
    real(c_double), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_residual')
    call requires(at, a, 'matrix')
    call requires(at, b, 'right-hand side')
    call requires(at, x, 'solution')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_residual(a%handle, x%handle, b%handle, value), stat, errmsg)
  end subroutine osla_residual

  ! Refines a solution. If ipiv is present, `factored` holds the factors of LU; otherwise its
  ! triangle uplo holds the factor of Cholesky.
  subroutine osla_refine(a, factored, b, x, uplo, ipiv, options, result, stat, errmsg)
    type(osla_matrix), intent(in) :: a, factored, b, x
    integer, intent(in), optional :: uplo
    integer(c_int64_t), intent(in), target, contiguous, optional :: ipiv(:)
    type(osla_refine_options), intent(in), target, optional :: options
    type(osla_refine_result), intent(out), target, optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_factors), target :: factors
    type(c_ptr) :: how, filled
    at = collective_call('osla_refine')
    call requires(at, a, 'matrix')
    call requires(at, b, 'right-hand side')
    call requires(at, factored, 'factored matrix')
    call requires(at, x, 'solution')
    call check(at, present(uplo) .neqv. present(ipiv), &
      'either uplo (of Cholesky) or ipiv (of LU) says what the factors are')
    factors = osla_factors(factored%handle, logical(present(uplo), c_bool), OSLA_LOWER, c_null_ptr)
    if (present(uplo)) factors%uplo = uplo
    if (present(ipiv)) then
      call requires_pivots(at, factored%handle, ipiv)
      factors%ipiv = c_loc(ipiv)
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    how = c_null_ptr
    if (present(options)) how = c_loc(options)
    filled = c_null_ptr
    if (present(result)) filled = c_loc(result)
    call report(c_osla_refine(a%handle, c_loc(factors), b%handle, x%handle, how, filled), stat, errmsg)
  end subroutine osla_refine

  subroutine osla_gesv_mixed(a, b, x, options, result, stat, errmsg)
    type(osla_matrix), intent(in) :: a, b, x
    type(osla_refine_options), intent(in), target, optional :: options
    type(osla_mixed_result), intent(out), target, optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr) :: how, filled
    at = collective_call('osla_gesv_mixed')
    call requires(at, a, 'matrix')
    call requires(at, b, 'right-hand side')
    call requires(at, x, 'solution')
    how = c_null_ptr
    if (present(options)) how = c_loc(options)
    filled = c_null_ptr
    if (present(result)) filled = c_loc(result)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_gesv_mixed(a%handle, b%handle, x%handle, how, filled), stat, errmsg)
  end subroutine osla_gesv_mixed

  subroutine osla_posv_mixed(uplo, a, b, x, options, result, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a, b, x
    type(osla_refine_options), intent(in), target, optional :: options
    type(osla_mixed_result), intent(out), target, optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr) :: how, filled
    at = collective_call('osla_posv_mixed')
    call requires(at, a, 'matrix')
    call requires(at, b, 'right-hand side')
    call requires(at, x, 'solution')
    how = c_null_ptr
    if (present(options)) how = c_loc(options)
    filled = c_null_ptr
    if (present(result)) filled = c_loc(result)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_posv_mixed(uplo, a%handle, b%handle, x%handle, how, filled), stat, errmsg)
  end subroutine osla_posv_mixed

  subroutine osla_gecon(a, ipiv, anorm, rcond, stat, errmsg)
    type(osla_matrix), intent(in) :: a
    integer(c_int64_t), intent(in), target, contiguous :: ipiv(:)
    real(c_double), intent(in) :: anorm
    real(c_double), intent(inout) :: rcond
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_gecon')
    call requires(at, a, 'matrix')
    call requires_pivots(at, a%handle, ipiv)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_gecon(a%handle, c_loc(ipiv), anorm, rcond), stat, errmsg)
  end subroutine osla_gecon

  subroutine osla_pocon(uplo, a, anorm, rcond, stat, errmsg)
    integer, intent(in) :: uplo
    type(osla_matrix), intent(in) :: a
    real(c_double), intent(in) :: anorm
    real(c_double), intent(inout) :: rcond
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_pocon')
    call requires(at, a, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_pocon(uplo, a%handle, anorm, rcond), stat, errmsg)
  end subroutine osla_pocon

end module osla_solves
