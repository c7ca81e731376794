! OSLA for Fortran: `use osla`. Calls have the names, the order of arguments and the contracts of
! the C headers, with these differences (doc/fortran.md):
!   - elements, rows, columns and unknowns are counted from 1; ranks and positions in a grid from 0
!   - objects are type(osla_transport), type(osla_grid), type(osla_matrix), type(osla_hessian),
!     type(osla_file), type(osla_forest), type(osla_csr), type(osla_jacobi), type(osla_splitting),
!     type(osla_diffusion), type(osla_iteration), type(osla_sweeps), type(osla_device)
!   - the size of an array is not an argument; the kind of an array must be that of the matrix
!   - the last arguments are stat and errmsg, both optional; without stat an error ends the job
!   - options are optional arguments, or components of a type, which have default values
module osla
  use osla_values, hidden_part => osla_part, hidden_factors => osla_factors, hidden_datum => osla_hessian_datum, &
    hidden_save => osla_save_options, hidden_load => osla_load_options, &
    hidden_transport => osla_transport_options, hidden_device => osla_device_options, &
    hidden_argument => osla_argument, hidden_unit => osla_unit
  use osla_objects, only: osla_transport, osla_grid, osla_operand, osla_matrix, osla_part, osla_hessian, &
    osla_file, osla_forest, osla_csr, osla_jacobi, osla_splitting, osla_diffusion, osla_iteration, osla_sweeps, osla_device, &
    osla_error_text, osla_err_name, osla_version, osla_version_text, osla_random_uniform, osla_random_normal
  use osla_grids
  use osla_devices
  use osla_matrices
  use osla_elements
  use osla_products
  use osla_triangles
  use osla_solves
  use osla_accumulator
  use osla_forests
  use osla_forest_transfers
  use osla_forest_runs
  use osla_forest_shapes
  use osla_sparse_matrices
  use osla_sparse_files
  use osla_krylov_solves
  use osla_iterations
  use osla_records
  implicit none
  public
  private :: hidden_part, hidden_factors, hidden_datum, hidden_save, hidden_load, hidden_transport, &
    hidden_device, hidden_argument, hidden_unit
end module osla
