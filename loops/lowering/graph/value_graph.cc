#include "loops/lowering/graph/value_graph.h"

#include <algorithm>

#include "absl/status/status.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;

void AddLeafShapes(const hlo::ShapePtr& shape,
                   std::vector<hlo::ShapePtr>& leaves) {
  if (!shape->IsTuple()) {
    leaves.push_back(shape);
    return;
  }
  for (const hlo::ShapePtr& element : shape->tuple_elements()) {
    AddLeafShapes(element, leaves);
  }
}

size_t LeafCount(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return 1;
  size_t count = 0;
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    count += LeafCount(*element);
  }
  return count;
}

// Returns true if the arrays of the instruction are those of its operands.
bool PassesArrays(const hlo::Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kTuple:
    case Opcode::kOptBarrier:
    case Opcode::kGetTupleElement:
      return true;
    case Opcode::kCopy:
      return instruction.shape().IsTuple();
    default:
      return false;
  }
}

hlo::IdMap<bool> Reachable(const hlo::Computation& computation) {
  hlo::IdMap<bool> reachable;
  std::vector<InstructionId> pending = {computation.root()};
  for (InstructionId parameter : computation.parameters()) {
    pending.push_back(parameter);
  }
  while (!pending.empty()) {
    const InstructionId id = pending.back();
    pending.pop_back();
    if (reachable[id]) continue;
    reachable[id] = true;
    for (InstructionId operand : computation[id].operands()) {
      pending.push_back(operand);
    }
  }
  return reachable;
}

// Returns true if the instruction does more than compute its result. Library
// calls only compute, and so do loops and conditionals around them.
bool HasEffects(const hlo::Module& module,
                const hlo::Instruction& instruction) {
  if (instruction.opcode() == Opcode::kOptBarrier ||
      IsLibraryCall(instruction) || !module.HasSideEffect(instruction)) {
    return false;
  }
  if (hlo::IsOpaque(instruction.opcode())) return true;
  for (hlo::ComputationId called : instruction.called()) {
    const hlo::Computation& computation = module.computation(called);
    for (InstructionId id : computation.PostOrder()) {
      if (HasEffects(module, computation[id])) return true;
    }
  }
  return false;
}

}  // namespace

bool IsSameBytes(Opcode opcode) {
  return opcode == Opcode::kReshape || opcode == Opcode::kBitcast ||
         opcode == Opcode::kCopy;
}

absl::StatusOr<ValueGraph> ValueGraph::Create(
    const hlo::Module& module, hlo::ComputationId computation_id) {
  ValueGraph graph;
  graph.module_ = &module;
  graph.computation_ = &module.computation(computation_id);
  const hlo::Computation& computation = *graph.computation_;
  const hlo::IdMap<bool> reachable = Reachable(computation);
  for (InstructionId id : computation.PostOrder()) {
    const hlo::Instruction& instruction = computation[id];
    if (reachable.at(id)) {
      HONE_RETURN_IF_ERROR(graph.Add(id));
    } else if (HasEffects(module, instruction)) {
      return Unsupported(instruction, "it has effects");
    }
  }
  for (InstructionId parameter : computation.parameters()) {
    for (ValueId leaf : graph.leaves(parameter)) {
      graph.parameters_.push_back(leaf);
    }
  }
  const absl::Span<const ValueId> results = graph.leaves(computation.root());
  graph.results_.assign(results.begin(), results.end());
  return graph;
}

absl::Status ValueGraph::Add(InstructionId id) {
  const hlo::Instruction& instruction = (*computation_)[id];
  std::vector<ValueId>& leaves = leaves_[id];
  std::vector<ValueId>& operands = operands_[id];
  if (instruction.opcode() == Opcode::kGetTupleElement) {
    const InstructionId tuple = instruction.operand(0);
    const auto& elements = (*computation_)[tuple].shape().tuple_elements();
    size_t first = 0;
    for (int32_t i = 0; i < instruction.index(); ++i) {
      first += LeafCount(*elements[static_cast<size_t>(i)]);
    }
    const absl::Span<const ValueId> part =
        this->leaves(tuple).subspan(first, LeafCount(instruction.shape()));
    leaves.assign(part.begin(), part.end());
    return absl::OkStatus();
  }
  for (InstructionId operand : instruction.operands()) {
    const absl::Span<const ValueId> part = this->leaves(operand);
    operands.insert(operands.end(), part.begin(), part.end());
  }
  if (PassesArrays(instruction)) {
    leaves = operands;
    return absl::OkStatus();
  }
  HONE_RETURN_IF_ERROR(CheckShape(instruction, instruction.shape()));
  if (instruction.opcode() == Opcode::kBitcast) {
    const hlo::Shape& from = (*computation_)[instruction.operand(0)].shape();
    const hlo::Shape& to = instruction.shape();
    if (from.element_type() != to.element_type() || from.layout() != nullptr ||
        to.layout() != nullptr) {
      return Unsupported(instruction, "not between row-major arrays of a type");
    }
  }
  std::vector<hlo::ShapePtr> shapes;
  AddLeafShapes(instruction.shape_ptr(), shapes);
  for (size_t i = 0; i < shapes.size(); ++i) {
    leaves.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back({id, static_cast<int32_t>(i), shapes[i]});
  }
  if (instruction.opcode() != Opcode::kParameter) order_.push_back(id);
  return absl::OkStatus();
}

ValueId ValueGraph::Source(ValueId id) const {
  while (IsSameBytes(instruction(id).opcode())) id = operand(id, 0);
  return id;
}

bool NumbersElements(const ValueGraph& graph, ValueId value,
                     int64_t dimension) {
  while (true) {
    const hlo::Instruction& instruction = graph.instruction(value);
    const hlo::DimensionVector& dimensions = instruction.dimensions();
    switch (instruction.opcode()) {
      case hlo::Opcode::kIota:
        return dimensions[0] == dimension;
      case hlo::Opcode::kBroadcast: {
        const auto from =
            std::find(dimensions.begin(), dimensions.end(), dimension);
        if (from == dimensions.end()) return false;
        dimension = from - dimensions.begin();
        break;
      }
      case hlo::Opcode::kCopy:
        break;
      default:
        return false;
    }
    value = graph.operand(value, 0);
  }
}

}  // namespace hone::loops
