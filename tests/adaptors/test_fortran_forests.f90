! Module osla: star forests, their transfers, begun ones and fetches, and memory that is read in place; each call once with
! an answer that is known.
program test_fortran_forests
  use, intrinsic :: iso_fortran_env, only: real32, real64, int64
  use mpi_f08
  use osla
  use fortran_trial
  implicit none

  call trial_begin
  call trees
  call kinds
  call made_from_others
  call shapes
  call forest_refusals
  call begun
  call fetches
  call begun_refusals
  call trial_end

contains

  ! Two roots on each rank; leaves 5, 1 and 3 of each rank have roots on the next rank and on this
  ! one.
  subroutine make_ring(forest)
    type(osla_forest), intent(out) :: forest
    integer :: after
    after = mod(rank + 1, ranks)
    call osla_forest_create(transport, 2, [osla_root(after, 1_int64), osla_root(rank, 1_int64), osla_root(after, 2_int64)], &
      forest, leaf=[5, 1, 3])
  end subroutine make_ring

  subroutine trees
    type(osla_forest) :: forest, global
    real(real64) :: roots(2), leaves(5), wide_roots(3, 2), wide_leaves(3, 5)
    integer(int64) :: degree(2)
    integer :: after, start(ranks + 1), i
    after = mod(rank + 1, ranks)
    call make_ring(forest)
    call expect(osla_forest_n_roots(forest) == 2 .and. osla_forest_n_edges(forest) == 3 .and. &
      osla_forest_leaf_space(forest) == 5, 'sizes')
    call osla_forest_degrees(forest, degree)
    call expect(all(degree == [2, 1]), 'degrees')
    roots = [10 * rank + 1, 10 * rank + 2]
    leaves = -1
    call osla_forest_bcast(forest, roots, leaves, OSLA_REPLACE)
    call expect(all(abs(leaves - [10 * rank + 1, -1, 10 * after + 2, -1, 10 * after + 1]) == 0), 'a broadcast')
    leaves = [1, 100, 2, 100, 3]
    roots = 10
    call osla_forest_reduce(forest, leaves, roots, OSLA_SUM)
    call expect(all(abs(roots - [14, 12]) == 0), 'a sum')
    wide_leaves = spread(leaves, 1, 3)
    wide_roots = 7
    call osla_forest_reduce(forest, wide_leaves, wide_roots, OSLA_MAX)
    call expect(all(abs(wide_roots - 7) == 0), 'the greatest, three numbers in a vertex')
    call osla_forest_reduce(forest, wide_leaves, wide_roots, OSLA_MIN)
    call expect(all(abs(wide_roots - spread([1.0_real64, 2.0_real64], 1, 3)) == 0), 'the least')
    start = [(1 + 2 * i, i = 0, ranks)]
    call osla_forest_create_global(transport, start, [start(after + 1), start(rank + 1), start(after + 1) + 1], global)
    call expect(osla_forest_leaf_space(global) == 3, 'leaves without a list')
    call osla_forest_degrees(global, degree)
    call expect(all(degree == [2, 1]), 'degrees from numbers of all roots')
    call osla_forest_destroy(global)
    call osla_forest_create_global(transport, int(start, int64), int([start(after + 1)], int64), global, leaf=[2_int64])
    call expect(osla_forest_leaf_space(global) == 2 .and. osla_forest_n_edges(global) == 1, 'with a list')
    call osla_forest_destroy(global)
    call osla_forest_destroy(forest)
    call osla_forest_destroy(forest)
  end subroutine trees

  subroutine kinds
    type(osla_forest) :: forest
    real(real32) :: single(1)
    complex(real64) :: z(1), wide_z(2, 1)
    integer :: number(1), wide(4, 1)
    integer(int64) :: long(1)
    real(real64) :: exact(1)
    call osla_forest_create(transport, 1_int64, [osla_root(rank, 1_int64)], forest)
    single = 0
    call osla_forest_reduce(forest, [1.5], single, OSLA_SUM)
    call expect(abs(single(1) - 1.5) == 0, 'real32')
    z = 1
    call osla_forest_reduce(forest, [(2.0_real64, 3.0_real64)], z, OSLA_PROD)
    call expect(abs(z(1) - (2.0_real64, 3.0_real64)) == 0, 'complex')
    call osla_forest_bcast(forest, reshape([z, z], [2, 1]), wide_z, OSLA_REPLACE)
    call expect(all(abs(wide_z - z(1)) == 0), 'complex, two in a vertex')
    number = 12
    call osla_forest_reduce(forest, [10], number, OSLA_BITS_AND)
    call expect(number(1) == 8, 'integers')
    call osla_forest_bcast(forest, reshape([1, 2, 3, 4], [4, 1]), wide, OSLA_REPLACE)
    call expect(all(wide(:, 1) == [1, 2, 3, 4]), 'integers, four in a vertex')
    long = 2_int64**40
    call osla_forest_reduce(forest, [2_int64**41], long, OSLA_MAX)
    call expect(long(1) == 2_int64**41, 'integer(int64)')
    exact = 1e300_real64
    call osla_forest_reduce(forest, [-1e300_real64], exact, OSLA_SUM_EXACT)
    call expect(abs(exact(1)) == 0, 'an exact sum')
    call osla_forest_destroy(forest)
  end subroutine kinds

  subroutine made_from_others
    type(osla_forest) :: forest, back, both, split
    integer(int64) :: degree(3)
    integer :: leaves(1), stat
    call osla_forest_create(transport, 1, [osla_root(mod(rank + 1, ranks), 1_int64)], forest)
    call osla_forest_inverse(forest, back)
    call osla_forest_compose(forest, back, both)
    leaves = -1
    call osla_forest_bcast(both, [rank], leaves, OSLA_REPLACE)
    call expect(leaves(1) == rank, 'there and back')
    call osla_forest_destroy(both)
    call osla_forest_destroy(back)
    call osla_forest_destroy(forest)
    call make_ring(forest)
    call osla_forest_split(forest, split)
    call osla_forest_degrees(split, degree)
    call expect(osla_forest_n_roots(split) == 3 .and. all(degree == 1), 'a root for each leaf')
    call osla_forest_inverse(forest, back, stat)
    call expect(stat == OSLA_ERR_ARG, 'no inverse where a root has two leaves')
    call osla_forest_destroy(split)
    call osla_forest_destroy(forest)
  end subroutine made_from_others

  subroutine shapes
    type(osla_forest) :: forest, made, ring
    integer(int64), allocatable :: leaf(:)
    type(osla_root), allocatable :: root(:)
    integer :: mine(rank + 1), every(ranks * (ranks + 1) / 2), sent(2 * ranks), got(2 * ranks), stat, i, after
    integer(int64) :: degree(2)
    mine = rank
    call osla_forest_allgather(transport, rank + 1, forest)
    call osla_forest_bcast(forest, mine, every, OSLA_REPLACE)
    call expect(all([(count(every == i) == i + 1, i = 0, ranks - 1)]), 'all-gather')
    call osla_forest_destroy(forest)
    call osla_forest_gather(transport, int(rank + 1, int64), ranks - 1, forest)
    call expect(osla_forest_n_edges(forest) == merge(size(every), 0, rank == ranks - 1), 'gather')
    call osla_forest_destroy(forest)
    call osla_forest_gather(transport, 1, ranks, forest, stat)
    call expect(stat == OSLA_ERR_ARG, 'gather at no rank')
    call osla_forest_alltoall(transport, 2, forest)
    sent = [(100 * rank + i / 2, i = 0, 2 * ranks - 1)]
    call osla_forest_bcast(forest, sent, got, OSLA_REPLACE)
    call expect(all(got == [(100 * (i / 2) + rank, i = 0, 2 * ranks - 1)]), 'all-to-all')
    call osla_forest_compose_inverse(forest, forest, made)
    call osla_forest_bcast(made, sent, got, OSLA_REPLACE)
    call expect(all(got == sent), 'there and back')
    call osla_forest_destroy(made)
    call osla_forest_destroy(forest)

    call make_ring(ring)
    after = mod(rank + 1, ranks)
    call expect(any(osla_forest_root_ranks(ring) == after) .and. any(osla_forest_leaf_ranks(ring) == rank), 'ranks')
    call expect(size(osla_forest_root_ranks(ring)) == min(ranks, 2) .and. size(osla_forest_root_ranks(made)) == 0, &
      'how many ranks')
    call osla_forest_edges(ring, leaf, root)
    call expect(size(leaf) == 3 .and. sum(leaf) == 9 .and. all(root%index >= 1 .and. root%index <= 2), 'edges')
    call expect(all(pack(root%rank, leaf == 3) == after) .and. all(pack(root%index, leaf == 3) == 2), 'an edge')
    call expect(index(osla_forest_view(ring), '2 roots, 3 edges') > 0, 'a view')
    call expect(index(osla_forest_view(ring, .true.), 'leaf 4, root 0') > 0 .and. osla_forest_view(made) == '', 'its edges')
    call osla_forest_embed_roots(ring, [2], made)
    call osla_forest_degrees(made, degree)
    call expect(all(degree == [0, 1]), 'some roots')
    call osla_forest_destroy(made)
    call osla_forest_embed_leaves(ring, [1_int64, 3_int64], made)
    call expect(osla_forest_n_edges(made) == 2, 'some leaves')
    call osla_forest_destroy(made)
    call osla_forest_embed_roots(ring, [3], made, stat)
    call expect(stat == OSLA_ERR_ARG, 'a root that there is not')
    call osla_forest_concatenate([ring, ring], .true., made)
    call osla_forest_degrees(made, degree)
    call expect(all(degree == [4, 2]) .and. osla_forest_leaf_space(made) == 10, 'side by side')
    call osla_forest_destroy(made)
    call osla_forest_concatenate([ring, forest], .true., made, stat)
    call expect(stat == OSLA_ERR_STATE, 'one that was destroyed')
    call osla_forest_strided(ring, 2, 2, 3, made)
    call expect(osla_forest_n_roots(made) == 4 .and. osla_forest_n_edges(made) == 6, 'strides')
    call osla_forest_destroy(made)
    call osla_forest_sections(ring, int([0, 1, 3], int64), int([0, 1, 1, 3, 3, 4], int64), made)
    call expect(osla_forest_n_roots(made) == 3 .and. osla_forest_n_edges(made) == 4, 'sections')
    call osla_forest_destroy(made)
    call osla_forest_sections(ring, int([0, 1, 3], int64), int([0, 1, 1, 2, 2, 3], int64), made, stat)
    call expect(stat == OSLA_ERR_ARG, 'sections of different sizes')
    call osla_forest_sections(ring, int([0, 1], int64), int([0, 1, 1, 3, 3, 4], int64), made, stat)
    call expect(stat == OSLA_ERR_ARG, 'too short a list of sections')
    call osla_forest_strided(ring, 2, 1, 2, made, stat)
    call expect(stat == OSLA_ERR_ARG, 'a stride below the count')
    call osla_forest_destroy(ring)
  end subroutine shapes

  subroutine forest_refusals
    type(osla_forest) :: forest, none
    type(osla_root) :: root
    real(real64) :: roots(2), leaves(5), wide(2, 2)
    integer(int64) :: degree(2)
    integer :: stat
    character(200) :: text
    root = osla_root(0, 2_int64)
    if (rank == ranks - 1) root%index = 3 ! wrong on the last rank only
    call osla_forest_create(transport, 2, [root], none, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG, 'a root that there is not: ' // text)
    root = osla_root(ranks, 1_int64)
    call osla_forest_create(transport, 2, [root], none, stat=stat, errmsg=text)
    call expect(stat == OSLA_ERR_ARG, 'a rank that there is not: ' // text)
    root = osla_root(0, 1_int64)
    call osla_forest_create(transport, 2, [root], none, leaf=[0], stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'a leaf below 1')
    call osla_forest_create(transport, 2, [root], none, leaf=[1, 2], stat=stat)
    call expect(stat == OSLA_ERR_ARG, 'more leaves than roots')
    call osla_forest_create_global(transport, [1, 2], [1], none, stat=stat)
    call expect((stat == OSLA_ERR_ARG) .neqv. ranks == 1, 'starts of other ranks')
    if (ranks == 1) call osla_forest_destroy(none)
    roots = 0
    leaves = 0
    wide = 0
    call osla_forest_bcast(none, roots, leaves, OSLA_REPLACE, stat, text)
    call expect(stat == OSLA_ERR_STATE .and. index(text, 'the forest was not created') > 0, 'no forest: ' // text)
    call make_ring(forest)
    call osla_forest_bcast(forest, roots, leaves(:4), OSLA_REPLACE, stat)
    call expect(stat == OSLA_ERR_ARG, 'fewer leaves')
    call osla_forest_reduce(forest, reshape(leaves, [1, 5]), wide, OSLA_SUM, stat)
    call expect(stat == OSLA_ERR_ARG, 'other vertices')
    call osla_forest_reduce(forest, leaves, roots, OSLA_MINLOC, stat)
    call expect(stat == OSLA_ERR_ARG, 'a combination that reals have not')
    call osla_forest_reduce(forest, leaves + 1, roots, OSLA_SUM)
    call expect(all(abs(roots - [2, 1]) == 0), 'and on it goes')
    call osla_forest_destroy(forest)
    call osla_forest_degrees(forest, degree, stat)
    call expect(stat == OSLA_ERR_STATE, 'a forest that is destroyed')
  end subroutine forest_refusals

  subroutine begun
    type(osla_forest) :: forest
    type(osla_forest_run) :: first, second, third
    real(real64), asynchronous, target :: roots(2), leaves(5)
    integer, asynchronous, target :: counts(3, 2), ones(3, 5)
    complex(real64), asynchronous, target :: z(2), w(5)
    real(real64), pointer :: shared(:)
    integer(int64), pointer :: numbers(:)
    logical :: done
    integer :: after
    after = mod(rank + 1, ranks)
    call make_ring(forest)
    roots = [10 * rank + 1, 10 * rank + 2]
    leaves = -1
    counts = 0
    ones = 1
    z = cmplx(rank, 1, real64)
    w = 0
    call osla_forest_bcast_begin(forest, roots, leaves, OSLA_REPLACE, first)
    call osla_forest_reduce_begin(forest, ones, counts, OSLA_SUM, second)
    call osla_forest_bcast_begin(forest, z, w, OSLA_SUM, third)
    call osla_forest_end(first)
    done = .false.
    do while (.not. done)
      call osla_forest_test(third, done)
    end do
    call osla_forest_end(second)
    call expect(all(abs(leaves - [10 * rank + 1, -1, 10 * after + 2, -1, 10 * after + 1]) == 0), 'a begun broadcast')
    call expect(all(counts(:, 1) == 2) .and. all(counts(:, 2) == 1), 'a begun sum')
    call expect(abs(w(5) - cmplx(after, 1, real64)) == 0 .and. abs(w(2)) == 0, 'a begun broadcast, complex')
    call osla_vertices_create(transport, osla_forest_n_roots(forest), shared)
    call expect(all(abs(shared) == 0), 'zeros')
    shared = roots + 1
    call osla_forest_bcast_begin(forest, shared, leaves, OSLA_REPLACE, first)
    call osla_forest_end_read(first)
    call osla_forest_writable(forest)
    shared = 0
    call expect(abs(leaves(3) - (10 * after + 3)) == 0, 'from memory that is read in place')
    call osla_vertices_free(transport, shared)
    call expect(.not. associated(shared), 'freed')
    call osla_vertices_create(transport, merge(0, 4, rank == 0), numbers)
    call expect(size(numbers) == merge(0, 4, rank == 0), 'none on one rank')
    call osla_vertices_free(transport, numbers)
    call osla_vertices_create(transport, int(rank, int64), numbers)
    call expect(size(numbers) == rank .and. all(numbers == 0), 'as many as the rank says')
    call osla_vertices_free(transport, numbers)
    call osla_forest_destroy(forest)
  end subroutine begun

  ! Tests fetches: all leaves have root 1 of rank 0, and each leaf gets a distinct number.
  subroutine fetches
    type(osla_forest) :: forest
    type(osla_forest_run) :: run
    integer(int64) :: counter(1), ones(2), tickets(2)
    integer(int64) :: all_tickets(2 * ranks)
    real(real32), asynchronous, target :: sums(2, 1), parts(2, 2), before(2, 2)
    integer :: i
    call osla_forest_create(transport, 1, [osla_root(0, 1_int64), osla_root(0, 1_int64)], forest)
    counter = 100
    ones = 1
    call osla_forest_fetch(forest, counter, ones, tickets, OSLA_SUM)
    call expect(all(tickets == [100 + 2 * rank, 101 + 2 * rank]), 'tickets in the order of ranks')
    call expect(counter(1) == merge(100 + 2 * ranks, 100, rank == 0), 'the counter')
    call osla_forest_fetch(forest, counter, ones, tickets, OSLA_SUM_ARRIVAL)
    call MPI_Allgather(tickets, 2, MPI_INTEGER8, all_tickets, 2, MPI_INTEGER8, MPI_COMM_WORLD)
    call expect(all([(count(all_tickets == 100 + 2 * ranks + i) == 1, i = 0, 2 * ranks - 1)]), 'tickets as they come')
    sums = 0
    parts = 1
    parts(2, :) = 2
    call osla_forest_fetch_begin(forest, sums, parts, before, OSLA_SUM, run)
    call osla_forest_end(run)
    call expect(all(nint(before(1, :)) == [2 * rank, 2 * rank + 1]), 'a begun fetch')
    call expect(all(nint(before(2, :)) == 2 * [2 * rank, 2 * rank + 1]), 'its second numbers')
    call osla_forest_destroy(forest)
  end subroutine fetches

  subroutine begun_refusals
    type(osla_forest) :: forest, none
    type(osla_forest_run) :: run
    real(real64), asynchronous, target :: roots(2), leaves(5), spaced(10)
    integer, asynchronous, target :: counts(5)
    integer(int64), pointer :: memory(:)
    logical :: other_kind(2), done
    integer :: stat
    character(200) :: text
    call make_ring(forest)
    roots = 0
    leaves = 0
    spaced = 0
    other_kind = .true.
    call osla_forest_end(run, stat)
    call expect(stat == OSLA_ERR_STATE, 'a transfer that was not begun')
    call osla_forest_test(run, done, stat)
    call expect(stat == OSLA_ERR_STATE .and. .not. done, 'the same, tested')
    call osla_forest_bcast_begin(none, roots, leaves, OSLA_REPLACE, run, stat)
    call expect(stat == OSLA_ERR_STATE, 'no forest')
    call osla_forest_bcast_begin(forest, roots, counts, OSLA_REPLACE, run, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'one kind') > 0, 'two kinds')
    call osla_forest_bcast_begin(forest, other_kind, other_kind, OSLA_REPLACE, run, stat)
    call expect(stat == OSLA_ERR_ARG, 'logicals')
    call osla_forest_bcast_begin(forest, roots, leaves(:4), OSLA_REPLACE, run, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'the forest''s sizes') > 0, 'fewer leaves')
    call osla_forest_bcast_begin(forest, roots, spaced(::2), OSLA_REPLACE, run, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'not contiguous') > 0, 'leaves with gaps')
    call osla_forest_fetch(forest, roots, leaves, leaves(:4), OSLA_SUM, stat)
    call expect(stat == OSLA_ERR_ARG, 'a fetch into fewer')
    call osla_forest_fetch(forest, roots, leaves, spaced(:5), OSLA_SUM_EXACT, stat)
    call expect(stat == OSLA_ERR_ARG, 'a combination that fetches have not')
    call osla_forest_writable(none, stat)
    call expect(stat == OSLA_ERR_STATE, 'no forest that is writable')
    call osla_vertices_create(transport, merge(-1, 1, rank == 0), memory, stat)
    call expect(stat == OSLA_ERR_ARG .and. .not. associated(memory), 'a negative number on one rank')
    call osla_vertices_create(transport, merge(2_int64**61, 1_int64, rank == ranks - 1), memory, stat, text)
    call expect(stat == OSLA_ERR_ARG .and. index(text, 'more vertices than') > 0, 'too many on one rank: ' // text)
    call osla_forest_bcast_begin(forest, roots, leaves, OSLA_REPLACE, run)
    call osla_forest_destroy(forest, stat)
    call expect(stat == OSLA_ERR_STATE, 'destroyed under way')
    call osla_forest_end(run)
    call osla_forest_end(run, stat)
    call expect(stat == OSLA_ERR_STATE, 'ended twice')
    call osla_forest_destroy(forest)
  end subroutine begun_refusals

end program test_fortran_forests
