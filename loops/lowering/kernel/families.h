#ifndef HONE_LOOPS_LOWERING_KERNEL_FAMILIES_H_
#define HONE_LOOPS_LOWERING_KERNEL_FAMILIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// Each writes the loops of one instruction of its opcode family into `nest`,
// which must be empty. Errors: Unimplemented.

absl::Status WriteConcatenate(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id);
absl::Status WriteConvolution(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id);
// Writes a dot, or the transpose of a dot that is stored in its place.
absl::Status WriteDot(KernelWriter& writer, Nest& nest, hlo::InstructionId id);
absl::Status WriteDynamicUpdateSlice(KernelWriter& writer, Nest& nest,
                                     hlo::InstructionId id);
absl::Status WriteInteriorPad(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id);
absl::Status WriteReduce(KernelWriter& writer, Nest& nest,
                         hlo::InstructionId id);
absl::Status WriteReduceWindow(KernelWriter& writer, Nest& nest,
                               hlo::InstructionId id);
absl::Status WriteRngBitGenerator(KernelWriter& writer, Nest& nest,
                                  hlo::InstructionId id);
absl::Status WriteScatter(KernelWriter& writer, Nest& nest,
                          hlo::InstructionId id);
absl::Status WriteSort(KernelWriter& writer, Nest& nest, hlo::InstructionId id);
absl::Status WriteTopK(KernelWriter& writer, Nest& nest, hlo::InstructionId id);

// Each returns one element of a value that is not elementwise.

// Requires that the widths of the types differ.
absl::StatusOr<ExpressionPtr> ReadBitcastConvert(KernelWriter& writer,
                                                 Nest& nest, ValueId value,
                                                 const Indices& indices);
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

// Returns `index`, of type s64, clamped to 0 … greatest.
ExpressionPtr ClampedStart(ExpressionPtr index, int64_t greatest);

// Returns `inside` where all `ranges` hold, else `outside`. Drops ranges that
// always hold.
ExpressionPtr WhereInside(const Nest& nest, std::vector<Range> ranges,
                          ExpressionPtr inside, ExpressionPtr outside);

// Stores `values`, which may read the targets: all values are computed before
// the first store. `predicate` may be null.
void StoreTogether(KernelWriter& writer, Nest& nest,
                   absl::Span<const Access> targets,
                   std::vector<ExpressionPtr> values,
                   const ExpressionPtr& predicate);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_FAMILIES_H_
