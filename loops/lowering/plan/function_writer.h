#ifndef HONE_LOOPS_LOWERING_PLAN_FUNCTION_WRITER_H_
#define HONE_LOOPS_LOWERING_PLAN_FUNCTION_WRITER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/lowering/graph/clusters.h"
#include "loops/lowering/graph/fusion.h"
#include "loops/lowering/graph/value_graph.h"
#include "loops/lowering/plan/module_plan.h"
#include "loops/lowering/plan/plan_writer.h"
#include "loops/lowering/plan/slot_values.h"

namespace hone::loops {

// Writes one computation as a function of a plan: one kernel per cluster of
// stored instructions, operands first.
class FunctionWriter {
 public:
  // The arguments must outlive this object.
  FunctionWriter(PlanWriter& plan, const ValueGraph& graph,
                 const PlanWriter::Use& use);

  // Errors: as LowerToPlan.
  absl::StatusOr<PlanFunction> Write();

 private:
  // The owner of the bytes of a slot.
  enum class Home : uint8_t { kArena, kParameter, kConstant, kResult };

  SlotId AddSlot(hlo::ShapePtr shape, Home home);
  SlotId AddScratch(absl::Span<const int32_t> functions);
  Home& home(SlotId slot) { return homes_[static_cast<size_t>(slot)]; }
  // Returns the slot that holds the source of a value's bytes; first writes the
  // instruction that computes it if that has not been done yet.
  absl::StatusOr<SlotId> SlotToRead(ValueId value);
  absl::StatusOr<bool> Reclaim(SlotId slot, hlo::InstructionId user);
  absl::StatusOr<std::vector<SlotId>> SlotsToUpdate(hlo::InstructionId root);
  absl::Status WriteSteps();
  // Writes the step of a kernel's root, or of control flow, unless that has
  // been done.
  absl::Status WriteStep(hlo::InstructionId id);
  absl::Status WriteKernel(hlo::InstructionId root);
  absl::Status WriteLibraryCall(hlo::InstructionId id);
  absl::Status WriteWhile(hlo::InstructionId id);
  absl::Status WriteConditional(hlo::InstructionId id);
  // Returns, for each result of a conditional, the slot of the value that all
  // branches may update in place, or -1.
  absl::StatusOr<std::vector<SlotId>> SlotsToUpdate(
      hlo::InstructionId id, const ConditionalStep& step);
  // Returns true if the function may overwrite what its caller passed there.
  bool Owns(SlotId slot) const;
  absl::Status AddResults();
  SlotId ResultFrom(ValueId result, SlotId slot);
  PlanFunction Finish();

  PlanWriter& plan_;
  const ValueGraph& graph_;
  const PlanWriter::Use& use_;
  Fusion fusion_;
  const Clusters clusters_;
  SlotValues values_;
  PlanFunction function_;
  std::vector<Home> homes_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_FUNCTION_WRITER_H_
