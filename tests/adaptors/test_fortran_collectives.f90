! Module osla: an error on one rank only is an error on all ranks, so that none waits for another,
! and the program can continue.
program test_fortran_collectives
  use, intrinsic :: iso_fortran_env, only: real32, real64, int64
  use mpi_f08
  use osla
  use fortran_trial
  implicit none
  type(osla_grid) :: grid
  integer :: wrong ! number of the rank on which arguments are wrong

  call trial_begin
  call osla_grid_create(transport, grid)
  do wrong = 0, ranks - 1, max(1, ranks - 1) ! arguments are wrong on the first rank, then on the last
    call dense
    call sparse
    call forests
    call records
    call iterations
    call transports
    call begins_apart
  end do
  call different_calls
  call osla_grid_destroy(grid)
  call trial_end

contains

  ! Expects that all ranks get this error code and a text with the name of the call, and that they
  ! can still make collective calls together.
  subroutine refused(stat, code, text, call_name)
    integer, intent(in) :: stat, code
    character(*), intent(in) :: text, call_name
    integer :: after
    call expect(stat == code, call_name // ': not the code')
    call expect(index(text, call_name) > 0, call_name // ', its text: ' // trim(text))
    call osla_barrier(transport, after)
    call expect(after == OSLA_OK, call_name // ': a barrier behind it')
  end subroutine refused

  function is_here() result(is)
    logical :: is
    is = rank == wrong
  end function is_here

  subroutine dense
    type(osla_matrix) :: a, b, c, none
    type(osla_lu_result) :: lu
    integer(int64), allocatable :: ipiv(:)
    real(real64), allocatable :: x(:, :)
    real(real64) :: value
    integer :: stat, info
    character(200) :: text
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 10, 2, 2, a)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 10, 2, 2, b)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 10, 2, 2, c)
    call osla_matrix_fill(a, OSLA_FILL_DOMINANT, 1)
    call osla_matrix_fill(b, OSLA_FILL_DOMINANT, 2)
    if (is_here()) then
      call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, none, b, 0.0_real64, c, stat=stat, errmsg=text)
    else
      call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, a, b, 0.0_real64, c, stat=stat, errmsg=text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_gemm')
    if (is_here()) then
      call osla_symm(OSLA_LEFT, OSLA_LOWER, 1.0_real64, a, none, 0.0_real64, c, stat=stat, errmsg=text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_symm')
      call osla_matrix_add(1.0_real64, a, 1.0_real64, none, stat, text)
    else
      call osla_symm(OSLA_LEFT, OSLA_LOWER, 1.0_real64, a, b, 0.0_real64, c, stat=stat, errmsg=text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_symm')
      call osla_matrix_add(1.0_real64, a, 1.0_real64, b, stat, text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_matrix_add')
    ! the library detects on all ranks that the part exceeds the matrix
    call osla_matrix_copy(osla_part(a, merge(8, 1, is_here()), 1, 5, 5), osla_part(b, 1, 1, 5, 5), stat, text)
    call expect(stat == OSLA_ERR_ARG, 'a part: ' // text)
    call osla_barrier(transport)
    allocate (ipiv(osla_matrix_local_rows(a) + merge(-1, 0, is_here() .and. osla_matrix_local_rows(a) > 0)))
    call osla_getrf(a, ipiv, lu, stat=stat, errmsg=text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_getrf: ipiv')
    call osla_getri(a, info, ipiv, stat=stat, errmsg=text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_getri: ipiv')
    call osla_getrs(OSLA_NOTRANS, a, ipiv, b, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_getrs: ipiv')
    call osla_gecon(a, ipiv, 1.0_real64, value, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_gecon: ipiv')
    allocate (x(merge(9, 10, is_here()), 2), source=1.0_real64)
    call osla_potrs_replicated(OSLA_LOWER, a, x, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_potrs_replicated: x has 9 rows')
    if (is_here()) then
      call osla_residual(a, none, b, value, stat, text)
    else
      call osla_residual(a, c, b, value, stat, text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_residual: the solution')
    if (is_here()) call osla_matrix_scale((2.0_real64, 0.0_real64), a, stat) ! a local call, made on one rank only
    if (is_here()) call expect(stat == OSLA_OK, 'a rank scales its part')
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, a, b, 0.0_real64, c, stat=stat)
    call expect(stat == OSLA_OK, 'what is right')
    call osla_matrix_destroy(c)
    call osla_matrix_destroy(b)
    call osla_matrix_destroy(a)
  end subroutine dense

  ! The identity matrix of order 3 ranks.
  subroutine make_unit(a)
    type(osla_csr), intent(out) :: a
    integer :: start(ranks + 1)
    call osla_even_blocks(3 * ranks, ranks, start)
    call osla_csr_create(transport, start, start, [1, 2, 3, 4], 3 * rank + [1, 2, 3], &
      [1.0_real64, 1.0_real64, 1.0_real64], a)
  end subroutine make_unit

  subroutine sparse
    type(osla_csr) :: a, b, none, made
    real(real64), allocatable :: x(:), y(:)
    integer :: stat
    character(200) :: text
    call make_unit(a)
    call make_unit(b)
    allocate (x(merge(2, 3, is_here())), y(3), source=1.0_real64)
    call osla_spmv(OSLA_NOTRANS, a, x, 0.0_real64, y, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_spmv')
    call osla_csr_column_squares(a, x, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_csr_column_squares')
    if (is_here()) then
      call osla_csr_multiply(a, none, made, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_csr_multiply')
      call osla_csr_galerkin(none, b, made, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_csr_galerkin')
      call osla_cg(none, y, y, stat=stat, errmsg=text)
    else
      call osla_csr_multiply(a, b, made, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_csr_multiply')
      call osla_csr_galerkin(a, b, made, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_csr_galerkin')
      call osla_cg(a, y, y, stat=stat, errmsg=text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_cg')
    if (ranks > 1) then
      call osla_spmv(merge(OSLA_TRANS, OSLA_NOTRANS, is_here()), a, y, 0.0_real64, y, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_spmv op ')
    end if
    call osla_csr_destroy(b)
    call osla_csr_destroy(a)
  end subroutine sparse

  ! Tests forests in which the three leaves of each rank have their roots on the next rank.
  subroutine forests
    type(osla_forest) :: f, none, made
    type(osla_forest_run) :: run
    type(osla_root) :: root(3)
    real(real64) :: roots(3), leaves(3), before(3)
    real(real64), target :: one(6)
    real(real64), allocatable :: wide(:, :), wider(:, :)
    real(real32) :: singles(3)
    real(real64), allocatable :: few(:)
    real(real32) :: single(3)
    integer :: stat, i
    character(200) :: text
    root = [(osla_root(mod(rank + 1, ranks), i), i = 1, 3)]
    call osla_forest_create(transport, 3, root, f)
    roots = rank
    leaves = 0
    single = 0
    allocate (few(merge(2, 3, is_here())), source=0.0_real64)
    call osla_forest_bcast(f, roots, few, OSLA_REPLACE, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_forest_bcast')
    call osla_forest_reduce(f, few, roots, OSLA_SUM, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_forest_reduce')
    call osla_forest_fetch(f, roots, leaves, few, OSLA_SUM, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_forest_fetch')
    call osla_forest_bcast_begin(f, roots, few, OSLA_REPLACE, run, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_forest_bcast_begin')
    if (is_here()) then
      call osla_forest_reduce_begin(f, single, roots, OSLA_SUM, run, stat, text)
    else
      call osla_forest_reduce_begin(f, leaves, roots, OSLA_SUM, run, stat, text)
    end if
    call refused(stat, OSLA_ERR_ARG, text, 'osla_forest_reduce_begin')
    ! errors that only the library detects: a combination that doubles do not have; roots and leaves
    ! that overlap
    call osla_forest_bcast(f, roots, leaves, merge(OSLA_BITS_OR, OSLA_SUM, is_here()), stat)
    call expect(stat == OSLA_ERR_ARG, 'a combination')
    call osla_forest_fetch(f, roots, leaves, before, merge(OSLA_SUM_EXACT, OSLA_SUM, is_here()), stat)
    call expect(stat == OSLA_ERR_ARG, 'an order')
    i = merge(3, 4, is_here())
    one = 0
    call overlapping(f, one, one(i:i + 2), stat)
    call expect(stat == OSLA_ERR_ARG, 'roots and leaves that overlap')
    ! the arguments are valid on each rank, but differ between ranks
    if (ranks > 1) then
      allocate (wide(merge(2, 3, is_here()), 3), wider(merge(2, 3, is_here()), 3), source=0.0_real64)
      call osla_forest_bcast(f, wide, wider, OSLA_REPLACE, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_forest_bcast of ')
      singles = 0
      if (is_here()) then
        call osla_forest_bcast(f, singles, single, OSLA_REPLACE, stat, text)
      else
        call osla_forest_bcast(f, roots, leaves, OSLA_REPLACE, stat, text)
      end if
      call refused(stat, OSLA_ERR_STATE, text, 'osla_forest_bcast of 1 ')
      call osla_forest_reduce_begin(f, leaves, roots, merge(OSLA_MAX, OSLA_SUM, is_here()), run, stat, text)
      call refused(stat, OSLA_ERR_STATE, text, 'osla_forest_reduce_begin of 1 double, combine ')
      if (is_here()) then
        call osla_forest_concatenate([f, f, f], .false., made, stat, text)
      else
        call osla_forest_concatenate([f, f], .false., made, stat, text)
      end if
      call refused(stat, OSLA_ERR_STATE, text, 'osla_forest_concatenate of ')
    end if
    if (is_here()) then
      call osla_forest_compose(f, none, made, stat, text)
    else
      call osla_forest_compose(f, f, made, stat, text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_forest_compose')
    call osla_forest_bcast(f, roots, leaves, OSLA_REPLACE, stat)
    call expect(stat == OSLA_OK .and. all(nint(leaves) == mod(rank + 1, ranks)), 'a broadcast behind all that')
    call osla_forest_destroy(f)
  end subroutine forests

  subroutine overlapping(f, roots, leaves, stat)
    type(osla_forest), intent(in) :: f
    real(real64), intent(inout), target, contiguous :: roots(:), leaves(:)
    integer, intent(out) :: stat
    call osla_forest_bcast(f, roots(:3), leaves, OSLA_REPLACE, stat)
  end subroutine overlapping

  subroutine records
    type(osla_file) :: none, file
    real(real64), allocatable :: values(:)
    character(:), allocatable :: name, word
    logical :: is
    type(osla_hessian) :: hessian, no_hessian
    integer :: stat
    character(200) :: text
    call osla_hessian_create(grid, 5, hessian)
    if (is_here()) then
      call osla_hessian_commit(no_hessian, stat, text)
    else
      call osla_hessian_commit(hessian, stat, text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_hessian_commit')
    call osla_hessian_commit(hessian)
    call osla_hessian_destroy(hessian)
    call osla_file_put(none, 'x', 1.0_real64, stat, text) ! on all ranks: none has a transport
    call refused(stat, OSLA_ERR_STATE, text, 'osla_file_put')
    name = shared_name()
    call osla_file_create(transport, name, file, stat)
    if (stat == OSLA_ERR_UNSUPPORTED) return
    allocate (values(3), source=1.0_real64)
    if (is_here()) then
      call osla_file_put(none, 'v', values, stat, text)
    else
      call osla_file_put(file, 'v', values, stat, text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_file_put')
    if (ranks > 1) then
      if (is_here()) then
        call osla_file_put(file, 'v', 1.0_real64, stat, text)
      else
        call osla_file_put(file, 'v', values, stat, text)
      end if
      call refused(stat, OSLA_ERR_STATE, text, 'osla_file_put ')
    end if
    call osla_file_put(file, 'v', values)
    call osla_file_put(file, 't', 'a long word')
    call osla_file_commit(file)
    call osla_file_open(transport, name, file)
    deallocate (values)
    allocate (values(merge(4, 3, is_here())), source=0.0_real64)
    call osla_file_get(file, 'v', values, stat, text)
    call refused(stat, OSLA_ERR_ARG, text, 'v has 3 elements')
    allocate (character(merge(5, 20, is_here())) :: word)
    call osla_file_get(file, 't', word, stat)
    call expect(stat == OSLA_OK .and. word == 'a lon', 'the text that has room on all ranks: ' // word)
    call osla_file_has(file, 'v', is)
    call expect(is, 'the file goes on')
    call osla_file_close(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call execute_command_line('rm -f ' // name)
  end subroutine records

  ! A path in TMPDIR, the same on all ranks.
  function shared_name() result(name)
    character(:), allocatable :: name
    character(200) :: folder
    character(20) :: digits
    integer :: count
    call get_environment_variable('TMPDIR', folder)
    if (folder == '') folder = '/tmp'
    call system_clock(count)
    call MPI_Bcast(count, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    write (digits, '(i0)') count
    name = trim(folder) // '/test_fortran_collectives-' // trim(digits) // '.h5'
  end function shared_name

  subroutine iterations
    type(osla_csr) :: a
    type(osla_splitting) :: splitting
    real(real64), pointer :: b(:)
    integer :: stat
    character(200) :: text
    call make_unit(a)
    allocate (b(merge(2, 3, is_here())), source=1.0_real64)
    call osla_splitting_create(a, b, splitting, stat=stat, errmsg=text)
    call refused(stat, OSLA_ERR_ARG, text, 'osla_splitting_create: the right-hand side')
    deallocate (b)
    call osla_csr_destroy(a)
  end subroutine iterations

  ! Creates a second transport for some of the ranks. A rank without a valid argument must still
  ! find the transport on which the other ranks wait.
  subroutine transports
    type(osla_transport) :: other
    type(MPI_Comm) :: half
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call osla_transport_create(half, other)
    call sparse
    call two_transports(other)
    call osla_transport_destroy(other)
    call MPI_Comm_free(half)
  end subroutine transports

  ! Passes objects of a single transport on all ranks but one, which passes objects of two.
  subroutine two_transports(other)
    type(osla_transport), intent(in) :: other
    type(osla_grid) :: small
    type(osla_matrix) :: a, b, c
    integer :: stat
    character(200) :: text
    call osla_grid_create(other, small)
    call osla_matrix_create(small, OSLA_DOUBLE, 4, 4, 2, 2, a)
    call osla_matrix_create(grid, OSLA_DOUBLE, 4, 4, 2, 2, b)
    call osla_matrix_create(grid, OSLA_DOUBLE, 4, 4, 2, 2, c)
    call osla_matrix_fill(b, OSLA_FILL_IDENTITY, 1)
    if (is_here()) then
      call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, a, b, 0.0_real64, c, stat=stat, errmsg=text)
    else
      call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, b, b, 0.0_real64, c, stat=stat, errmsg=text)
    end if
    call expect(stat == OSLA_ERR_ARG, 'matrices of two transports: ' // text)
    call osla_barrier(transport)
    call osla_matrix_destroy(c)
    call osla_matrix_destroy(b)
    call osla_matrix_destroy(a)
    call osla_grid_destroy(small)
  end subroutine two_transports

  ! Tests a call that one rank makes late, and with a wrong argument.
  subroutine begins_apart
    type(osla_csr) :: a, none, made
    integer :: stat
    integer(int64) :: now, until, rate
    character(200) :: text
    call make_unit(a)
    if (is_here()) then
      call system_clock(now, rate)
      until = now + rate / 20
      do while (now < until)
        call system_clock(now)
      end do
      call osla_csr_multiply(none, none, made, stat, text)
    else
      call osla_csr_multiply(a, a, made, stat, text)
    end if
    call refused(stat, OSLA_ERR_STATE, text, 'osla_csr_multiply')
    call osla_csr_destroy(a)
  end subroutine begins_apart

  subroutine different_calls
    type(osla_csr) :: a, made
    integer :: stat
    character(200) :: text
    if (ranks == 1) return
    call make_unit(a)
    if (rank == 0) then
      call osla_csr_multiply(a, a, made, stat, text)
    else
      call osla_csr_transpose(a, made, stat, text)
    end if
    call expect(stat == OSLA_ERR_STATE .and. &
      index(text, 'osla_csr_transpose where rank 0 calls osla_csr_multiply') > 0, text)
    call osla_csr_destroy(a)
  end subroutine different_calls

end program test_fortran_collectives
