#ifndef HONE_LOOPS_LOWERING_PLAN_SLOT_VALUES_H_
#define HONE_LOOPS_LOWERING_PLAN_SLOT_VALUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "hlo/ir/id_map.h"
#include "loops/lowering/graph/clusters.h"
#include "loops/lowering/graph/value_graph.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Keeps which slot holds which values while the steps of a function are
// written, one after the other, and which steps still have to read them: a slot
// whose values nobody else reads may be overwritten.
class SlotValues {
 public:
  // The arguments must outlive this object.
  SlotValues(const ValueGraph& graph, const Clusters& clusters);

  // Notes that `slot` holds `value`, besides what it holds already.
  void Add(ValueId value, SlotId slot);
  // Notes that `slot` no longer holds its other values, but `value`.
  void Overwrite(SlotId slot, ValueId value);

  // The slot of a value; nullopt if it has none yet.
  std::optional<SlotId> Find(ValueId value) const;

  // Call when the writing of a step begins and ends; a step is known by its
  // user (Clusters::VisitUsers). Steps nest: the one that began last ends
  // first. Begin returns false if it has begun before.
  bool Begin(hlo::InstructionId user);
  void End();

  // Returns the steps that must be written before step `user`, which has begun,
  // may overwrite what `slot` holds now; nullopt if it may not: a value of the
  // slot is a result, or read by a step that has begun but not ended, or that
  // depends on one. Writing one of the steps may add values to the slot.
  std::optional<std::vector<hlo::InstructionId>> ReadersBefore(
      SlotId slot, hlo::InstructionId user) const;

  // Returns true if computing an element of `value`, which has no slot, reads
  // `slot`.
  bool Reads(ValueId value, SlotId slot) const;

 private:
  // Returns true if `user` is or depends on a step that has begun but not
  // ended. Conservative: also true if there is too much in between to tell.
  bool WaitsForOpen(hlo::InstructionId user) const;

  const ValueGraph& graph_;
  const Clusters& clusters_;
  // The positions of instructions in ValueGraph::order.
  hlo::IdMap<int32_t> positions_;
  absl::flat_hash_map<ValueId, SlotId> slots_;
  absl::flat_hash_map<SlotId, std::vector<ValueId>> values_;
  absl::flat_hash_set<hlo::InstructionId> begun_;
  // Those of them that have not ended, in order.
  std::vector<hlo::InstructionId> open_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_SLOT_VALUES_H_
