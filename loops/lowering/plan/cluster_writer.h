#ifndef HONE_LOOPS_LOWERING_PLAN_CLUSTER_WRITER_H_
#define HONE_LOOPS_LOWERING_PLAN_CLUSTER_WRITER_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "loops/lowering/graph/clusters.h"
#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Writes one kernel: values of other kernels are its arguments, the arrays of
// its last instruction its results, and everything else is local.
class ClusterWriter final : public KernelWriter {
 public:
  // Returns the slot of a value; may first write the step that computes it.
  using SlotToRead = absl::FunctionRef<absl::StatusOr<SlotId>(ValueId)>;
  // For each array of the last instruction: the slot of the operand that it is
  // updated in, or -1 if it gets memory of its own.
  using InPlace = std::vector<SlotId>;

  // The references and `slot_to_read` must outlive this object.
  ClusterWriter(const ValueGraph& graph, const Clusters& clusters,
                Fusion& fusion, Program& program, hlo::InstructionId root,
                const InPlace& in_place, SlotToRead slot_to_read)
      : KernelWriter(graph, fusion, program),
        clusters_(clusters),
        root_(root),
        in_place_(in_place),
        slot_to_read_(slot_to_read) {}

  absl::Status Run();

  // Slots in the order of the arguments.
  const std::vector<SlotId>& argument_slots() const { return argument_slots_; }

  absl::StatusOr<BufferId> BufferToRead(ValueId value) override;
  BufferId BufferToWrite(ValueId value) override { return buffers_.at(value); }
  bool UpdatesInPlace(ValueId value) const override {
    return SlotUpdatedBy(value) >= 0;
  }

 private:
  SlotId SlotUpdatedBy(ValueId value) const;
  absl::Status WriteOnce(hlo::InstructionId id);
  BufferId AddBuffer(ValueId value, Memory memory, int32_t number);

  const Clusters& clusters_;
  const hlo::InstructionId root_;
  const InPlace& in_place_;
  const SlotToRead slot_to_read_;
  absl::flat_hash_set<hlo::InstructionId> written_;
  absl::flat_hash_map<ValueId, BufferId> buffers_;
  // The buffers of slots of other kernels.
  absl::flat_hash_map<SlotId, BufferId> arguments_;
  std::vector<SlotId> argument_slots_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_CLUSTER_WRITER_H_
