/* Reading of numbers with a decimal point, independent of the program's locale (internal). */
#ifndef REAL_TEXT_H
#define REAL_TEXT_H

/* strtod in the locale "C", for decimal numbers only: for a hexadecimal number such as 0x1p4, *end
 * is `text`. Local, thread-safe. */
double osli_real_text(const char *text, char **end);

#endif
