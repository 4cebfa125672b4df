#ifndef HONE_LOOPS_LOWERING_LIBRARY_LAPACK_CALLS_H_
#define HONE_LOOPS_LOWERING_LIBRARY_LAPACK_CALLS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "hlo/ir/computation.h"

namespace hone::loops {

// An operand or result of a call, of all matrices.
struct LibraryArray {
  hlo::ElementType type;
  hlo::DimensionVector dimensions;
  // The function reads or writes it by columns.
  bool is_transposed = false;
};

// A call of a function of library_calls.h.
struct LibraryCall {
  std::string function;
  hlo::DimensionVector attributes;
  std::vector<LibraryArray> operands;
  std::vector<LibraryArray> results;
};

// Returns true if an instruction is linear algebra: cholesky, triangular-solve
// or a custom call to one of the routines of LAPACK.
bool IsLinearAlgebra(const hlo::Instruction& instruction);

// Returns the call that such an instruction becomes.
// Errors: as UseLibraryCalls.
absl::StatusOr<LibraryCall> ReadLapackCall(const hlo::Computation& computation,
                                           const hlo::Instruction& instruction);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_LIBRARY_LAPACK_CALLS_H_
