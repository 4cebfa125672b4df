#include "loops/lowering/kernel/convolution_loops.h"

#include <utility>

#include "absl/algorithm/container.h"

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

size_t At(int64_t dimension) { return static_cast<size_t>(dimension); }

// The dimensions of the kernel in the order of its copy.
std::vector<int64_t> OrderOfCopy(const hlo::ConvolutionDimensions& dims) {
  std::vector<int64_t> order(dims.kernel_spatial.begin(),
                             dims.kernel_spatial.end());
  order.push_back(dims.kernel_input_feature);
  order.push_back(dims.kernel_output_feature);
  return order;
}

absl::StatusOr<ExpressionPtr> ReadKernel(KernelWriter& writer, Nest& nest,
                                         const Convolution& c,
                                         const Indices& at) {
  if (!c.rearranged.has_value()) return writer.Read(nest, c.kernel, at);
  Indices indices;
  for (int64_t d : OrderOfCopy(*c.dims)) indices.push_back(at[At(d)]);
  return writer.Load({*c.rearranged, std::move(indices)});
}

// Opens loops over the taps of each phase and returns the ranges in which the
// input elements that they see are no padding.
std::vector<Range> OpenTaps(Nest& nest, const Convolution& c,
                            const hlo::DimensionVector& input_sizes,
                            const std::vector<WindowPhase>& phases,
                            const std::vector<Affine>& position,
                            Subscripts& at) {
  std::vector<Range> ranges;
  for (size_t d = 0; d < phases.size(); ++d) {
    const WindowPhase& phase = phases[d];
    const Affine j = nest.AddLoop(phase.tap_count);
    at.SetTap(d, j * phase.tap_step + phase.tap_start);
    const Affine place = position[d] * phase.input_per_output +
                         j * phase.input_per_tap + phase.input_start;
    const size_t spatial = At(c.dims->input_spatial[d]);
    at.input[spatial] = place;
    ranges.push_back({place, 0, input_sizes[spatial]});
  }
  at.AddInputFeatures();
  return ranges;
}

ExpressionPtr Zero(ElementType type) { return IdentityOf(Opcode::kAdd, type); }

}  // namespace

bool SeesPadding(const ValueGraph& graph, const Convolution& c,
                 const std::vector<WindowPhase>& phases) {
  if (ReadsHoles(phases)) return false;
  const hlo::DimensionVector& sizes = graph.dimensions(c.input);
  for (size_t d = 0; d < phases.size(); ++d) {
    const WindowPhase& phase = phases[d];
    const int64_t last = phase.input_start +
                         (phase.output_count - 1) * phase.input_per_output +
                         (phase.tap_count - 1) * phase.input_per_tap;
    if (phase.input_start < 0 || last >= sizes[At(c.dims->input_spatial[d])]) {
      return true;
    }
  }
  return false;
}

void WriteZeros(KernelWriter& writer, Nest& nest, ValueId value) {
  const ValueGraph& graph = writer.graph();
  const Indices at = nest.AddLoops(graph.dimensions(value));
  nest.Store(writer.Target(nest, value, at), Zero(graph.type(value)));
  nest.CloseTo(0);
}

absl::Status RearrangeKernel(KernelWriter& writer, Nest& nest, Convolution& c) {
  const ValueGraph& graph = writer.graph();
  const hlo::DimensionVector& sizes = graph.dimensions(c.kernel);
  if (At(c.dims->kernel_output_feature) + 1 == sizes.size()) {
    return absl::OkStatus();
  }
  const std::vector<int64_t> order = OrderOfCopy(*c.dims);
  hlo::DimensionVector dimensions;
  for (int64_t d : order) dimensions.push_back(sizes[At(d)]);
  const BufferId copy =
      nest.Temporary("rearranged", graph.type(c.kernel), dimensions);
  const Indices to = nest.AddLoops(dimensions);
  Indices from(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) from[At(order[i])] = to[i];
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w, writer.Read(nest, c.kernel, from));
  nest.Store({copy, to}, std::move(w));
  nest.CloseTo(0);
  c.rearranged = copy;
  return absl::OkStatus();
}

absl::Status CheckKernel(KernelWriter& writer, Nest& nest, Convolution& c) {
  const ValueGraph& graph = writer.graph();
  const ElementType type = SumTypeOf(graph.type(c.value));
  if (!hlo::IsFloat(type)) return absl::OkStatus();
  // An array, as threads have no registers in common.
  const BufferId check = nest.Temporary("check", type, {1});
  nest.Store({check, {Affine(0)}}, Zero(type));
  const Indices at = nest.AddLoops(graph.dimensions(c.kernel));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w, ReadKernel(writer, nest, c, at));
  nest.Store({check, {Affine(0)}}, ProductOf(type, std::move(w), Zero(type)),
             Opcode::kAdd);
  nest.CloseTo(0);
  c.nonfinite = check;
  return absl::OkStatus();
}

std::vector<Affine> OpenOutputs(Nest& nest,
                                const std::vector<WindowPhase>& phases,
                                Subscripts& at) {
  at.AddBatch();
  std::vector<Affine> position(phases.size());
  for (size_t d = 0; d < phases.size(); ++d) {
    position[d] = nest.AddLoop(phases[d].output_count);
    at.SetPosition(phases[d], d, position[d]);
  }
  at.AddOutputFeatures();
  return position;
}

Subscripts::Subscripts(const Convolution& c, const ValueGraph& graph,
                       Nest& nest)
    : output(graph.dimensions(c.value).size()),
      input(graph.dimensions(c.input).size()),
      kernel(graph.dimensions(c.kernel).size()),
      c_(c),
      graph_(graph),
      nest_(nest) {}

void Subscripts::SetBatch(const Affine& n) {
  n_ = n;
  output[At(c_.dims->output_batch)] = n_;
}

void Subscripts::AddBatch() {
  SetBatch(
      nest_.AddLoop(graph_.dimensions(c_.value)[At(c_.dims->output_batch)]));
}

void Subscripts::AddOutputFeatures() {
  const hlo::ConvolutionDimensions& dims = *c_.dims;
  const hlo::DimensionVector& sizes = graph_.dimensions(c_.value);
  const int64_t groups = dims.feature_group_count * dims.batch_group_count;
  group_ = nest_.AddLoop(groups);
  const int64_t features = sizes[At(dims.output_feature)] / groups;
  feature_ = group_ * features + nest_.AddLoop(features);
  output[At(dims.output_feature)] = feature_;
  kernel[At(dims.kernel_output_feature)] = feature_;
  input[At(dims.input_batch)] = dims.batch_group_count > 1
                                    ? group_ * sizes[At(dims.output_batch)] + n_
                                    : n_;
}

void Subscripts::AddInputFeatures() {
  const hlo::ConvolutionDimensions& dims = *c_.dims;
  const int64_t inputs =
      graph_.dimensions(c_.kernel)[At(dims.kernel_input_feature)];
  const Affine i = nest_.AddLoop(inputs);
  kernel[At(dims.kernel_input_feature)] = i;
  input[At(dims.input_feature)] =
      dims.feature_group_count > 1 ? group_ * inputs + i : i;
}

void Subscripts::SetTap(size_t d, const Affine& tap) {
  const hlo::WindowDimension& window = (*c_.window)[d];
  kernel[At(c_.dims->kernel_spatial[d])] =
      window.reversal ? Affine(window.size - 1) - tap : tap;
}

void Subscripts::SetPosition(const WindowPhase& phase, size_t d,
                             const Affine& position) {
  output[At(c_.dims->output_spatial[d])] =
      position * phase.output_step + phase.output_start;
}

ExpressionPtr ProductOf(ElementType type, ExpressionPtr x, ExpressionPtr w) {
  return Expression::Apply(
      Opcode::kMultiply, type,
      {Converted(type, std::move(x)), Converted(type, std::move(w))});
}

ElementType SumTypeOf(ElementType type) {
  const bool is_narrow =
      type == ElementType::kBf16 || type == ElementType::kF16;
  return is_narrow ? ElementType::kF32 : type;
}

bool ReadsHoles(const std::vector<WindowPhase>& phases) {
  return absl::c_any_of(
      phases, [](const WindowPhase& phase) { return phase.tap_count == 0; });
}

absl::Status WriteSum(KernelWriter& writer, Nest& nest, const Convolution& c,
                      const std::vector<WindowPhase>& phases,
                      const std::vector<Affine>& position, ElementType type,
                      const Access& sum, Subscripts& at) {
  nest.Store(sum, Zero(type));
  std::vector<Range> ranges = OpenTaps(
      nest, c, writer.graph().dimensions(c.input), phases, position, at);
  HONE_ASSIGN_OR_RETURN(ExpressionPtr x, writer.Read(nest, c.input, at.input));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w,
                        ReadKernel(writer, nest, c, at.kernel));
  ExpressionPtr padding = Zero(x->type());
  x = WhereInside(nest, std::move(ranges), std::move(x), std::move(padding));
  nest.Store(sum, ProductOf(type, std::move(x), std::move(w)), Opcode::kAdd);
  return absl::OkStatus();
}

absl::Status WriteWithoutPadding(KernelWriter& writer, Nest& nest,
                                 const Convolution& c,
                                 const std::vector<WindowPhase>& phases) {
  const ValueGraph& graph = writer.graph();
  const hlo::DimensionVector& input_sizes = graph.dimensions(c.input);
  if (!c.nonfinite.has_value() || !SeesPadding(graph, c, phases)) {
    return absl::OkStatus();
  }
  const ElementType type = SumTypeOf(graph.type(c.value));
  const ExpressionPtr is_needed =
      Expression::Compare(hlo::ComparisonDirection::kNe, false,
                          writer.Load({*c.nonfinite, {Affine(0)}}), Zero(type));
  Subscripts at(c, graph, nest);
  const std::vector<Affine> position = OpenOutputs(nest, phases, at);
  const Access sum = {nest.Temporary("exact", type), {}};
  nest.Store(sum, Zero(type), std::nullopt, is_needed);
  const size_t depth = nest.depth();
  std::vector<Range> ranges =
      OpenTaps(nest, c, input_sizes, phases, position, at);
  HONE_ASSIGN_OR_RETURN(ExpressionPtr x, writer.Read(nest, c.input, at.input));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w,
                        ReadKernel(writer, nest, c, at.kernel));
  nest.Store(
      sum,
      WhereInside(nest, std::move(ranges),
                  ProductOf(type, std::move(x), std::move(w)), Zero(type)),
      Opcode::kAdd, is_needed);
  nest.CloseTo(depth);
  nest.Store(writer.Target(nest, c.value, at.output),
             Converted(graph.type(c.value), writer.Load(sum)), std::nullopt,
             is_needed);
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace hone::loops
