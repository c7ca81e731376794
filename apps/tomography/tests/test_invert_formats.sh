#!/usr/bin/env bash
# Standard formats with `osla invert`: StationXML and QuakeML, several lists, selection of entries;
# the model as netCDF for GMT and xarray and as XDMF for ParaView, on any number of ranks; bad
# input.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/run_lines.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() { echo "test_invert_formats: $*"; head -n 20 out err; failed=1; }

small=(--mesh 3 --radial 3 --cell 60 --periods 10 --resolution 0)
# run RANKS ARGUMENT...: with 0 ranks without mpiexec
run() {
  local ranks=$1 command
  shift
  label="$* ($ranks ranks)"
  command=("$OSLA" invert "${small[@]}" "$@")
  [ "$ranks" = 0 ] || command=("$MPIEXEC" -n "$ranks" "${command[@]}")
  timeout "$JOB_LIMIT" "${command[@]}" >out 2>err </dev/null
  status=$?
}
good() {
  [ $status = 0 ] || fail "$label: exit status $status"
  [ -s err ] && fail "$label: something on stderr"
}
has() { grep -qE -- "$1" out || fail "$label: no line '$1'"; }
# bad PATTERN ARGUMENT...: expects one line, status 2, and no file
bad() {
  local pattern=$1 before
  shift
  before=$(ls -A)
  label="$*"
  run_line 0 node "$scratch" "$scratch/out" "$scratch/err" invert "${small[@]}" "$@"
  [ $status = 2 ] || fail "$label: exit status $status, not 2"
  [ "$(wc -l <err)" = 1 ] || fail "$label: not one line on stderr"
  grep -qE "^osla invert: $pattern\$" err || fail "$label: stderr is not '$pattern'"
  [ "$(ls -A)" = "$before" ] || fail "$label: leaves files"
}
touch out err

# --- lists ---
grep -v '^#' "$SRCDIR/data/sample_stations.csv" | head -n 21 >stations.csv
cat >stations.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<FDSNStationXML xmlns="http://www.fdsn.org/xml/station/1" schemaVersion="1.1">
 <Network code="QA"><Station code="NEW" startDate="2015-01-01T00:00:00">
  <Latitude>45.0</Latitude><Longitude>100.0</Longitude><Elevation>1</Elevation></Station>
 <Station code="OLD" startDate="1990-01-01T00:00:00" endDate="2000-01-01T00:00:00">
  <Latitude>-20.0</Latitude><Longitude>30.0</Longitude><Elevation>1</Elevation></Station></Network>
</FDSNStationXML>
XML
event() { # ID TIME LATITUDE LONGITUDE MAGNITUDE
  echo "<event publicID='smi:local/$1'><preferredOriginID>$1/2</preferredOriginID>
  <origin publicID='$1/1'><time><value>$2</value></time><latitude><value>0</value></latitude>
  <longitude><value>0</value></longitude></origin>
  <origin publicID='$1/2'><time><value>$2</value></time><latitude><value>$3</value></latitude>
  <longitude><value>$4</value></longitude><depth><value>10000</value></depth></origin>
  <magnitude><mag><value>$5</value></mag></magnitude></event>"
}
{
  echo "<q:quakeml xmlns='http://quakeml.org/xmlns/bed/1.2' xmlns:q='http://quakeml.org/xmlns/quakeml/1.2'>"
  echo "<eventParameters publicID='smi:local/all'>"
  event a 2012-04-11T08:38:36Z 2.3 93.1 8.6
  event b 2012-05-11T08:38:36Z -17 179 6.6
  event c 2012-06-11T08:38:36Z -17 -179 6.7
  event d 2012-07-11T08:38:36Z 40 140 5.5
  event e 2005-07-11T08:38:36Z 40 140 6.5
  event a 2012-04-11T08:38:36Z 2.3 93.1 8.6
  echo "<event publicID='smi:local/f'/>"
  echo "</eventParameters></q:quakeml>"
} >events.xml
if [ "$HAVE_LIBXML2" = yes ]; then
  for ranks in 1 2 3 4; do
    run $ranks --stations stations.csv -s stations.xml --events=events.xml --time 2010/2013 \
      --magnitude 6/ --json r.json --min-distance 0
    good
    has '^Data +[0-9]+ paths \(20 stations, 3 earthquakes\)'
    has '^Stations +20 of 22 entries are used; 2 outside --time$'
    has '^Events +3 of 7 earthquakes are used; 1 without a place, 1 outside --time, 1 outside --magnitude, 1 the same as another$'
    has '^ +events.xml:[0-9]+: event "smi:local/f" has no origin$'
    tr -d ' \n' <r.json | grep -q '"events":{"read":7,"used":3,"without_place":1,"outside_time":1,"without_time":0,"outside_magnitude":1,"without_magnitude":0,"outside_region":0,"same":1,"without_place_first":\["events.xml:[0-9]*:event\\"smi:local/f\\"hasnoorigin"\]}' ||
      fail "$label: other counts in JSON"
    tr -d ' \n' <r.json | grep -q '"stations":{"read":22,"used":20,"outside_time":2,' ||
      fail "$label: other counts of stations in JSON"
    tr -d ' \n' <r.json | grep -q '"stations":"stations.csv,stations.xml"' || fail "$label: files"
  done
  run 2 -s stations.csv -s stations.csv -e events.xml --region 170/-170/-30/0 --json r.json
  good
  has '^Data +[0-9]+ paths \(20 stations, 2 earthquakes\)'
  has '^Stations +20 of 40 entries are used; 20 the same as another$'
  has '^Events +2 of 7 earthquakes are used; 1 without a place, 4 outside the region$'
  sed 's/<Latitude>45.0/<Latitude>95/' stations.xml >bad.xml
  bad 'bad.xml:4: latitude 95 is outside -90 to 90' --stations stations.csv --stations bad.xml -o m.h5
  head -n 9 events.xml >cut.xml
  bad 'cut.xml:[0-9]+: XML: .*' --events cut.xml --json none.json
  bad 'events.xml:1: XML: the root is .*' --stations events.xml
  bad '--time, --magnitude and the regions leave none of 6 earthquakes' --events events.xml \
    --magnitude 9/
else
  bad 'stations.xml: is XML, and .*' --stations stations.xml
fi
bad '--time: .*ISO 8601.*' --time 2010/x
bad "--region: '1/2' is not of the form W/E/S/N" --region 1/2
bad '--slices: 50 km after 100 km: depths must ascend' --netcdf m.nc --slices 100,50
bad '--slices: 2000 km is outside the model, 0 to 1000' --netcdf m.nc --slices 2000
bad '--slices requires --netcdf or --xdmf' --slices 100
bad '--xdmf requires --output, the file that it describes' --xdmf m.xdmf
[ "$HAVE_HDF5" = yes ] &&
  bad '--xdmf requires an HDF5 file, and --output m.osla ends in .osla \(plain format\)' --xdmf m.xdmf --output m.osla

# --- netCDF, in the same run as HDF5 ---
python=/usr/bin/python3
can() { [ -x $python ] && $python -c "import $1" 2>/dev/null; }
outputs=()
[ "$HAVE_HDF5" = yes ] && outputs=(--output m.h5 --xdmf m.xdmf)
if [ "$HAVE_NETCDF" = yes ]; then
  bad '--netcdf-step: 180 degrees are not a whole number of steps of 7' --netcdf m.nc --netcdf-step 7
  bad '--netcdf: m.nc is also the file of --json m.nc' --netcdf m.nc --json m.nc
  run 3 --netcdf m.nc --netcdf-step 5 --slices 50,300 ${outputs[0]+"${outputs[@]}"}
  good
  has '^Grid +m.nc$'
  if command -v ncdump >/dev/null; then
    ncdump -h m.nc >header || fail "ncdump"
    for line in ':Conventions = "CF-1.8"' 'longitude = 73' 'latitude = 37' 'depth = 2' \
      'float dlnvs(depth, latitude, longitude)' 'depth:positive = "down"' 'dlnvs:units = "percent"' \
      'dlnvs:grid_mapping = "crs"' 'crs:grid_mapping_name = "latitude_longitude"' \
      'longitude:standard_name = "longitude"' ':source = "osla ' 'float ray_density(latitude, longitude)'; do
      grep -qF "$line" header || fail "netCDF header: no '$line'"
    done
    grep -qE ':history = ".*Z: osla invert .*--netcdf m\.nc' header || fail "netCDF header: history"
  fi
  if command -v gmt >/dev/null; then
    for what in 'dlnvs[0]' 'dlnvs(300)' ray_density; do
      gmt grdinfo "m.nc?$what" >info 2>&1 || fail "gmt grdinfo $what: $(cat info)"
      grep -q 'Gridline node registration used \[Geographic grid\]' info || fail "gmt $what: registration"
      grep -q 'x_min: -180 x_max: 180 x_inc: 5 .*n_columns: 73' info || fail "gmt $what: longitudes"
      grep -q 'y_min: -90 y_max: 90 y_inc: 5 .*n_rows: 37' info || fail "gmt $what: latitudes"
    done
  fi
  if can xarray; then
    $python - <<'PY' >out 2>&1 || fail "xarray"
import numpy, xarray
d = xarray.open_dataset("m.nc")
assert d.dlnvs.dims == ("depth", "latitude", "longitude") and d.dlnvs.shape == (2, 37, 73)
assert (d.depth.values == [50, 300]).all() and d.longitude.values[0] == -180
assert numpy.isfinite(d.dlnvs).all() and numpy.ptp(d.dlnvs.values) > 0.1
assert (d.dlnvs[:, :, 0] == d.dlnvs[:, :, -1]).all()
assert abs(d.dlnvs.attrs["actual_range"][1] - d.dlnvs.max()) == 0
assert float(d.dlnvs.sel(depth=50).interp(latitude=10.1, longitude=20.2)) != 0
PY
  fi
else
  bad '--netcdf: this build has no netCDF' --netcdf m.nc
  run 3 --slices 50,300 ${outputs[0]+"${outputs[@]}"}
  good
fi

# --- XDMF: every data set that it names exists in the described shape; knots are at their latitudes
# ---
if [ "$HAVE_HDF5" = yes ] && can h5py; then
  mkdir elsewhere
  run 2 --output 'elsewhere/a & b.h5' --xdmf other.xdmf
  good
  for file in m.xdmf other.xdmf; do
    $python - $file <<'PY' >out 2>&1 || fail "$file"
import sys, h5py, numpy
import xml.etree.ElementTree as tree
root, names = tree.parse(sys.argv[1]), []
for item in root.iter("DataItem"):
    file, name = item.text.strip().rsplit(":", 1)
    data = h5py.File(file, "r")[name]
    assert data.shape == tuple(int(n) for n in item.get("Dimensions").split()), name
    assert data.dtype.kind == {"Int": "i", "Float": "f"}[item.get("NumberType")], name
    assert data.dtype.itemsize == int(item.get("Precision")), name
    names.append(name)
f = h5py.File(file, "r")
assert "/mesh_dlnvs" in names and "/mesh_points" in names
assert all("/" + n in names for n in f if n.startswith("mesh_")), names
cells = root.find(".//Topology")
assert int(cells.get("NumberOfElements")) == f["mesh_cells"].shape[0]
assert cells.get("TopologyType") == "Wedge" and f["mesh_cells"].shape[1] == 6
assert f["mesh_cells"][:].min() == 0 and f["mesh_cells"][:].max() == f["mesh_points"].shape[0] - 1
xyz = f["mesh_points"][: f["latitude"].shape[0]]
geocentric = numpy.arctan2(xyz[:, 2], numpy.hypot(xyz[:, 0], xyz[:, 1]))
flat = (1 - 1 / 298.257223563) ** 2
latitude = numpy.degrees(numpy.arctan2(numpy.sin(geocentric), flat * numpy.cos(geocentric)))
assert abs(latitude - f["latitude"][:]).max() < 1e-9
PY
  done
fi
end_lines || failed=1
exit $failed
