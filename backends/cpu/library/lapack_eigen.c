/* Eigenvalues, Schur forms and singular values. */

#include <stddef.h>
#include <string.h>

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/library/lapack_job.h"
#include "backends/cpu/library/library.h"

/* ---- Hermitian matrices ------------------------------------------------- */

enum { kHeevdN, kHeevdMode, kHeevdUplo };

static void OneHeevd(Job* job, int64_t i) {
  const int n = (int)job->sizes[kHeevdN];
  const char mode = (char)job->sizes[kHeevdMode];
  const char uplo = (char)job->sizes[kHeevdUplo];
  const int lda = Leading(n);
  int* info = At(&job->to[2], i);
  *info = 0;
  if (n == 0) return;
  Work w;
  hone_lapack_begin_work(job, &w);
  if (job->is_complex) {
    job->routine(&mode, &uplo, &n, At(&job->to[0], i), &lda, At(&job->to[1], i),
                 w.work, &w.size, w.real_work, &w.real_size, w.int_work,
                 &w.int_size, info, (size_t)1, (size_t)1);
    if (job->is_query) {
      job->real_work_size = hone_lapack_asked_size(job, w.real_work);
    }
  } else {
    job->routine(&mode, &uplo, &n, At(&job->to[0], i), &lda, At(&job->to[1], i),
                 w.work, &w.size, w.int_work, &w.int_size, info, (size_t)1,
                 (size_t)1);
  }
  if (job->is_query) memcpy(&job->int_work_size, w.int_work, sizeof(int));
  hone_lapack_end_work(job, &w);
}

void hone_lapack_heevd(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "syevd", "heevd");
  const int64_t n = job.sizes[kHeevdN];
  job.to[0] = Elements(results[0], n * n, job.width);
  job.to[1] = Elements(results[1], n, job.real_width);
  job.to[2] = Elements(results[2], 1, sizeof(int));
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.one = &OneHeevd;
  hone_lapack_ask_and_run(&job, attributes[kBatch], (int)n);
}

/* ---- General matrices --------------------------------------------------- */

enum { kGeevN, kGeevLeft, kGeevRight };

/* Real matrices: `packed` has a column for a real eigenvector, and two, the
 * real and the imaginary part, for a conjugate pair. */
static void UnpackVectors(const Job* job, const char* packed,
                          const char* imaginary_values, char* vectors) {
  const int64_t n = job->sizes[kGeevN];
  const int64_t width = job->real_width;
  for (int64_t j = 0; j < n; ++j) {
    const char* value = imaginary_values + j * width;
    const int is_pair =
        width == 4 ? *(const float*)value != 0 : *(const double*)value != 0;
    for (int64_t row = 0; row < n; ++row) {
      const char* real = packed + (j * n + row) * width;
      char* to = vectors + (j * n + row) * 2 * width;
      memcpy(to, real, (size_t)width);
      if (!is_pair || j + 1 == n) {
        memset(to + width, 0, (size_t)width);
        continue;
      }
      const char* imaginary = real + n * width;
      char* conjugate = to + n * 2 * width;
      memcpy(to + width, imaginary, (size_t)width);
      memcpy(conjugate, real, (size_t)width);
      if (width == 4) {
        *(float*)(conjugate + width) = -*(const float*)imaginary;
      } else {
        *(double*)(conjugate + width) = -*(const double*)imaginary;
      }
    }
    if (is_pair) ++j;
  }
}

/* Results: real and imaginary parts of eigenvalues if the matrix is real, else
 * the eigenvalues; left and right vectors; info. */
static void OneGeev(Job* job, int64_t i) {
  const int n = (int)job->sizes[kGeevN];
  const char left = (char)job->sizes[kGeevLeft];
  const char right = (char)job->sizes[kGeevRight];
  const int lda = Leading(n);
  const int64_t bytes = (int64_t)n * n * job->width;
  const int values = job->is_complex ? 1 : 2;
  int* info = At(&job->to[values + 2], i);
  *info = 0;
  if (n == 0) return;
  void* left_vectors = At(&job->to[values], i);
  void* right_vectors = At(&job->to[values + 1], i);
  Work w;
  hone_lapack_begin_work(job, &w);
  char* copy = hone_kernel_allocate(bytes);
  memcpy(copy, At(&job->from[0], i), (size_t)bytes);
  if (job->is_complex) {
    job->routine(&left, &right, &n, copy, &lda, At(&job->to[0], i),
                 left_vectors, &lda, right_vectors, &lda, w.work, &w.size,
                 w.real_work, info, (size_t)1, (size_t)1);
  } else {
    char* packed_left = hone_kernel_allocate(bytes);
    char* packed_right = hone_kernel_allocate(bytes);
    const char* imaginary = At(&job->to[1], i);
    job->routine(&left, &right, &n, copy, &lda, At(&job->to[0], i),
                 At(&job->to[1], i), packed_left, &lda, packed_right, &lda,
                 w.work, &w.size, info, (size_t)1, (size_t)1);
    if (!job->is_query && left == 'V') {
      UnpackVectors(job, packed_left, imaginary, left_vectors);
    }
    if (!job->is_query && right == 'V') {
      UnpackVectors(job, packed_right, imaginary, right_vectors);
    }
    hone_kernel_free(packed_right);
    hone_kernel_free(packed_left);
  }
  hone_kernel_free(copy);
  hone_lapack_end_work(job, &w);
}

void hone_lapack_geev(const int64_t* attributes, const void* const* arguments,
                      void* const* results) {
  Job job = hone_lapack_begin(attributes, "geev", "geev");
  const int64_t n = job.sizes[kGeevN];
  const int values = job.is_complex ? 1 : 2;
  const int64_t complex_width = 2 * job.real_width;
  job.from[0] = Elements(arguments[0], n * n, job.width);
  for (int i = 0; i < values; ++i) {
    job.to[i] = Elements(results[i], n, job.width);
  }
  for (int i = values; i < values + 2; ++i) {
    job.to[i] = Elements(results[i], n * n, complex_width);
    /* Vectors that are not asked for have no defined value in XLA either. */
    memset(job.to[i].data, 0, (size_t)(attributes[kBatch] * job.to[i].stride));
  }
  job.to[values + 2] = Elements(results[values + 2], 1, sizeof(int));
  job.real_work_size = 2 * (int)n;
  job.one = &OneGeev;
  hone_lapack_ask_and_run(&job, attributes[kBatch], (int)n);
}

enum { kGeesN, kGeesMode };

/* Results: Schur form, vectors, eigenvalues as in geev, the number of selected
 * eigenvalues, info. Eigenvalues are not sorted. */
static void OneGees(Job* job, int64_t i) {
  const int n = (int)job->sizes[kGeesN];
  const char mode = (char)job->sizes[kGeesMode];
  const char sort = 'N';
  const int lda = Leading(n);
  const int values = job->is_complex ? 1 : 2;
  int* selected = At(&job->to[2 + values], i);
  int* info = At(&job->to[3 + values], i);
  *selected = 0;
  *info = 0;
  if (n == 0) return;
  Work w;
  hone_lapack_begin_work(job, &w);
  if (job->is_complex) {
    job->routine(&mode, &sort, NULL, &n, At(&job->to[0], i), &lda, selected,
                 At(&job->to[2], i), At(&job->to[1], i), &lda, w.work, &w.size,
                 w.real_work, w.int_work, info, (size_t)1, (size_t)1);
  } else {
    job->routine(&mode, &sort, NULL, &n, At(&job->to[0], i), &lda, selected,
                 At(&job->to[2], i), At(&job->to[3], i), At(&job->to[1], i),
                 &lda, w.work, &w.size, w.int_work, info, (size_t)1, (size_t)1);
  }
  hone_lapack_end_work(job, &w);
}

void hone_lapack_gees(const int64_t* attributes, const void* const* arguments,
                      void* const* results) {
  Job job = hone_lapack_begin(attributes, "gees", "gees");
  const int64_t n = job.sizes[kGeesN];
  const int values = job.is_complex ? 1 : 2;
  job.to[0] = Elements(results[0], n * n, job.width);
  job.to[1] = Elements(results[1], n * n, job.width);
  memset(job.to[1].data, 0, (size_t)(attributes[kBatch] * job.to[1].stride));
  for (int i = 2; i < 2 + values; ++i) {
    job.to[i] = Elements(results[i], n, job.width);
  }
  for (int i = 2 + values; i < 4 + values; ++i) {
    job.to[i] = Elements(results[i], 1, sizeof(int));
  }
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  job.real_work_size = (int)n;
  job.int_work_size = (int)n;
  job.one = &OneGees;
  hone_lapack_ask_and_run(&job, attributes[kBatch], (int)n);
}

/* ---- Singular values ---------------------------------------------------- */

enum { kGesddM, kGesddN, kGesddMode };

static int RealWorkSize(char mode, int m, int n) {
  const int64_t least = Least(m, n);
  const int64_t greatest = m > n ? m : n;
  if (mode == 'N') return (int)(7 * least);
  const int64_t square = 5 * least * least + 7 * least;
  const int64_t product = 2 * greatest * least + 2 * least * least + least;
  return (int)(square > product ? square : product);
}

/* Results: what is left of the matrix, singular values, U, Vᴴ, info. */
static void OneGesdd(Job* job, int64_t i) {
  const int m = (int)job->sizes[kGesddM];
  const int n = (int)job->sizes[kGesddN];
  const char mode = (char)job->sizes[kGesddMode];
  const int least = Least(m, n);
  const int lda = Leading(m);
  const int ldvt = Leading(mode == 'A' ? n : least);
  int* info = At(&job->to[4], i);
  *info = 0;
  if (least == 0) return;
  Work w;
  hone_lapack_begin_work(job, &w);
  void* int_work =
      job->is_query
          ? hone_kernel_allocate(8 * (int64_t)least * (int64_t)sizeof(int))
          : w.int_work;
  if (job->is_complex) {
    job->routine(&mode, &m, &n, At(&job->to[0], i), &lda, At(&job->to[1], i),
                 At(&job->to[2], i), &lda, At(&job->to[3], i), &ldvt, w.work,
                 &w.size, w.real_work, int_work, info, (size_t)1);
  } else {
    job->routine(&mode, &m, &n, At(&job->to[0], i), &lda, At(&job->to[1], i),
                 At(&job->to[2], i), &lda, At(&job->to[3], i), &ldvt, w.work,
                 &w.size, int_work, info, (size_t)1);
  }
  if (job->is_query) hone_kernel_free(int_work);
  hone_lapack_end_work(job, &w);
}

void hone_lapack_gesdd(const int64_t* attributes, const void* const* arguments,
                       void* const* results) {
  Job job = hone_lapack_begin(attributes, "gesdd", "gesdd");
  const int64_t m = job.sizes[kGesddM];
  const int64_t n = job.sizes[kGesddN];
  const int64_t least = Least((int)m, (int)n);
  const int thin = job.sizes[kGesddMode] == 'S';
  job.to[0] = Elements(results[0], m * n, job.width);
  job.to[1] = Elements(results[1], least, job.real_width);
  job.to[2] = Elements(results[2], m * (thin ? least : m), job.width);
  job.to[3] = Elements(results[3], n * (thin ? least : n), job.width);
  job.to[4] = Elements(results[4], 1, sizeof(int));
  hone_lapack_copy(arguments[0], &job.to[0], attributes[kBatch]);
  if (job.is_complex) {
    job.real_work_size =
        RealWorkSize((char)job.sizes[kGesddMode], (int)m, (int)n);
  }
  job.int_work_size = 8 * (int)least;
  job.one = &OneGesdd;
  hone_lapack_ask_and_run(&job, attributes[kBatch], (int)least);
}
