/* Charts of a scan of priors, for the HTML report and for --scan-plot. */
#ifndef INVERT_SCAN_CHART_H
#define INVERT_SCAN_CHART_H

#include "apps/tomography/draw/tomo_draw.h"
#include "apps/tomography/invert/invert_results.h"

enum { SCAN_CURVES = 8 }; /* maximum number of curves; further lines of a scan are not drawn */

typedef struct scan_chart {
  tomo_chart chart; /* chart whose pointers lead to the arrays below */
  tomo_curve curve[SCAN_CURVES];
  char name[SCAN_CURVES][40];
  tomo_mark mark[SCAN_CURVES];
} scan_chart;

/* invert_chart_corners: misfit over the norm of the model, with rings at the corners.
 * invert_chart_validation: cross-validation over the weight that changes along a line, with a ring
 * at the minimum. The chart borrows the scan until it is drawn. Local. */
void invert_chart_corners(const invert_scan *scan, scan_chart *out);
void invert_chart_validation(const invert_scan *scan, scan_chart *out);

#endif
