// while-loop-trip-count-annotator: writes down how often loops run.
//
//   while(t), of which FindCountedLoop knows the trip count
//     →  while(t), backend_config={"known_trip_count":{"n":"12"}, …}
//   get-tuple-element(while(t)) of its counter, a progression
//     →  the constant it ends with
//
// Legal always, and a cost model counts the body that often; but whatever
// changes a counter afterwards must look after the annotation, so this goes
// last. An annotation that is there already is replaced when it says something
// else. Ends of control dependencies keep reading the counter, and scheduled
// modules are left alone.

#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/control_flow/loop_annotation.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

struct KnownLoop {
  InstructionId id;
  CountedLoop counted;
};

std::vector<KnownLoop> FindKnownLoops(const Module& module,
                                      const Computation& computation) {
  std::vector<KnownLoop> loops;
  for (InstructionId id = 0; id < computation.slot_count(); ++id) {
    if (!computation[id].is_live() ||
        computation[id].opcode() != Opcode::kWhile) {
      continue;
    }
    if (auto counted = FindCountedLoop(module, computation, id)) {
      loops.push_back({id, *std::move(counted)});
    }
  }
  return loops;
}

bool Annotate(Module& module, ComputationId c, const KnownLoop& loop) {
  Instruction annotated = module.computation(c)[loop.id];
  if (!SetLoopAnnotation(annotated, LoopAnnotation(loop.counted))) return false;
  module.mutable_computation(c).mutable_instruction(loop.id).set_attributes(
      annotated.attributes_ptr());
  return true;
}

bool ForwardFinalValue(Module& module, ComputationId c, const KnownLoop& loop) {
  if (!loop.counted.progression.has_value()) return false;
  const Computation& shared = module.computation(c);
  std::vector<InstructionId> reads;
  for (InstructionId user : shared[loop.id].users()) {
    if (shared[user].opcode() == Opcode::kGetTupleElement &&
        shared[user].index() == loop.counted.element &&
        !shared.HasControlDependency(user)) {
      reads.push_back(user);
    }
  }
  if (reads.empty()) return false;
  const auto& [init, step] = *loop.counted.progression;
  const ElementType type = shared[reads[0]].shape().element_type();
  Computation& computation = module.mutable_computation(c);
  const InstructionId value = computation.AddInstruction(Instruction::Constant(
      Literal::ScalarInt(type, init + step * loop.counted.trip_count)));
  for (InstructionId read : reads) {
    computation.ReplaceAllUses(read, value);
    computation.Remove(read);
  }
  return true;
}

class WhileLoopTripCountAnnotator final : public Pass {
 public:
  absl::string_view name() const override {
    return "while-loop-trip-count-annotator";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      for (const KnownLoop& loop :
           FindKnownLoops(module, module.computation(c))) {
        changed |= Annotate(module, c, loop);
        changed |= ForwardFinalValue(module, c, loop);
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopTripCountAnnotator() {
  return std::make_unique<WhileLoopTripCountAnnotator>();
}

}  // namespace hone::hlo
