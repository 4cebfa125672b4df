#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/rewrite/regions/reductions.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"
#include "loops/lowering/kernel/scan.h"
#include "loops/lowering/kernel/window.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// Columns whose results are kept in registers, and the fewest worth a vector.
constexpr int64_t kColumns = 64;
constexpr int64_t kMinColumns = 8;

// Opens the loops over the taps of the window at `output`; returns the indices
// into the input, and the ranges in which they are in bounds.
Indices OpenTaps(Nest& nest, const std::vector<WindowPhase>& phases,
                 const std::vector<Affine>& output,
                 const hlo::DimensionVector& input_sizes,
                 std::vector<Range>& ranges) {
  Indices input;
  for (size_t d = 0; d < phases.size(); ++d) {
    const WindowPhase& phase = phases[d];
    const Affine tap = nest.AddLoop(phase.tap_count);
    const Affine place = output[d] * phase.input_per_output +
                         tap * phase.input_per_tap + phase.input_start;
    input.push_back(place);
    ranges.push_back({place, 0, input_sizes[d]});
  }
  return input;
}

absl::Status WritePhase(KernelWriter& writer, Nest& nest, hlo::InstructionId id,
                        const std::vector<WindowPhase>& phases) {
  const ValueGraph& graph = writer.graph();
  const hlo::Instruction& instruction = graph.computation()[id];
  const absl::Span<const ValueId> results = graph.leaves(id);
  const std::vector<ValueId>& operands = graph.operands(id);
  const size_t count = results.size();
  const hlo::DimensionVector& input_sizes = graph.dimensions(operands[0]);
  const hlo::ComputationId region = instruction.called()[0];
  const std::optional<Opcode> opcode =
      hlo::ReductionOpcode(graph.module().computation(region));

  std::vector<Affine> position;
  Indices output;
  for (const WindowPhase& phase : phases) {
    position.push_back(nest.AddLoop(phase.output_count));
    output.push_back(position.back() * phase.output_step + phase.output_start);
  }
  std::vector<ExpressionPtr> inits;
  std::vector<Access> targets;
  for (size_t i = 0; i < count; ++i) {
    targets.push_back(writer.Target(nest, results[i], output));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr init,
                          writer.Read(nest, operands[count + i], {}));
    inits.push_back(std::move(init));
  }
  std::vector<Range> ranges;
  if (count == 1 && opcode.has_value()) {
    nest.Store(targets[0], inits[0]);
    const Indices input = OpenTaps(nest, phases, position, input_sizes, ranges);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer.Read(nest, operands[0], input));
    nest.Store(targets[0],
               WhereInside(nest, std::move(ranges), std::move(element),
                           IdentityOf(*opcode, graph.type(results[0]))),
               *opcode);
    nest.CloseTo(0);
    return absl::OkStatus();
  }

  std::vector<ExpressionPtr> arguments;
  for (size_t i = 0; i < count; ++i) {
    nest.Store(targets[i], inits[i]);
    arguments.push_back(writer.Load(targets[i]));
  }
  const Indices input = OpenTaps(nest, phases, position, input_sizes, ranges);
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer.Read(nest, operands[i], input));
    ExpressionPtr none = Expression::ConstantInt(graph.type(operands[i]), 0);
    arguments.push_back(
        WhereInside(nest, ranges, std::move(element), std::move(none)));
  }
  // Padding is skipped: no padding value is neutral, since the region may be
  // anything.
  const auto truth = [](bool value) {
    return Expression::ConstantInt(ElementType::kPred, value);
  };
  ExpressionPtr predicate =
      WhereInside(nest, std::move(ranges), truth(true), truth(false));
  if (predicate->kind() == Expression::Kind::kConstant &&
      predicate->integer() == 1) {
    predicate = nullptr;
  }
  HONE_ASSIGN_OR_RETURN(std::vector<ExpressionPtr> values,
                        ApplyRegion(graph.module(), region, arguments));
  StoreTogether(writer, nest, targets, std::move(values), predicate);
  nest.CloseTo(0);
  return absl::OkStatus();
}

// The contiguous dimension of windows along several dimensions.
struct Columns {
  size_t dimension = 0;
  Opcode opcode = Opcode::kAdd;
};

// Returns nullopt unless the region is a single operation and there are columns
// enough for a vector.
std::optional<Columns> AsColumns(const ValueGraph& graph,
                                 hlo::InstructionId id) {
  const hlo::Instruction& instruction = graph.computation()[id];
  const hlo::Window& window = *instruction.attributes().window;
  const hlo::DimensionVector& sizes = graph.dimensions(graph.leaves(id)[0]);
  const std::optional<Opcode> opcode =
      hlo::ReductionOpcode(graph.module().computation(instruction.called()[0]));
  if (graph.leaves(id).size() != 1 || !opcode.has_value() || sizes.empty()) {
    return std::nullopt;
  }
  size_t last = sizes.size() - 1;
  while (last > 0 && sizes[last] == 1) --last;
  // Windows along one dimension are sums over rows to schedules; windows along
  // the columns are unrolled, unless they ask where they are.
  int64_t extended = 0;
  bool is_padded = false;
  for (const hlo::WindowDimension& w : window) {
    if (w.base_dilation != 1) return std::nullopt;
    extended += w.size > 1 ? 1 : 0;
    is_padded = is_padded || w.padding_low != 0 || w.padding_high != 0;
  }
  if (sizes[last] < kMinColumns || extended < 2 ||
      (window[last].size > 1 && !is_padded)) {
    return std::nullopt;
  }
  return Columns{last, *opcode};
}

// Reduces `tiles` times `count` columns, from column `begin` on, taps outside
// of the columns: vectors then have neighbors.
absl::Status WriteColumns(KernelWriter& writer, Nest& nest,
                          hlo::InstructionId id,
                          const std::vector<WindowPhase>& phases,
                          const Columns& columns, int64_t begin, int64_t tiles,
                          int64_t count) {
  if (tiles == 0) return absl::OkStatus();
  const ValueGraph& graph = writer.graph();
  const ValueId result = graph.leaves(id)[0];
  const std::vector<ValueId>& operands = graph.operands(id);
  const hlo::DimensionVector& input_sizes = graph.dimensions(operands[0]);
  const ElementType type = graph.type(result);
  std::vector<Affine> position(phases.size());
  Indices output(phases.size());
  for (size_t d = 0; d < phases.size(); ++d) {
    if (d == columns.dimension) continue;
    position[d] = nest.AddLoop(phases[d].output_count);
    output[d] =
        Index(position[d] * phases[d].output_step + phases[d].output_start);
  }
  const Affine first = nest.AddLoop(tiles) * count + begin;
  const size_t depth = nest.depth();
  const BufferId sums = nest.Temporary("sum", type, {count});
  HONE_ASSIGN_OR_RETURN(ExpressionPtr init, writer.Read(nest, operands[1], {}));
  nest.Store({sums, {Index(nest.AddLoop(count))}},
             Converted(type, std::move(init)));
  nest.CloseTo(depth);

  Indices input(phases.size());
  std::vector<Affine> taps;
  std::vector<Range> ranges;
  for (const WindowPhase& phase : phases) {
    taps.push_back(nest.AddLoop(phase.tap_count));
  }
  Affine column = nest.AddLoop(count);
  position[columns.dimension] = first + column;
  for (size_t d = 0; d < phases.size(); ++d) {
    const Affine place = position[d] * phases[d].input_per_output +
                         taps[d] * phases[d].input_per_tap +
                         phases[d].input_start;
    input[d] = Index(place);
    ranges.push_back({place, 0, input_sizes[d]});
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                        writer.Read(nest, operands[0], input));
  nest.Store(
      {sums, {Index(column)}},
      Converted(type, WhereInside(nest, std::move(ranges), std::move(element),
                                  IdentityOf(columns.opcode, type))),
      columns.opcode);
  nest.CloseTo(depth);

  column = nest.AddLoop(count);
  output[columns.dimension] = Index(first + column);
  nest.Store(writer.Target(nest, result, output),
             Converted(type, writer.Load({sums, {Index(column)}})));
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteReduceWindow(KernelWriter& writer, Nest& nest,
                               hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const hlo::DimensionVector& sizes = graph.dimensions(graph.leaves(id)[0]);
  const hlo::Window& window = *graph.computation()[id].attributes().window;
  if (const std::optional<Scan> scan =
          AsScan(window, graph.dimensions(graph.operands(id)[0]))) {
    return WriteScan(writer, nest, id, *scan);
  }
  const std::optional<Columns> columns = AsColumns(graph, id);
  for (const auto& phases : PhaseChoices(window, sizes)) {
    if (!columns.has_value()) {
      HONE_RETURN_IF_ERROR(WritePhase(writer, nest, id, phases));
      continue;
    }
    const int64_t size = sizes[columns->dimension];
    const int64_t count = std::min(size, kColumns);
    const int64_t rest = size % count;
    HONE_RETURN_IF_ERROR(WriteColumns(writer, nest, id, phases, *columns, 0,
                                      size / count, count));
    HONE_RETURN_IF_ERROR(WriteColumns(writer, nest, id, phases, *columns,
                                      size - rest, rest == 0 ? 0 : 1, rest));
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
