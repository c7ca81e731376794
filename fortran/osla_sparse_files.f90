! Sparse matrices and vectors from text files. The contracts are in osla_sparse_file.h: all calls
! are collective. Without lists of blocks, those of osla_even_blocks are used. Lists count from 1,
! and have default integers or integer(int64).
module osla_sparse_files
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_csr, report, c_text
  use osla_collectives, only: collective_call, requires, check, is_valid, all_ready
  implicit none
  private
  public :: osla_csr_read_matrix_market, osla_vector_read_matrix_market, osla_csr_read_metis

  interface osla_csr_read_matrix_market
    procedure matrix_even, matrix_default, matrix_long
  end interface
  ! part: this rank's values, elements start(rank + 1) .. start(rank + 2) - 1 of the vector
  interface osla_vector_read_matrix_market
    procedure vector_default, vector_long
  end interface
  interface osla_csr_read_metis
    procedure metis_even, metis_default, metis_long
  end interface

contains

  ! Checks that each list of blocks has one element more than there are ranks.
  subroutine check_blocks(at, sizes)
    type(collective_call), intent(inout) :: at
    integer, intent(in) :: sizes(:)
    if (is_valid(at)) call check(at, all(sizes == c_osla_transport_size(at%transport) + 1), &
      'a list of blocks needs a number for each rank and one more')
  end subroutine check_blocks

  subroutine matrix_even(transport, file, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_read_matrix_market')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_read_matrix_market(transport%handle, c_text(trim(file)), c_null_ptr, c_null_ptr, &
      matrix%handle), stat, errmsg)
  end subroutine matrix_even

  subroutine matrix_long(transport, file, row_start, column_start, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    integer(c_int64_t), intent(in) :: row_start(:), column_start(:)
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: rows(:), columns(:)
    at = collective_call('osla_csr_read_matrix_market')
    call requires(at, transport)
    call check_blocks(at, [size(row_start), size(column_start)])
    if (.not. all_ready(at, stat, errmsg)) return
    rows = row_start - 1
    columns = column_start - 1
    call report(c_osla_csr_read_matrix_market(transport%handle, c_text(trim(file)), c_loc(rows), c_loc(columns), &
      matrix%handle), stat, errmsg)
  end subroutine matrix_long

  subroutine matrix_default(transport, file, row_start, column_start, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    integer, intent(in) :: row_start(:), column_start(:)
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_long(transport, file, int(row_start, c_int64_t), int(column_start, c_int64_t), matrix, stat, errmsg)
  end subroutine matrix_default

  subroutine vector_long(transport, file, start, part, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    integer(c_int64_t), intent(in) :: start(:)
    real(c_double), intent(inout), target, contiguous :: part(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: begins(:)
    integer :: rank
    at = collective_call('osla_vector_read_matrix_market')
    call requires(at, transport)
    call check_blocks(at, [size(start)])
    if (is_valid(at)) then
      rank = c_osla_transport_rank(transport%handle)
      call check(at, size(part, kind=c_int64_t) == max(0_c_int64_t, start(rank + 2) - start(rank + 1)), &
        'part does not have the size that the list of blocks gives this rank')
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    begins = start - 1
    call report(c_osla_vector_read_matrix_market(transport%handle, c_text(trim(file)), c_loc(begins), c_loc(part)), &
      stat, errmsg)
  end subroutine vector_long

  subroutine vector_default(transport, file, start, part, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    integer, intent(in) :: start(:)
    real(c_double), intent(inout), target, contiguous :: part(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call vector_long(transport, file, int(start, c_int64_t), part, stat, errmsg)
  end subroutine vector_default

  subroutine metis_even(transport, file, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_csr_read_metis')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_csr_read_metis(transport%handle, c_text(trim(file)), c_null_ptr, matrix%handle), stat, errmsg)
  end subroutine metis_even

  subroutine metis_long(transport, file, row_start, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    integer(c_int64_t), intent(in) :: row_start(:)
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: rows(:)
    at = collective_call('osla_csr_read_metis')
    call requires(at, transport)
    call check_blocks(at, [size(row_start)])
    if (.not. all_ready(at, stat, errmsg)) return
    rows = row_start - 1
    call report(c_osla_csr_read_metis(transport%handle, c_text(trim(file)), c_loc(rows), matrix%handle), stat, errmsg)
  end subroutine metis_long

  subroutine metis_default(transport, file, row_start, matrix, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    character(*), intent(in) :: file
    integer, intent(in) :: row_start(:)
    type(osla_csr), intent(out) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call metis_long(transport, file, int(row_start, c_int64_t), matrix, stat, errmsg)
  end subroutine metis_default

end module osla_sparse_files
