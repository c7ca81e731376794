#!/usr/bin/env bash
# Results files come from others: whatever texts they or their folders' names contain, the scripts
# that draw them by gnuplot run none of it as a command. Each hostile text here would create the
# file "run" if gnuplot or a shell executed it.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}"
GNUPLOT=
. "$BUILDDIR/tests/config.env"
[ -n "$GNUPLOT" ] || { echo "no gnuplot: the pictures are not tested"; exit 77; }
scripts=$SRCDIR/bench/scripts
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "test_plot: $label: $*"; cat out err; failed=1; }
see() { # STATUS COMMAND...: ends so, and nothing hostile was run
  local wanted=$1 status
  shift
  "$@" >out 2>err
  status=$?
  [ $status = "$wanted" ] || fail "exit status $status, not $wanted"
  [ ! -e run ] || { fail "a text was run as a command"; rm -f run; }
}
refused() { [ "$(wc -l <err)" = 1 ] && grep -qF "$1" err || fail "no line '$1'"; }
pictures() { # COUNT FOLDER
  [ "$(find "$2" -name '*.png' -size +1k | wc -l)" = "$1" ] || fail "not $1 pictures: $(ls "$2")"
}
untouched() { # FOLDER: its links to the file "victim" were replaced, and nothing temporary is left
  [ "$(cat victim)" = secret ] || { fail "a picture was written through a link"; echo secret >victim; }
  [ -z "$(find "./$1" -type l -o -name '.plot-*')" ] || fail "links or temporary files in $1: $(ls -lA "./$1")"
}
echo secret >victim
quote="'; system 'touch run'; set title '" ticks='`touch run`' # ends a text in single quotes; is executed in double quotes

label="bench/scripts/plot"
line() { # KERNEL RANKS N
  printf '{"kernel":"%s","precision":"d%s","impl":"osla%s","ranks":%s,"nodes":1,"grid":"%s","n":%s,"nb":8,"unit":"GF/s","rate":1}\n' \
    "$1" "$ticks" "$quote" "$2" "$quote" "$3"
}
mkdir texts names
for n in 20 40; do line "$quote$ticks\\n system \\\"touch run\\\"" "\"$quote\"" $n; done >texts/results.jsonl
see 0 "$scripts/plot" texts
pictures 1 texts
[ ! -s err ] || fail "something on stderr"
{ line gemm 2 20; line gemm 2 'system("touch run")'; } >names/results.jsonl
see 2 "$scripts/plot" names
refused 'names/results.jsonl:2: n is "system(touch run)", which is not a number above 0'
for folder in "names$quote$ticks" "|touch run;"; do
  mkdir "$folder"
  { line gemm 2 20; line gemm 2 40; } >"./$folder/results.jsonl"
  [ "$folder" = "|touch run;" ] && ln -s ../victim "./$folder/$name"
  see 0 "$scripts/plot" "$folder"
  pictures 1 "$folder"
  untouched "$folder"
  name=$(cd "./$folder" && ls ./*.png)
done
mkdir $'two\nlines'
cp texts/results.jsonl $'two\nlines'
see 2 "$scripts/plot" $'two\nlines'
refused "gnuplot takes no file name with control characters"

label="bench/scripts/timeline"
printf '%s\n' '{"ph":"X","name":"gemm","pid":0,"ts":1,"dur":5,"args":{"rank":0}}' >trace
see 0 "$scripts/timeline" trace "|touch run;$quote.png"
[ -s "./|touch run;$quote.png" ] || fail "no picture"

if command -v python3 >/dev/null; then
  label="bench/scripts/jacobi-plot"
  jacobi() { # KEY VALUE: a line of the study "slow" with this value, true, or without the key
    python3 - "$1" "$2" >studies/jacobi-slow.jsonl <<'EOP'
import json, sys
row = dict(kernel="jacobi/sync", impl="osla", n=16, ranks=2, nodes=1, whole=1, sweeps=9, tolerance=1e-4, period=1, in_flight=1,
           slow_rank=0, slow_factor=2, zeros=0, threads=1, seconds_median=1)
row["pass"] = True
row[sys.argv[1]] = sys.argv[2] == "true" or sys.argv[2]
if not sys.argv[2]:
    del row[sys.argv[1]]
print(json.dumps(row))
EOP
  }
  mkdir studies
  jacobi kernel "jacobi/sync$quote"
  python3 - "$quote" "$ticks" <<'EOP'
import json, sys
for i, mode in enumerate(sys.argv[1:] + ["async'\nsystem 'touch run'\nset title '"]):
    with open(f"studies/jacobi-record-{i}.json", "w") as file:
        json.dump({"mode": mode, "ranks": [{"rank": 0, "sweeps": 12, "staleness": [[1, 9]]}], "profile": [[0, 1], [1, 0.5]]}, file)
EOP
  for name in jacobi-histogram.png jacobi-profile.png tables.txt; do ln -s ../victim studies/$name; done
  see 0 "$scripts/plot" studies
  pictures 2 studies
  untouched studies
  hostile="1) ; system('touch run') #"
  for value in "ranks $hostile" "slow_rank $hostile" "seconds_median $hostile" "ranks true"; do
    jacobi "${value%% *}" "${value#* }"
    see 2 "$scripts/plot" studies
    refused "studies/jacobi-slow.jsonl:1: not a line of osla-bench jacobi"
  done
  jacobi nodes ""
  see 2 "$scripts/plot" studies
  refused "studies: not lines of osla-bench jacobi (KeyError: 'nodes')"
  for text in '{"kernel":"\377"}' "$(printf '[%.0s' {1..3000})"; do
    printf "$text" >studies/jacobi-slow.jsonl
    see 2 "$scripts/plot" studies
    refused "studies/jacobi-slow.jsonl:1: not a line of "
  done
  jacobi kernel jacobi/sync
  printf '{"mode":"\377","ranks":0}' >studies/jacobi-record-0.json
  see 2 "$scripts/plot" studies
  refused "studies/jacobi-record-0.json: not a record of osla-bench jacobi"

  label="bench/scripts/study"
  mkdir study
  see 0 python3 - "$scripts" "$quote$ticks" <<'EOP'
import importlib.machinery, importlib.util, sys, types
sys.path.insert(0, sys.argv[1])
loader = importlib.machinery.SourceFileLoader("study", sys.argv[1] + "/study")
study = importlib.util.module_from_spec(importlib.util.spec_from_loader("study", loader))
sys.dont_write_bytecode = True
loader.exec_module(study)
rows = [dict(who="osla", kernel="gemm", disturbance=sys.argv[2] + '"' + "\n", ranks=p, n=64, seconds_median=1.0) for p in (1, 4)]
study.picture(types.SimpleNamespace(study="gemm-weak", machine=sys.argv[2], out="study"), rows)
EOP
  pictures 1 study

  label="bash and Python"
  texts=("$quote" "$ticks" $'a\nb\tc' "''it''s''" '' 'back\slash' 'é')
  [ "$(. "$scripts/gnuplot.sh"; for text in "${texts[@]}"; do gnuplot_text "$text"; echo; done)" = "$(cd "$scripts" && python3 -Bc '
import sys, gnuplot_text
print(*map(gnuplot_text.text, sys.argv[1:]), sep="\n")' "${texts[@]}")" ] || fail "they quote in two ways"
fi

label="bench/scripts/solvers"
top="top$quote$ticks"
mkdir -p "$top/results" "$top/bench/scripts" build/tests build/bench
cp "$scripts"/{solvers,environment.sh,gnuplot.sh,host} "$top/bench/scripts/"
cat >job <<'EOT'
#!/usr/bin/env bash
while [ "$1" != --json ]; do
  [ "$1" != -o ] || echo 1000 >"$2"
  [ "$1" != --mesh ] || unknowns=$((10 * $2 * $2 + 2))
  shift
done
printf '"%s": %s,\n' unknowns "$unknowns" paths 5 seconds_wall 1.5 bytes_per_rank 10 iterations 3 correlation 0.5 >"$2"
EOT
printf '#!/bin/sh\n' | tee build/osla >build/bench/osla-bench
chmod +x build/osla build/bench/osla-bench job
echo "MPIEXEC='$PWD/job' CC=cc" >build/tests/config.env
if [ -x /usr/bin/time ]; then
  see 0 "$top/bench/scripts/solvers" -b "$PWD/build" -m 7,10 -p 4 trial
  pictures 2 "$top"
fi
see 2 "$top/bench/scripts/solvers" -b "$PWD/build" "$ticks"
refused "bench/scripts/solvers: '$ticks' is not a name"
exit $failed
