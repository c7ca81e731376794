/* HTML of the report: one file without external parts, readable on paper and on small screens. */
#include "apps/tomography/report/invert_page.h"
#include "tools/common/report_directory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
  "body{margin:0;color:#1a1a1a;background:#fff;font:16px/1.55 Charter,Georgia,\"Times New "
  "Roman\",serif}\n"
  "main{max-width:1180px;margin:0 auto;padding:1.5rem 1.25rem 4rem}\n"
  "h1{font-size:1.9rem;line-height:1.2;margin:.4em 0 .3em}\n"
  "h2{font-size:1.3rem;margin:2.4em 0 .5em;padding-top:.6em;border-top:1px solid #ccc}\n"
  "h3{font-size:1.05rem;margin:1.6em 0 .3em}\n"
  "p,ul{max-width:46rem;margin:.6em 0}\n"
  "h1,h2,h3,table,figcaption,.made{font-family:\"Helvetica Neue\",Arial,sans-serif}\n"
  ".made,figcaption{color:#444;font-size:.86rem}\n"
  ".pairs{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:1rem "
  "1.5rem}\n"
  "figure{margin:0;max-width:640px;break-inside:avoid}\n"
  "figure img{display:block;width:100%;height:auto}\n"
  "figcaption{line-height:1.4;margin:.1em 0 .6em}\n"
  ".wide{overflow-x:auto}\n"
  "table{border-collapse:collapse;font-size:.88rem;line-height:1.35;margin:.8em 0}\n"
  "caption{text-align:left;color:#444;padding-bottom:.3em}\n"
  "th,td{padding:.25em .9em .25em 0;text-align:left;vertical-align:baseline;border-bottom:1px "
  "solid #e4e4e4}\n"
  "thead th{border-bottom:1px solid #444}\n"
  "th{font-weight:600}\n"
  "tbody th{font-weight:400}\n"
  ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
  ".n.n{padding-left:.6em}\n"
  ".wide td{white-space:nowrap}\n"
  ".t td{overflow-wrap:anywhere}\n"
  ".command{max-width:none;overflow-wrap:anywhere}\n"
  ".columns{columns:3 300px;column-gap:2.5rem}\n"
  ".columns table{width:100%;margin:0;break-inside:auto}\n"
  "@media print{body{font-size:10.5pt}main{max-width:none;padding:0}h2{break-after:avoid}}\n"
  "@media(max-width:520px){body{font-size:15px}main{padding:1rem .8rem "
  "3rem}h1{font-size:1.5rem}th,td{padding-right:.5em}}\n";

void page_head(FILE *out)
{
  fputs(report_directory_mark, out);
  fprintf(out,
          "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"OSLA\">\n"
          "<title>Surface-wave tomography: report</title>\n<style>\n%s</style>\n</head>\n"
          "<body>\n<main>\n",
          style);
}

/* Returns the length in bytes of the UTF-8 character at s (RFC 3629), or 0 if the bytes are not
 * UTF-8. */
static int character_length(const unsigned char *s)
{
  const int n = s[0] < 0x80                   ? 1
                : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                : (s[0] & 0xf0) == 0xe0       ? 3
                : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                              : 0;
  for (int i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0))) return 0;
  if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))) return 0;
  return n;
}

void page_text(FILE *out, const char *text)
{
  const unsigned char *s = (const unsigned char *)text;
  while (*s) {
    const int n = character_length(s);
    if (n == 0) /* the replacement character U+FFFD for bytes that are not UTF-8 */
      fputs("\xef\xbf\xbd", out);
    else if (n > 1)
      fwrite(s, 1, (size_t)n, out);
    else
      switch (*s) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: putc(*s < ' ' || *s == 0x7f ? ' ' : *s, out);
      }
    s += n ? n : 1;
  }
}

void page_count(FILE *out, int64_t count)
{
  char digits[32];
  const int n = snprintf(digits, sizeof digits, "%" PRId64, count);
  for (int i = 0; i < n; i++) {
    if (i > 0 && n > 4 && (n - i) % 3 == 0 && digits[i - 1] != '-') fputs("\xe2\x80\xaf", out);
    putc(digits[i], out);
  }
}

void page_cell(FILE *out, double value, int digits)
{
  if (isfinite(value) && fabs(value) >= 1e3 && fabs(value) < 1e15) {
    fputs("<td class=\"n\">", out);
    page_count(out, llround(value));
    fputs("</td>", out);
  } else if (isfinite(value))
    fprintf(out, "<td class=\"n\">%s</td>", tomo_number_text(value, digits).s);
  else
    fputs("<td class=\"n\">–</td>", out);
}

/* Writes bytes in base64 (RFC 4648, section 4). */
static void put_base64(FILE *out, const unsigned char *bytes, size_t size)
{
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    const unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
    const unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (left > 2 ? bytes[i + 2] : 0);
    for (unsigned k = 0; k < 4; k++)
      putc(k <= left ? digit[group >> (18 - 6 * k) & 63] : '=', out);
  }
}

osla_err page_begin_picture(report_page *p, int drawing, int width, int height,
                            page_picture *picture)
{
  *picture = (page_picture){.drawing = drawing, .width = width, .height = height};
  return tomo_draw_begin(p->draw[drawing], TOMO_DRAW_SVG, width, height, &picture->number);
}

osla_err page_figure(report_page *p, const page_picture *picture, const char *alt,
                     const char *caption)
{
  void *bytes;
  size_t size;
  if (picture->width == 0 || p->missing[0]) return OSLA_OK;
  OSLA_CALL(tomo_draw_read_picture(p->draw[picture->drawing], picture->number, &bytes, &size));
  fprintf(p->out, "<figure><img width=\"%d\" height=\"%d\" alt=\"", picture->width,
          picture->height);
  page_text(p->out, alt);
  fputs("\" src=\"data:image/svg+xml;base64,", p->out);
  put_base64(p->out, bytes, size);
  fputs("\"><figcaption>", p->out);
  page_text(p->out, caption);
  fputs("</figcaption></figure>\n", p->out);
  free(bytes);
  return OSLA_OK;
}
