#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/kernel_call.h"

enum { kMessageBytes = 256 };

int32_t hone_kernel_error(int32_t code, const char* format, ...) {
  char* message = hone_kernel_thread_value(kThreadMessage);
  if (message == NULL) {
    message = malloc(kMessageBytes);
    if (message == NULL) return code;
    if (!hone_kernel_set_thread_value(kThreadMessage, message)) {
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
  const char* const message = hone_kernel_thread_value(kThreadMessage);
  return message != NULL ? message : "";
}
