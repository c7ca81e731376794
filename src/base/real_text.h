/* Numbers in texts with a point, whatever the program's locale is (internal). */
#ifndef REAL_TEXT_H
#define REAL_TEXT_H

/* As strtod in the locale "C", but of decimal numbers alone: *end is `text` where a hexadecimal one
 * such as 0x1p4 stands. Local, thread-safe. */
double osli_real_text(const char *text, char **end);

#endif
