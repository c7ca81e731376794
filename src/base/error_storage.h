/* Storage of the latest error's text (layer 0, internal). */
#ifndef OSLA_ERROR_STORAGE_H
#define OSLA_ERROR_STORAGE_H

enum { OSLA_ERROR_TEXT = 512 };

/* By default each thread has a buffer of its own for the error text. After this call the buffer of
 * the calling rank, of OSLA_ERROR_TEXT bytes, comes from place() instead. The simulator needs this,
 * because its ranks share one process. */
void osli_error_set_storage(char *(*place)(void));

#endif
