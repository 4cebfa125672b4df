#define _GNU_SOURCE

#include "backends/cpu/library/lapack_job.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernel_runtime.h"

/* ---- The library -------------------------------------------------------- */

/* Found at the first call, so that modules without linear algebra do not
 * depend on it: HONE_LAPACK, or the first of these that loads. */
static const char* const kLibraries[] = {"libopenblas.so.0", "libopenblas.so",
                                         "liblapack.so.3"};

/* Matrices below this have too little work for the library's own threads. */
enum { kManyThreadsSize = 512 };

static void* library;
static int (*get_threads)(void);
static void (*set_threads)(int);

static void LoadLibrary(void) {
  const char* chosen = getenv("HONE_LAPACK");
  if (chosen != NULL) {
    library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  } else {
    const size_t count = sizeof(kLibraries) / sizeof(*kLibraries);
    for (size_t i = 0; i < count && library == NULL; ++i) {
      library = dlopen(kLibraries[i], RTLD_NOW | RTLD_LOCAL);
    }
  }
  if (library == NULL) return;
  get_threads = (int (*)(void))dlsym(library, "openblas_get_num_threads");
  set_threads = (void (*)(int))dlsym(library, "openblas_set_num_threads");
}

/* ---- Jobs --------------------------------------------------------------- */

enum { kSingle, kDouble, kComplexSingle, kComplexDouble };

static void RunRange(void* context, int64_t begin, int64_t end) {
  Job* job = context;
  for (int64_t i = begin; i < end; ++i) job->one(job, i);
}

static void RestoreThreads(void* before) { set_threads(*(const int*)before); }

void hone_lapack_run(Job* job, int64_t batch, int size) {
  if (batch == 0) return;
  if (set_threads == NULL || get_threads == NULL) {
    hone_kernel_parallel_for(&RunRange, job, batch);
    return;
  }
  int before = get_threads();
  const int alone = batch == 1 && size >= kManyThreadsSize;
  const int threads = alone ? (int)hone_kernel_threads() : 1;
  if (before != threads) set_threads(threads);
  hone_kernel_cleanup cleanup = {&RestoreThreads, &before, NULL};
  hone_kernel_begin_cleanup(&cleanup);
  if (batch == 1) {
    RunRange(job, 0, 1);
  } else {
    hone_kernel_parallel_for(&RunRange, job, batch);
  }
  hone_kernel_end_cleanup(&cleanup);
  if (before != threads) set_threads(before);
}

Job hone_lapack_begin(const int64_t* attributes, const char* name,
                      const char* complex_name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, &LoadLibrary);
  if (library == NULL) {
    hone_kernel_fail(
        "no LAPACK for this module's linear algebra: expected "
        "libopenblas.so.0 or liblapack.so.3, or a path in HONE_LAPACK");
  }
  const int64_t type = attributes[kType];
  Job job = {.sizes = attributes + kSizes,
             .is_complex = type >= kComplexSingle,
             .real_width = type == kSingle || type == kComplexSingle ? 4 : 8};
  job.width = job.is_complex ? 2 * job.real_width : job.real_width;
  char symbol[16];
  snprintf(symbol, sizeof(symbol), "%c%s_", "sdcz"[type],
           job.is_complex ? complex_name : name);
  job.routine = (Routine)dlsym(library, symbol);
  if (job.routine == NULL) {
    char message[64];
    snprintf(message, sizeof(message), "the LAPACK library has no %s", symbol);
    hone_kernel_fail(message);
  }
  return job;
}

void hone_lapack_copy(const void* from, Array* to, int64_t batch) {
  if (batch * to->stride > 0) {
    memcpy(to->data, from, (size_t)(batch * to->stride));
  }
}

int hone_lapack_asked_size(const Job* job, const void* work) {
  return job->real_width == 4 ? (int)*(const float*)work
                              : (int)*(const double*)work;
}

void hone_lapack_begin_work(const Job* job, Work* work) {
  if (job->is_query) {
    work->work = work->asked[0];
    work->real_work = work->asked[1];
    work->int_work = work->asked[2];
    work->size = work->real_size = work->int_size = -1;
    return;
  }
  work->size = job->work_size;
  work->real_size = job->real_work_size;
  work->int_size = job->int_work_size;
  work->work = hone_kernel_allocate(work->size * job->width);
  work->real_work = hone_kernel_allocate(work->real_size * job->real_width);
  work->int_work = hone_kernel_allocate(work->int_size * (int64_t)sizeof(int));
}

void hone_lapack_end_work(Job* job, Work* work) {
  if (job->is_query) {
    job->work_size = hone_lapack_asked_size(job, work->work);
    return;
  }
  hone_kernel_free(work->int_work);
  hone_kernel_free(work->real_work);
  hone_kernel_free(work->work);
}

void hone_lapack_ask_and_run(Job* job, int64_t batch, int size) {
  if (batch == 0) return;
  job->is_query = 1;
  job->one(job, 0);
  job->is_query = 0;
  hone_lapack_run(job, batch, size);
}
