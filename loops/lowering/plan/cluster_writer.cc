#include "loops/lowering/plan/cluster_writer.h"

#include <utility>

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {

using hlo::InstructionId;

absl::Status ClusterWriter::Run() {
  for (InstructionId id : clusters_.members(root_)) {
    HONE_RETURN_IF_ERROR(WriteOnce(id));
  }
  return absl::OkStatus();
}

SlotId ClusterWriter::SlotUpdatedBy(ValueId value) const {
  const Value& what = graph()[value];
  return what.instruction == root_ ? in_place_[static_cast<size_t>(what.leaf)]
                                   : -1;
}

absl::StatusOr<BufferId> ClusterWriter::BufferToRead(ValueId value) {
  const InstructionId id = graph()[value].instruction;
  const Form form = FormOf(graph().computation()[id]);
  const bool is_ours = clusters_.IsWritten(id)
                           ? clusters_.root(id) == root_
                           // A value that turned out to need storage here.
                           : form == Form::kExpression || form == Form::kLoops;
  if (is_ours) {
    HONE_RETURN_IF_ERROR(WriteOnce(id));
    return buffers_.at(value);
  }
  HONE_ASSIGN_OR_RETURN(const SlotId slot, slot_to_read_(value));
  const auto [at, is_new] = arguments_.try_emplace(slot, 0);
  if (is_new) {
    at->second = AddBuffer(value, Memory::kArgument,
                           static_cast<int32_t>(argument_slots_.size()));
    argument_slots_.push_back(slot);
  }
  return at->second;
}

absl::Status ClusterWriter::WriteOnce(InstructionId id) {
  if (!written_.insert(id).second) return absl::OkStatus();
  for (ValueId leaf : graph().leaves(id)) {
    fusion().Store(leaf);
    const bool is_result = id == root_;
    const SlotId updated = SlotUpdatedBy(leaf);
    const Memory memory = updated >= 0 ? Memory::kInOut
                          : is_result  ? Memory::kResult
                                       : Memory::kHeap;
    const BufferId buffer =
        AddBuffer(leaf, memory, is_result ? graph()[leaf].leaf : 0);
    if (!is_result) program().mutable_locals().push_back(buffer);
    // Reads of the operand precede the update.
    if (updated >= 0) arguments_.emplace(updated, buffer);
    buffers_.emplace(leaf, buffer);
  }
  return Write(id);
}

BufferId ClusterWriter::AddBuffer(ValueId value, Memory memory,
                                  int32_t number) {
  Buffer buffer;
  buffer.name = names().Unique(graph().instruction(value).name());
  buffer.type = graph().type(value);
  buffer.dimensions = graph().dimensions(value);
  buffer.strides = DenseStrides(buffer.dimensions);
  buffer.memory = memory;
  buffer.number = number;
  return program().AddBuffer(std::move(buffer));
}

}  // namespace hone::loops
