/* The charts of a scan of priors, for the page and for the picture of --scan-plot. */
#ifndef INVERT_SCAN_CHART_H
#define INVERT_SCAN_CHART_H

#include "apps/tomography/draw/tomo_draw.h"
#include "apps/tomography/invert/invert_found.h"

enum { SCAN_CURVES = 8 }; /* at most; further lines of a scan are not drawn */

typedef struct scan_chart {
  tomo_chart chart; /* points to what follows */
  tomo_curve curve[SCAN_CURVES];
  char name[SCAN_CURVES][40];
  tomo_mark mark[SCAN_CURVES];
} scan_chart;

/* Misfit over the size of the model, the corners ringed; cross-validation over what changes along a
 * line, the least ringed. The scan is borrowed until the chart is drawn. Local. */
void invert_chart_corners(const invert_scan *scan, scan_chart *out);
void invert_chart_validation(const invert_scan *scan, scan_chart *out);

#endif
