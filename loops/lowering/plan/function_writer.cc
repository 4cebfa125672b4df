#include "loops/lowering/plan/function_writer.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/plan/buffer_assignment.h"
#include "loops/lowering/plan/cluster_writer.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;

// Values that functions pass on without computing them must be in slots.
std::vector<ValueId> MustStore(const ValueGraph& graph) {
  std::vector<ValueId> values = graph.results();
  for (InstructionId id : graph.order()) {
    if (!IsPlanStep(FormOf(graph.computation()[id]))) continue;
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

}  // namespace

FunctionWriter::FunctionWriter(PlanWriter& plan, const ValueGraph& graph,
                               const PlanWriter::Use& use)
    : plan_(plan),
      graph_(graph),
      use_(use),
      fusion_(graph, MustStore(graph)),
      clusters_(graph, fusion_),
      values_(graph, clusters_) {
  function_.name = graph.computation().name();
  for (ValueId parameter : graph.parameters()) {
    const SlotId slot = AddSlot(graph[parameter].shape, Home::kParameter);
    values_.Add(parameter, slot);
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
  if (instruction.opcode() == Opcode::kConstant && !values_.Find(value)) {
    if (instruction.literal()->is_elided()) {
      return Unsupported(instruction, "its value is elided");
    }
    const SlotId slot = AddSlot(graph_[value].shape, Home::kConstant);
    function_.slots.back().literal = instruction.literal();
    values_.Add(value, slot);
  } else if (FormOf(instruction) != Form::kGiven) {
    HONE_RETURN_IF_ERROR(WriteStep(id));
  }
  return *values_.Find(value);
}

absl::Status FunctionWriter::WriteStep(InstructionId id) {
  if (!values_.Begin(id)) return absl::OkStatus();
  const hlo::Instruction& instruction = graph_.computation()[id];
  const bool is_while = instruction.opcode() == Opcode::kWhile;
  switch (FormOf(instruction)) {
    case Form::kControlFlow:
      HONE_RETURN_IF_ERROR(is_while ? WriteWhile(id) : WriteConditional(id));
      break;
    case Form::kLibrary:
      HONE_RETURN_IF_ERROR(WriteLibraryCall(id));
      break;
    default:
      HONE_RETURN_IF_ERROR(WriteKernel(id));
  }
  values_.End();
  return absl::OkStatus();
}

absl::Status FunctionWriter::WriteSteps() {
  for (InstructionId id : graph_.order()) {
    const Form form = FormOf(graph_.computation()[id]);
    if (form == Form::kUnsupported) {
      return Unsupported(graph_.computation()[id]);
    }
    if (!IsPlanStep(form) && clusters_.root(id) != id) continue;
    for (ValueId value : graph_.leaves(id)) {
      HONE_RETURN_IF_ERROR(SlotToRead(value).status());
    }
  }
  return absl::OkStatus();
}

bool FunctionWriter::Owns(SlotId slot) const {
  if (use_.is_body) return true;
  return std::any_of(
      use_.results_in.begin(), use_.results_in.end(), [&](int32_t number) {
        return number >= 0 &&
               function_.parameters[static_cast<size_t>(number)] == slot;
      });
}

// Returns true if `user` may overwrite `slot`; first writes the other steps
// that read what it holds now.
absl::StatusOr<bool> FunctionWriter::Reclaim(SlotId slot, InstructionId user) {
  const bool is_owned = home(slot) == Home::kArena ||
                        (home(slot) == Home::kParameter && Owns(slot));
  while (is_owned) {
    const auto readers = values_.ReadersBefore(slot, user);
    if (!readers.has_value()) return false;
    if (readers->empty()) return true;
    for (InstructionId reader : *readers) {
      HONE_RETURN_IF_ERROR(WriteStep(reader));
    }
  }
  return false;
}

// Returns the slots of the operands that the kernel of `root` may update in
// place: those of a dynamic-update-slice or scatter, unless what it writes or
// where depends on their elements in a way that cannot be computed before.
absl::StatusOr<std::vector<SlotId>> FunctionWriter::SlotsToUpdate(
    InstructionId root) {
  const size_t count = graph_.leaves(root).size();
  std::vector<SlotId> slots(count, -1);
  const Opcode opcode = graph_.computation()[root].opcode();
  if (opcode != Opcode::kDynamicUpdateSlice && opcode != Opcode::kScatter) {
    return slots;
  }
  const absl::Span<const ValueId> operands = graph_.operands(root);
  const absl::Span<const ValueId> updates = operands.subspan(count);
  for (size_t i = 0; i < count; ++i) {
    const ValueId operand = graph_.Source(operands[i]);
    const InstructionId id = graph_[operand].instruction;
    const hlo::Instruction& instruction = graph_.computation()[id];
    if (instruction.opcode() != Opcode::kParameter &&
        !IsPlanStep(FormOf(instruction)) && !clusters_.IsWritten(id)) {
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(operand));
    const bool is_update =
        std::any_of(updates.begin(), updates.end(), [&](ValueId update) {
          return values_.Find(graph_.Source(update)) == slot;
        });
    if (is_update || absl::c_linear_search(slots, slot)) continue;
    HONE_ASSIGN_OR_RETURN(const bool is_free, Reclaim(slot, root));
    if (!is_free) continue;
    slots[i] = slot;
    // Old elements are read before the first new one is written.
    for (ValueId update : updates) {
      const ValueId source = graph_.Source(update);
      if (values_.Reads(source, slot)) fusion_.Store(source);
    }
  }
  return slots;
}

absl::Status FunctionWriter::WriteKernel(InstructionId root) {
  HONE_ASSIGN_OR_RETURN(const std::vector<SlotId> in_place,
                        SlotsToUpdate(root));
  const absl::Span<const ValueId> leaves = graph_.leaves(root);
  Program program(plan_.KernelName(graph_.computation()[root].name()));
  const auto slot_to_read = [this](ValueId value) { return SlotToRead(value); };
  ClusterWriter writer(graph_, clusters_, fusion_, program, root, in_place,
                       slot_to_read);
  HONE_RETURN_IF_ERROR(writer.Run());
  KernelStep step;
  for (size_t i = 0; i < leaves.size(); ++i) {
    SlotId slot = in_place[i];
    if (slot >= 0) {
      values_.Overwrite(slot, leaves[i]);
    } else {
      slot = AddSlot(graph_[leaves[i]].shape, Home::kArena);
      values_.Add(leaves[i], slot);
    }
    step.results.push_back(slot);
  }
  step.arguments = writer.argument_slots();
  step.kernel = plan_.AddKernel(std::move(program));
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

absl::Status FunctionWriter::WriteLibraryCall(InstructionId id) {
  const hlo::Instruction& instruction = graph_.computation()[id];
  LibraryStep step;
  step.function = instruction.attributes().custom_call_target;
  step.attributes.assign(instruction.dimensions().begin(),
                         instruction.dimensions().end());
  for (ValueId operand : graph_.operands(id)) {
    HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(operand));
    step.arguments.push_back(slot);
  }
  for (ValueId leaf : graph_.leaves(id)) {
    const SlotId slot = AddSlot(graph_[leaf].shape, Home::kArena);
    values_.Add(leaf, slot);
    step.results.push_back(slot);
  }
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

// Returns a slot for the arenas of `functions`, which do not run at the same
// time; -1 if none needs one.
SlotId FunctionWriter::AddScratch(absl::Span<const int32_t> functions) {
  int64_t bytes = 0;
  for (int32_t function : functions) {
    bytes = std::max(
        bytes,
        plan_.plan().functions[static_cast<size_t>(function)].arena_bytes);
  }
  if (bytes == 0) return -1;
  return AddSlot(hlo::Shape::Array(hlo::ElementType::kU8, {bytes}),
                 Home::kArena);
}

absl::Status FunctionWriter::WriteWhile(InstructionId id) {
  const hlo::Instruction& instruction = graph_.computation()[id];
  HONE_ASSIGN_OR_RETURN(const PlanWriter::Function condition,
                        plan_.FunctionFor(instruction.called()[0], {}));
  HONE_ASSIGN_OR_RETURN(const PlanWriter::Function body,
                        plan_.FunctionFor(instruction.called()[1],
                                          {.is_body = true, .results_in = {}}));
  WhileStep step;
  step.condition = condition.index;
  step.body = body.index;
  const std::vector<ValueId>& operands = graph_.operands(id);
  const absl::Span<const ValueId> leaves = graph_.leaves(id);
  for (ValueId operand : operands) {
    HONE_ASSIGN_OR_RETURN(const SlotId init, SlotToRead(operand));
    step.state.push_back(init);
  }
  const std::vector<SlotId> inits = step.state;
  for (size_t i = 0; i < inits.size(); ++i) {
    if (body.passes_on[i]) {
      values_.Add(leaves[i], inits[i]);
      continue;
    }
    bool is_free = absl::c_count(inits, inits[i]) == 1;
    if (is_free) {
      HONE_ASSIGN_OR_RETURN(is_free, Reclaim(inits[i], id));
    }
    if (is_free) {
      values_.Overwrite(inits[i], leaves[i]);
    } else {
      step.state[i] = AddSlot(graph_[leaves[i]].shape, Home::kArena);
      values_.Add(leaves[i], step.state[i]);
      function_.steps.emplace_back(CopyStep{inits[i], step.state[i]});
    }
  }
  step.next = step.state;
  for (size_t i = 0; i < inits.size(); ++i) {
    if (body.keeps_address[i]) continue;
    step.next[i] = AddSlot(graph_[leaves[i]].shape, Home::kArena);
  }
  step.scratch = AddScratch({step.condition, step.body});
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SlotId>> FunctionWriter::SlotsToUpdate(
    InstructionId id, const ConditionalStep& step) {
  const hlo::Instruction& instruction = graph_.computation()[id];
  const size_t count = graph_.leaves(id).size();
  std::vector<SlotId> slots(count, -1);
  for (size_t branch = 0; branch < instruction.called().size(); ++branch) {
    HONE_ASSIGN_OR_RETURN(const std::vector<int32_t> origins,
                          plan_.OriginsOf(instruction.called()[branch]));
    const std::vector<SlotId>& arguments = step.arguments[branch];
    for (size_t i = 0; i < count; ++i) {
      const SlotId slot =
          origins[i] < 0 ? -1 : arguments[static_cast<size_t>(origins[i])];
      if (branch == 0) slots[i] = slot;
      // A branch that reads the array by another name must find it unchanged.
      if (slot != slots[i] || absl::c_count(arguments, slot) != 1) {
        slots[i] = -1;
      }
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (slots[i] < 0) continue;
    bool is_free =
        slots[i] != step.selector && absl::c_count(slots, slots[i]) == 1;
    if (is_free) {
      HONE_ASSIGN_OR_RETURN(is_free, Reclaim(slots[i], id));
    }
    if (!is_free) slots[i] = -1;
  }
  return slots;
}

absl::Status FunctionWriter::WriteConditional(InstructionId id) {
  const hlo::Instruction& instruction = graph_.computation()[id];
  ConditionalStep step;
  HONE_ASSIGN_OR_RETURN(step.selector, SlotToRead(graph_.operands(id)[0]));
  for (size_t i = 0; i < instruction.called().size(); ++i) {
    std::vector<SlotId>& arguments = step.arguments.emplace_back();
    for (ValueId leaf : graph_.leaves(instruction.operand(1 + i))) {
      HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(leaf));
      arguments.push_back(slot);
    }
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<SlotId> in_place,
                        SlotsToUpdate(id, step));
  for (size_t i = 0; i < instruction.called().size(); ++i) {
    PlanWriter::Use use;
    for (SlotId slot : in_place) {
      const auto at = absl::c_find(step.arguments[i], slot);
      use.results_in.push_back(
          slot < 0 ? -1 : static_cast<int32_t>(at - step.arguments[i].begin()));
    }
    HONE_ASSIGN_OR_RETURN(const PlanWriter::Function branch,
                          plan_.FunctionFor(instruction.called()[i], use));
    step.branches.push_back(branch.index);
  }
  const absl::Span<const ValueId> leaves = graph_.leaves(id);
  for (size_t i = 0; i < leaves.size(); ++i) {
    SlotId slot = in_place[i];
    if (slot >= 0) {
      values_.Overwrite(slot, leaves[i]);
    } else {
      slot = AddSlot(graph_[leaves[i]].shape, Home::kArena);
      values_.Add(leaves[i], slot);
    }
    step.results.push_back(slot);
  }
  step.scratch = AddScratch(step.branches);
  function_.steps.emplace_back(std::move(step));
  return absl::OkStatus();
}

// Returns `slot` itself as the slot of the result if that may be, else a copy.
SlotId FunctionWriter::ResultFrom(ValueId result, SlotId slot) {
  if (home(slot) == Home::kArena) {
    home(slot) = Home::kResult;
    function_.slots[static_cast<size_t>(slot)].shape = graph_[result].shape;
    return slot;
  }
  const SlotId copy = AddSlot(graph_[result].shape, Home::kResult);
  function_.steps.emplace_back(CopyStep{slot, copy});
  return copy;
}

absl::Status FunctionWriter::AddResults() {
  const std::vector<ValueId>& results = graph_.results();
  function_.results.assign(results.size(), -1);
  std::vector<PlanStep> last;
  for (size_t i = 0; i < results.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const SlotId slot, SlotToRead(results[i]));
    const int32_t number = use_.is_body ? static_cast<int32_t>(i)
                           : i < use_.results_in.size() ? use_.results_in[i]
                                                        : -1;
    const SlotId parameter =
        number < 0 ? -1 : function_.parameters[static_cast<size_t>(number)];
    const bool is_in_place =
        number >= 0 && (slot == parameter || !use_.is_body);
    function_.results[i] =
        is_in_place ? parameter : ResultFrom(results[i], slot);
    // After the copies of what the parameter holds until then.
    if (is_in_place && slot != parameter) {
      last.emplace_back(CopyStep{slot, parameter});
    }
  }
  function_.steps.insert(function_.steps.end(), last.begin(), last.end());
  return absl::OkStatus();
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
  HONE_RETURN_IF_ERROR(AddResults());
  return Finish();
}

}  // namespace hone::loops
