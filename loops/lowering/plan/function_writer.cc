#include "loops/lowering/plan/function_writer.h"

#include <utility>

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/plan/buffer_assignment.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;

// Values that functions pass on without computing them must be in slots.
std::vector<ValueId> MustStore(const ValueGraph& graph) {
  std::vector<ValueId> values = graph.results();
  for (InstructionId id : graph.order()) {
    if (FormOf(graph.computation()[id]) != Form::kControlFlow) continue;
    const std::vector<ValueId>& operands = graph.operands(id);
    values.insert(values.end(), operands.begin(), operands.end());
  }
  std::vector<ValueId> sources;
  for (ValueId value : values) {
    const ValueId source = graph.Source(value);
    if (FormOf(graph.instruction(source)) != Form::kGiven) {
      sources.push_back(source);
    }
  }
  return sources;
}

std::vector<int32_t> CountUses(const ValueGraph& graph) {
  std::vector<int32_t> uses(static_cast<size_t>(graph.size()));
  for (InstructionId id : graph.order()) {
    for (ValueId operand : graph.operands(id)) {
      ++uses[static_cast<size_t>(operand)];
    }
  }
  for (ValueId result : graph.results()) ++uses[static_cast<size_t>(result)];
  return uses;
}

// Writes one kernel: values of other kernels are its arguments, the arrays of
// its last instruction its results, and everything else is local.
class ClusterWriter final : public KernelWriter {
 public:
  ClusterWriter(FunctionWriter& function, const Clusters& clusters,
                const ValueGraph& graph, Fusion& fusion, Program& program,
                InstructionId root)
      : KernelWriter(graph, fusion, program),
        function_(function),
        clusters_(clusters),
        root_(root) {}

  absl::Status Run() {
    for (InstructionId id : clusters_.members(root_)) {
      HONE_RETURN_IF_ERROR(WriteOnce(id));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<BufferId> BufferToRead(ValueId value) override {
    const InstructionId id = graph()[value].instruction;
    const Form form = FormOf(graph().computation()[id]);
    const bool is_ours =
        clusters_.IsWritten(id)
            ? clusters_.root(id) == root_
            // A value that turned out to need storage here.
            : form == Form::kExpression || form == Form::kLoops;
    if (is_ours) {
      HONE_RETURN_IF_ERROR(WriteOnce(id));
      return buffers_.at(value);
    }
    HONE_ASSIGN_OR_RETURN(const SlotId slot, function_.SlotToRead(value));
    const auto [at, is_new] = arguments_.try_emplace(slot, 0);
    if (is_new) {
      at->second = AddBuffer(value, Memory::kArgument,
                             static_cast<int32_t>(argument_slots_.size()));
      argument_slots_.push_back(slot);
    }
    return at->second;
  }

  BufferId BufferToWrite(ValueId value) override { return buffers_.at(value); }

  // Slots in the order of the arguments.
  const std::vector<SlotId>& argument_slots() const { return argument_slots_; }

 private:
  absl::Status WriteOnce(InstructionId id) {
    if (!written_.insert(id).second) return absl::OkStatus();
    for (ValueId leaf : graph().leaves(id)) {
      fusion().Store(leaf);
      const BufferId buffer =
          AddBuffer(leaf, id == root_ ? Memory::kResult : Memory::kHeap,
                    id == root_ ? graph()[leaf].leaf : 0);
      if (id != root_) program().mutable_locals().push_back(buffer);
      buffers_.emplace(leaf, buffer);
    }
    return Write(id);
  }

  BufferId AddBuffer(ValueId value, Memory memory, int32_t number) {
    Buffer buffer;
    buffer.name = names().Unique(graph().instruction(value).name());
    buffer.type = graph().type(value);
    buffer.dimensions = graph().dimensions(value);
    buffer.strides = DenseStrides(buffer.dimensions);
    buffer.memory = memory;
    buffer.number = number;
    return program().AddBuffer(std::move(buffer));
  }

  FunctionWriter& function_;
  const Clusters& clusters_;
  const InstructionId root_;
  absl::flat_hash_set<InstructionId> written_;
  absl::flat_hash_map<ValueId, BufferId> buffers_;
  absl::flat_hash_map<SlotId, BufferId> arguments_;
  std::vector<SlotId> argument_slots_;
};

}  // namespace

FunctionWriter::FunctionWriter(PlanWriter& plan, const ValueGraph& graph)
    : plan_(plan),
      graph_(graph),
      uses_(CountUses(graph)),
      fusion_(graph, MustStore(graph)),
      clusters_(graph, fusion_) {
  function_.name = graph.computation().name();
  for (ValueId parameter : graph.parameters()) {
    const SlotId slot = AddSlot(graph[parameter].shape, Home::kParameter);
    slots_.emplace(parameter, slot);
    function_.parameters.push_back(slot);
  }
}

SlotId FunctionWriter::AddSlot(hlo::ShapePtr shape, Home home) {
  function_.slots.push_back({.shape = std::move(shape), .literal = nullptr});
  homes_.push_back(home);
  return static_cast<SlotId>(function_.slots.size() - 1);
}

absl::StatusOr<SlotId> FunctionWriter::SlotToRead(ValueId value) {
  value = graph_.Source(value);
  const InstructionId id = graph_[value].instruction;
  const hlo::Instruction& instruction = graph_.computation()[id];
  if (instruction.opcode() == Opcode::kConstant && !slots_.contains(value)) {
    if (instruction.literal()->is_elided()) {
      return Unsupported(instruction, "its value is elided");
    }
    const SlotId slot = AddSlot(graph_[value].shape, Home::kConstant);
    function_.slots.back().literal = instruction.literal();
    slots_.emplace(value, slot);
  } else if (FormOf(instruction) != Form::kGiven &&
             written_.insert(id).second) {
    if (instruction.opcode() == Opcode::kWhile) {
      HONE_RETURN_IF_ERROR(WriteWhile(id));
    } else if (instruction.opcode() == Opcode::kConditional) {
      HONE_RETURN_IF_ERROR(WriteConditional(id));
    } else {
      HONE_RETURN_IF_ERROR(WriteKernel(id));
    }
  }
  return slots_.at(value);
}

absl::Status FunctionWriter::WriteSteps() {
  for (InstructionId id : graph_.order()) {
    const Form form = FormOf(graph_.computation()[id]);
    if (form == Form::kUnsupported) {
      return Unsupported(graph_.computation()[id]);
    }
    if (form != Form::kControlFlow && clusters_.root(id) != id) continue;
    for (ValueId value : graph_.leaves(id)) {
      HONE_RETURN_IF_ERROR(SlotToRead(value).status());
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionWriter::WriteKernel(InstructionId root) {
  KernelStep step;
  for (ValueId leaf : graph_.leaves(root)) {
    const SlotId slot = AddSlot(graph_[leaf].shape, Home::kArena);
    slots_.emplace(leaf, slot);
    step.results.push_back(slot);
  }
  Program program(plan_.KernelName(graph_.computation()[root].name()));
  ClusterWriter writer(*this, clusters_, graph_, fusion_, program, root);
  HONE_RETURN_IF_ERROR(writer.Run());
  step.arguments = writer.argument_slots();
  step.kernel = plan_.AddKernel(std::move(program));
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

// Returns true if a single operand, reshaped or not, is the only use of its
// bytes.
bool FunctionWriter::IsOnlyReadBy(ValueId operand) const {
  while (true) {
    if (uses_[static_cast<size_t>(operand)] != 1) return false;
    if (!IsSameBytes(graph_.instruction(operand).opcode())) return true;
    operand = graph_.operand(operand, 0);
  }
}

absl::Status FunctionWriter::WriteWhile(InstructionId id) {
  const hlo::Instruction& instruction = graph_.computation()[id];
  HONE_ASSIGN_OR_RETURN(const PlanWriter::Function condition,
                        plan_.FunctionFor(instruction.called()[0], false));
  HONE_ASSIGN_OR_RETURN(const PlanWriter::Function body,
                        plan_.FunctionFor(instruction.called()[1], true));
  WhileStep step;
  step.condition = condition.index;
  step.body = body.index;
  const std::vector<ValueId>& operands = graph_.operands(id);
  const absl::Span<const ValueId> leaves = graph_.leaves(id);
  for (size_t i = 0; i < operands.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const SlotId init, SlotToRead(operands[i]));
    SlotId state = init;
    if (body.passes_on[i]) {
      shared_.insert(init);
    } else if (home(init) != Home::kArena || shared_.contains(init) ||
               !IsOnlyReadBy(operands[i])) {
      state = AddSlot(graph_[leaves[i]].shape, Home::kArena);
      function_.steps.emplace_back(CopyStep{init, state});
    }
    slots_.emplace(leaves[i], state);
    step.state.push_back(state);
  }
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

absl::Status FunctionWriter::WriteConditional(InstructionId id) {
  const hlo::Instruction& instruction = graph_.computation()[id];
  ConditionalStep step;
  HONE_ASSIGN_OR_RETURN(step.selector, SlotToRead(graph_.operands(id)[0]));
  for (size_t i = 0; i < instruction.called().size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const PlanWriter::Function branch,
                          plan_.FunctionFor(instruction.called()[i], false));
    step.branches.push_back(branch.index);
    std::vector<SlotId>& arguments = step.arguments.emplace_back();
    for (ValueId leaf : graph_.leaves(instruction.operand(1 + i))) {
      HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(leaf));
      arguments.push_back(slot);
    }
  }
  for (ValueId leaf : graph_.leaves(id)) {
    const SlotId slot = AddSlot(graph_[leaf].shape, Home::kArena);
    slots_.emplace(leaf, slot);
    step.results.push_back(slot);
  }
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

// Makes `slot` itself the result if it may be, else copies it.
void FunctionWriter::AddResult(ValueId result, SlotId slot) {
  if (home(slot) == Home::kArena) {
    home(slot) = Home::kResult;
    function_.slots[static_cast<size_t>(slot)].shape = graph_[result].shape;
    function_.results.push_back(slot);
    return;
  }
  const SlotId copy = AddSlot(graph_[result].shape, Home::kResult);
  function_.steps.emplace_back(CopyStep{slot, copy});
  function_.results.push_back(copy);
}

PlanFunction FunctionWriter::Finish() {
  std::vector<bool> in_arena;
  in_arena.reserve(homes_.size());
  for (Home home : homes_) in_arena.push_back(home == Home::kArena);
  AssignArena(function_, in_arena);
  return std::move(function_);
}

absl::StatusOr<PlanFunction> FunctionWriter::Write() {
  HONE_RETURN_IF_ERROR(WriteSteps());
  for (ValueId result : graph_.results()) {
    HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(result));
    AddResult(result, slot);
  }
  return Finish();
}

absl::StatusOr<PlanFunction> FunctionWriter::WriteBody() {
  HONE_RETURN_IF_ERROR(WriteSteps());
  for (size_t i = 0; i < graph_.results().size(); ++i) {
    const ValueId result = graph_.results()[i];
    HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(result));
    if (slot == function_.parameters[i]) {
      function_.results.push_back(AddSlot(graph_[result].shape, Home::kResult));
    } else {
      AddResult(result, slot);
    }
  }
  return Finish();
}

}  // namespace hone::loops
