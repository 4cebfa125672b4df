#include "hlo/analysis/op_count.h"

#include <limits>
#include <vector>

namespace hone::hlo {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  return a > std::numeric_limits<int64_t>::max() - b
             ? std::numeric_limits<int64_t>::max()
             : a + b;
}

}  // namespace

int64_t CountOps(const Module& module) {
  std::vector<int64_t> counts(static_cast<size_t>(module.computation_slots()),
                              0);
  // Callees first, so that each computation is counted once however often it
  // is called.
  for (ComputationId id : module.ComputationPostOrder()) {
    int64_t count = 0;
    for (const Instruction& instruction :
         module.computation(id).instructions()) {
      switch (instruction.opcode()) {
        case Opcode::kAsyncStart:
        case Opcode::kConditional:
        case Opcode::kWhile:
          count = SaturatingAdd(count, 1);
          [[fallthrough]];
        case Opcode::kCall:
        case Opcode::kFusion:
          for (ComputationId callee : instruction.called()) {
            count = SaturatingAdd(count, counts[static_cast<size_t>(callee)]);
          }
          break;
        default:
          count = SaturatingAdd(count, 1);
      }
    }
    counts[static_cast<size_t>(id)] = count;
  }
  return counts[static_cast<size_t>(module.entry())];
}

}  // namespace hone::hlo
