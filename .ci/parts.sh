# Functions of .ci/run and .ci/full: they run the parts of a CI run and add up their counts.
passed=0 failed=0
parts_log=$(mktemp) || exit 1
trap 'rm -f "$parts_log"' EXIT

# part NAME COMMAND...: runs the command, adds the counts of its last line, "N passed, N failed",
# and prints the time that it took
part() {
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$parts_log"
  if [[ $(tail -n 1 "$parts_log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    echo "== $name ended without its counts"
    failed=$((failed + 1))
  fi
  echo "== $name: $((SECONDS - begin)) s"
}

end_of_parts() {
  echo "$passed passed, $failed failed"
  [ $failed = 0 ]
}
