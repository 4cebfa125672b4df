#include "loops/lowering/graph/fusion.h"

#include <algorithm>
#include <cstring>

#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

// The largest number of nodes of one expression.
constexpr int64_t kMaxSize = 200;
// The largest work to repeat per reader, and per read of an element.
constexpr int64_t kMaxSharedWork = 12;
constexpr int64_t kMaxRepeatedWork = 4;
// The largest number of arrays that each of several readers may read instead of
// one.
constexpr size_t kMaxSources = 2;
// An operand that a broadcast makes at least this many times larger adds no
// memory traffic.
constexpr int64_t kSmallSource = 8;

bool IsConstant(const ValueGraph& graph, ValueId id) {
  return graph.instruction(id).opcode() == Opcode::kConstant;
}

}  // namespace

const hlo::Literal* UniformConstant(const ValueGraph& graph, ValueId id) {
  if (!IsConstant(graph, id)) return nullptr;
  const hlo::Literal& literal = *graph.instruction(id).literal();
  const int64_t count = literal.num_elements();
  if (literal.is_elided() || count == 0) return nullptr;
  const size_t width =
      static_cast<size_t>(hlo::ByteWidth(literal.shape().element_type()));
  const std::byte* const data = literal.data();
  // All bytes equal those one element further on.
  if (std::memcmp(data, data + width, width * static_cast<size_t>(count - 1)) !=
      0) {
    return nullptr;
  }
  return &literal;
}

Fusion::Fusion(const ValueGraph& graph, absl::Span<const ValueId> must_store)
    : graph_(graph), info_(static_cast<size_t>(graph.size())) {
  CountUses();
  for (ValueId id : must_store) info(id).stored = true;
  for (ValueId id : graph.parameters()) Store(id);
  for (hlo::InstructionId id : graph.order()) {
    const Opcode opcode = graph.computation()[id].opcode();
    if (opcode != Opcode::kDot && opcode != Opcode::kConvolution) continue;
    for (ValueId operand : graph.operands(id)) StoreContractionOperand(operand);
  }
  WriteDotsTransposed();
  for (hlo::InstructionId id : graph.order()) {
    const Form form = FormOf(graph.computation()[id]);
    if (form == Form::kExpression) LimitOperandSizes(id);
    for (ValueId value : graph.leaves(id)) {
      const bool is_inline =
          form == Form::kExpression || UniformConstant(graph, value) != nullptr;
      if (IsWrittenTransposed(value)) continue;
      if (!is_inline || IsStored(value)) {
        Store(value);
      } else {
        Summarize(value);
        Decide(value);
      }
    }
  }
}

void Fusion::CountUses() {
  for (hlo::InstructionId id : graph_.order()) {
    const hlo::Instruction& instruction = graph_.computation()[id];
    for (size_t i = 0; i < instruction.operand_count(); ++i) {
      const hlo::InstructionId operand = instruction.operand(i);
      // Kernels read arrays; tuples are operands of control flow and of what
      // has no kernel.
      const bool repeated =
          !graph_.computation()[operand].shape().IsTuple() &&
          ReadsRepeatedly(graph_.computation(), instruction, i);
      for (ValueId leaf : graph_.leaves(operand)) {
        ++info(leaf).uses;
        info(leaf).repeated |= repeated;
      }
    }
  }
  for (ValueId id : graph_.results()) ++info(id).uses;
}

bool Fusion::IsTransposedDot(ValueId id) const {
  return graph_.instruction(id).opcode() == Opcode::kTranspose &&
         IsWrittenTransposed(graph_.operand(id, 0));
}

// Not if adjacent elements of the result are in different batches, since these
// share no operand.
void Fusion::WriteDotsTransposed() {
  for (hlo::InstructionId id : graph_.order()) {
    const hlo::Instruction& transpose = graph_.computation()[id];
    if (transpose.opcode() != Opcode::kTranspose) continue;
    const ValueId operand = graph_.operands(id)[0];
    const hlo::Instruction& dot = graph_.instruction(operand);
    if (dot.opcode() != Opcode::kDot || IsStored(operand) ||
        info(operand).uses != 1 || transpose.dimensions().empty() ||
        transpose.dimensions().back() <
            static_cast<int64_t>(dot.attributes().dot->lhs_batch.size())) {
      continue;
    }
    info(operand).written_transposed = true;
    info(graph_.leaves(id)[0]).stored = true;
  }
}

void Fusion::Store(ValueId id) {
  info(id).stored = true;
  info(id).size = 1;
  info(id).work = 0;
  info(id).sources = {id};
}

void Fusion::StoreContractionOperand(ValueId id) {
  while (IsReindexing(graph_.instruction(id).opcode())) {
    id = graph_.operand(id, 0);
  }
  if (UniformConstant(graph_, id) == nullptr) info(id).stored = true;
}

// Stores the value, or the value that it re-indexes, which serves as well.
void Fusion::StoreThrough(ValueId id) {
  std::vector<ValueId> chain;
  while (!IsStored(id) && IsReindexing(graph_.instruction(id).opcode())) {
    chain.push_back(id);
    id = graph_.operand(id, 0);
  }
  Store(id);
  for (; !chain.empty(); chain.pop_back()) Summarize(chain.back());
}

void Fusion::LimitOperandSizes(hlo::InstructionId id) {
  const std::vector<ValueId>& operands = graph_.operands(id);
  while (true) {
    int64_t total = 1;
    ValueId largest = -1;
    for (ValueId operand : operands) {
      total += info(operand).size;
      if (!IsStored(operand) &&
          (largest < 0 || info(operand).size > info(largest).size)) {
        largest = operand;
      }
    }
    if (total <= kMaxSize || largest < 0 || info(largest).size <= 2) return;
    StoreThrough(largest);
  }
}

// Sums the costs of the operands.
void Fusion::Summarize(ValueId id) {
  const hlo::Instruction& instruction = graph_.instruction(id);
  Info sum;
  sum.work = IsConstant(graph_, id) ? 0 : WorkOf(instruction);
  for (ValueId operand : graph_.operands(graph_[id].instruction)) {
    const Info& part = info(operand);
    sum.size += part.size;
    sum.work += part.work;
    if (graph_[operand].shape->num_elements() * kSmallSource <=
        graph_[id].shape->num_elements()) {
      continue;
    }
    for (ValueId source : part.sources) {
      if (sum.sources.size() <= kMaxSources &&
          std::find(sum.sources.begin(), sum.sources.end(), source) ==
              sum.sources.end()) {
        sum.sources.push_back(source);
      }
    }
  }
  info(id).size = sum.size;
  info(id).work = sum.work;
  info(id).sources = sum.sources;
}

void Fusion::Decide(ValueId id) {
  const Info& value = info(id);
  if (value.uses <= 1 && !value.repeated) return;
  const int64_t max_work = value.repeated ? kMaxRepeatedWork : kMaxSharedWork;
  if (value.work <= max_work && value.sources.size() <= kMaxSources) return;
  StoreThrough(id);
}

}  // namespace hone::loops
