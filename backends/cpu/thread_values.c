#include <pthread.h>
#include <stdlib.h>

#include "backends/cpu/kernel_call.h"

/* Keys and not thread-local variables, for which libraries that are loaded late
 * get hardly any memory, or allocate some at first use. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t keys[kThreadValues];
static int created;

static void CreateKeys(void) {
  while (created < kThreadValues) {
    const int failed = pthread_key_create(
        &keys[created], created == kThreadMessage ? free : NULL);
    if (failed) return;
    ++created;
  }
}

void* hone_kernel_own_thread_value(int32_t which) {
  pthread_once(&once, CreateKeys);
  return which < created ? pthread_getspecific(keys[which]) : NULL;
}

int32_t hone_kernel_set_own_thread_value(int32_t which, void* value) {
  pthread_once(&once, CreateKeys);
  return which < created && pthread_setspecific(keys[which], value) == 0;
}
