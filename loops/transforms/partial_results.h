#ifndef HONE_LOOPS_TRANSFORMS_PARTIAL_RESULTS_H_
#define HONE_LOOPS_TRANSFORMS_PARTIAL_RESULTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"
#include "loops/expression.h"
#include "loops/program.h"
#include "loops/transforms/footprint.h"

namespace hone::loops {

// The value that a reduction's operation leaves others as they are with.
// Errors: InvalidArgument for an operation or type without one.
absl::StatusOr<ExpressionPtr> ReductionIdentity(hlo::Opcode combine,
                                                hlo::ElementType type);

// A reduction into parts: partial results that begin with the identity and are
// combined in the end.
struct PartialResults {
  AccessSite site;  // of the reduction
  Box box;          // of its target, below the node around which parts live
  int64_t parts = 0;
  // Whether the number of the part is the last index of a partial result.
  bool parts_last = false;
  // The local that holds them.
  BufferId local = 0;
  ExpressionPtr identity;
};

// The reductions at or below `region` to `buffer`, all of whose accesses there
// must be in the scope at `path`, which is at or below `region` too and does
// not move their indices. Declares the local beside `region` in `program`.
// Errors: InvalidArgument where that is not so.
absl::StatusOr<PartialResults> MakePartialResults(Program& program,
                                                  const Path& region,
                                                  const Path& path,
                                                  BufferId buffer,
                                                  int64_t parts);

// The partial result `part` of the element that `access` is.
Access PartOf(const Program& program, const PartialResults& partial,
              const Access& access, const Affine& part);

// Gives every partial result the identity.
Node Initialise(Program& program, const PartialResults& partial);

// In each place of the box: part i = combine(part i, part i + count) for the i
// below `count`.
Node CombineHalves(Program& program, const PartialResults& partial,
                   int64_t count);

// Combines the first `count` parts into the target. `region` as before.
absl::StatusOr<Node> CombineInto(Program& program, const Path& region,
                                 const PartialResults& partial, int64_t count);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_PARTIAL_RESULTS_H_
