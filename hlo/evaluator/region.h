#ifndef HONE_HLO_EVALUATOR_REGION_H_
#define HONE_HLO_EVALUATOR_REGION_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "hlo/evaluator/context.h"
#include "hlo/evaluator/elementwise/program.h"

namespace hone::hlo::evaluator {

// The opcode of a region that is just `op(parameter 0, parameter 1)` over one
// of add, multiply, maximum, minimum, and, or; nullopt for other regions.
std::optional<Opcode> SimpleReducer(const Module& module, ComputationId id);

// The direction of a region that only compares parameter 0 with parameter 1;
// nullopt for other regions.
struct SimpleComparison {
  ComparisonDirection direction;
  bool total_order = false;
};
std::optional<SimpleComparison> SimpleComparator(const Module& module,
                                                 ComputationId id);

// A computation over scalars that an instruction applies to many elements
// (reduce, scatter, sort, …). Compiled once if it is elementwise arithmetic, as
// nearly all are; evaluated instruction by instruction otherwise.
// Threads: one thread calls.
class Region {
 public:
  Region(Context& context, ComputationId id);

  // Applies the region to elements [0, n) of each parameter; results are
  // written in the order of the root tuple. `is_splat` parameters stand still.
  absl::Status Apply(absl::Span<const ElementwiseProgram::Input> parameters,
                     absl::Span<std::byte* const> results, int64_t n);

 private:
  absl::Status ApplyGeneral(
      absl::Span<const ElementwiseProgram::Input> parameters,
      absl::Span<std::byte* const> results, int64_t n);

  Context& context_;
  const ComputationId id_;
  std::optional<ElementwiseProgram> program_;
  std::optional<ElementwiseProgram::Workspace> block_workspace_;
  std::optional<ElementwiseProgram::Workspace> scalar_workspace_;
  // For ApplyGeneral: results are collected here before any is written, since
  // they may overwrite parameters.
  std::vector<std::vector<std::byte>> collected_;
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_REGION_H_
