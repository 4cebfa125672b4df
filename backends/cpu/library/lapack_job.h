#ifndef HONE_BACKENDS_CPU_LIBRARY_LAPACK_JOB_H_
#define HONE_BACKENDS_CPU_LIBRARY_LAPACK_JOB_H_

/* A LAPACK routine on every matrix of a batch. Part of each file that calls
 * LAPACK; only lapack_job.c knows where the library is. */

#include <stdint.h>

/* Fortran: every argument is a pointer, followed by the lengths of strings. */
typedef void (*Routine)();

/* The first attributes of every function: the element type, a letter of "sdcz"
 * as an index, and the number of matrices. */
enum { kType, kBatch, kSizes };

enum { kMaxArrays = 6 };

typedef struct Array {
  char* data;
  int64_t stride; /* bytes per matrix */
} Array;

typedef struct Job {
  Routine routine;
  const int64_t* sizes; /* the attributes that depend on the routine */
  int is_complex;
  int64_t real_width; /* bytes */
  int64_t width;
  /* Sizes of work arrays in elements. A query (AskAndRun) sets them. */
  int is_query;
  int work_size;
  int real_work_size;
  int int_work_size;
  Array from[kMaxArrays];
  Array to[kMaxArrays];
  void (*one)(struct Job* job, int64_t i);
} Job;

static inline int Least(int a, int b) { return a < b ? a : b; }
static inline int Leading(int rows) { return rows > 1 ? rows : 1; }
static inline void* At(const Array* array, int64_t i) {
  return array->data + i * array->stride;
}
static inline Array Elements(const void* data, int64_t count, int64_t width) {
  return (Array){(char*)(uintptr_t)data, count * width};
}

/* A job of the routine `name` without its first letter, which says the type;
 * `complex_name` for complex types. Fails if the library has no such routine.
 */
Job hone_lapack_begin(const int64_t* attributes, const char* name,
                      const char* complex_name);

/* Makes `to`, a result, a copy of the argument `from`. */
void hone_lapack_copy(const void* from, Array* to, int64_t batch);

/* Calls `one` for each matrix. Matrices are spread over the threads of this
 * runtime; a large one (`size`: its order) alone is left to those of OpenBLAS.
 */
void hone_lapack_run(Job* job, int64_t batch, int size);

/* The same after a call with is_query, which only sets the sizes of work
 * arrays. */
void hone_lapack_ask_and_run(Job* job, int64_t batch, int size);

/* The work arrays of one matrix; in a query each has room for its size. */
typedef struct Work {
  char asked[3][16];
  void* work;
  void* real_work;
  void* int_work;
  int size;
  int real_size;
  int int_size;
} Work;

void hone_lapack_begin_work(const Job* job, Work* work);
/* After a query, keeps the size of the first array in the job; those of the
 * others are for the routine to read. */
void hone_lapack_end_work(Job* job, Work* work);

/* The best size of a work array, after a query with that array. */
int hone_lapack_asked_size(const Job* job, const void* work);

#endif /* HONE_BACKENDS_CPU_LIBRARY_LAPACK_JOB_H_ */
