#ifndef HONE_LOOPS_LOWERING_PLAN_FUNCTION_WRITER_H_
#define HONE_LOOPS_LOWERING_PLAN_FUNCTION_WRITER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "loops/lowering/graph/clusters.h"
#include "loops/lowering/graph/fusion.h"
#include "loops/lowering/graph/value_graph.h"
#include "loops/lowering/plan/module_plan.h"
#include "loops/lowering/plan/plan_writer.h"

namespace hone::loops {

// Writes one computation as a function of a plan: one kernel per cluster of
// stored instructions, operands first.
class FunctionWriter {
 public:
  FunctionWriter(PlanWriter& plan, const ValueGraph& graph);

  absl::StatusOr<PlanFunction> Write();
  // Writes the body of a while, which does not copy the state it passes
  // through.
  absl::StatusOr<PlanFunction> WriteBody();

  // Returns the slot that holds the source of a value's bytes; first writes the
  // instruction that computes it if that has not been done yet.
  // Errors: as LowerToPlan.
  absl::StatusOr<SlotId> SlotToRead(ValueId value);
  const Slot& slot(SlotId id) const {
    return function_.slots[static_cast<size_t>(id)];
  }

 private:
  // The owner of the bytes of a slot.
  enum class Home : uint8_t { kArena, kParameter, kConstant, kResult };

  SlotId AddSlot(hlo::ShapePtr shape, Home home);
  Home& home(SlotId slot) { return homes_[static_cast<size_t>(slot)]; }
  absl::Status WriteSteps();
  absl::Status WriteKernel(hlo::InstructionId root);
  absl::Status WriteWhile(hlo::InstructionId id);
  absl::Status WriteConditional(hlo::InstructionId id);
  bool IsOnlyReadBy(ValueId operand) const;
  void AddResult(ValueId result, SlotId slot);
  PlanFunction Finish();

  PlanWriter& plan_;
  const ValueGraph& graph_;
  std::vector<int32_t> uses_;  // of each value, as operand or result
  Fusion fusion_;
  const Clusters clusters_;
  PlanFunction function_;
  std::vector<Home> homes_;
  absl::flat_hash_map<ValueId, SlotId> slots_;
  absl::flat_hash_set<hlo::InstructionId> written_;
  // Slots that hold more than one value.
  absl::flat_hash_set<SlotId> shared_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_FUNCTION_WRITER_H_
