# Runs lines of the osla command, or of another one that $lines_program runs, in processes that stay: MPI starts once for many
# Sourced: runs lines of the osla command in persistent processes (run_lines.c), for lines that end
# soon. At least one line for each exit path should be run as a separate job.
: "${BUILDDIR:?}" "${MPIEXEC:?}" "${JOB_LIMIT:?}"
lines_program=osla_lines
declare -A lines_to=() lines_from=() lines_pid=()
lines_folder=$(mktemp -d) || exit 1

# run_line RANKS MODE FOLDER OUT ERR [NAME=VALUE...] WORD...: runs the command with these words in
# the folder (0 ranks: without mpiexec) and sets `status`. Standard output and error of all ranks
# are in the files OUT and ERR.
run_line() {
  local key=$1-$2 command=("$BUILDDIR/tests/commands/$lines_program") to from answer
  if [ -z "${lines_pid[$key]:-}" ]; then
    [ "$1" = 0 ] || command=("$MPIEXEC" -n "$1" "${command[@]}")
    mkfifo "$lines_folder/to" "$lines_folder/from"
    # shellcheck disable=SC2046 # words
    env $(in_mode "$2" "$1") "${command[@]}" <"$lines_folder/to" >"$lines_folder/from" 2>>"$lines_folder/log" &
    lines_pid[$key]=$!
    exec {to}>"$lines_folder/to" {from}<"$lines_folder/from"
    rm "$lines_folder/to" "$lines_folder/from"
    lines_to[$key]=$to lines_from[$key]=$from
  fi
  shift 2
  : >"$2" && : >"$3"
  (IFS=$'\x1f'; printf '%s\n' "$*") >&"${lines_to[$key]}"
  if IFS= read -r -t "$JOB_LIMIT" -u "${lines_from[$key]}" answer; then
    status=$answer
  else # the line has ended the process, or hangs
    echo "run_lines: no answer" >>"$3"
    kill "${lines_pid[$key]}" 2>/dev/null
    wait "${lines_pid[$key]}"
    unset "lines_pid[$key]"
    status=137
  fi
}

# end_lines: ends the processes. Fails, and shows their output, if one of them ended badly, for
# instance with leaked memory under a sanitizer. Every script calls it at its end.
end_lines() {
  local key to from bad=0
  for key in "${!lines_pid[@]}"; do
    to=${lines_to[$key]} from=${lines_from[$key]}
    echo >&"$to"
    wait "${lines_pid[$key]}" || { echo "run_lines $key: exit status $?"; cat "$lines_folder/log"; bad=1; }
    exec {to}>&- {from}<&-
  done
  rm -r "$lines_folder"
  return $bad
}
