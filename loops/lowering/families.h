#ifndef HONE_LOOPS_LOWERING_FAMILIES_H_
#define HONE_LOOPS_LOWERING_FAMILIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/lowering/kernel_writer.h"
#include "loops/lowering/nest.h"

namespace hone::loops {

// The loops of one instruction of each family, written into `nest`, which is
// empty. Errors: Unimplemented.

absl::Status WriteConcatenate(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id);
absl::Status WriteConvolution(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id);
// Of a dot, or of a transpose that is stored in its place.
absl::Status WriteDot(KernelWriter& writer, Nest& nest, hlo::InstructionId id);
absl::Status WriteDynamicUpdateSlice(KernelWriter& writer, Nest& nest,
                                     hlo::InstructionId id);
absl::Status WriteInteriorPad(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id);
absl::Status WriteReduce(KernelWriter& writer, Nest& nest,
                         hlo::InstructionId id);
absl::Status WriteReduceWindow(KernelWriter& writer, Nest& nest,
                               hlo::InstructionId id);
absl::Status WriteScatter(KernelWriter& writer, Nest& nest,
                          hlo::InstructionId id);
absl::Status WriteSort(KernelWriter& writer, Nest& nest, hlo::InstructionId id);

// One element of values that are not elementwise.

absl::StatusOr<ExpressionPtr> ReadConcatenate(KernelWriter& writer, Nest& nest,
                                              ValueId value,
                                              const Indices& indices);
absl::StatusOr<ExpressionPtr> ReadDynamicSlice(KernelWriter& writer, Nest& nest,
                                               ValueId value,
                                               const Indices& indices);
absl::StatusOr<ExpressionPtr> ReadGather(KernelWriter& writer, Nest& nest,
                                         ValueId value, const Indices& indices);
absl::StatusOr<ExpressionPtr> ReadPad(KernelWriter& writer, Nest& nest,
                                      ValueId value, const Indices& indices);
absl::StatusOr<ExpressionPtr> ReadReshape(KernelWriter& writer, Nest& nest,
                                          ValueId value,
                                          const Indices& indices);

// `index` of type s64, as a start within 0 … greatest.
ExpressionPtr ClampedStart(ExpressionPtr index, int64_t greatest);

// `inside` where all `ranges` hold, else `outside`; without the ranges that
// always do.
ExpressionPtr WhereInside(const Nest& nest, std::vector<Range> ranges,
                          ExpressionPtr inside, ExpressionPtr outside);

// Stores values that may read the targets: all are computed before the first
// is stored. `predicate` may be null.
void StoreTogether(KernelWriter& writer, Nest& nest,
                   absl::Span<const Access> targets,
                   std::vector<ExpressionPtr> values,
                   const ExpressionPtr& predicate);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_FAMILIES_H_
