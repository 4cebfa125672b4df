#ifndef HONE_HLO_EQUIVALENCE_INFLUENCE_H_
#define HONE_HLO_EQUIVALENCE_INFLUENCE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// A set of scalar parameters of the entry: bit i stands for the i-th of them;
// the 64th and later ones share a bit.
using ScalarSet = uint64_t;

// The scalar parameters that each value may depend on, through data or through
// the control flow that makes it.
class Influence {
 public:
  // `scalars` are the numbers of the entry's scalar parameters.
  Influence(const Module& module, absl::Span<const size_t> scalars);

  ScalarSet Of(ComputationId computation, InstructionId id) const;

 private:
  // One set for each element of a tuple, one for anything else.
  using Value = std::vector<ScalarSet>;
  using Values = std::vector<Value>;

  Value Visit(ComputationId id, const Values& arguments);
  Value VisitInstruction(const Computation& computation,
                         const Instruction& instruction, const Values& values);
  Value VisitWhile(const Instruction& loop, Value state);

  const Module& module_;
  // By computation, of what it was run with so far.
  absl::flat_hash_map<ComputationId, Values> values_;
};

// The numbers of the entry's parameters that are one real number each.
std::vector<size_t> ScalarParameters(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_INFLUENCE_H_
