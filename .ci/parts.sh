# Parts of a CI run, whose counts are added up. Read by run and full.
passed=0 failed=0
parts_log=$(mktemp) || exit 1
trap 'rm -f "$parts_log"' EXIT

# part NAME COMMAND...: adds the counts of its last line, "N passed, N failed", and says how long it took
part() {
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$parts_log"
  if [[ $(tail -n 1 "$parts_log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    echo "== $name did not come to its end"
    failed=$((failed + 1))
  fi
  echo "== $name: $((SECONDS - begin)) s"
}

end_of_parts() {
  echo "$passed passed, $failed failed"
  [ $failed = 0 ]
}
