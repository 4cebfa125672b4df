/* Factorizations and solves. */

#include <math.h>
#include <string.h>

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/library/lapack_job.h"
#include "backends/cpu/library/library.h"

/* ---- Factorizations ----------------------------------------------------- */

enum { kPotrfN, kPotrfUplo, kPotrfFill };

/* The triangle that is not the factor becomes zero, and the factor of what has
 * none NaN. */
static void FillTriangles(const Job* job, char* a, int failed) {
  const int64_t n = job->sizes[kPotrfN];
  const int upper = job->sizes[kPotrfUplo] == 'U';
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t row = 0; row < n; ++row) {
      char* element = a + (column * n + row) * job->width;
      const int is_factor = upper ? row <= column : row >= column;
      if (is_factor && !failed) continue;
      const double value = is_factor ? NAN : 0;
      for (int64_t at = 0; at < job->width; at += job->real_width) {
        if (job->real_width == 4) {
          *(float*)(element + at) = (float)value;
        } else {
          *(double*)(element + at) = value;
        }
      }
    }
  }
}

static void OnePotrf(Job* job, int64_t i) {
  const int n = (int)job->sizes[kPotrfN];
  const int lda = Leading(n);
  const char uplo = (char)job->sizes[kPotrfUplo];
  int* info = At(&job->to[1], i);
  *info = 0;
  if (n > 0) {
    job->routine(&uplo, &n, At(&job->to[0], i), &lda, info, (size_t)1);
  }
  if (job->sizes[kPotrfFill]) {
    FillTriangles(job, At(&job->to[0], i), *info != 0);
  }
}

void hone_lapack_potrf(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "potrf", "potrf");
  const int64_t n = job.sizes[kPotrfN];
  job.to[0] = Elements(results[0], n * n, job.width);
  job.to[1] = Elements(results[1], 1, sizeof(int));
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.one = &OnePotrf;
  hone_lapack_run(&job, attributes[kBatch], (int)n);
}

enum { kRows, kColumns };

static void OneGetrf(Job* job, int64_t i) {
  const int m = (int)job->sizes[kRows];
  const int n = (int)job->sizes[kColumns];
  const int lda = Leading(m);
  int* info = At(&job->to[2], i);
  *info = 0;
  if (m == 0 || n == 0) return;
  job->routine(&m, &n, At(&job->to[0], i), &lda, At(&job->to[1], i), info);
}

void hone_lapack_getrf(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "getrf", "getrf");
  const int m = (int)job.sizes[kRows];
  const int n = (int)job.sizes[kColumns];
  job.to[0] = Elements(results[0], (int64_t)m * n, job.width);
  job.to[1] = Elements(results[1], Least(m, n), sizeof(int));
  job.to[2] = Elements(results[2], 1, sizeof(int));
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.one = &OneGetrf;
  hone_lapack_run(&job, attributes[kBatch], Least(m, n));
}

static void OneGeqrf(Job* job, int64_t i) {
  const int m = (int)job->sizes[kRows];
  const int n = (int)job->sizes[kColumns];
  const int lda = Leading(m);
  int info = 0;
  if (m == 0 || n == 0) return;
  Work w;
  hone_lapack_begin_work(job, &w);
  job->routine(&m, &n, At(&job->to[0], i), &lda, At(&job->to[1], i), w.work,
               &w.size, &info);
  hone_lapack_end_work(job, &w);
}

void hone_lapack_geqrf(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "geqrf", "geqrf");
  const int m = (int)job.sizes[kRows];
  const int n = (int)job.sizes[kColumns];
  job.to[0] = Elements(results[0], (int64_t)m * n, job.width);
  job.to[1] = Elements(results[1], Least(m, n), job.width);
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.one = &OneGeqrf;
  hone_lapack_ask_and_run(&job, attributes[kBatch], Least(m, n));
}

static void OneGeqp3(Job* job, int64_t i) {
  const int m = (int)job->sizes[kRows];
  const int n = (int)job->sizes[kColumns];
  const int lda = Leading(m);
  int info = 0;
  if (m == 0 || n == 0) return;
  Work w;
  hone_lapack_begin_work(job, &w);
  void* real_work = hone_kernel_allocate(2 * (int64_t)n * job->real_width);
  if (job->is_complex) {
    job->routine(&m, &n, At(&job->to[0], i), &lda, At(&job->to[1], i),
                 At(&job->to[2], i), w.work, &w.size, real_work, &info);
  } else {
    job->routine(&m, &n, At(&job->to[0], i), &lda, At(&job->to[1], i),
                 At(&job->to[2], i), w.work, &w.size, &info);
  }
  hone_kernel_free(real_work);
  hone_lapack_end_work(job, &w);
}

void hone_lapack_geqp3(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "geqp3", "geqp3");
  const int m = (int)job.sizes[kRows];
  const int n = (int)job.sizes[kColumns];
  job.to[0] = Elements(results[0], (int64_t)m * n, job.width);
  job.to[1] = Elements(results[1], n, sizeof(int));
  job.to[2] = Elements(results[2], Least(m, n), job.width);
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  hone_lapack_copy(arguments[1], &job.to[1], attributes[kBatch]);
  job.one = &OneGeqp3;
  hone_lapack_ask_and_run(&job, attributes[kBatch], Least(m, n));
}

enum { kReflectors = 2 };

static void OneUngqr(Job* job, int64_t i) {
  const int m = (int)job->sizes[kRows];
  const int n = (int)job->sizes[kColumns];
  const int k = (int)job->sizes[kReflectors];
  const int lda = Leading(m);
  int info = 0;
  if (m == 0 || n == 0) return;
  Work w;
  hone_lapack_begin_work(job, &w);
  job->routine(&m, &n, &k, At(&job->to[0], i), &lda, At(&job->from[1], i),
               w.work, &w.size, &info);
  hone_lapack_end_work(job, &w);
}

void hone_lapack_ungqr(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "orgqr", "ungqr");
  const int m = (int)job.sizes[kRows];
  const int n = (int)job.sizes[kColumns];
  job.to[0] = Elements(results[0], (int64_t)m * n, job.width);
  job.from[1] = Elements(arguments[1], job.sizes[kReflectors], job.width);
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.one = &OneUngqr;
  hone_lapack_ask_and_run(&job, attributes[kBatch], Least(m, n));
}

enum { kLow = 1, kHigh };

static void OneGehrd(Job* job, int64_t i) {
  const int n = (int)job->sizes[0];
  const int low = (int)job->sizes[kLow];
  const int high = (int)job->sizes[kHigh];
  const int lda = Leading(n);
  int* info = At(&job->to[2], i);
  *info = 0;
  Work w;
  hone_lapack_begin_work(job, &w);
  job->routine(&n, &low, &high, At(&job->to[0], i), &lda, At(&job->to[1], i),
               w.work, &w.size, info);
  hone_lapack_end_work(job, &w);
}

void hone_lapack_gehrd(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "gehrd", "gehrd");
  const int64_t n = job.sizes[0];
  job.to[0] = Elements(results[0], n * n, job.width);
  job.to[1] = Elements(results[1], n - 1, job.width);
  job.to[2] = Elements(results[2], 1, sizeof(int));
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.one = &OneGehrd;
  hone_lapack_ask_and_run(&job, attributes[kBatch], (int)n);
}

/* ---- Solves ------------------------------------------------------------- */

enum { kSide = 2, kUplo, kTranspose, kDiagonal };

static void OneTrsm(Job* job, int64_t i) {
  const int m = (int)job->sizes[kRows];
  const int n = (int)job->sizes[kColumns];
  const char side = (char)job->sizes[kSide];
  const char uplo = (char)job->sizes[kUplo];
  const char transpose = (char)job->sizes[kTranspose];
  const char diagonal = (char)job->sizes[kDiagonal];
  const int lda = Leading(side == 'L' ? m : n);
  const int ldb = Leading(m);
  const double one[2] = {1, 0};
  const float one_single[2] = {1, 0};
  const void* alpha =
      job->real_width == 4 ? (const void*)one_single : (const void*)one;
  if (m == 0 || n == 0) return;
  job->routine(&side, &uplo, &transpose, &diagonal, &m, &n, alpha,
               At(&job->from[0], i), &lda, At(&job->to[0], i), &ldb, (size_t)1,
               (size_t)1, (size_t)1, (size_t)1);
}

void hone_lapack_trsm(const int64_t* attributes, const void* const* arguments,
                      void* const* results) {
  Job job = hone_lapack_begin(attributes, "trsm", "trsm");
  const int64_t m = job.sizes[kRows];
  const int64_t n = job.sizes[kColumns];
  const int64_t order = job.sizes[kSide] == 'L' ? m : n;
  job.from[0] = Elements(arguments[0], order * order, job.width);
  job.to[0] = Elements(results[0], m * n, job.width);
  hone_lapack_copy(arguments[1], &job.to[0], attributes[kBatch]);
  job.one = &OneTrsm;
  hone_lapack_run(&job, attributes[kBatch], (int)order);
}

static void OneGtsv(Job* job, int64_t i) {
  const int n = (int)job->sizes[kRows];
  const int columns = (int)job->sizes[kColumns];
  const int ldb = Leading(n);
  int* info = At(&job->to[4], i);
  *info = 0;
  if (n == 0 || columns == 0) return;
  /* The diagonals are passed as n elements each, the first of the lower one
   * and the last of the upper one unused. */
  char* lower = At(&job->to[0], i);
  job->routine(&n, &columns, lower + job->width, At(&job->to[1], i),
               At(&job->to[2], i), At(&job->to[3], i), &ldb, info);
}

void hone_lapack_gtsv(const int64_t* attributes, const void* const* arguments,
                      void* const* results) {
  Job job = hone_lapack_begin(attributes, "gtsv", "gtsv");
  const int64_t n = job.sizes[kRows];
  for (int i = 0; i < 4; ++i) {
    const int64_t columns = i == 3 ? job.sizes[kColumns] : 1;
    job.to[i] = Elements(results[i], n * columns, job.width);
    hone_lapack_copy(arguments[i], &job.to[i], attributes[kBatch]);
  }
  job.to[4] = Elements(results[4], 1, sizeof(int));
  job.one = &OneGtsv;
  hone_lapack_run(&job, attributes[kBatch], 1);
}
