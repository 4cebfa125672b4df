#ifndef HONE_LOOPS_TRANSFORMS_REDUCTION_PARTIAL_RESULTS_H_
#define HONE_LOOPS_TRANSFORMS_REDUCTION_PARTIAL_RESULTS_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/expression.h"
#include "loops/ir/program.h"
#include "loops/transforms/analysis/footprint.h"

namespace hone::loops {

// Returns the identity element of a reduction, or InvalidArgument if the
// operation has none for the type.
absl::StatusOr<ExpressionPtr> ReductionIdentity(hlo::Opcode combine,
                                                hlo::ElementType type);

// A reduction into several partial results, which start with the identity
// element and are combined at the end.
struct PartialResults {
  // The reduction.
  AccessSite site;
  // The box of its target, below the node around which the partial results
  // live.
  Box box;
  int64_t parts = 0;
  // True if the part number is the last index of the local; else the first.
  bool parts_last = false;
  // The local that holds the partial results.
  BufferId local = 0;
  ExpressionPtr identity;
};

// Prepares partial results for the reduction to `buffer` at or below `region`,
// and declares their local beside `region`. Returns InvalidArgument unless all
// accesses of `buffer` below `region` are one reduction in the loop at `path`,
// which must be at or below `region` and not occur in the indices.
absl::StatusOr<PartialResults> MakePartialResults(Program& program,
                                                  const Path& region,
                                                  const Path& path,
                                                  BufferId buffer,
                                                  int64_t parts);

// Returns the access to partial result `part` of the element that `access`
// names.
Access PartOf(const Program& program, const PartialResults& partial,
              const Access& access, const Affine& part);

// Returns the nest that sets every partial result to the identity element.
Node Initialize(Program& program, const PartialResults& partial);

// Returns the nest that computes, for each element of the box and each i below
// `count`: part i = combine(part i, part i + count).
Node CombineHalves(Program& program, const PartialResults& partial,
                   int64_t count);

// Returns the nest that combines the first `count` parts into the target.
// `region` is that of MakePartialResults.
absl::StatusOr<Node> CombineInto(Program& program, const Path& region,
                                 const PartialResults& partial, int64_t count);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_REDUCTION_PARTIAL_RESULTS_H_
