! Module osla: each call once with a known result, each kind, and errors.
program test_fortran
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64, int64
  use mpi_f08
  use osla
  use fortran_trial
  implicit none
  type(osla_grid) :: grid
  real(real64) :: scale

  call trial_begin
  call osla_grid_create(transport, grid)
  call places
  call arrays
  call blocks
  call products
  call triangles
  call lower_triangle
  call cholesky
  call lu
  call parts
  call refinement
  call accumulator
  call accumulator_on_created
  call accumulator_on_wrapped
  call once
  call files
  call traces
  call refusals
  call osla_grid_destroy(grid)
  call trial_end

contains

  ! A matrix of the given type in blocks of 3 x 4, whose element (i, j) is 100 i + j.
  subroutine make(dtype, m, n, matrix)
    integer, intent(in) :: dtype, m, n
    type(osla_matrix), intent(out) :: matrix
    call osla_matrix_create(grid, dtype, m, n, 3, 4, matrix)
    call osla_matrix_fill_with(matrix, hundreds)
  end subroutine make

  function hundreds(i, j) result(value)
    integer(int64), intent(in) :: i, j
    real(real64) :: value
    value = real(100 * i + j, real64)
  end function hundreds

  subroutine places
    type(osla_transport) :: other
    type(osla_grid) :: place
    type(MPI_Comm) :: comm
    integer :: size
    call expect(osla_version() == 10000 * OSLA_VERSION_MAJOR + 100 * OSLA_VERSION_MINOR + OSLA_VERSION_PATCH, 'version')
    call expect(len(osla_version_text()) >= 5, 'version as text')
    comm = osla_transport_comm(transport)
    call MPI_Comm_size(comm, size)
    call expect(size == ranks, 'communicator of the transport')
    call expect(osla_transport_node_of(transport, rank) == osla_transport_node(transport), 'node of this rank')
    call expect(osla_transport_same_node(transport, rank), 'this rank is on its node')
    call expect(osla_transport_n_nodes(transport) >= 1, 'nodes')
    call expect(osla_transport_name(transport) == 'mpi' .or. osla_transport_name(transport) == 'armci', 'name')
    call expect(osla_grid_nprow(grid) * osla_grid_npcol(grid) == ranks, 'places of the grid')
    call expect(osla_grid_rank_at(grid, osla_grid_prow(grid), osla_grid_pcol(grid)) == rank, 'my place')
    call osla_transport_create(MPI_COMM_WORLD%mpi_val, other, progress_thread=.false., threads_per_rank=1)
    call osla_grid_create(other, place, nprow=ranks, npcol=1, order=OSLA_GRID_COLUMNS)
    call expect(osla_grid_prow(place) == rank, 'a grid of one column')
    call osla_grid_destroy(place)
    call osla_grid_create_at(other, 1, ranks, 0, ranks - 1 - rank, place)
    call expect(osla_grid_pcol(place) == ranks - 1 - rank, 'a place that was named')
    call osla_grid_destroy(place)
    call osla_barrier(other)
    call osla_progress(other)
    call osla_transport_destroy(other)
    call osla_transport_destroy(other)
  end subroutine places

  subroutine arrays
    type(osla_matrix) :: d, s, c, z, wrapped
    real(real64), pointer :: of_d(:, :)
    real(real32), pointer :: of_s(:, :)
    complex(real32), pointer :: of_c(:, :)
    complex(real64), pointer :: of_z(:, :)
    real(real64), allocatable, target :: mine(:, :)
    complex(real32), allocatable, target :: of_others(:, :)
    real(real64) :: norm
    type(osla_layout) :: l
    integer :: i, j, stat, rows, cols
    call make(OSLA_DOUBLE, 10, 11, d)
    call make(OSLA_FLOAT, 10, 11, s)
    call make(OSLA_COMPLEX_FLOAT, 10, 11, c)
    call make(OSLA_COMPLEX_DOUBLE, 10, 11, z)
    l = osla_matrix_layout(d)
    call expect(l%m == 10 .and. l%n == 11 .and. l%mb == 3 .and. l%nb == 4, 'layout')
    call expect(osla_matrix_dtype(z) == OSLA_COMPLEX_DOUBLE, 'type')
    call osla_matrix_local(d, of_d)
    call osla_matrix_local(s, of_s)
    call osla_matrix_local(c, of_c)
    call osla_matrix_local(z, of_z)
    call expect(all(shape(of_d) == shape(of_z)) .and. size(of_d, 1) == osla_matrix_local_rows(d) &
      .and. size(of_d, 2) == osla_matrix_local_cols(d), 'shapes of local arrays')
    do j = 1, size(of_d, 2)
      do i = 1, size(of_d, 1)
        norm = hundreds(osla_matrix_row(d, i), osla_matrix_column(d, int(j, int64)))
        call expect(abs(of_d(i, j) - norm) == 0 .and. abs(of_s(i, j) - norm) == 0 .and. &
          abs(of_c(i, j) - norm) == 0 .and. abs(of_z(i, j) - norm) == 0, 'a local element')
      end do
    end do
    of_d = 2
    call osla_barrier(transport)
    call osla_matrix_norm(d, OSLA_NORM_MAX, norm)
    call expect(abs(norm - 2) == 0, 'what is written into a local array is in the matrix')

    ! a matrix on the caller's memory, which has two rows more than the matrix needs
    rows = size(of_d, 1)
    cols = size(of_d, 2)
    allocate (mine(rows + 2, cols), of_others(rows, cols))
    mine = -1
    of_others = (0, 3)
    call osla_matrix_wrap(grid, 10, 11, 3, 4, mine(1:rows, :), wrapped)
    call osla_matrix_fill(wrapped, OSLA_FILL_IDENTITY, 0)
    call osla_matrix_norm(wrapped, OSLA_NORM_FRO, norm)
    call expect(abs(norm**2 - 10) < 1e-12, 'a wrapped matrix')
    call expect(all(abs(mine(rows + 1:, :) + 1) == 0), 'memory beside a wrapped matrix')
    call osla_matrix_destroy(wrapped)
    call osla_matrix_wrap(grid, 10, 11, 3, 4, of_others, wrapped)
    call osla_matrix_norm(wrapped, OSLA_NORM_MAX, norm)
    call expect(abs(norm - 3) < 1e-6, 'a wrapped complex matrix')
    call osla_matrix_destroy(wrapped)
    call osla_matrix_wrap(grid, 10, 11, 3, 4, mine(:, 2:), wrapped, stat=stat)
    call expect(stat == OSLA_ERR_ARG .and. index(osla_error_text(), ' elements, the part of this process ') > 0, &
      'an array with too few columns: ' // osla_error_text())
    if (rank == 0) then ! wrong on rank 0 only; all ranks must get the error
      call osla_matrix_wrap(grid, 10, 11, 3, 4, mine(2:rows, :), wrapped, stat=stat)
    else
      call osla_matrix_wrap(grid, 10, 11, 3, 4, mine, wrapped, stat=stat)
    end if
    call expect(stat == OSLA_ERR_ARG, 'an array with too few rows')
    if (ranks == 1) then
      call osla_matrix_wrap(grid, 5, 11, 3, 4, mine(1:rows:2, :), wrapped, stat=stat)
      call expect(stat == OSLA_ERR_ARG .and. index(osla_error_text(), 'gaps') > 0, 'an array with gaps')
    end if

    call osla_matrix_local(d, of_s, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'an array of another kind')
    call expect(osla_error_text() == 'osla_matrix_local: the matrix is of real(real64), the array of real(real32)', &
      'text: ' // osla_error_text())
    call osla_matrix_destroy(d)
    call osla_matrix_destroy(s)
    call osla_matrix_destroy(c)
    call osla_matrix_destroy(z)
  end subroutine arrays

  subroutine blocks
    type(osla_matrix) :: d, z
    real(real64) :: block(4, 5), spread_out(8, 10)
    complex(real64) :: of_z(2, 2)
    integer :: i, j, stat
    character(200) :: text
    call make(OSLA_DOUBLE, 10, 11, d)
    call make(OSLA_COMPLEX_DOUBLE, 10, 11, z)
    call osla_matrix_get_block(d, 2, 3, block)
    call expect(all([((abs(block(i, j) - (100 * (i + 1) + j + 2)) == 0, i=1, 4), j=1, 5)]), 'a block')
    spread_out = 0
    call osla_matrix_get_block(d, 2_int64, 3_int64, spread_out(1::2, ::2))
    call expect(all(abs(spread_out(1::2, ::2) - block) == 0) .and. all(abs(spread_out(2::2, :)) == 0), 'a block with strides')
    call osla_matrix_get_block(z, 9, 10, of_z)
    call expect(abs(of_z(2, 1) - 1010) == 0, 'a complex block')
    call osla_barrier(transport)
    if (rank == 0) call osla_matrix_put_block(d, 7, 7, -block)
    call osla_barrier(transport)
    call osla_matrix_get_block(d, 6, 6, block)
    call expect(abs(block(1, 1) - 606) == 0 .and. abs(block(2, 2) + 203) == 0, 'a block that was put')
    text = ' '
    call osla_matrix_get_block(d, 8, 1, block, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. text == 'osla_matrix_get_block: a block of 4 x 5 from (8, 1) on is not ' // &
      'in a matrix of 10 x 11, counted from 1', 'a block outside: ' // trim(text))
    call osla_matrix_get_block(d, 0, 1, block, stat)
    call expect(stat == OSLA_ERR_ARG, 'row 0')
    call osla_matrix_destroy(d)
    call osla_matrix_destroy(z)
  end subroutine blocks

  subroutine products
    type(osla_matrix) :: a, b, c, t
    type(osla_gemm_plan) :: plan
    type(osla_gemm_options) :: options
    integer :: stat
    real(real64) :: whole_a(10, 6), whole_b(6, 7), whole_c(10, 7), part(3, 2)
    complex(real64) :: of_z(10, 10)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 6, 3, 2, a)
    call osla_matrix_create(grid, OSLA_DOUBLE, 6, 7, 2, 3, b)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 7, 4, 3, c)
    call osla_matrix_fill(a, OSLA_FILL_INTEGER, 1)
    call osla_matrix_fill(b, OSLA_FILL_INTEGER, 2)
    call osla_matrix_fill(c, OSLA_FILL_INTEGER, 3_int64)
    call osla_matrix_get_block(a, 1, 1, whole_a)
    call osla_matrix_get_block(b, 1, 1, whole_b)
    call osla_matrix_get_block(c, 1, 1, whole_c)
    call osla_barrier(transport)
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 2.0_real64, a, b, 3.0_real64, c)
    whole_c = 3 * whole_c + 2 * matmul(whole_a, whole_b)
    call compare(c, whole_c, 'a product')
    options%panel = 32
    call osla_gemm(OSLA_TRANS, OSLA_NOTRANS, 1.0_real32, osla_part(a, 2, 3, 4, 3), osla_part(a, 4, 1, 4, 2), &
      0.0_real32, osla_part(c, 5, 2, 3, 2), options)
    part = matmul(transpose(whole_a(2:5, 3:5)), whole_a(4:7, 1:2))
    whole_c(5:7, 2:3) = part
    call compare(c, whole_c, 'a product of parts')
    options = osla_gemm_options(layers=osla_transport_size(transport))
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 2.0_real64, a, b, 3.0_real64, c, options)
    whole_c = 3 * whole_c + 2 * matmul(whole_a, whole_b)
    call compare(c, whole_c, 'a product with layers')
    options%layers = osla_transport_size(transport) + 1
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 2.0_real64, a, b, 3.0_real64, c, options, stat)
    call expect(stat == OSLA_ERR_ARG, 'more layers than ranks')
    call compare(c, whole_c, 'a product that was refused')
    call osla_gemm_predict(OSLA_NOTRANS, OSLA_NOTRANS, a, b, c, plan)
    call MPI_Allreduce(MPI_IN_PLACE, plan%flops, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call expect(abs(plan%flops - 2 * 10 * 7 * 6) < 0.5, 'operations foreseen')
    call osla_matrix_destroy(c)

    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 10, 3, 3, c)
    call osla_matrix_fill(c, OSLA_FILL_ZERO, 0)
    call osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1.0_real64, a, 0.0_real64, c)
    call osla_matrix_mirror(c, OSLA_LOWER)
    call compare(c, matmul(whole_a, transpose(whole_a)), 'A A^T')
    call osla_matrix_create(grid, OSLA_DOUBLE, 6, 10, 3, 2, t)
    call osla_matrix_transpose(OSLA_TRANS, a, t)
    call compare(t, transpose(whole_a), 'a transpose')
    call osla_matrix_destroy(t)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 6, 3, 2, t)
    call osla_matrix_copy(a, t)
    call osla_matrix_add(2.0_real64, a, -1.0_real64, t)
    call compare(t, whole_a, '2 A - A')
    call osla_matrix_destroy(t)
    call osla_matrix_destroy(c)

    call osla_matrix_create(grid, OSLA_COMPLEX_DOUBLE, 10, 10, 3, 3, c)
    call osla_matrix_create(grid, OSLA_COMPLEX_DOUBLE, 10, 10, 3, 3, t)
    call osla_matrix_fill(c, OSLA_FILL_IDENTITY, 0)
    call osla_gemm(OSLA_NOTRANS, OSLA_CONJTRANS, (0.0_real64, 2.0_real64), c, c, (0.0_real64, 0.0_real64), t)
    call osla_matrix_get_block(t, 1, 1, of_z)
    call expect(abs(of_z(4, 4) - (0, 2)) == 0 .and. abs(of_z(4, 5)) == 0, 'a complex factor')
    call osla_barrier(transport)
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, (3.0_real32, 0.0_real32), c, c, (0.0_real32, 1.0_real32), t)
    call osla_matrix_get_block(t, 4, 4, of_z(1:1, 1:1))
    call expect(abs(of_z(1, 1) - 1) == 0, 'a complex factor in single precision')
    call osla_matrix_destroy(a)
    call osla_matrix_destroy(b)
    call osla_matrix_destroy(c)
    call osla_matrix_destroy(t)
  end subroutine products

  ! Compares each product with matmul. The triangle that a call must not read has other values.
  subroutine triangles
    type(osla_matrix) :: a, b, c, x, y
    type(osla_gemm_options) :: options
    real(real64) :: stored(10, 10), full(10, 10), low(10, 10), whole_b(10, 4), whole_c(10, 4), u(10, 1), v(10, 1)
    complex(real64) :: of_z(10, 10), z(10, 1)
    integer :: i, stat
    character(200) :: text
    call make(OSLA_DOUBLE, 10, 10, a)
    call make(OSLA_DOUBLE, 10, 4, b)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 4, 4, 3, c)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 1, 3, 1, x)
    call osla_matrix_create(grid, OSLA_DOUBLE, 10, 1, 4, 1, y)
    call osla_matrix_fill(a, OSLA_FILL_INTEGER, 11)
    call osla_matrix_fill(b, OSLA_FILL_INTEGER, 12)
    call osla_matrix_fill(c, OSLA_FILL_INTEGER, 13)
    call osla_matrix_fill(x, OSLA_FILL_INTEGER, 14)
    call osla_matrix_fill(y, OSLA_FILL_INTEGER, 15)
    call osla_matrix_get_block(a, 1, 1, stored)
    call osla_matrix_get_block(b, 1, 1, whole_b)
    call osla_matrix_get_block(c, 1, 1, whole_c)
    call osla_matrix_get_block(x, 1, 1, u)
    call osla_matrix_get_block(y, 1, 1, v)
    call osla_barrier(transport)
    low = 0
    do i = 1, 10
      low(i:, i) = stored(i:, i)
    end do
    full = low + transpose(low)
    do i = 1, 10
      full(i, i) = low(i, i)
    end do
    call osla_symm(OSLA_LEFT, OSLA_LOWER, 2.0_real64, a, b, 3.0_real64, c)
    whole_c = 3 * whole_c + 2 * matmul(full, whole_b)
    call compare(c, whole_c, 'symm')
    options%panel = 32
    call osla_hemm(OSLA_LEFT, OSLA_LOWER, 1.0_real32, a, b, 0.0_real32, c, options)
    call compare(c, matmul(full, whole_b), 'hemm')
    call osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, 2.0_real64, a, b)
    call compare(b, 2 * matmul(transpose(low), whole_b), 'trmm')
    call osla_gemv(OSLA_NOTRANS, 2.0_real64, a, x, 1.0_real64, y)
    v = v + 2 * matmul(stored, u)
    call compare(y, v, 'gemv')
    call osla_gemv(OSLA_TRANS, 1.0_real32, osla_part(a, 2, 3, 4, 5), osla_part(x, 3, 1, 4, 1), 0.0_real32, &
      osla_part(y, 6, 1, 5, 1))
    v(6:10, 1) = matmul(transpose(stored(2:5, 3:7)), u(3:6, 1))
    call compare(y, v, 'gemv of parts')
    call osla_symv(OSLA_LOWER, 1.0_real64, a, x, -1.0_real64, y)
    v = matmul(full, u) - v
    call compare(y, v, 'symv')
    call osla_hemv(OSLA_LOWER, (1.0_real64, 0.0_real64), a, x, (0.0_real64, 0.0_real64), y)
    call compare(y, matmul(full, u), 'hemv')
    call osla_symm(OSLA_RIGHT, OSLA_LOWER, 1.0_real64, a, b, 0.0_real64, c, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. text /= ' ', 'symm of sizes that do not fit: ' // text)
    call osla_matrix_destroy(y)
    call osla_gemv(OSLA_NOTRANS, 1.0_real64, a, x, 0.0_real64, y, stat)
    call expect(stat == OSLA_ERR_STATE, 'gemv into what is destroyed')
    call give_up(a, b, c, x)

    call osla_matrix_create(grid, OSLA_COMPLEX_DOUBLE, 10, 10, 3, 3, a)
    call osla_matrix_create(grid, OSLA_COMPLEX_DOUBLE, 10, 1, 3, 1, x)
    call osla_matrix_create(grid, OSLA_COMPLEX_DOUBLE, 10, 1, 3, 1, y)
    call osla_matrix_fill(a, OSLA_FILL_UNIFORM, 16)
    call osla_matrix_fill(x, OSLA_FILL_UNIFORM, 17)
    call osla_matrix_get_block(a, 1, 1, of_z)
    call osla_matrix_get_block(x, 1, 1, z)
    call osla_barrier(transport)
    do i = 1, 10
      of_z(i, i) = real(of_z(i, i), real64)
      of_z(i, i + 1:) = conjg(of_z(i + 1:, i))
    end do
    call osla_hemv(OSLA_LOWER, (0.0_real32, 1.0_real32), a, x, (0.0_real32, 0.0_real32), y)
    z = (0, 1) * matmul(of_z, z)
    call osla_matrix_get_block(y, 1, 1, of_z(:, 1:1))
    call expect(all(abs(of_z(:, 1:1) - z) < 1e-12), 'hemv of complex numbers')
    call osla_barrier(transport)
    call osla_matrix_destroy(a)
    call osla_matrix_destroy(x)
    call osla_matrix_destroy(y)
  end subroutine triangles

  ! Solves with a symmetric tridiagonal matrix of which only the lower triangle is stored: 2 on the
  ! diagonal, -1 beside the diagonal.
  subroutine lower_triangle
    type(osla_matrix) :: a, none
    real(real64) :: full(10, 10), back(10, 10), x(10, 1)
    real(real64), pointer :: local(:, :)
    integer :: i, stat
    integer(int64) :: info
    character(200) :: text
    full = 0
    full(1, 1) = 2
    do i = 2, 10
      full(i, i) = 2
      full(i, i - 1) = -1
      full(i - 1, i) = -1
    end do
    call osla_matrix_create_triangle(grid, OSLA_DOUBLE, 10, 3, a)
    call expect(osla_matrix_is_triangle(a), 'a triangle')
    if (rank == 0) call osla_matrix_put_block(a, 1, 1, full)
    call osla_barrier(transport)
    call osla_matrix_get_block(a, 1, 1, back)
    call expect(all(back == full), 'both triangles from one')
    call osla_matrix_local(a, local, stat, text)
    call expect(stat == OSLA_ERR_UNSUPPORTED .and. index(text, 'osla_matrix_get_block') > 0, 'local array: ' // text)
    call osla_barrier(transport)
    call osla_potrf(OSLA_LOWER, a, info)
    x(:, 1) = matmul(full, [(real(i, real64), i=1, 10)])
    call osla_potrs_replicated(OSLA_LOWER, a, x)
    call expect(info == 0 .and. all(abs(x(:, 1) - [(i, i=1, 10)]) < 1e-12), 'solution by a triangle')
    call osla_matrix_destroy(a)
    call osla_matrix_create_triangle(grid, OSLA_DOUBLE, 10_int64, 0_int64, none, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. text /= ' ', 'a triangle in blocks of no rows: ' // text)
  end subroutine lower_triangle

  subroutine compare(matrix, right, what)
    type(osla_matrix), intent(in) :: matrix
    real(real64), intent(in) :: right(:, :)
    character(*), intent(in) :: what
    real(real64) :: has(size(right, 1), size(right, 2))
    call osla_matrix_get_block(matrix, 1, 1, has)
    call expect(all(abs(has - right) <= 1e-10_real64 * max(1.0_real64, abs(right))), what)
    call osla_barrier(transport)
  end subroutine compare

  ! Creates a: n x n elements by the rule `fill`; factored: a copy of a; b: right-hand sides;
  ! x: a copy of b.
  subroutine system(fill, n, a, factored, b, x)
    integer, intent(in) :: fill, n
    type(osla_matrix), intent(out) :: a, factored, b, x
    call osla_matrix_create(grid, OSLA_DOUBLE, n, n, 5, 5, a)
    call osla_matrix_create(grid, OSLA_DOUBLE, n, n, 5, 5, factored)
    call osla_matrix_create(grid, OSLA_DOUBLE, n, 2, 5, 1, b)
    call osla_matrix_create(grid, OSLA_DOUBLE, n, 2, 5, 1, x)
    call osla_matrix_fill(a, fill, 7)
    call osla_matrix_copy(a, factored)
    call osla_matrix_fill(b, OSLA_FILL_UNIFORM, 8)
    call osla_matrix_copy(b, x)
  end subroutine system

  subroutine give_up(a, factored, b, x)
    type(osla_matrix), intent(inout) :: a, factored, b, x
    call osla_matrix_destroy(a)
    call osla_matrix_destroy(factored)
    call osla_matrix_destroy(b)
    call osla_matrix_destroy(x)
  end subroutine give_up

  subroutine cholesky
    type(osla_matrix) :: a, l, b, x
    type(osla_chol_options) :: options
    integer :: info
    integer(int64) :: long
    real(real64) :: anorm, rcond, logdet, residual, all_b(23, 2), x_all(23, 2)
    call system(OSLA_FILL_SPD, 23, a, l, b, x)
    call osla_matrix_get_block(b, 1, 1, all_b)
    call osla_matrix_norm(a, OSLA_NORM_ONE, anorm)
    info = -1
    options%look_ahead = 2
    call osla_potrf(OSLA_LOWER, l, info, options)
    call expect(info == 0, 'positive definite')
    call osla_potrs(OSLA_LOWER, l, x)
    call osla_residual(a, x, b, residual)
    call expect(residual < 10, 'the residual after Cholesky')
    call osla_matrix_get_block(x, 1, 1, x_all)
    call osla_potrs_replicated(OSLA_LOWER, l, all_b)
    call expect(all(abs(all_b - x_all) < 1e-12), 'solutions that all ranks have')
    call osla_barrier(transport)
    call osla_pocon(OSLA_LOWER, l, anorm, rcond)
    call expect(rcond > 0.01 .and. rcond <= 1, 'condition of a dominant matrix')
    ! by Gershgorin's theorem all 23 eigenvalues are between 11.5 and 34.5
    call osla_chol_logdet(OSLA_LOWER, l, logdet)
    call expect(logdet > 23 * log(11.5) .and. logdet < 23 * log(34.5), 'logarithm of a determinant')

    ! the solution by two triangular solves
    call osla_matrix_copy(b, x)
    call osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1.0_real64, l, x)
    call osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, 1.0_real32, l, x)
    call osla_residual(a, x, b, residual)
    call expect(residual < 10, 'the residual after two triangular solves')

    call osla_potri(OSLA_LOWER, l, long)
    call expect(long == 0, 'an inverse')
    call osla_matrix_mirror(l, OSLA_LOWER)
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, l, b, 0.0_real64, x)
    call osla_residual(a, x, b, residual)
    call expect(residual < 10, 'the residual with the inverse')

    call osla_matrix_fill(l, OSLA_FILL_IDENTITY, 0)
    call osla_matrix_add(0.0_real64, a, -1.0_real64, l)
    call osla_potrf(OSLA_UPPER, l, long)
    call expect(long == 1, 'not positive definite, from the first on')
    call give_up(a, l, b, x)
  end subroutine cholesky

  subroutine lu
    type(osla_matrix) :: a, f, b, x
    type(osla_lu_result) :: result
    type(osla_lu_options) :: options
    integer(int64), allocatable :: ipiv(:)
    real(real64) :: residual, anorm, rcond, all_b(23, 2), x_all(23, 2)
    integer :: stat, info
    integer(int64) :: long
    call system(OSLA_FILL_UNIFORM, 23, a, f, b, x)
    call osla_matrix_get_block(b, 1, 1, all_b)
    call osla_matrix_norm(a, OSLA_NORM_ONE, anorm)
    allocate (ipiv(osla_matrix_local_rows(f)))
    call osla_getrf(f, ipiv, result, options)
    call expect(result%info == 0 .and. logical(result%trusted), 'factors')
    call osla_getrs(OSLA_NOTRANS, f, ipiv, x)
    call osla_residual(a, x, b, residual)
    call expect(residual < 10, 'the residual after LU')
    call osla_matrix_get_block(x, 1, 1, x_all)
    call osla_getrs_replicated(OSLA_NOTRANS, f, ipiv, all_b)
    call expect(all(abs(all_b - x_all) < 1e-10), 'solutions that all ranks have, LU')
    call osla_barrier(transport)
    call osla_gecon(f, ipiv, anorm, rcond)
    call expect(rcond > 1e-6 .and. rcond < 1, 'condition')
    if (ranks == 1) then
      call osla_getrs(OSLA_NOTRANS, f, ipiv(2:), x, stat)
      call expect(stat == OSLA_ERR_ARG, 'pivots that are too few')
      call osla_getri(f, info, ipiv(2:), stat=stat)
      call expect(stat == OSLA_ERR_ARG, 'pivots that are too few for an inverse')
    end if
    call osla_getri(f, info, ipiv, options)
    call expect(info == 0, 'an inverse from LU')
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, f, b, 0.0_real64, x)
    call osla_residual(a, x, b, residual)
    call expect(residual < 100, 'the residual with the inverse from LU')
    call osla_matrix_fill(f, OSLA_FILL_DOMINANT, 7)
    options%pivoting = OSLA_PIVOT_NONE
    call osla_getrf(f, result=result, options=options)
    call expect(result%info == 0, 'LU without pivots')
    call osla_getri(f, long)
    call expect(long == 0, 'an inverse without pivots')
    call give_up(a, f, b, x)
  end subroutine lu

  ! Solves a 10 x 10 system whose matrices are parts of larger matrices.
  subroutine parts
    type(osla_matrix) :: a, f, b, x
    type(osla_lu_result) :: result
    integer(int64), allocatable :: ipiv(:)
    real(real64) :: whole(23, 23), part(10, 10), rhs(10, 2), solved(10, 2), before(23, 23), value
    integer :: info, stat
    character(200) :: text
    call system(OSLA_FILL_SPD, 23, a, f, b, x)
    call osla_matrix_get_block(a, 4, 4, part)
    call osla_matrix_get_block(b, 4, 1, rhs)
    call osla_matrix_get_block(f, 1, 1, before)
    call osla_barrier(transport)
    call osla_matrix_norm(osla_part(a, 4, 4, 10, 10), OSLA_NORM_MAX, value)
    call expect(value == maxval(abs(part)), 'norm of a part')
    info = -1
    call osla_potrf(OSLA_LOWER, osla_part(f, 4, 4, 10, 10), info)
    call expect(info == 0, 'a part that is positive definite')
    call osla_potrs(OSLA_LOWER, osla_part(f, 4, 4, 10, 10), osla_part(x, 4, 1, 10, 2))
    call osla_matrix_get_block(x, 4, 1, solved)
    call expect(all(abs(matmul(part, solved) - rhs) < 1e-12), 'solutions with a Cholesky factor of a part')
    call osla_barrier(transport)
    call osla_matrix_copy(osla_part(b, 4, 1, 10, 2), osla_part(x, 4, 1, 10, 2))
    call osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1.0_real64, osla_part(f, 4, 4, 10, 10), &
      osla_part(x, 4, 1, 10, 2))
    call osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, 1.0_real64, osla_part(f, 4, 4, 10, 10), &
      osla_part(x, 4, 1, 10, 2))
    call osla_matrix_get_block(x, 4, 1, solved)
    call expect(all(abs(matmul(part, solved) - rhs) < 1e-12), 'solutions by triangular solves with a part')
    call osla_barrier(transport)

    call osla_matrix_copy(osla_part(a, 4, 4, 10, 10), osla_part(f, 4, 4, 10, 10))
    call osla_matrix_copy(osla_part(b, 4, 1, 10, 2), osla_part(x, 4, 1, 10, 2))
    allocate (ipiv(osla_matrix_local_rows(f)))
    call osla_getrf(osla_part(f, 4, 4, 10, 10), ipiv, result)
    call expect(result%info == 0 .and. logical(result%trusted), 'factors of a part')
    call osla_getrs(OSLA_NOTRANS, osla_part(f, 4, 4, 10, 10), ipiv, osla_part(x, 4, 1, 10, 2))
    call osla_matrix_get_block(x, 4, 1, solved)
    call expect(all(abs(matmul(part, solved) - rhs) < 1e-12), 'solutions with LU factors of a part')
    call osla_matrix_get_block(f, 1, 1, whole)
    whole(4:13, 4:13) = before(4:13, 4:13)
    call expect(all(whole == before), 'what is outside of a part')
    call osla_barrier(transport)
    call osla_matrix_fill(osla_part(f, 2, 3, 4, 5), OSLA_FILL_IDENTITY, 0)
    call osla_matrix_scale((3.0_real64, 0.0_real64), osla_part(f, 2, 3, 4, 5))
    call osla_barrier(transport)
    call osla_matrix_transpose(OSLA_TRANS, osla_part(f, 2, 3, 4, 5), osla_part(x, 7, 1, 2, 1), stat, text)
    call expect(stat == OSLA_ERR_ARG, 'a transpose of another size')
    call osla_matrix_transpose(OSLA_TRANS, osla_part(f, 2, 3, 1, 5), osla_part(x, 7, 1, 5, 1))
    call osla_matrix_get_block(x, 4, 1, solved)
    call expect(solved(4, 1) == 3 .and. all(solved(5:8, 1) == 0), 'a part that was filled, scaled and transposed')
    call osla_barrier(transport)
    call osla_matrix_copy(osla_part(a, 14, 4, 10, 10), osla_part(a, 13, 4, 10, 10), stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'overlap') > 0, 'parts that overlap')
    call osla_potrf(OSLA_LOWER, osla_part(f, 15, 15, 10, 10), info, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'not inside') > 0, 'a part outside')
    call give_up(a, f, b, x)
  end subroutine parts

  subroutine refinement
    type(osla_matrix) :: a, l, b, x
    type(osla_refine_result) :: result
    type(osla_mixed_result) :: mixed
    integer :: info, stat
    call system(OSLA_FILL_SPD, 23, a, l, b, x)
    call osla_potrf(OSLA_LOWER, l, info)
    call osla_matrix_fill(x, OSLA_FILL_ZERO, 0)
    call osla_refine(a, l, b, x, uplo=OSLA_LOWER, result=result)
    call expect(logical(result%converged), 'refinement')
    call osla_refine(a, l, b, x, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'refinement needs to know what the factors are')
    call osla_gesv_mixed(a, b, x, result=mixed)
    call expect(mixed%path == OSLA_MIXED_SINGLE .and. mixed%info == 0, 'mixed precision, LU')
    call osla_posv_mixed(OSLA_LOWER, a, b, x, result=mixed)
    call expect(mixed%path == OSLA_MIXED_SINGLE .and. logical(mixed%refine%converged), 'mixed precision, Cholesky')
    call give_up(a, l, b, x)
  end subroutine refinement

  ! Tests the accumulator: H = I + sum over ranks of G^T G.
  subroutine accumulator
    integer, parameter :: n = 30
    type(osla_hessian) :: hessian
    type(osla_hessian_options) :: options
    type(osla_hessian_stats) :: stats
    type(osla_matrix) :: matrix
    real(real64) :: g(2, 3), right(n, n), has(n, n), gradient(n)
    real(real64), pointer :: summed(:)
    integer :: ix(3), i, stat
    character(200) :: text
    call expect(options%nb == 0 .and. all(options%reserved == 0), 'options begin as {0} in C')
    options%reserved(3) = 7
    call osla_hessian_create(grid, n, hessian, options, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'osla_hessian_options: reserved[2] = 0x7') > 0, 'reserved words')
    options%reserved(3) = 0
    options%nb = 4
    call osla_hessian_create(grid, n, hessian, options)
    right = 0
    gradient = 0
    do i = 1, ranks
      ix = [i, i + 7, n + 1 - i]
      g = reshape([1, 2, 3, 4, 5, 6], [2, 3]) + i
      right(ix, ix) = right(ix, ix) + matmul(transpose(g), g)
      gradient(ix) = gradient(ix) + g(1, :)
      if (i /= rank + 1) cycle
      call osla_hessian_update(hessian, ix, g)
      call osla_hessian_update_gradient(hessian, int(ix, int64), g(1, :))
    end do
    if (rank == 0) call osla_hessian_update_block(hessian, [5, 6], [5], reshape([10.0_real64, 20.0_real64], [2, 1]))
    right(5, 5) = right(5, 5) + 10
    right(6, 5) = right(6, 5) + 20
    right(5, 6) = right(5, 6) + 20
    call osla_hessian_commit(hessian)
    call osla_hessian_matrix(hessian, matrix)
    call osla_matrix_mirror(matrix, OSLA_LOWER)
    call osla_matrix_get_block(matrix, 1, 1, has)
    call expect(all(abs(has - right) == 0), 'the assembled matrix')
    summed => osla_hessian_gradient(hessian)
    call expect(size(summed) == n .and. all(abs(summed - gradient) == 0), 'the summed gradient')
    stats = osla_hessian_get_stats(hessian)
    call expect(stats%updates >= 1, 'updates counted')
    call osla_barrier(transport)

    call osla_hessian_update(hessian, [1, n + 1, 3], g, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. text == 'osla_hessian_update: index 31 at 2 is outside 1 to 30', text)
    call osla_hessian_update(hessian, [1, 2], g, stat)
    call expect(stat == OSLA_ERR_ARG, 'fewer indices than columns')
    call osla_hessian_update(hessian, [1, 2, 3], real(g, real32), stat)
    call expect(stat == OSLA_ERR_ARG .and. index(osla_error_text(), 'updates are of real(real64)') > 0, 'single precision')
    call osla_matrix_destroy(matrix)
    call osla_hessian_reset(hessian)
    call osla_hessian_commit(hessian)
    call osla_hessian_destroy(hessian)
  end subroutine accumulator

  ! Tests an accumulator on a created matrix: I + sums, then sums alone.
  subroutine accumulator_on_created
    type(osla_hessian) :: hessian, second
    type(osla_hessian_options) :: options
    type(osla_matrix) :: matrix, same, none
    real(real64) :: right(9, 9), g(1, 2)
    integer :: i, stat
    character(200) :: text
    call osla_matrix_create(grid, OSLA_DOUBLE, 9, 9, 2, 2, matrix)
    call osla_matrix_fill(matrix, OSLA_FILL_IDENTITY, 0)
    options%uplo = OSLA_GENERAL
    call osla_hessian_create_on(matrix, hessian, options)
    g = reshape([2, 3], [1, 2])
    call osla_hessian_update(hessian, [9, 1 + modulo(rank, 8)], g)
    call osla_hessian_commit(hessian)
    right = 0
    do i = 1, 9
      right(i, i) = 1
    end do
    do i = 1, ranks
      right([9, i], [9, i]) = right([9, i], [9, i]) + matmul(transpose(g), g)
    end do
    call compare(matrix, right, 'the identity and the updates')
    call osla_hessian_matrix(hessian, same)
    call expect(c_associated(same%handle, matrix%handle), 'the matrix of the caller')
    call osla_matrix_destroy(same)
    call osla_hessian_create_on(matrix, second, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'another accumulator') > 0, 'two on one matrix: ' // text)
    call osla_hessian_destroy(hessian)

    options%clear = .true.
    call osla_hessian_create_on(matrix, hessian, options)
    if (rank == 0) call osla_hessian_update_block(hessian, [3_int64], [4_int64], reshape([5.0_real64], [1, 1]))
    call osla_hessian_commit(hessian)
    call osla_hessian_destroy(hessian)
    right = 0
    right(3, 4) = 5
    call compare(matrix, right, 'the updates alone')
    options%nb = 3
    call osla_hessian_create_on(matrix, hessian, options, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'nb = 3') > 0, 'a block size that differs: ' // text)
    call expect(.not. c_associated(hessian%handle), 'no accumulator after an error')
    call osla_matrix_destroy(matrix)
    call osla_hessian_create_on(none, hessian, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. text == &
      'osla_hessian_create_on: the matrix was not created, or is destroyed', 'no matrix: ' // text)
  end subroutine accumulator_on_created

  ! Tests accumulators on allocatable arrays that are wrapped: a float H takes float updates, and a
  ! double H takes float updates with single_updates. The element beside the part is not changed.
  subroutine accumulator_on_wrapped
    integer, parameter :: n = 7
    real(real32), allocatable, target :: single(:, :)
    real(real64), allocatable, target :: double(:, :)
    real(real32) :: g(2, 2)
    type(osla_matrix) :: shape_of, matrix
    type(osla_hessian) :: hessian
    type(osla_hessian_options) :: options
    real(real64) :: right(n, n), total(2)
    integer :: rows, cols, stat, turn
    call osla_matrix_create(grid, OSLA_FLOAT, n, n, 3, 3, shape_of)
    rows = int(osla_matrix_local_rows(shape_of))
    cols = int(osla_matrix_local_cols(shape_of))
    call osla_matrix_destroy(shape_of)
    allocate (single(rows + 1, cols), double(rows + 1, cols))
    single = 2
    double = 2
    g = reshape([1, 2, 3, 4], [2, 2])
    right = 2
    right([2, 6], [2, 6]) = right([2, 6], [2, 6]) + ranks * matmul(transpose(g), g)
    right(2, 6) = 2 ! the upper triangle is not stored
    do turn = 1, 2
      if (turn == 1) call osla_matrix_wrap(grid, n, n, 3, 3, single(1:rows, :), matrix)
      if (turn == 2) call osla_matrix_wrap(grid, n, n, 3, 3, double(1:rows, :), matrix)
      options%single_updates = turn == 2
      call osla_hessian_create_on(matrix, hessian, options)
      call osla_hessian_update(hessian, [2, 6], g)
      call osla_hessian_update(hessian, [2, 6], real(g, real64), stat)
      call expect(stat == OSLA_ERR_ARG .and. index(osla_error_text(), 'updates are of real(real32)') > 0, 'double updates')
      call osla_hessian_commit(hessian)
      call osla_hessian_destroy(hessian)
      call osla_matrix_destroy(matrix)
    end do
    total = [sum(real(single(1:rows, :), real64)), sum(double(1:rows, :))]
    call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(abs(total - sum(right)) == 0), 'the arrays hold the sums')
    call expect(all(abs(single - double) == 0), 'equal sums in both precisions')
    call expect(all(abs(double(rows + 1, :) - 2) == 0), 'memory beside the part')
  end subroutine accumulator_on_wrapped

  subroutine once
    type(osla_hessian) :: hessian
    type(osla_matrix) :: matrix
    logical :: skipped
    real(real64) :: trace(1, 1), g(1, 2)
    integer(int64) :: id
    call osla_hessian_create(grid, 8_int64, hessian)
    g = 1
    id = 100 + rank
    call osla_hessian_update_once(hessian, id, [1, 2], g, [1.0_real64, 2.0_real64], skipped)
    call expect(.not. skipped, 'a new id')
    call osla_hessian_update_once(hessian, id, [1_int64, 2_int64], g, skipped=skipped)
    call expect(skipped .and. osla_hessian_has_id(hessian, id), 'an id that is in')
    call osla_hessian_commit(hessian)
    call osla_hessian_matrix(hessian, matrix)
    call osla_matrix_get_block(matrix, 2, 1, trace)
    call expect(abs(trace(1, 1) - ranks) == 0, 'each datum once')
    call osla_barrier(transport)
    call osla_hessian_destroy(hessian)
  end subroutine once

  subroutine files
    type(osla_matrix) :: matrix, again
    type(osla_file) :: file
    type(osla_file_matrix) :: look
    real(real64) :: right(10, 11), both(7, 7), number, vector(4)
    integer(int64) :: whole, count, list(2), part(1)
    character(20) :: text
    character(200) :: name
    logical :: has
    integer :: stat, stored, at
    name = shared_name()
    call make(OSLA_DOUBLE, 10, 11, matrix)
    call osla_matrix_get_block(matrix, 1, 1, right)
    call osla_matrix_save(matrix, trim(name) // '.raw', stored=OSLA_STORED_WHOLE)
    call osla_matrix_load(grid, trim(name) // '.raw', again, mb=2, nb=5, stored=stored)
    call compare(again, right, 'a matrix from a file')
    call expect(stored == OSLA_STORED_WHOLE, 'what is stored')
    call osla_matrix_destroy(again)
    call osla_matrix_create_triangle(grid, OSLA_DOUBLE, 7, 3, again)
    call osla_matrix_fill(again, OSLA_FILL_SPD, 1)
    call osla_matrix_get_block(again, 1, 1, both)
    call osla_matrix_save(again, trim(name) // '.raw', stored=OSLA_STORED_FULL)
    call osla_matrix_destroy(again)
    call osla_matrix_load(grid, trim(name) // '.raw', again)
    call compare(again, both, 'both triangles from a file')
    call osla_matrix_destroy(again)
    call osla_matrix_load(grid, trim(name) // '.none', again, stat=stat)
    call expect(stat == OSLA_ERR_IO, 'a file that is not there')

    call osla_file_create(transport, trim(name) // '.h5', file, stat)
    if (stat /= OSLA_ERR_UNSUPPORTED) then
      call osla_file_put(file, 'A', matrix)
      call osla_file_put(file, 'x', [1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64])
      call osla_file_put(file, 'k', [5_int64, 6_int64])
      call osla_file_put_parts(file, 'mine', [int(rank, int64)])
      call osla_file_put(file, 'pi', 3.25_real64)
      call osla_file_put(file, 'n', 11_int64)
      call osla_file_put(file, 'title', 'a title')
      call osla_file_commit(file)
      call osla_file_open(transport, trim(name) // '.h5', file)
      call osla_file_has(file, 'A', has)
      call expect(has, 'A is there')
      call osla_file_look_matrix(file, 'A', look)
      call expect(look%m == 10 .and. look%n == 11 .and. look%dtype == OSLA_DOUBLE, 'A as it is')
      call osla_matrix_create(grid, OSLA_DOUBLE, 10, 11, 4, 4, again)
      call osla_file_get(file, 'A', again)
      call compare(again, right, 'a matrix from an HDF5 file')
      call osla_matrix_destroy(again)
      call osla_file_count(file, 'x', count)
      call expect(count == 4, 'elements of x')
      call osla_file_get(file, 'x', vector)
      call expect(abs(vector(4) - 4) == 0, 'x')
      call osla_file_get(file, 'k', list)
      call expect(list(2) == 6, 'k')
      call osla_file_get_parts(file, 'mine', int(rank + 1, int64), part)
      call expect(part(1) == rank, 'my part')
      call osla_file_get(file, 'pi', number)
      call osla_file_get(file, 'n', whole)
      call osla_file_get(file, 'title', text)
      call expect(abs(number - 3.25) == 0 .and. whole == 11 .and. text == 'a title', 'numbers and a text')
      call osla_file_close(file)
    end if
    call osla_matrix_destroy(matrix)
    call osla_barrier(transport)
    if (rank == 0) then
      open (newunit=at, file=trim(name) // '.raw')
      close (at, status='delete')
      open (newunit=at, file=trim(name) // '.h5')
      close (at, status='delete')
    end if
  end subroutine files

  ! A unique file name, the same on all ranks.
  function shared_name() result(name)
    character(200) :: name, folder
    integer :: count
    call get_environment_variable('TMPDIR', folder)
    if (folder == ' ') folder = '/tmp'
    call system_clock(count)
    call MPI_Bcast(count, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    write (name, '(2a, i0)') trim(folder), '/test_fortran-', count
  end function shared_name

  subroutine traces
    type(osla_trace_summary) :: summary
    call osla_trace_start(transport)
    call osla_barrier(transport)
    call osla_trace_stop(transport)
    call osla_trace_summarise(transport, summary)
    call expect(summary%kind(1 + OSLA_TRACE_BARRIER)%events >= ranks, 'a barrier in the trace')
    call expect(osla_trace_name(OSLA_TRACE_BARRIER) == 'barrier', 'its name')
  end subroutine traces

  subroutine refusals
    type(osla_matrix) :: none, a, b
    type(osla_hessian) :: no_hessian
    type(osla_grid) :: no_grid
    type(osla_transport) :: no_transport
    integer :: stat, info
    character(100) :: text
    call osla_potrf(OSLA_LOWER, none, info, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_STATE .and. text == 'osla_potrf: the matrix was not created, or is destroyed', text)
    call osla_hessian_commit(no_hessian, stat)
    call expect(stat == OSLA_ERR_STATE, 'no accumulator')
    call osla_matrix_create(no_grid, OSLA_DOUBLE, 1, 1, 1, 1, a, stat)
    call expect(stat == OSLA_ERR_STATE, 'no grid')
    call osla_grid_create(no_transport, no_grid, stat=stat)
    call expect(stat == OSLA_ERR_STATE, 'no transport')
    call osla_matrix_create(grid, OSLA_DOUBLE, -1, 1, 1, 1, a, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, '-1') > 0, 'a negative size: ' // text)
    call make(OSLA_DOUBLE, 4, 5, a)
    call make(OSLA_DOUBLE, 4, 5, b)
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, a, b, 0.0_real64, none, stat=stat)
    call expect(stat == OSLA_ERR_STATE, 'no C')
    call osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0_real64, a, a, 0.0_real64, b, stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'sizes that do not fit')
    call osla_barrier(transport, stat)
    call expect(stat == OSLA_OK, 'and on it goes')
    call osla_matrix_destroy(a)
    call osla_matrix_destroy(a)
    call osla_matrix_norm(a, OSLA_NORM_MAX, scale, stat)
    call expect(stat == OSLA_ERR_STATE, 'a matrix that is destroyed')
    call expect(osla_err_name(OSLA_ERR_MEM) /= osla_err_name(OSLA_ERR_IO), 'names of errors')
    call osla_matrix_destroy(b)
  end subroutine refusals

end program test_fortran
