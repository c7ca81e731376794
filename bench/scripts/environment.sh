# Writes environment.txt of a results folder; sourced by bench/scripts/run, solvers and jacobi-
# studies. They set top, CC and hosts: the lines of bench/scripts/host without the text before the
# first tab.

# Prints date, commit, compiler and hosts, without host names and paths. Identical hosts are
# printed once.
environment() {
  local commit
  commit=$(git -C "$top" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
  echo "date: $(date -u '+%Y-%m-%d %H:%M UTC')"
  echo "commit: $commit"
  echo "compiler: $($CC --version | head -n 1)"
  cut -f 3 <<<"$hosts" | sort | uniq -c | sed -E 's/^ *([0-9]+) /hosts: \1|/' | tr '|' '\n'
}

record_environment() { # FOLDER
  environment >"$1/environment.now"
  # A folder describes one build on one machine; if either changes, the new one is appended.
  if [ ! -f "$1/environment.txt" ]; then
    mv "$1/environment.now" "$1/environment.txt"
  elif cmp -s <(sed 1d "$1/environment.now") <(tail -n "$(sed 1d "$1/environment.now" | wc -l)" \
      "$1/environment.txt"); then
    rm "$1/environment.now"
  else
    { echo; cat "$1/environment.now"; } >>"$1/environment.txt"
    rm "$1/environment.now"
  fi
}
