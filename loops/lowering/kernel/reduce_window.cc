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
  for (const auto& phases : PhaseChoices(window, sizes)) {
    HONE_RETURN_IF_ERROR(WritePhase(writer, nest, id, phases));
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
