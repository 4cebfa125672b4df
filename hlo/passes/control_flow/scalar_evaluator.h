#ifndef HONE_HLO_PASSES_CONTROL_FLOW_SCALAR_EVALUATOR_H_
#define HONE_HLO_PASSES_CONTROL_FLOW_SCALAR_EVALUATOR_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// Elements of a loop's state whose value is known.
using Elements = absl::flat_hash_map<int32_t, Literal>;

// Computes scalars of a loop's body or condition from elements of its
// parameter, or of any computation from constants: elementwise arithmetic, a
// few instructions deep.
class ScalarEvaluator {
 public:
  // All arguments outlive this.
  ScalarEvaluator(const Module& module, const Computation& computation,
                  const Elements& elements)
      : module_(module), computation_(computation), elements_(elements) {}

  // The value of `id`; nullopt if it is not known.
  std::optional<Literal> Value(InstructionId id) { return Value(id, 0); }
  // The number of instructions that it has looked at.
  int64_t visited() const { return static_cast<int64_t>(values_.size()); }

 private:
  std::optional<Literal> Value(InstructionId id, int depth);
  std::optional<Literal> Compute(InstructionId id, int depth);

  const Module& module_;
  const Computation& computation_;
  const Elements& elements_;
  absl::flat_hash_map<InstructionId, std::optional<Literal>> values_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_CONTROL_FLOW_SCALAR_EVALUATOR_H_
