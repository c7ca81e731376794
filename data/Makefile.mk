# The sample tables of `osla invert`, installed into pkgdatadir.
dist_pkgdata_DATA = data/sample_stations.csv data/sample_events.csv data/coastlines.txt data/prem.txt
EXTRA_DIST += data/README.md
