#!/usr/bin/env bash
# A program that calls MPI_Finalize before it has destroyed the objects on MPI's windows gets one
# line that names the missing calls. If MPI would end in pages of output and an abort (MPICH over
# UCX), the job ends with that line. On OpenSHMEM only programs that destroy their objects are tested.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}" "${MPIEXEC:?}"
MPI_FAMILY= HAVE_SHMEM=
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
[ "$MPI_FAMILY" = mpich ] || [ "$HAVE_SHMEM" = yes ] || { echo "the end of MPICH over UCX alone is known to fail"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_left_alive: $label: $*"; head -n 20 "$scratch/err"; failed=1; }
run() { # MODE WORD...
  label=$*
  timeout "$JOB_LIMIT" env $(in_mode "$1" 2) "$MPIEXEC" -n 2 "$BUILDDIR/tests/commands/left_alive" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
}
destroyed() { # MODE
  for end in all self; do
    run "$1" wrap matrix hessian vertices attach $end
    [ $status = 0 ] && [ ! -s "$scratch/err" ] || fail "$1: exit status $status, or a line"
  done
}
left() { # CALLS MODE WORD...
  run "${@:2}"
  [ $status != 0 ] && [ $status != 124 ] || fail "exit status $status"
  [ "$(grep '^osla\[' "$scratch/err")" = "osla[0]: MPI_Finalize was called before $1; ending all ranks" ] || fail "not the line on $1"
  [ "$(grep -c '^last act$' "$scratch/err")" = 1 ] || fail "no last act of the program, or two"
  [ "$(grep -vc '^osla\[\|^last act$\|application called MPI_Abort' "$scratch/err")" = 0 ] || fail "more lines"
}
if [ "$HAVE_SHMEM" = yes ]; then
  destroyed shmem
  destroyed shmem2
fi
[ "$MPI_FAMILY" = mpich ] || exit $failed
transport="osla_transport_destroy (of osla_transport_create)"
left "osla_matrix_destroy (of osla_matrix_wrap), $transport" node wrap
left "osla_segment_destroy (of osla_segment_attach), osla_matrix_destroy (of osla_matrix_wrap), $transport" node wrap attach
left "osla_vertices_free (of osla_vertices_create), osla_hessian_destroy (of osla_hessian_create), osla_matrix_destroy (of osla_matrix_create), $transport" \
  fake2 matrix hessian vertices
left "$transport" fake2 matrix objects
destroyed fake2
exit $failed
