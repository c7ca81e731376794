! The declarations of OSLA's C headers, for Fortran. Made by fortran/interfaces.py: do not edit.
module osla_values
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_size_t, c_float, &
    c_double, c_bool, c_ptr, c_funptr, c_null_ptr, c_null_funptr
  implicit none
  public
  private :: c_int, c_int32_t, c_int64_t, c_size_t, c_float, c_double, c_bool, c_ptr, c_funptr, &
    c_null_ptr, c_null_funptr

  integer(c_int), parameter :: OSLA_VERSION_MAJOR = 0
  integer(c_int), parameter :: OSLA_VERSION_MINOR = 1
  integer(c_int), parameter :: OSLA_VERSION_PATCH = 0
  integer(c_int), parameter :: OSLA_FLOAT = 0
  integer(c_int), parameter :: OSLA_DOUBLE = 1
  integer(c_int), parameter :: OSLA_COMPLEX_FLOAT = 2
  integer(c_int), parameter :: OSLA_COMPLEX_DOUBLE = 3
  integer(c_int), parameter :: OSLA_LOWER = 0
  integer(c_int), parameter :: OSLA_UPPER = 1
  integer(c_int), parameter :: OSLA_GENERAL = 2
  integer(c_int), parameter :: OSLA_NOTRANS = 0
  integer(c_int), parameter :: OSLA_TRANS = 1
  integer(c_int), parameter :: OSLA_CONJTRANS = 2
  integer(c_int), parameter :: OSLA_NONUNIT = 0
  integer(c_int), parameter :: OSLA_UNIT = 1
  integer(c_int), parameter :: OSLA_LEFT = 0
  integer(c_int), parameter :: OSLA_RIGHT = 1
  integer(c_int), parameter :: OSLA_OK = 0
  integer(c_int), parameter :: OSLA_ERR_ARG = 1
  integer(c_int), parameter :: OSLA_ERR_MEM = 2
  integer(c_int), parameter :: OSLA_ERR_RANGE = 3
  integer(c_int), parameter :: OSLA_ERR_IO = 4
  integer(c_int), parameter :: OSLA_ERR_MPI = 5
  integer(c_int), parameter :: OSLA_ERR_STATE = 6
  integer(c_int), parameter :: OSLA_ERR_UNSUPPORTED = 7
  integer(c_int), parameter :: OSLA_MOST_ARGUMENTS = 32
  integer(c_int), parameter :: OSLA_END_SECONDS = 10
  integer(c_int), parameter :: OSLA_TRACE_GET = 0
  integer(c_int), parameter :: OSLA_TRACE_PUT = 1
  integer(c_int), parameter :: OSLA_TRACE_ISSUE = 2
  integer(c_int), parameter :: OSLA_TRACE_WAIT = 3
  integer(c_int), parameter :: OSLA_TRACE_COPY = 4
  integer(c_int), parameter :: OSLA_TRACE_FLUSH = 5
  integer(c_int), parameter :: OSLA_TRACE_NOTIFY = 6
  integer(c_int), parameter :: OSLA_TRACE_FORWARD = 7
  integer(c_int), parameter :: OSLA_TRACE_NOTIFY_WAIT = 8
  integer(c_int), parameter :: OSLA_TRACE_FETCH_ADD = 9
  integer(c_int), parameter :: OSLA_TRACE_LOCK = 10
  integer(c_int), parameter :: OSLA_TRACE_BARRIER = 11
  integer(c_int), parameter :: OSLA_TRACE_ALLREDUCE = 12
  integer(c_int), parameter :: OSLA_TRACE_BCAST = 13
  integer(c_int), parameter :: OSLA_TRACE_ALLTOALL = 14
  integer(c_int), parameter :: OSLA_TRACE_ALLGATHER = 15
  integer(c_int), parameter :: OSLA_TRACE_PACK = 16
  integer(c_int), parameter :: OSLA_TRACE_GEMM = 17
  integer(c_int), parameter :: OSLA_TRACE_SYRK = 18
  integer(c_int), parameter :: OSLA_TRACE_TRSM = 19
  integer(c_int), parameter :: OSLA_TRACE_PANEL = 20
  integer(c_int), parameter :: OSLA_TRACE_ROWS = 21
  integer(c_int), parameter :: OSLA_TRACE_UPDATE = 22
  integer(c_int), parameter :: OSLA_TRACE_SWEEP = 23
  integer(c_int), parameter :: OSLA_TRACE_KINDS = 24
  integer(c_int), parameter :: OSLA_TRACE_MAX_EVENTS = 4194304
  integer(c_int), parameter :: OSLA_GRID_ROWS = 0
  integer(c_int), parameter :: OSLA_GRID_COLUMNS = 1
  integer(c_int), parameter :: OSLA_GRID_NODES = 2
  integer(c_int), parameter :: OSLA_GRID_TILES = 3
  integer(c_int), parameter :: OSLA_GRID_ACROSS = 4
  integer(c_int), parameter :: OSLA_DEFAULT_BLOCK = 96
  integer(c_int), parameter :: OSLA_FILL_ZERO = 0
  integer(c_int), parameter :: OSLA_FILL_IDENTITY = 1
  integer(c_int), parameter :: OSLA_FILL_UNIFORM = 2
  integer(c_int), parameter :: OSLA_FILL_DOMINANT = 3
  integer(c_int), parameter :: OSLA_FILL_SPD = 4
  integer(c_int), parameter :: OSLA_FILL_INTEGER = 5
  integer(c_int), parameter :: OSLA_NORM_MAX = 0
  integer(c_int), parameter :: OSLA_NORM_ONE = 1
  integer(c_int), parameter :: OSLA_NORM_INF = 2
  integer(c_int), parameter :: OSLA_NORM_FRO = 3
  integer(c_int), parameter :: OSLA_STORED_WHOLE = 0
  integer(c_int), parameter :: OSLA_STORED_LOWER = 1
  integer(c_int), parameter :: OSLA_STORED_UPPER = 2
  integer(c_int), parameter :: OSLA_STORED_FULL = 3
  integer(c_int), parameter :: OSLA_FORMAT_BY_NAME = 0
  integer(c_int), parameter :: OSLA_FORMAT_HDF5 = 1
  integer(c_int), parameter :: OSLA_FORMAT_RAW = 2
  integer(c_int), parameter :: OSLA_FILE_DOUBLE = 0
  integer(c_int), parameter :: OSLA_FILE_INT64 = 1
  integer(c_int), parameter :: OSLA_FILE_UINT64 = 2
  integer(c_int), parameter :: OSLA_FORWARD_CHOSEN = 0
  integer(c_int), parameter :: OSLA_FORWARD_FLAT = 1
  integer(c_int), parameter :: OSLA_FORWARD_RING = 2
  integer(c_int), parameter :: OSLA_FORWARD_TREE = 3
  integer(c_int), parameter :: OSLA_PIVOT_PARTIAL = 0
  integer(c_int), parameter :: OSLA_PIVOT_TOURNAMENT = 1
  integer(c_int), parameter :: OSLA_PIVOT_NONE = 2
  integer(c_int), parameter :: OSLA_MIXED_SINGLE = 0
  integer(c_int), parameter :: OSLA_MIXED_FACTOR = 1
  integer(c_int), parameter :: OSLA_MIXED_STALLED = 2
  integer(c_int), parameter :: OSLA_MIXED_SINGULAR = 3
  integer(c_int), parameter :: OSLA_ISOLATE_UPDATE = 0
  integer(c_int), parameter :: OSLA_ISOLATE_ELEMENT = 1
  integer(c_int), parameter :: OSLA_SHIP_LESS = 0
  integer(c_int), parameter :: OSLA_SHIP_VALUES = 1
  integer(c_int), parameter :: OSLA_SHIP_FACTORS = 2
  integer(c_int), parameter :: OSLA_COMBINE_SUM = 0
  integer(c_int), parameter :: OSLA_COMBINE_MIN = 1
  integer(c_int), parameter :: OSLA_COMBINE_MAX = 2
  integer(c_int), parameter :: OSLA_COMBINE_USER = 3
  integer(c_int), parameter :: OSLA_UNIT_BYTES = 0
  integer(c_int), parameter :: OSLA_UNIT_INT8 = 1
  integer(c_int), parameter :: OSLA_UNIT_INT16 = 2
  integer(c_int), parameter :: OSLA_UNIT_INT32 = 3
  integer(c_int), parameter :: OSLA_UNIT_INT64 = 4
  integer(c_int), parameter :: OSLA_UNIT_UINT8 = 5
  integer(c_int), parameter :: OSLA_UNIT_UINT16 = 6
  integer(c_int), parameter :: OSLA_UNIT_UINT32 = 7
  integer(c_int), parameter :: OSLA_UNIT_UINT64 = 8
  integer(c_int), parameter :: OSLA_UNIT_FLOAT = 9
  integer(c_int), parameter :: OSLA_UNIT_DOUBLE = 10
  integer(c_int), parameter :: OSLA_UNIT_LONG_DOUBLE = 11
  integer(c_int), parameter :: OSLA_UNIT_COMPLEX_FLOAT = 12
  integer(c_int), parameter :: OSLA_UNIT_COMPLEX_DOUBLE = 13
  integer(c_int), parameter :: OSLA_UNIT_FLOAT_AT = 14
  integer(c_int), parameter :: OSLA_UNIT_DOUBLE_AT = 15
  integer(c_int), parameter :: OSLA_UNIT_INT64_AT = 16
  integer(c_int), parameter :: OSLA_UNIT_TYPES = 17
  integer(c_int), parameter :: OSLA_REPLACE = 0
  integer(c_int), parameter :: OSLA_SUM = 1
  integer(c_int), parameter :: OSLA_PROD = 2
  integer(c_int), parameter :: OSLA_MIN = 3
  integer(c_int), parameter :: OSLA_MAX = 4
  integer(c_int), parameter :: OSLA_LOGICAL_AND = 5
  integer(c_int), parameter :: OSLA_LOGICAL_OR = 6
  integer(c_int), parameter :: OSLA_LOGICAL_XOR = 7
  integer(c_int), parameter :: OSLA_BITS_AND = 8
  integer(c_int), parameter :: OSLA_BITS_OR = 9
  integer(c_int), parameter :: OSLA_BITS_XOR = 10
  integer(c_int), parameter :: OSLA_MINLOC = 11
  integer(c_int), parameter :: OSLA_MAXLOC = 12
  integer(c_int), parameter :: OSLA_SUM_ARRIVAL = 13
  integer(c_int), parameter :: OSLA_SUM_EXACT = 14
  integer(c_int), parameter :: OSLA_COMBINES = 15
  integer(c_int), parameter :: OSLA_KRYLOV_CONVERGED = 0
  integer(c_int), parameter :: OSLA_KRYLOV_ITERATIONS = 1
  integer(c_int), parameter :: OSLA_KRYLOV_INDEFINITE = 2
  integer(c_int), parameter :: OSLA_KRYLOV_NOT_FINITE = 3
  integer(c_int), parameter :: OSLA_ITERATE_ASYNC = 0
  integer(c_int), parameter :: OSLA_ITERATE_RACY = 1
  integer(c_int), parameter :: OSLA_ITERATE_SYNC = 2
  integer(c_int), parameter :: OSLA_ITERATE_LEAD = 64
  integer(c_int), parameter :: OSLA_ITERATE_LEAD_CROWDED = 8
  integer(c_int), parameter :: OSLA_ITERATE_CONVERGED = 0
  integer(c_int), parameter :: OSLA_ITERATE_STAGNATED = 1
  integer(c_int), parameter :: OSLA_ITERATE_SWEEPS = 2
  integer(c_int), parameter :: OSLA_ITERATE_DIVERGED = 3
  integer(c_int), parameter :: OSLA_ITERATE_STALLED = 4
  integer(c_int), parameter :: OSLA_DIFFUSION_SOURCE = 0
  integer(c_int), parameter :: OSLA_DIFFUSION_MODE = 1
  integer(c_int), parameter :: OSLA_SPLITTING_CHOLESKY = 0
  integer(c_int), parameter :: OSLA_SPLITTING_LU = 1
  integer(c_int), parameter :: OSLA_SPLITTING_CG = 2
  integer(c_int), parameter :: OSLA_SPLITTING_SPARSE = 3

  type, bind(c) :: osla_transport_options
    logical(c_bool) :: progress_thread = .false.
    integer(c_int) :: threads_per_rank = 0
    type(c_ptr) :: transport = c_null_ptr
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_transport_options

  type, bind(c) :: osla_argument
    type(c_ptr) :: name
    integer(c_int64_t) :: value
  end type osla_argument

  type, bind(c) :: osla_trace_total
    integer(c_int64_t) :: events
    real(c_double) :: seconds
    real(c_double) :: seconds_largest
    real(c_double) :: amount
  end type osla_trace_total

  type, bind(c) :: osla_trace_summary
    type(osla_trace_total) :: kind(OSLA_TRACE_KINDS)
    real(c_double) :: seconds
    real(c_double) :: in_flight
    real(c_double) :: exposed
    real(c_double) :: overlap
    integer(c_int64_t) :: dropped
  end type osla_trace_summary

  type, bind(c) :: osla_layout
    integer(c_int64_t) :: m
    integer(c_int64_t) :: n
    integer(c_int64_t) :: mb
    integer(c_int64_t) :: nb
    integer(c_int) :: nprow
    integer(c_int) :: npcol
  end type osla_layout

  type, bind(c) :: osla_part
    type(c_ptr) :: matrix
    integer(c_int64_t) :: i
    integer(c_int64_t) :: j
    integer(c_int64_t) :: m
    integer(c_int64_t) :: n
  end type osla_part

  type, bind(c) :: osla_save_options
    integer(c_int) :: format = 0
    integer(c_int) :: stored = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_save_options

  type, bind(c) :: osla_load_options
    integer(c_int64_t) :: mb = 0
    integer(c_int64_t) :: nb = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_load_options

  type, bind(c) :: osla_file_matrix
    integer(c_int) :: dtype
    integer(c_int64_t) :: m
    integer(c_int64_t) :: n
    integer(c_int) :: stored
  end type osla_file_matrix

  type, bind(c) :: osla_gemm_options
    integer(c_int64_t) :: panel = 0
    integer(c_int64_t) :: memory = 0
    integer(c_int64_t) :: layers = 0
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_gemm_options

  type, bind(c) :: osla_gemm_plan
    integer(c_int64_t) :: tasks
    integer(c_int64_t) :: gets
    integer(c_int64_t) :: bytes_far
    integer(c_int64_t) :: bytes_near
    integer(c_int64_t) :: bytes_place
    integer(c_int64_t) :: buffers
    real(c_double) :: flops
  end type osla_gemm_plan

  type, bind(c) :: osla_lu_options
    integer(c_int) :: pivoting = 0
    integer(c_int) :: look_ahead = 0
    integer(c_int) :: forward = 0
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_lu_options

  type, bind(c) :: osla_lu_result
    integer(c_int64_t) :: info
    real(c_double) :: growth
    logical(c_bool) :: trusted
  end type osla_lu_result

  type, bind(c) :: osla_chol_options
    integer(c_int) :: look_ahead = 0
    integer(c_int) :: forward = 0
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_chol_options

  type, bind(c) :: osla_factors
    type(c_ptr) :: matrix
    logical(c_bool) :: cholesky
    integer(c_int) :: uplo
    type(c_ptr) :: ipiv
  end type osla_factors

  type, bind(c) :: osla_refine_options
    integer(c_int) :: max_iterations = 0
    real(c_double) :: target = 0
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_refine_options

  type, bind(c) :: osla_refine_result
    integer(c_int) :: iterations
    real(c_double) :: residual
    logical(c_bool) :: converged
  end type osla_refine_result

  type, bind(c) :: osla_mixed_result
    integer(c_int) :: path
    integer(c_int64_t) :: info
    integer(c_int) :: single_iterations
    type(osla_refine_result) :: refine
  end type osla_mixed_result

  type, bind(c) :: osla_hessian_options
    integer(c_int) :: uplo = 0
    logical(c_bool) :: single = .false.
    logical(c_bool) :: single_updates = .false.
    integer(c_int64_t) :: nb = 0
    integer(c_size_t) :: ring_bytes = 0
    integer(c_size_t) :: piece_bytes = 0
    integer(c_int) :: combine = 0
    type(c_funptr) :: combine_function = c_null_funptr
    type(c_ptr) :: combine_context = c_null_ptr
    real(c_double) :: initial = 0
    logical(c_bool) :: from_zero = .false.
    logical(c_bool) :: order_independent = .false.
    real(c_double) :: bound = 0
    real(c_double) :: gradient_bound = 0
    integer(c_size_t) :: memory_cap = 0
    integer(c_int) :: isolation = 0
    integer(c_int) :: shipping = 0
    logical(c_bool) :: node_sums = .false.
    logical(c_bool) :: checkpoint_holds = .false.
    logical(c_bool) :: clear = .false.
    integer(c_int64_t) :: triangle = 0
    integer(c_int64_t) :: reserved(7) = 0
  end type osla_hessian_options

  type, bind(c) :: osla_hessian_datum
    integer(c_int64_t) :: id
    integer(c_int64_t) :: count
    type(c_ptr) :: ix
    integer(c_int64_t) :: k
    type(c_ptr) :: g
    integer(c_int64_t) :: ldg
    integer(c_int64_t) :: cols
    type(c_ptr) :: jx
    type(c_ptr) :: u
    integer(c_int64_t) :: ldu
    type(c_ptr) :: gradient
  end type osla_hessian_datum

  type, bind(c) :: osla_hessian_stats
    integer(c_int64_t) :: updates
    integer(c_int64_t) :: elements
    integer(c_int64_t) :: elements_sent
    integer(c_int64_t) :: bytes_sent
    integer(c_int64_t) :: bytes_received
    integer(c_int64_t) :: transfers
    integer(c_int64_t) :: bytes_peak
    real(c_double) :: seconds_split
    real(c_double) :: seconds_product
    real(c_double) :: seconds_add
    real(c_double) :: seconds_send
    real(c_double) :: seconds_apply
    integer(c_int64_t) :: ids_skipped
    integer(c_int64_t) :: ids_restored
  end type osla_hessian_stats

  type, bind(c) :: osla_float_at
    real(c_float) :: value
    integer(c_int32_t) :: at
  end type osla_float_at

  type, bind(c) :: osla_double_at
    real(c_double) :: value
    integer(c_int64_t) :: at
  end type osla_double_at

  type, bind(c) :: osla_int64_at
    integer(c_int64_t) :: value
    integer(c_int64_t) :: at
  end type osla_int64_at

  type, bind(c) :: osla_root
    integer(c_int32_t) :: rank
    integer(c_int64_t) :: index
  end type osla_root

  type, bind(c) :: osla_forest_run
    type(c_ptr) :: forest = c_null_ptr
    integer(c_int64_t) :: number = 0
  end type osla_forest_run

  type, bind(c) :: osla_operator
    type(c_ptr) :: transport = c_null_ptr
    integer(c_int64_t) :: rows = 0
    integer(c_int64_t) :: columns = 0
    type(c_funptr) :: multiply = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
  end type osla_operator

  type, bind(c) :: osla_krylov_options
    real(c_double) :: tolerance = 0
    integer(c_int64_t) :: iterations = 0
    logical(c_bool) :: flexible = .false.
    type(c_funptr) :: each = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    integer(c_int64_t) :: check_every = 0
    integer(c_int64_t) :: reserved(7) = 0
  end type osla_krylov_options

  type, bind(c) :: osla_krylov_result
    integer(c_int) :: end
    integer(c_int64_t) :: iterations
    real(c_double) :: left
    real(c_double) :: residual
    real(c_double) :: seconds_products
    real(c_double) :: seconds_sums
    real(c_double) :: seconds
  end type osla_krylov_result

  type, bind(c) :: osla_preconditioner
    type(c_funptr) :: apply = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
  end type osla_preconditioner

  type, bind(c) :: osla_halo
    integer(c_int) :: peer
    integer(c_int) :: tag
    integer(c_int64_t) :: send
    integer(c_int64_t) :: recv
  end type osla_halo

  type, bind(c) :: osla_fixed_point
    type(c_ptr) :: arg = c_null_ptr
    integer(c_int64_t) :: length = 0
    integer(c_int) :: n_halos = 0
    type(c_ptr) :: halos = c_null_ptr
    type(c_funptr) :: sweep = c_null_funptr
    type(c_funptr) :: pack = c_null_funptr
    type(c_funptr) :: unpack = c_null_funptr
    type(c_funptr) :: sweep_edge = c_null_funptr
    type(c_funptr) :: sweep_rest = c_null_funptr
    type(c_funptr) :: magnitude = c_null_funptr
    integer(c_int) :: row_terms = 0
    type(c_funptr) :: bound_sweep = c_null_funptr
    type(c_funptr) :: distance = c_null_funptr
    type(c_ptr) :: group = c_null_ptr
  end type osla_fixed_point

  type, bind(c) :: osla_iterate_options
    integer(c_int) :: mode = 0
    real(c_double) :: tolerance = 0
    real(c_double) :: norm = 0
    real(c_double) :: omega = 0
    integer(c_int64_t) :: sweeps = 0
    integer(c_int) :: period = 0
    integer(c_int) :: lead = 0
    integer(c_int) :: in_flight = 0
    integer(c_int) :: check = 0
    logical(c_bool) :: uncertified = .false.
    real(c_double) :: patience = 0
    logical(c_bool) :: proven = .false.
    integer(c_int64_t) :: record_bytes = 0
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_iterate_options

  type, bind(c) :: osla_iterate_result
    integer(c_int) :: end
    real(c_double) :: residual
    real(c_double) :: start
    real(c_double) :: norm
    real(c_double) :: rounding
    real(c_double) :: error
    integer(c_int64_t) :: sweeps
    integer(c_int64_t) :: least
    integer(c_int64_t) :: most
    real(c_double) :: mean
    integer(c_int64_t) :: snapshots
    integer(c_int) :: stalled
    real(c_double) :: seconds
  end type osla_iterate_result

  type, bind(c) :: osla_diffusion_options
    integer(c_int64_t) :: points(3) = 0
    integer(c_int) :: ranks(3) = 0
    integer(c_int) :: start = 0
    real(c_double) :: radius = 0
    real(c_double) :: offset = 0
    logical(c_bool) :: no_offset = .false.
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_diffusion_options

  type, bind(c) :: osla_splitting_options
    integer(c_int64_t) :: block = 0
    integer(c_int) :: factor = 0
    real(c_double) :: inner_tolerance = 0
    integer(c_int64_t) :: group = 0
    integer(c_int64_t) :: reserved(6) = 0
  end type osla_splitting_options

  type, bind(c) :: osla_device_options
    type(c_ptr) :: kind = c_null_ptr
    logical(c_bool) :: chosen = .false.
    integer(c_int32_t) :: ordinal = 0
    type(c_ptr) :: stream = c_null_ptr
    integer(c_int64_t) :: reserved(8) = 0
  end type osla_device_options
end module osla_values

module osla_c
  use, intrinsic :: iso_c_binding
  use osla_values
  implicit none
  public

  interface

    function c_osla_version() bind(c, name="osla_version") result(answer)
      import
      integer(c_int) :: answer
    end function c_osla_version

    function c_osla_version_text() bind(c, name="osla_version_text") result(answer)
      import
      type(c_ptr) :: answer
    end function c_osla_version_text

    function c_osla_err_name(err) bind(c, name="osla_err_name") result(answer)
      import
      integer(c_int), value :: err
      type(c_ptr) :: answer
    end function c_osla_err_name

    function c_osla_error_text() bind(c, name="osla_error_text") result(answer)
      import
      type(c_ptr) :: answer
    end function c_osla_error_text

    function c_osla_error_set_mpi(mpi_code, what) bind(c, name="osla_error_set_mpi") result(answer)
      import
      integer(c_int), value :: mpi_code
      character(kind=c_char), intent(in) :: what(*)
      integer(c_int) :: answer
    end function c_osla_error_set_mpi

    function c_osla_random_bits(seed, i, j) bind(c, name="osla_random_bits") result(answer)
      import
      integer(c_int64_t), value :: seed
      integer(c_int64_t), value :: i
      integer(c_int64_t), value :: j
      integer(c_int64_t) :: answer
    end function c_osla_random_bits

    function c_osla_random_uniform(seed, i, j) bind(c, name="osla_random_uniform") result(answer)
      import
      integer(c_int64_t), value :: seed
      integer(c_int64_t), value :: i
      integer(c_int64_t), value :: j
      real(c_double) :: answer
    end function c_osla_random_uniform

    function c_osla_random_normal(seed, i, j) bind(c, name="osla_random_normal") result(answer)
      import
      integer(c_int64_t), value :: seed
      integer(c_int64_t), value :: i
      integer(c_int64_t), value :: j
      real(c_double) :: answer
    end function c_osla_random_normal

    subroutine c_osla_transport_destroy(transport) bind(c, name="osla_transport_destroy")
      import
      type(c_ptr), intent(inout) :: transport
    end subroutine c_osla_transport_destroy

    function c_osla_transport_rank(transport) bind(c, name="osla_transport_rank") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_transport_rank

    function c_osla_transport_size(transport) bind(c, name="osla_transport_size") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_transport_size

    function c_osla_transport_n_nodes(transport) bind(c, &
      name="osla_transport_n_nodes") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_transport_n_nodes

    function c_osla_transport_node(transport) bind(c, name="osla_transport_node") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_transport_node

    function c_osla_transport_node_size(transport) bind(c, &
      name="osla_transport_node_size") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_transport_node_size

    function c_osla_transport_largest_node(transport) bind(c, &
      name="osla_transport_largest_node") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_transport_largest_node

    function c_osla_transport_node_rank_of(transport, rank) bind(c, &
      name="osla_transport_node_rank_of") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: rank
      integer(c_int) :: answer
    end function c_osla_transport_node_rank_of

    function c_osla_transport_node_of(transport, rank) bind(c, &
      name="osla_transport_node_of") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: rank
      integer(c_int) :: answer
    end function c_osla_transport_node_of

    function c_osla_transport_same_node(transport, rank) bind(c, &
      name="osla_transport_same_node") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: rank
      logical(c_bool) :: answer
    end function c_osla_transport_same_node

    function c_osla_transport_oversubscribed(transport) bind(c, &
      name="osla_transport_oversubscribed") result(answer)
      import
      type(c_ptr), value :: transport
      logical(c_bool) :: answer
    end function c_osla_transport_oversubscribed

    function c_osla_transport_memory_share(transport) bind(c, &
      name="osla_transport_memory_share") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int64_t) :: answer
    end function c_osla_transport_memory_share

    function c_osla_transport_name(transport) bind(c, name="osla_transport_name") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr) :: answer
    end function c_osla_transport_name

    function c_osla_simulated_machine() bind(c, name="osla_simulated_machine") result(answer)
      import
      type(c_ptr) :: answer
    end function c_osla_simulated_machine

    subroutine c_osla_progress(transport) bind(c, name="osla_progress")
      import
      type(c_ptr), value :: transport
    end subroutine c_osla_progress

    function c_osla_barrier(transport) bind(c, name="osla_barrier") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_barrier

    function c_osla_agree(transport, local) bind(c, name="osla_agree") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: local
      integer(c_int) :: answer
    end function c_osla_agree

    function c_osla_agree_same(transport, local, call, arguments, count) bind(c, &
      name="osla_agree_same") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: local
      character(kind=c_char), intent(in) :: call(*)
      type(c_ptr), value :: arguments
      integer(c_int), value :: count
      integer(c_int) :: answer
    end function c_osla_agree_same

    subroutine c_osla_transport_abort(transport, err) bind(c, name="osla_transport_abort")
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: err
    end subroutine c_osla_transport_abort

    subroutine c_osla_transport_at_end(transport, hook, arg) bind(c, name="osla_transport_at_end")
      import
      type(c_ptr), value :: transport
      type(c_funptr), value :: hook
      type(c_ptr), value :: arg
    end subroutine c_osla_transport_at_end

    subroutine c_osla_at_step(transport, kernel, step) bind(c, name="osla_at_step")
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: kernel(*)
      integer(c_int64_t), value :: step
    end subroutine c_osla_at_step

    subroutine c_osla_memory_available(shared_bytes, available_bytes) bind(c, &
      name="osla_memory_available")
      import
      integer(c_int64_t), intent(inout) :: shared_bytes
      integer(c_int64_t), intent(inout) :: available_bytes
    end subroutine c_osla_memory_available

    function c_osla_memory_check(transport, bytes_per_rank) bind(c, &
      name="osla_memory_check") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int64_t), value :: bytes_per_rank
      integer(c_int) :: answer
    end function c_osla_memory_check

    function c_osla_trace_start(transport) bind(c, name="osla_trace_start") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osla_trace_start

    subroutine c_osla_trace_stop(transport) bind(c, name="osla_trace_stop")
      import
      type(c_ptr), value :: transport
    end subroutine c_osla_trace_stop

    function c_osla_trace_write(transport, path) bind(c, name="osla_trace_write") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function c_osla_trace_write

    function c_osla_trace_now(transport) bind(c, name="osla_trace_now") result(answer)
      import
      type(c_ptr), value :: transport
      real(c_double) :: answer
    end function c_osla_trace_now

    subroutine c_osla_trace_add(transport, kind, since, amount) bind(c, name="osla_trace_add")
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: kind
      real(c_double), value :: since
      real(c_double), value :: amount
    end subroutine c_osla_trace_add

    function c_osla_trace_summarise(transport, out) bind(c, &
      name="osla_trace_summarise") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: out
      integer(c_int) :: answer
    end function c_osla_trace_summarise

    function c_osla_trace_name(kind) bind(c, name="osla_trace_name") result(answer)
      import
      integer(c_int), value :: kind
      type(c_ptr) :: answer
    end function c_osla_trace_name

    function c_osla_trace_unit(kind) bind(c, name="osla_trace_unit") result(answer)
      import
      integer(c_int), value :: kind
      type(c_ptr) :: answer
    end function c_osla_trace_unit

    function c_osla_index_count(n, nb, iproc, nprocs) bind(c, &
      name="osla_index_count") result(answer)
      import
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: nb
      integer(c_int), value :: iproc
      integer(c_int), value :: nprocs
      integer(c_int64_t) :: answer
    end function c_osla_index_count

    function c_osla_grid_create_ordered(transport, nprow, npcol, order, out) bind(c, &
      name="osla_grid_create_ordered") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: nprow
      integer(c_int), value :: npcol
      integer(c_int), value :: order
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_grid_create_ordered

    function c_osla_grid_create(transport, nprow, npcol, out) bind(c, &
      name="osla_grid_create") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: nprow
      integer(c_int), value :: npcol
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_grid_create

    subroutine c_osla_grid_choose(ranks, nodes, nprow, npcol) bind(c, name="osla_grid_choose")
      import
      integer(c_int), value :: ranks
      integer(c_int), value :: nodes
      integer(c_int), intent(inout) :: nprow
      integer(c_int), intent(inout) :: npcol
    end subroutine c_osla_grid_choose

    function c_osla_grid_choose_order(transport, nprow, npcol) bind(c, &
      name="osla_grid_choose_order") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: nprow
      integer(c_int), value :: npcol
      integer(c_int) :: answer
    end function c_osla_grid_choose_order

    function c_osla_grid_create_at(transport, nprow, npcol, prow, pcol, out) bind(c, &
      name="osla_grid_create_at") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: nprow
      integer(c_int), value :: npcol
      integer(c_int), value :: prow
      integer(c_int), value :: pcol
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_grid_create_at

    function c_osla_grid_shift(grid, prow, pcol, out) bind(c, name="osla_grid_shift") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: prow
      integer(c_int), value :: pcol
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_grid_shift

    function c_osla_grid_same(x, y) bind(c, name="osla_grid_same") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      logical(c_bool) :: answer
    end function c_osla_grid_same

    subroutine c_osla_grid_destroy(grid) bind(c, name="osla_grid_destroy")
      import
      type(c_ptr), intent(inout) :: grid
    end subroutine c_osla_grid_destroy

    function c_osla_grid_nprow(grid) bind(c, name="osla_grid_nprow") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int) :: answer
    end function c_osla_grid_nprow

    function c_osla_grid_npcol(grid) bind(c, name="osla_grid_npcol") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int) :: answer
    end function c_osla_grid_npcol

    function c_osla_grid_prow(grid) bind(c, name="osla_grid_prow") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int) :: answer
    end function c_osla_grid_prow

    function c_osla_grid_pcol(grid) bind(c, name="osla_grid_pcol") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int) :: answer
    end function c_osla_grid_pcol

    function c_osla_grid_rank_at(grid, prow, pcol) bind(c, name="osla_grid_rank_at") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: prow
      integer(c_int), value :: pcol
      integer(c_int) :: answer
    end function c_osla_grid_rank_at

    function c_osla_grid_prow_of(grid, rank) bind(c, name="osla_grid_prow_of") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: rank
      integer(c_int) :: answer
    end function c_osla_grid_prow_of

    function c_osla_grid_pcol_of(grid, rank) bind(c, name="osla_grid_pcol_of") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: rank
      integer(c_int) :: answer
    end function c_osla_grid_pcol_of

    function c_osla_grid_transport(grid) bind(c, name="osla_grid_transport") result(answer)
      import
      type(c_ptr), value :: grid
      type(c_ptr) :: answer
    end function c_osla_grid_transport

    function c_osla_matrix_create(grid, dtype, m, n, mb, nb, out) bind(c, &
      name="osla_matrix_create") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: dtype
      integer(c_int64_t), value :: m
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: mb
      integer(c_int64_t), value :: nb
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_matrix_create

    function c_osla_matrix_create_triangle(grid, dtype, n, nb, out) bind(c, &
      name="osla_matrix_create_triangle") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: dtype
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: nb
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_matrix_create_triangle

    function c_osla_matrix_wrap(grid, dtype, m, n, mb, nb, local, lld, out) bind(c, &
      name="osla_matrix_wrap") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: dtype
      integer(c_int64_t), value :: m
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: mb
      integer(c_int64_t), value :: nb
      type(c_ptr), value :: local
      integer(c_int64_t), value :: lld
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_matrix_wrap

    function c_osla_matrix_wrap_own(grid, dtype, m, n, mb, nb, local, lld, out) bind(c, &
      name="osla_matrix_wrap_own") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: dtype
      integer(c_int64_t), value :: m
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: mb
      integer(c_int64_t), value :: nb
      type(c_ptr), value :: local
      integer(c_int64_t), value :: lld
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_matrix_wrap_own

    subroutine c_osla_matrix_destroy(matrix) bind(c, name="osla_matrix_destroy")
      import
      type(c_ptr), intent(inout) :: matrix
    end subroutine c_osla_matrix_destroy

    function c_osla_matrix_layout(matrix) bind(c, name="osla_matrix_layout") result(answer)
      import
      type(c_ptr), value :: matrix
      type(osla_layout) :: answer
    end function c_osla_matrix_layout

    function c_osla_matrix_is_triangle(matrix) bind(c, &
      name="osla_matrix_is_triangle") result(answer)
      import
      type(c_ptr), value :: matrix
      logical(c_bool) :: answer
    end function c_osla_matrix_is_triangle

    function c_osla_matrix_grid(matrix) bind(c, name="osla_matrix_grid") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr) :: answer
    end function c_osla_matrix_grid

    function c_osla_matrix_dtype(matrix) bind(c, name="osla_matrix_dtype") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int) :: answer
    end function c_osla_matrix_dtype

    function c_osla_matrix_local(matrix) bind(c, name="osla_matrix_local") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr) :: answer
    end function c_osla_matrix_local

    function c_osla_matrix_local_rows(matrix) bind(c, name="osla_matrix_local_rows") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t) :: answer
    end function c_osla_matrix_local_rows

    function c_osla_matrix_local_cols(matrix) bind(c, name="osla_matrix_local_cols") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t) :: answer
    end function c_osla_matrix_local_cols

    function c_osla_matrix_lld(matrix, rank) bind(c, name="osla_matrix_lld") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: rank
      integer(c_int64_t) :: answer
    end function c_osla_matrix_lld

    function c_osla_matrix_peer(matrix, rank) bind(c, name="osla_matrix_peer") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: rank
      type(c_ptr) :: answer
    end function c_osla_matrix_peer

    function c_osla_matrix_bytes(layout, dtype) bind(c, name="osla_matrix_bytes") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dtype
      integer(c_int64_t) :: answer
    end function c_osla_matrix_bytes

    function c_osla_matrix_triangle_bytes(layout, dtype) bind(c, &
      name="osla_matrix_triangle_bytes") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dtype
      integer(c_int64_t) :: answer
    end function c_osla_matrix_triangle_bytes

    function c_osla_matrix_get_block(matrix, i, j, m, n, buffer, ld) bind(c, &
      name="osla_matrix_get_block") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), value :: i
      integer(c_int64_t), value :: j
      integer(c_int64_t), value :: m
      integer(c_int64_t), value :: n
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: ld
      integer(c_int) :: answer
    end function c_osla_matrix_get_block

    function c_osla_matrix_put_block(matrix, i, j, m, n, buffer, ld) bind(c, &
      name="osla_matrix_put_block") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), value :: i
      integer(c_int64_t), value :: j
      integer(c_int64_t), value :: m
      integer(c_int64_t), value :: n
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: ld
      integer(c_int) :: answer
    end function c_osla_matrix_put_block

    function c_osla_matrix_fill(matrix, fill, seed) bind(c, name="osla_matrix_fill") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: fill
      integer(c_int64_t), value :: seed
      integer(c_int) :: answer
    end function c_osla_matrix_fill

    function c_osla_matrix_fill_with(matrix, f, arg) bind(c, &
      name="osla_matrix_fill_with") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_funptr), value :: f
      type(c_ptr), value :: arg
      integer(c_int) :: answer
    end function c_osla_matrix_fill_with

    function c_osla_matrix_norm(matrix, norm, value) bind(c, name="osla_matrix_norm") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: norm
      real(c_double), intent(inout) :: value
      integer(c_int) :: answer
    end function c_osla_matrix_norm

    function c_osla_matrix_copy(source, dest) bind(c, name="osla_matrix_copy") result(answer)
      import
      type(c_ptr), value :: source
      type(c_ptr), value :: dest
      integer(c_int) :: answer
    end function c_osla_matrix_copy

    function c_osla_matrix_transpose(trans, source, dest) bind(c, &
      name="osla_matrix_transpose") result(answer)
      import
      integer(c_int), value :: trans
      type(c_ptr), value :: source
      type(c_ptr), value :: dest
      integer(c_int) :: answer
    end function c_osla_matrix_transpose

    function c_osla_matrix_scale(alpha, matrix) bind(c, name="osla_matrix_scale") result(answer)
      import
      complex(c_double_complex), value :: alpha
      type(c_ptr), value :: matrix
      integer(c_int) :: answer
    end function c_osla_matrix_scale

    function c_osla_matrix_add(alpha, source, beta, dest) bind(c, &
      name="osla_matrix_add") result(answer)
      import
      real(c_double), value :: alpha
      type(c_ptr), value :: source
      real(c_double), value :: beta
      type(c_ptr), value :: dest
      integer(c_int) :: answer
    end function c_osla_matrix_add

    function c_osla_matrix_mirror(matrix, from) bind(c, name="osla_matrix_mirror") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: from
      integer(c_int) :: answer
    end function c_osla_matrix_mirror

    function c_osla_matrix_copy_part(source, dest) bind(c, &
      name="osla_matrix_copy_part") result(answer)
      import
      type(osla_part), value :: source
      type(osla_part), value :: dest
      integer(c_int) :: answer
    end function c_osla_matrix_copy_part

    function c_osla_matrix_transpose_part(trans, source, dest) bind(c, &
      name="osla_matrix_transpose_part") result(answer)
      import
      integer(c_int), value :: trans
      type(osla_part), value :: source
      type(osla_part), value :: dest
      integer(c_int) :: answer
    end function c_osla_matrix_transpose_part

    function c_osla_matrix_norm_part(part, norm, value) bind(c, &
      name="osla_matrix_norm_part") result(answer)
      import
      type(osla_part), value :: part
      integer(c_int), value :: norm
      real(c_double), intent(inout) :: value
      integer(c_int) :: answer
    end function c_osla_matrix_norm_part

    function c_osla_matrix_fill_part(part, fill, seed) bind(c, &
      name="osla_matrix_fill_part") result(answer)
      import
      type(osla_part), value :: part
      integer(c_int), value :: fill
      integer(c_int64_t), value :: seed
      integer(c_int) :: answer
    end function c_osla_matrix_fill_part

    function c_osla_matrix_scale_part(alpha, part) bind(c, &
      name="osla_matrix_scale_part") result(answer)
      import
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: part
      integer(c_int) :: answer
    end function c_osla_matrix_scale_part

    function c_osla_matrix_save(matrix, path, options) bind(c, &
      name="osla_matrix_save") result(answer)
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_matrix_save

    function c_osla_matrix_load(grid, path, options, stored, out) bind(c, &
      name="osla_matrix_load") result(answer)
      import
      type(c_ptr), value :: grid
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      integer(c_int), intent(inout) :: stored
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_matrix_load

    function c_osla_file_create(transport, path, out) bind(c, &
      name="osla_file_create") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_file_create

    function c_osla_file_open(transport, path, out) bind(c, name="osla_file_open") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_file_open

    function c_osla_file_commit(file) bind(c, name="osla_file_commit") result(answer)
      import
      type(c_ptr), intent(inout) :: file
      integer(c_int) :: answer
    end function c_osla_file_commit

    subroutine c_osla_file_close(file) bind(c, name="osla_file_close")
      import
      type(c_ptr), intent(inout) :: file
    end subroutine c_osla_file_close

    function c_osla_file_has(file, name, has) bind(c, name="osla_file_has") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      logical(c_bool), intent(inout) :: has
      integer(c_int) :: answer
    end function c_osla_file_has

    function c_osla_file_put_matrix(file, name, matrix, stored) bind(c, &
      name="osla_file_put_matrix") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: matrix
      integer(c_int), value :: stored
      integer(c_int) :: answer
    end function c_osla_file_put_matrix

    function c_osla_file_look_matrix(file, name, look) bind(c, &
      name="osla_file_look_matrix") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: look
      integer(c_int) :: answer
    end function c_osla_file_look_matrix

    function c_osla_file_get_matrix(file, name, matrix) bind(c, &
      name="osla_file_get_matrix") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: matrix
      integer(c_int) :: answer
    end function c_osla_file_get_matrix

    function c_osla_file_put_vector(file, name, type, count, data) bind(c, &
      name="osla_file_put_vector") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), value :: count
      type(c_ptr), value :: data
      integer(c_int) :: answer
    end function c_osla_file_put_vector

    function c_osla_file_put_parts(file, name, type, count, data) bind(c, &
      name="osla_file_put_parts") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), value :: count
      type(c_ptr), value :: data
      integer(c_int) :: answer
    end function c_osla_file_put_parts

    function c_osla_file_look_vector(file, name, type, count) bind(c, &
      name="osla_file_look_vector") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: answer
    end function c_osla_file_look_vector

    function c_osla_file_get_vector(file, name, type, count, data) bind(c, &
      name="osla_file_get_vector") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), value :: count
      type(c_ptr), value :: data
      integer(c_int) :: answer
    end function c_osla_file_get_vector

    function c_osla_file_get_parts(file, name, type, first, count, data) bind(c, &
      name="osla_file_get_parts") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), value :: first
      integer(c_int64_t), value :: count
      type(c_ptr), value :: data
      integer(c_int) :: answer
    end function c_osla_file_get_parts

    function c_osla_file_put_number(file, name, value) bind(c, &
      name="osla_file_put_number") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: answer
    end function c_osla_file_put_number

    function c_osla_file_put_int(file, name, value) bind(c, name="osla_file_put_int") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int) :: answer
    end function c_osla_file_put_int

    function c_osla_file_put_text(file, name, value) bind(c, &
      name="osla_file_put_text") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: value(*)
      integer(c_int) :: answer
    end function c_osla_file_put_text

    function c_osla_file_get_number(file, name, value) bind(c, &
      name="osla_file_get_number") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
      integer(c_int) :: answer
    end function c_osla_file_get_number

    function c_osla_file_get_int(file, name, value) bind(c, name="osla_file_get_int") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
      integer(c_int) :: answer
    end function c_osla_file_get_int

    function c_osla_file_get_text(file, name, value, size) bind(c, &
      name="osla_file_get_text") result(answer)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(inout) :: value(*)
      integer(c_size_t), value :: size
      integer(c_int) :: answer
    end function c_osla_file_get_text

    function c_osla_gemm(transa, transb, alpha, a, b, beta, c, options) bind(c, &
      name="osla_gemm") result(answer)
      import
      integer(c_int), value :: transa
      integer(c_int), value :: transb
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: b
      complex(c_double_complex), value :: beta
      type(osla_part), value :: c
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_gemm

    function c_osla_syrk(uplo, trans, alpha, a, beta, c, options) bind(c, &
      name="osla_syrk") result(answer)
      import
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      complex(c_double_complex), value :: beta
      type(osla_part), value :: c
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_syrk

    function c_osla_herk(uplo, trans, alpha, a, beta, c, options) bind(c, &
      name="osla_herk") result(answer)
      import
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      real(c_double), value :: alpha
      type(osla_part), value :: a
      real(c_double), value :: beta
      type(osla_part), value :: c
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_herk

    function c_osla_gemm_predict(transa, transb, a, b, c, options, plan) bind(c, &
      name="osla_gemm_predict") result(answer)
      import
      integer(c_int), value :: transa
      integer(c_int), value :: transb
      type(osla_part), value :: a
      type(osla_part), value :: b
      type(osla_part), value :: c
      type(c_ptr), value :: options
      type(c_ptr), value :: plan
      integer(c_int) :: answer
    end function c_osla_gemm_predict

    function c_osla_getrf(a, ipiv, options, result) bind(c, name="osla_getrf") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: ipiv
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_getrf

    function c_osla_getrf_part(a, ipiv, options, result) bind(c, &
      name="osla_getrf_part") result(answer)
      import
      type(osla_part), value :: a
      type(c_ptr), value :: ipiv
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_getrf_part

    function c_osla_symm(side, uplo, alpha, a, b, beta, c, options) bind(c, &
      name="osla_symm") result(answer)
      import
      integer(c_int), value :: side
      integer(c_int), value :: uplo
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: b
      complex(c_double_complex), value :: beta
      type(osla_part), value :: c
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_symm

    function c_osla_hemm(side, uplo, alpha, a, b, beta, c, options) bind(c, &
      name="osla_hemm") result(answer)
      import
      integer(c_int), value :: side
      integer(c_int), value :: uplo
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: b
      complex(c_double_complex), value :: beta
      type(osla_part), value :: c
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_hemm

    function c_osla_trmm(side, uplo, trans, diag, alpha, a, b, options) bind(c, &
      name="osla_trmm") result(answer)
      import
      integer(c_int), value :: side
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      integer(c_int), value :: diag
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: b
      type(c_ptr), value :: options
      integer(c_int) :: answer
    end function c_osla_trmm

    function c_osla_gemv(trans, alpha, a, x, beta, y) bind(c, name="osla_gemv") result(answer)
      import
      integer(c_int), value :: trans
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: x
      complex(c_double_complex), value :: beta
      type(osla_part), value :: y
      integer(c_int) :: answer
    end function c_osla_gemv

    function c_osla_symv(uplo, alpha, a, x, beta, y) bind(c, name="osla_symv") result(answer)
      import
      integer(c_int), value :: uplo
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: x
      complex(c_double_complex), value :: beta
      type(osla_part), value :: y
      integer(c_int) :: answer
    end function c_osla_symv

    function c_osla_hemv(uplo, alpha, a, x, beta, y) bind(c, name="osla_hemv") result(answer)
      import
      integer(c_int), value :: uplo
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: x
      complex(c_double_complex), value :: beta
      type(osla_part), value :: y
      integer(c_int) :: answer
    end function c_osla_hemv

    function c_osla_potrf(uplo, a, options, info) bind(c, name="osla_potrf") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      type(c_ptr), value :: options
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: answer
    end function c_osla_potrf

    function c_osla_potrf_part(uplo, a, options, info) bind(c, &
      name="osla_potrf_part") result(answer)
      import
      integer(c_int), value :: uplo
      type(osla_part), value :: a
      type(c_ptr), value :: options
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: answer
    end function c_osla_potrf_part

    function c_osla_chol_logdet(uplo, factor, value) bind(c, name="osla_chol_logdet") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: factor
      real(c_double), intent(inout) :: value
      integer(c_int) :: answer
    end function c_osla_chol_logdet

    function c_osla_potri(uplo, a, options, info) bind(c, name="osla_potri") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      type(c_ptr), value :: options
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: answer
    end function c_osla_potri

    function c_osla_getri(a, ipiv, options, info) bind(c, name="osla_getri") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: ipiv
      type(c_ptr), value :: options
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: answer
    end function c_osla_getri

    function c_osla_trsm(side, uplo, trans, diag, alpha, a, b) bind(c, &
      name="osla_trsm") result(answer)
      import
      integer(c_int), value :: side
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      integer(c_int), value :: diag
      complex(c_double_complex), value :: alpha
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      integer(c_int) :: answer
    end function c_osla_trsm

    function c_osla_potrs(uplo, a, b) bind(c, name="osla_potrs") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      integer(c_int) :: answer
    end function c_osla_potrs

    function c_osla_getrs(trans, a, ipiv, b) bind(c, name="osla_getrs") result(answer)
      import
      integer(c_int), value :: trans
      type(c_ptr), value :: a
      type(c_ptr), value :: ipiv
      type(c_ptr), value :: b
      integer(c_int) :: answer
    end function c_osla_getrs

    function c_osla_trsm_part(side, uplo, trans, diag, alpha, a, b) bind(c, &
      name="osla_trsm_part") result(answer)
      import
      integer(c_int), value :: side
      integer(c_int), value :: uplo
      integer(c_int), value :: trans
      integer(c_int), value :: diag
      complex(c_double_complex), value :: alpha
      type(osla_part), value :: a
      type(osla_part), value :: b
      integer(c_int) :: answer
    end function c_osla_trsm_part

    function c_osla_potrs_part(uplo, a, b) bind(c, name="osla_potrs_part") result(answer)
      import
      integer(c_int), value :: uplo
      type(osla_part), value :: a
      type(osla_part), value :: b
      integer(c_int) :: answer
    end function c_osla_potrs_part

    function c_osla_getrs_part(trans, a, ipiv, b) bind(c, name="osla_getrs_part") result(answer)
      import
      integer(c_int), value :: trans
      type(osla_part), value :: a
      type(c_ptr), value :: ipiv
      type(osla_part), value :: b
      integer(c_int) :: answer
    end function c_osla_getrs_part

    function c_osla_potrs_replicated(uplo, a, nrhs, x, ldx) bind(c, &
      name="osla_potrs_replicated") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      integer(c_int64_t), value :: nrhs
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      integer(c_int) :: answer
    end function c_osla_potrs_replicated

    function c_osla_getrs_replicated(trans, a, ipiv, nrhs, x, ldx) bind(c, &
      name="osla_getrs_replicated") result(answer)
      import
      integer(c_int), value :: trans
      type(c_ptr), value :: a
      type(c_ptr), value :: ipiv
      integer(c_int64_t), value :: nrhs
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx
      integer(c_int) :: answer
    end function c_osla_getrs_replicated

    function c_osla_residual(a, x, b, value) bind(c, name="osla_residual") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      type(c_ptr), value :: b
      real(c_double), intent(inout) :: value
      integer(c_int) :: answer
    end function c_osla_residual

    function c_osla_refine(a, factors, b, x, options, result) bind(c, &
      name="osla_refine") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: factors
      type(c_ptr), value :: b
      type(c_ptr), value :: x
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_refine

    function c_osla_gesv_mixed(a, b, x, options, result) bind(c, &
      name="osla_gesv_mixed") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), value :: x
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_gesv_mixed

    function c_osla_posv_mixed(uplo, a, b, x, options, result) bind(c, &
      name="osla_posv_mixed") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), value :: x
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_posv_mixed

    function c_osla_gecon(a, ipiv, anorm, rcond) bind(c, name="osla_gecon") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: ipiv
      real(c_double), value :: anorm
      real(c_double), intent(inout) :: rcond
      integer(c_int) :: answer
    end function c_osla_gecon

    function c_osla_pocon(uplo, a, anorm, rcond) bind(c, name="osla_pocon") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      real(c_double), value :: anorm
      real(c_double), intent(inout) :: rcond
      integer(c_int) :: answer
    end function c_osla_pocon

    function c_osla_hessian_create(grid, n, options, out) bind(c, &
      name="osla_hessian_create") result(answer)
      import
      type(c_ptr), value :: grid
      integer(c_int64_t), value :: n
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_hessian_create

    function c_osla_hessian_create_on(matrix, options, out) bind(c, &
      name="osla_hessian_create_on") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_hessian_create_on

    subroutine c_osla_hessian_destroy(hessian) bind(c, name="osla_hessian_destroy")
      import
      type(c_ptr), intent(inout) :: hessian
    end subroutine c_osla_hessian_destroy

    function c_osla_hessian_update(hessian, count, ix, k, g, ldg) bind(c, &
      name="osla_hessian_update") result(answer)
      import
      type(c_ptr), value :: hessian
      integer(c_int64_t), value :: count
      type(c_ptr), value :: ix
      integer(c_int64_t), value :: k
      type(c_ptr), value :: g
      integer(c_int64_t), value :: ldg
      integer(c_int) :: answer
    end function c_osla_hessian_update

    function c_osla_hessian_update_block(hessian, rows, ix, cols, jx, u, ldu) bind(c, &
      name="osla_hessian_update_block") result(answer)
      import
      type(c_ptr), value :: hessian
      integer(c_int64_t), value :: rows
      type(c_ptr), value :: ix
      integer(c_int64_t), value :: cols
      type(c_ptr), value :: jx
      type(c_ptr), value :: u
      integer(c_int64_t), value :: ldu
      integer(c_int) :: answer
    end function c_osla_hessian_update_block

    function c_osla_hessian_update_gradient(hessian, count, ix, values) bind(c, &
      name="osla_hessian_update_gradient") result(answer)
      import
      type(c_ptr), value :: hessian
      integer(c_int64_t), value :: count
      type(c_ptr), value :: ix
      type(c_ptr), value :: values
      integer(c_int) :: answer
    end function c_osla_hessian_update_gradient

    function c_osla_hessian_update_once(hessian, datum, skipped) bind(c, &
      name="osla_hessian_update_once") result(answer)
      import
      type(c_ptr), value :: hessian
      type(c_ptr), value :: datum
      logical(c_bool), intent(inout) :: skipped
      integer(c_int) :: answer
    end function c_osla_hessian_update_once

    function c_osla_hessian_has_id(hessian, id) bind(c, name="osla_hessian_has_id") result(answer)
      import
      type(c_ptr), value :: hessian
      integer(c_int64_t), value :: id
      logical(c_bool) :: answer
    end function c_osla_hessian_has_id

    function c_osla_hessian_checkpoint(hessian, path, job) bind(c, &
      name="osla_hessian_checkpoint") result(answer)
      import
      type(c_ptr), value :: hessian
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: job(*)
      integer(c_int) :: answer
    end function c_osla_hessian_checkpoint

    function c_osla_hessian_restore(hessian, path, job) bind(c, &
      name="osla_hessian_restore") result(answer)
      import
      type(c_ptr), value :: hessian
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: job(*)
      integer(c_int) :: answer
    end function c_osla_hessian_restore

    function c_osla_hessian_commit(hessian) bind(c, name="osla_hessian_commit") result(answer)
      import
      type(c_ptr), value :: hessian
      integer(c_int) :: answer
    end function c_osla_hessian_commit

    function c_osla_hessian_matrix(hessian, out) bind(c, name="osla_hessian_matrix") result(answer)
      import
      type(c_ptr), value :: hessian
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_hessian_matrix

    function c_osla_hessian_gradient(hessian) bind(c, name="osla_hessian_gradient") result(answer)
      import
      type(c_ptr), value :: hessian
      type(c_ptr) :: answer
    end function c_osla_hessian_gradient

    function c_osla_hessian_reset(hessian) bind(c, name="osla_hessian_reset") result(answer)
      import
      type(c_ptr), value :: hessian
      integer(c_int) :: answer
    end function c_osla_hessian_reset

    function c_osla_hessian_get_stats(hessian) bind(c, name="osla_hessian_get_stats") result(answer)
      import
      type(c_ptr), value :: hessian
      type(osla_hessian_stats) :: answer
    end function c_osla_hessian_get_stats

    function c_osla_vertices_create(transport, bytes, out) bind(c, &
      name="osla_vertices_create") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_vertices_create

    function c_osla_vertices_free(transport, vertices) bind(c, &
      name="osla_vertices_free") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), intent(inout) :: vertices
      integer(c_int) :: answer
    end function c_osla_vertices_free

    function c_osla_forest_create(transport, n_roots, n_edges, leaf, root, out) bind(c, &
      name="osla_forest_create") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int64_t), value :: n_roots
      integer(c_int64_t), value :: n_edges
      type(c_ptr), value :: leaf
      type(c_ptr), value :: root
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_create

    function c_osla_forest_create_global(transport, start, n_edges, leaf, root, out) bind(c, &
      name="osla_forest_create_global") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: start
      integer(c_int64_t), value :: n_edges
      type(c_ptr), value :: leaf
      type(c_ptr), value :: root
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_create_global

    function c_osla_forest_allgather(transport, n_roots, out) bind(c, &
      name="osla_forest_allgather") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int64_t), value :: n_roots
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_allgather

    function c_osla_forest_gather(transport, n_roots, rank, out) bind(c, &
      name="osla_forest_gather") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int64_t), value :: n_roots
      integer(c_int), value :: rank
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_gather

    function c_osla_forest_alltoall(transport, n, out) bind(c, &
      name="osla_forest_alltoall") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_alltoall

    function c_osla_forest_destroy(forest) bind(c, name="osla_forest_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: forest
      integer(c_int) :: answer
    end function c_osla_forest_destroy

    function c_osla_forest_n_roots(forest) bind(c, name="osla_forest_n_roots") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int64_t) :: answer
    end function c_osla_forest_n_roots

    function c_osla_forest_n_edges(forest) bind(c, name="osla_forest_n_edges") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int64_t) :: answer
    end function c_osla_forest_n_edges

    function c_osla_forest_leaf_space(forest) bind(c, name="osla_forest_leaf_space") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int64_t) :: answer
    end function c_osla_forest_leaf_space

    function c_osla_forest_root_ranks(forest, ranks) bind(c, &
      name="osla_forest_root_ranks") result(answer)
      import
      type(c_ptr), value :: forest
      type(c_ptr), value :: ranks
      integer(c_int) :: answer
    end function c_osla_forest_root_ranks

    function c_osla_forest_leaf_ranks(forest, ranks) bind(c, &
      name="osla_forest_leaf_ranks") result(answer)
      import
      type(c_ptr), value :: forest
      type(c_ptr), value :: ranks
      integer(c_int) :: answer
    end function c_osla_forest_leaf_ranks

    function c_osla_forest_transport(forest) bind(c, name="osla_forest_transport") result(answer)
      import
      type(c_ptr), value :: forest
      type(c_ptr) :: answer
    end function c_osla_forest_transport

    subroutine c_osla_forest_edges(forest, leaf, root) bind(c, name="osla_forest_edges")
      import
      type(c_ptr), value :: forest
      type(c_ptr), value :: leaf
      type(c_ptr), value :: root
    end subroutine c_osla_forest_edges

    function c_osla_forest_view(forest, edges, text, size) bind(c, &
      name="osla_forest_view") result(answer)
      import
      type(c_ptr), value :: forest
      logical(c_bool), value :: edges
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: size
      integer(c_size_t) :: answer
    end function c_osla_forest_view

    subroutine c_osla_forest_degrees(forest, degree) bind(c, name="osla_forest_degrees")
      import
      type(c_ptr), value :: forest
      type(c_ptr), value :: degree
    end subroutine c_osla_forest_degrees

    function c_osla_forest_split(forest, out) bind(c, name="osla_forest_split") result(answer)
      import
      type(c_ptr), value :: forest
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_split

    function c_osla_forest_compose(a, b, out) bind(c, name="osla_forest_compose") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_compose

    function c_osla_forest_compose_inverse(a, b, out) bind(c, &
      name="osla_forest_compose_inverse") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_compose_inverse

    function c_osla_forest_inverse(forest, out) bind(c, name="osla_forest_inverse") result(answer)
      import
      type(c_ptr), value :: forest
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_inverse

    function c_osla_forest_embed_roots(forest, n, chosen, out) bind(c, &
      name="osla_forest_embed_roots") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int64_t), value :: n
      type(c_ptr), value :: chosen
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_embed_roots

    function c_osla_forest_embed_leaves(forest, n, chosen, out) bind(c, &
      name="osla_forest_embed_leaves") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int64_t), value :: n
      type(c_ptr), value :: chosen
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_embed_leaves

    function c_osla_forest_concatenate(n, forests, same_roots, out) bind(c, &
      name="osla_forest_concatenate") result(answer)
      import
      integer(c_int), value :: n
      type(c_ptr), value :: forests
      logical(c_bool), value :: same_roots
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_concatenate

    function c_osla_forest_strided(forest, count, root_stride, leaf_stride, out) bind(c, &
      name="osla_forest_strided") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: root_stride
      integer(c_int64_t), value :: leaf_stride
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_strided

    function c_osla_forest_sections(forest, root_start, leaf_start, out) bind(c, &
      name="osla_forest_sections") result(answer)
      import
      type(c_ptr), value :: forest
      type(c_ptr), value :: root_start
      type(c_ptr), value :: leaf_start
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_forest_sections

    function c_osla_forest_end(run) bind(c, name="osla_forest_end") result(answer)
      import
      type(c_ptr), value :: run
      integer(c_int) :: answer
    end function c_osla_forest_end

    function c_osla_forest_test(run, done) bind(c, name="osla_forest_test") result(answer)
      import
      type(c_ptr), value :: run
      logical(c_bool), intent(inout) :: done
      integer(c_int) :: answer
    end function c_osla_forest_test

    function c_osla_forest_end_read(run) bind(c, name="osla_forest_end_read") result(answer)
      import
      type(c_ptr), value :: run
      integer(c_int) :: answer
    end function c_osla_forest_end_read

    function c_osla_forest_writable(forest) bind(c, name="osla_forest_writable") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int) :: answer
    end function c_osla_forest_writable

    subroutine c_osla_even_blocks(n, ranks, start) bind(c, name="osla_even_blocks")
      import
      integer(c_int64_t), value :: n
      integer(c_int), value :: ranks
      type(c_ptr), value :: start
    end subroutine c_osla_even_blocks

    function c_osla_csr_create(transport, row_start, column_start, first, column, value, &
      out) bind(c, name="osla_csr_create") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: row_start
      type(c_ptr), value :: column_start
      type(c_ptr), value :: first
      type(c_ptr), value :: column
      type(c_ptr), value :: value
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_create

    function c_osla_csr_destroy(matrix) bind(c, name="osla_csr_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: matrix
      integer(c_int) :: answer
    end function c_osla_csr_destroy

    function c_osla_csr_transport(matrix) bind(c, name="osla_csr_transport") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr) :: answer
    end function c_osla_csr_transport

    function c_osla_csr_row_start(matrix) bind(c, name="osla_csr_row_start") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr) :: answer
    end function c_osla_csr_row_start

    function c_osla_csr_column_start(matrix) bind(c, name="osla_csr_column_start") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr) :: answer
    end function c_osla_csr_column_start

    function c_osla_csr_rows(matrix) bind(c, name="osla_csr_rows") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t) :: answer
    end function c_osla_csr_rows

    function c_osla_csr_columns(matrix) bind(c, name="osla_csr_columns") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t) :: answer
    end function c_osla_csr_columns

    function c_osla_csr_entries(matrix) bind(c, name="osla_csr_entries") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t) :: answer
    end function c_osla_csr_entries

    function c_osla_csr_ghosts(matrix) bind(c, name="osla_csr_ghosts") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t) :: answer
    end function c_osla_csr_ghosts

    function c_osla_csr_row(matrix, row, column, value) bind(c, name="osla_csr_row") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), value :: row
      type(c_ptr), value :: column
      type(c_ptr), value :: value
      integer(c_int64_t) :: answer
    end function c_osla_csr_row

    function c_osla_csr_renumber(matrix, number, start, out) bind(c, &
      name="osla_csr_renumber") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), value :: number
      type(c_ptr), value :: start
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_renumber

    function c_osla_csr_set_values(matrix, value) bind(c, name="osla_csr_set_values") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), value :: value
      integer(c_int) :: answer
    end function c_osla_csr_set_values

    function c_osla_csr_multiply(a, b, out) bind(c, name="osla_csr_multiply") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_multiply

    function c_osla_csr_multiply_numeric(a, b, c) bind(c, &
      name="osla_csr_multiply_numeric") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), value :: c
      integer(c_int) :: answer
    end function c_osla_csr_multiply_numeric

    function c_osla_csr_transpose(a, out) bind(c, name="osla_csr_transpose") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_transpose

    function c_osla_csr_galerkin(a, p, out) bind(c, name="osla_csr_galerkin") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: p
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_galerkin

    function c_osla_csr_galerkin_numeric(a, p, c) bind(c, &
      name="osla_csr_galerkin_numeric") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: p
      type(c_ptr), value :: c
      integer(c_int) :: answer
    end function c_osla_csr_galerkin_numeric

    function c_osla_csr_submatrix(a, n_rows, row, n_columns, column, out) bind(c, &
      name="osla_csr_submatrix") result(answer)
      import
      type(c_ptr), value :: a
      integer(c_int64_t), value :: n_rows
      type(c_ptr), value :: row
      integer(c_int64_t), value :: n_columns
      type(c_ptr), value :: column
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_submatrix

    function c_osla_spmv(op, matrix, x, beta, y) bind(c, name="osla_spmv") result(answer)
      import
      integer(c_int), value :: op
      type(c_ptr), value :: matrix
      type(c_ptr), value :: x
      real(c_double), value :: beta
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function c_osla_spmv

    function c_osla_csr_column_squares(matrix, d) bind(c, &
      name="osla_csr_column_squares") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), value :: d
      integer(c_int) :: answer
    end function c_osla_csr_column_squares

    function c_osla_csr_column_norms(matrix, d) bind(c, name="osla_csr_column_norms") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), value :: d
      integer(c_int) :: answer
    end function c_osla_csr_column_norms

    function c_osla_csr_diagonal(matrix, d) bind(c, name="osla_csr_diagonal") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), value :: d
      integer(c_int) :: answer
    end function c_osla_csr_diagonal

    function c_osla_sums_create(transport, most, out) bind(c, &
      name="osla_sums_create") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: most
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_sums_create

    function c_osla_sums_destroy(sums) bind(c, name="osla_sums_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: sums
      integer(c_int) :: answer
    end function c_osla_sums_destroy

    function c_osla_sums_all(sums, n, value) bind(c, name="osla_sums_all") result(answer)
      import
      type(c_ptr), value :: sums
      integer(c_int), value :: n
      type(c_ptr), value :: value
      integer(c_int) :: answer
    end function c_osla_sums_all

    function c_osla_dot_local(n, x, y) bind(c, name="osla_dot_local") result(answer)
      import
      integer(c_int64_t), value :: n
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      real(c_double) :: answer
    end function c_osla_dot_local

    function c_osla_csr_operator(matrix) bind(c, name="osla_csr_operator") result(answer)
      import
      type(c_ptr), value :: matrix
      type(osla_operator) :: answer
    end function c_osla_csr_operator

    function c_osla_jacobi_create(matrix, block, shift, out) bind(c, &
      name="osla_jacobi_create") result(answer)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), value :: block
      real(c_double), value :: shift
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_jacobi_create

    subroutine c_osla_jacobi_destroy(jacobi) bind(c, name="osla_jacobi_destroy")
      import
      type(c_ptr), intent(inout) :: jacobi
    end subroutine c_osla_jacobi_destroy

    function c_osla_jacobi_use(jacobi) bind(c, name="osla_jacobi_use") result(answer)
      import
      type(c_ptr), value :: jacobi
      type(osla_preconditioner) :: answer
    end function c_osla_jacobi_use

    function c_osla_cg(a, m, b, x, options, result) bind(c, name="osla_cg") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: m
      type(c_ptr), value :: b
      type(c_ptr), value :: x
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_cg

    function c_osla_lsqr(a, b, damping, scale, x, options, result) bind(c, &
      name="osla_lsqr") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      real(c_double), value :: damping
      type(c_ptr), value :: scale
      type(c_ptr), value :: x
      type(c_ptr), value :: options
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_lsqr

    function c_osla_csr_read_matrix_market(transport, file, row_start, column_start, out) bind(c, &
      name="osla_csr_read_matrix_market") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: file(*)
      type(c_ptr), value :: row_start
      type(c_ptr), value :: column_start
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_read_matrix_market

    function c_osla_vector_read_matrix_market(transport, file, start, part) bind(c, &
      name="osla_vector_read_matrix_market") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: file(*)
      type(c_ptr), value :: start
      type(c_ptr), value :: part
      integer(c_int) :: answer
    end function c_osla_vector_read_matrix_market

    function c_osla_csr_read_metis(transport, file, row_start, out) bind(c, &
      name="osla_csr_read_metis") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: file(*)
      type(c_ptr), value :: row_start
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_csr_read_metis

    function c_osla_iterate_end_name(end) bind(c, name="osla_iterate_end_name") result(answer)
      import
      integer(c_int), value :: end
      type(c_ptr) :: answer
    end function c_osla_iterate_end_name

    function c_osla_iteration_create(transport, problem, options, out) bind(c, &
      name="osla_iteration_create") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: problem
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_iteration_create

    subroutine c_osla_iteration_destroy(iteration) bind(c, name="osla_iteration_destroy")
      import
      type(c_ptr), intent(inout) :: iteration
    end subroutine c_osla_iteration_destroy

    function c_osla_iterate_bound(iteration, steps, alpha) bind(c, &
      name="osla_iterate_bound") result(answer)
      import
      type(c_ptr), value :: iteration
      integer(c_int64_t), value :: steps
      real(c_double), intent(inout) :: alpha
      integer(c_int) :: answer
    end function c_osla_iterate_bound

    function c_osla_iterate(iteration, x, result) bind(c, name="osla_iterate") result(answer)
      import
      type(c_ptr), value :: iteration
      type(c_ptr), value :: x
      type(c_ptr), value :: result
      integer(c_int) :: answer
    end function c_osla_iterate

    function c_osla_diffusion_create(transport, options, out) bind(c, &
      name="osla_diffusion_create") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_diffusion_create

    subroutine c_osla_diffusion_destroy(diffusion) bind(c, name="osla_diffusion_destroy")
      import
      type(c_ptr), intent(inout) :: diffusion
    end subroutine c_osla_diffusion_destroy

    function c_osla_diffusion_problem(diffusion) bind(c, &
      name="osla_diffusion_problem") result(answer)
      import
      type(c_ptr), value :: diffusion
      type(osla_fixed_point) :: answer
    end function c_osla_diffusion_problem

    subroutine c_osla_diffusion_own(diffusion, first, count) bind(c, name="osla_diffusion_own")
      import
      type(c_ptr), value :: diffusion
      integer(c_int64_t), intent(inout) :: first(3)
      integer(c_int64_t), intent(inout) :: count(3)
    end subroutine c_osla_diffusion_own

    subroutine c_osla_diffusion_ranks(diffusion, ranks) bind(c, name="osla_diffusion_ranks")
      import
      type(c_ptr), value :: diffusion
      integer(c_int), intent(inout) :: ranks(3)
    end subroutine c_osla_diffusion_ranks

    subroutine c_osla_diffusion_fill(diffusion, x) bind(c, name="osla_diffusion_fill")
      import
      type(c_ptr), value :: diffusion
      type(c_ptr), value :: x
    end subroutine c_osla_diffusion_fill

    function c_osla_diffusion_radius(diffusion) bind(c, name="osla_diffusion_radius") result(answer)
      import
      type(c_ptr), value :: diffusion
      real(c_double) :: answer
    end function c_osla_diffusion_radius

    function c_osla_splitting_create(a, b, options, out) bind(c, &
      name="osla_splitting_create") result(answer)
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_splitting_create

    function c_osla_splitting_create_dense(uplo, a, b, options, out) bind(c, &
      name="osla_splitting_create_dense") result(answer)
      import
      integer(c_int), value :: uplo
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_splitting_create_dense

    subroutine c_osla_splitting_destroy(splitting) bind(c, name="osla_splitting_destroy")
      import
      type(c_ptr), intent(inout) :: splitting
    end subroutine c_osla_splitting_destroy

    function c_osla_splitting_problem(splitting) bind(c, &
      name="osla_splitting_problem") result(answer)
      import
      type(c_ptr), value :: splitting
      type(osla_fixed_point) :: answer
    end function c_osla_splitting_problem

    function c_osla_sweeps_create(transport, problem, rows, right, options, out) bind(c, &
      name="osla_sweeps_create") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: problem
      integer(c_int64_t), value :: rows
      type(c_ptr), value :: right
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_sweeps_create

    subroutine c_osla_sweeps_destroy(sweeps) bind(c, name="osla_sweeps_destroy")
      import
      type(c_ptr), intent(inout) :: sweeps
    end subroutine c_osla_sweeps_destroy

    function c_osla_sweeps_use(sweeps) bind(c, name="osla_sweeps_use") result(answer)
      import
      type(c_ptr), value :: sweeps
      type(osla_preconditioner) :: answer
    end function c_osla_sweeps_use

    function c_osla_device_open(transport, options, out) bind(c, &
      name="osla_device_open") result(answer)
      import
      type(c_ptr), value :: transport
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_device_open

    subroutine c_osla_device_close(device) bind(c, name="osla_device_close")
      import
      type(c_ptr), intent(inout) :: device
    end subroutine c_osla_device_close

    function c_osla_device_wait(device) bind(c, name="osla_device_wait") result(answer)
      import
      type(c_ptr), value :: device
      integer(c_int) :: answer
    end function c_osla_device_wait

    function c_osla_matrix_create_on(device, grid, dtype, m, n, mb, nb, out) bind(c, &
      name="osla_matrix_create_on") result(answer)
      import
      type(c_ptr), value :: device
      type(c_ptr), value :: grid
      integer(c_int), value :: dtype
      integer(c_int64_t), value :: m
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: mb
      integer(c_int64_t), value :: nb
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_matrix_create_on

    function c_osla_vertices_create_on(device, bytes, out) bind(c, &
      name="osla_vertices_create_on") result(answer)
      import
      type(c_ptr), value :: device
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osla_vertices_create_on

    function c_osla_device_register(device, memory, bytes) bind(c, &
      name="osla_device_register") result(answer)
      import
      type(c_ptr), value :: device
      type(c_ptr), value :: memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: answer
    end function c_osla_device_register

    function c_osla_device_unregister(device, memory, bytes) bind(c, &
      name="osla_device_unregister") result(answer)
      import
      type(c_ptr), value :: device
      type(c_ptr), value :: memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: answer
    end function c_osla_device_unregister

    function c_osla_device_follow(device, stream) bind(c, name="osla_device_follow") result(answer)
      import
      type(c_ptr), value :: device
      type(c_ptr), value :: stream
      integer(c_int) :: answer
    end function c_osla_device_follow

    function c_osla_matrix_device(matrix) bind(c, name="osla_matrix_device") result(answer)
      import
      type(c_ptr), value :: matrix
      type(c_ptr) :: answer
    end function c_osla_matrix_device

    function c_osli_fortran_transport_create(comm, progress_thread, threads_per_rank, name, &
      out) bind(c, name="osli_fortran_transport_create") result(answer)
      import
      integer(c_int), value :: comm
      logical(c_bool), value :: progress_thread
      integer(c_int), value :: threads_per_rank
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osli_fortran_transport_create

    function c_osli_fortran_transport_comm(transport) bind(c, &
      name="osli_fortran_transport_comm") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int) :: answer
    end function c_osli_fortran_transport_comm

    function c_osli_fortran_device_open(transport, kind, ordinal, stream, out) bind(c, &
      name="osli_fortran_device_open") result(answer)
      import
      type(c_ptr), value :: transport
      character(kind=c_char), intent(in) :: kind(*)
      integer(c_int), value :: ordinal
      type(c_ptr), value :: stream
      type(c_ptr), intent(inout) :: out
      integer(c_int) :: answer
    end function c_osli_fortran_device_open

    function c_osli_fortran_meet(transport, local, call) bind(c, &
      name="osli_fortran_meet") result(answer)
      import
      type(c_ptr), value :: transport
      integer(c_int), value :: local
      character(kind=c_char), intent(in) :: call(*)
      integer(c_int) :: answer
    end function c_osli_fortran_meet

    function c_osli_fortran_refuse(err, text) bind(c, name="osli_fortran_refuse") result(answer)
      import
      integer(c_int), value :: err
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int) :: answer
    end function c_osli_fortran_refuse

    function c_osli_fortran_forest_bcast(forest, type, count, roots, leaves, combine) bind(c, &
      name="osli_fortran_forest_bcast") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: roots
      type(c_ptr), value :: leaves
      integer(c_int), value :: combine
      integer(c_int) :: answer
    end function c_osli_fortran_forest_bcast

    function c_osli_fortran_forest_reduce(forest, type, count, leaves, roots, combine) bind(c, &
      name="osli_fortran_forest_reduce") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: leaves
      type(c_ptr), value :: roots
      integer(c_int), value :: combine
      integer(c_int) :: answer
    end function c_osli_fortran_forest_reduce

    function c_osli_fortran_forest_fetch(forest, type, count, roots, leaves, before, &
      combine) bind(c, name="osli_fortran_forest_fetch") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: roots
      type(c_ptr), value :: leaves
      type(c_ptr), value :: before
      integer(c_int), value :: combine
      integer(c_int) :: answer
    end function c_osli_fortran_forest_fetch

    function c_osli_fortran_forest_bcast_begin(forest, type, count, roots, leaves, combine, &
      run) bind(c, name="osli_fortran_forest_bcast_begin") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: roots
      type(c_ptr), value :: leaves
      integer(c_int), value :: combine
      type(c_ptr), value :: run
      integer(c_int) :: answer
    end function c_osli_fortran_forest_bcast_begin

    function c_osli_fortran_forest_reduce_begin(forest, type, count, leaves, roots, combine, &
      run) bind(c, name="osli_fortran_forest_reduce_begin") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: leaves
      type(c_ptr), value :: roots
      integer(c_int), value :: combine
      type(c_ptr), value :: run
      integer(c_int) :: answer
    end function c_osli_fortran_forest_reduce_begin

    function c_osli_fortran_forest_fetch_begin(forest, type, count, roots, leaves, before, &
      combine, run) bind(c, name="osli_fortran_forest_fetch_begin") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: roots
      type(c_ptr), value :: leaves
      type(c_ptr), value :: before
      integer(c_int), value :: combine
      type(c_ptr), value :: run
      integer(c_int) :: answer
    end function c_osli_fortran_forest_fetch_begin

    function c_osli_fortran_forest_bcast_check(forest, type, count, roots, leaves, &
      combine) bind(c, name="osli_fortran_forest_bcast_check") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: roots
      type(c_ptr), value :: leaves
      integer(c_int), value :: combine
      integer(c_int) :: answer
    end function c_osli_fortran_forest_bcast_check

    function c_osli_fortran_forest_reduce_check(forest, type, count, leaves, roots, &
      combine) bind(c, name="osli_fortran_forest_reduce_check") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: leaves
      type(c_ptr), value :: roots
      integer(c_int), value :: combine
      integer(c_int) :: answer
    end function c_osli_fortran_forest_reduce_check

    function c_osli_fortran_forest_fetch_check(forest, type, count, roots, leaves, before, &
      combine) bind(c, name="osli_fortran_forest_fetch_check") result(answer)
      import
      type(c_ptr), value :: forest
      integer(c_int), value :: type
      integer(c_int32_t), value :: count
      type(c_ptr), value :: roots
      type(c_ptr), value :: leaves
      type(c_ptr), value :: before
      integer(c_int), value :: combine
      integer(c_int) :: answer
    end function c_osli_fortran_forest_fetch_check

    subroutine c_osli_fortran_end(err) bind(c, name="osli_fortran_end")
      import
      integer(c_int), value :: err
    end subroutine c_osli_fortran_end
  end interface
end module osla_c
