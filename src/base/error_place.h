/* Where the latest error's text stays (floor 0, internal). */
#ifndef OSLA_ERROR_PLACE_H
#define OSLA_ERROR_PLACE_H

enum { OSLA_ERROR_TEXT = 512 };

/* Each thread has a place of its own, unless this is called: then place() tells, for who asks,
 * where OSLA_ERROR_TEXT bytes are. For ranks that are no processes. */
void osli_error_keep_in(char *(*place)(void));

#endif
