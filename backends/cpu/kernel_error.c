#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/kernel_call.h"

/* The message of a thread is on the heap: libraries that are loaded late get
 * little thread-local memory. */
enum { kMessageBytes = 256 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void MakeKey(void) { has_key = pthread_key_create(&key, free) == 0; }

int32_t hone_kernel_error(int32_t code, const char* format, ...) {
  pthread_once(&once, MakeKey);
  if (!has_key) return code;
  char* message = pthread_getspecific(key);
  if (message == NULL) {
    message = malloc(kMessageBytes);
    if (message == NULL) return code;
    if (pthread_setspecific(key, message) != 0) {
      free(message);
      return code;
    }
  }
  va_list values;
  va_start(values, format);
  vsnprintf(message, kMessageBytes, format, values);
  va_end(values);
  return code;
}

const char* hone_kernel_error_message(void) {
  pthread_once(&once, MakeKey);
  const char* const message = has_key ? pthread_getspecific(key) : NULL;
  return message != NULL ? message : "";
}
