#include "graphs/value_origins.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace hone::graphs {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;

constexpr int64_t kMaxLeaves = int64_t{1} << 24;

// Tuples are nested to hlo::kMaxTupleLevels at most.
void AppendBytes(const hlo::Shape& shape, std::vector<double>& bytes) {
  if (!shape.IsTuple()) {
    bytes.push_back(static_cast<double>(shape.byte_size()));
    return;
  }
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    AppendBytes(*element, bytes);
  }
}

}  // namespace

bool OnlyPassesValues(Opcode opcode) {
  return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement ||
         opcode == Opcode::kBitcast || opcode == Opcode::kOptBarrier ||
         opcode == Opcode::kDomain;
}

ValueOrigins::ValueOrigins(const hlo::Computation& computation)
    : computation_(computation),
      values_(static_cast<size_t>(computation.slot_count())) {
  for (const InstructionId id : computation.PostOrder()) {
    MakeTable(computation[id].shape());
    Trace(computation[id]);
  }
}

void ValueOrigins::MakeTable(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return;
  const auto [it, is_new] = tables_.try_emplace(&shape);
  if (!is_new) return;
  Table& table = it->second;
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    table.first.push_back(static_cast<int64_t>(table.bytes.size()));
    AppendBytes(*element, table.bytes);
  }
}

int64_t ValueOrigins::LeafCount(InstructionId id) const {
  const hlo::Shape& shape = computation_[id].shape();
  return shape.IsTuple() ? static_cast<int64_t>(tables_.at(&shape).bytes.size())
                         : 1;
}

double ValueOrigins::LeafBytes(InstructionId id, int64_t leaf) const {
  const hlo::Shape& shape = computation_[id].shape();
  return shape.IsTuple() ? tables_.at(&shape).bytes[static_cast<size_t>(leaf)]
                         : static_cast<double>(shape.byte_size());
}

// Operands have been traced.
void ValueOrigins::Trace(const Instruction& instruction) {
  const InstructionId id = instruction.id();
  Value& result = values_[static_cast<size_t>(id)];
  if (!OnlyPassesValues(instruction.opcode())) {
    result = {.origin = id, .count = LeafCount(id)};
    return;
  }
  if (instruction.opcode() == Opcode::kTuple) {
    result.tuple = id;
    return;
  }
  const InstructionId operand = instruction.operand(0);
  const Value& passed = value(operand);
  if (instruction.opcode() != Opcode::kGetTupleElement) {
    result = passed;
    return;
  }
  const auto element = static_cast<size_t>(instruction.index());
  if (passed.tuple != kNoInstruction) {
    result = value(computation_[passed.tuple].operand(element));
    return;
  }
  const Table& table = tables_.at(&computation_[operand].shape());
  result = {.origin = passed.origin,
            .first = passed.first + table.first[element],
            .count = LeafCount(id)};
}

absl::Status ValueOrigins::AddLeaves(InstructionId id,
                                     std::vector<Leaf>& leaves) {
  stack_.assign(1, value(id));
  while (!stack_.empty()) {
    const Value top = stack_.back();
    stack_.pop_back();
    asked_ += std::max<int64_t>(top.count, 1);
    if (asked_ > kMaxLeaves) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "instructions of computation '%s' read more than %d elements of "
          "tuples in all, expected fewer",
          computation_.name(), kMaxLeaves));
    }
    if (top.tuple != kNoInstruction) {
      for (const InstructionId operand : computation_[top.tuple].operands()) {
        stack_.push_back(value(operand));
      }
      continue;
    }
    if (top.count == 0) leaves.push_back({top.origin, Leaf::kNone, 0});
    for (int64_t i = top.first; i < top.first + top.count; ++i) {
      leaves.push_back({top.origin, i, LeafBytes(top.origin, i)});
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::graphs
