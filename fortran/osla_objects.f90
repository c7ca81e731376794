! The object types of module osla, and error handling.
module osla_objects
  use, intrinsic :: iso_c_binding
  use osla_values, c_part => osla_part
  use osla_c, only: c_osla_error_text, c_osla_err_name, c_osla_version, c_osla_version_text, &
    c_osla_random_uniform, c_osla_random_normal, c_osli_fortran_refuse, c_osli_fortran_end
  implicit none
  private
  public :: osla_transport, osla_grid, osla_operand, osla_matrix, osla_part, osla_hessian, osla_file
  public :: osla_forest, osla_csr, osla_jacobi, osla_sweeps, osla_splitting, osla_diffusion, osla_iteration
  public :: osla_device
  public :: osla_error_text, osla_err_name, osla_version, osla_version_text
  public :: osla_random_uniform, osla_random_normal
  public :: report, refuse, is_absent, c_text, fortran_text, dtype_name

  ! handle: C's pointer, for C calls on the same object. Assignment copies the handle, not the
  ! object.
  type :: osla_transport
    type(c_ptr) :: handle = c_null_ptr
  end type osla_transport

  type :: osla_grid
    type(c_ptr) :: handle = c_null_ptr
  end type osla_grid

  type :: osla_device
    type(c_ptr) :: handle = c_null_ptr, transport = c_null_ptr
  end type osla_device

  ! Operand of a kernel: a matrix, or a part of one.
  type, abstract :: osla_operand
  end type osla_operand

  type, extends(osla_operand) :: osla_matrix
    type(c_ptr) :: handle = c_null_ptr
    logical :: borrowed = .false. ! true if osla_hessian_matrix returned the handle, which must not destroy the matrix
  end type osla_matrix

  ! Part of a matrix: the m x n elements that begin at element (i, j), counted from 1.
  type, extends(osla_operand) :: osla_part
    type(osla_matrix) :: matrix
    integer(c_int64_t) :: i = 1, j = 1, m = 0, n = 0
  end type osla_part

  type :: osla_hessian
    type(c_ptr) :: handle = c_null_ptr, transport = c_null_ptr
    integer(c_int64_t) :: n = 0
    integer(c_int) :: update_dtype = OSLA_DOUBLE ! element type of G and U
  end type osla_hessian

  type :: osla_file
    type(c_ptr) :: handle = c_null_ptr, transport = c_null_ptr
  end type osla_file

  type :: osla_forest
    type(c_ptr) :: handle = c_null_ptr
  end type osla_forest

  type :: osla_csr
    type(c_ptr) :: handle = c_null_ptr
  end type osla_csr

  type :: osla_jacobi
    type(c_ptr) :: handle = c_null_ptr
  end type osla_jacobi

  type :: osla_sweeps
    type(c_ptr) :: handle = c_null_ptr
  end type osla_sweeps

  type :: osla_splitting
    type(c_ptr) :: handle = c_null_ptr
  end type osla_splitting

  type :: osla_diffusion
    type(c_ptr) :: handle = c_null_ptr
  end type osla_diffusion

  type :: osla_iteration
    type(c_ptr) :: handle = c_null_ptr, transport = c_null_ptr
    integer(c_int64_t) :: length = 0 ! length of this rank's state
  end type osla_iteration

  ! Random numbers from a seed and two indices, the same on every rank (osla_random.h).
  interface osla_random_uniform
    procedure uniform_default, uniform_long
  end interface
  interface osla_random_normal
    procedure normal_default, normal_long
  end interface

  interface osla_part
    procedure part_default, part_long
  end interface

  interface
    pure function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  ! Ends a call: returns the error in stat if it is present, else an error ends the job.
  subroutine report(err, stat, errmsg)
    integer(c_int), intent(in) :: err
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = err
    if (err == OSLA_OK) return
    if (present(errmsg)) errmsg = osla_error_text()
    if (.not. present(stat)) call c_osli_fortran_end(err)
  end subroutine report

  ! Ends a local call with an error that this module has found.
  subroutine refuse(err, text, stat, errmsg)
    integer(c_int), intent(in) :: err
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_osli_fortran_refuse(err, c_text(text)), stat, errmsg)
  end subroutine refuse

  ! True if an object does not exist; then the local call is refused.
  function is_absent(call_name, what, handle, stat, errmsg) result(is)
    character(*), intent(in) :: call_name, what
    type(c_ptr), intent(in) :: handle
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: is
    is = .not. c_associated(handle)
    if (.not. is) return
    call refuse(OSLA_ERR_STATE, call_name // ': the ' // what // ' was not created, or is destroyed', &
      stat, errmsg)
  end function is_absent

  function part_default(matrix, i, j, m, n) result(part)
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in) :: i, j, m, n
    type(osla_part) :: part
    part = part_long(matrix, int(i, c_int64_t), int(j, c_int64_t), int(m, c_int64_t), int(n, c_int64_t))
  end function part_default

  function part_long(matrix, i, j, m, n) result(part)
    type(osla_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i, j, m, n
    type(osla_part) :: part
    part%matrix = matrix
    part%i = i
    part%j = j
    part%m = m
    part%n = n
  end function part_long

  ! --- texts and numbers ---

  pure function c_text(text) result(ended)
    character(*), intent(in) :: text
    character(kind=c_char) :: ended(len(text) + 1)
    integer :: i
    do i = 1, len(text)
      ended(i) = text(i:i)
    end do
    ended(len(text) + 1) = c_null_char
  end function c_text

  function fortran_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (.not. c_associated(text)) then
      copy = ''
      return
    end if
    call c_f_pointer(text, letters, [c_strlen(text)])
    allocate (character(size(letters)) :: copy)
    do i = 1, size(letters)
      copy(i:i) = letters(i)
    end do
  end function fortran_text

  ! Text of this thread's latest failure; constant description of an error code.
  function osla_error_text() result(text)
    character(:), allocatable :: text
    text = fortran_text(c_osla_error_text())
  end function osla_error_text

  function osla_err_name(err) result(text)
    integer, intent(in) :: err
    character(:), allocatable :: text
    text = fortran_text(c_osla_err_name(int(err, c_int)))
  end function osla_err_name

  ! Version of the loaded library: 10000 MAJOR + 100 MINOR + PATCH, and text such as "0.1.0".
  function osla_version() result(number)
    integer :: number
    number = c_osla_version()
  end function osla_version

  function osla_version_text() result(text)
    character(:), allocatable :: text
    text = fortran_text(c_osla_version_text())
  end function osla_version_text

  function uniform_default(seed, i, j) result(x)
    integer, intent(in) :: seed, i, j
    real(c_double) :: x
    x = c_osla_random_uniform(int(seed, c_int64_t), int(i, c_int64_t), int(j, c_int64_t))
  end function uniform_default

  function uniform_long(seed, i, j) result(x)
    integer(c_int64_t), intent(in) :: seed, i, j
    real(c_double) :: x
    x = c_osla_random_uniform(seed, i, j)
  end function uniform_long

  function normal_default(seed, i, j) result(x)
    integer, intent(in) :: seed, i, j
    real(c_double) :: x
    x = c_osla_random_normal(int(seed, c_int64_t), int(i, c_int64_t), int(j, c_int64_t))
  end function normal_default

  function normal_long(seed, i, j) result(x)
    integer(c_int64_t), intent(in) :: seed, i, j
    real(c_double) :: x
    x = c_osla_random_normal(seed, i, j)
  end function normal_long

  pure function dtype_name(dtype) result(name)
    integer(c_int), intent(in) :: dtype
    character(:), allocatable :: name
    select case (dtype)
    case (OSLA_FLOAT)
      name = 'real(real32)'
    case (OSLA_DOUBLE)
      name = 'real(real64)'
    case (OSLA_COMPLEX_FLOAT)
      name = 'complex(real32)'
    case default
      name = 'complex(real64)'
    end select
  end function dtype_name

end module osla_objects
