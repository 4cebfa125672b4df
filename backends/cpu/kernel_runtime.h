#ifndef HONE_BACKENDS_CPU_KERNEL_RUNTIME_H_
#define HONE_BACKENDS_CPU_KERNEL_RUNTIME_H_

/* The functions that compiled kernels call, in C and without other libraries
 * than libc and pthreads: linked into this process for kernels that run here,
 * and into every exported shared object. */

#include <stdint.h>

#include "backends/cpu/kernel_abi.h"

/* NOLINTBEGIN(readability-identifier-naming): C names, as C users expect. */
#ifdef __cplusplus
extern "C" {
#endif

/* ---- Entries ------------------------------------------------------------ */

/* A compiled kernel or module, as entry_emitter.h lays it out in its object. */
typedef struct hone_kernel_entry {
  hone_info info;
  void (*run)(const void* const* arguments, void* const* results);
  /* The most that `run` has allocated at a time outside of parallel loops, and
   * the most that one body of a parallel loop has: multiples of 64. */
  int64_t shared_bytes;
  int64_t thread_bytes;
  /* 0 until the processor has been checked, then 1. */
  int32_t* is_checked;
} hone_kernel_entry;

/* Checks a call, reserves its workspace and runs it; `context` may be null.
 * Returns a HONE_ERROR_… code, or HONE_OK. Thread-safe. */
int32_t hone_kernel_call(const hone_kernel_entry* entry,
                         const hone_context* context,
                         const void* const* arguments, void* const* results);

/* Text that describes the last error on this thread, until the next; empty if
 * there was none. */
const char* hone_kernel_error_message(void);

/* Ends the current call with HONE_ERROR_LIBRARY and this message, and does not
 * return: bodies of other threads end first, memory of hone_kernel_allocate is
 * freed, and no other code of the call runs but cleanups, so that the caller
 * must hold no mutex. */
__attribute__((noreturn)) void hone_kernel_fail(const char* message);

/* Has `run` called if the call fails between begin and end, which belong to the
 * same function and nest; the caller sets `run` and `data`. Outside of calls
 * nothing fails. */
typedef struct hone_kernel_cleanup {
  void (*run)(void* data);
  void* data;
  struct hone_kernel_cleanup* outer;
} hone_kernel_cleanup;
void hone_kernel_begin_cleanup(hone_kernel_cleanup* cleanup);
void hone_kernel_end_cleanup(hone_kernel_cleanup* cleanup);

/* ---- Threads and memory ------------------------------------------------- */

/* Calls body(data, begin, end) for ranges that cover 0 … count-1 once, on the
 * threads of the current call, or on hone_kernel_threads() outside of calls,
 * the calling one among them; returns when all are done. A pool is started at
 * the first call and stays. Called from inside a body it runs everything on
 * the calling thread. */
void hone_kernel_parallel_for(hone_body body, void* data, int64_t count);

/* Threads used from now on, by all of Hone's code in the process; the default
 * is the number of processors that the process may run on, or the environment's
 * HONE_THREADS. */
void hone_kernel_set_threads(int32_t threads);
int32_t hone_kernel_threads(void);

/* `bytes` of scratch memory, 64-byte aligned, without a value; freed by the
 * same thread, in reverse order. Inside of calls it comes from the workspace,
 * which has room for what compiled code allocates; a call for which there is
 * no more memory fails. Outside of calls it is null if there is no memory.
 * Freed memory is kept for the next call, so that repeated calls touch the same
 * pages. */
void* hone_kernel_allocate(int64_t bytes);
void hone_kernel_free(void* memory);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* HONE_BACKENDS_CPU_KERNEL_RUNTIME_H_ */
