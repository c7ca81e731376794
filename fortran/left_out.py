#!/usr/bin/env python3
"""usage: left_out.py ROOT. Each function of the stable headers is in module osla, or stands here with
what serves instead, or why there is nothing; so that the two cannot drift apart."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, f"{sys.argv[1]}/tests")
from stable_names import compare  # noqa: E402

LEFT_OUT = {
    "Fortran has it": """clock clock_settle log error_set dtype_size dtype_letter dot_local random_bits""",
    "the module calls the form for parts, of which a whole matrix is one": """whole matrix_copy matrix_transpose
        matrix_norm matrix_fill matrix_scale getrf potrf trsm potrs getrs part_at""",
    "inline in C, and of types of the module's own here": "factors_cholesky factors_lu",
    "a matrix is made by create or wrap; its local array is a pointer": """matrix_create_in matrix_wrap_own matrix_segment
        matrix_peer matrix_bytes element""",
    "rows and columns of a rank: osla_matrix_row, osla_matrix_column": "index_count index_owner index_local index_global index_run",
    "forecasts of memory: osla info --predict": """[a-z]*_memory shape_make shape_matrix shape_one_node""",
    "MPI has it, on osla_transport_comm": """allreduce bcast alltoall transport_abort agree_same sums_create sums_destroy
        sums_all""",
    "of use where messages or memory are one's own, in C": """armci_offer segment_[a-z_]* transfer_wait transfer_test notify notify_[a-z]*
        put_notify put_notify_post posted_wait posted_test word_post put_word_post progress_[a-z]* end_hook transport_at_end at_step
        grid_notifiers combine_function memory_available memory_check simulated_machine error_set_mpi vertices_in vertices_out
        forest_transport""",
    "facts of machine and grid: osla info, osla_layout, osla_grid_...": """transport_node_size transport_largest_node transport_node_rank_of
        transport_memory_by_mpi transport_memory_share grid_choose grid_shift grid_same grid_prow_of""",
    "records of runs and their replay are studied with osla-bench jacobi": """iteration_record iteration_gather records_free replay
        record_lags diffusion_create_part""",
}


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    called = set()
    for path in root.glob("fortran/osla*.f90"):
        if path.name != "osla_c.f90":
            called |= set(re.findall(r"\bc_osla_(?:fortran_)?(\w+)", path.read_text()))
    compare(root, called, LEFT_OUT, "module osla")


main()
