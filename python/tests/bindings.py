#!/usr/bin/env python3
"""usage: bindings.py SRCDIR

Checks that the package calls each function of the stable headers, or that LEFT_OUT lists the
function with the replacement or the reason."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, f"{sys.argv[1]}/tests/install")
from stable_names import compare  # noqa: E402

LEFT_OUT = {
    "numpy and Python have it": """clock clock_settle log random_bits random_normal random_uniform dtype_letter
        err_name iterate_end_name version index_owner index_local index_run dot_local""",
    "the package calls the form for parts, of which a whole matrix is one": """whole matrix_copy matrix_transpose
        matrix_norm matrix_fill matrix_scale getrf potrf trsm potrs getrs""",
    "a matrix is made by Matrix or Matrix.wrap; its local array is numpy's": """matrix_wrap_own matrix_create_in matrix_segment
        matrix_peer matrix_bytes matrix_triangle_bytes matrix_fill_with element""",
    "forecasts of memory: osla info --predict": """chol_memory chol_triangle_memory lu_memory gemm_memory gemm_predict hessian_memory potri_memory
        getri_memory getrs_memory shape_make shape_matrix shape_triangle shape_one_node""",
    "of use where messages or memory are one's own, in C": """armci_offer shmem_offer segment_[a-z_]* transfer_wait transfer_test notify notify_[a-z]*
        put_notify put_notify_post posted_wait posted_test word_post put_word_post progress_[a-z]* end_hook transport_at_end at_step
        vertices_[a-z]* forest_end_read forest_writable forest_transport sums_[a-z]* grid_notifiers
        combine_function iteration_[a-z]* records_free record_lags transport_comm agree_same bcast alltoall memory_available memory_check simulated_machine""",
    "facts of machine and grid: osla info, Grid, Transport": """transport_largest_node transport_node_rank_of transport_node_of
        transport_same_node transport_oversubscribed grid_choose grid_create_at grid_shift grid_same
        grid_rank_at grid_prow_of grid_pcol_of""",
    "File serves whole matrices and vectors": "file_put_parts file_get_parts",
    "Grid says which order, also where it is the chosen one": "grid_create",
    "begun and ended by their two calls": "forest_bcast forest_reduce forest_fetch",
    "Forest.reduce_with, which calls Forest.gather_leaves": """forest_function
        forest_reduce_with forest_reduce_with_begin""",
    "Forest.gather_leaves and scatter_leaves do the same with the forest of split": """forest_gather_leaves
        forest_gather_leaves_begin forest_scatter_leaves forest_scatter_leaves_begin""",
}


def other_blocks(root: pathlib.Path) -> list[str]:
    """Default block sizes in Python and in the help of osla info that differ from the library's."""
    (block,) = re.findall(r"OSLA_DEFAULT_BLOCK = (\d+)", (root / "include/osla_matrix.h").read_text())
    found = re.findall(r"block size \(default: (\d+)\)", (root / "tools/info/info.c").read_text())
    for path in (root / "python/osla" / name for name in ("file.py", "hessian.py", "matrix.py")):
        found += re.findall(r"block: (?:Any|int) = (\d+)", path.read_text())
    if len(found) < 4:
        sys.exit(f"too few block sizes are found: {found}")
    return [size for size in found if size != block]


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    if other := other_blocks(root):
        sys.exit(f"block sizes where none is given: {other}, and not the library's")
    called = set()
    for path in (root / "python/core").glob("*.[ch]"):
        called |= set(re.findall(r"\bosla_(\w+)", re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)))
    compare(root, called, LEFT_OUT, "the package")


main()
