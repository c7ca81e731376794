! Files and traces. The contracts are in osla_file.h and osla_trace.h.
module osla_records
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_grid, osla_matrix, osla_file, report, is_absent, c_text, fortran_text
  use osla_collectives, only: collective_call, requires, all_ready
  implicit none
  private
  public :: osla_matrix_save, osla_matrix_load
  public :: osla_file_create, osla_file_open, osla_file_commit, osla_file_close, osla_file_has
  public :: osla_file_put, osla_file_put_parts, osla_file_get, osla_file_get_parts
  public :: osla_file_look_matrix, osla_file_count
  public :: osla_trace_start, osla_trace_stop, osla_trace_write, osla_trace_summarise, osla_trace_name

  ! Writes a matrix, a vector that all ranks have, a number, or a text.
  interface osla_file_put
    procedure put_matrix, put_reals, put_integers, put_real, put_integer, put_text
  end interface
  interface osla_file_get
    procedure get_matrix, get_reals, get_integers, get_real, get_integer, get_text
  end interface

  ! Writes and reads vectors of which each rank has a part. The parts are written in the order of
  ! ranks; a rank reads elements from number `first` on.
  interface osla_file_put_parts
    procedure put_parts_real, put_parts_integer
  end interface
  interface osla_file_get_parts
    procedure get_parts_real, get_parts_integer
  end interface

contains

  ! --- files with one matrix ---

  subroutine osla_matrix_save(matrix, path, format, stored, name, stat, errmsg)
    type(osla_matrix), intent(in) :: matrix
    character(*), intent(in) :: path
    integer, intent(in), optional :: format, stored
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_save_options), target :: options
    character(kind=c_char), allocatable, target :: called(:)
    at = collective_call('osla_matrix_save')
    call requires(at, matrix, 'matrix')
    if (present(format)) options%format = format
    if (present(stored)) options%stored = stored
    if (present(name)) then
      called = c_text(trim(name))
      options%name = c_loc(called)
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_save(matrix%handle, c_text(trim(path)), c_loc(options)), stat, errmsg)
  end subroutine osla_matrix_save

  subroutine osla_matrix_load(grid, path, matrix, mb, nb, name, stored, stat, errmsg)
    type(osla_grid), intent(in) :: grid
    character(*), intent(in) :: path
    type(osla_matrix), intent(out) :: matrix
    integer, intent(in), optional :: mb, nb
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stored
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_load_options), target :: options
    character(kind=c_char), allocatable, target :: called(:)
    integer(c_int) :: noted
    at = collective_call('osla_matrix_load')
    call requires(at, grid)
    if (present(mb)) options%mb = mb
    if (present(nb)) options%nb = nb
    if (present(name)) then
      called = c_text(trim(name))
      options%name = c_loc(called)
    end if
    noted = OSLA_STORED_WHOLE
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_matrix_load(grid%handle, c_text(trim(path)), c_loc(options), noted, matrix%handle), &
      stat, errmsg)
    if (present(stored)) stored = noted
  end subroutine osla_matrix_load

  ! --- HDF5 files with several objects ---

  subroutine osla_file_create(transport, path, file, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: path
    type(osla_file), intent(out) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_create')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    file%transport = transport%handle
    call report(c_osla_file_create(transport%handle, c_text(trim(path)), file%handle), stat, errmsg)
  end subroutine osla_file_create

  subroutine osla_file_open(transport, path, file, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: path
    type(osla_file), intent(out) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_open')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    file%transport = transport%handle
    call report(c_osla_file_open(transport%handle, c_text(trim(path)), file%handle), stat, errmsg)
  end subroutine osla_file_open

  subroutine osla_file_commit(file, stat, errmsg)
    type(osla_file), intent(inout) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_commit')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_commit(file%handle), stat, errmsg)
  end subroutine osla_file_commit

  subroutine osla_file_close(file)
    type(osla_file), intent(inout) :: file
    call c_osla_file_close(file%handle)
  end subroutine osla_file_close

  subroutine osla_file_has(file, name, has, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    logical, intent(out) :: has
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    logical(c_bool) :: is
    has = .false.
    at = collective_call('osla_file_has')
    call requires(at, file)
    is = .false.
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_has(file%handle, c_text(trim(name)), is), stat, errmsg)
    has = is
  end subroutine osla_file_has

  subroutine put_matrix(file, name, matrix, stored, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    type(osla_matrix), intent(in) :: matrix
    integer, intent(in), optional :: stored
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int) :: noted
    at = collective_call('osla_file_put', same='a matrix')
    call requires(at, file)
    call requires(at, matrix, 'matrix')
    noted = OSLA_STORED_WHOLE
    if (present(stored)) noted = stored
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_matrix(file%handle, c_text(trim(name)), matrix%handle, noted), stat, errmsg)
  end subroutine put_matrix

  subroutine osla_file_look_matrix(file, name, find_local_array, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    type(osla_file_matrix), intent(out), target :: find_local_array
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_look_matrix')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_look_matrix(file%handle, c_text(trim(name)), c_loc(find_local_array)), stat, errmsg)
  end subroutine osla_file_look_matrix

  subroutine get_matrix(file, name, matrix, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    type(osla_matrix), intent(in) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get', same='a matrix')
    call requires(at, file)
    call requires(at, matrix, 'matrix')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_matrix(file%handle, c_text(trim(name)), matrix%handle), stat, errmsg)
  end subroutine get_matrix

  ! Number of elements of a vector; of_integers: true for integer(int64), false for real(real64).
  subroutine osla_file_count(file, name, count, of_integers, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout) :: count
    logical, intent(in), optional :: of_integers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int) :: type
    at = collective_call('osla_file_count')
    call requires(at, file)
    type = OSLA_FILE_DOUBLE
    if (present(of_integers)) type = merge(OSLA_FILE_INT64, OSLA_FILE_DOUBLE, of_integers)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_look_vector(file%handle, c_text(trim(name)), type, count), stat, errmsg)
  end subroutine osla_file_count

  subroutine put_reals(file, name, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    real(c_double), intent(in), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put', same='real numbers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_vector(file%handle, c_text(trim(name)), OSLA_FILE_DOUBLE, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine put_reals

  subroutine get_reals(file, name, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    real(c_double), intent(inout), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get', same='real numbers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_vector(file%handle, c_text(trim(name)), OSLA_FILE_DOUBLE, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine get_reals

  subroutine put_parts_real(file, name, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    real(c_double), intent(in), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put_parts', same='real numbers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_parts(file%handle, c_text(trim(name)), OSLA_FILE_DOUBLE, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine put_parts_real

  subroutine get_parts_real(file, name, first, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: first
    real(c_double), intent(inout), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get_parts', same='real numbers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_parts(file%handle, c_text(trim(name)), OSLA_FILE_DOUBLE, first - 1, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine get_parts_real

  subroutine put_integers(file, name, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put', same='integers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_vector(file%handle, c_text(trim(name)), OSLA_FILE_INT64, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine put_integers

  subroutine get_integers(file, name, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get', same='integers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_vector(file%handle, c_text(trim(name)), OSLA_FILE_INT64, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine get_integers

  subroutine put_parts_integer(file, name, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put_parts', same='integers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_parts(file%handle, c_text(trim(name)), OSLA_FILE_INT64, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine put_parts_integer

  subroutine get_parts_integer(file, name, first, vector, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: first
    integer(c_int64_t), intent(inout), target, contiguous :: vector(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get_parts', same='integers')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_parts(file%handle, c_text(trim(name)), OSLA_FILE_INT64, first - 1, &
      size(vector, kind=c_int64_t), c_loc(vector)), stat, errmsg)
  end subroutine get_parts_integer

  subroutine put_real(file, name, value, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put', same='a real number')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_number(file%handle, c_text(trim(name)), value), stat, errmsg)
  end subroutine put_real

  subroutine get_real(file, name, value, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    real(c_double), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get', same='a real number')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_number(file%handle, c_text(trim(name)), value), stat, errmsg)
  end subroutine get_real

  subroutine put_integer(file, name, value, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put', same='an integer')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_int(file%handle, c_text(trim(name)), value), stat, errmsg)
  end subroutine put_integer

  subroutine get_integer(file, name, value, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_get', same='an integer')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_get_int(file%handle, c_text(trim(name)), value), stat, errmsg)
  end subroutine get_integer

  subroutine put_text(file, name, text, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_file_put', same='a text')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_file_put_text(file%handle, c_text(trim(name)), c_text(text)), stat, errmsg)
  end subroutine put_text

  ! Reads a text. If it is longer than the argument `text`, its end is cut off.
  subroutine get_text(file, name, text, stat, errmsg)
    type(osla_file), intent(in) :: file
    character(*), intent(in) :: name
    character(*), intent(inout) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    character(kind=c_char), target :: letters(len(text) + 1)
    integer(c_int) :: err
    at = collective_call('osla_file_get', same='a text')
    call requires(at, file)
    if (.not. all_ready(at, stat, errmsg)) return
    err = c_osla_file_get_text(file%handle, c_text(trim(name)), letters, size(letters, kind=c_size_t))
    if (err == OSLA_OK) text = fortran_text(c_loc(letters))
    call report(err, stat, errmsg)
  end subroutine get_text

  ! --- traces ---

  subroutine osla_trace_start(transport, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_trace_start')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_trace_start(transport%handle), stat, errmsg)
  end subroutine osla_trace_start

  subroutine osla_trace_stop(transport)
    type(osla_transport), intent(in) :: transport
    if (is_absent('osla_trace_stop', 'transport', transport%handle)) return
    call c_osla_trace_stop(transport%handle)
  end subroutine osla_trace_stop

  subroutine osla_trace_write(transport, path, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_trace_write')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_trace_write(transport%handle, c_text(trim(path))), stat, errmsg)
  end subroutine osla_trace_write

  ! summary%kind(1 + OSLA_TRACE_GET) is the total of OSLA_TRACE_GET, and so on.
  subroutine osla_trace_summarise(transport, summary, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    type(osla_trace_summary), intent(out), target :: summary
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_trace_summarise')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_trace_summarise(transport%handle, c_loc(summary)), stat, errmsg)
  end subroutine osla_trace_summarise

  function osla_trace_name(kind) result(name)
    integer, intent(in) :: kind
    character(:), allocatable :: name
    name = fortran_text(c_osla_trace_name(int(kind, c_int)))
  end function osla_trace_name

end module osla_records
