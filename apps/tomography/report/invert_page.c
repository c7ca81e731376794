/* --report: makes the HTML page in memory and writes it atomically. */
#include "apps/tomography/report/invert_page.h"
#include "tools/common/report_directory.h"

#include <stdlib.h>
#include <string.h>

static osla_err write_parts(report_page *p)
{
  page_head(p->out);
  OSLA_CALL(page_put_summary(p));
  OSLA_CALL(page_put_maps(p));
  OSLA_CALL(page_put_sections(p));
  OSLA_CALL(page_put_posterior(p));
  OSLA_CALL(page_put_misfit(p));
  OSLA_CALL(page_put_scan(p));
  OSLA_CALL(page_put_tables(p));
  fputs("</main>\n</body>\n</html>\n", p->out);
  return OSLA_OK;
}

static void clear_pictures(report_page *p)
{
  page_picture *const all[] = {&p->map[0][0].picture, &p->density, &p->tracks, &p->curve, &p->gcv};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    all[i]->drawing = -1;
  for (int k = 0; k < PAGE_KINDS; k++)
    for (int d = 0; d < PAGE_DEPTHS_MAX; d++)
      p->map[k][d].picture.drawing = -1;
  for (int i = 0; i < INVERT_SECTIONS_MAX; i++)
    p->section[0][i].drawing = p->section[1][i].drawing = -1;
  for (int i = 0; i < PAGE_POINTS_MAX; i++)
    p->point[i].drawing = -1;
  for (int i = 0; i < PAGE_CHARTS_MAX; i++)
    p->misfit[i].drawing = -1;
}

osla_err invert_write_page(const invert_job *job, const invert_phase_times *times)
{
  report_page p = {.job = job, .times = times};
  char *text = NULL;
  size_t size = 0;
  osla_err err = OSLA_OK;
  clear_pictures(&p);
  OSLA_TRY(page_draw(&p));
  OSLA_TRY(page_wait(&p));
  p.out = open_memstream(&text, &size);
  if (!p.out) OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for page of the report"));
  OSLA_TRY(write_parts(&p));
  if (ferror(p.out) || fclose(p.out) != 0) {
    p.out = NULL;
    OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for page of the report"));
  }
  p.out = NULL;
  OSLA_TRY(report_directory_write(job->options->report, text, size));
cleanup:
  if (p.out) fclose(p.out);
  free(text);
  for (int i = 0; i < 2; i++)
    tomo_draw_destroy(&p.draw[i]);
  tomo_views_destroy(&p.views);
  return err;
}
