! Star forests of standard shapes, forests made from others, and queries. The contracts are in
! osla_forest.h; roots and leaves are counted from 1, ranks from 0.
module osla_forest_shapes
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_forest, report, is_absent
  use osla_collectives, only: collective_call, requires, check, all_ready
  implicit none
  private
  public :: osla_forest_allgather, osla_forest_gather, osla_forest_alltoall, osla_forest_compose_inverse
  public :: osla_forest_embed_roots, osla_forest_embed_leaves, osla_forest_concatenate, osla_forest_strided
  public :: osla_forest_sections
  public :: osla_forest_root_ranks, osla_forest_leaf_ranks, osla_forest_edges, osla_forest_view

  interface osla_forest_allgather
    procedure allgather_default, allgather_long
  end interface
  interface osla_forest_gather
    procedure gather_default, gather_long
  end interface
  interface osla_forest_alltoall
    procedure alltoall_default, alltoall_long
  end interface
  interface osla_forest_embed_roots
    procedure roots_default, roots_long
  end interface
  interface osla_forest_embed_leaves
    procedure leaves_default, leaves_long
  end interface
  interface osla_forest_strided
    procedure strided_default, strided_long
  end interface

contains

  ! --- standard shapes: collective ---

  ! Leaf i of every rank has the i-th root of all ranks, in the order of ranks.
  subroutine allgather_long(transport, n_roots, forest, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n_roots
    type(osla_forest), intent(out) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_allgather')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_allgather(transport%handle, n_roots, forest%handle), stat, errmsg)
  end subroutine allgather_long

  subroutine allgather_default(transport, n_roots, forest, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: n_roots
    type(osla_forest), intent(out) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allgather_long(transport, int(n_roots, c_int64_t), forest, stat, errmsg)
  end subroutine allgather_default

  ! Makes the forest of allgather with the leaves of one rank only.
  subroutine gather_long(transport, n_roots, rank, forest, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n_roots
    integer, intent(in) :: rank
    type(osla_forest), intent(out) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_gather')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_gather(transport%handle, n_roots, int(rank, c_int), forest%handle), stat, errmsg)
  end subroutine gather_long

  subroutine gather_default(transport, n_roots, rank, forest, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: n_roots, rank
    type(osla_forest), intent(out) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call gather_long(transport, int(n_roots, c_int64_t), rank, forest, stat, errmsg)
  end subroutine gather_default

  ! Leaf p n + i of rank q has root q n + i of rank p.
  subroutine alltoall_long(transport, n, forest, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n
    type(osla_forest), intent(out) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_alltoall')
    call requires(at, transport)
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_alltoall(transport%handle, n, forest%handle), stat, errmsg)
  end subroutine alltoall_long

  subroutine alltoall_default(transport, n, forest, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: n
    type(osla_forest), intent(out) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call alltoall_long(transport, int(n, c_int64_t), forest, stat, errmsg)
  end subroutine alltoall_default

  ! --- forests from other forests: collective ---

  ! A forest with the roots of a, whose leaves are the roots of b.
  subroutine osla_forest_compose_inverse(a, b, composed, stat, errmsg)
    type(osla_forest), intent(in) :: a, b
    type(osla_forest), intent(out) :: composed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_compose_inverse')
    call requires(at, a, 'forest')
    call requires(at, b, 'second forest')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_compose_inverse(a%handle, b%handle, composed%handle), stat, errmsg)
  end subroutine osla_forest_compose_inverse

  ! The forest with only the edges of the chosen roots of this rank.
  subroutine roots_long(forest, chosen, embedded, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in) :: chosen(:)
    type(osla_forest), intent(out) :: embedded
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), target :: from_0(size(chosen))
    at = collective_call('osla_forest_embed_roots')
    call requires(at, forest, 'forest')
    from_0 = chosen - 1
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_embed_roots(forest%handle, size(chosen, kind=c_int64_t), c_loc(from_0), &
      embedded%handle), stat, errmsg)
  end subroutine roots_long

  subroutine roots_default(forest, chosen, embedded, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer, intent(in) :: chosen(:)
    type(osla_forest), intent(out) :: embedded
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call roots_long(forest, int(chosen, c_int64_t), embedded, stat, errmsg)
  end subroutine roots_default

  ! The forest with only the edges of the chosen leaves of this rank.
  subroutine leaves_long(forest, chosen, embedded, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in) :: chosen(:)
    type(osla_forest), intent(out) :: embedded
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), target :: from_0(size(chosen))
    at = collective_call('osla_forest_embed_leaves')
    call requires(at, forest, 'forest')
    from_0 = chosen - 1
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_embed_leaves(forest%handle, size(chosen, kind=c_int64_t), c_loc(from_0), &
      embedded%handle), stat, errmsg)
  end subroutine leaves_long

  subroutine leaves_default(forest, chosen, embedded, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer, intent(in) :: chosen(:)
    type(osla_forest), intent(out) :: embedded
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call leaves_long(forest, int(chosen, c_int64_t), embedded, stat, errmsg)
  end subroutine leaves_default

  ! The union of several forests; with same_roots all use the roots of the first one.
  subroutine osla_forest_concatenate(forests, same_roots, whole, stat, errmsg)
    type(osla_forest), intent(in) :: forests(:)
    logical, intent(in) :: same_roots
    type(osla_forest), intent(out) :: whole
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(c_ptr), target :: handles(size(forests))
    integer :: i
    at = collective_call('osla_forest_concatenate')
    write (at%same, '(a, i0, a, l1)') 'of ', size(forests), ', same roots: ', same_roots
    call check(at, size(forests) > 0, 'there is no forest')
    do i = 1, size(forests)
      call requires(at, forests(i), 'forest')
      handles(i) = forests(i)%handle
    end do
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_concatenate(size(forests, kind=c_int), c_loc(handles), logical(same_roots, c_bool), &
      whole%handle), stat, errmsg)
  end subroutine osla_forest_concatenate

  ! The forest of the values of vertices that have any number of values: root j has the values
  ! root_start(j) + 1 to root_start(j + 1), and leaf i has leaf_start(i) + 1 to leaf_start(i + 1).
  ! Both lists begin with 0.
  subroutine osla_forest_sections(forest, root_start, leaf_start, made, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in) :: root_start(:), leaf_start(:)
    type(osla_forest), intent(out) :: made
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), target :: roots(size(root_start)), leaves(size(leaf_start))
    at = collective_call('osla_forest_sections')
    call requires(at, forest, 'forest')
    if (c_associated(forest%handle)) then
      call check(at, size(roots) == c_osla_forest_n_roots(forest%handle) + 1 .and. &
        size(leaves) == c_osla_forest_leaf_space(forest%handle) + 1, 'a list does not have the forest''s size plus 1')
    end if
    roots = root_start
    leaves = leaf_start
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_sections(forest%handle, c_loc(roots), c_loc(leaves), made%handle), stat, errmsg)
  end subroutine osla_forest_sections

  ! Replaces each edge by `count` edges, between root (i - 1) root_stride + c and leaf (j - 1)
  ! leaf_stride + c, for 1 <= c <= count.
  subroutine strided_long(forest, count, root_stride, leaf_stride, strided, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(in) :: count, root_stride, leaf_stride
    type(osla_forest), intent(out) :: strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_strided')
    call requires(at, forest, 'forest')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_strided(forest%handle, count, root_stride, leaf_stride, strided%handle), stat, errmsg)
  end subroutine strided_long

  subroutine strided_default(forest, count, root_stride, leaf_stride, strided, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer, intent(in) :: count, root_stride, leaf_stride
    type(osla_forest), intent(out) :: strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call strided_long(forest, int(count, c_int64_t), int(root_stride, c_int64_t), int(leaf_stride, c_int64_t), &
      strided, stat, errmsg)
  end subroutine strided_default

  ! --- queries: local; of size 0 if the forest does not exist ---

  function copied(n, list) result(ranks)
    integer(c_int), intent(in) :: n
    type(c_ptr), intent(in) :: list
    integer, allocatable :: ranks(:)
    integer(c_int), pointer :: there(:)
    ranks = [integer ::]
    if (n == 0) return
    call c_f_pointer(list, there, [n])
    ranks = there
  end function copied

  ! Ranks that own the roots of this rank's leaves, ascending.
  function osla_forest_root_ranks(forest) result(ranks)
    type(osla_forest), intent(in) :: forest
    integer, allocatable :: ranks(:)
    type(c_ptr), target :: list
    integer(c_int) :: n
    n = 0
    if (c_associated(forest%handle)) n = c_osla_forest_root_ranks(forest%handle, c_loc(list))
    ranks = copied(n, list)
  end function osla_forest_root_ranks

  ! Ranks that own leaves of this rank's roots, ascending.
  function osla_forest_leaf_ranks(forest) result(ranks)
    type(osla_forest), intent(in) :: forest
    integer, allocatable :: ranks(:)
    type(c_ptr), target :: list
    integer(c_int) :: n
    n = 0
    if (c_associated(forest%handle)) n = c_osla_forest_leaf_ranks(forest%handle, c_loc(list))
    ranks = copied(n, list)
  end function osla_forest_leaf_ranks

  ! This rank's edges, ordered by the roots' ranks.
  subroutine osla_forest_edges(forest, leaf, root, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), allocatable, intent(out) :: leaf(:)
    type(osla_root), allocatable, intent(out) :: root(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable, target :: leaves(:)
    type(osla_root), allocatable, target :: roots(:)
    integer(c_int64_t) :: n
    if (is_absent('osla_forest_edges', 'forest', forest%handle, stat, errmsg)) return
    n = c_osla_forest_n_edges(forest%handle)
    allocate (leaves(n), roots(n))
    call c_osla_forest_edges(forest%handle, c_loc(leaves), c_loc(roots))
    leaf = leaves + 1
    root = roots
    root%index = roots%index + 1
    call report(OSLA_OK, stat, errmsg)
  end subroutine osla_forest_edges

  ! Text that describes this rank's part of the forest; with `edges` one line for each edge. Indices
  ! in the text are those of C, from 0.
  function osla_forest_view(forest, edges) result(text)
    type(osla_forest), intent(in) :: forest
    logical, intent(in), optional :: edges
    character(:), allocatable :: text
    character(kind=c_char), allocatable :: letters(:)
    logical(c_bool) :: all_edges
    integer(c_size_t) :: length, i
    text = ''
    if (.not. c_associated(forest%handle)) return
    all_edges = .false.
    if (present(edges)) all_edges = edges
    allocate (letters(1))
    length = c_osla_forest_view(forest%handle, all_edges, letters, 1_c_size_t)
    deallocate (letters)
    allocate (letters(length + 1))
    length = c_osla_forest_view(forest%handle, all_edges, letters, length + 1)
    deallocate (text)
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function osla_forest_view

end module osla_forest_shapes
