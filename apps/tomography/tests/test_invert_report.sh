#!/usr/bin/env bash
# `osla invert --report`: one self-contained page; the same on all ranks; which files are replaced,
# and which are refused before the work begins; without gnuplot; pictures about another meridian.
set -u
. "${SRCDIR:?}/apps/tomography/tests/invert_runs.sh"
small=(--mesh 4 --radial 3 --max-paths 100 --cell 45)
mkdir "$scratch/work" "$scratch/none"
cd "$scratch/work" || exit 1
export TMPDIR=$scratch/work

left() { # WHAT: all that is in the folder
  [ "$(ls -A | tr '\n' ' ')" = "$1" ] || fail "$label: in the folder: $(ls -A | tr '\n' ' ')"
}
has() { grep -qF -- "$1" "$page" || fail "$label: the page has no '$1'"; }

# judge_page PAGE: checks that it is well-formed and has no external parts
judge_page() {
  local reference
  page=$1
  [ "$(head -n 1 "$page")" = "<!DOCTYPE html>" ] || fail "$label: no document type"
  [ "$(tail -n 1 "$page")" = "</html>" ] || fail "$label: no end"
  grep -qiE '<script|<link|<iframe|@import|url\(|https?:' "$page" && fail "$label: it refers to something"
  while read -r reference; do
    [ "$reference" = 'src="data:image/svg+xml;base64,' ] || fail "$label: refers to $reference"
  done < <(grep -oE '(src|href)="[^,"]*,?' "$page" | sort -u)
  if command -v xmllint >/dev/null; then # it does not know HTML 5
    xmllint --html --huge --noout "$page" 2>&1 | grep -E 'error' | grep -vE 'Tag (main|section|header|figure|figcaption) invalid' |
      head -n 3 >"$scratch/lint"
    [ -s "$scratch/lint" ] && fail "$label: $(cat "$scratch/lint")"
  fi
}

# judge_pictures PAGE COUNT: checks that all are SVG, with PNGs inside
judge_pictures() {
  local n=0 line file=$scratch/picture.svg
  while read -r line; do
    n=$((n + 1))
    base64 -d <<<"$line" >"$file" || fail "$label: picture $n is no base64"
    if command -v xmllint >/dev/null; then
      xmllint --huge --noout "$file" 2>/dev/null || fail "$label: picture $n is no XML"
    fi
    grep -q '</svg>' "$file" || fail "$label: picture $n is no SVG"
    grep -oE 'image/png;base64,[A-Za-z0-9+/=]*' "$file" | while read -r line; do
      [ "$(base64 -d <<<"${line#*,}" | head -c 8 | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] ||
        echo "picture $n" >>"$scratch/no_png"
    done
  done < <(grep -o 'src="data:image/svg+xml;base64,[^"]*' "$1" | sed 's/.*,//')
  [ -e "$scratch/no_png" ] && fail "$label: no PNG in $(cat "$scratch/no_png")"
  [ $n = "$2" ] || fail "$label: $n pictures, not $2"
  [ "$(grep -c '<figure>.*alt="[^"][^"]*".*<figcaption>[^<]' "$1")" = "$2" ] || fail "$label: a picture without words"
}

# --- a page ---
pictures=0
# 2 models at 4 depths and on 3 sections, ray density, map of the sections, misfit
[ -n "$GNUPLOT" ] && pictures=17
names="stations <b>&\"'.csv"
printf 'latitude,longitude\n10,20\n-30,50\n40,100\n' >"$scratch/$names"
run 2 node --report report --json r.json --stations "$scratch/$names" --quiet
good
left "r.json report "
[ "$(ls -A report)" = index.html ] || fail "$label: in the report: $(ls -A report)"
judge_page report/index.html
judge_pictures report/index.html $pictures
has "stations &lt;b&gt;&amp;&quot;&#39;.csv"
grep -qF '<b>' report/index.html && fail "$label: a name became a tag"
for part in "The model" "Vertical sections" "Recovery of the test" "Times" "Settings" "Versions"; do
  [ $pictures = 0 ] && [[ $part == *model || $part == *sections ]] || has "<h2>$part</h2>"
done
has "<code>osla invert --mesh 4 --radial 3 "
for key in damping smoothing "period min s" precision; do has "<th scope=\"row\">$key</th>"; done
grep -q '"seconds_report": [0-9]' r.json || fail "$label: no seconds_report"
grep -oE '<tr><th scope="row">(Where|paths are dense|paths are few|everywhere).*' report/index.html >"$scratch/first"

# --- a second page from other ranks, into the same directory, about another meridian ---
for place in "1 node" "3 node" "4 fake2"; do
  # shellcheck disable=SC2086 # two words
  run $place --report report/ --stations "$scratch/$names" --center -75 --section 10,20/-30,50/0,0/0,90
  good
  grep -q '^Page  *report//*index.html$' "$scratch/out" || fail "$label: the page is not named"
  grep -oE '<tr><th scope="row">(Where|paths are dense|paths are few|everywhere).*' report/index.html |
    diff -q - "$scratch/first" >/dev/null || fail "$label: another recovery"
done
[ $pictures = 0 ] || judge_pictures report/index.html 15
left "r.json report "

# --- paths of a region: a regional map, unless --world is given ---
printf 'latitude,longitude\n40,10\n45,2\n38,23\n' >region.csv
awk -F, -v OFS=, '/^id/ || NR % 7 == 3 { if (!/^id/ && !/^#/) { $3 = 36 + NR % 11; $4 = NR % 25 } print }' \
  "$SRCDIR/data/sample_events.csv" >region_events.csv
[ -n "$GNUPLOT" ] && for world in "" --world "--center 0"; do
  # shellcheck disable=SC2086 # words
  run 2 node --report region $world --stations region.csv --events region_events.csv --min-distance 1
  good
  judge_page region/index.html
  if [ -z "$world" ]; then want=Lambert; else want=Mollweide; fi
  [ "$(grep -oE 'Lambert|Mollweide' region/index.html)" = $want ] || fail "$label: not $want"
  sed 's/data:image/\n&/g' region/index.html | sed -n 's/^data:image\/svg+xml;base64,\([^"]*\).*/\1/p' |
    head -n 1 | base64 -d >region/map.svg
  # the scale bar has a round length; labels of the graticule are at the left and below
  if [ $want = Lambert ]; then
    grep -qE '(100|200|500|1000) km' region/map.svg && grep -q '°E' region/map.svg && grep -q '°N' region/map.svg
  else
    ! grep -q ' km' region/map.svg && ! grep -q '°E' region/map.svg
  fi || fail "$label: another map"
  rm -r region
done
rm region.csv region_events.csv

# --- without gnuplot ---
if [ "$MPI_FAMILY" != openmpi ]; then # without mpiexec MPI_Init would start programs of its own
  label="without gnuplot"
  PATH=$scratch/none "$OSLA" invert "${small[@]}" --report bare >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  good
  judge_page bare/index.html
  has "gnuplot is not installed"
  grep -q '<img' bare/index.html && fail "$label: pictures"
  rm -r bare
fi

# --- refused, and no file is changed ---
mkdir mine full
echo "<p>mine" >mine/index.html
echo data >file
run 3 node --report mine --output m.osla
refused "mine/index.html: is not a report of osla invert, and is not replaced"
here 0 node --report file
refused "file: is not a directory"
here 0 node --report absent/report
refused "absent/report: directory absent: No such file or directory"
here 0 node --report report --json report/index.html
refused "--report: report/index.html is also the file of --json report/index.html"
here 0 node --report new --json new
refused "--report: new is also the file of --json new"
here 0 node --report report --section 10,20
refused "--section: '10,20' is not LAT,LON/LAT,LON"
here 0 node --report report --section 0,0/0,180
refused "--section: no one great circle joins 0,0 and 0,180"
here 0 node --report report --center 1000
refused "--center: 1000 is outside -360 to 360 degrees"
[ "$(cat mine/index.html)" = "<p>mine" ] || fail "a page of others was changed"
left "file full mine r.json report "

# --- a run that fails later leaves nothing, nor does a run that is killed while it draws ---
rm -r mine full file report r.json
run 2 node --report report --solver cg --iterations 1
[ $status = 0 ] && fail "$label: it should fail"
left ""
if [ -n "$GNUPLOT" ]; then
  label="killed while it draws"
  printf '#!/bin/sh\nkill -9 $PPID\n' >"$scratch/none/gnuplot"
  chmod +x "$scratch/none/gnuplot"
  (PATH=$scratch/none:$PATH exec "$OSLA" invert "${small[@]}" --report report) >"$scratch/out" 2>"$scratch/err" </dev/null &
  wait $! 2>/dev/null
  [ $? = 137 ] || fail "$label: it was not killed"
  left ""
fi
end_lines || failed=1
exit $failed
