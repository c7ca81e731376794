#!/usr/bin/env bash
# Includes point downward only (doc/design.md, section 2). Lists every include that does not.
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1

below_kernels='src/file src/matrix src/memory src/transport src/blas src/base'
# folder: the folders whose headers it may include, besides its own
floors='
src/base:
src/blas: src/base
src/transport: src/base
src/simulation: src/transport src/blas src/base
src/memory: src/transport src/base
src/matrix: src/memory src/transport src/blas src/base
src/file: src/matrix src/memory src/transport src/blas src/base
kernels/common: BELOW
kernels/gemm: kernels/common BELOW
kernels/products: kernels/common kernels/gemm BELOW
kernels/lu: kernels/common BELOW
kernels/chol: kernels/common BELOW
kernels/inverse: kernels/common kernels/chol kernels/lu BELOW
kernels/hessian: kernels/common BELOW
kernels/forest: BELOW
kernels/solve: kernels/common kernels/gemm kernels/lu kernels/chol BELOW
'

declare -A folder_of # of each header
while read -r folder header; do folder_of[$header]=$folder; done < <(
  find src kernels tools bench tests ga_adapt scalapack_adapt -name '*.h' -printf '%h %f\n')

offenders=0
while IFS=: read -r folder below; do
  [ -n "$folder" ] || continue
  while IFS=: read -r file line header; do
    found=${folder_of[${header##*/}]:-}
    [ -n "$found" ] || continue # a system header
    for allowed in $folder $below; do
      [ "$found" = "$allowed" ] && continue 2
    done
    echo "$file:$line: includes $header of $found; $folder may include:${below:- nothing else}"
    offenders=$((offenders + 1))
  done < <(find "$folder" -name '*.[ch]' -exec grep -nHE '^ *# *include' {} + 2>/dev/null |
    sed -E 's/^([^:]*:[^:]*:).*["<]([^">]*)[">].*/\1\2/')
done <<<"${floors//BELOW/$below_kernels}"

# What backs a transport is known to the transport alone.
if grep -rnE --include='*.[ch]' '# *include *[<"](ga|armci|macdecls)\.h' src kernels tools |
   grep -v '^src/transport/[^:]*armci'; then
  echo "GA or ARMCI headers outside their place"
  offenders=$((offenders + 1))
fi
if grep -rnE --include='*.[chp]*' '# *include *[<"]simgrid' src kernels tools bench | grep -v '^src/simulation/'; then
  echo "SimGrid headers outside their place"
  offenders=$((offenders + 1))
fi
# Calls and windows; naming a routine in a text is free.
rma='(Win_[a-z_]+|R?[Pp]ut|R?[Gg]et|R?[Aa]ccumulate|R?[Gg]et_accumulate|Fetch_and_op|Compare_and_swap)'
if grep -rnE --include='*.[ch]' "\\bMPI_$rma *\(|\\bMPI_Win\\b" src kernels tools |
   grep -v '^src/transport/'; then
  echo "MPI RMA above the transport"
  offenders=$((offenders + 1))
fi
[ $offenders = 0 ] && echo "every include points downward"
