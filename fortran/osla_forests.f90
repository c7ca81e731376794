! Star forests. The contracts are in osla_forest.h. Roots and leaves are counted from 1, ranks from
! 0. Arguments that may be NULL in C are optional and come last.
module osla_forests
  use, intrinsic :: iso_c_binding
  use osla_c, c_part => osla_part
  use osla_objects, only: osla_transport, osla_forest, report, is_absent, refuse
  use osla_collectives, only: collective_call, requires, check, is_valid, all_ready
  implicit none
  private
  public :: osla_forest_create, osla_forest_create_global, osla_forest_destroy, osla_forest_n_roots
  public :: osla_forest_n_edges, osla_forest_leaf_space, osla_forest_degrees, osla_forest_inverse
  public :: osla_forest_compose, osla_forest_split

  ! root(e): rank and index of the root of this rank's e-th edge, type(osla_root). leaf(e): index of
  ! the leaf of this edge; without `leaf` the index is e.
  interface osla_forest_create
    procedure create_default, create_long
  end interface

  ! root(e): global number of the root. Rank p has the numbers start(p + 1) .. start(p + 2) - 1;
  ! start(1) = 1.
  interface osla_forest_create_global
    procedure global_default, global_long
  end interface

  character(*), parameter :: other_sizes = 'lists of different sizes'

contains

  ! Converts indices to C's, which count from 0.
  function from_1(list) result(from_0)
    integer(c_int64_t), intent(in) :: list(:)
    integer(c_int64_t), allocatable :: from_0(:)
    from_0 = list - 1
  end function from_1

  subroutine create_long(transport, n_roots, root, forest, leaf, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: n_roots
    type(osla_root), intent(in) :: root(:)
    type(osla_forest), intent(out) :: forest
    integer(c_int64_t), intent(in), optional :: leaf(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    type(osla_root), allocatable, target :: pairs(:)
    integer(c_int64_t), allocatable, target :: leaves(:)
    integer(c_int64_t) :: edges
    type(c_ptr) :: use_leaf
    at = collective_call('osla_forest_create')
    call requires(at, transport)
    edges = size(root, kind=c_int64_t)
    use_leaf = c_null_ptr
    if (present(leaf)) then
      call check(at, size(leaf, kind=c_int64_t) == edges, other_sizes)
      leaves = from_1(leaf)
      use_leaf = c_loc(leaves)
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    pairs = root
    pairs%index = root%index - 1
    call report(c_osla_forest_create(transport%handle, n_roots, edges, use_leaf, c_loc(pairs), forest%handle), &
      stat, errmsg)
  end subroutine create_long

  subroutine create_default(transport, n_roots, root, forest, leaf, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: n_roots
    type(osla_root), intent(in) :: root(:)
    type(osla_forest), intent(out) :: forest
    integer, intent(in), optional :: leaf(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(leaf)) then
      call create_long(transport, int(n_roots, c_int64_t), root, forest, int(leaf, c_int64_t), stat, errmsg)
    else
      call create_long(transport, int(n_roots, c_int64_t), root, forest, stat=stat, errmsg=errmsg)
    end if
  end subroutine create_default

  subroutine global_long(transport, start, root, forest, leaf, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer(c_int64_t), intent(in) :: start(:), root(:)
    type(osla_forest), intent(out) :: forest
    integer(c_int64_t), intent(in), optional :: leaf(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    integer(c_int64_t), allocatable, target :: begins(:), numbers(:), leaves(:)
    type(c_ptr) :: use_leaf
    at = collective_call('osla_forest_create_global')
    call requires(at, transport)
    if (is_valid(at)) call check(at, size(start) == c_osla_transport_size(transport%handle) + 1, other_sizes)
    use_leaf = c_null_ptr
    if (present(leaf)) then
      call check(at, size(leaf, kind=c_int64_t) == size(root, kind=c_int64_t), other_sizes)
      leaves = from_1(leaf)
      use_leaf = c_loc(leaves)
    end if
    if (.not. all_ready(at, stat, errmsg)) return
    begins = from_1(start)
    numbers = from_1(root)
    call report(c_osla_forest_create_global(transport%handle, c_loc(begins), size(root, kind=c_int64_t), use_leaf, &
      c_loc(numbers), forest%handle), stat, errmsg)
  end subroutine global_long

  subroutine global_default(transport, start, root, forest, leaf, stat, errmsg)
    type(osla_transport), intent(in) :: transport
    integer, intent(in) :: start(:), root(:)
    type(osla_forest), intent(out) :: forest
    integer, intent(in), optional :: leaf(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(leaf)) then
      call global_long(transport, int(start, c_int64_t), int(root, c_int64_t), forest, int(leaf, c_int64_t), stat, &
        errmsg)
    else
      call global_long(transport, int(start, c_int64_t), int(root, c_int64_t), forest, stat=stat, errmsg=errmsg)
    end if
  end subroutine global_default

  ! Destroys a forest. Collective. Has no effect on a forest that was not created.
  subroutine osla_forest_destroy(forest, stat, errmsg)
    type(osla_forest), intent(inout) :: forest
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_osla_forest_destroy(forest%handle), stat, errmsg)
  end subroutine osla_forest_destroy

  ! --- local queries: 0 if the forest does not exist ---

  function osla_forest_n_roots(forest) result(n)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(forest%handle)) n = c_osla_forest_n_roots(forest%handle)
  end function osla_forest_n_roots

  function osla_forest_n_edges(forest) result(n)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(forest%handle)) n = c_osla_forest_n_edges(forest%handle)
  end function osla_forest_n_edges

  function osla_forest_leaf_space(forest) result(n)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t) :: n
    n = 0
    if (c_associated(forest%handle)) n = c_osla_forest_leaf_space(forest%handle)
  end function osla_forest_leaf_space

  ! Number of leaves of each of this rank's roots. Local.
  subroutine osla_forest_degrees(forest, degree, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    integer(c_int64_t), intent(inout), target, contiguous :: degree(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_absent('osla_forest_degrees', 'forest', forest%handle, stat, errmsg)) return
    if (size(degree, kind=c_int64_t) /= osla_forest_n_roots(forest)) then
      call refuse(OSLA_ERR_ARG, 'osla_forest_degrees: degree does not have the size of this rank''s roots', stat, errmsg)
      return
    end if
    call c_osla_forest_degrees(forest%handle, c_loc(degree))
    call report(OSLA_OK, stat, errmsg)
  end subroutine osla_forest_degrees

  ! --- forests from other forests: collective ---

  subroutine osla_forest_inverse(forest, inverse, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    type(osla_forest), intent(out) :: inverse
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_inverse')
    call requires(at, forest, 'forest')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_inverse(forest%handle, inverse%handle), stat, errmsg)
  end subroutine osla_forest_inverse

  subroutine osla_forest_split(forest, split, stat, errmsg)
    type(osla_forest), intent(in) :: forest
    type(osla_forest), intent(out) :: split
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_split')
    call requires(at, forest, 'forest')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_split(forest%handle, split%handle), stat, errmsg)
  end subroutine osla_forest_split

  subroutine osla_forest_compose(a, b, composed, stat, errmsg)
    type(osla_forest), intent(in) :: a, b
    type(osla_forest), intent(out) :: composed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(collective_call) :: at
    at = collective_call('osla_forest_compose')
    call requires(at, a, 'forest')
    call requires(at, b, 'second forest')
    if (.not. all_ready(at, stat, errmsg)) return
    call report(c_osla_forest_compose(a%handle, b%handle, composed%handle), stat, errmsg)
  end subroutine osla_forest_compose

end module osla_forests
