#ifndef HONE_LOOPS_LOWERING_LIBRARY_LIBRARY_CALLS_H_
#define HONE_LOOPS_LOWERING_LIBRARY_LIBRARY_CALLS_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Replaces fft, cholesky, triangular-solve and the custom calls to LAPACK that
// JAX emits by custom calls to library functions (Form::kLibrary), for plans.
//
// The target is the function, `dimensions` its attributes: the element type (0
// … 3: f32, f64, c64, c128), the number of matrices, then the sizes and flags
// of one matrix, with letters as LAPACK has them. Operands and results are row-
// major; what LAPACK reads by columns is transposed before and after, or
// LAPACK is told the transposed problem:
//
//   hone_lapack_potrf  n uplo fill    a -> a info
//   hone_lapack_getrf  m n            a -> a pivots info
//   hone_lapack_geqrf  m n            a -> a tau
//   hone_lapack_geqp3  m n            a pivots -> a pivots tau
//   hone_lapack_ungqr  m n k          a tau -> q
//   hone_lapack_gehrd  n low high     a -> a tau info
//   hone_lapack_trsm   m n side uplo trans diag  a b -> x
//   hone_lapack_gtsv   n columns      dl d du b -> dl d du x info
//   hone_lapack_heevd  n mode uplo    a -> vectors values info
//   hone_lapack_geev   n left right   a -> values (re, im) left right info
//   hone_lapack_gees   n mode         a -> t vectors values (re, im) sdim info
//   hone_lapack_gesdd  m n mode       a -> a values u vh info
//
// hone_fft has the attributes f64 (0: f32), kind (forward, inverse, of real
// numbers, to real numbers), batch, rank and lengths.
//
// `fill`: zeros in the other triangle, NaN in the factor of a matrix that has
// none.
//
// Returns Unimplemented, naming the instruction, for operands or results that
// such a call cannot have. Leaves other custom calls alone.
absl::Status UseLibraryCalls(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_LIBRARY_LIBRARY_CALLS_H_
