// broadcast_canonicalizer: leaves only broadcasts whose dimensions ascend.
//
//   b = f32[4,3,2] broadcast(f32[2,4] p), dimensions={2,0}
//   →
//   b' = f32[2,3,4] broadcast(p), dimensions={0,2}
//   b  = f32[4,3,2] transpose(b'), dimensions={2,1,0}
//
// Legal always. Numeric class: exact. Adds an instruction, for code generators
// and passes that know ascending dimensions only: not for the operation count.

#include <algorithm>
#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool Canonicalize(Rewriter& r, InstructionId id) {
  const DimensionVector& mapping = r[id].dimensions();
  if (std::is_sorted(mapping.begin(), mapping.end())) return false;
  DimensionVector ascending = mapping;
  std::sort(ascending.begin(), ascending.end());
  // Operand dimension i moves from result dimension mapping[i] to ascending[i].
  DimensionVector sizes = r.dimensions_of(id);
  DimensionVector permutation = IdentityPermutation(r.shape(id).rank());
  for (size_t i = 0; i < mapping.size(); ++i) {
    sizes[static_cast<size_t>(ascending[i])] =
        r.shape(id).dimension(mapping[i]);
    permutation[static_cast<size_t>(mapping[i])] = ascending[i];
  }
  const InstructionId sorted =
      MakeBroadcast(r, r.operand(id, 0), sizes, ascending);
  return r.Replace(id, MakeTranspose(r, sorted, permutation));
}

}  // namespace

std::unique_ptr<Pass> MakeBroadcastCanonicalizer() {
  return MakeRulePass(
      {.name = "broadcast_canonicalizer", .opcodes = {Opcode::kBroadcast}},
      Canonicalize);
}

}  // namespace hone::hlo
