! CG and LSQR for sparse matrices, or for operators of the caller. The contracts are in
! osla_krylov.h. Arguments that may be NULL in C are optional and come last. All calls are
! collective; an array of wrong size or a missing function is refused on all ranks.
!
! type(osla_operator) and type(osla_preconditioner) are C's structs: multiply and apply are c_funloc
! of functions with bind(c) and the interfaces of osla_krylov.h; they receive arg unchanged.
module osla_krylov_solves
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_csr, osla_jacobi, osla_sweeps, report
  use osla_collectives, only: collective_call, requires, check, all_ready
  implicit none
  private
  public :: osla_jacobi_create, osla_jacobi_destroy, osla_jacobi_use, osla_sweeps_use, osla_csr_operator, osla_cg, osla_lsqr

  ! block: 1 for the diagonal of the matrix; else the number of rows of a diagonal block.
  interface osla_jacobi_create
    procedure jacobi_default, jacobi_long
  end interface

  ! Solves a x = b, a symmetric and positive definite. x: the initial guess, then the solution. m: a
  ! result of osla_jacobi_create or osla_sweeps_create, or a type(osla_preconditioner).
  interface osla_cg
    procedure cg_matrix, cg_matrix_swept, cg_matrix_own, cg_operator
  end interface

  ! Minimises |b - a x|^2 + damping^2 |x / scale|^2.
  interface osla_lsqr
    procedure lsqr_matrix, lsqr_operator
  end interface

contains

  subroutine jacobi_default(matrix, block, shift, jacobi, stat, errmsg)
    type(osla_csr), intent(in) :: matrix
    integer, intent(in) :: block
    real(c_double), intent(in) :: shift
    type(osla_jacobi), intent(out) :: jacobi
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call jacobi_long(matrix, int(block, c_int64_t), shift, jacobi, stat, errmsg)
  end subroutine jacobi_default

  subroutine jacobi_long(matrix, block, shift, jacobi, stat, errmsg)
    type(osla_csr), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: block
    real(c_double), intent(in) :: shift
    type(osla_jacobi), intent(out) :: jacobi
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_jacobi_create')
    call requires(at, matrix, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_jacobi_create(matrix%handle, block, shift, jacobi%handle), stat, errmsg)
  end subroutine jacobi_long

  ! Local.
  subroutine osla_jacobi_destroy(jacobi)
    type(osla_jacobi), intent(inout) :: jacobi
    call c_osla_jacobi_destroy(jacobi%handle)
  end subroutine osla_jacobi_destroy

  ! --- conversions to C's structs, which have no functions if the object does not exist ---

  function osla_jacobi_use(jacobi) result(m)
    type(osla_jacobi), intent(in) :: jacobi
    type(osla_preconditioner) :: m
    if (c_associated(jacobi%handle)) m = c_osla_jacobi_use(jacobi%handle)
  end function osla_jacobi_use

  function osla_sweeps_use(sweeps) result(m)
    type(osla_sweeps), intent(in) :: sweeps
    type(osla_preconditioner) :: m
    if (c_associated(sweeps%handle)) m = c_osla_sweeps_use(sweeps%handle)
  end function osla_sweeps_use

  function osla_csr_operator(matrix) result(a)
    type(osla_csr), intent(in) :: matrix
    type(osla_operator) :: a
    if (c_associated(matrix%handle)) a = c_osla_csr_operator(matrix%handle)
  end function osla_csr_operator

  ! --- solvers ---

  ! Begins a solver call with an operator. The operator of a matrix that does not exist has neither
  ! transport nor product.
  function called(call_name, a, applies, sizes) result(at)
    character(*), intent(in) :: call_name
    type(osla_operator), intent(in) :: a
    logical, intent(in) :: applies, sizes ! the preconditioner has a function; array sizes are right
    type(collective_call) :: at
    at = collective_call(call_name, a%transport)
    call check(at, c_associated(a%transport), &
      'the matrix, or the transport of the operator, was not created, or is destroyed', OSLA_ERR_STATE)
    call check(at, c_associated(a%multiply), 'the product of the operator was not set', OSLA_ERR_STATE)
    call check(at, applies, 'the preconditioner was not created or set, or is destroyed', OSLA_ERR_STATE)
    call check(at, sizes, 'an array does not have the size of this rank''s part')
  end function called

  subroutine cg_operator(a, b, x, m, options, result, stat, errmsg)
    type(osla_operator), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    type(osla_preconditioner), intent(in), optional :: m
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(osla_operator), target :: product
    type(osla_preconditioner), target :: inverse
    type(osla_krylov_options), target :: chosen
    type(osla_krylov_result), target :: found
    type(c_ptr) :: use_m
    type(collective_call) :: at
    integer(c_int) :: err
    logical :: applies
    use_m = c_null_ptr
    applies = .true.
    if (present(m)) then
      inverse = m
      use_m = c_loc(inverse)
      applies = c_associated(m%apply)
    end if
    if (present(options)) chosen = options
    product = a
    at = called('osla_cg', a, applies, all([size(b, kind=c_int64_t), size(x, kind=c_int64_t)] == a%rows))
    if (.not. all_ready(at, stat, errmsg)) return
    err = c_osla_cg(c_loc(product), use_m, c_loc(b), c_loc(x), c_loc(chosen), c_loc(found))
    if (present(result) .and. err == OSLA_OK) result = found
    call report(err, stat, errmsg)
  end subroutine cg_operator

  subroutine cg_matrix(a, b, x, m, options, result, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    type(osla_jacobi), intent(in), optional :: m
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(m)) then
      call cg_operator(osla_csr_operator(a), b, x, osla_jacobi_use(m), options, result, stat, errmsg)
    else
      call cg_operator(osla_csr_operator(a), b, x, options=options, result=result, stat=stat, errmsg=errmsg)
    end if
  end subroutine cg_matrix

  subroutine cg_matrix_swept(a, b, x, m, options, result, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    type(osla_sweeps), intent(in) :: m
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call cg_matrix_own(a, b, x, osla_sweeps_use(m), options, result, stat, errmsg)
  end subroutine cg_matrix_swept

  subroutine cg_matrix_own(a, b, x, m, options, result, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    type(osla_preconditioner), intent(in) :: m
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call cg_operator(osla_csr_operator(a), b, x, m, options, result, stat, errmsg)
  end subroutine cg_matrix_own

  subroutine lsqr_operator(a, b, x, damping, scale, options, result, stat, errmsg)
    type(osla_operator), intent(in) :: a
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
    type(collective_call) :: at
    integer(c_int) :: err
    logical :: is_valid
    is_valid = size(b, kind=c_int64_t) == a%rows .and. size(x, kind=c_int64_t) == a%columns
    use_scale = c_null_ptr
    if (present(scale)) then
      is_valid = is_valid .and. size(scale, kind=c_int64_t) == a%columns
      use_scale = c_loc(scale)
    end if
    damps = 0
    if (present(damping)) damps = damping
    if (present(options)) chosen = options
    product = a
    at = called('osla_lsqr', a, .true., is_valid)
    if (.not. all_ready(at, stat, errmsg)) return
    err = c_osla_lsqr(c_loc(product), c_loc(b), damps, use_scale, c_loc(x), c_loc(chosen), c_loc(found))
    if (present(result) .and. err == OSLA_OK) result = found
    call report(err, stat, errmsg)
  end subroutine lsqr_operator

  subroutine lsqr_matrix(a, b, x, damping, scale, options, result, stat, errmsg)
    type(osla_csr), intent(in) :: a
    real(c_double), intent(in), target, contiguous :: b(:)
    real(c_double), intent(inout), target, contiguous :: x(:)
    real(c_double), intent(in), optional :: damping
    real(c_double), intent(in), optional, target, contiguous :: scale(:)
    type(osla_krylov_options), intent(in), optional :: options
    type(osla_krylov_result), intent(out), optional :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(scale)) then
      call lsqr_operator(osla_csr_operator(a), b, x, damping, scale, options, result, stat, errmsg)
    else ! not passed on, because gfortran 12 reads an absent array
      call lsqr_operator(osla_csr_operator(a), b, x, damping, options=options, result=result, stat=stat, errmsg=errmsg)
    end if
  end subroutine lsqr_matrix

end module osla_krylov_solves
