// Elements of values that move the elements of their operands.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {

using hlo::ElementType;
using hlo::Opcode;

ExpressionPtr WhereInside(const Nest& nest, std::vector<Range> ranges,
                          ExpressionPtr inside, ExpressionPtr outside) {
  std::vector<Range> open;
  for (Range& range : ranges) {
    const Interval interval = nest.RangeOf(range.value);
    if (interval.hi < range.lo || interval.lo >= range.hi) return outside;
    if (interval.lo >= range.lo && interval.hi < range.hi) continue;
    open.push_back(std::move(range));
  }
  if (open.empty()) return inside;
  return Expression::Where(std::move(open), std::move(inside),
                           std::move(outside));
}

ExpressionPtr ClampedStart(ExpressionPtr index, int64_t greatest) {
  const ElementType type = index->type();
  if (index->kind() == Expression::Kind::kConstant &&
      type != ElementType::kU64) {
    return Expression::ConstantInt(
        ElementType::kS64, std::clamp<int64_t>(index->integer(), 0, greatest));
  }
  if (type == ElementType::kU64) {
    // So that it is not taken for a negative number later.
    index = Expression::Apply(
        Opcode::kMinimum, type,
        {std::move(index), Expression::ConstantInt(type, greatest)});
  }
  return Expression::Apply(
      Opcode::kClamp, ElementType::kS64,
      {Expression::ConstantInt(ElementType::kS64, 0),
       Converted(ElementType::kS64, std::move(index)),
       Expression::ConstantInt(ElementType::kS64, greatest)});
}

namespace {

// Loads an element of a stored value; stores the value first if necessary.
absl::StatusOr<ExpressionPtr> ReadStored(KernelWriter& writer, Nest& nest,
                                         ValueId value,
                                         const Indices& indices) {
  writer.fusion().Store(value);
  return writer.Read(nest, value, indices);
}

bool DependsOnData(const Index& index) { return index.offset != nullptr; }

}  // namespace

absl::StatusOr<ExpressionPtr> ReadReshape(KernelWriter& writer, Nest& nest,
                                          ValueId value,
                                          const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  const ValueId operand = graph.operand(value, 0);
  // Values in memory can be read by any number of indices.
  if (writer.fusion().IsStored(operand)) {
    return ReadStored(writer, nest, value, indices);
  }
  std::optional<VarSplit> split;
  const auto reindexed = nest.Reindex(
      graph.dimensions(value), graph.dimensions(operand), indices, &split);
  if (reindexed.has_value()) return writer.Read(nest, operand, *reindexed);
  if (split.has_value()) {
    nest.RequestSplit(*split);
    return Expression::ConstantInt(graph.type(value), 0);
  }
  return ReadStored(writer, nest, value, indices);
}

absl::StatusOr<ExpressionPtr> ReadPad(KernelWriter& writer, Nest& nest,
                                      ValueId value, const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  const auto& padding = graph.instruction(value).attributes().padding;
  const ValueId operand = graph.operand(value, 0);
  Indices at;
  std::vector<Range> ranges;
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool is_padded = padding[i].low != 0 || padding[i].high != 0;
    if (is_padded && DependsOnData(indices[i])) {
      return ReadStored(writer, nest, value, indices);
    }
    at.push_back(Scaled(indices[i], 1, -padding[i].low));
    if (is_padded) {
      ranges.push_back({at[i].affine, 0, graph.dimensions(operand)[i]});
    }
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr outside,
                        writer.Read(nest, graph.operand(value, 1), {}));
  if (graph[operand].shape->num_elements() == 0) return outside;
  HONE_ASSIGN_OR_RETURN(ExpressionPtr inside, writer.Read(nest, operand, at));
  return WhereInside(nest, std::move(ranges), std::move(inside),
                     std::move(outside));
}

absl::StatusOr<ExpressionPtr> ReadConcatenate(KernelWriter& writer, Nest& nest,
                                              ValueId value,
                                              const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  const hlo::Instruction& instruction = graph.instruction(value);
  const size_t d = static_cast<size_t>(instruction.dimensions()[0]);
  if (DependsOnData(indices[d])) {
    return ReadStored(writer, nest, value, indices);
  }
  const auto& operands = graph.operands(graph[value].instruction);
  // From the last operand, the default of the others, to the first.
  int64_t start = graph.dimensions(value)[d];
  ExpressionPtr element;
  for (size_t i = operands.size(); i-- > 0;) {
    const int64_t size = graph.dimensions(operands[i])[d];
    start -= size;
    if (size == 0) continue;
    Indices at = indices;
    at[d] = Scaled(indices[d], 1, -start);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr part,
                          writer.Read(nest, operands[i], at));
    element = element == nullptr
                  ? std::move(part)
                  : WhereInside(nest, {{at[d].affine, 0, size}},
                                std::move(part), std::move(element));
  }
  return element;
}

absl::StatusOr<ExpressionPtr> ReadDynamicSlice(KernelWriter& writer, Nest& nest,
                                               ValueId value,
                                               const Indices& indices) {
  const ValueGraph& graph = writer.graph();
  const ValueId operand = graph.operand(value, 0);
  Indices at = indices;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t greatest =
        graph.dimensions(operand)[i] - graph.dimensions(value)[i];
    if (greatest == 0) continue;
    HONE_ASSIGN_OR_RETURN(ExpressionPtr start,
                          writer.Read(nest, graph.operand(value, 1 + i), {}));
    Index shift;
    shift.offset = ClampedStart(std::move(start), greatest);
    at[i] = Sum(at[i], shift);
  }
  return writer.Read(nest, operand, at);
}

absl::Status WriteConcatenate(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const ValueId value = graph.leaves(id)[0];
  const size_t d = static_cast<size_t>(graph.computation()[id].dimensions()[0]);
  int64_t start = 0;
  for (ValueId operand : graph.operands(id)) {
    const Indices at = nest.AddLoops(graph.dimensions(operand));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer.Read(nest, operand, at));
    Indices to = at;
    to[d] = Scaled(at[d], 1, start);
    nest.Store(writer.Target(nest, value, to), std::move(element));
    nest.CloseTo(0);
    start += graph.dimensions(operand)[d];
  }
  return absl::OkStatus();
}

// Fills everything with padding, then writes the elements.
absl::Status WriteInteriorPad(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const ValueId value = graph.leaves(id)[0];
  const std::vector<ValueId>& operands = graph.operands(id);
  const auto& padding = graph.computation()[id].attributes().padding;
  const Indices everywhere = nest.AddLoops(graph.dimensions(value));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr fill, writer.Read(nest, operands[1], {}));
  nest.Store(writer.Target(nest, value, everywhere), std::move(fill));
  nest.CloseTo(0);
  Indices from;
  Indices to;
  for (size_t i = 0; i < everywhere.size(); ++i) {
    const auto& [low, high, interior] = padding[i];
    const int64_t step = interior + 1;
    // The range of elements that negative padding does not cut off.
    const int64_t first = low < 0 ? (-low + step - 1) / step : 0;
    const int64_t room = graph.dimensions(value)[i] - 1 - low;
    const int64_t last = std::min(graph.dimensions(operands[0])[i] - 1,
                                  room < 0 ? -1 : room / step);
    const Affine loop = nest.AddLoop(std::max<int64_t>(last - first + 1, 0));
    from.push_back(Scaled(loop, 1, first));
    to.push_back(Scaled(loop, step, first * step + low));
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                        writer.Read(nest, operands[0], from));
  nest.Store(writer.Target(nest, value, to), std::move(element));
  nest.CloseTo(0);
  return absl::OkStatus();
}

// Copies the operand unless it is updated in place, then writes the update.
absl::Status WriteDynamicUpdateSlice(KernelWriter& writer, Nest& nest,
                                     hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const ValueId value = graph.leaves(id)[0];
  const std::vector<ValueId>& operands = graph.operands(id);
  if (!writer.UpdatesInPlace(value)) {
    const Indices everywhere = nest.AddLoops(graph.dimensions(value));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr old,
                          writer.Read(nest, operands[0], everywhere));
    nest.Store(writer.Target(nest, value, everywhere), std::move(old));
    nest.CloseTo(0);
  }
  const hlo::DimensionVector& sizes = graph.dimensions(operands[1]);
  const Indices from = nest.AddLoops(sizes);
  Indices to = from;
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t greatest = graph.dimensions(value)[i] - sizes[i];
    if (greatest == 0) continue;
    HONE_ASSIGN_OR_RETURN(ExpressionPtr start,
                          writer.Read(nest, operands[2 + i], {}));
    Index shift;
    shift.offset = ClampedStart(std::move(start), greatest);
    to[i] = Sum(to[i], shift);
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                        writer.Read(nest, operands[1], from));
  nest.Store(writer.Target(nest, value, to), std::move(element));
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace hone::loops
