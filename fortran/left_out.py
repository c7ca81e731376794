#!/usr/bin/env python3
"""usage: left_out.py ROOT

Checks that each function of the stable headers is public in module osla, by its own name or through
a call that covers several functions, or is listed in LEFT_OUT with the reason or the replacement.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, f"{sys.argv[1]}/tests/install")
from stable_names import compare  # noqa: E402

# Public procedures of module osla, and the C functions that each covers for other kinds, parts or
# options.
STANDS_FOR = {
    "file_put": "file_put_matrix file_put_vector file_put_number file_put_int file_put_text",
    "file_get": "file_get_matrix file_get_vector file_get_number file_get_int file_get_text",
    "file_count": "file_look_vector",
    "grid_create": "grid_create_ordered",
    **{name: f"{name}_part" for name in ("getrf", "potrf", "trsm", "potrs", "getrs", "matrix_copy", "matrix_transpose",
                                         "matrix_norm", "matrix_fill", "matrix_scale")},
}

LEFT_OUT = {
    "osla_forest_split, then osla_forest_reduce, after which the program combines": """forest_function
        forest_reduce_with forest_reduce_with_begin""",
    "osla_forest_split, then osla_forest_reduce or osla_forest_bcast, do the same": """forest_gather_leaves
        forest_gather_leaves_begin forest_scatter_leaves forest_scatter_leaves_begin""",
    "the module asks before a transfer begins, where there is stat": "forest_[a-z]*_check",
    "Fortran has it": """clock clock_settle log error_set dtype_size dtype_letter dot_local random_bits""",
    "an operand is a matrix, or a part of one: osla_part": "whole part_at",
    "of what an object was made of, which its program has": "matrix_grid grid_transport csr_transport forest_transport",
    "inline in C, and of types of the module's own here": "factors_cholesky factors_lu",
    "a matrix is made by create or wrap; its local array is a pointer": """matrix_create_in matrix_wrap_own matrix_segment
        matrix_peer matrix_bytes matrix_triangle_bytes""",
    "rows and columns of a rank: osla_matrix_row, osla_matrix_column": "index_count index_owner index_local index_global index_run",
    "forecasts of memory: osla info --predict": """[a-z_]*_memory shape_make shape_matrix shape_triangle shape_one_node""",
    "MPI has it, on osla_transport_comm": """allreduce bcast alltoall transport_abort agree agree_same sums_create sums_destroy
        sums_all""",
    "of use where messages or memory are one's own, in C": """armci_offer shmem_offer segment_[a-z_]* transfer_wait transfer_test notify notify_[a-z]*
        put_notify put_notify_post posted_wait posted_test word_post put_word_post progress_[a-z]* end_hook transport_at_end at_step
        grid_notifiers combine_function memory_available memory_check simulated_machine error_set_mpi""",
    "facts of machine and grid: osla info, osla_layout, osla_grid_...": """transport_node_size transport_largest_node transport_node_rank_of
        transport_memory_share grid_choose grid_choose_order grid_shift grid_same grid_prow_of grid_pcol_of""",
    "records of runs are studied with osla-bench jacobi": "iteration_gather records_free record_lags",
}


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    text = "".join(path.read_text() for path in root.glob("fortran/osla*.f90") if path.name != "osla_c.f90")
    called = set(re.findall(r"\bc_osla_(?:fortran_)?(\w+)", text))
    lines = "".join(re.findall(r"^ *public ::(?:.*&\n)*.*", text, flags=re.M))
    public = set(re.findall(r"\bosla_(\w+)", lines))
    for name, stands_for in STANDS_FOR.items():
        if name in public:
            public |= called & set(stands_for.split())
    compare(root, public, LEFT_OUT, "module osla")


main()
