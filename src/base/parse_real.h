/* Reading of numbers with a decimal point, independent of the program's locale (internal). */
#ifndef PARSE_REAL_H
#define PARSE_REAL_H

/* strtod in the locale "C", for decimal numbers only: for a hexadecimal number such as 0x1p4, *end
 * is `text`. Local, thread-safe. */
double osli_parse_real(const char *text, char **end);

#endif
